"""Human audit family: how often annotators attribute a text to its author, and how far they agree.

The audit pools the outputs of all training seeds: its scores stand under seed 0. The method "" stands for all items,
the control gold for held-out human continuations.
"""

import math
from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from favor.scores.metric import Metric, Score, scores_frame
from favor.statistics.agreement import agreement_by_item, fleiss_kappa, kappa_draws
from favor.statistics.bootstrap import CORRELATION, interval, observed_and_resampled
from favor.statistics.exact import rate_limits
from favor.studies.human_audit.items import CHECK, SIDES

_REFERENCE = "paper, Human 2AFC Audit"
NEEDS = "studies.human_2afc"  # key of an experiment without which nothing is scored
METRICS = (
    Metric("audit_annotators", "Annotators", 0.0, math.inf, "none", _REFERENCE),
    Metric("audit_items", "Items", 0.0, math.inf, "none", _REFERENCE),
    Metric("audit_votes", "Votes", 0.0, math.inf, "none", _REFERENCE),
    Metric("vote_accuracy", "Vote acc.", 0.0, 1.0, "higher", _REFERENCE),
    Metric("majority_accuracy", "Maj. acc.", 0.0, 1.0, "higher", _REFERENCE),
    Metric("mean_confidence", "Mean conf.", 1.0, 5.0, "none", _REFERENCE),
    Metric("unanimous_items", "Unanimous", 0.0, math.inf, "none", _REFERENCE),
    Metric("tied_items", "Ties", 0.0, math.inf, "none", _REFERENCE),
    Metric("first_profile_votes", "Votes for A", 0.0, math.inf, "none", _REFERENCE),
    Metric("pairwise_agreement", "Agreement", 0.0, 1.0, "higher", _REFERENCE),
    Metric("attention_checks_passed", "Checks passed", 0.0, math.inf, "none", "items whose candidate is an excerpt"),
    Metric("fleiss_kappa", "Fleiss' kappa", -1.0, 1.0, "higher", "Fleiss 1971; categories: profile A, profile B"),
)
NO_RESPONSES = (
    "no response files yet; give annotators the pages in studies/human_2afc, and set "
    "experiments.NAME.studies.human_2afc.responses to the folder with the files that they save"
)
ALONE, SAME = "agreement needs two annotators", "every vote is for the same profile"


def audit_scores(votes: pd.DataFrame, sources: Sequence[str], annotators: int, seed: int) -> pd.DataFrame:
    """Return the table ``scores`` of the audit, by source and for all items.

    ``votes``: table ``human_2afc_votes``; ``sources``: method keys of the candidates; ``annotators``: how many were
    asked (the n of ``audit_annotators``). A majority is correct where more than half of an item's votes are; a tie is
    not. Attention checks count for nothing else: ``attention_checks_passed`` says by annotator (its variant) how many
    were passed, of how many (its n). Without votes every value is missing, with the reason.

    ``low`` and ``high``, of rates and agreement, are 95 % limits over authors, for these annotators, of resamples
    of authors that ``seed`` draws; where every author has one decision, binomial ones.
    """
    if votes.empty:
        return missing_scores(sources, NO_RESPONSES)
    checks, votes = votes[votes["source"] == CHECK], votes[votes["source"] != CHECK]
    scores = [
        Score(0, "", "", "attention_checks_passed", str(annotator), float(own["correct"].sum()), len(own), "")
        for annotator, own in checks.groupby("annotator")
    ]
    for source in (*sources, ""):
        rows = votes if source == "" else votes[votes["source"] == source]
        scores += _scores(source, rows, annotators, seed)
    return scores_frame(scores)


def missing_scores(sources: Sequence[str], reason: str) -> pd.DataFrame:
    """Return the same table without any value, for ``reason``."""
    return scores_frame(
        Score(0, source, "", metric.name, "", float("nan"), 0, reason)
        for source in (*sources, "")
        for metric in METRICS
        if metric.name != "attention_checks_passed"  # by annotator, and only where an audit has such checks
    )


def _items(votes: pd.DataFrame) -> tuple[pd.DataFrame, np.ndarray]:
    """Return the items with ``client``, ``margin`` (correct votes minus wrong), and the votes for each side [n, 2]."""
    items = votes.groupby("item").agg(client=("client", "first"), right=("correct", "sum"), votes=("correct", "size"))
    counts = np.stack([votes["choice"].eq(side).groupby(votes["item"]).sum().to_numpy() for side in SIDES], axis=1)
    return items.assign(margin=2 * items["right"] - items["votes"]), counts


def _scores(source: str, votes: pd.DataFrame, annotators: int, seed: int) -> Iterator[Score]:
    items, counts = _items(votes)
    margin, present = items["margin"], votes["annotator"].nunique()
    names, author = np.unique(items["client"].astype(str), return_inverse=True)
    resampled = observed_and_resampled(len(names), seed)
    voted = np.searchsorted(names, votes["client"].astype(str))
    values = {
        "audit_annotators": (present, annotators),
        "audit_items": (len(items), len(items)),
        "audit_votes": (len(votes), len(votes)),
        "vote_accuracy": (votes["correct"].mean(), len(votes)),
        "majority_accuracy": ((margin > 0).mean(), len(items)),
        "mean_confidence": (votes["confidence"].mean(), len(votes)),
        "tied_items": ((margin == 0).sum(), len(items)),
        "first_profile_votes": (counts[:, 0].sum(), len(votes)),
        **dict.fromkeys(("unanimous_items", "pairwise_agreement", "fleiss_kappa"), (np.nan, len(items))),
    }
    ends = {
        "vote_accuracy": rate_limits(votes["correct"].to_numpy(dtype=float), voted, resampled),
        "majority_accuracy": rate_limits((margin > 0).to_numpy(dtype=float), author, resampled),
    }
    if present > 1:
        values["unanimous_items"] = (counts.max(axis=1) == present).sum(), len(items)
        values["pairwise_agreement"] = agreement_by_item(counts).mean(), len(items)
        values["fleiss_kappa"] = fleiss_kappa(counts), len(items)
        ends["pairwise_agreement"] = rate_limits(agreement_by_item(counts), author, resampled)
        ends["fleiss_kappa"] = interval(kappa_draws(counts, author, resampled), len(names), CORRELATION)
    for metric, (value, n) in values.items():
        yield Score(0, source, "", metric, "", float(value), n, SAME if present > 1 else ALONE)
    for metric, limits in ends.items():
        yield from Score(0, source, "", metric, "", np.nan, len(names), "no interval over authors").ends(limits)
