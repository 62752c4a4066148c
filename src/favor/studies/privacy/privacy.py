"""Privacy family: what uploads and adapters give away about the clients behind them, by attack and view.

Every number is of one row, over all its seeds. Intervals come from resamples of authors (of canary clients, for their
cosine); with several seeds or rounds a draw takes the mean of their statistics. Exposure has exact limits,
and the empirical epsilon is itself a lower bound. ``shuffled`` is the same statistic with the labels in random order.
docs/privacy.md says what each attack knows and does.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd

from favor.foundation.seeds import numpy_generator
from favor.foundation.vectors import unit_rows
from favor.scores.metric import ALL_SEEDS, Metric, Score, scores_frame
from favor.statistics.attacks import exposure, privacy_loss_bound, rank_correlation_draws, tpr_draws
from favor.statistics.bootstrap import (
    CORRELATION,
    FEWEST,
    RATE,
    Bounds,
    auc_draws,
    interval,
    mean_draws,
    mean_of_known,
    observed,
    observed_and_resampled,
)
from favor.statistics.exact import exponential_mean_limits, rate_limits
from favor.studies.privacy.attacks import leaver_scores, member_scores, sender_scores, text_scores
from favor.studies.privacy.losses import PERSONAL, SERVER, UPLOAD

NEEDS = "studies.privacy"  # key of an experiment without which nothing is scored
FALSE_POSITIVES = 0.01
# Of fewer negatives none may be accepted: the threshold is then the highest of them, whose scatter no draws show.
_FEWEST_NEGATIVES = round(1 / FALSE_POSITIVES)
_TOO_FEW_NEGATIVES = f"no interval of a threshold with fewer than {_FEWEST_NEGATIVES} negatives or {FEWEST} authors"
SHUFFLES = 200
COMPLETED = "completed"  # an upload beside its owner's other half, where it changes nothing alone
_SILENT = "what is uploaded changes nothing alone: the adapter computes what the base model does"
_WITHOUT_MODEL = ("link_top1", "link_auc", "upload_norm", "canary_cosine", "empirical_epsilon")

_SOURCE = "Hu et al. 2023 (source inference)"
_USER = "Kandpal et al. 2024 (user inference)"
_TEXT = "Carlini et al. 2022; LoRA-Leak (Ran et al. 2025)"
_INFINITE = float("inf")
METRICS = (
    Metric("sender_top1", "Sender found", 0.0, 1.0, "lower", _SOURCE),
    Metric("sender_auc", "Sender AUC", 0.0, 1.0, "lower", _SOURCE),
    Metric("member_auc", "Author AUC", 0.0, 1.0, "lower", _USER),
    Metric("member_tpr", "Author TPR at 1 % FPR", 0.0, 1.0, "lower", _USER),
    Metric("member_distinctive", "Rank correlation with distinctiveness", -1.0, 1.0, "none", _USER),
    Metric("leaver_auc", "Leaver AUC", 0.0, 1.0, "lower", _USER),
    Metric("leaver_fall", "Leaver's fall of loss", -_INFINITE, _INFINITE, "none", _USER, "nats per token"),
    Metric("text_auc", "Text AUC", 0.0, 1.0, "lower", _TEXT),
    Metric("text_tpr", "Text TPR at 1 % FPR", 0.0, 1.0, "lower", _TEXT),
    Metric("text_least_auc", "Text AUC, Min-K%++", 0.0, 1.0, "lower", "Zhang et al. 2025 (Min-K%++)"),
    Metric("text_least_tpr", "Text TPR at 1 % FPR, Min-K%++", 0.0, 1.0, "lower", "Zhang et al. 2025 (Min-K%++)"),
    Metric("canary_exposure", "Exposure of canaries", 0.0, _INFINITE, "lower", "Carlini et al. 2019", "bits"),
    Metric("canary_cosine", "Cosine of canary clients", -1.0, 1.0, "lower", "Andrew et al. 2024"),
    Metric("empirical_epsilon", "Empirical ε, at least", 0.0, _INFINITE, "lower",
        "Andrew et al. 2024; 95 % lower confidence bound"),
    Metric("link_top1", "Upload linked", 0.0, 1.0, "lower", "docs/privacy.md"),
    Metric("link_auc", "Link AUC", 0.0, 1.0, "lower", "docs/privacy.md"),
    Metric("upload_norm", "Norm of uploads", 0.0, _INFINITE, "none", "Andrew et al. 2021 (adaptive clipping)"),
)  # fmt: skip


@dataclass(frozen=True)
class Readings:
    """What was read of the runs of one row, all seeds: the tables of these names.

    ``distinctiveness``: by client, how far its author is from the others in the style space; empty if not known.
    ``delta``: of the empirical epsilon. ``without``: why a view was not read, by view. ``silent``: whether uploads
    change nothing alone, and were read beside their owners' other halves.
    """

    losses: pd.DataFrame
    links: pd.DataFrame
    canaries: pd.DataFrame
    canary_clients: pd.DataFrame
    norms: pd.DataFrame
    distinctiveness: Mapping[str, float]
    delta: float
    without: Mapping[str, str]
    silent: bool = False


class Group(NamedTuple):
    """Decisions that are compared with one another: a score and a label each, and the author it counts for."""

    scores: np.ndarray
    positive: np.ndarray
    cluster: np.ndarray


Statistic = Callable[[Group, np.ndarray], np.ndarray]  # of a group in every draw of authors


def privacy_scores(readings: Mapping[str, Readings], seed: int, draws: int) -> pd.DataFrame:
    """Return the scores of every row in ``readings``. Variants: the view, and "{view}_low", "_high", "_shuffled"."""
    scores: list[Score] = []
    for method, one in readings.items():
        for measured in _measures(one, seed, draws):
            for said in _silenced(measured) if one.silent else [measured]:
                scores += _rows(method, said, one.without)
    return scores_frame(scores)


class Measured(NamedTuple):
    """A statistic: its value, then its draws, [1 + draws]; ``n`` decisions.

    ``shuffled``: its mean where labels mean nothing. ``most``: what it can be at most, where that is not 1.
    ``limits``: its 95 % interval, where it is not that of the draws of ``clusters``, which stays within ``bounds``.
    ``note``: why it has no value. ``no_limits``: why it has no interval.
    """

    metric: str
    view: str
    n: int
    values: np.ndarray
    shuffled: float = float("nan")
    most: float = float("nan")
    limits: tuple[float, float] | None = None
    note: str = ""
    clusters: int = 0
    bounds: Bounds | None = None
    no_limits: str = ""


def _silenced(measured: Measured) -> list[Measured]:
    """Return what can be said where uploads change nothing alone: no adapter that the server has was read.

    What is of vectors, of personal adapters or before any training stays as it is.
    """
    view, _, _ = measured.view.partition("_")
    if measured.metric in _WITHOUT_MODEL or view in (PERSONAL, "initial"):
        return [measured]
    nothing = Measured(measured.metric, measured.view, 0, np.array([]), note=_SILENT)
    completed = measured._replace(view=measured.view.replace(UPLOAD, COMPLETED, 1))
    return [nothing, completed] if view == UPLOAD else [nothing]


def _rows(method: str, measured: Measured, without: Mapping[str, str]) -> Iterator[Score]:
    metric, view, n, values, shuffled, most, limits, note, clusters, bounds, no_limits = measured
    known = len(values) > 0 and bool(np.isfinite(values[0]))
    if not known and not note:
        note = without.get(view) or without.get(metric, "nothing to compare: too few clients, rounds or texts")
    spread = known and np.isfinite(values[1:]).any()
    low, high = limits or (interval(values, clusters, bounds) if spread and not no_limits else (np.nan, np.nan))
    numbers = {"": values[0] if known else np.nan, "_low": low, "_high": high, "_shuffled": shuffled, "_most": most}
    for suffix, value in numbers.items():
        missing = no_limits if suffix in ("_low", "_high") and no_limits else "not defined for this attack"
        why = note or ("" if np.isfinite(value) else missing)
        yield Score(ALL_SEEDS, method, "", metric, f"{view}{suffix}", float("nan") if why else float(value), n, why)


def _measures(one: Readings, seed: int, draws: int) -> Iterator[Measured]:
    losses = one.losses
    clients = {client: place for place, client in enumerate(sorted(losses["client"].unique()))}
    counts = observed_and_resampled(len(clients), seed, draws)
    for view in (UPLOAD, PERSONAL):
        yield from _top("sender", view, sender_scores(losses, view), clients, counts, seed)
    members = {view: member_scores(losses, view) for view in ("mean", "final", PERSONAL)}
    for view, groups in members.items():
        yield from _separated("member", view, groups, clients, counts, seed)
    yield _distinctive(members["final"], one.distinctiveness, seed, draws)
    for view in ("before", "after"):
        decisions = _groups(leaver_scores(losses, view), clients)
        yield _measured("leaver_auc", view, decisions, _auc, counts, seed)
        yield _measured("leaver_fall", view, decisions, _difference, counts, seed)
    for view in (UPLOAD, "mean", "final", PERSONAL):
        for name, column, sign in (("text", "loss", 1.0), ("text_least", "least", -1.0)):
            groups = text_scores(losses, view, column, sign)
            yield from _separated(name, view, groups, clients, counts, seed)
    links = [frame.rename(columns={"cosine": "score"}) for _, frame in one.links.groupby(["seed", "round", "earlier"])]
    links = [frame[frame["client"].isin(frame["candidate"])] for frame in links]
    yield from _top("link", UPLOAD, [frame for frame in links if len(frame)], clients, counts, seed)
    yield from _exposures(one.canaries)
    yield from _epsilon(one.canary_clients, one.delta, seed, draws)
    yield Measured("upload_norm", UPLOAD, len(one.norms), np.array([one.norms["norm"].median()]))


# E1: whose upload is it? E6: is it of the same client as an earlier one?


def _top(
    name: str, view: str, groups: Sequence[pd.DataFrame], clients: Mapping[str, int], counts: np.ndarray, seed: int
) -> Iterator[Measured]:
    """Yield top-1 and AUC of finding each author's own candidate in every group."""
    hits, owners, by_chance = [], [], []
    for frame in groups:
        for client, part in frame.groupby("client"):
            best = part["score"] == part["score"].max()
            # Candidates that are equally good share the hit.
            hits.append(float((best & (part["candidate"] == client)).sum() / best.sum()))
            owners.append(clients[str(client)])
            by_chance.append(1.0 / len(part))
    if hits:
        found, chance = np.array(hits), float(np.mean(by_chance))
        limits = rate_limits(found, np.array(owners), counts)
        yield Measured(f"{name}_top1", view, len(hits), found.mean(keepdims=True), chance, limits=limits)
    else:
        yield Measured(f"{name}_top1", view, 0, np.array([]))
    decisions = _groups([frame.assign(positive=frame["client"] == frame["candidate"]) for frame in groups], clients)
    yield _measured(f"{name}_auc", view, decisions, _auc, counts, seed)


