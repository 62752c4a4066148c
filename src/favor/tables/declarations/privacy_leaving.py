"""What the shared adapter says of authors who left, before they left and after it was made again without them."""

from collections.abc import Callable

from favor.paper.names import method_name
from favor.tables.derived import missing, score_of
from favor.tables.privacy import NO_STATISTIC, attack_column, methods_of
from favor.tables.specs import Column, Derived, Roles, Row, Scores, TableSpec, one_panel

WHEN = {"with them": "before", "made again without them": "after"}


def leaving_rows(scores: Scores) -> tuple[Row, ...]:
    """Return two rows per audited method: the adapter that those who left helped to make, and the one without them."""
    return tuple(
        Row((method_name(method), when), method=method, group=method)
        for method in methods_of(scores, ("leaver_auc",))
        for when in WHEN
    )


def _statistic(metric: str) -> Callable[[Row], tuple[str, str]]:
    return lambda row: (metric, WHEN[row.stub[1]])


def _authors(row: Row, scores: Scores, roles: Roles) -> Derived:
    _, n, note = score_of(scores, *_statistic("leaver_auc")(row), NO_STATISTIC, method=row.method)
    return missing(note) if note else Derived(f"{n:,}", float(n))


TABLE = TableSpec(
    label="privacy-leaving",
    title="Before and after authors leave",
    caption="Did the author take part? Asked of the final shared adapter about authors who left, against authors who "
    "never took part: with the adapter that they helped to make, and with the one made again without them. The "
    "difference is by how much more the loss of their held-out texts fell from the untrained adapter than that of the "
    "others. After they left, an AUC of 0.5 and a difference of 0 are what is expected. 95 % intervals over authors. "
    "n: authors of both kinds, all seeds.",
    stub_headers=("Method", "Final shared adapter"),
    rows=(),
    row_source=leaving_rows,
    panels=one_panel(
        Column("AUC", derive=attack_column(_statistic("leaver_auc"), interval=True)),
        Column("AUC,\nshuffled", derive=attack_column(_statistic("leaver_auc"), "_shuffled")),
        Column(
            "Difference\n(nats per token)",
            derive=attack_column(_statistic("leaver_fall"), interval=True, decimals=3),
        ),
        Column("n", derive=_authors),
    ),
    sources=("privacy",),
    section="Privacy",
    open_rows=False,
    with_controls=False,
)
