"""Drift family: how far methods move authors towards the group's mean, in an encoder's space and habit by habit.

All seeds stand together (seed ``ALL_SEEDS``), and intervals are those of a bootstrap over authors. Outputs of one
author on one post (samples of a prompt, seeds that drew the post) are averaged first, so that noise is that of posts.
"""

from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd

from favor.foundation.words import Words, output_words
from favor.scores.inputs import Run, ScoreInputs, read_encoders
from favor.scores.metric import ALL_SEEDS, Metric, Score, scores_frame
from favor.scores.readable_habits import HABITS, habits_of
from favor.scores.settings import Drift
from favor.statistics.between_authors import author_means, between_variance, mean_slope, post_means
from favor.statistics.bootstrap import FEWEST, interval, observed_and_resampled, student_limits
from favor.statistics.kept_share import NOT_KNOWN, Limits, ratio_limits

_INFINITE = float("inf")
_ALIKE = "too few outputs, or the authors' own continuations do not differ measurably"
_FEW = f"fewer than {FEWEST} authors have an output: neither spreads nor slopes have an interval that holds"
_ROUNDING = 1e-6  # of the observed variance: less than that is what rounding leaves where the drawn authors are alike
METRICS = (
    Metric("spread_left", "Spread left", -_INFINITE, _INFINITE, "none",
        "variance between authors' centres in the encoder's space over that of their own continuations, both without "
        "the noise of few texts"),
    Metric("habit_variance_left", "Habit variance left", -_INFINITE, _INFINITE, "none",
        "variance between authors in a readable habit over that of their own continuations, both without the noise of "
        "few texts; mean over habits, the variant names one"),
    Metric("habit_slope", "Habits kept", -_INFINITE, _INFINITE, "none",
        "slope of authors' habits on those of their training texts: 1 as far from the mean, 0 all at one place; mean "
        "over habits, the variant names one"),
)  # fmt: skip


def score(inputs: ScoreInputs, settings: Drift) -> pd.DataFrame:
    """Score every method and control; variants ``low`` and ``high`` (``{habit}_low``...) are 95 % intervals.

    Habits are counted over the first ``words`` words of every text, training texts included; shorter texts are left
    out. Only habits in which the authors' own continuations differ (their interval is above 0) have a value and count
    in the mean. Settings: ``encoders`` (None: all), ``words`` (0: the length of the shortest human continuation that
    passes the filter), ``draws`` and ``seed`` of the bootstrap.
    """
    clients = len(inputs.clients)
    counts = observed_and_resampled(clients, settings.seed, settings.draws)
    runs: dict[str, list[Run]] = {}
    for run in inputs.runs:
        runs.setdefault(run.method, []).append(run)
    scores: list[Score] = []
    for encoder in read_encoders(inputs, settings.encoders):
        scores += _spreads(inputs, runs, encoder, counts)
    scores += _habits(inputs, runs, settings.words, counts)
    return scores_frame(scores)


def _spreads(inputs: ScoreInputs, runs: Mapping[str, list[Run]], encoder: str, counts: np.ndarray) -> Iterator[Score]:
    variances, numbers, authors = {}, {}, {}
    for method, own in runs.items():
        held = [inputs.vectors(encoder, run) for run in own if len(run.survivors)]
        vectors = np.concatenate(held or [np.zeros((0, 1))])
        frame = pd.concat([run.survivors for run in own])
        by_post = post_means(vectors, inputs.places(frame["client"]), inputs.posts(frame))
        variances[method] = between_variance(*by_post, counts).sum(axis=1)
        numbers[method], authors[method] = len(frame), len(np.unique(by_post[1]))
    for method, variance in variances.items():
        left = _left(variance, variances["gold"], authors[method], authors["gold"])
        yield from _with_interval(method, encoder, "spread_left", "", left, numbers[method])


