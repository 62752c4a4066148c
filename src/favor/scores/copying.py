"""Copying family: what outputs share with their author's training texts, and with those of other clients."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from favor.foundation.words import document_words, output_words
from favor.scores.inputs import Run, ScoreInputs
from favor.scores.metric import ALL_SEEDS, Metric, Score, scores_frame
from favor.scores.settings import Draws
from favor.statistics.bootstrap import RATE, interval, mean_draws, observed_and_resampled
from favor.statistics.copied_spans import KnownTexts

_REFERENCE = "paper, Cold-Start New-Author Details; word 5-grams, lower-cased"
METRICS = (
    Metric("copy5", "Copy-5", 0.0, 1.0, "lower", _REFERENCE),
    Metric("copy5_rate", "Copy-5 rate", 0.0, 1.0, "lower", f"{_REFERENCE}; share of an output's 5-grams"),
    Metric("longest_copy", "Longest copy", 0.0, float("inf"), "lower",
        "mean words of the longest copied span; 0 below 5 words", "words"),
)  # fmt: skip
LENGTH = 5


def word_list(text: str, words: str = "paper") -> list[str]:
    """Return the lower-cased words of a text; ``words``: what counts as one."""
    return [word.lower() for word in document_words(words).split(text.replace("’", "'"))]


# (method, metric, variant) -> per seed its means in every draw of authors, and the author of every output behind them.
Drawn = dict[tuple[str, str, str], list[tuple[np.ndarray, np.ndarray]]]


def score(inputs: ScoreInputs, settings: Draws) -> pd.DataFrame:
    """Share of surviving outputs with a copied 5-gram, mean copied share, and mean longest copied span.

    The texts copied from are what clients trained on (``training_text`` of their texts): the own ones, and under the
    variant ``others`` those of all other clients. A 5-gram counts there if it is in no own text. Spans are those of
    outputs cut to the words of the shortest human continuation; shorter outputs have none. The control ``gold`` shows
    what authors repeat without copying.

    ``low`` and ``high`` (``others_low`` and so on) are the 95 % interval over authors of the mean over seeds.
    """
    trained = inputs.known_texts.groupby("client")["training_text"]
    known = KnownTexts(
        {str(client): [word_list(text, inputs.words) for text in texts] for client, texts in trained}, LENGTH
    )
    counts = observed_and_resampled(len(inputs.clients), settings.seed, settings.draws)
    scores: list[Score] = []
    drawn: Drawn = {}
    for run in inputs.runs:
        scores += _score_run(inputs, known, run, counts, drawn)
    return scores_frame([*scores, *_intervals(drawn, counts)])


def _score_run(inputs: ScoreInputs, known: KnownTexts, run: Run, counts: np.ndarray, drawn: Drawn) -> Iterator[Score]:
    cut, length = output_words(inputs.words), inputs.common_length
    texts = list(zip(run.survivors["client"].astype(str), inputs.texts(run), strict=True))
    long_enough = [(client, text) for client, text in texts if cut.count(text) >= length]
    whole = [known.overlap(client, word_list(text, inputs.words)) for client, text in texts]
    spans = [known.overlap(client, word_list(cut.cut(text, length), inputs.words)) for client, text in long_enough]
    authors, long_authors = (
        np.searchsorted(inputs.clients, [client for client, _ in chosen]) for chosen in (texts, long_enough)
    )
    for variant, name in (("", "own"), ("others", "others")):
        copied = [getattr(found, name) for found in whole]
        rates = [count / found.grams if found.grams else 0.0 for count, found in zip(copied, whole, strict=True)]
        longest = [getattr(found, f"longest_{name}") for found in spans]
        values = {
            "copy5": ([count > 0 for count in copied], authors),
            "copy5_rate": (rates, authors),
            "longest_copy": (longest, long_authors),
        }
        for metric, (found_values, author) in values.items():
            n = len(found_values)
            value = sum(found_values) / n if n else float("nan")
            note = "no output passed the filter" if not len(whole) else f"no output has {length} words"
            means = mean_draws(np.asarray(found_values, dtype=float), author, counts)
            drawn.setdefault((run.method, metric, variant), []).append((means, author))
            yield Score(run.seed, run.method, "", metric, variant, value, n, note)


def _intervals(drawn: Drawn, counts: np.ndarray) -> Iterator[Score]:
    least_and_most = {metric.name: (metric.minimum, metric.maximum) for metric in METRICS}
    for (method, metric, variant), seeds in drawn.items():
        # A share of 5-grams and a length are no shares of trials.
        bounds = RATE if metric == "copy5" else None
        authors = np.concatenate([author for _, author in seeds])
        ends = interval(np.stack([means for means, _ in seeds]), len(np.unique(authors)), bounds, counts)
        note = "needs outputs of two authors, and some under every seed"
        pooled = Score(ALL_SEEDS, method, "", metric, variant, np.nan, len(authors), note)
        yield from pooled.ends(np.clip(ends, *least_and_most[metric]))
