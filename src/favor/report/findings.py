"""What came out, in plain sentences made from the numbers: how much voice is left, the strongest rival, whose voices.

One measure answers the question: the share of all outputs that style encoders attribute to their author. The encoders
are those that no method was trained with, where the experiment has any; outputs that failed the filter are wrong ones.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from favor.paper.names import method_name, unmarked
from favor.report.leaderboard import HEADLINE, differences, judges, means, p_text, subject
from favor.statistics.power import detectable, least_authors
from favor.tables.escape import minus
from favor.tables.marks import LEVEL

_NAMED = 3  # methods that a sentence names before it counts


@dataclass(frozen=True)
class Facts:
    """What the sentences of one experiment are made from.

    evidence: the table of that name. kept: scores of the family voice_kept, or None. style: the encoder that methods
    are aligned to. methods: rows in the experiment's order. authors: how many. display: printed names. likelihood:
    scores of that family, or None.
    """

    evidence: pd.DataFrame
    kept: pd.DataFrame | None
    style: str
    methods: Sequence[str]
    authors: int
    display: Mapping[str, str]
    likelihood: pd.DataFrame | None = None

    @property
    def encoder(self) -> str:
        """The encoder that judges: the mean of the unseen ones, or else the methods' own."""
        return judges(self.evidence, self.style)

    @property
    def judge(self) -> str:
        """The printed judge."""
        if self.encoder == self.style:
            return "the style encoder that methods are aligned to"
        return "style encoders that no method has seen"

    @property
    def values(self) -> dict[str, float]:
        """The measure by row and control."""
        return means(self.evidence, self.encoder, HEADLINE)

    def name(self, method: str) -> str:
        """Return the printed name of a row."""
        return unmarked(method_name(method, self.display))

    def voices(self) -> pd.DataFrame:
        """Return the scores of ``kept`` by the judge: an index of methods, columns (metric, variant)."""
        if self.kept is None:
            return pd.DataFrame()
        own = self.kept[(self.kept["encoder"] == self.encoder) & self.kept["method"].isin([*self.methods, "gold"])]
        return own.pivot_table(index="method", columns=["metric", "variant"], values="value", dropna=False)

    def passed(self) -> dict[str, tuple[int, int]]:
        """Return by row how many outputs passed the filter, and how many there are; nothing without ``kept``."""
        if self.kept is None:
            return {}
        own = self.kept[(self.kept["encoder"] == self.encoder) & (self.kept["variant"] == "score")]
        counts = own.pivot_table(index="method", columns="metric", values="n")
        places = ("kept_author_accuracy", f"kept_{HEADLINE}")
        return {str(name): (int(row[places[0]]), int(row[places[1]])) for name, row in counts.iterrows()}


def findings(facts: Facts) -> list[str]:
    """Return the sentences, most important first."""
    values = {name: value for name, value in facts.values.items() if name in facts.methods}
    first = subject(facts.methods)
    if first not in values:
        return ["No method has an output, so nothing can be compared."]
    whose = " ".join(filter(None, (voices(facts), adapters(facts))))
    return [text for text in (level(facts), rival(facts), whose) if text]


def level(facts: Facts) -> str:
    """Return how many of the first row's texts are attributed to their author, and what chance and authors reach."""
    first = subject(facts.methods)
    passed, texts = facts.passed().get(first, (0, 0))
    of = f"{facts.name(first)}'s {texts} texts" if texts else f"{facts.name(first)}'s texts"
    gold = facts.values.get("gold")
    human = f", the authors' own texts {_percent(gold)}" if gold is not None else ""
    said = (
        f"{_capital(facts.judge)} attribute {_percent(facts.values[first])} of {of} to the right author; chance is "
        f"{_percent(1 / facts.authors)}{human}."
    )
    if facts.encoder == facts.style:
        said = said.replace("attribute ", "attributes ", 1)
    failed = texts - passed
    return said + (f" {failed} of the texts failed the quality filter and count as wrong." if failed else "")


def rival(facts: Facts) -> str:
    """Return how the strongest other method compares, of whatever kind, and how many differ at all.

    Variants of the first row without one of its parts are not rivals. "" where there is no other method.
    """
    first, values = subject(facts.methods), facts.values
    tested = differences(facts.evidence, facts.encoder, HEADLINE, first).set_index("rival")
    tested = tested[tested.index.isin(list(facts.methods))]
    others = [name for name in tested.index if not str(name).startswith(f"{first}_")]
    if not others:
        return ""
    best = max(others, key=lambda name: values[name])
    row: Any = tested.loc[best]
    numbers = (
        f"{_points(row['delta'])} points [{_points(row['low'])}, {_points(row['high'])}], p {p_text(row['p_holm'])}"
    )
    name, other = facts.name(first), facts.name(best)
    lead = f"{name}'s strongest rival, {other}, reaches {_percent(values[best])}"
    if row["p_holm"] < LEVEL:
        verdict = f"{name} is significantly {'above' if row['delta'] > 0 else 'below'} it ({numbers})."
        return f"{lead}: {verdict} {_others(facts, tested)}".rstrip()
    power = smallest(row, facts.authors, len(tested))
    return f"{lead}: no difference found ({numbers}). {power} {_others(facts, tested)}".rstrip()


