"""Snakemake's scheduler is woken once a second where jobs wait, however many have ended."""

from __future__ import annotations

import threading
import time
from types import SimpleNamespace

import pytest
from snakemake.scheduling.job_scheduler import JobScheduler

from favor.running import scheduling

DELAY = 0.05


@pytest.fixture
def repaired(monkeypatch: pytest.MonkeyPatch) -> None:
    # Set to itself, so that it is put back after the test. The method is there in the version that is pinned.
    monkeypatch.setattr(JobScheduler, scheduling.METHOD, getattr(JobScheduler, scheduling.METHOD))
    scheduling.look_again_once()


def looks(ends: int, seconds: float) -> int:
    """Times that a scheduler looks for jobs of which some always wait, when ``ends`` others have ended at once."""
    scheduler = SimpleNamespace(_open_jobs=threading.Semaphore(ends))
    end, count = time.monotonic() + seconds, 0
    while scheduler._open_jobs.acquire(timeout=max(0.0, end - time.monotonic())):
        count += 1
        getattr(JobScheduler, scheduling.METHOD)(scheduler, DELAY)
    return count


def test_a_look_is_followed_by_one_other_a_delay_later(repaired: None):
    ends, seconds = 20, 10.5 * DELAY
    # Two at least: the chain goes on.
    assert ends + 2 <= looks(ends, seconds) <= ends + seconds / DELAY


def test_delays_are_kept_apart(repaired: None):
    scheduler = SimpleNamespace(_open_jobs=threading.Semaphore(0))
    for delay in (60.0, DELAY, DELAY):
        getattr(JobScheduler, scheduling.METHOD)(scheduler, delay)
    assert scheduler._open_jobs.acquire(timeout=30)
    assert not scheduler._open_jobs.acquire(timeout=3 * DELAY)


def test_a_scheduler_of_another_form_is_left_as_it_is(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delattr(JobScheduler, scheduling.METHOD)
    scheduling.look_again_once()
    assert not hasattr(JobScheduler, scheduling.METHOD)
