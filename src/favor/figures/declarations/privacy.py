"""What each attack of the privacy audit finds, by what the attacker has, and how far planted secrets show."""

import math
from pathlib import Path
from typing import Any

import pandas as pd

from favor.figures.data import FigureData
from favor.figures.drawing import BLUE, GREY, ORANGE, VERMILION, drawing, save, say
from favor.figures.specs import FigureSpec
from favor.tables.declarations.privacy import ATTACKS, VIEWS, methods_of
from favor.tables.derived import score_of

AUC_COLUMNS = ["panel", "method", "attack", "view", "value", "low", "high"]
# Of what an attacker has: uploads, what secure aggregation leaves, what is published.
_COLORS = {"upload": VERMILION, "completed": VERMILION, "mean": ORANGE, "final": BLUE}


def draw_privacy(data: FigureData, *paths: str | Path) -> None:
    """Draw the AUC of every attack, and the exposure of secrets over their repeats, for the first audited row.

    ``scores``: family ``privacy``. What was not measured is left out.
    """
    scores, methods = data.scores(), data.shown
    audited = [method for method in methods.rows if method in methods_of(scores, ("sender_auc",))]
    with drawing(9.0, 4.2, columns=2) as (figure, (attacks, secrets)):
        found = _aucs(scores, audited[0]) if audited else []
        if not found:
            say(attacks, "No attack was measured.")
        for place, (_, value, low, high) in enumerate(found):
            attacks.plot([low, high], [-place, -place], color=GREY, linewidth=1.3)
            attacks.plot(value, -place, "o", color=BLUE, markersize=6)
        if found:
            attacks.axvline(0.5, color=GREY, linewidth=0.8, linestyle="--")
            attacks.set_yticks([-place for place in range(len(found))], [label for label, *_ in found], size=7.5)
            attacks.set(xlim=(0, 1.03), xlabel="AUC (0.5: chance)", title=methods.name(audited[0]))
        drawn = _draw_secrets(secrets, scores, audited[0]) if audited else pd.DataFrame()
        if drawn.empty:
            say(secrets, "No secrets were planted.")
        said = ""
        if found:
            values = [value for _, value, _, _ in found]
            what = "one attack" if len(found) == 1 else f"{len(found)} attacks"
            ends = f"{min(values):.2f}" if len(found) == 1 else f"from {min(values):.2f} to {max(values):.2f}"
            said = f"AUC of {what} on {methods.name(audited[0])}: {ends}."
        rows = [("auc", audited[0], *label.split("\n", 1), *ends) for label, *ends in found]
        attacked = pd.DataFrame(rows, columns=AUC_COLUMNS)
        planted = drawn.assign(panel="exposure", method=audited[0] if audited else "")
        parts = [part for part in (attacked, planted) if len(part)]
        numbers = pd.concat(parts, ignore_index=True) if parts else attacked
        save(figure, *paths, finding=said, data=methods.named(numbers))


def _aucs(scores: pd.DataFrame, method: str) -> list[tuple[str, float, float, float]]:
    found = []
    for attack, name, views in ATTACKS:
        for view in views:
            value, low, high = (
                score_of(scores, f"{name}_auc", f"{view}{end}", method=method)[0] for end in ("", "_low", "_high")
            )
            if not math.isnan(value):
                found.append((f"{attack}\n{VIEWS[view]}", value, low, high))
    return found


def _draw_secrets(axis: Any, scores: pd.DataFrame, method: str) -> pd.DataFrame:
    """Draw the exposure over the repeats by view; return columns view, repeats, value, low, high of what is drawn."""
    own = scores[(scores["method"] == method) & (scores["metric"] == "canary_exposure") & scores["value"].notna()]
    parts = own["variant"].str.extract(r"^(initial|upload|completed|mean|final)_(\d+)(?:_(low|high))?$")
    own = own.assign(view=parts[0], repeats=parts[1].astype(float), end=parts[2].fillna("")).dropna(subset="view")
    shown = []
    for view, color in _COLORS.items():
        table = own[own["view"] == view].pivot_table(index="repeats", columns="end", values="value")
        named = table.rename(columns={"": "value"}).rename_axis(columns=None)
        shown.append(named.reset_index().assign(view=VIEWS[view]))
        if "" in table:
            axis.plot(table.index, table[""], "o-", color=color, label=VIEWS[view])
            if {"low", "high"} <= set(table):
                axis.fill_between(table.index, table["low"], table["high"], color=color, alpha=0.12, linewidth=0)
    most = scores[(scores["method"] == method) & scores["variant"].str.endswith("_most")]["value"].max()
    if not len(own):
        return pd.DataFrame()
    axis.axhline(1.44, color=GREY, linewidth=0.8, linestyle="--")
    if not math.isnan(most):
        axis.axhline(most, color=GREY, linewidth=0.8)
    axis.set_xscale("log", base=2)
    repeats = sorted(set(own["repeats"]))
    axis.set_xticks(repeats, [f"{number:g}" for number in repeats])
    axis.set(xlabel="Documents that carry the secret", ylabel="Exposure (bits)")
    axis.set_ylim(0, None if math.isnan(most) else 1.35 * most)
    axis.legend(loc="upper left")
    return pd.concat(shown, ignore_index=True)


FIGURE = FigureSpec(
    title="What an attacker finds",
    caption="a: AUC of every attack on the first audited method, by what the attacker has, with 95 % intervals over "
    "authors; at the broken line it knows nothing. b: by how many bits guessing a planted secret is shortened, by "
    "the documents that carry it; broken line: a secret that nobody saw, upper line: all that is possible.",
    scores=("privacy",),
    place=60,
    draw=draw_privacy,
)
