"""What is chosen of a grid by validation loss, and the file that lays it over an experiment."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd
import yaml

from favor.federation.settings import Tuned, TunedPoint
from favor.foundation.errors import UserError
from favor.foundation.files import check_writable, write_text
from favor.tuning.grid import Candidate, Grid

FIRST_LINE = "Rates and passes chosen by validation loss, on authors who are not this experiment's. Lay it over the"
FEWEST = 5  # authors from which on one can be left out


def choose(found: Sequence[tuple[Candidate, Mapping[str, float]]]) -> list[TunedPoint]:
    """Return every point of one stage with its loss, the lowest of each row chosen.

    Of equal losses the smallest rate is chosen, then the fewest passes. A loss is the mean over the authors who have
    one at all points of the row. From ``FEWEST`` authors on, the one whose distance from the median author differs most
    between points, of all rows, is left out: an author whose texts repeat may gain more than all others together.

    Raises ``UserError`` where a row has no author left.
    """
    table = pd.DataFrame([losses for _, losses in found])
    if len(table.columns) >= FEWEST:
        apart = table.sub(table.median(axis=1), axis=0)
        table = table.drop(columns=(apart.max() - apart.min()).idxmax())
    points: list[TunedPoint] = []
    for row in dict.fromkeys(candidate.row for candidate, _ in found):
        places = [place for place, (candidate, _) in enumerate(found) if candidate.row == row]
        own, losses = [found[place][0] for place in places], table.loc[places].dropna(axis=1)
        if losses.empty:
            raise UserError(
                f"{row}, {own[0].stage} stage: no author has a validation text that was read at every point"
            )
        order = [(loss, each.learning_rate, each.passes) for loss, each in zip(losses.mean(axis=1), own, strict=True)]
        points += [
            TunedPoint(
                row=row,
                stage=each.stage,
                learning_rate=each.learning_rate,
                passes=each.passes,
                loss=place[0],
                authors=len(losses.columns),
                chosen=place == min(order),
            )
            for place, each in zip(order, own, strict=True)
        ]
    return points


def check_output(output: Path) -> None:
    """Raise ``UserError`` before anything is trained where ``output`` cannot be written, or is not this command's."""
    if output.is_dir():
        raise UserError(f"--output {output}: is a folder; name a file")
    own = f"# {FIRST_LINE}".encode()
    if output.exists() and not (output.is_file() and output.read_bytes().startswith(own)):
        raise UserError(f"--output {output}: is there, and favor tune has not written it; name another file")
    check_writable(output.parent, f"--output {output}")


def write_tuned(grid: Grid, candidates: Sequence[Candidate], points: Sequence[TunedPoint], output: Path) -> list[str]:
    """Write the file to lay over the experiment, and return the lines that say what is in it.

    It has every row with all that it is given, since named rows replace those of an experiment that is extended. An
    earlier file that differs becomes ``FILE.old``: you may have edited it.
    """
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
        FIRST_LINE,
        "configuration: favor run CONFIG THIS_FILE",
        *doubts,
    ]
    rows = {row: {**given, **methods.get(row, {})} for row, given in grid.section.methods.items()}
    found = {"experiments": {grid.name: {"methods": rows, "tuned": tuned.model_dump()}}}
    text = "".join(f"# {line}\n" for line in head) + yaml.safe_dump(found, sort_keys=False, width=200)
    lines = [f"{row}: {', '.join(f'{key} {value:g}' for key, value in own.items())}" for row, own in methods.items()]
    if output.is_file() and output.read_bytes() != text.encode():
        lines.append(f"kept the earlier {output} as {output.replace(f'{output}.old')}")
    write_text(text, output)
    return [*lines, *doubts]
