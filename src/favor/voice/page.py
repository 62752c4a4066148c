"""The page of ``favor score``: places, habits, and the texts with what is copied and what an assistant would say."""

from pathlib import Path

from favor.foundation.html import render
from favor.tables.style import page
from favor.voice.score import VoiceScore
from favor.voice.words import VERIFIERS, number, share_text, summary

_AXIS = (-0.5, 1.5)  # shares beyond are drawn at its ends


def score_page(score: VoiceScore, author: str, contrast: str, encoder: str) -> str:
    """Return the HTML page: one file, nothing fetched."""
    body = render(
        Path(__file__).parent / "templates", "score.html",
        score=score, author=author, contrast=contrast, encoder=encoder, summary=summary(score),
        verifiers=VERIFIERS, share_text=share_text, number=number, place=place_on_axis,
    )  # fmt: skip
    return page("How near the texts are to the author", body)


def place_on_axis(share: float) -> float:
    """Return where a share stands on the axis, in percent of its length."""
    low, high = _AXIS
    return 100 * (min(max(share, low), high) - low) / (high - low)
