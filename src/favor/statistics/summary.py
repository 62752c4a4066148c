"""Means and sample standard deviations over training seeds."""

import pandas as pd

KEYS = ["method", "encoder", "metric", "variant"]


def seed_summary(scores: pd.DataFrame) -> pd.DataFrame:
    """Summarise a scores table over seeds.

    Returns one row per (method, encoder, metric, variant): mean, deviation (sample standard deviation, ddof = 1; NaN
    with one seed), seeds (how many had a value) and note (why there is none; "" otherwise). Seeds without a value are
    left out of mean and deviation, and counted in ``missing``. ``n``: the texts or pairs behind the value of the seed
    that has the fewest, 0 where no seed has a value.
    """
    groups = scores.groupby(KEYS, sort=True)
    summary = groups["value"].agg(mean="mean", deviation=lambda values: values.std(ddof=1), seeds="count")
    summary["missing"] = groups["value"].agg(lambda values: int(values.isna().sum()))
    summary["n"] = scores[scores["value"].notna()].groupby(KEYS)["n"].min()
    summary["n"] = summary["n"].fillna(0).astype("int64")
    notes = scores[scores["note"] != ""].groupby(KEYS)["note"].first()
    summary["note"] = notes.reindex(summary.index).fillna("").where(summary["seeds"] == 0, "")
    return summary.reset_index()