# E2: was this author in it, and how distinctive is it?


def _distinctive(
    groups: Sequence[pd.DataFrame], distinctiveness: Mapping[str, float], seed: int, draws: int
) -> Measured:
    """Return Spearman's correlation, over clients that took part, of their score and how distinctive they are."""
    frames = [frame[frame["positive"]] for frame in groups]
    mean = pd.concat(frames).groupby("client")["score"].mean() if frames else pd.Series(dtype=float)
    known = [client for client in mean.index if client in distinctiveness]
    values, limits = np.array([]), None
    if len(known) > 2:
        counts = observed_and_resampled(len(known), seed, draws)
        own = np.array([distinctiveness[client] for client in known])
        values = rank_correlation_draws(mean[known].to_numpy(), own, counts)
        limits = interval(values, len(known), CORRELATION, counts)
    return Measured("member_distinctive", "final", len(known), values, 0.0, limits=limits)


# E3: was this text trained on?


def _separated(
    name: str, view: str, groups: Sequence[pd.DataFrame], clients: Mapping[str, int], counts: np.ndarray, seed: int
) -> Iterator[Measured]:
    """Yield AUC and the true-positive rate at 1 % false positives of labelled scores."""
    decisions = _groups(groups, clients)
    yield _measured(f"{name}_auc", view, decisions, _auc, counts, seed)
    yield _measured(f"{name}_tpr", view, decisions, _tpr, counts, seed)


