"""How the variety of a set of texts grows with its authors: every method beside human text."""

from pathlib import Path

from favor.figures.data import FigureData
from favor.figures.drawing import drawing, label_beside, save, say
from favor.figures.specs import FigureSpec


def draw_diversity_growth(data: FigureData, *paths: str | Path) -> None:
    """Draw the style Vendi score of the family ``diversity`` over the number of authors, means over seeds.

    Methods without a score are left out.
    """
    scores, methods = data.scores(), data.shown
    own = scores[(scores["metric"] == "style_vendi") & (scores["encoder"] == data.style_encoder)]
    own = own[own["variant"].str.startswith("authors_")].dropna(subset="value")
    own = own.assign(authors=own["variant"].str.removeprefix("authors_").astype(int))
    found = own.groupby(["method", "authors"])["value"].agg(["mean", "count"])
    # Where an author has no output in one seed, the curves of the seeds end at different numbers.
    curves = found.loc[found["count"] == own["seed"].nunique(), "mean"]
    shown = [method for method in (*methods.rows, "gold") if method in curves.index.get_level_values(0)]
    with drawing(6.0, 4.0) as (figure, (axis,)):
        if not shown:
            say(axis, "No method has two outputs of the common length.")
        labels = []
        for method, identity in methods.identities(shown).items():
            curve = curves[method]
            axis.plot(curve.index, curve.to_numpy(), **{**identity.line, **identity.points})
            labels.append((curve.index[-1], curve.iloc[-1], methods.name(method), identity.color))
        if shown:
            axis.set(xlabel="Authors", ylabel="Vendi score (texts as varied as so many)", ylim=(0, None))
            axis.grid()
            figure.draw_without_rendering()
            label_beside(axis, labels)
        drawn = curves[curves.index.get_level_values(0).isin(shown)].rename("vendi_score")
        together = drawn.unstack().dropna(axis=1)  # numbers of authors that every method has
        last = {f"Vendi score of {most} authors": together[most] for most in together.columns[-1:]}
        save(figure, *paths, finding=methods.spans(last), data=methods.named(drawn.to_frame()))


FIGURE = FigureSpec(
    title="Variety over authors",
    caption="Vendi score of the outputs of so many authors in the style space, mean over random sets of authors and "
    "over seeds. Where the curve of own continuations rises and a method's does not, more authors "
    "bring no more voices.",
    scores=("diversity",),
    place=31,
    draw=draw_diversity_growth,
)
