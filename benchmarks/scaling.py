r"""What runs cost before they are started: jobs, time and memory of planning, GPU-hours, disk and traffic.

    python benchmarks/scaling.py --corpus-path /data/blogtext.csv --configfile config/blogtext.yaml
    python benchmarks/scaling.py --corpus-path /data/blogtext.csv --clients 10000 --clients-per-job 100 \
        --configfile config/blogtext.yaml

Each ``--configfile`` is one run and takes the files that Snakemake would (later ones over earlier ones). The costs are
those of ``favor plan``; jobs, planning time and planning memory come from ``snakemake -n``.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from favor.config.files import read_files
from favor.config.resolve import resolve
from favor.forecast.estimate import estimate
from favor.foundation.errors import UserError
from favor.plan import Planner

ROOT = Path(__file__).resolve().parents[1]

# Measures a command from a process of its own: memory counts from the fork on, and this script has torch loaded.
MEASURE = """
import json, resource, subprocess, sys, time
start = time.monotonic()
done = subprocess.run(sys.argv[1:])
used = resource.getrusage(resource.RUSAGE_CHILDREN)
figures = {"wall_s": time.monotonic() - start, "processor_s": used.ru_utime + used.ru_stime}
print(json.dumps({**figures, "peak_mib": used.ru_maxrss / 1024}), flush=True)
sys.exit(done.returncode)
"""


def merged(files: Sequence[str], clients: int | None, per_job: int | None) -> dict[str, Any]:
    """Return the configuration of some files, with another number of clients where one is given."""
    config = read_files([str(path) for path in files])
    for experiment in config["experiments"].values():
        federation = experiment.setdefault("federation", {})
        if clients is not None:
            was = experiment.pop("clients", None) or 50
            federation["clients_per_round"] = max(1, federation.get("clients_per_round", 12) * clients // was)
            config["corpora"][experiment["corpus"]].setdefault("roles", {})["clients"] = clients
        if per_job is not None:
            federation["clients_per_job"] = per_job
    return config


def planned(config: Mapping[str, Any]) -> tuple[Counter[str], dict[str, float]]:
    """Return the jobs that ``snakemake -n`` plans by rule, and the time and memory that planning took."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "config.yaml"
        path.write_text(yaml.safe_dump({**config, "results": f"{folder}/results"}, sort_keys=False), encoding="utf-8")
        command = [sys.executable, "-m", "snakemake", "-n", "--cores", "2", "-q", "rules"]
        command += ["--snakefile", str(ROOT / "Snakefile"), "--configfile", str(path)]
        done = subprocess.run(
            [sys.executable, "-c", MEASURE, *command],
            cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
        )  # fmt: skip
    if done.returncode:
        sys.exit(done.stdout[-3000:])
    rows = [line.split() for line in done.stdout.split("Job stats:")[1].splitlines()[3:]]
    jobs = Counter({row[0]: int(row[1]) for row in rows[: [row[:1] for row in rows].index(["total"])]})
    return jobs, json.loads(done.stdout.splitlines()[-1])


def costs(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the runs of a configuration take, by its plan alone."""
    return estimate(Planner(resolve(config), ROOT))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--configfile", nargs="+", action="append", required=True, help="files of one run; repeatable")
    parser.add_argument("--corpus-path", help="raw corpus; a file that exists is enough to plan")
    parser.add_argument("--clients", type=int, help="so many clients, the same share of them in each round")
    parser.add_argument("--clients-per-job", type=int, help="clients that one job serves")
    parser.add_argument("--no-plan", action="store_true", help="leave snakemake -n out")
    arguments = parser.parse_args()
    results = []
    for files in arguments.configfile:
        config = merged(files, arguments.clients, arguments.clients_per_job)
        if arguments.corpus_path:
            config["corpus_path"] = arguments.corpus_path
        try:
            found = {"run": [Path(path).name for path in files], **costs(config)}
        except UserError as error:
            sys.exit(f"error: {error}")
        if not arguments.no_plan:
            jobs, planning = planned(config)
            different = {rule: (count, jobs[rule]) for rule, count in found["jobs"].items() if jobs[rule] != count}
            if different:
                sys.exit(f"{files}: (by formula, planned) jobs differ: {different}")
            found |= {"planned_jobs": sum(jobs.values()) - jobs["all"], "planning": planning}
        results.append(found)
    print(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
