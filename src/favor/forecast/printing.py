"""What ``favor plan`` prints: what a configuration costs, and what it can tell apart."""

import argparse
import json
import os
from collections.abc import Mapping
from typing import Any

from favor.forecast.estimate import estimate
from favor.forecast.power import power_lines, power_of, variances
from favor.forecast.probe import hour_lines, hours_here
from favor.plan import Planner


def cost_lines(planner: Planner, found: Mapping[str, Any], here: Mapping[str, Any]) -> list[str]:
    """Return an estimate, and the hours on this machine where they were measured, as the lines of a small table."""
    rows = [(f"jobs of {rule}", f"{count:,}") for rule, count in found["jobs"].items()]
    rows += hour_lines(here, os.cpu_count() or 1, planner.config.threads.training) if here else ()
    rows += [
        ("hours of one GPU at cluster.gpu_teraflops (estimated)", f"{found['gpu_hours']:,.1f}"),
        ("host memory of the largest job (estimated)", f"{found['host_memory_gib']:,.1f} GiB"),
        ("sent by clients", f"{found['upload_gib']:,.2f} GiB"),
        ("sent to clients", f"{found['download_gib']:,.2f} GiB"),
        *((f"disk, {kind}", f"{size:,.2f} GiB") for kind, size in found["disk_gib"].items()),
        ("disk at the end", f"{found['final_gib']:,.2f} GiB"),
        ("disk at its highest", f"{found['peak_gib']:,.2f} GiB"),
    ]
    width = max(len(name) for name, _ in rows)
    return [f"{name.ljust(width)}  {value:>14}" for name, value in rows]


def print_estimate(planner: Planner, arguments: argparse.Namespace) -> None:
    """Print what a plan costs and what it can tell apart, as the arguments of ``favor plan`` say."""
    known = variances(arguments.like, list(planner.config.experiments))
    found, power = estimate(planner), power_of(planner, known)
    here = {} if arguments.no_probe else hours_here(planner, found["tokens"])
    if arguments.json:
        print(json.dumps({**found, "here": here, "power": power, "variances_of": known["run"]}, indent=1))
        return
    print(*cost_lines(planner, found, here), *power_lines(planner, power, known), sep="\n")
