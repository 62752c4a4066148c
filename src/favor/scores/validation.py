"""Validation family: how well each client's model predicts texts of its author that it was not trained on.

Read from the training logs (:class:`favor.lm.settings.Validation`), not from generated texts. The texts are those of
the validation split: no test text is read, so a setting may be chosen by this loss and then be measured.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pandas as pd

from favor.scores.metric import ALL_SEEDS, Metric, Score, scores_frame
from favor.statistics.bootstrap import interval, mean_draws, observed_and_resampled

NEEDS = "training.validation"  # key of an experiment without which nothing is scored
LOSS, AUTHOR_LOSS, WORSE = "validation_loss", "author_validation_loss", "worse_authors"
_NATS = "nats per token"
METRICS = (
    Metric("validation_loss", "Validation loss", 0.0, float("inf"), "lower",
        "mean negative log-likelihood of an author's validation texts under the model that its client generates with; "
        "mean over authors", _NATS),
    Metric("author_validation_loss", "Validation loss by author", 0.0, float("inf"), "lower",
        "the same of one author; the variant is the client", _NATS, per_client=True),
    Metric("worse_authors", "Authors made worse", 0.0, float("inf"), "lower",
        "authors whose validation loss after the personal stage is above that before it, on the mean over seeds",
        "authors"),
)  # fmt: skip


def final_losses(log: pd.DataFrame, stage: str, stopped: bool) -> dict[str, float]:
    """Return of each client in a table ``training_log`` the validation loss of what its ``stage`` ended with.

    That is the loss after the last pass of the client's last round or, where the stage is ``stopped`` early and keeps
    its best pass, the lowest of that round. Clients whose validation texts were not read are left out.
    """
    own = log[(log["stage"] == stage) & log["validation_loss"].notna()]
    own = own[own["round"] == own.groupby("client")["round"].transform("max")].sort_values("step")
    by_client = own.groupby("client")["validation_loss"]
    return {str(client): float(loss) for client, loss in (by_client.min() if stopped else by_client.last()).items()}


def personal_changes(log: pd.DataFrame, stopped: bool) -> dict[str, float]:
    """Return by client by how much its validation loss after the last personal stage is above that before it."""
    before = log[(log["stage"] == "personal") & log["validation_loss_before"].notna()].sort_values("round")
    starts = before.groupby("client")["validation_loss_before"].last()
    return {client: loss - float(starts[client]) for client, loss in final_losses(log, "personal", stopped).items()}


def worse_lines(scores: pd.DataFrame, names: Mapping[str, str]) -> list[str]:
    """Return "FAVoR 3 of 12" of every row with a personal stage that was read; ``names``: printed, by row."""
    found = scores[(scores["metric"] == WORSE) & scores["value"].notna()]
    return [
        f"{names[method]} {value:.0f} of {n}"
        for method, value, n in zip(found["method"], found["value"], found["n"], strict=True)
    ]


def over_trained(scores: pd.DataFrame, names: Mapping[str, str]) -> str:
    """Return what is to be said where a personal stage made half of a row's authors worse, or more; "" elsewhere."""
    found = scores[(scores["metric"] == WORSE) & (scores["n"] > 0) & (2 * scores["value"] >= scores["n"])]
    if found.empty:
        return ""
    return (
        "The validation loss of the personal stage ended above its start for many authors: "
        f"{', '.join(worse_lines(found, names))}. Lower its learning rate or its passes (favor tune)."
    )


def validation_scores(
    losses: Mapping[str, Sequence[Mapping[str, float]]],
    changes: Mapping[str, Sequence[Mapping[str, float]]],
    without: Mapping[str, str],
    seed: int,
    draws: int,
) -> pd.DataFrame:
    """Return the scores of every row: ``losses`` has of each seed the clients' :func:`final_losses`.

    changes: of each seed the clients' :func:`personal_changes`, of rows with a personal stage. without: why a row has
    no losses. Seeds stand together (``ALL_SEEDS``): an author's loss is the mean over seeds, of authors who have one
    under every seed; ``n`` counts them. Variants: "", and "low" and "high", the 95 % interval over authors (``seed``
    and ``draws`` of the bootstrap).
    """
    return scores_frame(
        score
        for method, runs in losses.items()
        for score in (
            *_method_scores(method, runs, without.get(method, ""), seed, draws),
            _worse(method, changes.get(method, [{}])),
        )
    )


def _worse(method: str, runs: Sequence[Mapping[str, float]]) -> Score:
    clients = sorted(set.intersection(*(set(run) for run in runs)))
    if not clients:
        return Score(ALL_SEEDS, method, "", WORSE, "", np.nan, 0, "no personal stage read validation texts")
    worse = sum(float(np.mean([run[client] for run in runs])) > 0 for client in clients)
    return Score(ALL_SEEDS, method, "", WORSE, "", float(worse), len(clients))


def _method_scores(
    method: str, runs: Sequence[Mapping[str, float]], without: str, seed: int, draws: int
) -> Iterator[Score]:
    clients = sorted(set.intersection(*(set(run) for run in runs)))
    if not clients:
        note = without or "no author has a validation text that was read under every seed"
        score = Score(ALL_SEEDS, method, "", LOSS, "", np.nan, 0, note)
        yield from (score, *score.ends((np.nan, np.nan)))
        return
    values = np.array([np.mean([run[client] for run in runs]) for client in clients])
    number = len(clients)
    low, high = interval(mean_draws(values, np.arange(number), observed_and_resampled(number, seed, draws)), number)
    score = Score(ALL_SEEDS, method, "", LOSS, "", float(values.mean()), number)
    yield from (score, *score.ends((np.maximum(low, 0.0), high), "one author: there is no interval over authors"))
    for client, value in zip(clients, values, strict=True):
        yield Score(ALL_SEEDS, method, "", AUTHOR_LOSS, client, float(value), len(runs))
