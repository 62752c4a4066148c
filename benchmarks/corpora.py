"""Full-size corpus building: seconds and peak memory, beside pandas and polars with the same cleaning of the same file.

    python benchmarks/corpora.py --rows 681288

writes a CSV of the Blog Authorship Corpus' size and shape (681,288 rows, about 800 MB, 19,320 authors) to a temporary
folder, then measures each side in a process of its own, in the same run, on one thread, and prints their ratios. polars
is no dependency of the project: install it to have its side measured. The sides of pandas and polars count no scripts
and look for no broken rows and no authors who share posts.

    python benchmarks/corpora.py --only-ours --tokenizer FOLDER

also counts the tokens of every author who may have 30,000 of them, as the job ``count_tokens`` does.
"""

from __future__ import annotations

import argparse
import csv
import importlib.util
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

ROWS, AUTHORS = 681_288, 19_320
POST_WORDS = 205  # mean words of a post of the full corpus
# Posts per author are lognormal: authors under 6,000 words hold a fifth of all words, as in the corpus.
AUTHOR_SPREAD = 1.2
HEADER = ("id", "gender", "age", "topic", "sign", "date", "text")


def synthesise(path: Path, rows: int, seed: int = 2026) -> None:
    """Write a CSV of ``rows`` posts: varied lengths, entities, link markers, white space, one in ten repeated."""
    generator = random.Random(seed)
    words = ["".join(generator.choices("etaoinshrdlucmfwyp", k=generator.randint(1, 9))) for _ in range(20_000)]
    words += ["don't", "&nbsp;", "urlLink", "I", "the", "and", "&amp;"] * 100
    sentences = [" ".join(generator.choices(words, k=generator.randint(5, 25))) + "." for _ in range(40_000)]
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(HEADER)
        writer.writerows(_rows(generator, sentences, rows))


def _rows(generator: random.Random, sentences: list[str], rows: int) -> Iterator[tuple[str | int, ...]]:
    authors = range(1_000_000, 1_000_000 + max(1, round(AUTHORS * rows / ROWS)))
    sizes = [generator.lognormvariate(0, AUTHOR_SPREAD) for _ in authors]
    text = ""
    for author in sorted(generator.choices(authors, sizes, k=rows)):
        if generator.random() > 0.1:
            length = max(1, round(generator.expovariate(15 / POST_WORDS)))
            text = "     " + "   ".join(generator.choices(sentences, k=length)) + "    "
        yield (author, "male", 24, "indUnk", "Leo", "14,May,2004", text)


def measure_ours(path: Path, folder: Path) -> int:
    """Build the documents as the workflow does; return the documents kept."""
    from favor.corpora.building import build_documents
    from favor.corpora.posts import open_reader
    from favor.corpora.settings import Cleaning

    counts = build_documents(
        path, open_reader("blog_csv"), Cleaning(), folder / "documents.parquet", folder / "dropped.parquet"
    )
    return counts["kept"]


def measure_tokens(documents: Path, tokenizer: str) -> dict[str, int]:
    """Count tokens as the workflow does; return how many authors and documents were counted."""
    from favor.corpora.authors import count_tokens
    from favor.running.jobs.progress import Progress

    progress = Progress("tokens", 0, "documents")
    authors = count_tokens(documents, tokenizer, 30_000, progress)
    progress.close()
    counted = authors[authors["tokens"] >= 0]
    return {
        "authors": len(counted),
        "documents": int(counted["documents"].sum()),
        "tokens": int(counted["tokens"].sum()),
    }


def measure_pandas(path: Path, folder: Path) -> int:
    """Do what a notebook would: the whole table in memory, column by column; return the documents kept."""
    import html

    import pandas as pd

    frame = pd.read_csv(path, dtype=str, keep_default_na=False)
    frame["text"] = frame["text"].map(html.unescape).str.replace("urlLink", " ", regex=False)
    frame["text"] = frame["text"].str.replace(r"\s+", " ", regex=True).str.strip()
    frame = frame[frame["text"] != ""].drop_duplicates(["id", "text"]).drop_duplicates("text")
    frame["words"] = frame["text"].str.count(r"[A-Za-z]+(?:'[A-Za-z]+)*")
    frame = frame.sort_values("id", kind="stable")
    frame.to_parquet(folder / "pandas.parquet", compression="zstd")
    return len(frame)


