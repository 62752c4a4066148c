"""Data preparation in numbers: what was kept and why not, who took which role, how much each client may learn from."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from favor.corpora.allocation import gini, missed_targets
from favor.corpora.author_measures import LIMITS, STYLE_CHANGE
from favor.federation.settings import Tuned
from favor.paper.names import method_name, unmarked
from favor.report.content import Preparation

ROLE_NAMES = {
    "client": "Clients of the federation",
    "asce_a": "Style encoder (ASCE-A)",
    "asce_b": "Independent style encoder (ASCE-B)",
    "background": "Background of the base model",
    "unused": "Unused",
    "filtered": "Left out by a filter",
    "too_small": "Too small",
}
_NEAR_DUPLICATES = (
    "Posts with a near duplicate in the corpus, by where that is (a post may count in several columns); unless the "
    "configuration keeps them, test posts among them give no prompts"
)
_MEASURES = (
    "Authors large enough for a role, by what would make one doubt that their posts are one person's prose in one "
    "language; they take part unless the configuration filters them"
)


def blocks(preparation: Preparation) -> list[tuple[str, pd.DataFrame]]:
    """Return the preparation's tables as (caption, printable frame of strings); absent ones are left out."""
    roster = preparation.roster
    clients = None if roster is None else list(roster.loc[roster["role"] == "client", "author"])
    measures = None if roster is None else preparation.author_measures
    parts: tuple[tuple[str, pd.DataFrame | None, Callable[[pd.DataFrame], pd.DataFrame]], ...] = (
        ("Rows of the raw corpus, by what became of them", preparation.dropped, _dropped),
        ("Scripts of the posts, and posts dropped for too few words", preparation.scripts, _scripts),
        ("Authors by role; no author has two", roster, _roles),
        (_MEASURES, measures, lambda found: _measures(found, clients or [], preparation.filters)),
        ("Documents of all authors by split", preparation.splits, _splits),
        (_NEAR_DUPLICATES, preparation.near_duplicates, lambda found: _near_duplicates(found, clients)),
        ("Word units that clients train on", preparation.allocation, _allocation),
    )
    blocks = [(caption, printable(table)) for caption, table, printable in parts if table is not None]
    return blocks if preparation.tuned is None else [*blocks, _tuned(preparation.tuned, preparation.display)]


def _tuned(tuned: Tuned, display: Mapping[str, str]) -> tuple[str, pd.DataFrame]:
    caption = (
        "Learning rates and passes that were tried: validation loss in nats per token, mean over authors who are not "
        f"this experiment's ({tuned.clients} after the first {tuned.skip_clients}, seed {tuned.seed})"
    )
    rows = [
        (
            *(unmarked(method_name(point.row, display)), point.stage, f"{point.learning_rate:g}", f"{point.passes:g}"),
            *(f"{point.loss:.4f}", str(point.authors), "chosen" if point.chosen else ""),
        )
        for point in tuned.points
    ]
    columns = ["Method", "Stage", "Learning rate", "Passes", "Loss", "Authors", "Choice"]
    return ". ".join([caption, *tuned.doubts()]), pd.DataFrame(rows, columns=columns)


def remarks(preparation: Preparation) -> list[str]:
    """Return the sentences that follow the tables: what roles share, and budgets that miss their targets."""
    missed = "" if preparation.allocation is None else missed_targets(preparation.allocation)
    return [sentence for sentence in (_disjointness(preparation), missed) if sentence]


def _disjointness(preparation: Preparation) -> str:
    """Return the sentence about shared authors and documents between roles; "" where it was not recorded."""
    overlap = preparation.overlap
    if overlap is None:
        return ""
    authors, documents, copies = overlap[["shared_authors", "shared_documents", "near_copies"]].sum()
    pairs = f"({len(overlap)} pairs"
    if authors or documents:
        return f"Disjointness FAILED: {authors} authors and {documents} documents are shared between roles {pairs})."
    said = f"Disjointness: no author and no document is shared by any two roles {pairs} of roles checked)."
    if (overlap["near_copies"] < 0).any():
        return said
    return f"{said} {copies:,} pairs of posts in different roles are near duplicates."


def _dropped(dropped: pd.DataFrame) -> pd.DataFrame:
    total = dropped["rows"].sum()
    ordered = dropped.assign(first=dropped["reason"] != "kept").sort_values(["first", "rows"], ascending=[True, False])
    rows = [
        (reason.replace("_", " "), f"{number:,}", f"{number / total:.1%}" if total else "–")
        for reason, number in zip(ordered["reason"], ordered["rows"], strict=True)
    ]
    return pd.DataFrame(rows, columns=["Reason", "Rows", "Share"])


