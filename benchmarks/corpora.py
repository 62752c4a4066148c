"""Full-size corpus building: seconds and peak memory, beside pandas.read_csv plus naive cleaning of the same file.

    python benchmarks/corpora.py --rows 681288

writes a CSV of the Blog Authorship Corpus' size and shape (681,288 rows, about 800 MB, 19,320 authors) to a temporary
folder, then measures each side in a process of its own, in the same run, and prints their ratio.
"""

from __future__ import annotations

import argparse
import csv
import json
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
    authors = max(1, round(AUTHORS * rows / ROWS))
    text = ""
    for row in range(rows):
        if generator.random() > 0.1:
            length = max(1, round(generator.expovariate(15 / POST_WORDS)))
            text = "     " + "   ".join(generator.choices(sentences, k=length)) + "    "
        yield (1_000_000 + row * authors // rows, "male", 24, "indUnk", "Leo", "14,May,2004", text)


def measure_ours(path: Path, folder: Path) -> int:
    """Build the documents as the workflow does; return the documents kept."""
    from favor.corpora.building import build_documents
    from favor.corpora.cleaning import CleaningSettings
    from favor.corpora.reading import open_reader

    counts = build_documents(
        path, open_reader("blog_csv"), CleaningSettings(), folder / "documents.parquet", folder / "dropped.parquet"
    )
    return counts["kept"]


def measure_naive(path: Path, folder: Path) -> int:
    """Do what a notebook would: the whole table in memory, column by column; return the documents kept."""
    import html

    import pandas as pd

    frame = pd.read_csv(path, dtype=str, keep_default_na=False)
    frame["text"] = frame["text"].map(html.unescape).str.replace("urlLink", " ", regex=False)
    frame["text"] = frame["text"].str.replace(r"\s+", " ", regex=True).str.strip()
    frame = frame[frame["text"] != ""].drop_duplicates(["id", "text"]).drop_duplicates("text")
    frame["words"] = frame["text"].str.count(r"[A-Za-z]+(?:'[A-Za-z]+)*")
    frame = frame.sort_values("id", kind="stable")
    frame.to_parquet(folder / "naive.parquet", compression="zstd")
    return len(frame)


MEASURES = {"ours": measure_ours, "naive": measure_naive}


def _run(side: str, path: Path, folder: Path) -> dict[str, float]:
    command = [sys.executable, __file__, "--measure", side, "--csv", str(path), "--folder", str(folder)]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)


def main() -> None:
    """Synthesise, measure both sides, print the figures and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=ROWS, help="posts in the synthesised corpus")
    parser.add_argument("--only-ours", action="store_true", help="leave pandas out (it needs several times the file)")
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
        figures = {}
        for side in ("ours",) if options.only_ours else ("ours", "naive"):
            figures[side] = _run(side, path, folder)
            measured = figures[side]
            print(
                f"{side:>5}: {measured['seconds']:.1f} s ({measured['cpu_seconds']:.1f} s of CPU), "
                f"peak {measured['peak_mib']:,.0f} MiB, {measured['kept']:,} documents kept",
                flush=True,
            )
        if "naive" in figures:
            ratios = {key: figures["ours"][key] / figures["naive"][key] for key in figures["ours"]}
            print(
                f"ours / pandas: time {ratios['seconds']:.2f}, CPU {ratios['cpu_seconds']:.2f}, "
                f"memory {ratios['peak_mib']:.2f}"
            )


if __name__ == "__main__":
    main()
