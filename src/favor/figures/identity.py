"""One colour, marker and place per method, the same in every figure: hue says the family, hollow says a variant."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pandas as pd
from matplotlib.lines import Line2D

from favor.figures.drawing import BLACK, BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILION, ink
from favor.paper.names import CONTROLS, METHODS, method_name, unmarked
from favor.tables.cells import printed
from favor.tables.escape import minus


@dataclass(frozen=True)
class Identity:
    """How a method is drawn. ``prominent``: larger and thicker than the others. ``name``: what its points say."""

    color: str
    marker: str
    hollow: bool = False
    prominent: bool = False
    name: str | None = None

    @property
    def points(self) -> dict[str, Any]:
        """Matplotlib's keywords for points."""
        look = {"markerfacecolor": "white" if self.hollow else self.color, "markersize": 9 if self.prominent else 6}
        return {"color": self.color, "marker": self.marker, "gid": self.name, **look}

    @property
    def line(self) -> dict[str, Any]:
        """Matplotlib's keywords for a line without markers."""
        width = 2.4 if self.prominent else 1.3
        return {"color": self.color, "linestyle": "--" if self.hollow else "-", "linewidth": width}


# Blue shares one adapter, green has personal ones, vermilion is FAVoR, grey does not federate, orange meets new
# clients, purple only prompts.
_DECLARED: dict[str, Identity] = {
    "fedavg": Identity(BLUE, "o"),
    "fedprox": Identity(BLUE, "s"),
    "global_asce": Identity(BLUE, "^"),
    "fedavgm": Identity(BLUE, "<"),
    "fedadam": Identity(BLUE, ">"),
    "fedyogi": Identity(BLUE, "p"),
    "ffa_lora": Identity(BLUE, "D"),
    "flexlora": Identity(BLUE, "h"),
    "pfedme": Identity(GREEN, "D"),
    "fedavg_finetuned": Identity(GREEN, "o"),
    "fedsa_lora": Identity(GREEN, "^"),
    "fedrod_lora": Identity(GREEN, "s"),
    "apfl": Identity(GREEN, "X"),
    "fedalt": Identity(GREEN, "h"),
    "ditto": Identity(GREEN, "v"),
    "ditto_asce": Identity(GREEN, "v", hollow=True),
    "feddpa": Identity(GREEN, "P"),
    "favor": Identity(VERMILION, "*", prominent=True),
    "favor_without_asce": Identity(VERMILION, "*", hollow=True),
    "base_only": Identity(GREY, "X"),
    "pooled": Identity(GREY, "h"),
    "local_only": Identity(GREY, "s"),
    "local_only_asce": Identity(GREY, "s", hollow=True),
    "cold_start": Identity(ORANGE, "o"),
    "cold_start_asce": Identity(ORANGE, "o", hollow=True),
    "cold_start_random": Identity(ORANGE, "X"),
    "cold_start_shared": Identity(ORANGE, "s"),
    "average_author": Identity(PURPLE, "o"),
    "retrieval": Identity(PURPLE, "s"),
    "sheet_retrieval": Identity(PURPLE, "^"),
    "sheet_retrieval_without_persona": Identity(PURPLE, "^", hollow=True),
    "sheet": Identity(PURPLE, "D"),
    "gold": Identity(BLACK, "d"),
    "shuffled": Identity(BLACK, "x"),
}
_MORE = ("o", "s", "^", "D", "v", "P", "X", "*", "<", ">", "h", "p")


def identities(
    methods: Sequence[str], bases: Mapping[str, str] | None = None, references: Sequence[str] = ()
) -> dict[str, Identity]:
    """Return the identity of every row of an experiment, in the order in which figures name them.

    ``bases``: the method behind a row of another name. Such a row is that method's variant: hollow, behind it. A
    method that the paper does not know is sky blue, or grey if it is one of ``references``, which do not federate; its
    marker goes by its place among those methods.
    """
    bases = bases or {}
    own = [name for name in methods if bases.get(name, name) not in _DECLARED]
    found = {}
    for name in sorted(methods, key=lambda each: (_place(bases.get(each, each)), each != bases.get(each, each))):
        base = bases.get(name, name)
        if base not in _DECLARED:
            found[name] = Identity(GREY if name in references else SKY, _MORE[own.index(name) % len(_MORE)])
        else:
            found[name] = _DECLARED[base] if base == name else replace(_DECLARED[base], hollow=True, prominent=False)
    return found


