"""What planted secrets and canary clients show: exposure in bits, and the empirical epsilon of a run."""

from collections.abc import Callable

from favor.paper.names import method_name
from favor.tables.privacy import VIEWS, attack_column, methods_of, views_of
from favor.tables.specs import Column, Row, Scores, TableSpec, one_panel

_SECRET, _CLIENT = "secret planted {} ×", "canary client"


def canary_rows(scores: Scores) -> tuple[Row, ...]:
    """Return a row per audited method, view and number of repeats, and one for its canary clients."""
    rows = []
    for method in methods_of(scores, ("canary_exposure", "empirical_epsilon")):
        own = scores[(scores["method"] == method) & (scores["metric"] == "canary_exposure")]
        initial = own["variant"].str.extract(r"^initial_(\d+)$")[0].dropna()
        title = method_name(method)
        for view in views_of(scores, method, "canary_exposure", ("upload", "completed", "mean", "final")):
            for repeats in sorted(map(int, initial)):
                rows.append(Row((title, VIEWS[view], _SECRET.format(repeats)), method=method, group=f"{method} {view}"))
        rows.append(Row((title, VIEWS["mean"], _CLIENT), method=method, group=f"{method} clients"))
    return tuple(rows)


def _exposure(initial: bool = False) -> Callable[[Row], tuple[str, str] | None]:
    """Return what names the exposure of a row's secret, or its exposure before any training."""
    views = {label: view for view, label in VIEWS.items()}

    def name(row: Row) -> tuple[str, str] | None:
        if row.stub[2] == _CLIENT:
            return None
        repeats = row.stub[2].split()[2]
        return "canary_exposure", f"{'initial' if initial else views[row.stub[1]]}_{repeats}"

    return name


def _of_clients(metric: str) -> Callable[[Row], tuple[str, str] | None]:
    return lambda row: (metric, "mean") if row.stub[2] == _CLIENT else None


TABLE = TableSpec(
    label="privacy-canaries",
    title="Planted secrets and canary clients",
    caption="Exposure: by how many bits guessing a secret is shortened, log2 of the candidates over its rank among "
    "them. Before training: what the untrained adapter gives, which is chance. Canary clients upload a random "
    "direction as long as the median upload; the cosine is that of the direction with the server's movement, and ε "
    "says how well such cosines differ from those of canaries that took no part, at the δ of the guarantee: no "
    "less than this, with 95 % confidence. Beside it is what canaries that took no part give. Without noise ε has no "
    "bound: it grows with the number of parameters. 95 % intervals over clients, for exposure the exact ones of ranks "
    "that are all alike.",
    stub_headers=("Method", "What the attacker has", "Planted"),
    rows=(),
    row_source=canary_rows,
    panels=one_panel(
        Column("Exposure\n(bits)", derive=attack_column(_exposure(), interval=True)),
        Column("Before\ntraining", derive=attack_column(_exposure(initial=True))),
        Column("By\nchance", derive=attack_column(_exposure(), "_shuffled")),
        Column("Most\npossible", derive=attack_column(_exposure(), "_most")),
        Column("Cosine", derive=attack_column(_of_clients("canary_cosine"), interval=True, decimals=3)),
        Column(
            "Empirical ε,\nat least",
            derive=attack_column(_of_clients("empirical_epsilon"), decimals=1),
        ),
        Column("ε by\nchance", derive=attack_column(_of_clients("empirical_epsilon"), "_shuffled", decimals=1)),
    ),
    sources=("privacy",),
    section="Privacy",
    open_rows=False,
    with_controls=False,
)
