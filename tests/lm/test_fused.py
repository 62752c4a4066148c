"""Fused parts of decoders give what the models' own code gives, forward and back."""

import sys
from types import ModuleType

import pytest
import torch
from tests.lm.test_packing import DECODERS, decoder
from torch import nn

from favor.lm import fused
from favor.lm.fused import fused_layers, kernels

CPU, CUDA = torch.device("cpu"), torch.device("cuda")


def states_and_gradient(model, embedded) -> tuple[torch.Tensor, torch.Tensor]:
    source = embedded.clone().requires_grad_()
    states = model(inputs_embeds=source, use_cache=False)[0]
    states.square().sum().backward()
    return states.detach(), source.grad


@pytest.mark.parametrize("name", DECODERS)
@pytest.mark.parametrize("device", [CPU, torch.device("meta")])
def test_a_decoder_gives_the_same(name, device) -> None:
    model = decoder(DECODERS[name])
    for path, parameter in model.named_parameters():
        if "norm" in path:
            nn.init.uniform_(parameter, 0.5, 2.0)
    embedded = torch.randn(1, 12, 32)
    expected = states_and_gradient(model, embedded)
    modules = {module: dict(vars(module)) for module in model.modules()}
    with fused_layers(model, kernels(device)):
        torch.testing.assert_close(states_and_gradient(model, embedded), expected, rtol=1e-4, atol=1e-5)
        replaced = [type(module).__name__ for module in model.modules() if "forward" in vars(module)]
    # The layers of Phi and Gemma have formulas of their own.
    assert bool(replaced) is (name.split(",")[0] not in ("phi", "gemma3"))
    assert all(vars(module).keys() == before.keys() for module, before in modules.items())


def test_norm_by_hand() -> None:
    states = torch.tensor([[3.0, 4.0]])
    weight = torch.tensor([2.0, 10.0])
    # The mean square is 12.5; with epsilon 3.5 the root is 4.
    assert kernels(CPU).norm(states, weight, 3.5).tolist() == [[1.5, 10.0]]


def test_norm_in_bfloat16_is_rounded_as_the_models_own() -> None:
    model = decoder(DECODERS["qwen2"]).to(torch.bfloat16)
    states = torch.randn(4, 32, dtype=torch.bfloat16)
    expected = model.norm(states)
    with fused_layers(model, kernels(CPU)):
        torch.testing.assert_close(model.norm(states), expected, rtol=0, atol=0)


def test_what_is_chosen_on_a_gpu(monkeypatch) -> None:
    """Liger's kernels where they and Triton are installed; torch's own norm in any case."""
    monkeypatch.setattr(fused.importlib.util, "find_spec", lambda name: None)
    without = kernels(CUDA)
    assert without.gated == fused._Gated.apply
    assert without.rotate is kernels(CPU).rotate
    assert without.norm is not kernels(CPU).norm
    liger = ModuleType("liger_kernel.ops")
    for name in ("LigerRopeFunction", "LigerSiLUMulFunction"):
        setattr(liger, name, type(name, (), {"apply": staticmethod(lambda *_, name=name: name)}))
    monkeypatch.setattr(fused.importlib.util, "find_spec", lambda name: True)
    monkeypatch.setitem(sys.modules, "liger_kernel", ModuleType("liger_kernel"))
    monkeypatch.setitem(sys.modules, "liger_kernel.ops", liger)
    chosen = kernels(CUDA)
    assert chosen.norm is without.norm
    assert chosen.gated(1, 2) == "LigerSiLUMulFunction"
    assert chosen.rotate(1, 2, 3, 4) == "LigerRopeFunction"


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_the_own_gate_keeps_its_two_inputs_alone(dtype) -> None:
    """Values and gradients in every bit those of the models' own code."""
    gate, up, gradient = (torch.randn(5, 7, dtype=dtype) for _ in range(3))
    plain, own = ([value.clone().requires_grad_() for value in (gate, up)] for _ in range(2))
    kept: list[int] = []

    def keep(tensor) -> torch.Tensor:
        kept.append(tensor.data_ptr())
        return tensor

    expected = nn.functional.silu(plain[0]) * plain[1]
    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        found = fused._Gated.apply(*own)
    assert kept == [value.data_ptr() for value in own]
    expected.backward(gradient)
    found.backward(gradient)
    for one, other in ((found, expected), *((a.grad, b.grad) for a, b in zip(own, plain, strict=True))):
        torch.testing.assert_close(one, other, rtol=0, atol=0)
