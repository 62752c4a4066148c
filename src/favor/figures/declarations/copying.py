"""What outputs share word for word with training texts: the own author's, and other clients'."""

from pathlib import Path

import numpy as np
import pandas as pd

from favor.figures.data import FigureData
from favor.figures.drawing import BLACK, drawing, save, say
from favor.figures.specs import FigureSpec

PANELS = {"copy5_rate": "Share of an output's 5-grams", "longest_copy": "Longest copied span, words"}
# Variant of the scores -> its columns in the numbers drawn, its words, and the line of the authors' own continuations.
TEXTS = {"": ("own_text", "own text", ":"), "others": ("other_clients_texts", "other clients' texts", "--")}


def draw_copying(data: FigureData, *paths: str | Path) -> None:
    """Draw the ``scores`` of family ``copying`` to each of ``paths``, means over seeds, bars their 95 % intervals.

    The method that shares most with other clients' texts comes first. Dotted (own text) and dashed lines are the
    authors' own continuations, which copy nothing. Methods without outputs are left out.
    """
    scores, methods = data.scores(), data.shown
    means = scores.groupby(["metric", "variant", "method"])["value"].mean()

    def value(metric: str, variant: str, method: str) -> float:
        return float(means.get((metric, variant, method), np.nan))

    shown = [method for method in methods.rows if np.isfinite(value("copy5_rate", "", method))]
    shown = sorted(shown, key=lambda method: -value("copy5_rate", "others", method))[::-1]
    numbers = pd.DataFrame(
        {"metric": metric, "method": method}
        | {
            f"{name}{end}": value(metric, f"{variant}{end}".strip("_"), method)
            for variant, (name, _, _) in TEXTS.items()
            for end in ("", "_low", "_high")
        }
        for metric in PANELS
        for method in (*shown[::-1], "gold")
    )
    with drawing(7.2, 0.9 + 0.26 * max(3, len(shown)), columns=2) as (figure, axes):
        looks = methods.identities(shown)
        for axis, (metric, label) in zip(axes, PANELS.items(), strict=True):
            if not shown:
                say(axis, "No output passed the filter.")
                continue
            found = numbers[numbers["metric"] == metric].set_index("method").loc[shown]
            for (variant, (name, text, line)), aside in zip(TEXTS.items(), (-0.13, 0.13), strict=True):
                for place, (method, identity) in enumerate((row, looks[row]) for row in shown):
                    mean, *ends = found.loc[method, [name, f"{name}_low", f"{name}_high"]].to_numpy(dtype=float)
                    bars = np.nan_to_num(np.abs(np.subtract(ends, mean)))[:, None]
                    look = {"color": identity.color, "markerfacecolor": "white" if variant else identity.color}
                    axis.errorbar(mean, place + aside, xerr=bars, fmt="o", markersize=4, elinewidth=1, **look)
                face = "white" if variant else BLACK
                axis.plot([], [], "o", color=BLACK, markerfacecolor=face, markersize=4, label=text)
                axis.axvline(value(metric, variant, "gold"), color=BLACK, linestyle=line, linewidth=1)
            axis.set(xlabel=label, yticks=[], ylim=(-0.6, len(shown) - 0.4))
            axis.grid(axis="x")
        if shown:
            methods.label_rows(axes[0], shown)
            axes[0].legend(loc="lower left", bbox_to_anchor=(0, 1.0), ncols=2, frameon=False, fontsize=7.5)
        said = {
            f"{PANELS['copy5_rate']} in the {text}": {row: value("copy5_rate", variant, row) for row in shown}
            for variant, (_, text, _) in TEXTS.items()
        }
        save(figure, *paths, finding=methods.spans(said), data=methods.named(numbers))


FIGURE = FigureSpec(
    title="Copying",
    caption="Word sequences that outputs share with what the author's client trained on, and with what only other "
    "clients trained on. Sorted by the latter. Base only, where it is a row, shows what common phrases give. Lines, "
    "dotted for the own text: the authors' own continuations. Spans are those of outputs cut to one length, of 5 words "
    "or more. Means over outputs and seeds; bars are 95 % intervals over authors.",
    scores=("copying",),
    place=4,
    draw=draw_copying,
)
