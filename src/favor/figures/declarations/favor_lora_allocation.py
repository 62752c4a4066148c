"""Where FAVoR's personal adapters put their update: shares of energy by block of layers and module.

After the paper's fig:favor_lora_allocation, drawn from our own adapters.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.ticker import MaxNLocator

from favor.figures.drawing import RISING, drawing, save, say
from favor.figures.specs import FigureSpec
from favor.paper.names import MODULES

PANELS = (("personal", "Personal adapter"), ("residual", "Private residual"))
ALIKE = 0.02  # blocks whose shares differ by no more are one


def draw_adapter_allocation(energy: pd.DataFrame, *paths: str | Path) -> None:
    """Draw the table ``adapter_energy`` to each of ``paths``: one heat map per part, each row 100 %."""
    blocks = energy.groupby("first_layer")["last_layer"].max()
    names = [_block(first, last) for first, last in zip(blocks.index.tolist(), blocks.tolist(), strict=True)]
    modules = [name for name in MODULES if name in set(energy["module"])]
    modules += sorted(set(energy["module"]) - set(modules))
    with drawing(7.4, 1.5 + 0.3 * max(len(names), 4), columns=2) as (figure, axes):
        image = None
        largest = 100 * float(energy["share"].max()) if len(energy) else 1.0
        for number, (axis, (part, title)) in enumerate(zip(axes, PANELS, strict=True)):
            rows = energy[energy["part"] == part]
            axis.set_title(title)
            if rows.empty:
                axis.set(xticks=[], yticks=[])
                say(axis, "No private residual\nin this experiment.")
                continue
            shares = rows.pivot(index="first_layer", columns="module", values="share").reindex(columns=modules)
            image = _heat_map(axis, 100 * shares.to_numpy(), largest)
            axis.set_xticks(range(len(modules)), [name.removesuffix("_proj") for name in modules], rotation=45)
            axis.set_yticks(range(len(names)), names if number == 0 else [""] * len(names))
        if image is not None:
            axes[0].set_ylabel("Decoder layers")
            bar = figure.colorbar(image, ax=axes, shrink=0.9, ticks=MaxNLocator(6, integer=True))
            bar.set_label("Share of the block's energy, %")
            bar.outline.set_visible(False)
        means = energy.groupby(["part", "module"])["share"].mean()
        parts = set(energy["part"])
        most = {title: (part, means[part].idxmax()) for part, title in PANELS if part in parts}
        said = [f"{title}: most of the energy in {place[1]} ({means[place]:.0%})" for title, place in most.items()]
        spread = energy.groupby(["part", "module"])["share"].agg(lambda share: share.max() - share.min()).max()
        alike = len(names) > 1 and spread <= ALIKE
        end = ", and it is the same in every block to two points." if alike else "."
        save(figure, *paths, finding=f"{'; '.join(said)}{end}" if said else "", data=energy, one_value=alike)


def _heat_map(axis: Any, shares: np.ndarray, largest: float) -> Any:
    # Light to dark blue: read by lightness alone, in print and by the colour-blind; the number stands in every cell.
    image = axis.imshow(shares, cmap=RISING, vmin=0, vmax=largest, aspect="auto")
    for (row, column), share in np.ndenumerate(shares):
        axis.text(column, row, f"{share:.0f}", ha="center", va="center", size=7.5)
    axis.tick_params(length=0)
    for side in axis.spines.values():
        side.set_visible(False)
    return image


def _block(first: int, last: int) -> str:
    return str(first + 1) if first == last else f"{first + 1}–{last + 1}"


FIGURE = FigureSpec(
    title="Where private adapters put their update",
    caption="Share of each module in the update energy of a block of six decoder layers (single layers, where the "
    "model has fewer than twelve), mean over the personal adapters of the first seed; a row sums to 100 %. "
    "a: the whole personal update; b: what the private stage added to the shared endpoint.",
    inputs=("adapter_energy",),
    place=24,
    draw=lambda data, *paths: draw_adapter_allocation(data.table("adapter_energy"), *paths),
)
