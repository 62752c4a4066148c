"""Diversity family: how varied a run's outputs are as a set, at equal length, beside human text on the same prompts."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from favor.foundation.seeds import numpy_generator
from favor.foundation.words import output_words
from favor.scores.inputs import Run, ScoreInputs, read_encoders
from favor.scores.metric import Metric, Score, label_of, scores_frame
from favor.scores.settings import Diversity
from favor.statistics.diversity import (
    compression_ratio,
    ngram_kernel,
    self_bleu,
    self_repetition,
    vendi_growth,
    vendi_of_size,
    vendi_score,
)

METRICS = (
    Metric("style_vendi", "Vendi (style)", 1.0, math.inf, "none", "Friedman and Dieng 2023; cosines of the encoder"),
    Metric("ngram_vendi", "Vendi (n-grams)", 1.0, math.inf, "none", "Friedman and Dieng 2023; 1- and 2-grams"),
    Metric("vendi_growth", "Growth with authors", -math.inf, math.inf, "none",
        "slope of ln Vendi (style) on ln authors"),
    Metric("compression_ratio", "Compression ratio", 0.0, math.inf, "none", "Shaib et al. 2024; zlib, level 9"),
    Metric("self_bleu", "Self-BLEU", 0.0, 1.0, "none", "Zhu et al. 2018; BLEU-4 against all other outputs"),
    Metric("self_repetition", "Self-repetition", 0.0, math.inf, "none", "Salkar et al. 2022; 4-grams"),
)  # fmt: skip
TEXT_METRICS = tuple(metric.name for metric in METRICS[3:])
_NOTE = "fewer than two outputs of the common length, with a human continuation of it"


def score(inputs: ScoreInputs, settings: Diversity) -> pd.DataFrame:
    """Score every run and control: variant "" is the outputs' value, ``human`` that of the human continuations.

    Both are of the same prompts, so both sets have one size; ``of_human`` is their ratio. Every text is cut to its
    first ``words`` words, and a prompt whose output or human continuation is shorter is left out. Vectors are those of
    whole outputs. Of several samples of a prompt the first one counts. The variants ``authors_2``, ``authors_4`` and so
    on of ``style_vendi`` are its mean over ``subsets`` random sets of so many authors, ``human_authors_2`` and so on
    those of human text; ``vendi_growth`` is the slope of that curve in logarithms. The variant ``equal`` of both Vendi
    scores, which grow with the number of texts, is the mean over ``subsets`` random sets whose size is that of the
    smallest run of the seed, at least two.

    Settings: ``encoders`` (None: all), ``words`` (0: the length of the shortest human continuation that passes the
    filter, of all seeds) and ``subsets``.
    """
    length = settings.words or inputs.common_length
    encoders = read_encoders(inputs, settings.encoders)
    scores: list[Score] = []
    compared = [_Compared.of(inputs, run, length) for run in inputs.runs]
    for own in compared:
        sizes = [len(other.rows) for other in compared if other.run.seed == own.run.seed and len(other.rows) > 1]
        scores += _score_run(inputs, own, encoders, settings.subsets, min(sizes, default=0))
    return scores_frame(scores)


@dataclass(frozen=True)
class _Compared:
    """The outputs of a run that are long enough, and the human continuations of their prompts, cut to one length."""

    run: Run
    rows: np.ndarray  # of run.survivors
    texts: Mapping[str, list[list[str]]]  # "" and "human"

    @classmethod
    def of(cls, inputs: ScoreInputs, run: Run, length: int) -> _Compared:
        split = output_words(inputs.words).split
        gold = inputs.prompts[inputs.prompts["seed"] == run.seed].set_index("prompt_id")["gold_text"]
        outputs = [split(text)[:length] for text in inputs.texts(run)]
        human = [split(gold[prompt])[:length] for prompt in run.survivors["prompt_id"]]
        first = (run.survivors["sample"] == 0).to_numpy()
        keep = np.array([len(a) == len(b) == length for a, b in zip(outputs, human, strict=True)], dtype=bool) & first
        rows = np.flatnonzero(keep)
        return cls(run, rows, {"": [outputs[row] for row in rows], "human": [human[row] for row in rows]})


def _score_run(
    inputs: ScoreInputs, compared: _Compared, encoders: Sequence[str], subsets: int, equal: int
) -> Iterator[Score]:
    run, rows, n = compared.run, compared.rows, len(compared.rows)
    authors = run.survivors["client"].to_numpy(dtype=object)[rows]

    def of(metric: str, encoder: str, values: Mapping[str, float]) -> Iterator[Score]:
        found = {**values, "of_human": values[""] / values["human"] if values["human"] else float("nan")}
        if metric == "vendi_growth":  # a slope has no share
            del found["of_human"]
        note = _NOTE if n < 2 else f"{label_of(metric)} of human text is 0"
        for variant, value in found.items():
            yield Score(run.seed, run.method, encoder, metric, variant, value, n, note)

    if n < 2:
        nan = float("nan")
        for metric in METRICS:
            for encoder in encoders if metric.name in ("style_vendi", "vendi_growth") else [""]:
                yield from of(metric.name, encoder, {"": nan, "human": nan})
                if metric.name.endswith("_vendi"):
                    yield Score(run.seed, run.method, encoder, metric.name, "equal", nan, n, _NOTE)
        return
    measured = {name: _of_texts(texts) for name, texts in compared.texts.items()}
    for metric_name in ("ngram_vendi", *TEXT_METRICS):
        yield from of(metric_name, "", {name: values[metric_name] for name, values in measured.items()})

    def at_equal_size(metric: str, encoder: str, kernel: np.ndarray) -> Score:
        value = vendi_of_size(kernel, equal, numpy_generator(run.seed, "vendi of equal size"), subsets)
        return Score(run.seed, run.method, encoder, metric, "equal", value, equal)

    yield at_equal_size("ngram_vendi", "", ngram_kernel(compared.texts[""]))
    sizes = [size for size in (2**power for power in range(20)) if size < len(set(authors))] + [len(set(authors))]
    for encoder in encoders:
        vectors = {"": inputs.vectors(encoder, run)[rows], "human": inputs.gold_vectors(encoder, run)[rows]}
        kernels = {name: own @ own.T for name, own in vectors.items()}
        curves = {
            name: vendi_growth(kernel, authors, sizes, numpy_generator(run.seed, "vendi growth"), subsets)
            for name, kernel in kernels.items()
        }
        yield from of("style_vendi", encoder, {name: vendi_score(kernel) for name, kernel in kernels.items()})
        yield at_equal_size("style_vendi", encoder, kernels[""])
        for name, curve in curves.items():
            for size, value in zip(sizes, curve, strict=True):
                variant = f"{name}_authors_{size}".lstrip("_")
                yield Score(run.seed, run.method, encoder, "style_vendi", variant, value, n)
        if len(sizes) > 1:
            slopes = {name: float(np.polyfit(np.log(sizes), np.log(curve), 1)[0]) for name, curve in curves.items()}
        else:
            slopes = dict.fromkeys(curves, float("nan"))
        for variant, value in slopes.items():
            yield Score(run.seed, run.method, encoder, "vendi_growth", variant, value, n, "needs two authors")


def _of_texts(texts: Sequence[Sequence[str]]) -> dict[str, float]:
    return {
        "ngram_vendi": vendi_score(ngram_kernel(texts)),
        "compression_ratio": compression_ratio([" ".join(words) for words in texts]),
        "self_bleu": self_bleu(texts),
        "self_repetition": self_repetition(texts),
    }
