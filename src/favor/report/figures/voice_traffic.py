"""Voice kept against the bytes that a method's clients send."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from favor.paper.names import method_name
from favor.report.drawing import GREY, MARKERS, PALETTE, drawing, save, say
from favor.report.figure_specs import FigureSpec

MEBIBYTE = 2**20


def draw_voice_traffic(
    scores: pd.DataFrame,
    style_encoder: str,
    methods: Sequence[str],
    *paths: str | Path,
    display: Mapping[str, str] | None = None,
    references: Sequence[str] = (),
) -> None:
    """Draw accuracy kept (family ``voice_kept``, the style encoder's space) over MiB uploaded per seed to ``paths``.

    ``references``: methods that do not federate, drawn with open marks; what they upload is text, or nothing. Methods
    without both values are left out.
    """
    kept = scores[(scores["metric"] == "kept_author_accuracy") & (scores["encoder"] == style_encoder)]
    voice = kept.pivot_table(index="method", columns="variant", values="value").reindex(columns=["", "low", "high"])
    sent = scores[scores["metric"] == "upload_bytes"].groupby("method")["value"].mean() / MEBIBYTE
    values = voice.assign(sent=sent).dropna()
    shown = [method for method in methods if method in values.index]
    with drawing(6.6, 4.2) as (figure, axes):
        axis = axes[0]
        if not shown:
            say(axis, "No method has both values:\nno output passed the filter.")
        for number, method in enumerate(shown):
            mean, low, high, place = values.loc[[method], ["", "low", "high", "sent"]].to_numpy(dtype=float)[0]
            color = PALETTE[number % len(PALETTE)]
            axis.errorbar(
                place,
                mean,
                yerr=[[max(0.0, mean - low)], [max(0.0, high - mean)]],
                marker=MARKERS[number % len(MARKERS)],
                markersize=7,
                markerfacecolor="white" if method in references else color,
                color=color,
                linestyle="none",
                elinewidth=0.6,
                label=method_name(method, display),
            )
        axis.axhline(0.0, color=GREY, linestyle=":", linewidth=1)
        axis.set(xlabel="Uploaded per seed, MiB", ylabel="Voice kept (author accuracy)")
        axis.margins(x=0.08)
        axis.grid()
        if shown:
            figure.legend(loc="outside right upper")
        save(figure, *paths)


FIGURE = FigureSpec(
    title="Voice kept against bytes sent",
    caption="0 is another author's continuation and 1 the author's own. Bars are 95 % intervals of a bootstrap over "
    "authors. What clients upload is counted over all rounds of a seed; pooled training uploads the texts themselves.",
    scores=("voice_kept", "efficiency"),
    place=3,
    draw=lambda data, *paths: draw_voice_traffic(
        data.scores(), data.style_encoder, data.methods, *paths, display=data.display, references=data.references
    ),
)
