"""What came out, in plain sentences made from claims: how much voice is left, the strongest rival, whose voices.

One measure answers the question: the share of all outputs that style encoders attribute to their author. The encoders
are those that no method was trained with, where the experiment has any; outputs that failed the filter are wrong ones.
A sentence says a value with its numbers of authors, texts and seeds, or a claim (:mod:`favor.analysis.claims`).
"""

import math
from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd

from favor.paper.names import encoder_name
from favor.report.facts import (
    BASE,
    COMMON,
    ENDS,
    HEADLINE,
    Facts,
    attributed,
    compared,
    gains_of,
    means,
    readings,
    subject,
)
from favor.report.leaderboard import p_text
from favor.statistics.bootstrap import FEWEST_SEEDS
from favor.statistics.power import detectable, least_authors
from favor.tables.escape import minus

_NAMED = 3  # methods that a sentence names before it counts


def findings(facts: Facts) -> list[str]:
    """Return the sentences, most important first."""
    values = {name: value for name, value in facts.values.items() if name in facts.methods}
    first = subject(facts.methods)
    if first not in values:
        return ["No method has an output, so nothing can be compared."]
    claims = [text for text in (rival(facts), voices(facts), adapters(facts)) if text]
    if claims and facts.enough:
        claims[0] = f"{claims[0]} {trainings(facts)}".rstrip()
    return [level(facts), *claims]


def level(facts: Facts) -> str:
    """Return how many of the first row's texts are attributed to their author, and what chance and authors reach."""
    first = subject(facts.methods)
    passed, texts = facts.passed().get(first, (0, 0))
    of = f"{facts.name(first)}'s {texts} texts" if texts else f"{facts.name(first)}'s texts"
    gold = facts.values.get("gold")
    human = f", the authors' own texts {_percent(gold)}" if gold is not None else ""
    attribute = "attributes" if facts.one_judge else "attribute"
    said = (
        f"{_capital(facts.judge)} {attribute} {_percent(facts.values[first])} of {of} ({counted(facts)}) to the right "
        f"author{_one_by_one(facts, first)}; chance is {_percent(facts.chance)}{human}."
    )
    if failed := texts - passed:
        what, count = ("text", "counts") if failed == 1 else ("texts", "count")
        whose = _whose(facts, first, failed, texts)
        said += f" {failed} {what}{whose} failed the quality filter and {count} as wrong."
    return said


def counted(facts: Facts, authors: int | None = None) -> str:
    """Return authors, all of them unless their number is given, and seeds, each counted as what it is."""
    number = facts.authors if authors is None else authors
    return f"{number} authors, {facts.seeds} {'seed' if facts.seeds == 1 else 'seeds'}"


def _one_by_one(facts: Facts, method: str) -> str:
    """Return the shares by each of the encoders whose mean judges, where there are several."""
    shares = {name: means(facts.evidence, name, HEADLINE).get(method) for name in facts.unseen}
    known = {name: share for name, share in shares.items() if share is not None}
    if len(known) < 2 or facts.encoder == facts.style:
        return ""
    return f" ({_listed([_percent(share) for share in known.values()])} by {_listed(list(map(encoder_name, known)))})"


def _whose(facts: Facts, method: str, failed: int, texts: int) -> str:
    """Return how many authors the failed texts are by; "" where authors do not have as many texts each."""
    assert facts.kept is not None
    own = facts.kept[(facts.kept["metric"] == "margin_lost") & (facts.kept["method"] == method)]
    passed = own[own["encoder"] == facts.style].set_index("variant")["n"].astype(int)
    missing = facts.prompts * facts.seeds - passed
    if texts != facts.authors * facts.prompts * facts.seeds or missing.sum() != failed:
        return ""
    return f" by {int((missing > 0).sum())} of the {facts.authors} authors"


