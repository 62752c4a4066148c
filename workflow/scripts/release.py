"""Pack what may be published into one archive, after searching every file for what may not."""

import datetime
import sys
from pathlib import Path

from favor.config.reference import schema_text
from favor.corpora.schemas import AUTHORS, CLIENT_TEXTS
from favor.federation.schemas import GENERATIONS
from favor.foundation.extras import require
from favor.foundation.parquet import read_parquet
from favor.publish.scan import Private, unsearchable
from favor.publish.settings import Bundle
from favor.running.jobs.job import job

with job(snakemake, Bundle) as settings:
    require("release", "a release")
    from favor.publish.bundle import collect, last_day, pack

    texts = []
    for path in snakemake.input.texts:
        frame = read_parquet(path, CLIENT_TEXTS, ["client", "prompt", "text"])
        texts += [(f"a text of {row.client}", f"{row.prompt}\n{row.text}") for row in frame.itertuples()]
    for path in snakemake.input.generations:
        frame = read_parquet(path, GENERATIONS, ["client", "text"])
        texts += [(f"a continuation generated for {row.client}", str(row.text)) for row in frame.itertuples()]
    authors = [
        author for path in snakemake.input.authors for author in read_parquet(path, AUTHORS, ["author"])["author"]
    ]
    if unsearchable(authors):
        count = unsearchable(authors)
        print(f"release: {count} identifiers are too short, or punctuation, and not searched for", file=sys.stderr)
    root = Path(snakemake.input.lock).resolve().parent
    public, release = [Path(path) for path in snakemake.input.public], settings.release
    date = datetime.date.fromisoformat(release.date) if release.date else last_day(public)
    files = collect(Path(settings.results), public, root, settings.configuration, schema_text(), release, date)
    places = sorted({str(root), str(Path(settings.results).resolve()), str(Path.home())} - {"/"})
    digest = pack(files, Private(authors, texts, places, release.exempt), Path(snakemake.output.archive))
    print(f"release: {len(files)} files, SHA-256 {digest}", file=sys.stderr)
