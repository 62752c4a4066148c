"""The publication bundle: aggregate results with what is needed to read and check them, as one archive.

The same files give the same bytes. Nothing is packed before everything was searched (:mod:`favor.publish.scan`).
"""

import datetime
import gzip
import hashlib
import importlib.metadata
import io
import json
import platform
import re
import tarfile
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path, PureWindowsPath
from typing import Any

import pandas as pd

from favor.foundation.errors import UserError
from favor.foundation.files import atomic_path
from favor.foundation.parquet import write_parquet
from favor.publish.metadata import CRATE, CROISSANT, croissant, published_table, research_object
from favor.publish.scan import PUBLISHABLE, Private, scan
from favor.publish.settings import Release
from favor.report.content import without_texts
from favor.scores.metric import aggregates
from favor.scores.schemas import SCORES, SWEEP_SCORES

FOLDER = "favor-release"
# Keys whose values are places on a machine, and sections that say how a cluster names and charges what it runs.
_PLACES = ("path", "corpus_path", "results", "responses", "folder")
_CLUSTER = ("account", "partition", "gpu_partition")
_SHOWN = 20

README = """# Release

Aggregate results of FAVoR Workflow. Every file was searched for texts of clients, author identifiers and generated
continuations before it was packed; docs/exports.md of the software says what the search cannot find.

| | |
|---|---|
| `results/` | report and numbers; per experiment tables, scores, paired comparisons, figures, resolved settings |
| `configuration.json` | the whole configuration with its defaults, without places on a machine |
| `schemas/` | the configuration's schema; columns, units and meaning of every Parquet table |
| `environment/` | the lock file, the environments of the rules, the versions that were installed |
| `croissant.json` | every Parquet table and column for libraries of data sets (Croissant 1.0) |
| `ro-crate-metadata.json` | every file, the software and the paper for archives of research (RO-Crate 1.2) |
| `SHA256SUMS` | check with `sha256sum --check SHA256SUMS` |
"""


def public_configuration(value: Any, key: str = "") -> Any:
    """Return a configuration in which places on a machine are cut to their last part, and a cluster's names are null.

    A Hugging Face id keeps both its parts, unless a folder has that name.
    """
    if isinstance(value, Mapping):
        return {name: public_configuration(item, name) for name, item in value.items()}
    if isinstance(value, list):
        return [public_configuration(item, key) for item in value]
    if key in _CLUSTER:
        return None
    if isinstance(value, str) and (key in _PLACES or _is_place(value)):
        return PureWindowsPath(value).name
    return value


def _is_place(value: str) -> bool:
    if value.startswith(("/", "~", "./", "../", "file:")) or re.match(r"[A-Za-z]:[\\/]", value):
        return True
    return "/" in value and not re.search(r"\s|://", value) and Path(value).exists()


def table_columns() -> dict[str, object]:
    """Return columns, types, units and meaning of the tables that a bundle may hold."""
    return {
        table.name: [
            {"name": column.name, "type": str(column.dtype), "unit": column.unit, "meaning": column.meaning}
            for column in table.columns
        ]
        for table in PUBLISHABLE
    }


def installed_versions(lock: str) -> dict[str, str]:
    """Return the installed versions of Python, torch and the lock file's packages ("" where one is not installed)."""
    names = ["torch", *re.findall(r"^([\w.-]+)==", lock, re.MULTILINE)]
    found = {"python": platform.python_version()}
    for name in names:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = ""
    return found


def last_day(files: Sequence[Path]) -> datetime.date:
    """Return the day (UTC) on which the newest of the files was written."""
    newest = max(path.stat().st_mtime for path in files)
    return datetime.datetime.fromtimestamp(newest, datetime.UTC).date()


def collect(
    results: Path,
    public: Sequence[Path],
    root: Path,
    configuration: Mapping[str, object],
    schema: str,
    release: Release,
    date: datetime.date,
) -> dict[str, bytes]:
    """Return the content of the bundle by path.

    ``public``: files under ``results``. ``root``: the project, for lock file, environments and licence. ``schema``: of
    the configuration, as YAML. ``date``: of publication. Rows of single clients in tables of scores are left out.
    """
    files = {f"results/{path.relative_to(results).as_posix()}": _public(_read(path)) for path in public}
    lock = root / "requirements.lock"
    files["schemas/config.schema.yaml"] = schema.encode()
    files["schemas/columns.json"] = _json(table_columns())
    files["configuration.json"] = _json(public_configuration(configuration))
    files["environment/requirements.lock"] = _read(lock)
    files["environment/versions.json"] = _json(installed_versions(lock.read_text(encoding="utf-8")))
    for path in sorted((root / "envs").glob("*.yaml")):
        files[f"environment/envs/{path.name}"] = _read(path)
    for name in ("LICENSE", "CITATION.cff"):
        files[name] = _read(root / name)
    files["README.md"] = README.encode()
    files[CROISSANT] = croissant(files, release, date)
    files[CRATE] = research_object(files, release, date)
    return files


def pack(files: Mapping[str, bytes], private: Private, target: Path) -> str:
    """Search ``files``, add checksums, write the archive, and return its SHA-256.

    Owner, time and order of the members are fixed, so equal files give equal bytes. Raises ``UserError`` naming what
    was found; nothing is written then.
    """
    findings = scan(files, private)
    if findings:
        shown = "; ".join(f"{finding.file}: {finding.what}" for finding in findings[:_SHOWN])
        more = f"; and {len(findings) - _SHOWN} more" if len(findings) > _SHOWN else ""
        raise UserError(
            f"release: not for publication: {shown}{more}. Leave these out; where a number equals an identifier by "
            "chance, name it under release.exempt"
        )
    sums = "".join(f"{hashlib.sha256(content).hexdigest()}  {name}\n" for name, content in sorted(files.items()))
    buffer = io.BytesIO()
    with (
        gzip.GzipFile(fileobj=buffer, mode="wb", mtime=0, filename="") as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        for name, content in sorted({**files, "SHA256SUMS": sums.encode()}.items()):
            member = tarfile.TarInfo(f"{FOLDER}/{name}")
            member.size, member.mode, member.mtime = len(content), 0o644, 0
            archive.addfile(member, io.BytesIO(content))
    with atomic_path(target) as temporary:
        temporary.write_bytes(buffer.getvalue())
    return hashlib.sha256(buffer.getvalue()).hexdigest()


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror}); run the workflow so that it is made") from None


def _public(content: bytes) -> bytes:
    """Return what may be published of a file: no text that a report quotes, no score of a single client."""
    if content.startswith(b"<!DOCTYPE html>"):
        return without_texts(content)
    table = published_table(content)
    if table not in (SCORES, SWEEP_SCORES):
        return content
    scores = pd.read_parquet(io.BytesIO(content))
    kept = aggregates(scores)
    if len(kept) == len(scores):
        return content
    with tempfile.TemporaryDirectory() as folder:
        write_parquet(kept, Path(folder) / "scores.parquet", table)
        return (Path(folder) / "scores.parquet").read_bytes()


def _json(content: Any) -> bytes:
    return (json.dumps(content, indent=1, sort_keys=True, ensure_ascii=False) + "\n").encode()
