"""Benchmarks' files: objects of one JSON list of gigabytes, one after the other, and what is in an object."""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import UnionType
from typing import TextIO

from favor.corpora.sources import open_text
from favor.foundation.errors import UserError

JsonObject = dict[str, object]
CHUNK = 1 << 20  # characters that are read at once
_CUT = 16  # an error this near to the end of what was read may be that end
_START = re.compile(r'\s*(?:\{\s*"task"\s*:\s*"[^"]*"\s*,\s*"golds"\s*:\s*)?\[')  # LaMP wraps some lists
_BETWEEN = re.compile(r"\s*([,\]])\s*")


def json_objects(path: Path, encoding: str) -> Iterator[tuple[int, JsonObject]]:
    """Yield (number from 1, object) of the list in a JSON file, plain, gzip or zip; one object at a time is in memory.

    The list may be the value of "golds" after a "task". Raises ``UserError`` where the file is broken, cut short,
    or holds something else.
    """
    number = 0
    with open_text(path, encoding, (".json",)) as (stream, name):
        text = stream.read(CHUNK)
        start = _START.match(text)
        if start is None:
            raise UserError(f"{name}: not a JSON list of objects; give the file as it was published")
        text = text[start.end() :].lstrip()
        while not text.startswith("]"):
            number += 1
            found, text = _next(text, stream, f"{name}: object {number}")
            yield number, found


def _next(text: str, stream: TextIO, where: str) -> tuple[JsonObject, str]:
    """Return the first object of ``text`` and what follows it and its comma, reading on where ``text`` is too short."""
    while True:
        try:
            found, end = json.JSONDecoder().raw_decode(text)
            between = _BETWEEN.match(text, end)
            if between is None and text[end:].strip():
                raise json.JSONDecodeError("Expecting ',' delimiter", text, end)
            if between is not None and (between[1] == "]" or between.end() < len(text)):
                break
        except RecursionError:
            raise UserError(f"{where} is nested too deeply; fetch the file again") from None
        except json.JSONDecodeError as error:
            cut = error.msg.startswith("Unterminated string") or error.pos >= len(text) - _CUT
            if not cut:
                raise UserError(f"{where} is not complete JSON ({error.msg}); fetch the file again") from None
        more = stream.read(max(CHUNK, len(text)))
        if not more:
            raise UserError(f"{where} is cut short, or the list after it is; fetch the file again")
        text += more
    if not isinstance(found, dict):
        raise UserError(f"{where} is not an object; give the file as it was published")
    return found, "]" if between[1] == "]" else text[between.end() :]


def profile_of(holder: Mapping[str, object], where: str) -> list[JsonObject]:
    """Return the documents of a question's or row's author. Raises ``UserError`` for anything but a list of objects."""
    found = holder.get("profile")
    if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
        raise UserError(f"{where}: 'profile' is not a list of documents; fetch the file again")
    return found


def text_of(holder: Mapping[str, object], key: str, where: str, kinds: type | UnionType = str) -> str:
    """Return a value of ``kinds`` as text; null is an empty text. Raises ``UserError`` for anything else, or none."""
    value = holder.get(key, ...)
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, kinds):
        what = f"has no '{key}'" if value is ... else f"'{key}' is not text"
        raise UserError(f"{where}: {what}; give the file as it was published")
    return str(value)


def text_key(text: str) -> int:
    """Return a digest of a text by which copies are found, however it is spaced."""
    plain = " ".join(text.split()).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(plain, digest_size=8).digest(), "big")
