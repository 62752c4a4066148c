"""Scores of encoder transfer: does a frozen style encoder tell apart authors of a corpus it was not trained on?

Human texts only, so the rows' method is "source" and their seed 0. A held-out text is assigned to the nearest prototype
of the authors' training texts, and verified against every author's training texts (any other author is a negative, as
a corpus of stories has no topics). Intervals come from resamples of the held-out texts' authors; prototypes and
training texts stay.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd

from favor.scores.inputs import Run, Sources, unit_embeddings
from favor.scores.metric import SOURCE, Metric, Score, scores_frame
from favor.scores.prototypes import predict, prototypes
from favor.scores.verification import source_pairs
from favor.statistics.bootstrap import RATE, auc_draws, interval, mean_draws, observed_and_resampled

_REFERENCE = "paper, ASCE Evaluator-Scale and Cross-Domain Transfer"
NEEDS = "evaluation.transfer"  # key of an experiment without which nothing is scored
METRICS = (
    Metric("encoder_authors", "Authors", 0.0, float("inf"), "none", _REFERENCE, "authors the encoder was trained on"),
    Metric("encoder_examples", "Examples", 0.0, float("inf"), "none", _REFERENCE, "texts the encoder was trained on"),
    Metric("transfer_accuracy", "Transfer accuracy", 0.0, 1.0, "higher", _REFERENCE),
    Metric("transfer_auc", "Transfer AUC", 0.0, 1.0, "higher", _REFERENCE),
)
NO_CORPUS = "no second corpus is configured (evaluation.transfer)"


class TrainedOn(NamedTuple):
    """How many authors, and texts of them, an encoder was trained on."""

    authors: int
    texts: int


def transfer_scores(
    embeddings: Mapping[str, pd.DataFrame | None], trained: Mapping[str, TrainedOn], seed: int, draws: int
) -> pd.DataFrame:
    """Return the scores of every encoder, and of all encoders trained on one number of authors together.

    ``embeddings``: table ``source_embeddings`` of the transfer texts by encoder, kinds train and test; None where no
    second corpus is configured. ``trained``: what each encoder was trained on.
    Variants of both transfer metrics: "", and "low" and "high" of the 95 % interval. Encoders of one number of authors
    K also stand together under the encoder "authors=K": their mean, and its interval over the same resamples.
    """
    scores: list[Score] = []
    groups: dict[int, list[str]] = {}
    for encoder in embeddings:
        groups.setdefault(trained[encoder].authors, []).append(encoder)
    for authors, members in sorted(groups.items()):
        together = f"authors={authors}"
        examples = [float(trained[encoder].texts) for encoder in members]
        for encoder, number in (*zip(members, examples, strict=True), (together, float(np.mean(examples)))):
            scores.append(Score(0, SOURCE, encoder, "encoder_authors", "", float(authors), len(members)))
            scores.append(Score(0, SOURCE, encoder, "encoder_examples", "", number, len(members)))
        tables = {encoder: embeddings[encoder] for encoder in members}
        found = {encoder: _transfer(table, seed, draws) for encoder, table in tables.items() if table is not None}
        for metric in ("transfer_accuracy", "transfer_auc"):
            if len(found) < len(members):
                scores += [Score(0, SOURCE, name, metric, "", np.nan, 0, NO_CORPUS) for name in (*members, together)]
                continue
            results = {encoder: of[metric] for encoder, of in found.items()}
            _, number, n = next(iter(results.values()))
            results[together] = np.mean([drawn for drawn, _, _ in results.values()], axis=0), number, n
            for encoder, (drawn, number, n) in results.items():
                score = Score(0, SOURCE, encoder, metric, "", float(drawn[0]), n, "needs held-out texts of two authors")
                scores += [score, *score.ends(interval(drawn, number, RATE))]
    return scores_frame(scores)


def _transfer(table: pd.DataFrame, seed: int, draws: int) -> dict[str, tuple[np.ndarray, int, int]]:
    """Return of each metric its draws, the value first, the authors of held-out texts, and the texts or pairs."""
    train, test = (_sources(table, kind) for kind in ("train", "test"))
    clients = sorted(set(train.frame["client"]))
    index = {client: place for place, client in enumerate(clients)}
    counts = observed_and_resampled(len(clients), seed, draws)
    owner = test.frame["client"].to_numpy(dtype=object)
    right = (predict(test.vectors, prototypes(train, clients), clients) == owner).astype(float)
    correct = mean_draws(right, np.array([index[client] for client in owner]), counts)
    # The held-out texts stand in the place of a run's outputs.
    items = test.frame.rename(columns={"item": "prompt_id"}).assign(passed=True, sample=0, text_item=test.frame["item"])
    pairs = source_pairs(test.vectors, Run(0, SOURCE, items), train, same_topic=False)
    left = np.array([index[client] for client in pairs.left])
    separated = auc_draws(pairs.scores, pairs.positive, left, counts)
    return {
        "transfer_accuracy": (correct, len(set(owner)), len(right)),
        "transfer_auc": (separated, len(set(owner)), len(pairs)),
    }


def _sources(table: pd.DataFrame, kind: str) -> Sources:
    frame = table[table["kind"] == kind].sort_values(["client", "item"], ignore_index=True)
    return Sources(frame[["client", "item", "topic"]], unit_embeddings(frame["embedding"]))