def measure_polars(path: Path, folder: Path) -> int:
    """Do the same in polars; entities, which it cannot resolve, in Python where a text has an ampersand."""
    import html

    import polars as pl

    text = pl.col("text")
    resolved = pl.when(text.str.contains("&", literal=True)).then(
        text.map_elements(lambda entry: html.unescape(entry) if "&" in entry else entry, return_dtype=pl.String)
    )
    frame = (
        pl.read_csv(path, infer_schema=False)
        .with_columns(text.fill_null(""))
        .with_columns(text=resolved.otherwise(text).str.replace_all("urlLink", " ", literal=True))
        .with_columns(text=text.str.replace_all(r"\s+", " ").str.strip_chars())
        .filter(text != "")
        .unique(["id", "text"], keep="first", maintain_order=True)
        .unique("text", keep="first", maintain_order=True)
        .with_columns(words=text.str.count_matches(r"[A-Za-z]+(?:'[A-Za-z]+)*"))
        .sort("id", maintain_order=True)
    )
    frame.write_parquet(folder / "polars.parquet", compression="zstd")
    return len(frame)


MEASURES = {"ours": measure_ours, "pandas": measure_pandas, "polars": measure_polars}


def _run(side: str, path: Path, folder: Path) -> dict[str, float]:
    command = [sys.executable, __file__, "--measure", side, "--csv", str(path), "--folder", str(folder)]
    one_thread = {**os.environ, "POLARS_MAX_THREADS": "1", "OMP_NUM_THREADS": "1"}
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=one_thread).stdout)


def main() -> None:
    """Synthesise, measure both sides, print the figures and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=ROWS, help="posts in the synthesised corpus")
    parser.add_argument("--only-ours", action="store_true", help="leave out the others, which need more memory")
    parser.add_argument("--tokenizer", help="also count tokens by the tokenizer of this folder")
    parser.add_argument("--measure", choices=sorted(MEASURES), help=argparse.SUPPRESS)
    parser.add_argument("--csv", type=Path, help="measure this blog CSV instead of a synthesised one")
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        start, used = time.perf_counter(), time.process_time()
        kept = MEASURES[options.measure](options.csv, options.folder)
        seconds, used = time.perf_counter() - start, time.process_time() - used
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(json.dumps({"seconds": seconds, "cpu_seconds": used, "peak_mib": peak, "kept": kept}))
        return
    with tempfile.TemporaryDirectory(prefix="favor-benchmark-") as name:
        folder = Path(name)
        path = options.csv or folder / "blogtext.csv"
        if options.csv is None:
            synthesise(path, options.rows)
        print(f"{path.name}: {path.stat().st_size / 1e6:,.0f} MB", flush=True)
        figures: dict[str, dict[str, float]] = {}
        others = [side for side in ("pandas", "polars") if importlib.util.find_spec(side) and not options.only_ours]
        for side in ("ours", *others):
            figures[side] = _run(side, path, folder)
            measured = figures[side]
            print(
                f"{side:>6}: {measured['seconds']:.1f} s ({measured['cpu_seconds']:.1f} s of CPU), "
                f"peak {measured['peak_mib']:,.0f} MiB, {measured['kept']:,} documents kept",
                flush=True,
            )
        if options.tokenizer:
            start, used = time.perf_counter(), time.process_time()
            counted = measure_tokens(folder / "documents.parquet", options.tokenizer)
            seconds, used = time.perf_counter() - start, time.process_time() - used
            print(
                f"tokens: {seconds:.1f} s ({used:.1f} s of CPU); "
                + ", ".join(f"{n:,} {of}" for of, n in counted.items())
            )
        for side in others:
            ratios = {key: figures["ours"][key] / figures[side][key] for key in figures["ours"]}
            print(
                f"ours / {side}: time {ratios['seconds']:.2f}, CPU {ratios['cpu_seconds']:.2f}, "
                f"memory {ratios['peak_mib']:.2f}"
            )


if __name__ == "__main__":
    main()
