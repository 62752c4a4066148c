"""Prototype family: which author's source prototype is an output nearest to, and how near."""

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
from sklearn.metrics import f1_score

from favor.foundation.vectors import unit_rows
from favor.scores.inputs import Run, ScoreInputs, Sources, read_encoders
from favor.scores.metric import Metric, Score, scores_frame
from favor.scores.settings import Prototypes

_REFERENCE = "paper, Experimental Protocol and Metric Definitions"
METRICS = (
    Metric("author_accuracy", "Author Acc.", 0.0, 1.0, "higher", _REFERENCE, paired_label="Author acc.",
        per_output="binary"),
    Metric("author_macro_f1", "Macro-F1", 0.0, 1.0, "higher", _REFERENCE),
    Metric("top1_cosine", "Top-1 cos.", -1.0, 1.0, "none", "similarity to the predicted author",
        paired_label="Top-1 cosine", per_output="real"),
    Metric("target_similarity", "Target sim.", -1.0, 1.0, "higher", "similarity to the intended author",
        per_output="real"),
    Metric("author_margin", "Margin", -2.0, 2.0, "higher",
        "similarity to the intended author minus the mean similarity to the others; 0 for a voice that is nobody's",
        per_output="real"),
)  # fmt: skip
NOBODY = ""  # the prediction for an output that failed the filter


def prototypes(sources: Sources, clients: Sequence[str], limit: int | None = None) -> np.ndarray:
    """Normalised mean of each client's unit source vectors [clients, d]; of its first ``limit`` items, if given."""
    owner = sources.frame["client"].to_numpy()
    means = np.stack([sources.vectors[owner == client][:limit].mean(axis=0) for client in clients])
    return unit_rows(means)


def predict(vectors: np.ndarray, prototype: np.ndarray, clients: Sequence[str]) -> np.ndarray:
    """The client of highest cosine for each unit row; the first in roster order on a tie."""
    return np.asarray(clients, dtype=object)[(vectors @ prototype.T).argmax(axis=1)]


def margins(similarity: np.ndarray, own: np.ndarray) -> np.ndarray:
    """Return similarity to the own author minus the mean similarity to the others, [n]; NaN with one author.

    ``similarity`` [n, clients]: of outputs to prototypes; ``own`` [n]: the place of each output's author. Texts that
    are the same for all authors have 0 on average over authors, wherever they lie.
    """
    target = similarity[np.arange(len(own)), own]
    others = similarity.shape[1] - 1
    return target - (similarity.sum(axis=1) - target) / others if others else np.full(len(own), np.nan)


def figures(vectors: np.ndarray, true: np.ndarray, prototype: np.ndarray, clients: Sequence[str]) -> pd.DataFrame:
    """Return per output: its nearest author, whether that is its own, its similarities, and the margin.

    ``vectors`` [n, d] and ``prototype`` [clients, d] are unit rows, ``true`` [n] the authors, ``clients`` sorted.
    Columns predicted, correct, top1 (similarity to the nearest prototype), target (to its author's), and margin
    (:func:`margins`).
    """
    similarity, own = vectors @ prototype.T, np.searchsorted(list(clients), true.astype(str))
    predicted = predict(vectors, prototype, clients)
    return pd.DataFrame(
        {
            "predicted": predicted,
            "correct": true == predicted,
            "top1": similarity.max(axis=1),
            "target": similarity[np.arange(len(true)), own],
            "margin": margins(similarity, own),
        }
    )


def run_figures(inputs: ScoreInputs, encoder: str, run: Run, kind: str = "train") -> pd.DataFrame:
    """Return :func:`figures` of the survivors of ``run``, in their order, by prototypes of human texts of ``kind``."""
    prototype = prototypes(inputs.sources(encoder, kind), inputs.clients)
    authors = run.survivors["client"].to_numpy(dtype=object)
    return figures(inputs.vectors(encoder, run), authors, prototype, inputs.clients)


