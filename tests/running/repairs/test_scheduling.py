"""Snakemake's scheduler is woken once a second where jobs wait, however many have ended."""

import threading
from types import SimpleNamespace

import pytest
from snakemake.scheduling.job_scheduler import JobScheduler

from favor.running.repairs import scheduling

DELAY = 0.3
METHOD = "_schedule_reevalutation"  # as Snakemake spells it


@pytest.fixture
def repaired(monkeypatch) -> None:
    # Set to itself, so that it is put back after the test. The method is there in the version that is pinned.
    monkeypatch.setattr(JobScheduler, METHOD, getattr(JobScheduler, METHOD))
    scheduling.look_again_once()


def test_many_ends_are_followed_by_one_look_and_that_by_another(repaired) -> None:
    ends = 20
    scheduler = SimpleNamespace(_open_jobs=threading.Semaphore(ends))
    look = scheduler._open_jobs.acquire
    for _ in range(ends):
        assert look(blocking=False)
        getattr(JobScheduler, METHOD)(scheduler, DELAY)
    assert look(timeout=30)
    assert not look(timeout=3 * DELAY)  # one look in the place of twenty
    getattr(JobScheduler, METHOD)(scheduler, DELAY)
    assert look(timeout=30)  # the chain goes on
