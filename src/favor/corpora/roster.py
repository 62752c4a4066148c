"""Which author plays which part: clients, the authors of two style encoders, background; disjoint, style-diverse.

The paper samples "a style-diverse 50-author roster" of authors with at least 30K tokens and trains ASCE-A and ASCE-B
on authors disjoint from it and from each other.
"""

import sys
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, zip_longest
from pathlib import Path
from typing import Any, Self

import numpy as np
import pandas as pd
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits

from favor.corpora.author_measures import failing
from favor.corpora.authors import Suits, shortcomings, suits_by
from favor.corpora.documents import stream_documents, text_digest
from favor.corpora.near_duplicates import copies_between
from favor.corpora.schemas import AUTHOR_MEASURES, AUTHORS, SPLITS, SUITABILITY
from favor.corpora.settings import Roster
from favor.corpora.shortage import ShortageError
from favor.corpora.style_features import standardise, style_features
from favor.foundation.errors import UserError
from favor.foundation.names import counted
from favor.foundation.parquet import read_parquet
from favor.foundation.seeds import derive_seed

PARTS = ("client", "asce_a", "asce_b")
ROLES = (*PARTS, "background")  # the roles whose texts are used
FEATURE_WORDS = 20_000  # of an author's training text, from which style is measured


def select_roster(
    authors: pd.DataFrame,
    splits: pd.DataFrame,
    background: Sequence[str],
    documents: Path,
    settings: Roster,
    filtered: Collection[str] = (),
    suits: Sequence[Suits] = (lambda _author, _place: True,),
) -> pd.DataFrame:
    """Return the ``roster`` table: every author's role, and the client names in selection order.

    ``authors``: the table with tokens counted; an author absent from ``splits`` has too few documents;
    ``background``: names of the background authors; ``documents``: the table's file, for the style features;
    ``filtered``: authors whom a filter keeps from every role but the background.

    Authors of one cluster are dealt in turn to the three roles, and each role takes its own round robin over the
    clusters. So the first n clients of a longer roster are the shorter roster, and the encoders' authors do not
    depend on the number of clients. An author who does not suit a client's place is passed over for it, which moves no
    one who does. ``suits``: the strictest sense first; a further one counts where too few authors suit in those
    before. Raises ``ShortageError`` where there are fewer eligible authors than are needed.
    """
    roster = authors.assign(role="unused", client="", cluster=-1).set_index("author", drop=False).sort_index()
    enough = (roster["tokens"] >= settings.minimum_tokens) & roster.index.isin(splits["author"].unique())
    roster.loc[~enough, "role"] = "too_small"
    roster.loc[enough & roster.index.isin(list(filtered)), "role"] = "filtered"
    roster.loc[roster.index.isin(list(background)), "role"] = "background"
    eligible = roster.index[roster["role"] == "unused"].tolist()
    roles = settings.roles
    needed = roles.clients + roles.asce_a + roles.asce_b
    if len(eligible) < needed:
        raise ShortageError(*_shortages(roster, splits, settings, suits[-1]))
    clusters = dict.fromkeys(eligible, -1)
    if settings.selection == "style_diverse" and eligible:
        clusters = _clusters(eligible, splits, documents, settings)
        roster.loc[eligible, "cluster"] = [clusters[author] for author in eligible]
    for role, members in _deal(clusters, settings, suits).items():
        roster.loc[members, "role"] = role
        if role == "client":
            roster.loc[members, "client"] = [f"client_{number:03d}" for number in range(1, len(members) + 1)]
    return roster.reset_index(drop=True).astype({"cluster": "int32", "documents": "int32"})


def _shortages(roster: pd.DataFrame, splits: pd.DataFrame, settings: Roster, suits: Suits) -> Iterator[str]:
    """Yield a line on too few eligible authors, and one on too few who could be clients if they had no other role."""
    roles, count = settings.roles, roster["role"].value_counts()
    tokens, documents = roster["tokens"] >= settings.minimum_tokens, roster.index.isin(splits["author"].unique())
    yield (
        f"roster: {count.get('unused', 0)} authors have {settings.minimum_tokens:,} tokens and enough documents, "
        f"{roles.clients + roles.asce_a + roles.asce_b} are needed ({roles.clients} clients, {roles.asce_a} asce_a, "
        f"{roles.asce_b} asce_b, beside {count.get('background', 0)} background authors and "
        f"{count.get('filtered', 0)} that 'filters' leave out); of all {len(roster)} authors {tokens.sum()} have the "
        f"tokens and {documents.sum()} the documents; lower 'roles.clients', 'roles.asce_a', 'roles.asce_b', "
        "'minimum_tokens' or 'minimum_posts' of the corpus"
    )
    large = roster.index[tokens & documents & (roster["role"] != "filtered")]
    places = range(1, roles.clients + 1)
    able = sum(any(suits(author, place) for place in places) for author in large)
    if len(large) and able < roles.clients:
        yield _few_clients(able, len(large), settings)


