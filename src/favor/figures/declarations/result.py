"""The result in one figure: how much voice every method keeps, by three measures."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from favor.figures.data import FigureData
from favor.figures.drawing import BLACK, TAB, drawing, save, say
from favor.figures.identity import Methods, point
from favor.figures.specs import FigureSpec
from favor.paper.names import CONTROLS
from favor.scores.metric import UNSEEN

ENDS = ("", "low", "high")
SIZE = 7.5  # points of text
_SHARE = "kept_author_accuracy_failures_wrong"


@dataclass(frozen=True)
class Measure:
    """One way to see a voice: its name in the data, its label, how its points look, and its height within a row.

    Colours are the methods'.

    encoder: its name in the page's choice of encoders; empty where no encoder judges.
    """

    name: str
    encoder: str
    label: str
    marker: str
    hollow: bool
    lift: float


MEASURES = (
    Measure("unseen", "unseen", "style encoders that no method has seen", "o", False, 0.0),
    Measure("likelihood", "", "the adapters read unseen texts", "D", False, 0.24),
    Measure("own", "own", "the methods' own encoder", "o", True, -0.24),
)


def voice_kept(scores: pd.DataFrame, style_encoder: str) -> pd.DataFrame:
    """Return what every row keeps by every measure: columns method, measure, value, low, high; 0 chance, 1 the authors.

    scores: of the families voice_kept and likelihood. A text that the adapters attribute counts from chance to all
    texts: (top-1 - chance) / (1 - chance). One model for all is at chance by construction, and its ends are its value.
    """
    rows = []
    share = scores[scores["metric"] == _SHARE]
    for measure, encoder in (("unseen", UNSEEN), ("own", style_encoder)):
        own = share[share["encoder"] == encoder].pivot_table(index="method", columns="variant", values="value")
        for name, row in own.reindex(columns=list(ENDS)).iterrows():
            rows.append((name, measure, *row))
    read = scores[scores["metric"] == "likelihood_top1"].pivot_table(index="method", columns="variant", values="value")
    if len(read):
        chance = read["chance"].to_numpy()[:, None]
        ends = read.reindex(columns=list(ENDS)).to_numpy()
        ends = (np.where(np.isnan(ends), ends[:, :1], ends) - chance) / (1 - chance)
        rows += [(name, "likelihood", *row) for name, row in zip(read.index, ends, strict=True)]
    found = pd.DataFrame(rows, columns=["method", "measure", "value", "low", "high"])
    return found[~found["method"].isin(list(CONTROLS))].dropna(subset="value")


def one_by_one(scores: pd.DataFrame, encoders: Sequence[str]) -> pd.DataFrame:
    """Return what every row keeps by each of the unseen ``encoders``: rows and encoders; empty where there is one."""
    own = scores[(scores["metric"] == _SHARE) & (scores["variant"] == "") & scores["encoder"].isin(encoders)]
    return own.pivot(index="method", columns="encoder", values="value") if len(encoders) > 1 else pd.DataFrame()


def draw_result(data: FigureData, *paths: str | Path) -> None:
    """Draw :func:`voice_kept` to each of ``paths``, the method that keeps most by unseen encoders on top.

    Small points are what each of the ``unseen`` encoders finds, of whose mean a row's large point is.
    """
    scores, methods = data.scores(), data.shown
    kept = voice_kept(scores, data.style_encoder)
    kept = kept[kept["method"].isin(list(methods.rows))]
    lead = next((each.name for each in MEASURES if (kept["measure"] == each.name).any()), "")
    values = kept[kept["measure"] == lead].set_index("method")["value"]
    order = sorted(kept["method"].unique(), key=lambda name: values.get(name, -math.inf))
    with drawing(3.2, 1.1 + 0.2 * max(len(order), 3)) as (figure, axes):  # as wide as a phone, where text is 11 px
        axis = axes[0]
        if not order:
            say(axis, "No share of a voice can be read:\nthe authors' own texts do not lie above chance.")
        shown = [measure for measure in MEASURES if (kept["measure"] == measure.name).any()]
        for measure in shown:
            own = kept[kept["measure"] == measure.name].set_index("method")
            _points(axis, measure, own, {name: place for place, name in enumerate(order)}, methods)
        single = one_by_one(scores, data.unseen).reindex(order)
        for number, encoder in enumerate(single):
            look = {"color": BLACK, "markersize": 2.5, "alpha": 0.6, "linestyle": "none", "zorder": 5}
            axis.plot(single[encoder], range(len(order)), "o", label="_" if number else "each unseen encoder", **look)
        for place, label in ((0.0, "chance"), (1.0, "the authors\nthemselves")):
            axis.axvline(place, color=BLACK, linestyle=":", linewidth=1.2, zorder=1)
            place_of = {"xycoords": ("data", "axes fraction"), "ha": "center", "va": "bottom", "size": SIZE}
            axis.annotate(label, (place, 1), **place_of)
        methods.label_rows(axis, order)
        lowest = min([-0.1, *kept["low"].clip(lower=-0.4)]) - 0.05
        axis.set(xlim=(lowest, 1.1), ylim=(-0.6, max(len(order), 1) - 0.4))
        axis.set_xlabel("Share of the voice that is kept", size=SIZE)
        axis.tick_params(labelsize=SIZE)
        axis.grid(axis="x")
        if shown:
            figure.legend(loc="outside lower center", handletextpad=0.2, fontsize=SIZE)
        said = methods.span("Voice kept by unseen encoders" if lead == "unseen" else "Voice kept", values.to_dict())
        parts = []
        for name, own in kept.groupby("measure"):
            names = {end: f"{name}_{end}".removesuffix("_value") for end in ("value", "low", "high")}
            parts.append(own.set_index("method")[list(names)].rename(columns=names))
        parts.append(single.add_prefix("unseen_"))
        numbers = pd.concat(parts, axis=1).reindex(order[::-1]) if parts else pd.DataFrame(index=pd.Index([]))
        save(figure, *paths, finding=said, data=methods.named(numbers.rename_axis(index="method")))


def _points(axis: Any, measure: Measure, own: pd.DataFrame, places: Mapping[str, int], methods: Methods) -> None:
    main = measure.lift == 0
    looks = methods.identities(list(places))
    face = "white" if measure.hollow else BLACK
    axis.plot([], [], measure.marker, color=BLACK, markerfacecolor=face, markersize=4.5, label=measure.label)
    for name, row in own.rename(columns={"value": "x", "low": "x_low", "high": "x_high"}).iterrows():
        point(
            axis,
            {**row, "y": places[str(name)] + measure.lift},
            marker=measure.marker,
            markersize=4.5 if main else 3.5,
            color=looks[str(name)].color,
            markerfacecolor="white" if measure.hollow else looks[str(name)].color,
            elinewidth=1.2 if main else 0.6,
            zorder=4 if main else 3,
            gid=f"{measure.encoder}{TAB}{methods.name(str(name))}",
        )


FIGURE = FigureSpec(
    title="Voice kept",
    caption="0: chance. 1: the authors' own texts; for the diamonds, every text goes to its author. Failed outputs "
    "count as wrong. Bars are 95 % intervals over authors, cut at the frame; small points are single encoders. The "
    "encoder that methods are aligned to is not a neutral judge.",
    scores=("voice_kept",),
    optional=("likelihood",),
    place=-1,
    draw=draw_result,
)
