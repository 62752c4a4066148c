"""What another group's share must be: typed, and numbers that a run of its own protocol can make."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import Field, StringConstraints

from favor.analysis.schemas import GROUP_OUTPUTS
from favor.foundation.errors import UserError
from favor.foundation.names import printable
from favor.foundation.received import Received
from favor.scores import prototypes, utility
from favor.scores.voice_kept import FAILURES_WRONG

PASS_RATE = "pass_rate"
REFERENCE = "gold"
OUTPUT = ["seed", "author", "prompt"]  # of an author's own continuation
MOST_ROWS = 5_000_000  # of a share: 200 authors, 20 methods and 5 encoders have one
ROUNDING = 1e-5  # of a cosine in float32
_REMEDY = "ask for what 'favor compare RESULTS --share FOLDER' writes"
# Ranges by metric: those of an encoder, and those of none.
OF_ENCODER = {
    **{metric.name: (metric.minimum, metric.maximum) for metric in prototypes.METRICS},
    FAILURES_WRONG: (0.0, 1.0),
}
OF_NONE = {PASS_RATE: (0.0, 1.0), **{metric.name: (metric.minimum, metric.maximum) for metric in utility.METRICS}}
_RIGHT_OR_WRONG = ("author_accuracy", FAILURES_WRONG, PASS_RATE)

Short = Annotated[str, StringConstraints(max_length=300)]
Digest = Annotated[str, StringConstraints(pattern="^[0-9a-f]{16}$")]


class Bootstrap(Received, extra="allow"):
    """How intervals are drawn."""

    seed: int
    draws: Annotated[int, Field(ge=1)]


class Evaluation(Received):
    """What of the evaluation makes numbers comparable."""

    bertscore: Any
    semantic_encoder: Short | None
    bootstrap: Bootstrap


class Authors(Received):
    """Digests of the authors' texts, and of those that were trained on."""

    texts: Digest
    training_texts: Digest


class Protocol(Received):
    """See :class:`favor.report.comparison.reading.Group`. What is compared as it stands is of any type."""

    clients: Any
    skip_clients: Any
    withdrawn: Any
    allocation: Any
    seeds: Annotated[list[int], Field(min_length=1)]
    prompts: dict[str, Any]
    generation: dict[str, Any]
    evaluation: Evaluation
    words: Any
    encoders: Annotated[list[Short], Field(min_length=1)]
    authors: Authors
    prompts_of_seed: dict[str, Digest]


class Method(Received):
    """How a row was trained and what it generated with."""

    hyperparameters: dict[str, Any]
    generation: dict[str, Any]


class Settings(Received, extra="allow"):
    """The settings that are no part of the protocol."""

    methods: dict[Short, Method]


class Record(Received):
    """``group.json`` of a share."""

    protocol: Protocol
    settings: Settings
    display: dict[Short, Short]
    seen: list[Short]
    digest: Annotated[str, StringConstraints(pattern="^[0-9a-f]{64}$")]


def digest_of(content: Any) -> str:
    """Return a short digest of JSON values."""
    return hashlib.sha256(json.dumps(content, ensure_ascii=False).encode()).hexdigest()[:16]


def check_size(path: Path) -> None:
    """Check how many rows a table of somebody else has, before they are read. Raises ``UserError`` for too many."""
    try:
        rows = pq.read_metadata(path).num_rows
    except (pa.ArrowException, OSError) as error:
        raise UserError(f"{path}: not a complete Parquet file ({str(error).splitlines()[0]}); {_REMEDY}") from None
    if rows > MOST_ROWS:
        raise UserError(f"{path}: {rows:,} rows are more than the {MOST_ROWS:,} that are read; compare fewer rows")