def rival(facts: Facts) -> str:
    """Return how the strongest other method compares, of whatever kind, and how many differ at all.

    Variants of the first row without one of its parts are not rivals. "" where there is no other method.
    """
    first, values, tested = subject(facts.methods), facts.values, compared(facts)
    others = [name for name in tested.index if not str(name).startswith(f"{first}_")]
    if not others:
        return ""
    best = max(others, key=lambda name: values[name])
    row: Any = tested.loc[best]
    name, other = facts.name(first), facts.name(best)
    lead = f"{name}'s strongest rival, {other}, reaches {_percent(values[best])}"
    if facts.authors < least_authors(len(tested)):
        return f"{lead}. {smallest(row, facts.authors, len(tested))}"
    if math.isnan(row["low"]):
        return f"{lead}. The two have outputs of too few authors in common to compare them."
    delta, low, high = (_points(row[each]) for each in ("delta", "low", "high"))
    numbers = f"{delta} points [{low}, {high}], p {p_text(row['p_holm'])}"
    if len(row["by_seed"]) >= FEWEST_SEEDS:
        numbers += f"; by seed {_listed([_points(each) for each in row['by_seed']])}"
    power = ""
    if row["state"] in ("above", "below"):
        verdict = f"{name} is significantly {row['state']} it"
    elif row["state"] == "ruled out":
        verdict = f"they are within {margin_text(facts.margin)} the way from chance to the authors' own texts"
    else:
        verdict, power = "which of them is better is open", smallest(row, facts.authors, len(tested))
    return " ".join(filter(None, (f"{lead}: {verdict} ({numbers}).", power, _others(facts, tested))))


def trainings(facts: Facts) -> str:
    """Return what one or two seeds leave open; "" from three on, where intervals and p hold it."""
    if facts.seeds >= FEWEST_SEEDS:
        return ""
    these = "this training" if facts.seeds == 1 else "these two trainings"
    return f"All this is about {these}: no interval and no p holds what another seed would do to all authors alike."


def smallest(row: Any, authors: int, tests: int) -> str:
    """Return the sentence on the smallest difference that would have been found; ``row``: of :func:`differences`.

    The deviation of the authors' differences follows from the standard error of their mean: times sqrt(N).
    """
    of = "a single test" if tests == 1 else f"{tests} tests"
    if authors < least_authors(tests):
        return f"With {authors} authors and {of} no difference can be shown, however large."
    if row["error"] == 0:
        return "All authors have the same difference, so how large one must be to be found cannot be estimated."
    least = detectable(authors, tests) * row["error"] * math.sqrt(authors)
    if least > 1:
        return f"With {authors} authors and {of} no difference would be found reliably (80 % power)."
    points = max(1, round(100 * least))
    least_said = f"{points} {'point' if points == 1 else 'points'} or more"
    return f"With {authors} authors only differences of {least_said} would be found reliably (80 % power)."


def _others(facts: Facts, tested: pd.DataFrame) -> str:
    below, above = (int((tested["state"] == state).sum()) for state in ("above", "below"))
    first = facts.name(subject(facts.methods))
    if len(tested) == 1:  # the rival, of whom all is said
        return ""
    if not below and not above:
        return f"For none of the {len(tested)} other methods is a difference from {first} shown."
    return (
        f"Of {len(tested)} other methods, {below or 'none'} {'are' if below > 1 else 'is'} significantly below {first} "
        f"and {above or 'none'} above."
    )


def voices(facts: Facts) -> str:
    """Return for which methods the authors' voices are shown, for which ruled out, and for which it is open."""
    claims = attributed(facts)
    if claims.empty:
        return ""
    if not facts.enough:
        return f"Whose voices methods write in cannot be shown with {facts.authors} authors."
    return " ".join(_voices(facts, claims))


def _voices(facts: Facts, claims: pd.DataFrame) -> Iterator[str]:
    tests = "Holm" if len(claims) == 1 else f"Holm over {len(claims)} methods"
    common = facts.scores(COMMON, facts.kept).get("score", pd.Series(dtype=float)).notna().any()
    against = "on common prompts too" if common else "and above the base model on the same prompts"
    voice = list(claims.index[claims["voice"]])
    if voice:
        yield f"In the authors' voices, above chance {against} ({tests}): {_names(facts, voice)}."
    prompted = list(claims.index[(claims["state"] == "above") & ~claims["voice"]])
    if prompted:
        asked = "common prompts do not show more" if common else "nothing is shown above the base model"
        if not common and BASE not in facts.methods:
            asked = "there is neither a row of common prompts nor the base model to compare with"
        yield (
            f"Above chance, which the prompts alone may carry, as they are the authors' own words and {asked}: "
            f"{_names(facts, prompted)}."
        )
    less = list(claims.index[claims["within"]])
    if less:
        yield f"{_capital(margin_text(facts.margin))} the voice or more is ruled out for {_names(facts, less)}."
    undecided = claims[(claims["state"] == "open") & ~claims["within"]]
    if len(undecided):
        found = undecided["found"].max()
        reach = f"; a method would be found reliably (80 % power) from {_percent(found)} of its texts on"
        names = f"{_names(facts, list(undecided.index))}{reach if found < 1 else ''}"
        yield f"Whether texts go to the right author more often than by chance is open for {names}."
    behind = list(claims.index[claims["state"] == "below"])
    if behind:
        yield f"Below chance: {_names(facts, behind)}."


