"""Robust rules: rounds by hand, SciPy and Flower's own strategies as oracles, the jobs through files, refusals."""

import dataclasses
from typing import Any

import numpy as np
import pytest
from scipy.stats import trim_mean
from tests.federation.test_aggregate_script import SHARED, A, B, deltas, run_job
from tests.plan.conftest import *  # noqa: F403 - planners

from favor.federation.client_archive import write_pack
from favor.federation.combining import combined
from favor.federation.method import SharedStage
from favor.federation.server import step
from favor.federation.server_rule import ServerRule
from favor.federation.settings import Robust
from favor.foundation.errors import UserError
from favor.foundation.registry import ROBUST_RULES
from favor.foundation.tensors import read_safetensors, write_safetensors
from favor.plan.keys import run_key

# Five uploads of one number per tensor; the last lies.
FIVE = {f"client_{n}": {"A": np.array([a]), "B": np.array([b])} for n, (a, b) in enumerate(
    [(0.0, 1.0), (1.0, 1.0), (2.0, 1.0), (2.0, 2.0), (100.0, -100.0)]
)}  # fmt: skip


def made(rule, uploads=FIVE, **settings) -> dict[str, list[float]]:
    asked = Robust(rule=rule, **settings)
    return {key: value.tolist() for key, value in combined(uploads, ROBUST_RULES.load(rule).RULE, asked).items()}


# Without the first: 1, 2, 2, 100 and 1, 1, 2, -100.
FOUR = dict(list(FIVE.items())[1:])
TWO = {"x": {"A": np.array([3.0]), "B": np.array([4.0])}, "y": {"A": np.array([1.0]), "B": np.array([0.0])}}


@pytest.mark.parametrize(
    ("rule", "uploads", "settings", "a", "b"),
    [
        ("median", FIVE, {}, 2.0, 1.0),
        ("median", FOUR, {}, 2.0, 1.0),
        ("trimmed_mean", FIVE, {}, 5 / 3, 1.0),  # A: 1, 2, 2 are left; B: 1, 1, 1
        ("trimmed_mean", FIVE, {"attackers": 2}, 2.0, 1.0),
        ("trimmed_mean", FIVE, {"attackers": 0}, 21.0, -19.0),
        # Norms 5 and 1 over both tensors: 3 / 5 * 2.5 = 1.5 and 4 / 5 * 2.5 = 2; the second stays. Means of two.
        ("norm_bound", TWO, {"norm": 2.5}, 1.25, 1.0),
        # Squared distances to the 5 - 1 - 2 = 2 nearest: (1, 4), (1, 1), (1, 1), (1, 2), far: 5, 2, 2, 3.
        ("krum", FIVE, {}, 1.0, 1.0),  # of the two best the first in name order
        ("multi_krum", FIVE, {}, 1.25, 1.25),  # all but the last: 5 / 4 and 5 / 4
    ],
)
def test_rules_by_hand(rule, uploads, settings, a, b) -> None:
    assert made(rule, uploads, **settings) == {"A": [pytest.approx(a)], "B": [b]}


@pytest.mark.parametrize("attackers", [0, 1, 2])
def test_rules_by_number_are_those_of_numpy_and_scipy(attackers) -> None:
    uploads = {client: parts["delta"] for n in range(4) for client, parts in renamed(n).items()}
    stacked = {key: np.stack([uploads[client][key].astype(np.float64) for client in sorted(uploads)]) for key in (A, B)}
    for key, values in stacked.items():
        np.testing.assert_allclose(made("median", uploads)[key], np.median(values, axis=0))
        trimmed = trim_mean(values, attackers / len(uploads), axis=0)
        np.testing.assert_allclose(made("trimmed_mean", uploads, attackers=attackers)[key], trimmed)


def renamed(number) -> dict[str, dict[str, dict[str, np.ndarray]]]:
    """Two uploads, of other clients for every number."""
    return {f"client_{2 * number + n}": parts for n, parts in enumerate(deltas(number, SharedStage()).values())}


@pytest.mark.parametrize("attackers", [0, 1, 2])
def test_rules_are_those_of_flower(attackers) -> None:
    aggregate = pytest.importorskip("flwr.server.strategy.aggregate", reason="without flwr")
    uploads = {client: parts["delta"] for n in range(4) for client, parts in renamed(n).items()}
    results = [([uploads[client][A], uploads[client][B]], 1) for client in sorted(uploads)]
    expected = {
        "median": aggregate.aggregate_median(results),
        "trimmed_mean": aggregate.aggregate_trimmed_avg(results, attackers / len(results)),
        "krum": aggregate.aggregate_krum(results, attackers, 0),
        "multi_krum": aggregate.aggregate_krum(results, attackers, len(results) - attackers),
    }
    for rule, (a, b) in expected.items():
        found = made(rule, uploads, attackers=attackers)
        np.testing.assert_allclose(found[A], a, rtol=1e-5, atol=1e-6, err_msg=rule)
        np.testing.assert_allclose(found[B], b, rtol=1e-5, atol=1e-6, err_msg=rule)


@pytest.mark.parametrize(
    "server", [ServerRule(), ServerRule("adam", 0.1, 0.9, 0.99, 0.01), ServerRule("momentum", 1.0, 0.9)]
)
def test_the_servers_step_works_on_what_the_rule_makes(server, repository, tmp_path) -> None:
    stage = SharedStage(server=server)
    write_safetensors(SHARED, tmp_path / "round0.safetensors", {})
    uploads = {**renamed(0), **renamed(1)}
    write_pack(tmp_path / "upload", uploads, {"round": "0"})
    robust = {"rule": "median", "attackers": 1, "norm": None}
    given = {"cfg": {"robust": robust}, "output": {"total": tmp_path / "combined"}, "script": "combine_uploads"}
    run_job(repository, tmp_path, 0, stage, [str(tmp_path / "upload")], **given)
    read = dataclasses.replace(stage, aggregation="sum_only")
    after = {"memory": tmp_path / "memory"} if server.moments else {}
    run_job(repository, tmp_path, 0, read, [str(tmp_path / "combined")], rate=0.5, output=after)
    medians = {
        key: np.median([parts["delta"][key].astype(np.float64) for parts in uploads.values()], axis=0) for key in (A, B)
    }
    expected, _ = step(server, SHARED, {}, medians, 0.5)
    found, _ = read_safetensors(tmp_path / "round1.safetensors")
    assert all(np.array_equal(found[key], expected[key]) for key in (A, B))


def ruled(rule) -> dict[str, Any]:
    """A change of the smallest configuration: a robust rule."""
    return {"experiments": {"micro": {"federation": {"robust": {"rule": rule}}}}}


def test_a_rule_changes_nothing_that_a_training_job_is_given(plan) -> None:
    training, plain, run = plan(change=ruled("median")).training, plan().training, run_key("micro", "1", "favor")
    assert training.combination_code(run) == "favor.federation.robust.median:RULE"
    for job in plain.jobs(plain.round_step(run, 0)):
        assert training.train_shared_settings(job) == plain.train_shared_settings(job)


def test_a_rule_is_refused_where_a_round_is_too_small_for_it(plan) -> None:
    with pytest.raises(UserError, match="'krum' needs 5 uploads against 1 attackers, but round 0 of seed 1 has 2"):
        plan(change=ruled("krum")).training.rounds("micro", "1", "coverage_first")