def check_outputs(path: Path, protocol: Protocol, outputs: pd.DataFrame) -> None:
    """Check the table ``group_outputs`` of somebody else against the protocol that comes with it.

    Raises ``UserError`` that names the first row or value which no run of that protocol writes.
    """

    def refuse(problem: str) -> UserError:
        return UserError(f"{path}: {problem}; {_REMEDY}")

    if list(outputs.columns) != GROUP_OUTPUTS.names:
        raise refuse(
            f"columns {printable(', '.join(map(str, outputs.columns)))} are not {', '.join(GROUP_OUTPUTS.names)}"
        )
    if outputs.isna().to_numpy().any() or not np.isfinite(outputs["value"]).all():
        raise refuse("holds values that are missing or not finite")
    keys = list(GROUP_OUTPUTS.sort_by)
    if (again := outputs.duplicated(keys)).any():
        row = ", ".join(f"{key} {value}" for key, value in outputs.loc[again, keys].iloc[0].items())
        raise refuse(f"two rows share {printable(row)}")
    for (encoder, metric), own in outputs.groupby(["encoder", "metric"]):
        known = OF_NONE if encoder == "" else OF_ENCODER if encoder in protocol.encoders else {}
        if metric not in known:
            raise refuse(
                f"metric '{printable(str(metric))}' of encoder '{printable(str(encoder))}' is not of this protocol"
            )
        low, high = known[metric]
        values = own["value"].to_numpy()
        outside = (values < low - ROUNDING) | (values > high + ROUNDING)
        if metric in _RIGHT_OR_WRONG:
            outside |= ~np.isin(values, (0.0, 1.0))
        if outside.any():
            raise refuse(f"{metric} of one output is {values[outside][0]:g}, outside of what it can be")
    if (outputs["sample"] < 0).any():
        raise refuse("numbers of samples are below 0")
    _check_reference(refuse, protocol, outputs)
    _check_complete(refuse, protocol, outputs)


def _check_reference(refuse: Callable[[str], UserError], protocol: Protocol, outputs: pd.DataFrame) -> None:
    """Check that the outputs are of the protocol's authors and prompts, each with the author's own continuation."""
    own = outputs[outputs["method"] == REFERENCE]
    asked = own[(own["metric"] == PASS_RATE) & (own["encoder"] == "")]
    prompts = {str(seed): digest_of(sorted(rows["prompt"])) for seed, rows in asked.groupby("seed")}
    if set(map(str, protocol.seeds)) != {*protocol.prompts_of_seed} or prompts != protocol.prompts_of_seed:
        raise refuse("the authors' own continuations (rows 'gold') are not those of the protocol's prompts")
    if digest_of(sorted(asked["author"].unique())) != protocol.authors.texts:
        raise refuse("its authors are not those of the protocol")
    places = pd.MultiIndex.from_frame(asked[OUTPUT])
    if not pd.MultiIndex.from_frame(outputs[OUTPUT]).isin(places).all():
        raise refuse("holds outputs of prompts that the protocol does not have")
    passed = places[(asked["value"] == 1.0).to_numpy()]
    for encoder in protocol.encoders:
        for metric, needed in ((FAILURES_WRONG, places), ("target_similarity", passed)):
            rows = own[(own["encoder"] == encoder) & (own["metric"] == metric)]
            if not needed.isin(pd.MultiIndex.from_frame(rows[OUTPUT])).all():
                raise refuse(
                    f"rows 'gold' of encoder '{printable(encoder)}' are missing, by which encoders are compared"
                )


def _check_complete(refuse: Callable[[str], UserError], protocol: Protocol, outputs: pd.DataFrame) -> None:
    """Check that every method has an output of every prompt, and that every encoder judged every output."""
    keys = [*OUTPUT, "sample"]
    prompts = {*outputs.loc[outputs["method"] == REFERENCE, OUTPUT].itertuples(index=False, name=None)}
    for method, own in outputs[outputs["method"] != REFERENCE].groupby("method"):
        written = own[(own["metric"] == PASS_RATE) & (own["encoder"] == "")]
        if {*written[OUTPUT].itertuples(index=False, name=None)} != prompts:
            raise refuse(f"method '{printable(str(method))}' lacks outputs of prompts of the protocol")
        wanted = {*written[keys].itertuples(index=False, name=None)}
        for encoder in protocol.encoders:
            judged = own[(own["encoder"] == encoder) & (own["metric"] == FAILURES_WRONG)]
            if {*judged[keys].itertuples(index=False, name=None)} != wanted:
                raise refuse(
                    f"encoder '{printable(encoder)}' judged other outputs of '{printable(str(method))}' than it has"
                )