def adapters(facts: Facts) -> str:
    """Return how often the first row's adapters point to the author of an unseen text, and whose do beyond chance.

    "" where no likelihood was read, or where the first row has one model for all.
    """
    claims, first = readings(facts), subject(facts.methods)
    if first not in claims.index or facts.likelihood is None:
        return ""
    if not facts.enough_read:
        number = facts.authors_read
        return f"What adapters know of their authors cannot be shown with {number} authors who have unseen texts."
    own: Any = claims.loc[first]
    table = facts.likelihood
    rows = table[(table["metric"] == "likelihood_top1") & (table["method"] == first) & (table["variant"] == "")]
    # Every seed's adapters read the same texts.
    texts = int(rows["n"].iloc[0]) // facts.seeds
    said = (
        f"Given {texts} unseen texts, {facts.name(first)}'s adapter of the true author fits best in "
        f"{_percent(own['value'])} [{_percent(own['low'])}, {_percent(own['high'])}] of an author's readings "
        f"on average ({counted(facts, facts.authors_read)}); chance is {_percent(own['chance'])}."
    )
    return " ".join(filter(None, (said, *_readings(facts, claims), gains(facts, first))))


def _readings(facts: Facts, claims: pd.DataFrame) -> Iterator[str]:
    known = list(claims.index[claims["known"]])
    if known:
        yield f"Above chance, and better than the base on their own authors: {_names(facts, known)}."
    forgetful = list(claims.index[(claims["state"] == "above") & ~claims["known"]])
    if forgetful:
        yield (
            "Above chance, but not shown to read their own authors better than the base, which forgetting others gives "
            f"too: {_names(facts, forgetful)}."
        )
    undecided = claims[claims["state"] == "open"]
    if len(undecided):
        yield f"Open for {_names(facts, list(undecided.index))}."


def gains(facts: Facts, method: str) -> str:
    """Return a row's own gain with its voice gain, how much of that is others' loss, and its neutral gain.

    A voice gain is said only where the lower limit of the own gain is above 0.
    """
    own, others, voice, neutral = gains_of(facts, method).values()
    if own.isna().any():
        return ""
    said = f"Own gain: {_nats(own)} nats per token over the base"
    if not own["low"] > 0:
        return f"{said}: no voice gain is claimed, as forgetting gives one too."
    if voice.notna().all():
        loss = max(0.0, -float(others[""]))
        said += f"; voice gain: {_nats(voice)}, of which {minus(f'{loss:.3f}')} is others' loss"
    return said + (f"; neutral gain: {_nats(neutral)}." if math.isfinite(neutral[""]) else ".")


def _nats(row: Any) -> str:
    value, low, high = (minus(f"{float(row[end]):.3f}") for end in ENDS)
    return value if math.isnan(row["low"]) else f"{value} [{low}, {high}]"


def margin_text(margin: float) -> str:
    """Return a margin as "half of" or "30 % of"."""
    return "half of" if margin == 0.5 else f"{100 * margin:.0f} % of"


def _names(facts: Facts, methods: Sequence[str]) -> str:
    names = [facts.name(method) for method in methods]
    return _listed(names if len(names) <= _NAMED + 1 else [*names[:_NAMED], f"{len(names) - _NAMED} more methods"])


def _listed(texts: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(texts[:-1]), texts[-1]]))


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _percent(share: float) -> str:
    return f"{100 * share:.0f}%"


def _points(share: float) -> str:
    """Return a difference of shares in percentage points, signed, never "-0"."""
    number = round(100 * share)
    return minus(f"{number:+d}") if number else "0"