@dataclass(frozen=True)
class Methods:
    """The rows of an experiment as its figures show them.

    rows: in the experiment's order.
    display: printed name by row, where the paper does not know it.
    bases: the method behind a row of another name.
    references: rows that do not federate.
    """

    rows: Sequence[str]
    display: Mapping[str, str] = field(default_factory=dict)
    bases: Mapping[str, str] = field(default_factory=dict)
    references: Sequence[str] = ()

    def name(self, row: str) -> str:
        """Return the printed name of a row, or of the reference that authors wrote themselves."""
        return _PEOPLE.get(row) or method_name(row, self.display)

    def identities(self, shown: Sequence[str]) -> dict[str, Identity]:
        """Return the identities of the rows ``shown`` (and of people's text), the same whichever others are shown."""
        everybody = identities([*self.rows, *_PEOPLE], self.bases, self.references)
        return {row: replace(one, name=unmarked(self.name(row))) for row, one in everybody.items() if row in shown}

    def span(self, what: str, values: Mapping[Any, float]) -> str:
        """Return a sentence on what is drawn: of how many rows, and between which values; "" without any.

        It names no row: that one is higher than another takes a test. References are not counted.
        """
        known = [value for row, value in values.items() if row not in CONTROLS and math.isfinite(value)]
        if not known:
            return ""
        ends = [minus(printed(end, 2)) for end in (min(known), max(known))]
        rows = "one method" if len(known) == 1 else f"{len(known)} methods"
        return f"{what}: {rows}, {ends[0] if ends[0] == ends[1] else f'from {ends[0]} to {ends[1]}'}."

    def spans(self, values: Mapping[str, Any]) -> str:
        """Return the sentence of :meth:`span` on each of ``values``, by what is drawn."""
        return " ".join(filter(None, (self.span(what, dict(drawn)) for what, drawn in values.items())))

    def named(self, values: pd.DataFrame) -> pd.DataFrame:
        """Return ``values`` with the printed name of each row beside its key, the column or index level ``method``."""
        flat = values.reset_index() if "method" in values.index.names else values.reset_index(drop=True)
        names = [self.name(row) for row in flat["method"]]
        return pd.concat([flat[["method"]].assign(name=names), flat.drop(columns="method")], axis=1)

    def scatter(self, axis: Any, values: pd.DataFrame) -> None:
        """Draw a point per method (index): columns x and y and, with a bar, their ends (x_low, x_high).

        Their names stand beside the axes with their markers, from the highest point down.
        """
        found = self.identities(list(values.index))
        for method, identity in found.items():
            point(axis, values.loc[method], **identity.points, elinewidth=0.6)
        axis.grid()
        names = [str(name) for name in values["y"].sort_values(ascending=False, kind="stable").index]
        marks = [Line2D([], [], linestyle="none", **{**found[name].points, "gid": None}) for name in names]
        legend = axis.legend(
            marks, [self.name(name) for name in names], loc="center left", bbox_to_anchor=(1.02, 0.5), fontsize=7.5
        )
        for text, name in zip(legend.get_texts(), names, strict=True):
            text.set_color(ink(found[name].color))

    def label_rows(self, axis: Any, rows: Sequence[str]) -> None:
        """Write names beside the heights 0, 1, ... of ``axis``, each in its row's colour."""
        axis.set_yticks(range(len(rows)), [self.name(row) for row in rows])
        found = self.identities(rows)
        for label, row in zip(axis.get_yticklabels(), rows, strict=True):
            label.set(color=ink(found[row].color), weight="bold" if found[row].prominent else "normal")


def point(axis: Any, place: Any, **look: Any) -> None:
    """Draw one point at ``place`` (x and y, and ends x_low, x_high of a bar) as matplotlib's ``errorbar`` does."""
    bars = {
        f"{side}err": [[max(0.0, place[side] - place[f"{side}_low"])], [max(0.0, place[f"{side}_high"] - place[side])]]
        for side in "xy"
        if f"{side}_low" in place
    }
    axis.errorbar(place["x"], place["y"], **bars, **{"linestyle": "none", **look})


_PEOPLE = {"gold": "own continuations", "shuffled": "shuffled authors"}


def _place(method: str) -> int:
    return METHODS.index(method) if method in METHODS else len(METHODS)
