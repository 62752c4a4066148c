"""Voice kept against the bytes that a method's clients send."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from favor.report.drawing import GREY, drawing, label_beside, save, say
from favor.report.figure_specs import FigureSpec
from favor.report.identity import Methods

MEBIBYTE = 2**20


def draw_voice_traffic(
    scores: pd.DataFrame,
    style_encoder: str,
    methods: Methods,
    *paths: str | Path,
) -> None:
    """Draw accuracy kept (family ``voice_kept``, the style encoder's space) over MiB uploaded per seed to ``paths``.

    Methods without both values are left out. What references upload is text, or nothing.
    """
    kept = scores[(scores["metric"] == "kept_author_accuracy") & (scores["encoder"] == style_encoder)]
    voice = kept.pivot_table(index="method", columns="variant", values="value").reindex(columns=["", "low", "high"])
    sent = scores[scores["metric"] == "upload_bytes"].groupby("method")["value"].mean() / MEBIBYTE
    values = voice.assign(sent=sent).dropna()
    shown = [method for method in methods.rows if method in values.index]
    with drawing(6.6, 4.2) as (figure, axes):
        axis = axes[0]
        if not shown:
            say(axis, "No method has both values:\nno output passed the filter.")
        labels = []
        for method, identity in methods.identities(shown).items():
            mean, low, high, place = values.loc[[method], ["", "low", "high", "sent"]].to_numpy(dtype=float)[0]
            axis.errorbar(
                place,
                mean,
                yerr=[[max(0.0, mean - low)], [max(0.0, high - mean)]],
                **identity.points,
                linestyle="none",
                elinewidth=0.6,
            )
            labels.append((place, mean, methods.name(method), identity.color))
        axis.axhline(0.0, color=GREY, linestyle=":", linewidth=1)
        axis.set(xlabel="Uploaded per seed, MiB", ylabel="Voice kept (author accuracy)")
        axis.margins(x=0.08)
        axis.grid()
        figure.draw_without_rendering()
        label_beside(axis, labels)
        finding = methods.extremes("Voice kept", values[""].reindex(shown).to_dict())
        data = values.reindex(shown).rename(columns={"": "voice_kept", "sent": "uploaded_mib"})
        save(figure, *paths, finding=finding, data=methods.named(data.rename_axis(index="method", columns=None)))


FIGURE = FigureSpec(
    title="Voice kept against bytes sent",
    caption="0 is another author's continuation and 1 the author's own. Bars are 95 % intervals of a bootstrap over "
    "authors. What clients upload is counted over all rounds of a seed; pooled training uploads the texts themselves.",
    scores=("voice_kept", "efficiency"),
    place=3,
    draw=lambda data, *paths: draw_voice_traffic(data.scores(), data.style_encoder, data.shown, *paths),
)
