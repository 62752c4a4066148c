"""Verification family: do cosines tell same-author pairs from different-author pairs? AUC and EER."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from favor.corpora.posts import UNKNOWN_TOPIC
from favor.scores.inputs import Run, ScoreInputs, Sources, read_encoders
from favor.scores.metric import Metric, Score, scores_frame
from favor.scores.settings import Verification
from favor.statistics.bootstrap import compared
from favor.statistics.roc import Block, Separation, separation
from favor.statistics.sign_flips import least_p

_REFERENCE = "paper, Experimental Protocol and Metric Definitions"
_SAME_TOPIC = f"{_REFERENCE}; generated-source pairs, same topic"
METRICS = (
    Metric("generated_auc", "Verif. AUC", 0.0, 1.0, "higher", f"{_REFERENCE}; generated-generated pairs of a run"),
    Metric("generated_eer", "EER", 0.0, 1.0, "lower", f"{_REFERENCE}; generated-generated pairs of a run"),
    Metric("generated_source_auc", "Gen→Src AUC", 0.0, 1.0, "higher", _SAME_TOPIC, paired_label="AUC"),
    Metric("generated_source_eer", "Gen→Src EER", 0.0, 1.0, "lower", _SAME_TOPIC, paired_label="EER"),
)
SAMPLED_NEGATIVES, SAMPLING_SEED = 5000, 42
FEWEST_WITH_RIVALS = 4  # authors from whom on sign flips over all authors hold their level
CELLS = 1 << 22  # cosines that are computed at once
# Some pairs: cosines, the place of each left text among all left ones, and that of each right text.
Cells = tuple[np.ndarray, np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Pairs:
    """Pairs of texts by their cosines; a pair is positive where both texts have one author.

    ``cells`` gives them in parts, the same ones at every call. ``left_authors`` and ``right_authors``: of all texts.
    """

    cells: Callable[[], Iterator[Cells]]
    left_authors: pd.Series
    right_authors: pd.Series

    def blocks(self) -> Iterator[Block]:
        """Return the parts as scores and classes."""
        left, right = _codes(self.left_authors, self.right_authors)
        return ((scores, left[first] == right[second]) for scores, first, second in self.cells())

    @cached_property
    def _joined(self) -> list[np.ndarray]:
        return [np.concatenate(parts) for parts in zip(*self.cells(), strict=True)]

    @property
    def scores(self) -> np.ndarray:
        """The cosines of all pairs [n]."""
        return self._joined[0]

    @property
    def left(self) -> np.ndarray:
        """The author of each left text [n]."""
        return self.left_authors.to_numpy(dtype=object)[self._joined[1]]

    @property
    def right(self) -> np.ndarray:
        """The author of each right text [n]."""
        return self.right_authors.to_numpy(dtype=object)[self._joined[2]]

    @property
    def positive(self) -> np.ndarray:
        """Boolean [n]: same author."""
        return self.left == self.right

    def __len__(self) -> int:
        return len(self.scores)


def generated_pairs(vectors: np.ndarray, run: Run, same_topic: bool = False) -> Pairs:
    """All unordered pairs of a run's surviving outputs on different prompts; ``vectors`` [n, d] are their unit rows.

    ``same_topic``: all positives, and the negatives whose authors share a known topic.
    """
    author, topic, prompt = (pd.factorize(run.survivors[key])[0] for key in ("client", "topic", "prompt_id"))
    known = (run.survivors["topic"] != UNKNOWN_TOPIC).to_numpy()

    def cells() -> Iterator[Cells]:
        for rows in rows_at_once(len(author), len(author)):
            later = slice(rows.start, None)
            keep = np.triu(prompt[rows, None] != prompt[None, later], k=1)
            if same_topic:
                shared = (topic[rows, None] == topic[None, later]) & known[rows, None]
                keep &= shared | (author[rows, None] == author[None, later])
            first, second = np.nonzero(keep)
            yield (vectors[rows] @ vectors[later].T)[first, second], first + rows.start, second + rows.start

    return Pairs(cells, run.survivors["client"], run.survivors["client"])


def source_pairs(
    vectors: np.ndarray, run: Run, sources: Sources, same_topic: bool = True, topic: str | None = None
) -> Pairs:
    """Pairs of every surviving output with every human text: the author's own, and other authors'.

    An output is never paired with the gold continuation of its own prompt, nor with the human text that it is (in the
    controls). Negatives share the output's topic unless ``same_topic`` is False; an output of unknown topic
    (``indUnk``) has no same-topic negatives, so it gives positives only. ``topic``: of outputs of this topic alone.
    """
    survivors, human = run.survivors, sources.frame
    author, owner = _codes(survivors["client"], human["client"])
    subject, theme = _codes(survivors["topic"], human["topic"])
    prompt, itself, item = _codes(survivors["prompt_id"], survivors["text_item"], human["item"])
    topics = survivors["topic"].to_numpy(dtype=object)
    chosen = np.flatnonzero(topics == topic) if topic is not None else np.arange(len(survivors))

    def cells() -> Iterator[Cells]:
        for part in rows_at_once(len(chosen), len(human)):
            rows = chosen[part]
            keep = author[rows, None] == owner[None, :]
            if same_topic:
                keep |= (subject[rows, None] == theme[None, :]) & (topics[rows] != UNKNOWN_TOPIC)[:, None]
            else:
                keep[:] = True
            keep &= (prompt[rows, None] != item[None, :]) & (itself[rows, None] != item[None, :])
            left, right = np.nonzero(keep)
            yield (vectors[rows] @ sources.vectors.T)[left, right], rows[left], right

    return Pairs(cells, survivors["client"], human["client"])


def rivals(inputs: ScoreInputs, run: Run) -> np.ndarray:
    """Return whose human texts are negatives of whose outputs, those of one known topic: boolean [clients, clients]."""
    human = inputs.prompts[inputs.prompts["seed"] == run.seed]
    topics = sorted(set(human["topic"]) - {UNKNOWN_TOPIC})

    def written(texts: pd.DataFrame) -> np.ndarray:
        found = np.zeros((len(inputs.clients), len(topics)), dtype=bool)
        known = texts[texts["topic"].isin(topics)]
        found[inputs.places(known["client"]), np.searchsorted(topics, known["topic"].to_numpy(dtype=str))] = True
        return found

    return written(run.survivors) @ written(human).T & ~np.eye(len(inputs.clients), dtype=bool)


def least_p_of_differences(near: np.ndarray) -> float:
    """Return the smallest p that a difference of generated-source AUCs or EERs may have; near: of :func:`rivals`.

    The negatives are of the authors with rivals alone. With two or three of twelve, sign flips over all authors reject
    .10 to .24 of true hypotheses at .05, so that p is at least the smallest of these few.
    """
    authors = compared(near)
    return least_p(max(1, authors)) if authors < FEWEST_WITH_RIVALS else 0.0


def rows_at_once(rows: int, columns: int) -> Iterator[slice]:
    """Cut the rows of a matrix into runs of at most :data:`CELLS` cells; a matrix without rows is one empty run."""
    step = max(1, CELLS // max(1, columns))
    for start in range(0, max(1, rows), step):
        yield slice(start, min(start + step, rows))


def _codes(*columns: pd.Series) -> list[np.ndarray]:
    codes, _ = pd.factorize(np.concatenate([column.to_numpy(dtype=object) for column in columns]))
    return np.split(codes, np.cumsum([len(column) for column in columns])[:-1])


def sampled_negatives(blocks: Callable[[], Iterator[Block]], negatives: int) -> Block:
    """All positives and at most 5,000 of the ``negatives``, drawn without replacement by NumPy's generator."""
    drawn = np.arange(negatives)
    if negatives > SAMPLED_NEGATIVES:
        # the released protocol names this seed, so it is not derived from the experiment's
        drawn = np.sort(np.random.default_rng(SAMPLING_SEED).choice(negatives, SAMPLED_NEGATIVES, replace=False))
    positives, others, seen = [], [], 0
    for scores, positive in blocks():
        own = scores[~positive]
        first, last = np.searchsorted(drawn, [seen, seen + len(own)])
        positives.append(scores[positive])
        others.append(own[drawn[first:last] - seen])
        seen += len(own)
    scores = np.concatenate([*positives, *others])
    return scores, np.arange(len(scores)) < sum(map(len, positives))


