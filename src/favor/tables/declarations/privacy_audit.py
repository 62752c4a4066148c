"""What uploads and adapters give away: every attack of the privacy audit, by what the attacker has."""

from collections.abc import Callable

from favor.paper.names import method_name
from favor.tables.derived import missing, score_of
from favor.tables.privacy import ATTACKS, NO_STATISTIC, VIEWS, attack_column, methods_of, views_of
from favor.tables.specs import Column, Derived, Roles, Row, Scores, TableSpec, one_panel


def audit_rows(scores: Scores) -> tuple[Row, ...]:
    """Return a row per audited method, attack and view."""
    return tuple(
        Row((method_name(method), attack, VIEWS[view]), method=method, group=f"{method} {attack}")
        for method in methods_of(scores, ("sender_top1",))
        for attack, name, views in ATTACKS
        for view in views_of(scores, method, f"{name}_auc", views)
    )


def _statistic(kind: str) -> Callable[[Row], tuple[str, str] | None]:
    """Return what names the metric of ``kind`` (top1, auc or tpr) and the view of a row."""
    metrics = {attack: name for attack, name, _ in ATTACKS}
    views = {label: view for view, label in VIEWS.items()}

    def name(row: Row) -> tuple[str, str] | None:
        return f"{metrics[row.stub[1]]}_{kind}", views[row.stub[2]]

    return name


def _distinctive(row: Row) -> tuple[str, str] | None:
    """Name the correlation with how distinctive the authors are, which the final adapter's member scores have."""
    metric, view = _statistic("distinctive")(row) or ("", "")
    return (metric, view) if (metric, view) == ("member_distinctive", "final") else None


def _decisions(row: Row, scores: Scores, roles: Roles) -> Derived:
    metric, view = _statistic("auc")(row) or ("", "")
    _, n, note = score_of(scores, metric, view, NO_STATISTIC, method=row.method)
    return missing(note) if note else Derived(f"{n:,}", float(n))


TABLE = TableSpec(
    label="privacy-audit",
    title="Privacy audit",
    caption="How well an attacker does with what it has: each client's upload, the mean of a round's uploads (what "
    "secure aggregation leaves), the final shared adapter, or a personal adapter that it stole. An upload that changes "
    "nothing alone is read with the half that its owner kept: more than a server has. Top-1: how often its first "
    "choice is right. TPR at 1 % FPR: how much it finds while it is wrong about one in a hundred. 95 % intervals "
    "over authors; a TPR of fewer than 100 negatives, or 8 authors, has none. Shuffled: the same with the labels in "
    "random order, so what chance gives. "
    "0.5 is an AUC without information. With distinctiveness: Spearman's correlation, over those who took part, of "
    "what is found about an author and how unlike the other clients it writes. n: decisions behind the AUC.",
    stub_headers=("Method", "Attack", "What the attacker has"),
    rows=(),
    row_source=audit_rows,
    panels=one_panel(
        Column("Top-1", derive=attack_column(_statistic("top1"), interval=True)),
        Column("By\nchance", derive=attack_column(_statistic("top1"), "_shuffled")),
        Column("AUC", derive=attack_column(_statistic("auc"), interval=True)),
        Column("AUC,\nshuffled", derive=attack_column(_statistic("auc"), "_shuffled")),
        Column("TPR at\n1 % FPR", derive=attack_column(_statistic("tpr"), interval=True)),
        Column("TPR,\nshuffled", derive=attack_column(_statistic("tpr"), "_shuffled")),
        Column("With\ndistinctiveness", derive=attack_column(_distinctive, interval=True)),
        Column("n", derive=_decisions),
    ),
    sources=("privacy",),
    section="Privacy",
    open_rows=False,
    with_controls=False,
)
