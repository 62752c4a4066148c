"""Memory and time of verification in blocks against all pairs at once, values compared.

Random unit vectors stand for outputs and human texts, four of each per client; those of one client are alike.
The other side holds every pair, as one block. Each side has its own process. ``python benchmarks/verification.py``
compares 1,500 clients; ``--clients 10000 --only blocks`` takes some minutes on one core.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd

from favor.foundation.vectors import unit_rows
from favor.scores import verification
from favor.scores.inputs import Run, Sources
from favor.statistics.roc import separation

SIDES = ("at_once", "blocks")


def measure(options: argparse.Namespace) -> dict[str, object]:
    """Score one run of synthetic clients and return the values, seconds and peak memory."""
    generator, per_client = np.random.default_rng(1), 4
    count = options.clients * per_client
    clients = np.repeat([f"client_{number:06d}" for number in range(options.clients)], per_client)
    topics = np.repeat([f"topic {number % 40}" for number in range(options.clients)], per_client)
    prompts = [f"{client}-{number % per_client}" for number, client in enumerate(clients)]
    voices = np.repeat(generator.normal(size=(options.clients, options.size)), per_client, axis=0)
    outputs, human = (unit_rows(voices + 2 * generator.normal(size=voices.shape)) for _ in range(2))
    items = pd.DataFrame({"client": clients, "prompt_id": prompts, "topic": topics, "text_item": "", "passed": True})
    sources = Sources(pd.DataFrame({"client": clients, "item": prompts, "topic": topics}), human)
    run = Run(1, "synthetic", items)
    if options.side == "at_once":
        verification.CELLS = count * count
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start, processor = time.perf_counter(), time.process_time()
    found = [
        separation(verification.generated_blocks(outputs, run)),
        separation(verification.source_blocks(outputs, run, sources)),
    ]
    return {
        "seconds": time.perf_counter() - start,
        "processor_seconds": time.process_time() - processor,
        "before_mib": before / 1024,
        "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "pairs": sum(each.pairs for each in found),
        "values": [value for each in found for value in (each.auc, each.eer)],
    }


def main() -> None:
    """Measure the sides, each in its own process, and print what they took."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clients", type=int, default=1500)
    parser.add_argument("--size", type=int, default=384, help="dimensions of a vector")
    parser.add_argument("--only", choices=SIDES, help="measure one side alone")
    parser.add_argument("--side", choices=SIDES, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.side:
        print(json.dumps(measure(options)))
        return
    figures = []
    for side in [options.only] if options.only else SIDES:
        command = [sys.executable, str(Path(__file__)), *sys.argv[1:], "--side", side]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        figures.append(json.loads(done.stdout))
        row = figures[-1]
        print(
            f"{side:8} {row['pairs']:,} pairs  {row['seconds']:.1f} s  {row['processor_seconds']:.1f} processor s  "
            f"peak {row['peak_mib']:,.0f} MiB, {row['before_mib']:,.0f} MiB of it before"
        )
    if len(figures) == 2:
        ours, other = figures[1], figures[0]
        gap = max(abs(left - right) for left, right in zip(ours["values"], other["values"], strict=True))
        print(f"blocks against at once: {ours['peak_mib'] / other['peak_mib']:.2f}x the memory, ", end="")
        print(f"{ours['seconds'] / other['seconds']:.2f}x the time; largest difference {gap:.1g}")


if __name__ == "__main__":
    main()
