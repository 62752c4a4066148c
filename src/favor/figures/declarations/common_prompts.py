"""One prompt, many authors: how alike their continuations are, and what tells them apart."""

from pathlib import Path

import numpy as np
import pandas as pd

from favor.figures.data import FigureData
from favor.figures.drawing import BLACK, GREY, drawing, save, say
from favor.figures.specs import FigureSpec

# Shades of grey: a hue says the family of a method.
SHARES = {
    "author_share": ("author", BLACK),
    "prompt_share": ("prompt", "#8d96a1"),
    "remainder_share": ("remainder", "#d7dce2"),
}


def draw_common_prompts(data: FigureData, *paths: str | Path) -> None:
    """Draw the ``scores`` of family ``common_prompts`` in the style encoder's space to each of ``paths``.

    a: cosines of two authors on one prompt (filled, with the interval over authors) and on two (hollow), the least
    alike first; the line is people on their own prompts. All are means over seeds.
    b: the shares of variance, for methods that have them; the author's with its interval.
    """
    scores, methods = data.scores(), data.shown
    means = scores[scores["encoder"] == data.style_encoder].groupby(["metric", "variant", "method"])["value"].mean()

    def value(metric: str, variant: str, method: str) -> float:
        return float(means.get((metric, variant, method), np.nan))

    alike = {method: value("common_similarity", "", method) for method in methods.rows}
    shown = sorted((method for method in methods.rows if np.isfinite(alike[method])), key=alike.__getitem__)[::-1]
    columns = ["method", "one_prompt", "low", "high", "two_prompts", *SHARES, "author_low", "author_high"]
    with drawing(7.2, 0.9 + 0.26 * max(3, len(shown)), columns=2) as (figure, axes):
        if not shown:
            for axis in axes:
                say(axis, "No two authors have outputs on a common prompt\nthat passed the filter.")
            save(figure, *paths, data=methods.named(pd.DataFrame(columns=columns)))
            return
        places = np.arange(len(shown))
        same, low, high = ([value("common_similarity", end, method) for method in shown] for end in ("", "low", "high"))
        other = [value("common_similarity", "other_prompt", method) for method in shown]
        axes[0].hlines(places, other, same, color=GREY, linewidth=1)
        bars = np.nan_to_num(np.abs(np.subtract([low, high], same)))
        looks = methods.identities(shown)
        for place, method in enumerate(shown):
            look = {"color": looks[method].color, "elinewidth": 1.2, "capsize": 2}
            axes[0].plot(other[place], place, "o", color=looks[method].color, markerfacecolor="white")
            axes[0].errorbar(same[place], place, xerr=bars[:, place, None], fmt="o", **look)
        for label, face in (("two prompts", "white"), ("one prompt", BLACK)):
            axes[0].plot([], [], "o", color=BLACK, markerfacecolor=face, label=label)
        own = value("own_prompt_similarity", "", "gold")
        axes[0].axvline(own, color=GREY, linestyle=":", label="people, own prompts")
        methods.label_rows(axes[0], shown)
        axes[0].set(xlabel="Cosine between authors")
        left = np.zeros(len(shown))
        for metric, (label, color) in SHARES.items():
            width = np.nan_to_num([value(metric, "", method) for method in shown])
            axes[1].barh(places, width, 0.5, left=left, color=color, label=label)
            left += width
        share, *ends = ([value("author_share", end, method) for method in shown] for end in ("", "low", "high"))
        known = np.isfinite(ends).all(axis=0)
        bars = np.abs(np.subtract(ends, share))[:, known]
        # Below its bar: no grey is seen on all three of them.
        axes[1].errorbar(
            np.array(share)[known], places[known] - 0.37, xerr=bars, fmt="none", ecolor=BLACK, elinewidth=1.2, capsize=2
        )
        axes[1].set(xlabel="Share of variance", xlim=(0, 1), yticks=[])
        for axis in axes:
            axis.set_ylim(-0.6, len(shown) - 0.4)
            corner = {"loc": "lower right", "bbox_to_anchor": (1.02, 1.0), "columnspacing": 1.0, "handletextpad": 0.4}
            axis.legend(**corner, ncols=3, frameon=False, fontsize=7.5)
        shares = [[value(metric, "", method) for method in shown] for metric in SHARES]
        numbers = pd.DataFrame(dict(zip(columns, (shown, same, low, high, other, *shares, *ends), strict=True)))
        finding = methods.span("Cosine between authors on one prompt", {row: alike[row] for row in shown})
        save(figure, *paths, finding=finding, data=methods.named(numbers.assign(people_own_prompts=own)[::-1]))


FIGURE = FigureSpec(
    title="Common prompts",
    caption="Continuations of the same prompts by every client. a: how alike two authors write, the least alike "
    "first, with 95 % intervals over authors for these prompts; b: how much of the variance of the style vectors lies "
    "between authors, with 95 % intervals. A method with one adapter for all has one text per prompt.",
    scores=("common_prompts",),
    place=3,
    draw=draw_common_prompts,
)
