"""What is chosen of a grid by validation loss, and the file that lays it over an experiment."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import yaml

from favor.federation.settings import Tuned, TunedPoint
from favor.foundation.errors import UserError
from favor.foundation.files import write_text
from favor.tuning.grid import Candidate, Grid


def choose(found: Sequence[tuple[Candidate, Mapping[str, float]]]) -> list[TunedPoint]:
    """Return every point with its loss, the lowest of each row and stage chosen; of equal ones the smallest rate.

    A loss is the mean over the authors who have one at all points of the row and stage. Then fewest passes choose. The
    choice is made again without each author: one whose texts repeat may gain more than all others together.
    Raises ``UserError`` where no author has one.
    """
    points: list[TunedPoint] = []
    stages = dict.fromkeys((candidate.row, candidate.stage) for candidate, _ in found)
    for row, stage in stages:
        own = [(each, losses) for each, losses in found if (each.row, each.stage) == (row, stage)]
        authors = sorted(set.intersection(*(set(losses) for _, losses in own)))
        if not authors:
            raise UserError(f"{row}, {stage} stage: no author has a validation text that was read at every point")
        table = np.array([[losses[author] for author in authors] for _, losses in own])
        means = [float(np.mean(row)) for row in table]
        best = _best(means, own)
        without = [
            _best(np.delete(table, place, 1).mean(1), own) for place in range(len(authors) if authors[1:] else 0)
        ]
        points += [
            TunedPoint(
                row=row,
                stage=stage,
                learning_rate=each.learning_rate,
                passes=each.passes,
                loss=loss,
                authors=len(authors),
                chosen=place == best,
                hangs_on=sum(other != best for other in without) if place == best else 0,
            )
            for place, (loss, (each, _)) in enumerate(zip(means, own, strict=True))
        ]
    return points


def _best(losses: Sequence[float] | np.ndarray, own: Sequence[tuple[Candidate, Mapping[str, float]]]) -> int:
    """Return the place of the lowest loss; of equal ones that of the smallest rate, then of the fewest passes."""
    order = [(loss, each.learning_rate, each.passes) for loss, (each, _) in zip(losses, own, strict=True)]
    return order.index(min(order))


def write_tuned(grid: Grid, candidates: Sequence[Candidate], points: Sequence[TunedPoint], output: Path) -> list[str]:
    """Write the file to lay over the experiment, and return the lines that say what is in it."""
    methods: dict[str, dict[str, float | int]] = {}
    for candidate, point in zip(candidates, points, strict=True):
        if not point.chosen:
            continue
        own = methods.setdefault(candidate.row, {})
        own["learning_rate" if candidate.stage == "shared" else "personal_learning_rate"] = candidate.learning_rate
        if candidate.stage == "personal":
            before = grid.section.methods[candidate.row]
            own |= {
                key: value
                for key, value in candidate.overrides.items()
                if key.endswith("epochs") and before.get(key) != value
            }
    tuned = Tuned(skip_clients=grid.skipped, clients=grid.authors, seed=grid.section.seeds[0], points=list(points))
    doubts = tuned.doubts()
    head = [
        "Rates and passes chosen by validation loss, on authors who are not this experiment's. Lay it over the",
        "configuration: favor run CONFIG THIS_FILE",
        *doubts,
    ]
    found = {"experiments": {grid.name: {"methods": methods, "tuned": tuned.model_dump()}}}
    text = "".join(f"# {line}\n" for line in head) + yaml.safe_dump(found, sort_keys=False, width=200)
    write_text(text, output)
    lines = [f"{row}: {', '.join(f'{key} {value:g}' for key, value in own.items())}" for row, own in methods.items()]
    return [*lines, *doubts]
