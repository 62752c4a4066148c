"""Marks of tests that need a program which the README calls optional: slow ones, which skip where it is missing."""

import shutil
from collections.abc import Callable
from typing import Any

import pytest


def needs(*programs) -> Callable[[Any], Any]:
    """Mark a test that runs these programs."""
    missing = [program for program in programs if shutil.which(program) is None]

    def mark(test) -> Any:
        return pytest.mark.slow(2)(pytest.mark.skipif(bool(missing), reason=f"without {' and '.join(missing)}")(test))

    return mark
