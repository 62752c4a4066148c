"""Likelihood family: what every client's final model knows of its author, read off texts that it has not seen.

With s[i, t] the log-likelihood of text t under client i's model and s[0, t] under the base model, the gain of a text is
(s[i, t] - s[0, t]) / tokens of t, in nats per token, and g[i, j] the gain of all texts of author j together. Own gain:
g[j, j]. Others' gain: the mean of g[i, j] over i != j. Voice gain: own - others', on the same texts, so that what makes
a text easy cancels; in the mean over authors so does what makes an adapter good at every text.

Attribution: each text goes to the adapter with the largest gain, after each adapter's mean gain over all texts is taken
off. Adapters that are equally good share the hit, so that one model for all is at chance exactly. The perplexity of a
model per candidate author attributes texts in Huang, Murakami and Grieve (2024); here the models are those of the
method, and what is measured is the method.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import pandas as pd

from favor.corpora.posts import UNKNOWN_TOPIC
from favor.scores.metric import ALL_SEEDS, Metric, Score, scores_frame
from favor.statistics.bootstrap import (
    RATE,
    around,
    auc_draws,
    interval,
    mean_draws,
    mean_of_known,
    observed_and_resampled,
)
from favor.statistics.differences import compare

NEEDS = "evaluation.likelihood"  # key of an experiment without which nothing is scored
# Gains nearer than this, in nats per token, are equal: equal adapters read a text alike but for rounding.
EQUAL = 1e-5
# With fewer tokens of function words and marks than this share, the list of function words is of another language.
LEAST_FUNCTION_SHARE = 0.2
SHARED = "one model for all: at chance by construction"
_ONE = "one model for all: one value, and nothing to take an interval over"
_BOUNDS = dict.fromkeys(("likelihood_top1", "likelihood_mrr", "likelihood_auc"), RATE)
TESTED = ("likelihood_own_gain", "likelihood_voice_gain", "likelihood_top1")  # compared between every two rows

_INFINITE = float("inf")
_NATS = "nats per token"
_ALM = "after Huang, Murakami and Grieve 2024"
METRICS = (
    Metric("likelihood_own_gain", "Own gain", -_INFINITE, _INFINITE, "higher",
        "log-likelihood of an author's unseen texts under the own adapter minus under the base; mean over authors",
        _NATS),
    Metric("likelihood_others_gain", "Others' gain", -_INFINITE, _INFINITE, "none",
        "the same under the adapters of the other clients; below 0 they predict the author worse than the base", _NATS),
    Metric("likelihood_voice_gain", "Voice gain", -_INFINITE, _INFINITE, "higher",
        "own gain minus others' gain. It rises when others' texts are forgotten: read it where the own gain is above 0",
        _NATS),
    Metric("likelihood_top1", "Attribution top-1", 0.0, 1.0, "higher",
        f"share of an author's texts whose own adapter gains most, less its mean; mean over authors; {_ALM}"),
    Metric("likelihood_mrr", "Attribution MRR", 0.0, 1.0, "higher",
        "mean of 1 / rank of the own author's adapter, over the ranks that equal adapters share; mean over authors"),
    Metric("likelihood_auc", "Attribution AUC", 0.0, 1.0, "higher",
        "how often an adapter gains more on its author's text than one on another author's, less each adapter's mean"),
    Metric("likelihood_neutral_gain", "Neutral gain", -_INFINITE, _INFINITE, "higher",
        "log-likelihood of neutral sentences under an adapter minus under the base; below 0 it has forgotten", _NATS),
    Metric("likelihood_gain", "Gain by adapter and author", -_INFINITE, _INFINITE, "none",
        "log-likelihood of an author's texts minus that under the base; the variant is the adapter's client~the author",
        _NATS, per_client=True),
    Metric("likelihood_author_voice_gain", "Voice gain by author", -_INFINITE, _INFINITE, "higher",
        "own gain minus others' gain of one author's texts; the variant is the client", _NATS, per_client=True),
    Metric("likelihood_author_top1", "Attribution top-1 by author", 0.0, 1.0, "higher",
        "share of one author's texts that go to the own adapter; the variant is the client", per_client=True),
    Metric("likelihood_topic", "Topic", 0.0, _INFINITE, "none",
        "number of the topic of an author among the clients' topics; the variant is the client", per_client=True),
)  # fmt: skip
_DECLARED = {metric.name: metric for metric in METRICS}
_SCORED = tuple(metric for metric in METRICS if not metric.per_client)
_GAINS = ("likelihood_own_gain", "likelihood_others_gain", "likelihood_voice_gain")


@dataclass(frozen=True)
class Reading:
    """One run: gains of texts under the clients' models.

    clients: whose texts and models there are, in name order. readers: places in ``clients`` of those with a model.
    writers [texts]: place of each text's author. summed [readers, texts]: s[i, t] - s[0, t]. sizes [texts]: of each
    text. topics: by client. shared: whether all models are one.
    """

    clients: Sequence[str]
    readers: np.ndarray
    writers: np.ndarray
    summed: np.ndarray
    sizes: np.ndarray
    topics: Sequence[str]

    @property
    def shared(self) -> bool:
        """Whether all models read every text alike."""
        gains = self.gains
        return bool(gains.size and (np.ptp(gains, axis=0) <= EQUAL).all())

    @property
    def gains(self) -> np.ndarray:
        """Gain of every text, [readers, texts]."""
        return self.summed / self.sizes

    @property
    def centred(self) -> np.ndarray:
        """Gains [readers, texts], less each adapter's mean over all texts."""
        return self.gains - self.gains.mean(axis=1, keepdims=True)

    def same_topic(self, author: int, other: int) -> bool:
        """Whether two authors write about one topic that is known."""
        topic = self.topics[author]
        return topic not in ("", UNKNOWN_TOPIC) and topic == self.topics[other]

    def matrix(self) -> np.ndarray:
        """Return g [clients, clients]: row i reads author j; NaN without a model or a text."""
        number = len(self.clients)
        found = np.full((number, number), np.nan)
        for writer in np.unique(self.writers):
            own = self.writers == writer
            found[self.readers, writer] = self.summed[:, own].sum(axis=1) / self.sizes[own].sum()
        return found


