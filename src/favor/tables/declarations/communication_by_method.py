"""What every method sends, keeps and trains; the paper prints FAVoR's figures only."""

from favor.paper.names import METHODS
from favor.tables.specs import Column, TableSpec, method_rows, one_panel

TABLE = TableSpec(
    label="communication-by-method",
    title="Communication and training cost of every method",
    caption="Communication and training cost of every method, per seed. A method that shares its federated trajectory "
    "with another is counted with it, as if it had been run alone; private stages that no result needs were not run.",
    rows=method_rows(*METHODS),
    panels=one_panel(
        Column("Upload per\nclient round", "upload_client_bytes", unit="bytes"),
        Column("Upload", "upload_bytes", unit="bytes"),
        Column("Upload +\nbroadcast", "traffic_bytes", unit="bytes"),
        Column("Stays on\nclients", "kept_bytes", unit="bytes"),
        Column("Optimiser\nsteps", "optimiser_steps", decimals=0),
        Column("Supervised\ntokens", "supervised_tokens", unit="count"),
        Column("Training\ntime", "training_seconds", unit="seconds"),
    ),
    sources=("efficiency",),
    with_controls=False,
)
