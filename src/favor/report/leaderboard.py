"""All rows of an experiment in one order, with quality and cost, and what is shown of every one against the first."""

import math
from typing import Any

import pandas as pd

from favor.paper.names import CONTROLS, method_name, unmarked
from favor.report.facts import HEADLINE, SHARE, Facts, compared, means, subject
from favor.tables.cells import DASH, printed, without_value
from favor.tables.escape import minus

LEADERBOARD = (
    "Attributed: share of all outputs that go to their author, failed ones counted as wrong, by the style encoders of "
    "the first sentence above. Voice kept: 0: chance, 1: the authors' own texts. BERTScore: of outputs that passed, "
    "against the author's own continuation. Uploaded: by all clients, per seed. Intervals: 95 % over authors. Last "
    "column: the difference, and above or below where it is shown by Holm's correction over the column; within: less "
    "than the share report.margin of the way from chance to the authors' own texts; else open."
)
MEBIBYTE = 2**20


def leaderboard(facts: Facts, traffic: pd.DataFrame | None = None) -> pd.DataFrame:
    """Return every row, printable: best first, the references and chance in their places.

    ``traffic``: scores of the family efficiency, or None where the experiment has none.
    """
    names = (*facts.methods, *CONTROLS)
    values = {name: value for name, value in facts.values.items() if name in names}
    claims, own = compared(facts), means(facts.evidence, facts.style, HEADLINE)
    quality, passed = means(facts.evidence, "", "bertscore_f1"), facts.passed()
    sent: dict[str, float] = {}
    if traffic is not None:
        found = traffic[(traffic["metric"] == "upload_bytes") & (traffic["variant"] == "")]
        for name, value in found.groupby("method")["value"].mean().dropna().items():
            sent[str(name)] = float(value) / MEBIBYTE
    rows = [
        {
            "Method": unmarked(method_name(name, facts.display)),
            "Voice kept": _share(facts, name),
            "Attributed to the author": printed(values[name], 3),
            "By the methods' own encoder": printed(own[name], 3) if name in own else DASH,
            # A human continuation is compared with itself.
            "BERTScore": printed(quality[name], 3) if name in quality and name not in CONTROLS else DASH,
            "Passed the filter": "{} of {}".format(*passed[name]) if name in passed else DASH,
            "Uploaded, MiB": printed(sent[name], 1) if name in sent else DASH,
            f"Against {unmarked(method_name(subject(facts.methods), facts.display))}": _against(facts, claims, name),
        }
        for name in sorted(values, key=lambda each: -values[each])
    ]
    chance = printed(facts.chance, 3)
    known = {"Method": "Reference: chance", "Attributed to the author": chance, "By the methods' own encoder": chance}
    above = sum(value >= facts.chance for value in values.values())
    rows.insert(above, {**dict.fromkeys(rows[0] if rows else (), DASH), **known})
    without = [
        *(["Voice kept"] if facts.kept is None else []),
        *(["By the methods' own encoder"] if facts.encoder == facts.style else []),
        *([] if passed else ["Passed the filter"]),
        *([] if set(quality) & set(facts.methods) else ["BERTScore"]),
        *([] if sent else ["Uploaded, MiB"]),
    ]
    return pd.DataFrame(rows).drop(columns=without, errors="ignore").reset_index(drop=True)


def _against(facts: Facts, claims: pd.DataFrame, name: str) -> str:
    """Return a row minus the first with its interval, and what is shown of it; p where it says more than that."""
    if name not in claims.index:
        return DASH
    row: Any = claims.loc[name]
    delta, low, high, p = (float(row[column]) for column in ("delta", "low", "high", "p_holm"))
    text = minus(printed(-delta, 2, signed=True))
    if not facts.enough:
        return text
    if all(map(math.isfinite, (low, high))):
        text += f" [{minus(printed(-high, 2, signed=True))}, {minus(printed(-low, 2, signed=True))}]"
    state = {"above": "below", "below": "above", "ruled out": "within"}.get(row["state"], "open")
    return f"{text}, p {p_text(p)}: {state}" if p < 1 else f"{text}: {state}"


def _share(facts: Facts, name: str) -> str:
    if facts.kept is None:
        return DASH
    kept = facts.kept
    own = kept[(kept["method"] == name) & (kept["encoder"] == facts.encoder) & (kept["metric"] == SHARE)]
    values = own.set_index("variant")["value"]
    if not {"", "low", "high"} <= set(values.index):
        return DASH
    if values[["", "low", "high"]].isna().any():
        return without_value(str(own.loc[own["variant"] == "", "note"].iloc[0]))
    share, low, high = (minus(printed(float(values[variant]), 2)) for variant in ("", "low", "high"))
    # The authors' own texts are 1 by definition.
    return share if values["low"] == values["high"] or not facts.enough else f"{share} [{low}, {high}]"


def p_text(value: float) -> str:
    """Return a p as "= .013" or "< .001"."""
    return "< .001" if value < 0.001 else f"= {value:.3f}".replace("= 0.", "= .", 1)
