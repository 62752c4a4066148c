"""STEL family: does an encoder know style, and does it go before content? From its certificate, no run's texts.

Its rows belong to no run: their method is "source" and their seed 0.
"""

from collections.abc import Iterator, Mapping

import pandas as pd

from favor.scores.metric import SOURCE, Metric, Score, scores_frame

METRICS = (
    Metric("stel", "STEL", 0.0, 1.0, "higher", "Wegmann and Nguyen 2021; ties count half, chance 0.5"),
    Metric("stel_or_content", "STEL-or-Content", 0.0, 1.0, "higher",
        "Wegmann, Schraagen and Nguyen 2022; ties count half; an encoder of content alone has 0"),
    Metric("stel_items", "Items", 0.0, float("inf"), "none", "items of STEL that were put to the encoder", "items"),
)  # fmt: skip


def stel_scores(certificates: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Score encoders by name from their tables ``certificate``.

    The variant is the dimension; "" is the unweighted mean of the dimensions.
    """
    return scores_frame(score for encoder, items in certificates.items() for score in _scores(encoder, items))


def _scores(encoder: str, items: pd.DataFrame) -> Iterator[Score]:
    dimensions = items.groupby("dimension")
    for metric in ("stel", "stel_or_content"):
        means = dimensions[metric].mean()
        yield Score(0, SOURCE, encoder, metric, "", float(means.mean()), len(items))
        for (dimension, value), size in zip(means.items(), dimensions.size(), strict=True):
            yield Score(0, SOURCE, encoder, metric, str(dimension), float(value), int(size))
    yield Score(0, SOURCE, encoder, "stel_items", "", float(len(items)), len(items))