def _scripts(scripts: pd.DataFrame) -> pd.DataFrame:
    total = scripts["letters"].sum()
    ordered = scripts.sort_values(["letters", "script"], ascending=[False, True])
    return pd.DataFrame(
        {
            "Script": ordered["script"],
            "Share of letters": [f"{letters / total:.2%}" if total else "–" for letters in ordered["letters"]],
            "Posts mostly in it": [f"{posts:,}" for posts in ordered["posts"]],
            "Dropped as too short": [f"{posts:,}" for posts in ordered["too_short"]],
        }
    )


def _roles(roster: pd.DataFrame) -> pd.DataFrame:
    sums = roster.groupby("role").agg(Authors=("role", "size"), Documents=("documents", "sum"), Words=("words", "sum"))
    order = [role for role in ROLE_NAMES if role in sums.index]
    found = sums.loc[order + sorted(set(sums.index) - set(order))].map("{:,}".format)
    found.insert(0, "Role", [ROLE_NAMES.get(str(role), str(role)) for role in found.index])
    return found.rename(columns={"Words": "Word units"}).reset_index(drop=True)


# By the key of a filter its name, and the limit shown where it is not set.
_LIMITS = {
    "minimum_characters_per_token": ("Characters per token under", 3.0),
    "maximum_quoted_mail": ("Share of posts with quoted mail over", 0.2),
    "maximum_near_duplicates": ("Share of posts with a near duplicate over", 0.2),
}


def _measures(measures: pd.DataFrame, clients: Sequence[str], filters: Mapping[str, Any]) -> pd.DataFrame:
    """One row per measure: how many authors, and clients, are beyond the limit of its filter, or a usual one."""
    languages = list(filters.get("languages") or [])
    main, share = languages or measures["language"].mode().head(1).tolist(), filters.get("language_share", 0.8)
    other = ~measures["language"].isin(main) | (measures["language_share"] < share)
    rows = [(f"Share of posts in {', '.join(main)} under {share:g}", bool(languages), other)]
    for key, (name, usual) in _LIMITS.items():
        limit, (column, beyond) = usual if filters.get(key) is None else filters[key], LIMITS[key]
        rows.append((f"{name} {limit:g}", filters.get(key) is not None, beyond(measures[column], limit)))
    several = measures["style_change"] > STYLE_CHANGE
    rows.append((f"Style that changes (several hands?): silhouette over {STYLE_CHANGE:g}", False, several))
    own = measures["author"].isin(clients)
    return pd.DataFrame(
        [(n, "yes" if left else "no", f"{b.sum():,}", f"{(b & own).sum():,}") for n, left, b in rows],
        columns=["Measure", "Left out", "Authors", "Clients"],
    )


def _splits(splits: pd.DataFrame) -> pd.DataFrame:
    counts = splits["split"].value_counts()
    order = [name for name in ("train", "validation", "test") if name in counts.index]
    return pd.DataFrame({"Split": order, "Documents": [f"{counts[name]:,}" for name in order]})


def _near_duplicates(found: pd.DataFrame, clients: Sequence[str] | None) -> pd.DataFrame:
    """Rows: training, validation and test posts, then the clients' test posts."""
    parts = [(name.capitalize(), found[found["split"] == name]) for name in ("train", "validation", "test")]
    if clients is not None:
        parts.append(("Test, clients", found[(found["split"] == "test") & found["author"].isin(clients)]))
    kinds = {"Own training": "own_training", "Own held-out": "own_held_out", "Other authors": "others"}
    return pd.DataFrame(
        [
            {"Split": name, "Posts": f"{len(part):,}"} | {k: f"{(part[c] > 0).sum():,}" for k, c in kinds.items()}
            for name, part in parts
        ]
    )


def _allocation(allocation: pd.DataFrame) -> pd.DataFrame:
    rows = []
    for name in ("available", "target", "allocated"):
        words = allocation[f"{name}_words"].to_numpy()
        amounts = (f"{number:,}" for number in (words.sum(), words.min(), int(np.median(words)), words.max()))
        rows.append((name.capitalize(), *amounts, f"{gini(words):.3f}", f"{len(allocation):,}"))
    capped = int((allocation["available_words"] < allocation["target_words"]).sum())
    rows[-1] = (*rows[-1][:-1], f"{len(allocation):,}, of whom {capped:,} have less text than their target")
    return pd.DataFrame(rows, columns=["Word units", "Total", "Smallest", "Median", "Largest", "Gini", "Clients"])
