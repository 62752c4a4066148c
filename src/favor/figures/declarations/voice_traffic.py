"""Voice kept against the bytes that a method's clients send."""

from pathlib import Path

from favor.figures.data import FigureData
from favor.figures.drawing import GREY, drawing, save, say
from favor.figures.identity import point
from favor.figures.specs import FigureSpec

MEBIBYTE = 2**20


def draw_voice_traffic(data: FigureData, *paths: str | Path) -> None:
    """Draw accuracy kept (family ``voice_kept``, the style encoder's space) beside MiB uploaded per seed to ``paths``.

    A row per method, as many upload the same bytes; those with the fewest stand at the top, and the most voice first
    among equals. Methods without both values are left out. What references upload is text, or nothing.
    """
    scores, methods = data.scores(), data.shown
    kept = scores[(scores["metric"] == "kept_author_accuracy") & (scores["encoder"] == data.style_encoder)]
    voice = kept.pivot_table(index="method", columns="variant", values="value").reindex(columns=["", "low", "high"])
    sent = scores[scores["metric"] == "upload_bytes"].groupby("method")["value"].mean() / MEBIBYTE
    values = voice.assign(sent=sent).dropna()
    shown = [method for method in methods.rows if method in values.index]
    rows = list(values.loc[shown].sort_values(["sent", ""], ascending=[False, True], kind="stable").index)
    with drawing(7.2, 0.9 + 0.24 * max(3, len(rows)), columns=2) as (figure, axes):
        left, right = axes
        if not rows:
            say(left, "No method has both values:\nno output passed the filter.")
            right.axis("off")
        identities = methods.identities(rows)
        for place, method in enumerate(rows):
            identity = identities[method]
            row = values.loc[method]
            at = {"x": row[""], "x_low": row["low"], "x_high": row["high"], "y": place}
            point(left, at, **identity.points, elinewidth=0.9)
            right.plot([0.0, row["sent"]], [place, place], color=identity.color, linewidth=0.9)
            right.plot(row["sent"], place, **identity.points, linestyle="none", clip_on=False)
        if rows:
            left.axvline(0.0, color=GREY, linestyle=":", linewidth=1)
            left.set_xlabel("Voice kept (author accuracy)")
            right.set(xlabel="Uploaded per seed, MiB", yticks=[])
            right.set_xlim(left=0.0)
            for axis in axes:
                axis.set_ylim(-0.6, len(rows) - 0.4)
                axis.grid(axis="x")
            methods.label_rows(left, rows)
        finding = methods.span("Voice kept", values[""].reindex(shown).to_dict())
        federated = [name for name in shown if name not in methods.references]
        sizes = [f"{size:.1f}" for size in values["sent"].reindex(federated)]
        alike = len(sizes) > 1 and len(set(sizes)) == 1
        if alike:
            finding = f"Every federated method uploads {sizes[0]} MiB per seed."
        numbers = values.reindex(shown).rename(columns={"": "voice_kept", "sent": "uploaded_mib"})
        named = methods.named(numbers.rename_axis(index="method", columns=None))
        save(figure, *paths, finding=finding, data=named, one_value=alike)


FIGURE = FigureSpec(
    title="Voice kept against bytes sent",
    caption="Sorted by bytes, the fewest first. 0 is a voice that is nobody's and 1 the author's own. Bars are 95 % "
    "intervals over authors. What clients upload is counted over all rounds of a seed; pooled "
    "training uploads the texts themselves.",
    scores=("voice_kept", "efficiency"),
    place=23,
    draw=draw_voice_traffic,
)