def score(inputs: ScoreInputs, settings: Prototypes) -> pd.DataFrame:
    """Score every run and control in every encoder.

    Settings: ``encoders`` (None: all) and ``variants``, any of

    - ``failures_wrong``: outputs that failed the filter count as wrong, and the roster is every author with an output;
    - ``whole_roster`` (macro-F1 only): labels are all authors, also those without a surviving output;
    - ``first50x1500``: prototypes of the first 50 training texts in document order. The 1,500 characters of the
      released protocol are the encoder's own limit here, as every text is embedded once;
    - ``leave_one_out``: prototypes of the run's own other outputs. Outputs whose author has no other are left out.
    """
    scores: list[Score] = []
    for encoder in read_encoders(inputs, settings.encoders):
        train = inputs.sources(encoder, "train")
        default, first = prototypes(train, inputs.clients), prototypes(train, inputs.clients, limit=50)
        for run in inputs.runs:
            scores += _score_run(inputs, encoder, run, default, first, settings.variants)
    return scores_frame(scores)


def _score_run(
    inputs: ScoreInputs, encoder: str, run: Run, default: np.ndarray, first: np.ndarray, variants: Sequence[str]
) -> Iterator[Score]:
    true, clients = run.survivors["client"].to_numpy(dtype=object), inputs.clients
    n, vectors, nothing = len(true), inputs.vectors(encoder, run), "no output passed the filter"
    found = figures(vectors, true, default, clients)
    predicted = found["predicted"].to_numpy()

    def row(metric: str, variant: str, value: float, number: int, note: str) -> Score:
        return Score(run.seed, run.method, encoder, metric, variant, value, number, note if n else nothing)

    for name, column in (("top1_cosine", "top1"), ("target_similarity", "target"), ("author_margin", "margin")):
        yield row(name, "", float(found[column].mean()), n, "a margin needs two authors")
    if "whole_roster" in variants:
        yield row("author_macro_f1", "whole_roster", macro_f1(true, predicted, clients), n, nothing)
    attributed = {"": (true, predicted)}
    if "failures_wrong" in variants:
        guesses = np.full(len(run.items), NOBODY, dtype=object)
        guesses[run.items["passed"].to_numpy()] = predicted
        attributed["failures_wrong"] = run.items["client"].to_numpy(dtype=object), guesses
    if "first50x1500" in variants:
        attributed["first50x1500"] = true, predict(vectors, first, clients)
    if "leave_one_out" in variants:
        attributed["leave_one_out"] = leave_one_out(vectors, true, run.survivors["prompt_id"].to_numpy(dtype=object))
    for variant, (authors, given) in attributed.items():
        accuracy = float((authors == given).mean()) if len(authors) else float("nan")
        note = "no author has two outputs that passed the filter"
        yield row("author_accuracy", variant, accuracy, len(authors), note)
        yield row("author_macro_f1", variant, macro_f1(authors, given, sorted(set(authors))), len(authors), note)


def leave_one_out(vectors: np.ndarray, true: np.ndarray, prompts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(true, predicted) authors against prototypes of the run's outputs, without those on the scored one's prompt."""
    if not len(true):
        return true, true
    authors = np.array(sorted(set(true)), dtype=object)
    member = (true[:, None] == authors[None, :]).astype(np.float64)
    sums = member.T @ vectors
    similarity = vectors @ unit_rows(sums).T
    own = member.argmax(axis=1)
    prompt = np.unique(prompts.astype(str), return_inverse=True)[1]
    together = np.zeros((prompt.max(initial=-1) + 1, vectors.shape[1]))
    np.add.at(together, prompt, vectors)
    rest = sums[own] - together[prompt]
    similarity[np.arange(len(true)), own] = (vectors * unit_rows(rest)).sum(axis=1)
    scored = member.sum(axis=0)[own] > np.bincount(prompt)[prompt]
    return true[scored], authors[similarity.argmax(axis=1)][scored]


def macro_f1(true: Sequence[str] | np.ndarray, predicted: np.ndarray, labels: Sequence[str]) -> float:
    """Unweighted mean of the F1 of every label; one that is neither true nor predicted counts 0. NaN of no outputs."""
    if not len(true):
        return float("nan")
    names = [list(map(str, side)) for side in (true, predicted)]
    return float(f1_score(*names, labels=list(labels), average="macro", zero_division=0))