def _groups(frames: Sequence[pd.DataFrame], clients: Mapping[str, int]) -> list[Group]:
    return [
        Group(
            frame["score"].to_numpy(),
            frame["positive"].to_numpy(dtype=bool),
            frame["client"].map(clients).to_numpy(dtype=np.int64),
        )
        for frame in frames
    ]


def _auc(group: Group, counts: np.ndarray) -> np.ndarray:
    return auc_draws(*group, counts)


def _tpr(group: Group, counts: np.ndarray) -> np.ndarray:
    return tpr_draws(*group, counts, FALSE_POSITIVES)


def _difference(group: Group, counts: np.ndarray) -> np.ndarray:
    means = [mean_draws(group.scores[mask], group.cluster[mask], counts) for mask in (group.positive, ~group.positive)]
    return np.asarray(means[0] - means[1])


def _measured(
    metric: str, view: str, groups: Sequence[Group], statistic: Statistic, counts: np.ndarray, seed: int
) -> Measured:
    """Return the mean of a statistic over groups, in the data and in every draw of authors."""
    known = [group for group in groups if group.positive.any() and not group.positive.all()]
    n = sum(len(group.scores) for group in known)
    if not known:
        return Measured(metric, view, 0, np.array([]))
    values = mean_of_known(np.stack([statistic(group, counts) for group in known]))
    bounds = None if statistic is _difference else RATE
    generator = numpy_generator(seed, "shuffled labels", metric, view)
    one = observed(1)
    shuffled = [
        statistic(Group(group.scores, generator.permutation(group.positive), np.zeros_like(group.cluster)), one)[0]
        for group in known
        for _ in range(SHUFFLES)
    ]
    present = len(np.unique(np.concatenate([group.cluster for group in known])))
    fewest = min((~group.positive).sum() for group in known)
    why = _TOO_FEW_NEGATIVES if statistic is _tpr and (present < FEWEST or fewest < _FEWEST_NEGATIVES) else ""
    mean = float(np.mean(shuffled))
    return Measured(metric, view, n, values, mean, clusters=present, bounds=bounds, no_limits=why)


