"""How much of a coordinate's variance authors explain within topics, and how much topics explain: omega squared."""

from dataclasses import dataclass

import numpy as np

from favor.corpora.posts import UNKNOWN_TOPIC
from favor.foundation.seeds import numpy_generator

MINIMUM_AUTHORS = 3  # a topic with fewer authors is not a stratum


@dataclass(frozen=True)
class EffectSizes:
    """omega squared of author within topic and of topic, [k] each, of the k ``coordinates`` that vary within topics."""

    coordinates: np.ndarray
    author: np.ndarray
    topic: np.ndarray
    texts: int

    @property
    def ratio(self) -> float:
        """Author/topic ratio: mean author effect over mean topic effect."""
        return float(self.author.mean() / self.topic.mean())

    @property
    def mean_of_ratios(self) -> float:
        """Mean over coordinates of author over topic effect, where the topic effect is positive."""
        usable = self.topic > 0
        return float((self.author[usable] / self.topic[usable]).mean()) if usable.any() else float("nan")

    @property
    def slope(self) -> float:
        """Slope of the line through the origin that fits topic effects on author effects by least squares."""
        return float((self.author * self.topic).sum() / (self.author**2).sum())


def omega_squared(vectors: np.ndarray, groups: np.ndarray, strata: np.ndarray | None = None) -> np.ndarray:
    """omega^2 = (SSb - dfb MSw) / (SSt + MSw) of every coordinate of ``vectors`` [n, d], for ``groups`` [n].

    With ``strata`` [n], groups are compared within strata: sums of squares and degrees of freedom are added over them,
    and the total is the sum within strata. Needs more rows than groups.
    """
    layers = np.zeros(len(groups), dtype=np.int64) if strata is None else np.unique(strata, return_inverse=True)[1]
    names = np.array([f"{layer}\t{group}" for layer, group in zip(layers, groups, strict=True)])
    group = np.unique(names, return_inverse=True)[1]
    within = ((vectors - _means(vectors, group)[group]) ** 2).sum(axis=0)
    total = ((vectors - _means(vectors, layers)[layers]) ** 2).sum(axis=0)
    between_freedom = (group.max() + 1) - (layers.max() + 1)
    mean_within = within / (len(groups) - (group.max() + 1))
    with np.errstate(invalid="ignore"):  # a coordinate that never varies has no effect: NaN
        effect: np.ndarray = (total - within - between_freedom * mean_within) / (total + mean_within)
    return effect


def effect_sizes(vectors: np.ndarray, authors: np.ndarray, topics: np.ndarray) -> EffectSizes | None:
    """Return the effects over the topics of at least 3 authors, the unknown topic left out.

    A coordinate that is constant within every topic has no effect and is left out. None where fewer than two topics,
    no second text of an author on a topic, or no coordinate is left.
    """
    kept = [
        topic
        for topic in np.unique(topics)
        if topic != UNKNOWN_TOPIC and len(np.unique(authors[topics == topic])) >= MINIMUM_AUTHORS
    ]
    if len(kept) < 2:
        return None
    use = np.isin(topics, kept)
    vectors, authors, topics = vectors[use], authors[use], topics[use]
    if len(vectors) <= len(set(zip(topics.tolist(), authors.tolist(), strict=True))):
        return None  # one text for every author of a topic: nothing varies within
    author, topic = omega_squared(vectors, authors, topics), omega_squared(vectors, topics)
    kept_topics = [vectors[topics == name] for name in kept]
    varying = np.any([np.ptp(rows, axis=0) > 0 for rows in kept_topics], axis=0) & np.isfinite(author + topic)
    places = np.flatnonzero(varying)
    return EffectSizes(places, author[places], topic[places], len(vectors)) if len(places) else None


def permuted_author_effect(
    vectors: np.ndarray, authors: np.ndarray, topics: np.ndarray, seed: int, draws: int
) -> np.ndarray:
    """Mean author effect [draws] when the author labels are shuffled over the texts of each topic: the null."""
    values = []
    for draw in range(draws):
        generator = numpy_generator(seed, "author permutation", draw)
        shuffled = authors.copy()
        for topic in np.unique(topics):
            members = np.flatnonzero(topics == topic)
            shuffled[members] = authors[generator.permutation(members)]
        found = effect_sizes(vectors, shuffled, topics)
        values.append(float("nan") if found is None else float(found.author.mean()))
    return np.array(values)


def _means(vectors: np.ndarray, labels: np.ndarray) -> np.ndarray:
    sums = np.zeros((labels.max() + 1, vectors.shape[1]))
    np.add.at(sums, labels, vectors)
    return sums / np.bincount(labels)[:, None]
