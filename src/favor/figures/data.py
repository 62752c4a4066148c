"""What a figure draws: the tables it asked for, and how its experiment's methods are called."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from favor.analysis.schemas import ADAPTER_ENERGY, COORDINATE_EFFECTS, EVIDENCE, PARTICIPATION
from favor.corpora.schemas import ALLOCATION
from favor.encoders.schemas import GENERATION_EMBEDDINGS, SOURCE_EMBEDDINGS
from favor.federation.schemas import GENERATIONS, TRAINING_LOG
from favor.figures.identity import Methods
from favor.figures.specs import FigureInput
from favor.foundation.files import read_json
from favor.foundation.parquet import read_parquet, read_tables
from favor.foundation.schemas import Table
from favor.paper.names import encoder_name
from favor.running.jobs.losses import LOSSES
from favor.scores.inputs import RUN_KEYS
from favor.scores.schemas import SCORES

TABLES: dict[FigureInput, Table] = {
    "training_logs": TRAINING_LOG,
    "allocation": ALLOCATION,
    "source_embeddings": SOURCE_EMBEDDINGS,
    "gold_embeddings": SOURCE_EMBEDDINGS,
    "generation_embeddings": GENERATION_EMBEDDINGS,
    "generations": GENERATIONS,
    "coordinate_effects": COORDINATE_EFFECTS,
    "adapter_energy": ADAPTER_ENERGY,
    "participation": PARTICIPATION,
    "evidence": EVIDENCE,
}


@dataclass(frozen=True)
class FigureData:
    """What a figure asked for, read when it is used."""

    files: Mapping[str, Sequence[str]]  # by input; those of metric families under "scores"
    methods: Sequence[str]  # rows of the experiment, in its order
    display: Mapping[str, str]  # printed name by row, where the paper does not know it
    references: Sequence[str]  # rows that do not federate
    style_encoder: str  # key
    logs: Mapping[str, Sequence[str]]  # training logs by row
    bases: Mapping[str, str] = field(default_factory=dict)  # the method behind a row, where it has another name
    sampling: Mapping[str, tuple[float, float]] = field(default_factory=dict)  # temperature and top_p by row
    tuned: Sequence[Mapping[str, Any]] = ()  # points of ``favor tune``
    encoders: Sequence[str] = ()  # those that were trained here, in the order of their manifests
    unseen: Sequence[str] = ()  # encoders whose mean judges, which no method was trained with
    pretraining: str = ""  # losses of the base model, where it was pretrained; the file may be missing

    @property
    def shown(self) -> Methods:
        """Names, order and looks of the rows."""
        return Methods(self.methods, self.display, self.bases, self.references)

    def table(self, name: FigureInput, columns: Sequence[str] | None = None) -> pd.DataFrame:
        """Return an input as one table, its files one after another; of ``columns`` only, where they are given."""
        return read_tables(self.files[name], TABLES[name], columns)

    def scores(self) -> pd.DataFrame:
        """Return the table ``scores`` of all families asked for."""
        return read_tables(self.files["scores"], SCORES)

    def training_logs(self) -> dict[str, pd.DataFrame]:
        """Return the table ``training_log`` of every row that trains, by row."""
        return {row: read_tables(self.logs[row], TRAINING_LOG) for row in self.methods if self.logs[row]}

    def pretraining_losses(self) -> pd.DataFrame:
        """Return the table ``losses`` of the base model's pretraining, empty where no run kept it."""
        path = Path(self.pretraining)
        # Snakemake makes an empty file of a log that a job did not write, killed or touched.
        kept = path.is_file() and path.stat().st_size > 0
        return read_parquet(path, LOSSES) if kept else LOSSES.empty()

    def encoder_losses(self) -> dict[str, list[float]]:
        """Return the mean training loss of every epoch, by the printed name of the encoder that was trained."""
        manifests = (read_json(path)["manifest"] for path in self.files["encoder_manifests"])
        return {
            encoder_name(encoder): [epoch["training_loss"] for epoch in manifest["epochs"]]
            for encoder, manifest in zip(self.encoders, manifests, strict=True)
        }

    def surviving_embeddings(self) -> pd.DataFrame:
        """Return the table ``generation_embeddings`` of the outputs that passed the filter."""
        kept = self.table("generations", [*RUN_KEYS, "passed"])
        return self.table("generation_embeddings").merge(kept[kept["passed"]], on=RUN_KEYS, validate="one_to_one")
