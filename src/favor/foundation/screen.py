"""What reaches a terminal: words of others cannot steer it, whichever file or folder they came from."""

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO, cast

# Control characters but the tab and the line feed, and marks that turn the direction of what follows them.
_STEERING = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def harmless(text: str) -> str:
    r"""Return ``text`` with every character that steers a terminal as ``\u001b``, which JSON reads as the same."""
    return _STEERING.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


class _Screen:
    """A text stream that writes :func:`harmless` text to another, which answers all else."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        self._stream.write(harmless(text))
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def screened() -> Iterator[None]:
    """Within this context, whatever this process prints is :func:`harmless`."""
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = (cast(TextIO, _Screen(stream)) for stream in before)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before
