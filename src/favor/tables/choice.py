"""The point of a sweep that validation losses choose: marked in its tables, and said above them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from favor.paper.names import short_method_name, unmarked
from favor.scores.validation import AUTHOR_LOSS, LOSS
from favor.tables.cells import printed
from favor.tables.derived import missing, score_of
from favor.tables.settings import PointLabel
from favor.tables.specs import Column, Derived, Roles, Row, Scores, TableSpec

CHOSEN = "chosen"


@dataclass(frozen=True)
class Choice:
    """What is chosen for one row of a sweep: the label of a ``point``, or "" and the ``reason``."""

    point: str = ""
    reason: str = ""


def choices(scores: Scores, points: Sequence[PointLabel]) -> dict[str, Choice]:
    """Return the choice of every row that has validation losses at some point, by row.

    scores: table ``sweep_scores``, of which no other metric than the validation losses is read. The point of the lowest
    mean over authors is chosen, the first of equal ones. Nothing is chosen unless every point that runs the row has the
    loss of the same authors.
    """
    own = scores[scores["metric"] == AUTHOR_LOSS]
    asked = scores[scores["metric"] == LOSS]
    found: dict[str, Choice] = {}
    for method in dict.fromkeys(own["method"]):
        losses = {
            point.label: own[(own["method"] == method) & (own["point"] == point.label)].set_index("variant")["value"]
            for point in points
            if ((asked["method"] == method) & (asked["point"] == point.label)).any()
        }
        authors = {frozenset(values.index) for values in losses.values()}
        if len(losses) < 2:
            found[method] = Choice(reason="it runs at one point")
        elif len(authors) > 1:
            found[method] = Choice(reason="its points have the losses of different authors")
        else:
            found[method] = Choice(min(losses, key=lambda label: float(losses[label].mean())))
    return found


def chosen_points(found: Mapping[str, Choice], display: Mapping[str, str]) -> str:
    """Return which point is chosen for every row, as the page says it."""
    told = (f"{_name(row, display)}: {choice.point or f'none, as {choice.reason}'}" for row, choice in found.items())
    return "; ".join(told) or "none, as no row has validation losses in its training logs"


def with_choice(spec: TableSpec, scores: Scores, points: Sequence[PointLabel], display: Mapping[str, str]) -> TableSpec:
    """Return ``spec`` with validation losses beside its scores, the chosen ones marked, and a sentence that says so.

    A table whose rows are methods has one more column, another one for each method that its columns name. A table of
    paired tests has the sentence alone.
    """
    found = choices(scores, points)
    sentence = (
        "Chosen by the lowest mean loss on the clients' validation texts (nats per token, 95 % interval over authors), "
        f"without a look at any test text or score. {chosen_points(found, display)}."
    )
    spec = replace(spec, caption=f"{spec.caption} {sentence}")
    if spec.comparisons is not None:
        return spec
    named = {name for panel in spec.panels for column in panel.columns for name in (column.method, column.beside)}
    methods = [method for method in found if method in named]
    columns = [_column(found, method, f"{_name(method, display)} validation\nloss") for method in methods]
    if not named - {""}:
        columns = [_column(found, "", "Validation\nloss")]
    first = spec.panels[0]
    return replace(spec, panels=(replace(first, columns=(*first.columns, *columns)), *spec.panels[1:]))


def _column(found: Mapping[str, Choice], named: str, header: str) -> Column:
    def derive(row: Row, scores: Scores, _roles: Roles) -> Derived:
        method = named or row.method
        absent = f"{short_method_name(method)} is not run here"
        value, _, note = score_of(scores, LOSS, "", absent, method=method)
        if note:
            return missing(note)
        (low, _, alone), (high, _, _) = (score_of(scores, LOSS, end, method=method) for end in ("low", "high"))
        text = printed(value, 3) + ("" if alone else f" [{printed(low, 3)}, {printed(high, 3)}]")
        mark = f" ({CHOSEN})" if method in found and found[method].point == row.point else ""
        return Derived(text + mark, value)

    return Column(header, derive=derive, compared=False)


def _name(method: str, display: Mapping[str, str]) -> str:
    return unmarked(display.get(method, short_method_name(method)))