def reading(
    frame: pd.DataFrame, clients: Sequence[str], kind: str = "client", value: str = "", size: str = "tokens"
) -> Reading:
    """Return the texts of ``kind`` in one run's rows of the table ``likelihood``.

    value: prefix of the columns that are read ("function_": tokens of no content word). size: column that a gain is
    divided by. Texts of size 0 are left out.
    """
    own = frame[(frame["kind"] == kind) & (frame[size] > 0)]
    gain = own[f"{value}log_likelihood"] - own[f"{value}base"]
    table = own.assign(gain=gain).pivot(index="client", columns=["writer", "text"], values="gain")
    sizes = own.drop_duplicates(["writer", "text"]).set_index(["writer", "text"])[size].loc[list(table.columns)]
    place = {client: number for number, client in enumerate(clients)}
    topics = dict(zip(frame["client"], frame["client_topic"], strict=True))
    return Reading(
        clients,
        np.array([place[client] for client in table.index], dtype=np.int64),
        np.array([place.get(str(column[0]), -1) for column in table.columns], dtype=np.int64),
        table.to_numpy(dtype=np.float64).reshape(len(table.index), len(table.columns)),
        sizes.to_numpy(dtype=np.float64),
        [topics.get(client, "") for client in clients],
    )


def attributed(found: Reading, same_topic: bool = False) -> pd.DataFrame:
    """Return of every text whose author has a model: writer (place), top1, mrr and what chance gives of both.

    ``same_topic``: among the adapters of authors of its author's topic alone; a text without a second one is left out.
    """
    centred, rows = found.centred, []
    for text, writer in enumerate(found.writers):
        own = np.flatnonzero(found.readers == writer)
        asked = np.arange(len(found.readers))
        if same_topic:
            asked = np.array([at for at in asked if found.same_topic(writer, found.readers[at])], dtype=int)
        if not len(own) or len(asked) < 2:
            continue
        scores = centred[asked, text]
        better = int((scores > centred[own[0], text] + EQUAL).sum())
        equal = int((np.abs(scores - centred[own[0], text]) <= EQUAL).sum())
        ranks, every = np.arange(better + 1, better + equal + 1), np.arange(1, len(asked) + 1)
        hit = 0.0 if better else 1.0 / equal
        rows.append((writer, hit, float((1 / ranks).mean()), 1.0 / len(asked), float((1 / every).mean())))
    return pd.DataFrame(rows, columns=["writer", "top1", "mrr", "top1_chance", "mrr_chance"])


