"""The server's average, by hand."""

import numpy as np
import pytest
import torch

from favor.federation.fedex_residual import joined, split
from favor.federation.server import random_like, update
from favor.federation.server_rule import ServerRule

SHARED = {"A": np.array([[1.0, 2.0], [3.0, 4.0]], dtype=np.float32), "B": np.zeros((2, 1), dtype=np.float32)}


def aggregate(shared, uploads, weights, rate) -> dict[str, np.ndarray]:
    return update(ServerRule(), shared, {}, uploads, weights, rate)[0]


def state(a, b) -> dict[str, np.ndarray]:
    return {"A": np.full((2, 2), a, dtype=np.float32), "B": np.full((2, 1), b, dtype=np.float32)}


def test_the_average_with_both_drift_signs_by_hand() -> None:
    # Deltas +0.5 and -0.1 on A, 0 and 1 on B: means +0.2 and 0.5.
    result = aggregate(SHARED, {"x": state(0.5, 0.0), "y": state(-0.1, 1.0)}, {"x": 1.0, "y": 1.0}, 1.0)
    np.testing.assert_allclose(result["A"], [[1.2, 2.2], [3.2, 4.2]], rtol=1e-6)
    np.testing.assert_allclose(result["B"], [[0.5], [0.5]], rtol=1e-6)
    # Weights 3 : 1 of +0.4 and -0.4: mean +0.2; rate 0.5: +0.1.
    result = aggregate(SHARED, {"x": state(0.4, 0), "y": state(-0.4, 0)}, {"x": 30.0, "y": 10.0}, 0.5)
    np.testing.assert_allclose(result["A"], SHARED["A"] + 0.1, rtol=1e-6)


def test_the_order_of_uploads_changes_no_bit() -> None:
    generator = np.random.default_rng(0)
    uploads = {f"client_{n:03d}": {"A": generator.normal(size=(2, 2)).astype(np.float32)} for n in range(12)}
    weights = dict.fromkeys(uploads, 1.0)
    first = aggregate({"A": SHARED["A"]}, uploads, weights, 1.0)["A"]
    second = aggregate({"A": SHARED["A"]}, dict(reversed(uploads.items())), weights, 1.0)["A"]
    assert first.tobytes() == second.tobytes()


def test_no_uploads_and_no_weight_are_defects() -> None:
    with pytest.raises(ValueError, match="no uploads"):
        aggregate(SHARED, {}, {}, 1.0)
    with pytest.raises(ValueError, match="sum to zero"):
        aggregate(SHARED, {"x": state(1, 1)}, {"x": 0.0}, 1.0)


def test_a_random_adapter_has_the_norms_of_the_trained_one() -> None:
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


# Rules other than the mean: the equations themselves are in tests/oracles/test_rivals.py.


def factors(a, b) -> dict[str, np.ndarray]:
    return {"m.lora_A.weight": np.array(a, dtype=np.float32), "m.lora_B.weight": np.array(b, dtype=np.float32)}


A_NAME, B_NAME = "m.lora_A.weight", "m.lora_B.weight"


def test_the_svd_rule_by_hand() -> None:
    # B_x A_x = [[2, 0], [0, 0]] and B_y A_y = [[0, 0], [0, 1]]; half each: diag(1, 0.5), of rank 1 nearest diag(1, 0).
    zero = factors([[0, 0]], [[0], [0]])
    uploads = {"x": factors([[1, 0]], [[2], [0]]), "y": factors([[0, -1]], [[0], [-1]])}
    made, memory = update(ServerRule("svd"), zero, {}, uploads, {"x": 1.0, "y": 1.0}, 1.0)
    np.testing.assert_allclose(made["m.lora_A.weight"], [[1, 0]], atol=1e-7)
    np.testing.assert_allclose(made["m.lora_B.weight"], [[1], [0]], atol=1e-7)
    assert memory == {}
    # Half a rate from diag(0, 3): diag(0.5, 0.25 + 1.5), nearest diag(0, 1.75).
    old = factors([[0, 3]], [[0], [1]])
    uploads = {name: {key: part[key] - old[key] for key in part} for name, part in uploads.items()}
    made, _ = update(ServerRule("svd"), old, {}, uploads, {"x": 1.0, "y": 1.0}, 0.5)
    np.testing.assert_allclose(made["m.lora_B.weight"] @ made["m.lora_A.weight"], [[0, 0], [0, 1.75]], atol=1e-6)


