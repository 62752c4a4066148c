"""The page of ``favor compare``: what came out, both groups' rows in one table, and what differs besides."""

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from favor.foundation.html import render
from favor.paper.names import CONTROLS, encoder_name, method_name, unmarked
from favor.report.comparison.merging import RUNS, Merged
from favor.report.comparison.shared import PASS_RATE, REFERENCE
from favor.report.leaderboard import p_text
from favor.scores import prototypes, quality, utility
from favor.scores.metric import UNSEEN
from favor.scores.voice_kept import FAILURES_WRONG
from favor.tables.cells import DASH, printed
from favor.tables.escape import minus
from favor.tables.html import page
from favor.tables.marks import LEVEL

_LABELS = {
    metric.name: metric.label
    for metrics in (prototypes.METRICS, quality.METRICS, utility.METRICS)
    for metric in metrics
}
_LABELS[FAILURES_WRONG] = "Attributed to the author"


def findings(merged: Merged) -> list[str]:
    """Return what came out, in sentences: one verdict per method of both groups."""
    tested = _tested(merged)
    if tested.empty:
        return [
            "No row has outputs of two authors in both runs, so nothing is tested: intervals of A and B do not say "
            "which is better."
        ]
    names = _names(merged)
    said: dict[str, list[str]] = {"A is above B": [], "B is above A": [], "no difference was found": []}
    for row in tested.to_dict("records"):
        said[_verdict(row)].append(names[row["method"]])
    found = [
        f"By {_judge(merged)}, {verdict} for {', '.join(methods)}." for verdict, methods in said.items() if methods
    ]
    if merged.least * len(tested) >= LEVEL:
        found.append(
            f"With {int(tested['authors'].max())} authors and {len(tested)} tests none could have been found: the "
            f"smallest p, {minus(printed(merged.least, 5))}, is {printed(min(1, merged.least * len(tested)), 3)} after "
            "Holm's correction."
        )
    return found


def comparison_page(merged: Merged) -> str:
    """Return the HTML page: one file, nothing fetched."""
    first, second = merged.groups
    protocol = first.protocol
    outputs = merged.rows[(merged.rows["metric"] == FAILURES_WRONG) & (merged.rows["run"] == "A")]
    body = render(
        Path(__file__).parents[1] / "templates/comparison",
        "comparison.html",
        facts=[
            ("A", first.name),
            ("B", second.name),
            ("Protocol of both", merged.digest),
            ("Authors", first.outputs["author"].nunique()),
            ("Seeds", ", ".join(map(str, protocol["seeds"]))),
            ("Outputs per method", int(outputs["n"].max())),
            ("Encoders", ", ".join(map(encoder_name, protocol["encoders"]))),
        ],
        findings=findings(merged),
        caution="" if merged.judge == UNSEEN else f"The judge, {_judge(merged)}, is not neutral: "
        "methods are trained with every encoder here, or it is the one of meaning.",
        judge=_judge(merged),
        tested=list(_tested_rows(merged)),
        columns=[encoder_name(encoder) if encoder else _LABELS[metric] for encoder, metric in _measures(merged)],
        rows=list(_merged_rows(merged)),
        others=list(_other_rows(merged)),
        apart=merged.apart,
        reference=CONTROLS[REFERENCE],
    )  # fmt: skip
    return page("Two groups' results", body)


def _tested(merged: Merged) -> pd.DataFrame:
    found = merged.differences[merged.differences["p_holm"].notna()]
    return found.sort_values("delta", ascending=False, kind="stable")


def _verdict(row: Mapping[Any, Any]) -> str:
    if row["p_holm"] >= LEVEL:
        return "no difference was found"
    return "A is above B" if row["delta"] > 0 else "B is above A"


def _judge(merged: Merged) -> str:
    return "unseen encoders" if merged.judge == UNSEEN else encoder_name(merged.judge)


def _names(merged: Merged) -> dict[str, str]:
    """Return by row the printed name of the method that runs in it, and of both where B's is another."""
    found = {}
    for row, own in merged.rows.groupby("method"):
        displays = {run: merged.groups[RUNS.index(run)].display for run in sorted(set(own["run"]))}
        names = {run: unmarked(method_name(str(row), display)) for run, display in displays.items()}
        apart = ", ".join(f"{name} in {run}" for run, name in names.items())
        found[str(row)] = apart if len(set(names.values())) > 1 else next(iter(names.values()))
    return found


def _measures(merged: Merged) -> list[tuple[str, str]]:
    """Return the columns of the merged table: the judge, every other encoder, and what needs none."""
    encoders = [merged.judge, *(each for each in merged.groups[0].protocol["encoders"] if each != merged.judge)]
    wanted = [*((each, FAILURES_WRONG) for each in encoders), *(("", metric.name) for metric in utility.METRICS)]
    present = {*zip(merged.rows["encoder"], merged.rows["metric"], strict=True)}
    return [measure for measure in (*wanted, ("", PASS_RATE)) if measure in present]


def _interval(row: Mapping[Any, Any], value: str, decimals: int, signed: bool = False) -> str:
    """Return a value with its interval, which outputs of one author have not."""
    shown = minus(printed(row[value], decimals, signed))
    ends = [minus(printed(row[end], decimals)) for end in ("low", "high") if not math.isnan(row[end])]
    return f"{shown} [{', '.join(ends)}]" if ends else shown


def _tested_rows(merged: Merged) -> Iterator[list[str]]:
    names = _names(merged)
    for row in _tested(merged).to_dict("records"):
        verdict = "n. s." if row["p_holm"] >= LEVEL else _verdict(row)
        values = (*(printed(row[side], 3) for side in ("a", "b")), _interval(row, "delta", 3, True))
        yield [names[row["method"]], *values, p_text(row["p_holm"]).removeprefix("= "), verdict, str(row["n"])]


def _merged_rows(merged: Merged) -> Iterator[list[str]]:
    """Yield every row of both runs, best first by the judge; the two runs of a method together."""
    names = _names(merged)
    rows = merged.rows.set_index(["encoder", "metric"])
    own = merged.rows[(merged.rows["encoder"] == merged.judge) & (merged.rows["metric"] == FAILURES_WRONG)]
    best = own.groupby("method")["value"].max().sort_values(ascending=False, kind="stable")
    for method in best.index:
        for run in RUNS if method != REFERENCE else RUNS[:1]:
            found = rows[(rows["method"] == method) & (rows["run"] == run)]
            if found.empty:
                continue
            cells = [_cell(found.loc[each], each) if each in found.index else DASH for each in _measures(merged)]
            label = f"{run}, not paired" if not found["paired"].iloc[0] else run
            yield [names[method], " and ".join(RUNS) if method == REFERENCE else label, *cells]


def _cell(row: Mapping[Any, Any], measure: tuple[str, str]) -> str:
    """Return a value with its interval: two decimals of a share by an encoder, and no interval of the pass rate."""
    if measure[1] == PASS_RATE:
        return printed(row["value"], 2)
    return _interval(row, "value", 2 if measure[0] else 3)


def _other_rows(merged: Merged) -> Iterator[list[str]]:
    names = _names(merged)
    for row in merged.differences[merged.differences["p_holm"].isna()].to_dict("records"):
        values = (minus(printed(row[side], 3)) for side in ("a", "b"))
        measure = _LABELS[row["metric"]] + (f", {encoder_name(row['encoder'])}" if row["encoder"] else "")
        yield [names[row["method"]], measure, *values, _interval(row, "delta", 3, True), str(row["n"])]
