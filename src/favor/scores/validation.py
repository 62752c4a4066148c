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
LOSS, AUTHOR_LOSS = "validation_loss", "author_validation_loss"
_NATS = "nats per token"
METRICS = (
    Metric(
        "validation_loss", "Validation loss", 0.0, float("inf"), "lower",
        "mean negative log-likelihood of an author's validation texts under the model that its client generates with; "
        "mean over authors", _NATS,
    ),
    Metric(
        "author_validation_loss", "Validation loss by author", 0.0, float("inf"), "lower",
        "the same of one author; the variant is the client", _NATS, per_client=True,
    ),
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


def validation_scores(
    losses: Mapping[str, Sequence[Mapping[str, float]]], without: Mapping[str, str], seed: int, draws: int
) -> pd.DataFrame:
    """Return the scores of every row: ``losses`` has of each seed the clients' :func:`final_losses`.

    without: why a row has none. Seeds stand together (``ALL_SEEDS``): an author's loss is the mean over seeds, of
    authors who have one under every seed; ``n`` counts them. Variants: "", and "low" and "high", the 95 % interval over
    authors (``seed`` and ``draws`` of the bootstrap).
    """
    return scores_frame(
        score
        for method, runs in losses.items()
        for score in _method_scores(method, runs, without.get(method, ""), seed, draws)
    )


def _method_scores(
    method: str, runs: Sequence[Mapping[str, float]], without: str, seed: int, draws: int
) -> Iterator[Score]:
    clients = sorted(set.intersection(*(set(run) for run in runs)))
    if not clients:
        note = without or "no author has a validation text that was read under every seed"
        for variant in ("", "low", "high"):
            yield Score(ALL_SEEDS, method, "", LOSS, variant, np.nan, 0, note)
        return
    values = np.array([np.mean([run[client] for run in runs]) for client in clients])
    number = len(clients)
    low, high = interval(mean_draws(values, np.arange(number), observed_and_resampled(number, seed, draws)), number)
    for variant, value in (("", float(values.mean())), ("low", float(np.maximum(low, 0.0))), ("high", high)):
        note = "" if np.isfinite(value) else "one author: there is no interval over authors"
        yield Score(ALL_SEEDS, method, "", LOSS, variant, value, number, note)
    for client, value in zip(clients, values, strict=True):
        yield Score(ALL_SEEDS, method, "", AUTHOR_LOSS, client, float(value), len(runs))
