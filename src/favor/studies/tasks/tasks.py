"""Task family: how much of a draft's content an answer keeps, and how much voice it gains over the draft, by author.

Only of experiments whose models answer requests. Content is the cosine of the semantic encoder between answer and draft
(or instruction), voice gained the answer's margin minus the draft's: both have the same content, which a style encoder
reads too, so it cancels as far as the answer keeps it.
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from favor.foundation.vectors import unit_rows
from favor.scores.inputs import Run, ScoreInputs, authors_of
from favor.scores.metric import ALL_SEEDS, Metric, Score, scores_frame
from favor.scores.prototypes import margins, prototypes
from favor.statistics.bootstrap import CORRELATION, interval, mean_draws, observed_and_resampled

NEEDS = "answers"  # of an experiment without which nothing is scored: a task other than to continue
METRICS = (
    Metric("content_kept", "Content kept", -1.0, 1.0, "higher",
        "cosine of the semantic encoder between an answer and what was asked, a draft or an instruction"),
    Metric("content_by_chance", "Content by chance", -1.0, 1.0, "none",
        "the same to what was asked of the other authors: what an answer keeps without reading the draft"),
    Metric("voice_gained", "Voice gained", -4.0, 4.0, "higher",
        "margin of an answer (similarity to its author minus the mean similarity to the others) minus the draft's"),
)  # fmt: skip


def task_scores(
    inputs: ScoreInputs, drafts: Mapping[str, pd.DataFrame], semantic: str, seed: int, draws: int
) -> pd.DataFrame:
    """Return the scores of every method and control over the outputs of all seeds.

    drafts: by encoder the table ``source_embeddings`` of what is asked, by prompt. semantic: the encoder of content;
    in all others voice is measured. Variants: "", and ``low`` and ``high``, the 95 % interval over authors, who keep
    their outputs of all seeds (``seed`` and ``draws`` of the bootstrap).
    """
    counts, authors = observed_and_resampled(len(inputs.clients), seed, draws), authors_of(inputs.runs)
    scores: list[Score] = []
    for encoder in inputs.encoders:
        content = encoder == semantic
        measure = _content if content else _voice
        found: dict[str, list[dict[str, np.ndarray]]] = {}
        for run in inputs.runs:
            values = measure(inputs, drafts[encoder], encoder, run) if len(run.survivors) else {}
            index = inputs.places(run.survivors["client"])
            own = {name: mean_draws(value, index, counts) for name, value in values.items()}
            found.setdefault(run.method, []).append(own)
        names = ("content_kept", "content_by_chance") if content else ("voice_gained",)
        for method, seeds in found.items():
            texts, whole = sum(len(run.survivors) for run in inputs.runs if run.method == method), all(seeds)
            note = "needs outputs of two authors" if whole else "under some seed no output passed the filter"
            for name in names:
                value, *ends = (np.nan,) * 3
                if whole:
                    drawn = np.stack([own[name] for own in seeds])
                    limits = interval(drawn, authors[method], CORRELATION if content else None, counts)
                    value, *ends = drawn[:, 0].mean(), *limits
                score = Score(ALL_SEEDS, method, encoder, name, "", float(value), texts, note)
                scores += [score, *score.ends(ends)]
    return scores_frame(scores)


def _asked(drafts: pd.DataFrame, run: Run) -> np.ndarray:
    """Unit rows [n, d] of what each surviving output answers."""
    vectors = drafts.set_index("item")["embedding"].loc[run.survivors["prompt_id"]]
    return unit_rows(np.stack(vectors.to_list()).astype(np.float64))


def _content(inputs: ScoreInputs, drafts: pd.DataFrame, encoder: str, run: Run) -> dict[str, np.ndarray]:
    vectors = inputs.vectors(encoder, run)
    asked = inputs.prompts.loc[inputs.prompts["seed"] == run.seed, "prompt_id"]
    others = drafts[drafts["item"].isin(asked)]
    cosines = vectors @ unit_rows(np.stack(others["embedding"].to_list()).astype(np.float64)).T
    foreign = run.survivors["client"].to_numpy()[:, None] != others["client"].to_numpy()[None]
    chance = (cosines * foreign).sum(axis=1) / foreign.sum(axis=1)
    kept = (vectors * _asked(drafts, run)).sum(axis=1)
    return {"content_kept": kept, "content_by_chance": chance}


def _voice(inputs: ScoreInputs, drafts: pd.DataFrame, encoder: str, run: Run) -> dict[str, np.ndarray]:
    authors = prototypes(inputs.sources(encoder, "train"), inputs.clients)
    index = inputs.places(run.survivors["client"])
    after, before = inputs.vectors(encoder, run) @ authors.T, _asked(drafts, run) @ authors.T
    return {"voice_gained": margins(after, index) - margins(before, index)}
