"""The claims of an experiment as numbers: what the report's sentences are made from, for a paper's text."""

from collections.abc import Iterator, Sequence
from typing import Any, cast

import pandas as pd

from favor.paper.numbers import entry
from favor.paper.settings import Entry
from favor.report.facts import Facts, attributed, compared, gains_of, readings, subject

_WHERE = "claims of the report"


def with_claims(entries: Sequence[Entry], facts: Facts) -> list[Entry]:
    """Return ``entries``, those of FAVoR and a baseline with the strict number of these two beside, and all claims.

    A claim has a value, its 95 % interval, Holm's p over all methods and "above", "below", "ruled out" or "open"; with
    fewer authors than show anything it is open, and has no interval.
    """
    if subject(facts.methods) not in facts.values:
        return list(entries)
    of_pairs = dict(_differences(facts))
    by_name = {facts.name(method): found for method, found in of_pairs.items()}
    beside = [
        cast("Entry", {**each, "strict": by_name[each["baseline"]]}) if each.get("baseline") in by_name else each
        for each in entries
    ]
    return [*beside, *of_pairs.values(), *_shares(facts), *_adapters(facts)]


def _differences(facts: Facts) -> Iterator[tuple[str, Entry]]:
    first = subject(facts.methods)
    for method, row in compared(facts).rename(columns={"delta": "value"}).iterrows():
        what = f"{_measured(facts)}: {facts.name(first)} minus {facts.name(str(method))}"
        made = _claim(f"claim_difference_{method}", what, row, row["p_holm"], facts.enough)
        yield str(method), {**made, "by_seed": [float(each) for each in row["by_seed"]]}


def _shares(facts: Facts) -> Iterator[Entry]:
    for method, row in attributed(facts).iterrows():
        what = f"{_measured(facts)}: {facts.name(str(method))} (chance {facts.chance:.3f})"
        made = _claim(f"claim_voice_{method}", what, row, row["p"], facts.enough)
        yield {**made, "voice": bool(row["voice"])}


def _adapters(facts: Facts) -> Iterator[Entry]:
    for key, row in readings(facts).iterrows():
        method = str(key)
        chance = f"(chance {row['chance']:.3f})"
        what = f"Readings of unseen texts that {facts.name(method)}'s adapters give to the author {chance}"
        gains = {name: [float(end) for end in ends if pd.notna(end)] for name, ends in gains_of(facts, method).items()}
        made = _claim(f"claim_adapters_{method}", what, row, row["p"], facts.enough_read)
        yield {**made, "known": bool(row["known"]), "gains": gains if facts.enough_read else {}}


def _measured(facts: Facts) -> str:
    attribute = "attributes" if facts.one_judge else "attribute"
    return f"Share of all outputs, failures wrong, that {facts.judge} {attribute} to the author"


def _claim(key: str, what: str, row: Any, p: float, enough: bool) -> Entry:
    """Return a claim; ``enough``: whether there are authors for an interval and a p."""
    made = entry(key, what, _WHERE, float(row["value"]), float("nan"))
    made["claim"] = str(row["state"])
    ends = {"low": row["low"], "high": row["high"], "p": p}
    if enough:
        made.update(cast("Entry", {name: float(end) for name, end in ends.items() if pd.notna(end)}))
    return made
