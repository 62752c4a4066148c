"""Names an encoder that does not separate the writers' own texts, before its scores."""

from collections.abc import Collection, Mapping
from dataclasses import replace

from favor.paper.names import encoder_name
from favor.tables.specs import Roles, Scores, TableSpec

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
