"""The loss of every step of a job that keeps it, beside the job's log.

The file is a log to Snakemake: a results folder made before losses were kept stays as it is and trains nothing again.
"""

from __future__ import annotations

from favor.foundation.tables import FLOAT, INT64, Column, Table

LOSSES = Table(
    "losses",
    (
        Column("done", INT64, "", "work done after the step, in the unit of the job's progress (tokens)"),
        Column("loss", FLOAT, "nats per token", "mean loss of the step"),
    ),
    ("done",),
)