def _few_clients(able: int, of: int, settings: Roster) -> str:
    roles = settings.roles
    return (
        f"roster: {able} of {of} eligible authors can be clients, {roles.clients} are needed (beside "
        f"{roles.asce_a} asce_a, {roles.asce_b} asce_b); the others have too few test posts that are long enough "
        f"for prompts, or too few training texts (see the log); lower 'roles.clients' of the corpus to {able}, or "
        "'prompts.minimum_per_client', 'prompts.prefix_tokens', 'prompts.minimum_gold_tokens', 'allocation.shots' or "
        "'allocation.reference_texts' of the experiments; writing prompts of a corpus must be shorter than "
        "'prompts.prefix_tokens': raise it where they are not"
    )


def _clusters(eligible: Sequence[str], splits: pd.DataFrame, documents: Path, settings: Roster) -> dict[str, int]:
    train = set(splits.loc[splits["split"] == "train", "document_id"])
    texts: dict[str, list[str]] = {author: [] for author in eligible}
    words = dict.fromkeys(eligible, 0)
    for batch in stream_documents(documents, ("author", "document_id", "text", "words")):
        for author, document, text, count in batch.itertuples(index=False, name=None):
            if author in texts and document in train and words[author] < FEATURE_WORDS:
                texts[author].append(text)
                words[author] += count
    features = standardise(np.stack([style_features("\n".join(texts[author])) for author in eligible]))
    if settings.style_clusters > len(eligible):
        print(
            f"roster: {len(eligible)} eligible authors are too few for {settings.style_clusters} style clusters",
            file=sys.stderr,
        )
    kmeans = KMeans(
        n_clusters=min(settings.style_clusters, len(eligible)),
        n_init=10,
        random_state=derive_seed(settings.seed, "roster clusters") % 2**32,
    )
    with threadpool_limits(1):  # sums in the order of threads would make the clusters depend on their number
        labels = kmeans.fit_predict(features)
    return dict(zip(eligible, labels.tolist(), strict=True))


def _deal(clusters: dict[str, int], settings: Roster, suits: Sequence[Suits]) -> dict[str, list[str]]:
    """Return the authors of each part in selection order; ``clusters``: cluster of every eligible author."""
    members: dict[int, list[str]] = {}
    for author in sorted(clusters, key=lambda name: (derive_seed(settings.seed, "roster order", name), name)):
        members.setdefault(clusters[author], []).append(author)
    order = sorted(members, key=lambda cluster: derive_seed(settings.seed, "roster cluster order", cluster))
    hands: dict[str, list[str]] = {}
    for place, part in enumerate(PARTS):
        piles = [members[cluster][(place - shift) % 3 :: 3] for shift, cluster in enumerate(order)]
        hands[part] = [author for row in zip_longest(*piles) for author in row if author is not None]
    parts: dict[str, list[str]] = {}
    places = range(1, settings.roles.clients + 1)
    for number, sense in enumerate(suits):
        if number:
            print(
                f"roster: too few authors give all prompts for {settings.roles.clients} clients, so some give fewer",
                file=sys.stderr,
            )
        everywhere = {author for author in clusters if all(sense(author, place) for place in places)}
        # A preference moves no author of an encoder; what the clients cannot do without does.
        for spared in (frozenset[str](), everywhere)[: 1 + (number == len(suits) - 1)]:
            parts = _share_out(hands, settings, sense, spared)
            if len(parts["client"]) == settings.roles.clients:
                return parts
    raise ShortageError(_few_clients(len(parts["client"]), len(clusters), settings))


def _share_out(
    hands: dict[str, list[str]], settings: Roster, suits: Suits, spared: Collection[str]
) -> dict[str, list[str]]:
    """Return the authors of each part; the encoders take those of ``spared`` last."""

    def encoder(number: int, hand: str, other: str, taken: Sequence[str] = ()) -> list[str]:
        order = [*hands[hand], *reversed(hands["client"]), *hands[other]]
        return _first(number, sorted(order, key=lambda author: author in spared), without=taken)

    asce_a = encoder(settings.roles.asce_a, "asce_a", "asce_b")
    asce_b = encoder(settings.roles.asce_b, "asce_b", "asce_a", asce_a)
    left = _first(sum(map(len, hands.values())), *hands.values(), without={*asce_a, *asce_b})
    clients: list[str] = []
    for place in range(1, settings.roles.clients + 1):
        author = next((author for author in left if suits(author, place)), None)
        if author is None:
            break
        clients.append(author)
        left.remove(author)
    return {"client": clients, "asce_a": asce_a, "asce_b": asce_b}