def _habits(inputs: ScoreInputs, runs: Mapping[str, list[Run]], words: int, counts: np.ndarray) -> Iterator[Score]:
    cut, length = output_words(inputs.words), words or inputs.common_length
    train = inputs.known_texts[inputs.known_texts["training_text"] != ""]
    train = train[_long_enough(train["training_text"], cut, length)]
    features = habits_of([cut.cut(text, length) for text in train["training_text"]])
    reference, sizes = author_means(features, inputs.places(train["client"]), len(inputs.clients))
    reference = np.nan_to_num(reference)
    variances, slopes, numbers, present = {}, {}, {}, {}
    for method, own in runs.items():
        parts = []
        for run in own:
            frame = run.survivors.assign(text=inputs.texts(run))
            parts.append(frame[_long_enough(frame["text"], cut, length)])
        frame = pd.concat(parts)
        # An author without a training text of the length has no reference, and is left out of the variance too.
        frame = frame[sizes[inputs.places(frame["client"])] > 0]
        values = habits_of([cut.cut(text, length) for text in frame["text"]])
        by_post = post_means(values, inputs.places(frame["client"]), inputs.posts(frame))
        variances[method] = between_variance(*by_post, counts)
        slopes[method], numbers[method] = mean_slope(*by_post, reference, counts), len(frame)
        present[method] = np.isin(np.arange(len(sizes)), by_post[1])
    human, authors = variances["gold"], {method: int(own.sum()) for method, own in present.items()}
    differ = [_positive(human[:, place], authors["gold"]) for place in range(len(HABITS))]
    for method, n in numbers.items():
        variance, slope = variances[method], np.where(differ, slopes[method], np.nan)
        # The mean ratio of the data, written as a ratio of means: a draw in which people hardly differ in one habit
        # would make that habit's ratio, and with it the mean of ratios, as large as one likes.
        scaled = [(each[:, differ] / human[0, differ]).sum(axis=1) for each in (variance, human)]
        kept = slope[:, differ].mean(axis=1) if any(differ) else slope[:, 0]
        of, drawn = (authors[method], authors["gold"]), counts * present[method]
        yield from _with_interval(method, "", "habit_variance_left", "", _left(scaled[0], scaled[1], *of), n)
        yield from _with_interval(method, "", "habit_slope", "", _value(kept, of[0], drawn), n)
        for place, habit in enumerate(HABITS):
            left = _left(variance[:, place], human[:, place], *of)
            yield from _with_interval(method, "", "habit_variance_left", habit, left, n)
            yield from _with_interval(method, "", "habit_slope", habit, _value(slope[:, place], of[0], drawn), n)


def _long_enough(texts: pd.Series, cut: Words, length: int) -> np.ndarray:
    return np.array([cut.count(text) >= length for text in texts], dtype=bool)


def _positive(variance: np.ndarray, authors: int) -> bool:
    return bool(variance[0] > 0 and student_limits(variance, authors)[0] > _ROUNDING * variance[0])


def _left(variance: np.ndarray, human: np.ndarray, authors: int, people: int) -> tuple[float, float, float]:
    """Return variance / human with its limits; NaN where people do not differ measurably.

    ``authors``, ``people``: those who have an output, and a human continuation.
    """
    if not _positive(human, people):
        return (float("nan"),) * 3
    limits = (Limits(*student_limits(*side)) for side in ((variance, authors), (human, people)))
    low, high = ratio_limits(variance, human, *limits)
    value = float(variance[0] / human[0]) if np.isfinite(low) else float("nan")
    return value, *((low, high) if min(authors, people) >= FEWEST else NOT_KNOWN)


def _value(slope: np.ndarray, authors: int, counts: np.ndarray) -> tuple[float, float, float]:
    return float(slope[0]), *(interval(slope, authors, counts=counts) if authors >= FEWEST else NOT_KNOWN)


def _with_interval(
    method: str, encoder: str, metric: str, variant: str, found: tuple[float, float, float], n: int
) -> Iterator[Score]:
    value, *ends = found
    score = Score(ALL_SEEDS, method, encoder, metric, variant, value, n, _ALIKE if np.isnan(value) else _FEW)
    yield from (score, *score.ends(ends))
