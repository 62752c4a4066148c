"""Response files of the human audit: what a page saves, and how files become votes."""

import hashlib
import json
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TypedDict

import pandas as pd

from favor.foundation.errors import UserError
from favor.foundation.seeds import numpy_generator
from favor.foundation.text import storable
from favor.studies.human_audit.items import SIDES
from favor.studies.human_audit.schemas import HUMAN_2AFC_VOTES

FORMAT = "2afc-responses-1"
CONFIDENCES = (1, 2, 3, 4, 5)
_LONGEST = 30 * 86_400  # seconds that a page may have been open at an item


def annotator_name(number: int) -> str:
    """Return the name of the annotator with this number, from 1."""
    return f"annotator_{number}"


class Shown(TypedDict):
    """What a page shows of an item: excerpts of two authors, and the candidate. No source, client or key."""

    item: str
    a: list[str]
    b: list[str]
    candidate: str


@dataclass(frozen=True)
class Response:
    """What an annotator answered to an item; ``seconds``: NaN where the page records no times."""

    item: str
    choice: str
    confidence: int
    comment: str
    seconds: float


def page_items(items: pd.DataFrame, annotator: str, seed: int) -> list[Shown]:
    """Return what ``annotator`` is shown of the table ``human_2afc_items``, in an order of the annotator's own."""
    ordered = items.sort_values("item", ignore_index=True)
    order = numpy_generator(seed, "2afc order", annotator).permutation(len(ordered))
    return [
        {"item": row["item"], "a": list(row["profile_a"]), "b": list(row["profile_b"]), "candidate": row["candidate"]}
        for row in ordered.iloc[order].to_dict("records")
    ]


def page_digest(shown: Sequence[Shown], annotator: str) -> str:
    """Return 32 hexadecimal digits that name an annotator's page by what it shows, whatever it looks like."""
    content = json.dumps([annotator, list(shown)], sort_keys=True, ensure_ascii=False)
    return hashlib.blake2b(content.encode(), digest_size=16).hexdigest()


def read_votes(paths: Sequence[Path], items: pd.DataFrame, annotators: int, seed: int) -> pd.DataFrame:
    """Return the table ``human_2afc_votes`` of the response files ``paths``.

    ``items``: table ``human_2afc_items``; ``annotators``: how many pages there are; ``seed``: the audit's. Raises
    ``UserError`` naming file and field where a file is broken, belongs to no page, repeats an annotator or is
    incomplete.
    """
    names = [annotator_name(number) for number in range(1, annotators + 1)]
    pages = {page_digest(page_items(items, name, seed), name): name for name in names}
    known = {row["item"]: row for row in items[["item", "source", "client", "right"]].to_dict("records")}
    files: dict[str, Path] = {}
    votes = []
    for path in sorted(paths):
        content = _content(path)
        annotator = _annotator(path, content, pages)
        if annotator in files:
            raise UserError(f"{path}: field 'annotator': {annotator} has answered in {files[annotator]} too; keep one")
        files[annotator] = path
        for answer in _answers(path, content, known):
            item = known[answer.item]
            correct = answer.choice == item["right"]
            own = {"annotator": annotator, "source": item["source"], "client": item["client"], "correct": correct}
            votes.append({**own, **asdict(answer)})
    names = HUMAN_2AFC_VOTES.names
    return pd.DataFrame(votes, columns=names).astype({"correct": bool, "confidence": "int32", "seconds": float})


def _content(path: Path) -> dict[str, object]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, OSError, RecursionError) as error:
        raise UserError(f"{path}: not complete JSON ({error}); ask the annotator to save the file again") from None
    found = content.get("format") if isinstance(content, dict) else None
    if found != FORMAT:
        raise UserError(f"{path}: field 'format' is {found!r}, not '{FORMAT}'; only files saved by a page belong here")
    return dict(content)


def _annotator(path: Path, content: Mapping[str, object], pages: Mapping[str, str]) -> str:
    page = content.get("page")
    if not isinstance(page, str) or page not in pages:
        raise UserError(
            f"{path}: field 'page': {page!r} is not a page of this audit (its items or settings have changed, or the "
            "file is another audit's); move it away, or restore the settings"
        )
    if content.get("annotator") != pages[page]:
        raise UserError(
            f"{path}: field 'annotator' is {content.get('annotator')!r}, but the page belongs to {pages[page]}; ask "
            "for the file as it was saved"
        )
    return pages[page]


def _answers(path: Path, content: Mapping[str, object], known: Collection[str]) -> list[Response]:
    answers = content.get("responses")
    if not isinstance(answers, list):
        raise UserError(f"{path}: field 'responses' is not a list; ask the annotator to save the file again")
    seen: list[str] = []  # what a file holds need not be hashable
    for number, answer in enumerate(answers):
        where = f"{path}: field 'responses[{number}]"
        if not isinstance(answer, dict):
            raise UserError(f"{where}' is {answer!r}, no answer; ask the annotator to save the file again")
        item = answer.get("item")
        if item in seen or not isinstance(item, str) or item not in known:
            fault = "answered twice" if item in seen else "no item of this audit"
            raise UserError(f"{where}.item': {item!r} is {fault}; ask for the file as it was saved")
        seen.append(item)
        if answer.get("choice") not in SIDES:
            raise UserError(
                f"{where}.choice': {answer.get('choice')!r} is neither A nor B; ask for an answer to {item}"
            )
        confidence = answer.get("confidence")
        if isinstance(confidence, bool) or confidence not in CONFIDENCES or not isinstance(confidence, int):
            raise UserError(f"{where}.confidence': {confidence!r} is not 1 to 5; ask for an answer to {item}")
        seconds = answer.get("seconds", 0)
        if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 <= seconds <= _LONGEST:
            raise UserError(
                f"{where}.seconds': {str(seconds)[:30]} is not a number of seconds up to {_LONGEST:,}; ask for the "
                "file as it was saved"
            )
        if not isinstance(answer.get("comment"), str):
            raise UserError(
                f"{where}.comment': {answer.get('comment')!r} is not text; ask for the file as it was saved"
            )
    missing = sorted(set(known) - set(seen))
    if missing:
        raise UserError(
            f"{path}: field 'responses': {len(missing)} of {len(known)} items have no answer, first {missing[0]}; ask "
            "the annotator to finish"
        )
    return [
        Response(
            item=answer["item"],
            choice=answer["choice"],
            confidence=answer["confidence"],
            comment=storable(answer["comment"]),
            seconds=float(answer.get("seconds", math.nan)),
        )
        for answer in answers
    ]
