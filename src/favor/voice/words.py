"""The finding of ``favor score`` in words, for the screen and for its page."""

import math
from collections.abc import Iterator
from pathlib import Path

from favor.foundation.html import render
from favor.statistics.kept_share import KeptShare
from favor.tables.cells import WIDEST
from favor.tables.escape import minus
from favor.tables.html import page
from favor.voice.score import VoiceScore

SHOWN_TEXTS = 20  # on the screen
_AXIS = (-0.5, 1.5)  # shares beyond are drawn at its ends
VERIFIERS = {"encoder": "style encoder", "stylometry": "stylometry", "grammar": "grammar (LambdaG)"}


def summary(score: VoiceScore) -> str:
    """Return one sentence: where the texts lie, by the verifier whose limits are narrowest."""
    known = [(share.high - share.low, name) for name, share in score.shares.items() if share.high - share.low <= WIDEST]
    if not known:
        return f"Nothing can be said of the texts together: {share_text(next(iter(score.shares.values())))}."
    name = min(known)[1]
    share = score.shares[name]
    found = {
        (True, True): "The texts lie between the other authors' and the author's own.",
        (True, False): "The texts are above the other authors', and nothing tells them from the author's own.",
        (False, True): "The texts are below the author's own, and nothing tells them from the other authors'.",
        (False, False): "There is too little text to say whether it is nearer to the author or to others.",
    }[share.low > 0, share.high < 1]
    return f"{found} By {VERIFIERS[name]}: {share_text(share)}, where 0 is other authors and 1 the author's own texts."


def share_text(share: KeptShare) -> str:
    """Return a share with its interval, or why there is none."""
    if share.reason:
        return share.reason
    if share.high - share.low > WIDEST:  # its ends are where the two levels nearly meet
        return "the interval is too wide to say anything"
    return minus(f"{share.share:.2f} [{share.low:.2f}, {share.high:.2f}]")


def number(value: float) -> str:
    """Return a rate with two digits that mean something."""
    if not math.isfinite(value):
        return "–"
    return f"{value:.2f}" if abs(value) < 1 else f"{value:.1f}"


def lines(score: VoiceScore, contrast: str) -> Iterator[str]:
    """Yield the lines that ``favor score`` prints."""
    yield summary(score)
    yield ""
    scored = sum(not text.unscored for text in score.texts)
    yield (
        f"{scored} of {len(score.texts)} texts, in passages of {score.passage_words} words. The author: "
        f"{score.author_words:,} words. Contrast: {score.authors} authors ({contrast})."
    )
    for name, share in score.shares.items():
        yield f"  {VERIFIERS[name]:18}  {share_text(share)}"
    yield f"  (95 % intervals over {score.units}; 0: other authors; 1: the author's own held-out texts)"
    yield ""
    differing = [habit for habit in score.habits if habit.differs]
    tested = any(math.isfinite(habit.p) for habit in score.habits)
    none = "No habit differs beyond chance." if tested else "There is too little text to say whether a habit differs."
    yield "Habits that differ (p < .05 after Holm):" if differing else none
    for habit in differing:
        limits = f"{number(habit.own_low)} to {number(habit.own_high)}"
        others = f"{number(habit.others_low)} to {number(habit.others_high)}"
        yield f"  {habit.name} {habit.unit}: {number(habit.texts)}; the author {limits}; others {others}"
    rates = "{:.1f}; the author {:.1f}; others {:.1f}".format(*score.phrases)
    yield f"Phrases of assistants per 1,000 words: {rates}"
    yield ""
    shown = [text for text in score.texts if not text.unscored]
    for text in shown[:SHOWN_TEXTS]:
        places = (
            f"{VERIFIERS[name]} {minus(format(each.share, '.2f'))}, above {100 * each.among_own:.0f} % of own passages"
            for name, each in text.placements.items()
        )
        yield f"{text.name} ({text.words} words): {'; '.join(places)}"
    if len(shown) > SHOWN_TEXTS:
        yield f"and {len(shown) - SHOWN_TEXTS} more texts, which --page and --json have"
    left_out = [f"{text.name} ({text.unscored})" for text in score.texts if text.unscored]
    if left_out:
        yield f"Not scored: {', '.join(left_out[:3])}{f' and {len(left_out) - 3} more' if len(left_out) > 3 else ''}."
    yield from (f"Note: {note}" for note in score.notes)


def place_on_axis(share: float) -> float:
    """Return where a share stands on the axis, in percent of its length."""
    low, high = _AXIS
    return 100 * (min(max(share, low), high) - low) / (high - low)


# What the templates of all pages about a score take.
WORDING = {"verifiers": VERIFIERS, "share_text": share_text, "number": number, "place": place_on_axis}


def score_page(score: VoiceScore, author: str, contrast: str, encoder: str) -> str:
    """Return the HTML page: places, habits, and the texts with what is copied. One file, nothing fetched."""
    body = render(
        Path(__file__).parent / "templates", "score.html",
        score=score, author=author, contrast=contrast, encoder=encoder, summary=summary(score), **WORDING,
    )  # fmt: skip
    return page("How near the texts are to the author", body)
