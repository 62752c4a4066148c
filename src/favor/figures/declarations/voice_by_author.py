"""Who loses most: every author's loss of voice under two methods, over the author's distance from the group's mean."""

import math
from pathlib import Path

from favor.figures.data import FigureData
from favor.figures.drawing import GREY, drawing, save, say
from favor.figures.specs import FigureSpec
from favor.statistics.bootstrap import FEWEST
from favor.tables.cells import printed


def draw_voice_by_author(data: FigureData, *paths: str | Path) -> None:
    """Draw the ``scores`` of the family ``voice_kept`` to each of ``paths``: a point per author and method.

    The methods are FedAvg and FAVoR, or else the experiment's first two. Authors are not named.
    """
    scores, methods = data.scores(), data.shown
    own = scores[scores["encoder"] == data.style_encoder].dropna(subset="value")
    distance = own[own["metric"] == "distance_from_mean"].set_index("variant")["value"]
    lost = own[own["metric"] == "margin_lost"].pivot(index="variant", columns="method", values="value")
    both = [method for method in ("fedavg", "favor") if method in lost.columns]
    shown = both if len(both) == 2 else [method for method in methods.rows if method in lost.columns][:2]
    with drawing(5.6, 3.8) as (figure, (axis,)):
        if not shown:
            say(axis, "No method has an output of an author with a human continuation.")
        pairs = lost[shown].dropna()
        for author in pairs.index if len(shown) == 2 else []:
            axis.plot([distance[author]] * 2, pairs.loc[author], color=GREY, linewidth=0.6, zorder=1)
        for method, identity in methods.identities(shown).items():
            known = lost[method].dropna()
            rising = known.corr(distance, method="spearman", min_periods=FEWEST)
            rank = "" if math.isnan(rising) else f" (rank correlation {printed(rising, 2)})"
            label = f"{methods.name(method)}{rank}".replace("-", "−")
            axis.plot(distance[known.index], known, **identity.points, linestyle="none", label=label, zorder=2)
        axis.axhline(0.0, color=GREY, linestyle=":", linewidth=1)
        axis.set(xlabel="Author's distance from the group's mean", ylabel="Margin lost against own text")
        axis.grid()
        if shown:
            figure.legend(loc="outside upper left", ncols=2)
        # In the order of their distance: the authors stay without names.
        points = lost[shown].join(distance.rename("distance")).sort_values("distance", kind="stable")
        numbers = points.melt(id_vars="distance", value_vars=shown, var_name="method", value_name="margin_lost")
        finding = methods.span(f"Mean margin lost by {len(pairs)} authors", pairs.mean().to_dict())
        save(figure, *paths, finding=finding, data=methods.named(numbers.dropna()))


FIGURE = FigureSpec(
    title="Who loses most",
    caption="Each author's margin, similarity to the own prototype minus the mean similarity to the others': own "
    "continuations minus outputs, means over seeds. Above 0 the method writes less like the author than the author "
    "does. If the points rise, unusual authors lose most, as they do too where everybody keeps the same share of the "
    "voice: the table of voice kept has the correlation beyond that.",
    scores=("voice_kept",),
    place=5,
    draw=draw_voice_by_author,
)
