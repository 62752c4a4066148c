"""The server's average, by hand."""

import numpy as np
import pytest

from favor.federation.server import aggregate, delta, random_like

SHARED = {"A": np.array([[1.0, 2.0], [3.0, 4.0]], dtype=np.float32), "B": np.zeros((2, 1), dtype=np.float32)}


def state(a, b):
    return {"A": np.full((2, 2), a, dtype=np.float32), "B": np.full((2, 1), b, dtype=np.float32)}


def test_uniform_average_with_both_drift_signs():
    # Deltas +0.5 and -0.1 on A, 0 and 1 on B: means +0.2 and 0.5.
    result = aggregate(SHARED, {"x": state(0.5, 0.0), "y": state(-0.1, 1.0)}, {"x": 1.0, "y": 1.0}, 1.0)
    np.testing.assert_allclose(result["A"], [[1.2, 2.2], [3.2, 4.2]], rtol=1e-6)
    np.testing.assert_allclose(result["B"], [[0.5], [0.5]], rtol=1e-6)


def test_weights_are_normalised_and_the_server_rate_scales_the_step():
    # Weights 3 : 1 of +0.4 and -0.4: mean +0.2; rate 0.5: +0.1.
    result = aggregate(SHARED, {"x": state(0.4, 0), "y": state(-0.4, 0)}, {"x": 30.0, "y": 10.0}, 0.5)
    np.testing.assert_allclose(result["A"], SHARED["A"] + 0.1, rtol=1e-6)


def test_one_client_aggregates_to_itself():
    endpoint = state(0.25, -3.0)
    result = aggregate(SHARED, {"x": delta(endpoint, SHARED)}, {"x": 7.0}, 1.0)
    np.testing.assert_allclose(result["A"], endpoint["A"], rtol=1e-6)
    np.testing.assert_allclose(result["B"], endpoint["B"], rtol=1e-6)


def test_the_order_of_uploads_changes_no_bit():
    generator = np.random.default_rng(0)
    uploads = {f"client_{n:03d}": {"A": generator.normal(size=(2, 2)).astype(np.float32)} for n in range(12)}
    weights = dict.fromkeys(uploads, 1.0)
    first = aggregate({"A": SHARED["A"]}, uploads, weights, 1.0)["A"]
    second = aggregate({"A": SHARED["A"]}, dict(reversed(uploads.items())), weights, 1.0)["A"]
    assert first.tobytes() == second.tobytes()


def test_an_upload_can_be_scaled():
    # pFedMe uploads eta * lambda * (theta - w).
    np.testing.assert_allclose(delta(state(2.0, 1.0), state(1.0, 0.0), 0.01)["A"], 0.01)


def test_the_shared_adapter_is_not_written_through():
    before = SHARED["A"].copy()
    result = aggregate(SHARED, {"x": state(1, 1)}, {"x": 1.0}, 1.0)
    result["A"] += 1
    assert (SHARED["A"] == before).all()


def test_no_uploads_and_no_weight_are_defects():
    with pytest.raises(ValueError, match="no uploads"):
        aggregate(SHARED, {}, {}, 1.0)
    with pytest.raises(ValueError, match="sum to zero"):
        aggregate(SHARED, {"x": state(1, 1)}, {"x": 0.0}, 1.0)


def test_a_random_adapter_has_the_norms_of_the_trained_one():
    generator = np.random.default_rng(0)
    shared = {"a": generator.normal(size=(4, 300)).astype(np.float32), "b": 3 * np.eye(5, dtype=np.float32)}
    shared["zero"] = np.zeros((2, 2), dtype=np.float32)
    made = random_like(shared, 7)
    for key, tensor in shared.items():
        assert made[key].dtype == np.float32
        assert made[key].shape == tensor.shape
        assert np.linalg.norm(made[key]) == pytest.approx(np.linalg.norm(tensor), rel=1e-6)
    # It points elsewhere: 1,200 normal draws are nearly orthogonal to anything.
    cosine = float((made["a"] * shared["a"]).sum() / np.linalg.norm(shared["a"]) ** 2)
    assert abs(cosine) < 0.15
    np.testing.assert_array_equal(made["a"], random_like(shared, 7)["a"])
    assert not np.array_equal(made["a"], random_like(shared, 8)["a"])
