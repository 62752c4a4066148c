"""Response files of the human audit: what a page saves, and how files become votes."""

import hashlib
import json
import math
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, TypedDict

import pandas as pd
from pydantic import Field

from favor.foundation.errors import UserError
from favor.foundation.names import printable
from favor.foundation.received import Received, received_bytes, received_json
from favor.foundation.seeds import numpy_generator
from favor.foundation.text import storable
from favor.studies.human_audit.schemas import HUMAN_2AFC_VOTES

FORMAT = "2afc-responses-1"
CONFIDENCES = (1, 2, 3, 4, 5)
_AGAIN = "ask for the file as it was saved"


def annotator_name(number: int) -> str:
    """Return the name of the annotator with this number, from 1."""
    return f"annotator_{number}"


class Shown(TypedDict):
    """What a page shows of an item: excerpts of two authors, and the candidate. No source, client or key."""

    item: str
    a: list[str]
    b: list[str]
    candidate: str


class Response(Received):
    """What an annotator answered to an item; ``seconds``: NaN where the page records no times."""

    item: str
    choice: Literal["A", "B"]
    confidence: int = Field(ge=CONFIDENCES[0], le=CONFIDENCES[-1])
    comment: str
    seconds: float = Field(math.nan, ge=0, le=30 * 86_400)  # for so long a page may have been open


class ResponseFile(Received):
    """What a page saves."""

    format: Literal["2afc-responses-1"]
    page: str
    annotator: str
    responses: list[Response]


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
    ``UserError`` naming file and key where a file is broken, belongs to no page, repeats an annotator or is
    incomplete.
    """
    names = [annotator_name(number) for number in range(1, annotators + 1)]
    pages = {page_digest(page_items(items, name, seed), name): name for name in names}
    known = {row["item"]: row for row in items[["item", "source", "client", "right"]].to_dict("records")}
    files: dict[str, Path] = {}
    votes = []
    for path in sorted(paths):
        found = received_json(path, ResponseFile, _AGAIN, content=_storable(path))
        annotator = pages.get(found.page)
        if annotator is None:
            raise UserError(
                f"{path}: key 'page': not a page of this audit (its items or settings have changed, or the file is "
                "another audit's); move it away, or restore the settings"
            )
        if found.annotator != annotator:
            raise UserError(f"{path}: key 'annotator': the page belongs to {annotator}; {_AGAIN}")
        if annotator in files:
            raise UserError(f"{path}: key 'annotator': {annotator} has answered in {files[annotator]} too; keep one")
        files[annotator] = path
        times = Counter(answer.item for answer in found.responses)
        odd = [item for item, number in times.items() if number > 1 or item not in known]
        if odd:
            fault = "answered twice" if odd[0] in known else "no item of this audit"
            raise UserError(f"{path}: key 'responses': item {printable(odd[0])} is {fault}; {_AGAIN}")
        missing = sorted(set(known) - set(times))
        if missing:
            raise UserError(
                f"{path}: key 'responses': {len(missing)} of {len(known)} items have no answer, first {missing[0]}; "
                "ask the annotator to finish"
            )
        for answer in found.responses:
            item = known[answer.item]
            own = {"annotator": annotator, "source": item["source"], "client": item["client"]}
            votes.append({**own, "correct": answer.choice == item["right"], **answer.model_dump()})
    names = HUMAN_2AFC_VOTES.names
    return pd.DataFrame(votes, columns=names).astype({"correct": bool, "confidence": "int32", "seconds": float})


def _storable(path: Path) -> bytes:
    """Return a file's JSON without lone surrogates (:func:`favor.foundation.text.storable`)."""
    try:
        content = json.loads(received_bytes(path, links=True))
    except (ValueError, RecursionError) as error:
        raise UserError(f"{path}: not complete JSON ({error}); ask the annotator to save the file again") from None
    return storable(json.dumps(content, ensure_ascii=False)).encode()