def by_author(found: Reading, same_topic: bool = False) -> dict[str, np.ndarray]:
    """Return every statistic of each author, arrays [clients] by metric and by "{metric}:chance"; NaN for none.

    ``same_topic``: others are authors of the same topic alone.
    """
    matrix, number = found.matrix(), len(found.clients)
    own = np.diag(matrix).copy()
    others = np.full(number, np.nan)
    for writer in range(number):
        rest = [
            place for place in range(number) if place != writer and (not same_topic or found.same_topic(writer, place))
        ]
        known = matrix[rest, writer]
        known = known[np.isfinite(known)]
        if len(known):
            others[writer] = known.mean()
    if found.shared:
        others = np.where(np.isfinite(others), own, np.nan)  # but for rounding
    means = attributed(found, same_topic).astype(float).groupby("writer").mean().reindex(range(number))
    return {
        "likelihood_own_gain": own,
        "likelihood_others_gain": others,
        "likelihood_voice_gain": own - others,
        "likelihood_top1": means["top1"].to_numpy(),
        "likelihood_mrr": means["mrr"].to_numpy(),
        "likelihood_top1:chance": means["top1_chance"].to_numpy(),
        "likelihood_mrr:chance": means["mrr_chance"].to_numpy(),
    }


def auc_of(found: Reading, counts: np.ndarray) -> np.ndarray:
    """Return the verification AUC in every draw of authors: is a model its author's, by the centred gain of a text?"""
    kept = np.isin(found.writers, found.readers)
    scores, writers = found.centred[:, kept], np.broadcast_to(found.writers[kept], (len(found.readers), kept.sum()))
    positive = found.readers[:, None] == writers
    if found.shared:
        # The same gains stand for every reader: what is left of their differences is rounding.
        scores = np.broadcast_to(scores.mean(axis=0), scores.shape)
    return auc_draws(scores.ravel(), positive.ravel(), writers.ravel(), counts)


def likelihood_scores(
    readings: pd.DataFrame,
    clients: Sequence[str],
    methods: Sequence[str],
    without: Mapping[str, str],
    seed: int,
    draws: int,
) -> pd.DataFrame:
    """Return the scores of every row in ``methods``; ``readings``: the table ``likelihood`` of all runs.

    clients: of the experiment. without: why a row has no likelihoods. All seeds stand together (``ALL_SEEDS``): an
    author's values are averaged over seeds first, and authors are the clusters of every interval and test. Variants:
    "" and "bits_per_character", "same_topic", "function_words"; each with "_low" and "_high"; "chance"; and
    "minus:{method}" of the metrics ``TESTED``, with "_low", "_high" and "_p": a table corrects those that it prints.
    ``seed`` and ``draws``: of the bootstrap.
    """
    clients = sorted(clients)
    counts = observed_and_resampled(len(clients), seed, draws)
    scores: list[Score] = []
    authors: dict[str, dict[str, np.ndarray]] = {}
    for method in methods:
        runs = [own for _, own in readings[readings["method"] == method].groupby("seed")]
        if not runs:
            note = without.get(method, "no likelihoods were read")
            scores += [Score(ALL_SEEDS, method, "", metric.name, "", np.nan, 0, note) for metric in _SCORED]
            continue
        rows, own = _method_scores(method, runs, clients, counts)
        scores += rows
        authors[method] = own
    scores += _comparisons(authors, counts, seed)
    return scores_frame(scores)


