"""Robust rules: rounds by hand, SciPy and Flower's own strategies as oracles, the jobs through files, refusals."""

import dataclasses
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import trim_mean
from tests.experiments import experiment
from tests.federation.test_aggregate_script import A, B, deltas, run_job
from tests.plan.conftest import *  # noqa: F403 - planners

from favor.federation.client_archive import write_pack
from favor.federation.combining import combined
from favor.federation.method import SharedStage, load_method
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


def test_median_by_hand() -> None:
    assert made("median") == {"A": [2.0], "B": [1.0]}
    # Without the first: 1, 2, 2, 100 and 1, 1, 2, -100.
    assert made("median", dict(list(FIVE.items())[1:])) == {"A": [2.0], "B": [1.0]}


def test_trimmed_mean_by_hand() -> None:
    # A: 1, 2, 2 are left; B: 1, 1, 1.
    assert made("trimmed_mean") == {"A": [pytest.approx(5 / 3)], "B": [1.0]}
    assert made("trimmed_mean", attackers=2) == {"A": [2.0], "B": [1.0]}
    assert made("trimmed_mean", attackers=0) == {"A": [21.0], "B": [-19.0]}


def test_norm_bound_by_hand() -> None:
    # Norms 5 and 1 over both tensors: 3 / 5 * 2.5 = 1.5 and 4 / 5 * 2.5 = 2; the second stays. Means of two.
    two = {"x": {"A": np.array([3.0]), "B": np.array([4.0])}, "y": {"A": np.array([1.0]), "B": np.array([0.0])}}
    assert made("norm_bound", two, norm=2.5) == {"A": [1.25], "B": [1.0]}


def test_krum_by_hand() -> None:
    # Squared distances to the 5 - 1 - 2 = 2 nearest: (1, 4), (1, 1), (1, 1), (1, 2), far: 5, 2, 2, 3.
    assert made("krum") == {"A": [1.0], "B": [1.0]}  # of the two best the first in name order
    # All but the last: 5 / 4 and 5 / 4.
    assert made("multi_krum") == {"A": [1.25], "B": [1.25]}


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
    start = {A: np.ones((2, 3), np.float32), B: np.zeros((4, 2), np.float32)}
    write_safetensors(start, tmp_path / "round0.safetensors", {})
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
    expected, _ = step(server, start, {}, medians, 0.5)
    found, _ = read_safetensors(tmp_path / "round1.safetensors")
    assert all(np.array_equal(found[key], expected[key]) for key in (A, B))


def test_the_server_of_every_row_reads_the_combination(plan) -> None:
    def change(config) -> None:
        config["experiments"]["micro"]["federation"]["robust"] = {"rule": "median"}
        config["experiments"]["micro"]["methods"] |= {"fedadam": {}}

    training, plain = plan(change=change).training, plan().training
    for row, found in training.project.plans("micro").items():
        if found.shared is not None:
            key = SimpleNamespace(experiment="micro", seed="1", track=found.shared.track, next_round="1", round="0")
            assert [path.rsplit("/", 1)[1] for path in training.uploads(key)] == ["combination.safetensors"]
            assert training.summed_uploads(key) == training.round_uploads(run_key("micro", "1", row), 0)
            assert training.combination_code(key) == "favor.federation.robust.median:RULE"
    # Nothing else that a training job is given is another than without the rule.
    run = run_key("micro", "1", "favor")
    for job in plain.jobs(plain.round_step(run, 0)):
        assert training.train_shared_settings(job) == plain.train_shared_settings(job)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"robust": {"rule": "krumm"}}, "'krumm'.*did you mean 'krum'"),
        ({"robust": {"rule": "norm_bound"}}, "robust.norm.*set it"),
        ({"robust": {"rule": "median"}, "aggregation": "sum_only"}, "robust.*sum_only"),
        ({"robust": {"rule": "median"}, "privacy": {"clip": 1, "noise_multiplier": 0}}, "robust.*'privacy'"),
        ({"robust": {"rule": "median"}, "weighting": "words"}, "weighting.*uniform"),
    ],
)
def test_rules_are_refused_where_they_mean_nothing(changes, words, plan) -> None:
    with pytest.raises(UserError, match=words):
        plan(change=lambda config: config["experiments"]["micro"]["federation"].update(changes))


def test_a_rule_is_refused_where_a_round_is_too_small_for_it(plan) -> None:
    def change(config) -> None:
        config["experiments"]["micro"]["federation"]["robust"] = {"rule": "krum"}

    with pytest.raises(UserError, match="'krum' needs 5 uploads against 1 attackers, but round 0 of seed 1 has 2"):
        plan(change=change).training.rounds("micro", "1", "coverage_first")


@pytest.mark.parametrize("row", ["flexlora", "fedalt"])
def test_a_server_without_a_mean_has_no_robust_rule(row) -> None:
    with pytest.raises(UserError, match=f"methods.{row}.*federation.robust' combines"):
        load_method(row, {}, experiment(federation={"robust": {"rule": "median"}}))
