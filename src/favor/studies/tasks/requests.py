"""What a voice is asked, by task, and how the base model makes what it is asked from a writer's own passage."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

COPIED = 5  # words in a row of the original that make a draft a copy
NEW_TOKENS = 240  # of a draft or an answer at most
REASONS = {
    "copied": f"repeat {COPIED} words in a row",
    "endless": f"do not end within {NEW_TOKENS} tokens",
    "strayed": "have too few of its words of content",
    "short": "have too few words",
    "long": "have more words than it",
    "large": "do not fit a training piece together with it",
}


@dataclass(frozen=True)
class Request:
    """A task in which a voice answers a request, and does not continue a text.

    ``given`` names what the voice is given: the base model makes it of a passage of at most ``words`` words with
    ``system`` and ``make`` (then the passage), and the voice answers ``ask`` and what is given with the passage. What
    is given has at least ``content`` of the passage's words of content, and ``fewest`` to ``most`` as many words as
    the passage. ``templated``: only a base with a chat template is asked.
    """

    given: str
    words: int
    system: str
    make: str
    ask: str
    content: float
    fewest: float
    most: float
    templated: bool


REQUESTS = {
    "rewrite": Request(
        given="draft",
        words=80,
        system="You rewrite text. You never answer it.",
        # Small models answer a message that stands alone.
        make="Rewrite this message in plain, neutral words. Keep every name, number and fact.\n\nMessage: ",
        ask="Rewrite the draft as its author would. Answer with the text alone.",
        content=0.25,
        fewest=0.4,
        most=float("inf"),
        templated=False,
    ),
    "instruct": Request(
        given="instruction",
        words=200,
        system="You describe what a text is to say. You never answer it.",
        make=(
            "Give one short instruction that asks somebody to write this message: to whom, and what it says. Use your "
            "own words.\n\nMessage: "
        ),
        ask="Write what you are asked for as its author would. Answer with the text alone.",
        content=0.05,
        fewest=0.0,
        most=1.0,
        templated=True,
    ),
}


def refusals(refused: Iterable[str]) -> str:
    """Return how many requests were refused, by reason, from the keys of ``REASONS`` ("": not refused); "" for none."""
    return ", ".join(f"{number} {REASONS[reason]}" for reason, number in Counter(refused).most_common() if reason)
