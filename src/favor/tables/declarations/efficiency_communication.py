"""Hyper-parameters of FAVoR's runs and what they sent, stored and took."""

from favor.tables.specs import Column, Row, TableSpec, Unit, one_panel


def _setting(name: str, setting: str) -> Row:
    return Row((name,), setting=setting)


def _measured(name: str, metric: str, unit: Unit = "") -> Row:
    return Row((name,), metric=metric, unit=unit, decimals=0)


TABLE = TableSpec(
    label="efficiency_communication",
    title="Efficiency and communication cost",
    caption="Efficiency and communication cost of FAVoR's runs, mean over seeds. Bytes are those of fp32 adapter files "
    "as they crossed the boundary; the training time adds up the wall times of the jobs as they were run here.",
    stub_headers=("Quantity",),
    rows=(
        _setting("Base model", "base_model"),
        _setting("Quantization", "quantisation"),
        _measured("Trainable PEFT params", "adapter_parameters", "count"),
        _measured("Serialized shared adapter", "shared_adapter_bytes", "bytes"),
        _measured("Rounds", "rounds"),
        _setting("Clients per round", "clients_per_round"),
        _setting("Local epochs", "local_epochs"),
        _setting("Batching", "batching"),
        _setting("Learning rate", "learning_rate"),
        _measured("Upload per client round", "upload_client_bytes", "bytes"),
        _measured("Aggregate upload per round", "upload_round_bytes", "bytes"),
        _measured("Aggregate upload per seed", "upload_bytes", "bytes"),
        _measured("Upload + broadcast per seed", "traffic_bytes", "bytes"),
        _measured("Final private residual storage", "residual_bytes", "bytes"),
        _measured("Runtime per seed", "training_seconds", "seconds"),
    ),
    panels=one_panel(Column("Value", method="favor")),
    sources=("efficiency",),
    section="Efficiency and communication",
    paper="Table 32",
    open_rows=False,
    with_controls=False,
)
