"""The command ``favor tune``: two runs of the workflow, the choice after each, and the file of both."""

import argparse
import copy
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import yaml

from favor.federation.settings import TunedPoint
from favor.foundation.files import write_text
from favor.plan import Planner
from favor.plan.project import unique
from favor.tuning.grid import Candidate, Grid, losses_of, tuned_experiment

Start = Callable[[argparse.Namespace, Sequence[str]], int]


def add_tune(command: argparse.ArgumentParser) -> None:
    """Add the arguments of ``favor tune`` to those that every command has that runs the workflow."""
    command.add_argument("--experiment", help="the experiment whose rows are tuned (the only one)")
    command.add_argument(
        "--rates", nargs="+", type=float, help="learning rates to try (1/4 to 4 times the experiment's)"
    )
    command.add_argument(
        "--personal-rates", nargs="+", type=float, help="learning rates of personal stages (as --rates)"
    )
    command.add_argument("--passes", nargs="+", type=int, help="passes of personal stages to try (each row's own)")
    command.add_argument("--authors", type=int, help="authors to choose on (as many as the experiment has)")
    command.add_argument("--plan", action="store_true", help="only say what it costs")
    command.add_argument("--output", type=Path, default=Path("tuned.yaml"), help="file to write (%(default)s)")


def run(arguments: argparse.Namespace, planner_of: Callable[[argparse.Namespace], Planner], start: Start) -> int:
    """Run the grid and write what is chosen; return the exit status of the workflow.

    ``start`` runs the workflow for these targets. Both steps plan the same experiment with more rows, so that what is
    made stays, and the same command goes on where it was interrupted.
    """
    # Here, because the other commands need no pandas.
    from favor.federation.schemas import VALIDATION_LOSSES
    from favor.foundation.parquet import read_parquet
    from favor.tuning.choice import check_output, choose, write_tuned

    planner = planner_of(arguments)
    grid = Grid(
        planner.config,
        tuned_experiment(planner.config, arguments.experiment),
        arguments.rates,
        arguments.passes,
        arguments.authors,
        arguments.personal_rates,
    )
    if arguments.plan:
        return print_cost(arguments, planner_of, grid)
    check_output(arguments.output)
    laid_over = Path(planner.config.results) / "tuning" / f"{grid.name}.yaml"
    chosen: dict[str, float] = {}
    tried: list[Candidate] = []
    points: list[TunedPoint] = []
    for stage in ("shared", "personal"):
        candidates = grid.shared() if stage == "shared" else grid.personal(chosen)
        if not candidates:
            continue
        tried += candidates
        laid_over.parent.mkdir(parents=True, exist_ok=True)
        write_text(yaml.safe_dump(grid.settings(tried), sort_keys=False), laid_over)
        own = copy.copy(arguments)
        own.configfile = [*arguments.configfile, str(laid_over)]
        planned = planner_of(own)
        files = [losses_of(planned, grid.tuning, each) for each in candidates]
        status = start(own, unique(files))
        if status or arguments.dry_run:
            return status
        tables = [read_parquet(file, VALIDATION_LOSSES) for file in files]
        losses = [dict(zip(table["client"], table["loss"], strict=True)) for table in tables]
        points += choose(list(zip(candidates, losses, strict=True)))
        chosen |= {point.row: point.learning_rate for point in points if point.chosen and point.stage == "shared"}
    print(*write_tuned(grid, tried, points, arguments.output), sep="\n")
    print(f"wrote {arguments.output}; lay it over the configuration to use it", file=sys.stderr)
    return 0


def print_cost(arguments: argparse.Namespace, planner_of: Callable[[argparse.Namespace], Planner], grid: Grid) -> int:
    """Print what both steps of a grid cost; those of the second stand at one shared rate, whichever is chosen."""
    # Here, because it loads what measures the machine.
    from favor.forecast.estimate import estimate
    from favor.forecast.printing import cost_lines
    from favor.forecast.probe import hours_here

    shared = grid.shared()
    points = [*shared, *grid.personal({each.row: each.learning_rate for each in shared})]
    with TemporaryDirectory() as folder:
        own, laid_over = copy.copy(arguments), Path(folder) / "tuning.yaml"
        write_text(yaml.safe_dump(grid.settings(points), sort_keys=False), laid_over)
        own.configfile = [*arguments.configfile, str(laid_over)]
        planned = planner_of(own)
    found = estimate(planned, grid.tuning)
    print(f"{len(points)} points on {grid.authors} authors; reading their validation texts is not counted")
    print(*cost_lines(planned, found, hours_here(planned, found["tokens"])), sep="\n")
    return 0
