"""Layers that read one input as one product: the outputs and text of each layer on its own."""

import pytest
import torch

from favor.config.models import PROJECTIONS
from favor.inference.decoding_stack import DecodingStack
from favor.lm.mixture import gate_layout
from favor.lm.settings import Lora
from favor.lm.stack import Component, LoraStack

ALL = Lora(rank=3, alpha=6, dropout=0.0, target_modules=PROJECTIONS)
SOME = Lora(rank=2, alpha=2, dropout=0.0, target_modules=("q_proj", "v_proj", "down_proj", "up_proj"))


def random_component(stack, seed, weight=None, gated=False) -> Component:
    generator = torch.Generator().manual_seed(seed)
    flat = 0.3 * torch.randn(3, stack.layout.size, generator=generator)
    gates = gate_layout(stack.layers)
    vectors = gates.leaves(torch.randn(3, gates.size, generator=generator)) if gated else None
    return Component(stack.layout.factors(flat), weight, gates=vectors)


@pytest.mark.parametrize("length", [1, 40], ids=["few rows", "many rows"])
@pytest.mark.parametrize("kind", ["none", "one", "weighted", "gated"])
@pytest.mark.parametrize("lora", [ALL, SOME], ids=["all layers", "some layers"])
def test_states_are_those_of_the_layers_one_by_one(base, lora, kind, length) -> None:
    tokens = torch.randint(2, 290, (6, length), generator=torch.Generator().manual_seed(0))
    share = torch.tensor([0.1, 0.9, 0.5, 0.4, 0.0, 1.0])
    states = []
    for kind_of_stack in (LoraStack, DecodingStack):
        stack = kind_of_stack(base.model, lora)
        components = {
            "none": [],
            "one": [random_component(stack, 1)],
            "weighted": [random_component(stack, 1, share), random_component(stack, 2, 1 - share)],
            "gated": [random_component(stack, 1, gated=True), random_component(stack, 2, gated=True)],
        }[kind]
        with stack.attached(), torch.inference_mode():
            stack.set(components)
            states.append(base.final_states(tokens))
    torch.testing.assert_close(states[1], states[0], rtol=1e-4, atol=1e-4)
    assert torch.allclose(states[0], base.final_states(tokens), atol=1e-3) is (kind == "none")


def test_the_model_is_as_before(base) -> None:
    before = {name: parameter.clone() for name, parameter in base.model.named_parameters()}
    stack = DecodingStack(base.model, ALL)
    with pytest.raises(RuntimeError, match="broken off"), stack.attached():
        layer = next(iter(stack.layers.values()))
        layer(torch.ones(1, 1, layer.in_features))
        raise RuntimeError("broken off")
    storages = [parameter.untyped_storage().data_ptr() for parameter in base.model.parameters()]
    assert len(set(storages)) == len(storages)
    assert all(torch.equal(parameter, before[name]) for name, parameter in base.model.named_parameters())
    assert not any(group.outputs for group in stack._joined)


def test_a_layer_called_again_is_computed_again(base) -> None:
    stack = DecodingStack(base.model, ALL)
    layer = next(layer for path, layer in stack.layers.items() if path.endswith("q_proj"))
    source = torch.randn(1, 2, layer.in_features)
    expected = layer(source)
    with stack.attached(), torch.inference_mode():
        torch.testing.assert_close(layer(source), expected)
        torch.testing.assert_close(layer(source), expected)