def smallest(row: Any, authors: int, tests: int) -> str:
    """Return the sentence on the smallest difference that would have been found; ``row``: of :func:`differences`.

    The deviation of the authors' differences follows from the standard error of their mean: times sqrt(N).
    """
    if authors < least_authors(tests):
        of = "a single test" if tests == 1 else f"{tests} tests"
        return f"With {authors} authors and {of} no difference could have been found, however large."
    points = _points(detectable(authors, tests) * row["error"] * math.sqrt(authors)).removeprefix("+")
    return f"The smallest difference that {authors} authors would have shown, in four runs of five, is {points} points."


def _others(facts: Facts, tested: pd.DataFrame) -> str:
    apart = tested[tested["p_holm"] < LEVEL]
    below, above = int((apart["delta"] > 0).sum()), int((apart["delta"] < 0).sum())
    first = facts.name(subject(facts.methods))
    if len(tested) == 1:  # the rival, of whom all is said
        return ""
    if not below and not above:
        return f"None of the {len(tested)} other methods differs significantly from {first}."
    return (
        f"Of {len(tested)} other methods, {below or 'none'} {_be(below)} significantly below {first} and "
        f"{above or 'none'} above."
    )


def voices(facts: Facts) -> str:
    """Return whose voices methods write in: the authors', others that differ, or one for everybody."""
    found = facts.voices()
    needed = [("distinct_auc", "low"), (f"kept_{HEADLINE}", "score_low")]
    if not set(needed) <= set(found.columns):
        return ""
    rows = found[needed].reindex([name for name in facts.methods if name in found.index]).dropna()
    chance = 1 / facts.authors
    distinct = rows[needed[0]] > 0.5
    right = rows[needed[1]] > chance
    wrong, one = list(rows.index[distinct & ~right]), list(rows.index[~distinct & ~right])
    parts = list(_voices(facts, wrong, one, list(rows.index[right])))
    return " ".join(parts)


def _voices(facts: Facts, wrong: list[str], one: list[str], right: list[str]) -> Iterator[str]:
    if wrong:
        yield (
            f"Voices differ, but they are not the authors': one can tell apart by author what {_names(facts, wrong)} "
            f"{_write(wrong)}, but not attribute it to the right author more often than by chance."
        )
    if one:
        yield f"{_capital(_names(facts, one))} {_write(one)} in one voice for all authors, as far as encoders can tell."
    if right:
        yield f"What {_names(facts, right)} {_write(right)} goes to the right author more often than by chance."


def adapters(facts: Facts) -> str:
    """Return how often the first row's adapters point to the author of an unseen text, and whose do beyond chance.

    "" where no likelihood was read, or where the first row has one model for all.
    """
    if facts.likelihood is None:
        return ""
    own = facts.likelihood[facts.likelihood["metric"] == "likelihood_top1"]
    found = own.pivot_table(index="method", columns="variant", values="value").reindex(list(facts.methods))
    first = subject(facts.methods)
    if not {"low", "high"} <= set(found.columns) or found["low"].isna()[first]:
        return ""
    share, low, high, chance = (float(found[name][first]) for name in ("", "low", "high", "chance"))
    texts = int(own.loc[(own["method"] == first) & (own["variant"] == ""), "n"].iloc[0])
    right = found.index[found["low"] > found["chance"]].tolist()
    return (
        f"By how likely adapters find {texts} unseen texts, {facts.name(first)}'s point to the right author for "
        f"{_percent(share)} [{_percent(low)}, {_percent(high)}]; chance is {_percent(chance)}. "
        f"{f'Above chance: {_names(facts, right)}' if right else 'No method is above chance'}."
    )


def _names(facts: Facts, methods: Sequence[str]) -> str:
    names = [facts.name(method) for method in methods]
    if len(names) == 1:
        return names[0]
    if len(names) <= _NAMED + 1:
        return f"{', '.join(names[:-1])} and {names[-1]}"
    return f"{', '.join(names[:_NAMED])} and {len(names) - _NAMED} more methods"


def _write(methods: Sequence[str]) -> str:
    return "writes" if len(methods) == 1 else "write"


def _be(count: int) -> str:
    return "are" if count > 1 else "is"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _percent(share: float) -> str:
    return f"{100 * share:.0f}%"


def _points(share: float) -> str:
    """Return a difference of shares in percentage points, signed, never "-0"."""
    number = round(100 * share)
    return minus(f"{number:+d}") if number else "0"