def _first(number: int, *sources: Iterable[str], without: Iterable[str] = ()) -> list[str]:
    taken = set(without)
    return [author for source in sources for author in source if author not in taken][:number]


def measure_overlap(
    roster: pd.DataFrame, documents: Path, near_duplicates: pd.DataFrame | None = None, threshold: float = 1.0
) -> pd.DataFrame:
    """Return the ``overlap`` table: authors, identical texts and near copies that two roles share, for every pair.

    ``near_duplicates``: the table of that name, made at ``threshold``; None where none were looked for. Near copies
    stay, because both authors did post them, and are counted in the report. Raises ``UserError`` where an author or a
    text is shared, naming the first pair: no result would mean anything.
    """
    role_of = {author: role for author, role in zip(roster["author"], roster["role"], strict=True) if role in ROLES}
    authors = {role: set(roster.loc[roster["role"] == role, "author"]) for role in ROLES}
    texts: dict[str, set[bytes]] = {role: set() for role in ROLES}
    for batch in stream_documents(documents, ("author", "text")):
        for author, text in batch.itertuples(index=False, name=None):
            if author in role_of:
                texts[role_of[author]].add(text_digest(text.encode()))
    pairs: Mapping[tuple[str, str], int] = defaultdict(lambda: -1)
    if near_duplicates is not None:
        pairs = copies_between(documents, near_duplicates, role_of, threshold)
    rows = [
        (left, right, len(authors[left] & authors[right]), len(texts[left] & texts[right]), pairs[left, right])
        for left, right in combinations(sorted(ROLES), 2)
    ]
    overlap = pd.DataFrame(rows, columns=["left", "right", "shared_authors", "shared_documents", "near_copies"])
    shared = overlap[(overlap["shared_authors"] > 0) | (overlap["shared_documents"] > 0)]
    if len(shared):
        first = shared.iloc[0]
        raise UserError(
            f"{documents}: roles {first['left']} and {first['right']} share {first['shared_authors']} authors and "
            f"{first['shared_documents']} documents; rebuild the documents, which drops identical posts"
        )
    return overlap.astype(dict.fromkeys(("shared_authors", "shared_documents", "near_copies"), "int32"))


@dataclass(frozen=True)
class Measured:
    """A corpus before roles are given: its documents (a file), its tables, and the names of background authors.

    ``measures``: the table ``author_measures`` where the configuration filters by it, else None.
    """

    documents: Path
    authors: pd.DataFrame
    splits: pd.DataFrame
    suitability: pd.DataFrame
    background: list[str]
    measures: pd.DataFrame | None

    @classmethod
    def read(cls, files: Any) -> Self:
        """Read the inputs of a job, by their names in its rule."""
        measures = [read_parquet(path, AUTHOR_MEASURES) for path in files.measures]
        return cls(
            Path(files.documents),
            read_parquet(files.authors, AUTHORS),
            read_parquet(files.splits, SPLITS),
            read_parquet(files.suitability, SUITABILITY),
            [name for path in files.background for name in read_parquet(path, AUTHORS)["author"]],
            measures[0] if measures else None,
        )


def assign_roles(measured: Measured, settings: Roster) -> pd.DataFrame:
    """Return the ``roster`` table under ``settings``; say on standard error who is left out, and why.

    Raises ``UserError`` where too few authors are left.
    """
    filtered: set[str] = set()
    if measured.measures is not None:
        for name, fails in failing(measured.measures, settings.filters).items():
            print(f"filter {name}: {fails.sum()} of {len(measured.measures)} authors left out", file=sys.stderr)
            filtered.update(measured.measures.loc[fails, "author"])
    suitability = measured.suitability
    free = suitability[~suitability["author"].isin([*measured.background, *filtered])]
    for row in shortcomings(free).query("authors > 0").itertuples():
        print(f"{row.experiment}: {counted(int(str(row.authors)), 'author')} with {row.reason}", file=sys.stderr)
    suits = [suits_by(suitability, "preferred_prompts"), suits_by(suitability, "minimum_prompts")]
    return select_roster(
        measured.authors, measured.splits, measured.background, measured.documents, settings, filtered, suits
    )