def test_the_svd_rule_where_the_layer_is_narrower_than_the_rank() -> None:
    generator = np.random.default_rng(2)
    upload = factors(generator.normal(size=(3, 2)), generator.normal(size=(2, 3)))
    zero = {key: np.zeros_like(part) for key, part in upload.items()}
    made, _ = update(ServerRule("svd"), zero, {}, {"x": upload}, {"x": 1.0}, 1.0)
    expected = upload["m.lora_B.weight"] @ upload["m.lora_A.weight"]
    np.testing.assert_allclose(made["m.lora_B.weight"] @ made["m.lora_A.weight"], expected, atol=1e-6)


def test_the_exact_rule_by_hand() -> None:
    # B_x A_x = [[2, 0], [0, 0]] and B_y A_y = [[0, 0], [0, 4]]: half each is diag(1, 2). The mean factors are
    # A = [0.5, 0.5] and B = [1, 2]: B A = [[0.5, 0.5], [1, 1]], so R = [[0.5, -0.5], [-1, 1]], which is
    # 1/2 (B_x - B) (A_x - A_y) = 1/2 [1, -2] [1, -1], of rank 1.
    zero = factors([[0, 0]], [[0], [0]])
    uploads = {"x": factors([[1, 0]], [[2], [0]]), "y": factors([[0, 1]], [[0], [4]])}
    made, memory = update(ServerRule("exact"), zero, {}, uploads, {"x": 1.0, "y": 1.0}, 1.0)
    assert {name: value.tolist() for name, value in made.items()} == {
        "m.lora_A.weight": [[0.5, 0.5]],
        "m.lora_B.weight": [[1], [2]],
        "m.frozen_A.weight": [[1, -1]],
        "m.frozen_B.weight": [[0.5], [-1]],
    }
    assert memory == {}
    own, frozen = split(made)
    assert (sorted(own), sorted(frozen)) == ([A_NAME, B_NAME], [A_NAME, B_NAME])
    whole = joined(made)
    np.testing.assert_array_equal(whole[B_NAME] @ whole[A_NAME], np.diag([1, 2]))
    # Three to one by words: diag(1.5, 1), from the second round's uploads alone; the first residual stays.
    uploads = {name: {key: part[key] - made[key] for key in part} for name, part in uploads.items()}
    later, _ = update(ServerRule("exact"), made, {}, uploads, {"x": 3.0, "y": 1.0}, 1.0)
    whole = joined(later)
    np.testing.assert_allclose(
        whole[B_NAME] @ whole[A_NAME], np.diag([1.5, 1]) + np.array([[0.5, -0.5], [-1, 1]]), atol=1e-7
    )
    # Two residuals of rank 1 are a 2 x 2 matrix: a third one does not make it larger.
    assert later["m.frozen_A.weight"].shape == (2, 2)
    third, _ = update(ServerRule("exact"), later, {}, uploads, {"x": 1.0, "y": 1.0}, 1.0)
    assert third["m.frozen_A.weight"].tolist() == [[1, 0], [0, 1]]
    # One client's mean product is its own: there is nothing to add.
    assert sorted(update(ServerRule("exact"), zero, {}, {"x": uploads["x"]}, {"x": 1.0}, 1.0)[0]) == [A_NAME, B_NAME]


def test_momentum_steps_as_torch_does() -> None:
    # torch's SGD with momentum on the gradient -Delta is the independent implementation.
    generator = np.random.default_rng(3)
    parameter = torch.nn.Parameter(torch.zeros(4, dtype=torch.float64))
    optimiser = torch.optim.SGD([parameter], lr=0.7, momentum=0.9)
    shared, memory = {"w": np.zeros(4, dtype=np.float32)}, {}
    for _ in range(6):
        change = generator.normal(size=4).astype(np.float32)
        shared, memory = update(ServerRule("momentum", 0.7, 0.9), shared, memory, {"x": {"w": change}}, {"x": 1.0}, 1.0)
        parameter.grad = torch.from_numpy(-change.astype(np.float64))
        optimiser.step()
    np.testing.assert_allclose(shared["w"], parameter.detach().numpy(), rtol=1e-5, atol=1e-6)
