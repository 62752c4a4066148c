"""The interface every text encoder has, and the loader that finds an encoder's kind by name."""

import sys
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from favor.encoders.settings import LoadedEncoder
from favor.foundation.errors import UserError
from favor.foundation.registry import ENCODER_KINDS
from favor.running.jobs.progress import Progress


class Unread(NamedTuple):
    """What an encoder was given and did not read: the ends of ``cut`` of ``texts``, ``unread`` of their ``tokens``."""

    texts: int = 0
    cut: int = 0
    tokens: int = 0
    unread: int = 0

    def line(self, of: str = "texts") -> str:
        """Return what was cut as a sentence; ``of``: what the texts are."""
        return (
            f"{self.cut:,} of {self.texts:,} {of} are longer than the encoder reads: the last "
            f"{100 * self.unread / self.tokens:.0f} % of their tokens are cut off."
        )


class TextEncoder(ABC):
    """Maps texts to vectors.

    ``dimension`` is the length of a vector, ``unread`` what was cut off so far. Rows of every kind in this package have
    unit L2 length, because every space here is compared by cosine.
    """

    dimension: int
    unread = Unread()

    def count(self, found: Unread) -> None:
        """Add to what was cut off; the first time that something is, it is said on standard error."""
        if found.cut and not self.unread.cut:
            print(found.line(), file=sys.stderr, flush=True)
        self.unread = Unread(*(before + more for before, more in zip(self.unread, found, strict=True)))

    @abstractmethod
    def encode(self, texts: Sequence[str], progress: Progress | None = None) -> np.ndarray:
        """Return float32 [len(texts), dimension], row i for text i.

        A row depends on its text only: the order of the texts and their neighbours change it by less than 1e-6.
        ``progress``, if given, is advanced once per distinct text.
        """


def load_encoder(spec: Mapping[str, object], folder: Path | None = None) -> TextEncoder:
    """Load the encoder that ``spec`` describes.

    ``spec["kind"]`` names a file of :mod:`favor.encoders.kinds`; the other keys are that kind's own. ``folder`` holds
    what the workflow trained or fitted for this encoder, for the kinds that have such a step (``asce``,
    ``stylometry``). Adding a kind is adding one file there with a function ``load(spec, folder)``.
    """
    options = {name: value for name, value in spec.items() if name != "kind"}
    encoder: TextEncoder = ENCODER_KINDS.load(str(spec["kind"])).load(options, folder)
    return encoder


def embed(settings: LoadedEncoder, texts: Sequence[str], label: str) -> np.ndarray:
    """Return the rows of ``texts`` in the space of a configured encoder; ``label``: of the lines of progress."""
    encoder, progress = load_encoder(settings.spec, settings.path), Progress(label, len(set(texts)), "texts")
    vectors = encoder.encode(texts, progress)
    progress.close()
    return vectors


def checked_options(kind: str, options: Mapping[str, object], defaults: Mapping[str, object]) -> dict[str, Any]:
    """Return ``defaults`` overlaid by ``options``; ``UserError`` for an option the kind does not have."""
    for name in options:
        if name not in defaults:
            raise UserError(f"encoder kind '{kind}' has no option '{name}'; it has {', '.join(sorted(defaults))}")
    return {**defaults, **options}


def trained_folder(kind: str, given: str, folder: Path | None) -> Path:
    """Return the folder of a trained encoder: the option ``given``, else the workflow's own."""
    found = Path(given).expanduser() if given else folder
    if found is None:
        raise UserError(f"encoder kind '{kind}' needs the folder of a trained encoder; set 'folder' or train one")
    return found


def check_precision(precision: str) -> None:
    """Raise ``UserError`` for a precision that no encoder computes in."""
    if precision not in ("float32", "bfloat16"):
        raise UserError(f"encoder option 'precision' is '{precision}'; use float32 or bfloat16")
