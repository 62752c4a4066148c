"""The repairs of the executor plugin: what fails without them on the real cluster, and when they stand aside."""

from __future__ import annotations

import asyncio
import importlib.util
import logging
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
import snakemake_executor_plugin_slurm

from favor.running.repairs import slurm_plugin

KEPT = ("query_job_status", "get_min_job_age")


@pytest.fixture
def plugin(monkeypatch) -> ModuleType:
    """A copy of the plugin's module that no other test has repaired."""
    path = snakemake_executor_plugin_slurm.__file__
    folders = list(snakemake_executor_plugin_slurm.__path__)
    spec = importlib.util.spec_from_file_location("unrepaired_slurm", path, submodule_search_locations=folders)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "unrepaired_slurm", module)
    spec.loader.exec_module(module)
    return module


def watched_after_a_look(plugin) -> int:
    """The jobs that the plugin still watches after one look at the queue, of one that it watched before."""
    executor = object.__new__(plugin.Executor)
    settings = SimpleNamespace(
        init_seconds_before_status_checks=1, status_attempts=2, status_command="squeue", keep_successful_logs=False
    )
    executor.workflow = SimpleNamespace(
        executor_settings=settings, remote_execution_settings=SimpleNamespace(seconds_between_status_checks=1)
    )
    executor.logger = logging.getLogger("test")
    executor.run_uuid = "test"
    executor._status_query_calls = executor._status_query_failures = 0
    executor._status_query_total_seconds = executor._status_query_max_seconds = 0.0
    executor._status_query_min_seconds = None
    executor._status_query_cycle_rows = []
    executor._next_seconds_between_status_checks = None
    executor.status_rate_limiter = asyncio.Semaphore()
    job = SimpleNamespace(external_jobid="1", aux={})

    async def look() -> list[Any]:
        return [job async for job in executor.check_active_jobs([job])]

    return len(asyncio.run(look()))


def test_jobs_are_forgotten_while_the_controller_is_away_unless_the_plugin_is_repaired(
    plugin, cluster, monkeypatch
) -> None:
    for name, value in cluster.environment.items():
        monkeypatch.setenv(name, value)
    assert watched_after_a_look(plugin) == 1
    cluster.kill_controller()
    try:
        assert watched_after_a_look(plugin) == 0
        assert slurm_plugin.repair(plugin, poll_seconds=1)
        assert watched_after_a_look(plugin) == 1
    finally:
        cluster.start_controller()


def test_another_version_is_left_as_it_is(plugin, monkeypatch) -> None:
    monkeypatch.setattr(slurm_plugin, "version", lambda package: "2.8.1")
    before = [getattr(plugin, name) for name in KEPT]
    submit = plugin.Executor.run_job
    assert not slurm_plugin.repair(plugin, poll_seconds=1)
    assert [getattr(plugin, name) for name in KEPT] == before
    assert plugin.Executor.run_job is submit


def test_the_time_between_looks_is_the_configured_one(plugin) -> None:
    assert slurm_plugin.repair(plugin, poll_seconds=7)
    executor = object.__new__(plugin.Executor)
    executor.next_seconds_between_status_checks = 180
    assert executor.next_seconds_between_status_checks == 7
