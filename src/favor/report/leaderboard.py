"""All rows of an experiment in one order, and how sure that order is."""

from collections.abc import Mapping, Sequence

import pandas as pd

from favor.paper.names import CONTROLS, method_name
from favor.scores.metric import UNSEEN
from favor.statistics.paired import holm
from favor.tables.cells import DASH, printed, without_value
from favor.tables.escape import minus
from favor.tables.marks import LEVEL

HEADLINE = "author_accuracy_failures_wrong"
LEADERBOARD = (
    "Share of all outputs that style encoders attribute to their author, failed outputs counted as wrong. Voice kept: "
    "0 is chance, 1 the authors' own texts. Intervals: 95 % over authors. Last column: significant or not (n. s.) by "
    "Holm's correction over the column."
)


def subject(methods: Sequence[str]) -> str:
    """Return the row that is compared with all others: FAVoR, or else the first."""
    return "favor" if "favor" in methods else methods[0]


def judges(evidence: pd.DataFrame, style: str) -> str:
    """Return the encoder of the headline: the mean of those that no method has seen, or else ``style``."""
    return UNSEEN if (evidence["encoder"] == UNSEEN).any() else style


def differences(evidence: pd.DataFrame, encoder: str, metric: str, left: str) -> pd.DataFrame:
    """Return columns rival, delta, low, high, p, error, p_holm: ``left`` minus each other method, Holm over them.

    ``evidence``: the table of that name. Controls are not rivals.
    """
    own = evidence[(evidence["encoder"] == encoder) & (evidence["metric"] == metric)]
    records = []
    for row in own.to_dict("records"):
        if row["left_method"] == left and row["right_method"] not in CONTROLS:
            records.append((row["right_method"], row["delta"], row["low"], row["high"], row["p"], row["error"]))
        if row["right_method"] == left and row["left_method"] not in CONTROLS:
            records.append((row["left_method"], -row["delta"], -row["high"], -row["low"], row["p"], row["error"]))
    found = pd.DataFrame(records, columns=["rival", "delta", "low", "high", "p", "error"])
    return found.assign(p_holm=holm(found["p"].to_numpy(dtype=float)))


def means(evidence: pd.DataFrame, encoder: str, metric: str) -> dict[str, float]:
    """Return the mean over seeds of every method and control that has one."""
    own = evidence[(evidence["encoder"] == encoder) & (evidence["metric"] == metric)]
    return dict(zip(own["left_method"], own["left"], strict=True)) | dict(
        zip(own["right_method"], own["right"], strict=True)
    )


def leaderboard(
    evidence: pd.DataFrame,
    kept: pd.DataFrame | None,
    style: str,
    methods: Sequence[str],
    clients: int,
    passed: Mapping[str, tuple[int, int]],
    display: Mapping[str, str] | None = None,
) -> pd.DataFrame:
    """Return every row, printable: best first, the references and chance in their places.

    ``kept``: scores of the family voice_kept, or None where the experiment has none; they bring intervals. ``passed``:
    by row, how many outputs passed the filter and how many there are.
    """
    encoder = judges(evidence, style)
    values = {
        name: value for name, value in means(evidence, encoder, HEADLINE).items() if name in (*methods, *CONTROLS)
    }
    first = subject(methods)
    tested = differences(evidence, encoder, HEADLINE, first).set_index("rival")
    own = means(evidence, style, HEADLINE)
    title = method_name(first, display)
    rows = []
    for name in sorted(values, key=lambda each: -values[each]):
        against = DASH
        if name in tested.index and name in methods:
            delta, p = -float(tested["delta"][name]), float(tested["p_holm"][name])
            said = "n. s." if p >= LEVEL else ("above" if delta > 0 else "below")
            against = f"{minus(printed(delta, 2, signed=True))}, p {p_text(p)}: {said}"
        through = passed.get(name)
        rows.append(
            {
                "Method": method_name(name, display),
                "Voice kept": _share(kept, name, encoder),
                "Attributed to the author": printed(values[name], 3),
                "By the methods' own encoder": printed(own[name], 3) if name in own else DASH,
                "Passed the filter": f"{through[0]} of {through[1]}" if through else DASH,
                f"Against {title}": against,
                "value": values[name],
            }
        )
    if clients:
        chance = printed(1 / clients, 3)
        names = ("Reference: chance", DASH, chance, chance, DASH, DASH, 1 / clients)
        columns = list(rows[0]) if rows else [*_COLUMNS, f"Against {title}", "value"]
        rows.append(dict(zip(columns, names, strict=True)))
    made = pd.DataFrame(rows).sort_values("value", ascending=False, kind="stable").drop(columns="value")
    without = [
        *(["Voice kept"] if kept is None else []),
        *(["By the methods' own encoder"] if encoder == style else []),
        *([] if passed else ["Passed the filter"]),
    ]
    return made.drop(columns=without).reset_index(drop=True)


_COLUMNS = (
    "Method", "Voice kept", "Attributed to the author", "By the methods' own encoder", "Passed the filter",
)  # fmt: skip


def _share(kept: pd.DataFrame | None, name: str, encoder: str) -> str:
    if kept is None:
        return DASH
    own = kept[(kept["method"] == name) & (kept["encoder"] == encoder) & (kept["metric"] == f"kept_{HEADLINE}")]
    values = own.set_index("variant")["value"]
    if not {"", "low", "high"} <= set(values.index):
        return DASH
    if values[["", "low", "high"]].isna().any():
        return without_value(str(own.loc[own["variant"] == "", "note"].iloc[0]))
    share, low, high = (minus(printed(float(values[variant]), 2)) for variant in ("", "low", "high"))
    # The authors' own texts are 1 by definition.
    return share if values["low"] == values["high"] else f"{share} [{low}, {high}]"


def p_text(value: float) -> str:
    """Return a p as "= .013" or "< .001"."""
    return "< .001" if value < 0.001 else f"= {value:.3f}".replace("= 0.", "= .", 1)
