"""Fixtures shared by every test."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

# The same examples in every run, and no deadline: a busy machine is no failure.
settings.register_profile("repeatable", deadline=None, derandomize=True)
settings.load_profile("repeatable")


@pytest.fixture(scope="session")
def repository() -> Path:
    """The root of the checkout."""
    return Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def real_blog_csv() -> Path:
    """A real Blog Authorship Corpus CSV, named by FAVOR_BLOG_CSV; tests that want it skip without it."""
    location = os.environ.get("FAVOR_BLOG_CSV", "")
    if not location or not Path(location).is_file():
        pytest.skip("FAVOR_BLOG_CSV does not name a file")
    return Path(location)