# E4: canaries. E5: canary clients.


def _exposures(canaries: pd.DataFrame) -> Iterator[Measured]:
    """Yield the mean exposure of secrets by view and repeats: view "final_16"; "initial" is before any training."""
    last = canaries[canaries["adapter"] == UPLOAD].set_index(["seed", "client"])["round"]
    server = canaries[canaries["adapter"] == SERVER]
    after = [last.get((one, client), -2) + 1 for one, client in zip(server["seed"], server["client"], strict=True)]
    views = {
        "initial": server[server["round"] == 0],
        UPLOAD: canaries[canaries["adapter"] == UPLOAD],
        "mean": server[server["round"] == after],
        "final": server[server["round"] == server.groupby("seed")["round"].transform("max")],
    }
    for view, own in views.items():
        if not len(own):
            yield Measured("canary_exposure", view, 0, np.array([]))
        for repeats, part in own.groupby("repeats"):
            number = int(part["candidates"].iloc[0])
            bits = exposure(part["rank"].to_numpy(), number)
            chance, most = (float(np.mean(exposure(ranks, number))) for ranks in (np.arange(1, number + 2), np.ones(1)))
            low, high = exponential_mean_limits(bits.mean(), len(bits))
            mean, limits = bits.mean(keepdims=True), (low, min(high, most))
            yield Measured("canary_exposure", f"{view}_{repeats}", len(part), mean, chance, most, limits)


def _epsilon(clients: pd.DataFrame, delta: float, seed: int, draws: int) -> Iterator[Measured]:
    """Yield the mean cosine of canary clients, and the least epsilon between their cosines and N(0, 1 / d).

    The bound of every seed may be wrong in one of 20 cases over the number of seeds, so that their mean is a bound of
    the mean epsilon. Beside it stands the same of canaries that took no part.
    """
    if not len(clients):
        yield from (Measured(name, "mean", 0, np.array([])) for name in ("canary_cosine", "empirical_epsilon"))
        return
    runs = [part for _, part in clients.groupby("seed")]
    cosines, bounds = [], []
    for part in runs:
        counts = observed_and_resampled(len(part), seed, draws)
        size = np.sqrt(part["dimensions"].iloc[0])
        cosines.append(counts @ part["present"].to_numpy() / len(part))
        sides = (size * part[column].to_numpy() for column in ("present", "absent"))
        bounds.append([privacy_loss_bound(side, delta, 0.05 / len(runs)) for side in sides])
    n, absent = len(clients), float(clients["absent"].mean())
    mean = np.mean(cosines, axis=0)
    yield Measured("canary_cosine", "mean", n, mean, absent, clusters=len(runs[0]), bounds=CORRELATION)
    least, by_chance = np.mean(bounds, axis=0)
    yield Measured("empirical_epsilon", "mean", n, np.array([least]), float(by_chance))


def distinctiveness(embeddings: pd.DataFrame) -> dict[str, float]:
    """Return by client 1 - cosine between the mean of its texts and that of the other clients, in the style space.

    ``embeddings``: table ``source_embeddings``, kind train.
    """
    train = embeddings[embeddings["kind"] == "train"]
    centres = {
        str(client): unit_rows(unit_rows(np.stack(list(own["embedding"])).astype(np.float64)).mean(axis=0))
        for client, own in train.groupby("client")
    }
    total = np.sum(list(centres.values()), axis=0)
    return {client: 1.0 - float(unit_rows(total - centre) @ centre) for client, centre in centres.items()}