def _method_scores(
    method: str, runs: Sequence[pd.DataFrame], clients: Sequence[str], counts: np.ndarray
) -> tuple[list[Score], dict[str, np.ndarray]]:
    """Return the scores of one row, and the authors' values of its metrics, [seeds, clients]."""
    plain = [reading(run, clients) for run in runs]
    if not any(len(one.writers) for one in plain):
        note = "no client has a held-out text that is long enough and gave no prompt"
        missing = [Score(ALL_SEEDS, method, "", metric.name, "", np.nan, 0, note) for metric in _SCORED[:-1]]
        return [*missing, *_neutral(method, runs, clients, counts)], {}
    shared = all(one.shared for one in plain)
    in_bits = [reading(run, clients, size="characters") for run in runs]
    whole = tuple(metric.name for metric in _SCORED[:6])
    masked = [reading(run, clients, value="function_", size="function_tokens") for run in runs]
    in_bits = [replace(one, summed=one.summed / np.log(2)) for one in in_bits]
    variants: dict[str, tuple[list[Reading], bool, Sequence[str], str]] = {
        "": (plain, False, whole, ""),
        "same_topic": (plain, True, whole[1:5], "no two authors share a topic"),
        "function_words": (masked, False, whole, _function_note(runs)),
        "bits_per_character": (in_bits, False, _GAINS, ""),
    }
    scores: list[Score] = []
    of_authors: dict[str, np.ndarray] = {}
    for variant, (found, same_topic, metrics, note) in variants.items():
        each = [by_author(one, same_topic) for one in found]
        values = {name: np.stack([one[name] for one in each]) for name in each[0]}
        why = note or "no author has both texts and a model of its own, with others to compare it with"
        for metric in metrics:
            own = values["likelihood_own_gain" if metric == "likelihood_auc" else metric]
            chance = values.get(f"{metric}:chance")
            if variant == "function_words" and note:
                drawn = np.full((1, len(counts)), np.nan)
                chance = None if chance is None else np.full_like(chance, np.nan)
            elif metric == "likelihood_auc":
                areas = np.stack([auc_of(one, counts) for one in found])
                drawn = around(mean_of_known(areas), areas)
            else:
                drawn = _drawn(own, counts)
            n, fixed = _texts(found, own), SHARED if shared and metric not in _GAINS[:2] else ""
            scores += _with_interval(method, metric, variant, drawn, _present(own), n, why, fixed)
            if chance is not None:
                name = f"{variant}_chance".strip("_")
                scores.append(_score(method, metric, name, float(_means(mean_of_known(chance), counts[:1])[0]), n, why))
        if variant == "":
            of_authors = {name: own for name, own in values.items() if ":" not in name}
            texts = np.bincount(np.concatenate([one.writers for one in found]), minlength=len(clients)).tolist()
            for name in ("voice_gain", "top1"):
                of_each = zip(clients, mean_of_known(of_authors[f"likelihood_{name}"]), texts, strict=True)
                scores += [_score(method, f"likelihood_author_{name}", *one, why) for one in of_each]
    scores.append(Score(ALL_SEEDS, method, "", "likelihood_auc", "chance", 0.5, 0))
    scores += _neutral(method, runs, clients, counts)
    scores += _map(method, plain)
    return scores, of_authors


def _texts(found: Sequence[Reading], values: np.ndarray) -> int:
    """Return how many texts are behind ``values`` [runs, clients]: those of the authors who have one."""
    return sum(int(np.isfinite(own)[one.writers].sum()) for one, own in zip(found, values, strict=True))


def _map(method: str, found: Sequence[Reading]) -> Iterator[Score]:
    """Yield the gain of every adapter on every author's texts, means over seeds, and the authors' topics."""
    clients, topics = found[0].clients, sorted(set(found[0].topics))
    matrix = mean_of_known(np.stack([one.matrix() for one in found]))
    texts = np.bincount(np.concatenate([one.writers for one in found]), minlength=len(clients))
    for (reader, writer), value in np.ndenumerate(matrix):
        name = f"{clients[reader]}~{clients[writer]}"
        yield _score(method, "likelihood_gain", name, float(value), int(texts[writer]), "no model, or no text")
    for place, client in enumerate(clients):
        topic = float(topics.index(found[0].topics[place]))
        yield Score(ALL_SEEDS, method, "", "likelihood_topic", client, topic, int(texts[place]))


