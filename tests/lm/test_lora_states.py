"""Adapter states: shapes of Qwen2.5-3B, initial values, joined ranks, export to PEFT."""

import json
import math

import torch
from tests.lm.conftest import same_bits, stacked_logits, with_peft

from favor.config.models import PROJECTIONS
from favor.foundation.lazy import LazyMapping
from favor.foundation.tensors import safetensors_bytes
from favor.lm.lora import concatenate_rank, export_peft, from_arrays, initial_state, state_shapes
from favor.lm.settings import Lora

A = "base_model.model.layer.lora_A.weight"
B = "base_model.model.layer.lora_B.weight"


def test_qwen25_3b_adapter_has_the_papers_size() -> None:
    from transformers.models.qwen2 import Qwen2Config

    sizes = {"vocab_size": 151936, "hidden_size": 2048, "intermediate_size": 11008, "num_hidden_layers": 36}
    configuration = Qwen2Config(**sizes, num_attention_heads=16, num_key_value_heads=2, tie_word_embeddings=True)
    shapes = state_shapes(configuration, Lora(target_modules=PROJECTIONS))
    # A layer: q, o 16 * 4096 each; k, v 16 * 2304 each; gate, up, down 16 * 13056 each: 831,488. Times 36.
    assert sum(map(math.prod, shapes.values())) == 36 * 16 * (2 * 4096 + 2 * 2304 + 3 * 13056) == 29_933_568
    assert len(shapes) == 504
    assert safetensors_bytes(shapes) == 119_801_528


def test_initial_state_is_pefts_default(base, lora) -> None:
    state = initial_state(base.model, lora, 7)
    assert list(state) == sorted(state)
    for name, tensor in state.items():
        if ".lora_B." in name:
            assert not tensor.any()
        else:
            # Kaiming-uniform with a = sqrt 5: sqrt(6 / ((1 + 5) * d_in)) = 1 / sqrt(d_in).
            bound = 1 / math.sqrt(tensor.shape[1])
            assert 0.8 * bound < tensor.abs().max() <= bound
    assert same_bits(state, initial_state(base.model, lora, 7))
    assert not same_bits(state, initial_state(base.model, lora, 8))
    assert same_bits(state, initial_state(base.model.config, lora, 7))


def test_export_loads_in_peft_with_the_logits_of_the_stack(base, lora, random_state, model_folder, tmp_path) -> None:
    state, tokens = random_state(3, lora), torch.tensor([[5, 6, 7, 8, 9], [9, 8, 7, 6, 5]])
    export_peft(state, lora, str(model_folder), tmp_path)
    with torch.no_grad():
        expected = with_peft(model_folder, tmp_path)(tokens).logits
    torch.testing.assert_close(stacked_logits(base, lora, state, tokens), expected, rtol=1e-5, atol=1e-5)


def test_export_gives_equal_bytes(lora, random_state, tmp_path) -> None:
    state = random_state(3, lora)
    for folder, order in (("one", 1), ("two", -1)):
        export_peft(dict(list(state.items())[::order]), lora, "some/base", tmp_path / folder)
    for name in ("adapter_config.json", "adapter_model.safetensors"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    shapes = {name: tensor.shape for name, tensor in state.items()}
    assert (tmp_path / "one" / "adapter_model.safetensors").stat().st_size == safetensors_bytes(shapes)
    found = json.loads((tmp_path / "one" / "adapter_config.json").read_text())
    assert found["target_modules"] == sorted(lora.target_modules)


def test_rank_concatenation_is_the_gated_sum_of_updates() -> None:
    left = {A: torch.tensor([[1.0, 2.0]]), B: torch.tensor([[3.0], [1.0]])}
    right = {A: torch.tensor([[0.5, -2.0]]), B: torch.tensor([[1.0], [4.0]])}
    joined = concatenate_rank(left, right, 0.25)
    expected = 0.25 * left[B] @ left[A] + 0.75 * right[B] @ right[A]
    torch.testing.assert_close(joined[B] @ joined[A], expected)
    assert joined[A].shape == (2, 2)


def test_from_arrays_copies_a_tensor_when_it_is_asked_for() -> None:
    asked = []
    array = torch.ones(1, 2).numpy()
    state = from_arrays(LazyMapping([B, A], lambda name: asked.append(name) or array))
    assert (list(state), asked) == ([A, B], [])
    state[A][0, 0] = 5
    assert asked == [A]
    assert array[0, 0] == 1
