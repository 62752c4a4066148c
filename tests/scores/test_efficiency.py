"""Efficiency scores from a boundary record and logs of a few rows, counted by hand; the paper's own figures."""

import math

import pandas as pd
import pytest

from favor.federation.factors import Factors
from favor.scores.efficiency import METRICS, efficiency_scores, trained_parameters, wall_seconds
from favor.tables.cells import printed_quantity

ADAPTER = 119_801_528  # bytes of the paper's serialised adapter


def boundary() -> pd.DataFrame:
    """The paper's traffic of one seed: six rounds of twelve clients, 50 residuals and endpoints that stay."""
    ways = (("client_to_server", "delta", "u"), ("server_to_client", "shared adapter", "s"))
    rows = [
        (1, "favor", number, way, content, f"c{client}", file, ADAPTER)
        for number in range(6)
        for client in range(12)
        for way, content, file in ways
    ]
    kept = [(client, content) for client in range(50) for content in ("residual", "endpoint")]
    rows += [(1, "favor", 6, "stays_on_client", content, f"c{client}", "p", ADAPTER) for client, content in kept]
    rows.append((1, "fedavg", 1, "server_to_client", "final adapter", "c1", "s", 10))
    return pd.DataFrame(rows, columns=["seed", "method", "round", "direction", "content", "client", "file", "bytes"])


@pytest.fixture(scope="module")
def values() -> pd.DataFrame:
    log = pd.DataFrame({"supervised_tokens": [100, 50, 7]})
    logs = {(1, "favor"): log, (1, "fedavg"): log.iloc[:1], (1, "base_only"): log.iloc[:0]}
    seconds = {(1, "favor"): 16000.0, (1, "fedavg"): float("nan"), (1, "base_only"): 0.0}
    return efficiency_scores(boundary(), logs, dict.fromkeys(logs, 29_933_568), seconds).set_index(["method", "metric"])


def test_the_papers_figures_and_what_the_log_counts_come_out(values) -> None:
    for name, unit, printed in (
        ("adapter_parameters", "count", "29.93M"),
        ("shared_adapter_bytes", "bytes", "114.3 MiB"),
        ("upload_client_bytes", "bytes", "114.3 MiB"),
        ("upload_round_bytes", "bytes", "1.34 GiB"),
        ("upload_bytes", "bytes", "8.03 GiB"),
        ("traffic_bytes", "bytes", "16.07 GiB"),
        ("residual_bytes", "bytes", "5.58 GiB"),
        ("training_seconds", "seconds", "4.44 hours"),
    ):
        assert printed_quantity(values.loc[("favor", name), "value"], unit) == printed, name
    assert values.loc[("favor", "rounds"), "value"] == 6
    assert values.loc[("favor", "clients_per_round"), "value"] == 12
    assert values.loc[("favor", "kept_bytes"), "value"] == 100 * ADAPTER
    assert values.loc[("favor", "optimiser_steps"), "value"] == 3
    assert values.loc[("favor", "supervised_tokens"), "value"] == 157
    assert values.loc[("fedavg", "supervised_tokens"), "value"] == 100


def test_a_word_count_is_part_of_a_clients_upload() -> None:
    counted = boundary()
    deltas = counted[counted["content"] == "delta"]
    counted = pd.concat([counted, deltas.assign(content="word count", bytes=8)])
    log = pd.DataFrame({"supervised_tokens": [1]})
    scores = efficiency_scores(counted, {(1, "favor"): log}, {(1, "favor"): 1}, {(1, "favor"): 1.0}).set_index("metric")
    assert scores.loc["upload_client_bytes", "value"] == ADAPTER + 8
    assert scores.loc["upload_client_bytes", "n"] == 72
    assert scores.loc["upload_round_bytes", "value"] == 12 * (ADAPTER + 8)


def test_factors_that_keep_their_initial_values_are_not_trained_and_a_gate_is() -> None:
    shapes = {"layers.0.q_proj.lora_A.weight": (2, 8), "layers.0.q_proj.lora_B.weight": (5, 2)}
    assert [trained_parameters(shapes, Factors(factors)) for factors in ("AB", "A", "B")] == [26, 16, 10]
    shapes |= {"layers.0.down_proj.lora_A.weight": (2, 6), "layers.0.down_proj.lora_B.weight": (3, 2)}
    # 16 + 10 + 12 + 6 of the factors; a vector of 8 and one of 6; one weight.
    found = [trained_parameters(shapes, Factors(), kind) for kind in ("", "sum", "similarity", "token", "learned")]
    assert found == [44, 44, 44, 58, 45]


def test_what_a_method_does_not_have_says_why(values) -> None:
    assert len(values) == 3 * len(METRICS)
    base = values.loc["base_only"]
    assert base.loc["upload_client_bytes", "note"] == "nothing is uploaded"
    assert base.loc["shared_adapter_bytes", "note"] == "the method has no rounds"
    assert base.loc["upload_bytes", "value"] == base.loc["adapter_parameters", "value"] == 0
    assert values.loc[("fedavg", "training_seconds"), "note"].startswith("no wall time")
    assert values.loc[("fedavg", "final_broadcast_bytes"), "value"] == 10


def test_wall_seconds_are_the_recorded_ones(tmp_path) -> None:
    for name, seconds in (("one", "12.5"), ("two", "2.5")):
        (tmp_path / f"{name}.tsv").write_text(f"s\th:m:s\n{seconds}\t0:00:12\n")
    files = [tmp_path / "one.tsv", tmp_path / "two.tsv"]
    assert wall_seconds(files) == 15.0
    assert math.isnan(wall_seconds([*files, tmp_path / "three.tsv"]))


def test_small_quantities_print() -> None:
    for value, unit, printed in (
        (0, "bytes", "0 B"),
        (1023, "bytes", "1023 B"),
        (2048, "bytes", "2.0 KiB"),
        (5 * 2**20, "bytes", "5.0 MiB"),
        (0.5, "seconds", "0.5 seconds"),
        (90, "seconds", "1.5 minutes"),
        (12, "count", "12"),
        (1500, "count", "1.50k"),
    ):
        assert printed_quantity(value, unit) == printed
