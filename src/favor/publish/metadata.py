"""What a release says of itself in the terms of other tools: a Croissant description of its tables, and an RO-Crate.

Croissant 1.0 (https://docs.mlcommons.org/croissant/docs/croissant-spec.html) is what libraries of data sets read.
RO-Crate 1.2 (https://www.researchobject.org/ro-crate/specification/1.2) is what archives of research read. Both hold
checksums and no size, because a size may equal an author's number by chance.
"""

import datetime
import hashlib
import io
import json
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

import mlcroissant as mlc
import pyarrow as pa
import pyarrow.parquet as pq
import yaml
from rocrate.model.contextentity import ContextEntity
from rocrate.rocrate import ROCrate

from favor.foundation.schemas import Table
from favor.publish.scan import PUBLISHABLE
from favor.publish.settings import Release

CROISSANT, CRATE = "croissant.json", "ro-crate-metadata.json"
DESCRIPTION = (
    "Aggregate results of experiments on federated personalised text generation: scores, paired comparisons, tables "
    "and figures, with the configuration and the software environment behind them. It holds no text and no author."
)
LICENCES = "https://spdx.org/licenses"  # the SPDX list, one page per licence
_FORMATS = {
    ".parquet": "application/vnd.apache.parquet",
    ".html": "text/html",
    ".svg": "image/svg+xml",
    ".csv": "text/csv",
    ".tex": "application/x-tex",
    ".json": "application/json",
    ".yaml": "application/yaml",
    ".cff": "application/yaml",
    ".md": "text/markdown",
}


def croissant(files: Mapping[str, bytes], release: Release, date: datetime.date) -> bytes:
    """Return the Croissant description of every Parquet table among ``files`` (content by path in the release)."""
    citation = yaml.safe_load(files["CITATION.cff"])
    found = {name: published_table(content) for name, content in sorted(files.items()) if name.endswith(".parquet")}
    tables = {name: table for name, table in found.items() if table is not None}
    metadata = mlc.Metadata(
        name=release.title,
        description=DESCRIPTION,
        license=[f"{LICENCES}/{release.licence}"],
        creators=[mlc.Person(name=name) for name in release.creators],
        date_published=datetime.datetime.combine(date, datetime.time()),
        cite_as=f"{citation['preferred-citation']['title']}; {citation['title']} {citation['version']}",
        version=citation["version"],
        distribution=[
            mlc.FileObject(
                id=name,
                name=name,
                content_url=name,
                encoding_formats=["application/x-parquet"],
                sha256=hashlib.sha256(files[name]).hexdigest(),
            )
            for name in tables
        ],
        record_sets=[_record_set(name, table) for name, table in tables.items()],
    )
    return _json(metadata.to_json())


def published_table(content: bytes) -> Table | None:
    """Return the table that a Parquet file holds; none where it is not for publication, and the search refuses it."""
    try:
        schema = pq.read_schema(io.BytesIO(content)).remove_metadata()
    except (pa.ArrowInvalid, OSError):
        return None
    return next((table for table in PUBLISHABLE if table.schema.remove_metadata() == schema), None)


def _record_set(name: str, table: Table) -> mlc.RecordSet:
    identifier = name.removesuffix(".parquet")
    return mlc.RecordSet(
        id=identifier,
        name=identifier,
        description=f"Rows of the table '{table.name}', sorted by {', '.join(table.sort_by)}.",
        fields=[
            mlc.Field(
                id=f"{identifier}/{column.name}",
                name=column.name,
                description=f"{column.meaning} [{column.unit}]" if column.unit else column.meaning,
                data_types=[_data_type(column.dtype)],
                source=mlc.Source(file_object=name, extract=mlc.Extract(column=column.name)),
            )
            for column in table.columns
        ],
    )


def _data_type(dtype: pa.DataType) -> Any:
    if pa.types.is_boolean(dtype):
        return mlc.DataType.BOOL
    if pa.types.is_integer(dtype):
        return mlc.DataType.INTEGER
    return mlc.DataType.FLOAT if pa.types.is_floating(dtype) else mlc.DataType.TEXT


def research_object(files: Mapping[str, bytes], release: Release, date: datetime.date) -> bytes:
    """Return the RO-Crate metadata of ``files``: every file with its checksum, the software, the paper, and the run."""
    citation = yaml.safe_load(files["CITATION.cff"])
    paper = citation["preferred-citation"]
    crate = ROCrate(version="1.2")
    crate.name, crate.description = release.title, DESCRIPTION
    crate.datePublished = date
    licence = {"@type": "CreativeWork", "name": release.licence, "description": f"SPDX: {release.licence}"}
    crate.license = crate.add(ContextEntity(crate, f"{LICENCES}/{release.licence}", licence))
    if release.creators:
        crate.creator = [_person(crate, name) for name in release.creators]
    held = [
        crate.add_file(
            dest_path=name,
            properties={
                "name": name,
                "encodingFormat": _FORMATS.get(PurePosixPath(name).suffix, "text/plain"),
                "sha256": hashlib.sha256(content).hexdigest(),
            },
        )
        for name, content in sorted(files.items())
    ]
    article = ContextEntity(crate, "#paper", {"@type": "ScholarlyArticle", "name": paper["title"]})
    article["author"] = [_person(crate, f"{each['given-names']} {each['family-names']}") for each in paper["authors"]]
    about = {"@type": "SoftwareApplication", "name": citation["title"], "description": citation["abstract"]}
    about |= {"version": citation["version"], "license": f"https://spdx.org/licenses/{citation['license']}"}
    software = ContextEntity(crate, "#software", about)
    software["citation"] = crate.add(article)
    crate.root_dataset["citation"] = article
    run = ContextEntity(crate, "#run", {"@type": "CreateAction", "name": "The run behind these results"})
    run["instrument"] = crate.add(software)
    run["object"] = crate.get("configuration.json")
    run["result"] = [each for each in held if each.id.startswith("results/")]
    crate.root_dataset["mentions"] = crate.add(run)
    return _json(crate.metadata.generate())


def _person(crate: ROCrate, name: str) -> ContextEntity:
    return crate.add(ContextEntity(crate, f"#{name.replace(' ', '-')}", {"@type": "Person", "name": name}))


def _json(content: Any) -> bytes:
    return (json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode()