def topic_balanced_auc(vectors: np.ndarray, run: Run, sources: Sources) -> float:
    """Unweighted mean over topics of the AUC within each topic that has pairs of both classes; NaN with none."""
    topics = np.unique(run.survivors["topic"].to_numpy(dtype=str))
    values = [separation(source_pairs(vectors, run, sources, topic=topic).blocks).auc for topic in topics]
    return float(np.nanmean(values)) if np.isfinite(values).any() else float("nan")


def score(inputs: ScoreInputs, settings: Verification) -> pd.DataFrame:
    """Score every run and control in every encoder.

    Settings: ``encoders`` (None: all) and ``variants``, any of ``same_topic`` (generated pairs: negatives of one topic,
    as the paper's external verifiers take them), ``sampled5000`` (generated pairs: 5,000 negatives), ``interpolated``
    (EER), ``train_texts`` (sources are training texts), ``all_different`` (generated-source pairs: negatives of any
    topic) and ``topic_balanced`` (generated-source AUC averaged over topics).
    """
    scores: list[Score] = []
    for encoder in read_encoders(inputs, settings.encoders):
        for run in inputs.runs:
            scores += _score_run(inputs, encoder, run, settings.variants)
    return scores_frame(scores)


def _score_run(inputs: ScoreInputs, encoder: str, run: Run, variants: Sequence[str]) -> Iterator[Score]:
    def rows(view: str, variant: str, found: Separation, interpolated: bool = False) -> Iterator[Score]:
        values = {f"{view}_eer": found.interpolated_eer}
        if not interpolated:
            values = {f"{view}_auc": found.auc, f"{view}_eer": found.eer}
        for metric, value in values.items():
            missing = "different-author" if found.positives else "same-author"
            note = f"no {missing} pairs" if found.pairs else "no pairs"
            yield Score(run.seed, run.method, encoder, metric, variant, value, found.pairs, note)

    vectors = inputs.vectors(encoder, run)
    gold = inputs.sources(encoder, "gold", run.seed)
    blocks = generated_pairs(vectors, run).blocks
    generated, default = separation(blocks), separation(source_pairs(vectors, run, gold).blocks)
    for view, found in (("generated", generated), ("generated_source", default)):
        yield from rows(view, "", found)
        if "interpolated" in variants:
            yield from rows(view, "interpolated", found, interpolated=True)
    if "same_topic" in variants:
        yield from rows("generated", "same_topic", separation(generated_pairs(vectors, run, same_topic=True).blocks))
    if "sampled5000" in variants:
        drawn = sampled_negatives(blocks, generated.negatives)
        yield from rows("generated", "sampled5000", separation(lambda: [drawn]))
    if "train_texts" in variants:
        train = inputs.sources(encoder, "train")
        yield from rows("generated_source", "train_texts", separation(source_pairs(vectors, run, train).blocks))
    if "all_different" in variants:
        others = separation(source_pairs(vectors, run, gold, same_topic=False).blocks)
        yield from rows("generated_source", "all_different", others)
    if "topic_balanced" in variants:
        value, note = topic_balanced_auc(vectors, run, gold), "no topic has pairs of both classes"
        metric = "generated_source_auc"
        yield Score(run.seed, run.method, encoder, metric, "topic_balanced", value, default.pairs, note)