def _function_note(runs: Sequence[pd.DataFrame]) -> str:
    """Return why content words cannot be masked: the list of function words is English."""
    own = pd.concat(runs)
    own = own[own["kind"] == "client"]
    if own["function_tokens"].sum() < LEAST_FUNCTION_SHARE * own["tokens"].sum():
        return "content words cannot be told: the list of function words is English, and few tokens are in it"
    return ""


def _neutral(method: str, runs: Sequence[pd.DataFrame], clients: Sequence[str], counts: np.ndarray) -> Iterator[Score]:
    """Yield the gain on neutral sentences: of each adapter, means over seeds; adapters are the clusters."""
    note = "no neutral sentences were read (evaluation.likelihood.neutral)"
    for variant, size in (("", "tokens"), ("bits_per_character", "characters")):
        values, n, shared = [], 0, True
        for run in runs:
            found = reading(run, clients, "neutral", size=size)
            own = np.full(len(clients), np.nan)
            if found.sizes.size:
                own[found.readers] = found.summed.sum(axis=1) / found.sizes.sum()
                shared = shared and found.shared
            values.append(own / (np.log(2) if variant else 1.0))
            n += len(found.sizes)
        of_seeds = np.stack(values)
        drawn, present = _drawn(of_seeds, counts), _present(of_seeds)
        fixed = _ONE if shared else ""
        yield from _with_interval(method, "likelihood_neutral_gain", variant, drawn, present, n, note, fixed)


def _drawn(values: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return the mean over authors of values [seeds, clients] in every draw, by seed: [seeds, draws]."""
    return around(_means(mean_of_known(values), counts), (_means(own, counts) for own in values))


def _present(values: np.ndarray) -> int:
    """Return how many authors have a value in some seed: the clusters of an interval."""
    return int(np.isfinite(values).any(axis=0).sum())


def _means(values: np.ndarray, counts: np.ndarray) -> np.ndarray:
    known = np.flatnonzero(np.isfinite(values))
    if not len(known):
        return np.full(len(counts), np.nan)
    return mean_draws(values[known], known, counts)


def _score(method: str, metric: str, variant: str, value: float, n: int, why: str) -> Score:
    return Score(ALL_SEEDS, method, "", metric, variant, value, n, why)


def _with_interval(
    method: str, metric: str, variant: str, drawn: np.ndarray, authors: int, n: int, why: str, fixed: str
) -> Iterator[Score]:
    """Yield a value and its ends. ``fixed``: why it is one by construction, and has no interval."""
    known = bool(np.isfinite(drawn[:, 0]).all() and np.isfinite(drawn[:, 1:]).all(axis=0).any())
    ends = interval(drawn, authors, _BOUNDS.get(metric)) if known and not fixed else (np.nan, np.nan)
    score = _score(method, metric, variant, float(drawn[:, 0].mean()), n, why)
    yield from (score, *score.ends(ends, (fixed or "one author: there is no interval over authors") if known else why))


def _comparisons(authors: Mapping[str, Mapping[str, np.ndarray]], counts: np.ndarray, seed: int) -> Iterator[Score]:
    """Yield the difference of every two rows, over authors that both have."""
    for metric in TESTED:
        span = _DECLARED[metric].maximum - _DECLARED[metric].minimum
        for left, right in combinations([method for method in authors if authors[method]], 2):
            sides = authors[left][metric], authors[right][metric]
            means = [mean_of_known(side) for side in sides]
            both = np.isfinite(means[0]) & np.isfinite(means[1])
            first, second = (_drawn(np.where(both, side, np.nan), counts) for side in sides)
            shares = np.where(both, means[0] - means[1], 0.0)
            result = compare(first, second, both, counts, shares, seed, span=span)
            numbers = {"": result.delta, "_low": result.low, "_high": result.high, "_p": result.p}
            for end, value in numbers.items():
                note = "needs two authors with a value in both rows"
                yield _score(left, metric, f"minus:{right}{end}", value, int(both.sum()), note)
