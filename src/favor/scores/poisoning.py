"""Poisoning family: what an attack on the shared adapter takes from honest authors, and whether its voice gets through.

Read off the likelihoods of unseen texts (:mod:`favor.scores.likelihood`): g[i, j] is the gain of client i's model on
author j's texts, in nats per token, and g0 that of the experiment that ``studies.poisoning.beside`` names. An author
counts under the seeds under which its client does not attack and is not the target t of a hijack; all scores are means
over these authors, and their intervals are over them.
"""

from collections.abc import Collection, Iterator, Mapping

import numpy as np
import pandas as pd

from favor.scores.likelihood import EQUAL, reading
from favor.scores.metric import ALL_SEEDS, Metric, Score, scores_frame
from favor.scores.settings import PoisoningScoring
from favor.statistics.bootstrap import RATE, interval, mean_draws, mean_of_known, observed_and_resampled

NEEDS = "studies.poisoning"  # key of an experiment without which nothing is scored
UNREAD = "no honest author has a text that is long enough"
UNAIMED = "no hijack: no voice is aimed at"

_INFINITE = float("inf")
_NATS = "nats per token"
METRICS = (
    Metric("poisoning_own_gain", "Honest authors' gain", -_INFINITE, _INFINITE, "higher",
        "log-likelihood of an honest author's unseen texts under the own client's model minus under the base", _NATS),
    Metric("poisoning_lost", "Lost", -_INFINITE, _INFINITE, "lower",
        "honest authors' gain in the experiment beside, minus that here; paired by author", _NATS),
    Metric("poisoning_target_gain", "Target's gain", -_INFINITE, _INFINITE, "none",
        "log-likelihood of the target's unseen texts under honest clients' models minus under the base", _NATS),
    Metric("poisoning_turned", "Turned to the target", -_INFINITE, _INFINITE, "lower",
        "target's gain minus honest author's own gain under a client's model, minus the same in the experiment beside",
        _NATS),
    Metric("poisoning_taken", "Taken", 0.0, 1.0, "lower",
        "share of honest authors whose client's model gains more on the target's texts than on theirs"),
)  # fmt: skip
_PAIRED = ("poisoning_lost", "poisoning_turned")
_AIMED = ("poisoning_target_gain", "poisoning_turned", "poisoning_taken")


def by_author(
    here: np.ndarray, beside: np.ndarray, left_out: Collection[int], target: int | None
) -> dict[str, np.ndarray]:
    """Return every metric of each author under one seed, arrays [clients]; NaN for who is ``left_out`` or the target.

    ``here`` and ``beside``: gains [clients, clients], g and g0. ``target``: None without a hijack.
    """
    number = len(here)
    honest = [place for place in range(number) if place not in left_out and place != target]
    blank = np.full(number, np.nan)
    own, before = blank.copy(), blank.copy()
    own[honest], before[honest] = np.diag(here)[honest], np.diag(beside)[honest]
    found = {"poisoning_own_gain": own, "poisoning_lost": before - own, **dict.fromkeys(_AIMED, blank)}
    if target is not None:
        aimed = np.where(np.isfinite(own), here[:, target], np.nan)
        taken = np.where(np.isfinite(aimed), aimed > own + EQUAL, np.nan)
        turned = aimed - beside[:, target] + found["poisoning_lost"]
        found |= dict(zip(_AIMED, (aimed, turned, taken), strict=True))
    return found


def poisoning_scores(here: pd.DataFrame, beside: pd.DataFrame, settings: PoisoningScoring) -> pd.DataFrame:
    """Return the scores of every row of an experiment. ``here``, ``beside``: tables ``likelihood`` of all its runs.

    All seeds stand together (``ALL_SEEDS``): an author's values are averaged over seeds first. Variants: "", and "low"
    and "high", the 95 % interval over authors, whom ``n`` counts; the target's gain has none.
    """
    scores: list[Score] = []
    for method in settings.methods:
        own, other = (one[one["method"] == method] for one in (here, beside))
        scores += _method_scores(method, own, other, settings)
    return scores_frame(scores)


def _method_scores(
    method: str, here: pd.DataFrame, beside: pd.DataFrame, settings: PoisoningScoring
) -> Iterator[Score]:
    clients = sorted(settings.clients)
    place = {client: number for number, client in enumerate(clients)}
    seeds: list[Mapping[str, np.ndarray]] = []
    for seed, attackers in settings.attackers.items():
        own, other = (reading(one[one["seed"] == int(seed)], clients) for one in (here, beside))
        target = place[settings.targets[seed]] if seed in settings.targets else None
        seeds.append(by_author(own.matrix(), other.matrix(), [place[client] for client in attackers], target))
    for metric in seeds[0]:
        values = mean_of_known(np.array([one[metric] for one in seeds]))
        known = values[np.isfinite(values)]
        counts = observed_and_resampled(max(1, len(known)), settings.bootstrap.seed, settings.bootstrap.draws)
        drawn = mean_draws(known, np.arange(len(known)), counts)
        why = UNAIMED if metric in _AIMED and not settings.targets else UNREAD
        score = Score(ALL_SEEDS, method, "", metric, "", float(drawn[0]), len(known), why)
        yield score
        if metric == "poisoning_target_gain":
            continue  # of one author, so that there is nothing to take an interval over
        bounds, paired = RATE if metric == "poisoning_taken" else None, counts if metric in _PAIRED else None
        yield from score.ends(interval(drawn, len(known), bounds, paired))
