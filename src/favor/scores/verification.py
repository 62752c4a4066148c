"""Verification family: do cosines tell same-author pairs from different-author pairs? AUC and EER."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from favor.corpora.posts import UNKNOWN_TOPIC
from favor.scores.inputs import Run, ScoreInputs, Sources, read_encoders, read_settings, read_variants
from favor.scores.metric import Metric, Score, scores_frame
from favor.statistics.bootstrap import auc

_REFERENCE = "paper, Experimental Protocol and Metric Definitions"
_SAME_TOPIC = f"{_REFERENCE}; generated-source pairs, same topic"
METRICS = (
    Metric("generated_auc", "Verif. AUC", 0.0, 1.0, "higher", f"{_REFERENCE}; generated-generated pairs of a run"),
    Metric("generated_eer", "EER", 0.0, 1.0, "lower", f"{_REFERENCE}; generated-generated pairs of a run"),
    Metric("generated_source_auc", "Gen→Src AUC", 0.0, 1.0, "higher", _SAME_TOPIC, paired_label="AUC"),
    Metric("generated_source_eer", "Gen→Src EER", 0.0, 1.0, "lower", _SAME_TOPIC, paired_label="EER"),
)
VARIANTS = ("same_topic", "sampled5000", "interpolated", "train_texts", "all_different", "topic_balanced")
DEFAULTS: dict[str, Any] = {"encoders": None, "variants": list(VARIANTS)}
SAMPLED_NEGATIVES, SAMPLING_SEED = 5000, 42


@dataclass(frozen=True)
class Pairs:
    """Scored pairs of texts. ``left`` and ``right`` are the authors the two texts are attributed to, ``topic`` the
    topic of the left text; a pair is positive where both authors agree."""

    scores: np.ndarray
    left: np.ndarray
    right: np.ndarray
    topic: np.ndarray

    @property
    def positive(self) -> np.ndarray:
        """Boolean [n]: same author."""
        same: np.ndarray = self.left == self.right
        return same

    def __len__(self) -> int:
        return len(self.scores)

    def chosen(self, keep: np.ndarray) -> Pairs:
        """The pairs at ``keep`` (a mask or indices)."""
        return Pairs(self.scores[keep], self.left[keep], self.right[keep], self.topic[keep])


def generated_pairs(vectors: np.ndarray, run: Run) -> Pairs:
    """All unordered pairs of a run's surviving outputs on different prompts; ``vectors`` [n, d] are their unit rows."""
    survivors = run.survivors
    first, second = _places(survivors)
    author, topic = survivors["client"].to_numpy(dtype=object), survivors["topic"].to_numpy(dtype=object)
    return Pairs((vectors @ vectors.T)[first, second], author[first], author[second], topic[first])


