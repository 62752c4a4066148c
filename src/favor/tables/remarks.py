"""What a table of this run has to say: above itself of its encoders, below of its evaluation posts and single rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from favor.paper.names import encoder_name
from favor.tables.specs import Panel, Roles, Scores, TableSpec

if TYPE_CHECKING:  # read while the workflow is parsed
    import pandas as pd


@dataclass(frozen=True)
class EvaluationPosts:
    """The held-out posts that an experiment's outputs continue.

    ``posts``: how many over all seeds; ``shared``: how many of them serve more than one seed. ``prompts``: how many
    each seed has; ``asked``: how many it should have.
    """

    posts: int
    shared: int
    prompts: Mapping[int, int]
    asked: int

    @classmethod
    def of(cls, prompts: Mapping[int, pd.DataFrame], asked: int) -> EvaluationPosts:
        """Count the tables ``prompts`` by seed (columns client, document_id)."""
        uses = Counter(post for frame in prompts.values() for post in set(frame["document_id"]))
        shared = sum(count > 1 for count in uses.values())
        return cls(len(uses), shared, {seed: len(frame) for seed, frame in prompts.items()}, asked)

    @property
    def sharing(self) -> str:
        """The sentence about seeds that share posts; "" where none does."""
        if not self.shared:
            return ""
        return (
            f"{self.shared} of the {self.posts} evaluation posts are used in more than one seed, so the seeds are not "
            "independent samples"
        )

    @property
    def shortfall(self) -> str:
        """The sentence about prompts that the test posts are too short for; "" where there is none."""
        fewer = [f"{count} of {self.asked} (seed {seed})" for seed, count in self.prompts.items() if count < self.asked]
        return f"Fewer prompts than asked for, as test posts are too short: {', '.join(fewer)}." if fewer else ""


def chance(spec: TableSpec, clients: int) -> str:
    """Return the sentence on what guessing scores in the columns of ``spec``; "" where no column has such a score."""
    metrics = {column.metric for panel in spec.panels for column in panel.columns}
    parts = []
    if clients and metrics & {"author_accuracy", "author_macro_f1", "profile_accuracy"}:
        parts.append(f"accuracy 1/{clients} = {1 / clients:.3f}")
    if any(metric.endswith(("_auc", "_eer")) and not metric.startswith("kept_") for metric in metrics):
        parts.append("AUC and EER 0.5")
    return f"Chance: {'; '.join(parts)}." if parts and spec.comparisons is None else ""


def with_remarks(spec: TableSpec, posts: EvaluationPosts, remarks: Mapping[str, str], clients: int = 0) -> TableSpec:
    """Return ``spec`` with what is to be said below it; ``remarks``: sentences by the printed name of a row's method.

    ``clients``: of the experiment, for what guessing scores.

    Where seeds share posts, clusters of seed and author are not independent: the interval over authors goes before
    that over clusters.
    """
    if spec.sources == ("efficiency",):  # counts no outputs
        return replace(spec, remarks={**remarks})
    general = " ".join(filter(None, (chance(spec, clients), posts.shortfall, remarks.get(""))))
    found = {"": general, **{name: text for name, text in remarks.items() if name}}
    if spec.comparisons is None or not posts.sharing:
        return replace(spec, remarks=found)
    found[""] = f"{found['']} {posts.sharing}: read the interval over authors first.".strip()
    return replace(spec, panels=tuple(map(_authors_first, spec.panels)), remarks=found)


def _authors_first(panel: Panel) -> Panel:
    columns = list(panel.columns)
    statistics = [column.statistic for column in columns]
    if "interval" in statistics and "author_interval" in statistics:
        moved = columns.pop(statistics.index("author_interval"))
        columns.insert(statistics.index("interval"), moved)
    return replace(panel, columns=tuple(columns))


# Families of which a table without encoders of its own prints those that were scored.
_IN_EVERY_SPACE = {"author_retrieval", "measure_agreement", "topics", "transfer", "verification"}


def _named(spec: TableSpec) -> set[str]:
    """Return the encoders, by role or key, whose style scores a table names."""
    named = {column.encoder for panel in spec.panels for column in panel.columns} | {row.encoder for row in spec.rows}
    if spec.comparisons is not None:
        named |= {role for roles in spec.comparisons.metrics.values() for role in roles}
    return named - {"", "semantic"}  # likeness of meaning needs no author


def _in_every_space(spec: TableSpec) -> bool:
    return spec.every_metric or (not _named(spec) and bool(_IN_EVERY_SPACE & set(spec.sources)))


def prints_style(spec: TableSpec) -> bool:
    """Return whether a table prints style scores of any encoder."""
    return _in_every_space(spec) or bool(_named(spec))


def sentences(retrieval: Scores, encoders: Collection[str], titles: Mapping[str, str]) -> list[str]:
    """Return a sentence per encoder that does not separate the writers' own texts, of ``encoders`` (keys).

    ``retrieval``: scores of the family ``author_retrieval``; ``titles``: printed names, by key.
    """
    from favor.scores.author_retrieval import unproven  # with numpy, which parsing the workflow does not need

    return [
        f"Caution: {titles.get(key) or encoder_name(key)} {reason}, so its style scores are no evidence about voices."
        for key, reason in unproven(retrieval).items()
        if key in encoders
    ]


def cautioned(spec: TableSpec, retrieval: Scores, roles: Roles, titles: Mapping[str, str]) -> TableSpec:
    """Return a table whose caption begins with the sentences on its encoders; ``roles``: keys by role."""
    encoders = {roles.get(name, name) for name in _named(spec)}
    if _in_every_space(spec):
        encoders = set(retrieval["encoder"])
    return replace(spec, caption=" ".join([*sentences(retrieval, encoders, titles), spec.caption]))
