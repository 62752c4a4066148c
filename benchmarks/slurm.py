"""What a Slurm job costs beside its work: submission, start-up, polling.

Submits jobs of a rule that does nothing, one after another, with the repaired plugin, and prints the seconds of every
part. ``python tests/slurm/cluster.py .venv/bin/python benchmarks/slurm.py`` runs it on the test cluster; on your own
cluster, call it alone. ``--poll`` is cluster.poll_seconds.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]

# A chain, so that no job hides another's waiting. The script's own start and end are the work; the rest is overhead.
SNAKEFILE = """
import sys
sys.path.insert(0, "{source}")
from favor.running.repairs.slurm_plugin import repair
plugin = sys.modules.get("snakemake_executor_plugin_slurm")
if plugin is not None and workflow.is_main_process:
    repair(plugin, {poll})

rule all:
    input: "{folder}/{jobs}.txt"

rule link:
    input: lambda w: ["{folder}/%d.txt" % (int(w.n) - 1)] if int(w.n) > 1 else []
    output: "{folder}/{{n}}.txt"
    resources: mem_mb=500, runtime=5
    shell: "date +%s.%N > {{output}}; sleep 1; date +%s.%N >> {{output}}"
"""


def measure(folder: Path, jobs: int, poll: float) -> dict[str, list[float]]:
    """Return the seconds of every part, by job."""
    (folder / "Snakefile").write_text(SNAKEFILE.format(source=ROOT / "src", folder=folder, jobs=jobs, poll=poll))
    command = [sys.executable, "-m", "snakemake", "--executor", "slurm", "--jobs", "5", "--slurm-status-command=squeue"]
    options = ["--slurm-init-seconds-before-status-checks", "5", "--latency-wait", "10", "--verbose"]
    seen: dict[str, list[float]] = {"selected": [], "submitted": [], "finished": []}
    with subprocess.Popen(
        [*command, *options], cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as run:
        assert run.stdout is not None
        for line in run.stdout:
            if re.match(r"rule link:", line):
                seen["selected"].append(time.time())
            elif "has been submitted with SLURM jobid" in line:
                seen["submitted"].append(time.time())
            elif re.match(r"Finished jobid: .*link", line):
                seen["finished"].append(time.time())
    if run.returncode:
        raise SystemExit("the run failed")
    work = [list(map(float, (folder / f"{n}.txt").read_text().split())) for n in range(1, jobs + 1)]
    return {
        "submission": [b - a for a, b in zip(seen["selected"], seen["submitted"], strict=True)],
        "start-up (queue, two Snakemakes)": [w[0] - s for w, s in zip(work, seen["submitted"], strict=True)],
        "end seen (Snakemake's end, polling)": [f - w[1] for f, w in zip(seen["finished"], work, strict=True)],
        "all but the work": [
            f - s - (w[1] - w[0]) for f, s, w in zip(seen["finished"], seen["selected"], work, strict=True)
        ],
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=5, help="jobs in the chain")
    parser.add_argument("--poll", type=float, default=30, help="seconds between looks at the queue")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:  # on a file system that the nodes share
        parts = measure(Path(folder), options.jobs, options.poll)
    print(f"{options.jobs} jobs, poll_seconds {options.poll:g}; seconds a job")
    for name, values in parts.items():
        print(f"  {name:38s} median {np.median(values):6.1f}   largest {max(values):6.1f}")


if __name__ == "__main__":
    main()