def _places(survivors: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Return the places of the two outputs of every pair; samples of one prompt make none."""
    prompt = survivors["prompt_id"].to_numpy(dtype=object)
    first, second = np.triu_indices(len(survivors), k=1)
    apart = prompt[first] != prompt[second]
    return first[apart], second[apart]


def same_topic_pairs(pairs: Pairs, run: Run) -> Pairs:
    """All positives of ``generated_pairs`` and the negatives whose authors share a known topic."""
    survivors = run.survivors
    first, second = _places(survivors)
    topic = survivors["topic"].to_numpy(dtype=object)
    shared = (topic[first] == topic[second]) & (topic[first] != UNKNOWN_TOPIC)
    return pairs.chosen(pairs.positive | shared)


def source_pairs(vectors: np.ndarray, run: Run, sources: Sources, same_topic: bool = True) -> Pairs:
    """Pairs of every surviving output with every human text: the author's own, and other authors'.

    An output is never paired with the gold continuation of its own prompt, nor with the human text that it is (in the
    controls). Negatives share the output's topic unless ``same_topic`` is False; an output of unknown topic
    (``indUnk``) has no same-topic negatives, so it gives positives only.
    """
    survivors = run.survivors
    author, topic = survivors["client"].to_numpy(dtype=object), survivors["topic"].to_numpy(dtype=object)
    owner, subject = sources.frame["client"].to_numpy(dtype=object), sources.frame["topic"].to_numpy(dtype=object)
    item = sources.frame["item"].to_numpy(dtype=object)
    same_author = author[:, None] == owner[None, :]
    own_gold = survivors["prompt_id"].to_numpy(dtype=object)[:, None] == item[None, :]
    itself = survivors["text_item"].to_numpy(dtype=object)[:, None] == item[None, :]
    negative = ~same_author
    if same_topic:
        negative &= (topic[:, None] == subject[None, :]) & (topic != UNKNOWN_TOPIC)[:, None]
    left, right = np.nonzero((same_author | negative) & ~own_gold & ~itself)
    return Pairs((vectors @ sources.vectors.T)[left, right], author[left], owner[right], topic[left])


def sampled_negatives(pairs: Pairs, number: int = SAMPLED_NEGATIVES, seed: int = SAMPLING_SEED) -> Pairs:
    """All positives and at most ``number`` negatives, drawn without replacement by NumPy's default generator."""
    negatives = np.flatnonzero(~pairs.positive)
    if len(negatives) > number:
        # the released protocol names this seed, so it is not derived from the experiment's
        negatives = np.sort(np.random.default_rng(seed).choice(negatives, size=number, replace=False))
    return pairs.chosen(np.sort(np.concatenate([np.flatnonzero(pairs.positive), negatives])))


@dataclass(frozen=True)
class Roc:
    """The ROC curve as whole numbers: at every distinct threshold, from above every score down to the lowest, how many
    of the ``negatives`` are accepted (``false`` [k]) and how many of the ``positives`` are missed (``missed`` [k]).

    A pair is accepted where its score is at least the threshold.
    """

    false: np.ndarray
    missed: np.ndarray
    negatives: int
    positives: int

    @classmethod
    def of(cls, scores: np.ndarray, positive: np.ndarray) -> Roc:
        """Return the curve of pairs of both classes."""
        order = np.argsort(-scores, kind="stable")
        ordered = scores[order]
        last = np.flatnonzero(np.append(ordered[1:] != ordered[:-1], True))
        accepted = np.concatenate([[0], np.cumsum(positive[order])[last]])
        positives = int(positive.sum())
        false = np.concatenate([[0], last + 1]) - accepted
        return cls(false, positives - accepted, len(positive) - positives, positives)

    @property
    def gap(self) -> np.ndarray:
        """FNR - FPR times positives * negatives, int64 [k]: falls from positives * negatives to its negative."""
        gap: np.ndarray = self.missed * self.negatives - self.false * self.positives
        return gap

    @property
    def nearest(self) -> int:
        """The threshold at which both rates are nearest; of several, the highest."""
        return int(np.argmin(np.abs(self.gap)))


def equal_error_rate(scores: np.ndarray, positive: np.ndarray, interpolated: bool = False) -> float:
    """Equal error rate, correctly rounded. NaN without both classes.

    Default: the mean of false positive and false negative rate at the threshold of the full ROC where they are
    nearest. Where two thresholds are equally near, which is common in small samples, the higher one counts. Counts are
    compared and not quotients, for rounding would decide such ties. ``interpolated``: where the straight lines between
    ROC points meet the line FPR = FNR.
    """
    if positive.all() or not positive.any():
        return float("nan")
    curve = Roc.of(scores, positive)
    # Python's integers from here on: they do not overflow, and their quotient is the nearest float.
    if not interpolated:
        missed, false = (int(counts[curve.nearest]) for counts in (curve.missed, curve.false))
        errors = missed * curve.negatives + false * curve.positives
        return errors / (2 * curve.positives * curve.negatives)
    after = int(np.argmax(curve.gap <= 0))
    above, below = (int(curve.gap[place]) for place in (after - 1, after))
    start, end = (int(curve.false[place]) for place in (after - 1, after))
    return (start * (above - below) + above * (end - start)) / ((above - below) * curve.negatives)


def topic_balanced_auc(pairs: Pairs) -> float:
    """Unweighted mean over topics of the AUC within each topic that has pairs of both classes; NaN with none."""
    topics = np.unique(pairs.topic.astype(str))
    parts = [pairs.chosen(pairs.topic == topic) for topic in topics]
    values = np.array([auc(part.scores, part.positive) for part in parts])
    return float(np.nanmean(values)) if np.isfinite(values).any() else float("nan")


def score(inputs: ScoreInputs, settings: Mapping[str, Any]) -> pd.DataFrame:
    """Score every run and control in every encoder.

    Settings: ``encoders`` (None: all) and ``variants``, any of ``same_topic`` (generated pairs: negatives of one topic,
    as the paper's external verifiers take them), ``sampled5000`` (generated pairs: 5,000 negatives), ``interpolated``
    (EER), ``train_texts`` (sources are training texts), ``all_different`` (generated-source pairs: negatives of any
    topic) and ``topic_balanced`` (generated-source AUC averaged over topics).
    """
    checked = read_settings("verification", settings, DEFAULTS)
    variants = read_variants("verification", checked["variants"], VARIANTS)
    scores: list[Score] = []
    for encoder in read_encoders(inputs, checked["encoders"]):
        for run in inputs.runs:
            scores += _score_run(inputs, encoder, run, variants)
    return scores_frame(scores)


def _score_run(inputs: ScoreInputs, encoder: str, run: Run, variants: list[str]) -> Iterator[Score]:
    def rows(view: str, variant: str, pairs: Pairs, interpolated: bool = False) -> Iterator[Score]:
        positive = pairs.positive
        values = {
            f"{view}_auc": auc(pairs.scores, positive),
            f"{view}_eer": equal_error_rate(pairs.scores, positive, interpolated),
        }
        for metric, value in values.items():
            if not (interpolated and metric.endswith("_auc")):
                yield Score(run.seed, run.method, encoder, metric, variant, value, len(pairs), _note(pairs, value))

    vectors = inputs.vectors(encoder, run)
    generated = generated_pairs(vectors, run)
    gold = inputs.sources(encoder, "gold", run.seed)
    default = source_pairs(vectors, run, gold)
    for view, pairs in (("generated", generated), ("generated_source", default)):
        yield from rows(view, "", pairs)
        if "interpolated" in variants:
            yield from rows(view, "interpolated", pairs, interpolated=True)
    if "same_topic" in variants:
        yield from rows("generated", "same_topic", same_topic_pairs(generated, run))
    if "sampled5000" in variants:
        yield from rows("generated", "sampled5000", sampled_negatives(generated))
    if "train_texts" in variants:
        yield from rows("generated_source", "train_texts", source_pairs(vectors, run, inputs.sources(encoder, "train")))
    if "all_different" in variants:
        yield from rows("generated_source", "all_different", source_pairs(vectors, run, gold, same_topic=False))
    if "topic_balanced" in variants:
        value = topic_balanced_auc(default)
        note = "" if value == value else "no topic has pairs of both classes"
        metric = "generated_source_auc"
        yield Score(run.seed, run.method, encoder, metric, "topic_balanced", value, len(default), note)


def _note(pairs: Pairs, value: float) -> str:
    if value == value:
        return ""
    missing = "same-author" if not pairs.positive.any() else "different-author"
    return f"no {missing} pairs" if len(pairs) else "no pairs"
