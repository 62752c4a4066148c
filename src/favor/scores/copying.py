"""Copying family: what outputs share with their author's training texts, and with those of other clients."""

from collections.abc import Iterator

import pandas as pd

from favor.foundation.errors import UserError
from favor.foundation.words import document_words, output_words
from favor.scores.inputs import Run, ScoreInputs
from favor.scores.metric import Metric, Score, scores_frame
from favor.statistics.copied_spans import KnownTexts

_REFERENCE = "paper, Cold-Start New-Author Details; word 5-grams, lower-cased"
METRICS = (
    Metric("copy5", "Copy-5", 0.0, 1.0, "lower", _REFERENCE),
    Metric("copy5_rate", "Copy-5 rate", 0.0, 1.0, "lower", f"{_REFERENCE}; share of an output's 5-grams"),
    Metric(
        "longest_copy", "Longest copy", 0.0, float("inf"), "lower",
        "mean words of the longest copied span; 0 below 5 words", "words",
    ),
)  # fmt: skip
LENGTH = 5


def word_list(text: str, words: str = "paper") -> list[str]:
    """Return the lower-cased words of a text; ``words``: what counts as one."""
    return [word.lower() for word in document_words(words).split(text.replace("’", "'"))]


def score(inputs: ScoreInputs) -> pd.DataFrame:
    """Share of surviving outputs with a copied 5-gram, mean copied share, and mean longest copied span; no settings.

    The texts copied from are what clients trained on (``training_text`` of their texts): the own ones, and under the
    variant ``others`` those of all other clients, which an output can have through the shared adapter alone. A 5-gram
    counts there if it is in no own text. Spans are those of outputs cut to the words of the shortest human
    continuation; shorter outputs have none. The control ``gold`` shows what authors repeat without copying.
    """
    if inputs.client_texts is None:
        raise UserError("scores: family 'copying' needs the clients' texts; give the client_texts table")
    trained = inputs.client_texts.groupby("client")["training_text"]
    known = KnownTexts(
        {str(client): [word_list(text, inputs.words) for text in texts] for client, texts in trained}, LENGTH
    )
    scores: list[Score] = []
    for run in inputs.runs:
        scores += _score_run(inputs, known, run)
    return scores_frame(scores)


def _score_run(inputs: ScoreInputs, known: KnownTexts, run: Run) -> Iterator[Score]:
    cut, length = output_words(inputs.words), inputs.common_length
    texts = list(zip(run.survivors["client"].astype(str), inputs.texts(run), strict=True))
    whole = [known.overlap(client, word_list(text, inputs.words)) for client, text in texts]
    spans = [
        known.overlap(client, word_list(cut.cut(text, length), inputs.words))
        for client, text in texts
        if cut.count(text) >= length
    ]
    for variant, name in (("", "own"), ("others", "others")):
        copied = [getattr(found, name) for found in whole]
        rates = [count / found.grams if found.grams else 0.0 for count, found in zip(copied, whole, strict=True)]
        longest = [getattr(found, f"longest_{name}") for found in spans]
        values = ([count > 0 for count in copied], rates, longest)
        for metric, found_values in zip(METRICS, values, strict=True):
            n = len(found_values)
            value = sum(found_values) / n if n else float("nan")
            note = "no output passed the filter" if not len(whole) else f"no output has {length} words"
            yield Score(run.seed, run.method, "", metric.name, variant, value, n, "" if n else note)
