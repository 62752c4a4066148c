"""The loss of every step of a pretraining, beside the job's log.

The file is a log to Snakemake: a results folder made before losses were kept stays as it is and trains nothing again.
"""

from collections.abc import Sequence
from pathlib import Path

from favor.foundation.schemas import Column, Table

LOSSES = Table(
    "losses",
    ("done",),
    Column("done", "int64", "work done after the step, in the unit of the job's progress (tokens)"),
    Column("loss", "float64", "mean loss of the step", "nats per token"),
)


def write_losses(losses: Sequence[float], step: int, path: str | Path) -> None:
    """Write the losses of all steps, each of ``step`` units of work."""
    import pandas as pd

    from favor.foundation.parquet import write_parquet

    write_parquet(pd.DataFrame({"done": range(step, step * len(losses) + 1, step), "loss": losses}), path, LOSSES)
