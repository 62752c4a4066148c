"""Scores of judgements: mean ratings, FAVoR minus each baseline, how far judgements repeat, and preferred voices.

The judgements of an output are averaged first. Everything over all training seeds stands under seed 0: intervals come
from resamples of authors and p from their signs; authors keep all their seeds
(paper, Reference-Free Quality and Voice-Match Judges).
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from favor.foundation.errors import UserError
from favor.scores.metric import ALL_SEEDS, SOURCE, Metric, Score, scores_frame
from favor.statistics.bootstrap import mean_draws, observed_and_resampled, seed_draws
from favor.statistics.differences import Comparison, compare
from favor.statistics.paired import holm
from favor.statistics.sign_flips import author_sums
from favor.studies.judges.prompts import QUALITY, RATINGS, VOICE

_REFERENCE = "paper, Reference-Free Quality and Voice-Match Judges"
NEEDS = "studies.judges"  # key of an experiment without which nothing is scored
METRICS = (
    Metric("judge_coherence", "Coherence", 1.0, 5.0, "higher", _REFERENCE),
    Metric("judge_fluency", "Fluency", 1.0, 5.0, "higher", _REFERENCE),
    Metric("judge_specificity", "Specificity", 1.0, 5.0, "higher", _REFERENCE),
    Metric("judge_non_repetition", "Non repetition", 1.0, 5.0, "higher", _REFERENCE),
    Metric("judge_overall", "Overall", 1.0, 5.0, "higher", _REFERENCE),
    Metric("judge_difference", "FAVoR − method", -4.0, 4.0, "none", _REFERENCE),
    Metric("judge_repeated", "Equal repeated ratings", 0.0, 1.0, "higher", _REFERENCE),
    Metric("judge_missing", "Missing judgements", 0.0, float("inf"), "lower", _REFERENCE, "judgements"),
    Metric("voice_preference", "Preferred voice among non-ties", 0.0, 1.0, "higher", _REFERENCE),
    Metric("voice_ties", "Ties", 0.0, 1.0, "none", _REFERENCE),
)
_KEYS = ["kind", "item", "judgement"]
_SPAN = 4.0  # ratings are from 1 to 5
_NO_JUDGE = "no judge is configured for this experiment (studies.judges)"


def judge_scores(
    judgements: pd.DataFrame,
    key: pd.DataFrame,
    methods: Sequence[str],
    reference: str,
    voice: Sequence[str] | None,
    seed: int,
    draws: int,
) -> pd.DataFrame:
    """Return the scores of the tables ``judgements`` and ``judge_key``.

    ``methods``: rows whose outputs were rated; ``reference``: the one the others are compared with (FAVoR).
    Variants of ``judge_difference`` are "" (the difference, positive for the reference), "low", "high" (95 %), "p" and
    "p_holm" (over all ``methods``); of ``voice_preference`` "", "low", "high" and "p" (against a half). A judgement
    that is missing leaves its output to the others; an output without any is left out and counted.
    """
    merged = judgements.merge(key, on=_KEYS, how="outer", validate="one_to_one", indicator=True)
    if (merged["_merge"] != "both").any():
        raise UserError("judgements and their key differ; delete the experiment's judgements and judge again")
    scores = _ratings(merged[merged["kind"] == QUALITY], methods)
    scores += _differences(_outputs(merged), methods, reference, seed, draws)
    if voice is not None:
        scores += _voices(merged[merged["kind"] == VOICE], voice[0], seed, draws)
    return scores_frame(scores)


def no_judge_scores(seeds: Sequence[int], methods: Sequence[str]) -> pd.DataFrame:
    """Return the scores of an experiment without a judge: every value missing, with the reason."""
    rows = [Score(run, method, "", "judge_overall", "", np.nan, 0, _NO_JUDGE) for run in seeds for method in methods]
    for method in methods:
        rows.append(Score(ALL_SEEDS, method, "", "judge_overall", "pooled", np.nan, 0, _NO_JUDGE))
        rows.append(Score(ALL_SEEDS, method, "", "judge_difference", "", np.nan, 0, _NO_JUDGE))
    return scores_frame(rows)


def _outputs(merged: pd.DataFrame) -> pd.DataFrame:
    """One row per rated output: seed, client, method (``first``), and the mean of its ratings that exist."""
    rated = merged[(merged["kind"] == QUALITY) & (merged["reason"] == "")]
    return rated.groupby(["seed", "client", "first"])[list(RATINGS)].mean().reset_index()


def _ratings(quality: pd.DataFrame, methods: Sequence[str]) -> list[Score]:
    scores = []
    for method in methods:
        own = quality[quality["first"] == method]
        missing = int((own["reason"] != "").sum())
        scores.append(Score(ALL_SEEDS, method, "", "judge_missing", "", float(missing), len(own)))
        outputs = _outputs(own)
        why = f"no judgement: {own['reason'].max()}" if missing else "nothing was judged"
        for run in sorted(set(own["seed"])):
            rows = outputs[outputs["seed"] == run]
            scores += [_mean(run, method, f"judge_{name}", "", rows[name], why) for name in RATINGS]
        scores += [_mean(ALL_SEEDS, method, f"judge_{name}", "pooled", outputs[name], why) for name in RATINGS]
    rated = quality[quality["reason"] == ""].groupby("item")["overall"].agg(["size", "nunique"])
    several = rated[rated["size"] > 1]
    why = "no output was judged twice"
    return [*scores, _mean(ALL_SEEDS, SOURCE, "judge_repeated", "", several["nunique"] == 1, why)]


def _mean(run: int, method: str, metric: str, variant: str, values: pd.Series, why: str) -> Score:
    value = float(values.mean()) if len(values) else np.nan
    return Score(int(run), method, "", metric, variant, value, len(values), why)


def _differences(outputs: pd.DataFrame, methods: Sequence[str], reference: str, seed: int, draws: int) -> list[Score]:
    """Differences in overall quality on the outputs judged for both methods, matched by seed and author."""
    table = outputs.pivot(index=["seed", "client"], columns="first", values="overall")
    rivals = [method for method in methods if method != reference]
    found: dict[str, tuple[Comparison, int]] = {}
    for method in rivals:
        both = table.reindex(columns=[reference, method]).dropna()
        if both.empty:
            continue
        names, cluster = np.unique(both.index.get_level_values("client"), return_inverse=True)
        counts = observed_and_resampled(len(names), seed, draws)
        left, right = (both[name].to_numpy() for name in (reference, method))
        runs = both.index.get_level_values("seed").to_numpy()
        first, second = (seed_draws(side, cluster, counts, runs) for side in (left, right))
        shares = author_sums(left - right, cluster, len(names))
        found[method] = compare(first, second, np.bincount(cluster), counts, shares, seed, span=_SPAN), len(both)
    adjusted = holm([found[method][0].p if method in found else np.nan for method in rivals])
    scores = []
    for method, p_holm in zip(rivals, adjusted, strict=True):
        if method not in found:
            why = f"no author and seed with a judged output of both {reference} and {method}"
            scores.append(Score(ALL_SEEDS, method, "", "judge_difference", "", np.nan, 0, why))
            continue
        result, n = found[method]
        values = {"": result.delta, "low": result.low, "high": result.high, "p": result.p, "p_holm": float(p_holm)}
        scores += [_all_seeds(method, "judge_difference", name, value, n) for name, value in values.items()]
    return scores


def _voices(voices: pd.DataFrame, favoured: str, seed: int, draws: int) -> list[Score]:
    """How often the favoured method's voice is preferred among the comparisons that are not a tie.

    The judgements of a comparison show its texts in both orders: +1 for the favoured method, -1 for the other, 0 for a
    tie; the sign of their sum decides. A comparison that lacks one of them is left out: one order alone would let the
    judge's liking for a place decide.
    """
    judged = voices[(voices["reason"] == "").groupby(voices["item"]).transform("all")]
    chosen = judged["first"].where(judged["choice"] == "A", judged["second"])
    vote = np.where(judged["choice"] == "tie", 0, np.where(chosen == favoured, 1, -1))
    sums = judged.assign(vote=vote).groupby(["item", "client"])["vote"].sum().reset_index()
    missing = int((voices["reason"] != "").sum())
    scores = [Score(ALL_SEEDS, favoured, "", "judge_missing", "voice", float(missing), len(voices))]
    if sums.empty:
        scores.append(Score(ALL_SEEDS, favoured, "", "voice_preference", "", np.nan, 0, "no comparison was judged"))
        return scores
    scores.append(Score(ALL_SEEDS, favoured, "", "voice_ties", "", float((sums["vote"] == 0).mean()), len(sums)))
    decided = sums[sums["vote"] != 0]
    if decided.empty:
        scores.append(Score(ALL_SEEDS, favoured, "", "voice_preference", "", np.nan, 0, "every comparison is a tie"))
        return scores
    names, cluster = np.unique(decided["client"], return_inverse=True)
    wins = (decided["vote"] > 0).to_numpy(dtype=float)
    counts, shares = observed_and_resampled(len(names), seed, draws), author_sums(wins - 0.5, cluster, len(names))
    drawn, half = mean_draws(wins, cluster, counts), np.full(len(counts), 0.5)
    result = compare(drawn, half, np.bincount(cluster), counts, shares, seed, span=0.5)
    values = {"": result.left, "low": 0.5 + result.low, "high": 0.5 + result.high, "p": result.p}
    return scores + [
        _all_seeds(favoured, "voice_preference", name, value, len(decided)) for name, value in values.items()
    ]


def _all_seeds(method: str, metric: str, variant: str, value: float, n: int) -> Score:
    return Score(ALL_SEEDS, method, "", metric, variant, value, n, "needs judgements of two authors")
