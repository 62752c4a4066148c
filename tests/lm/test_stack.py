"""The adapted layers against plain formulas: several clients, weights per row, dropout masks, detaching."""

import importlib.util

import numpy as np
import pytest
import torch
from torch import nn

from favor.lm.dropout import DropoutMasks, MaskEntry, draw_mask, split_mix
from favor.lm.grouped import Runs, grouped_outer, grouped_product, grouped_sum
from favor.lm.settings import Lora
from favor.lm.stack import Component, LoraStack

SETTINGS = Lora(rank=2, alpha=6, dropout=0.0, target_modules=("first", "second"))


class TwoLayers(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(5, 4)
        self.second = nn.Linear(4, 3, bias=False)

    def forward(self, source) -> torch.Tensor:
        return self.second(torch.tanh(self.first(source)))


class Other(nn.Linear):
    """Stands for a quantised layer: not exactly ``nn.Linear``, so it is reached by a hook."""


@pytest.fixture(params=[nn.Linear, Other], ids=["plain layer", "hooked layer"])
def model(request) -> torch.nn.Module:
    torch.manual_seed(0)
    model = TwoLayers()
    model.requires_grad_(False)
    for layer in model.children():
        layer.__class__ = request.param
    return model


def random_flat(stack, clients, seed) -> torch.Tensor:
    return torch.randn(clients, stack.layout.size, generator=torch.Generator().manual_seed(seed))


def explicit(model, source, factors, weights, masks, clients, keep) -> torch.Tensor:
    """The formula, client by client and layer by layer."""
    for index, layer in enumerate((model.first, model.second)):
        rows = source.chunk(clients)
        outputs = []
        for k in range(clients):
            out = nn.functional.linear(rows[k], layer.weight, layer.bias)
            for component, weight, dropped in zip(factors, weights, (True, False), strict=False):
                a, b = component[index]
                mask = masks[index].view(*source.shape[:2], -1).chunk(clients)[k]
                inputs = rows[k] * mask / keep if dropped else rows[k]
                term = 3.0 * inputs @ a[k].T @ b[k].T
                outputs_weight = 1.0 if weight is None else weight.chunk(clients)[k][:, None, None]
                out = out + outputs_weight * term
            outputs.append(out)
        source = torch.cat(outputs)
        source = torch.tanh(source) if index == 0 else source
    return source


def test_two_components_weights_and_masks_agree_with_the_formula(model) -> None:
    stack = LoraStack(model, SETTINGS)
    clients, rows, length = 3, 6, 4
    flat, other = random_flat(stack, clients, 1), random_flat(stack, clients, 2)
    gates = torch.rand(rows)
    masks = {index: (torch.rand(rows * length, size) > 0.3).to(torch.int8) for index, size in ((0, 5), (1, 4))}
    source = torch.randn(rows, length, 5, requires_grad=True)

    def run(through_stack) -> list[torch.Tensor]:
        factors = stack.layout.factors(flat, trainable=True)
        frozen = stack.layout.factors(other)
        source.grad = None
        if through_stack:
            with stack.attached():
                pair = [Component(factors, 1 - gates, dropout=True), Component(frozen, gates)]
                stack.set(pair, lambda index, size: masks[index], 0.3)
                out = model(source)
        else:
            out = explicit(model, source, [factors, frozen], [1 - gates, gates], masks, clients, 0.7)
        out.square().sum().backward()
        return [out.detach(), source.grad, *(leaf.grad for pair in factors for leaf in pair)]

    for left, right in zip(run(True), run(False), strict=True):
        torch.testing.assert_close(left, right, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("layer", [nn.Linear, Other], ids=["plain layer", "hooked layer"])
def test_where_masks_are_drawn_again_no_masked_input_is_kept(layer) -> None:
    """As on a GPU: two layers that read one input keep that input, and nothing else of its size."""
    model = nn.ModuleDict({name: layer(6, 4) for name in ("first", "second")}).requires_grad_(False)
    stack, source = LoraStack(model, SETTINGS), torch.randn(1, 20, 6, requires_grad=True)
    masks = DropoutMasks([MaskEntry(7, 3, 0, (12, 8))], 20, 0.4, torch.device("cpu"))
    kept: set[int] = set()

    def keep(tensor) -> torch.Tensor:
        if tensor.numel() == source.numel():
            kept.add(tensor.data_ptr())
        return tensor

    with stack.attached(), torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        factors = stack.layout.factors(random_flat(stack, 1, 1), trainable=True)
        stack.set([Component(factors, None, dropout=True)], masks.on_accelerator, 0.4, Runs((20,), source.device))
        outputs = [module(source) for module in model.values()]
    assert kept == {source.data_ptr()}
    assert all(output.requires_grad for output in outputs)


@pytest.mark.parametrize("lengths", [(6, 1, 9), (4, 4, 4), (7,)])
@pytest.mark.parametrize("grouped", [False, True], ids=["client by client", "torch's grouped product"])
def test_products_of_runs(lengths, grouped, monkeypatch) -> None:
    """Also by the function that a GPU takes, which torch has for a processor too."""
    monkeypatch.setattr("favor.lm.grouped._groupable", lambda one, other: grouped)
    runs, clients, tokens = Runs(lengths, torch.device("cpu")), len(lengths), sum(lengths)
    rows, factors, base = torch.randn(tokens, 8), torch.randn(clients, 8, 16), torch.randn(tokens, 16)
    parts = list(zip(rows.split(lengths), base.split(lengths), factors, strict=True))
    product = torch.cat([part @ factor for part, _, factor in parts])
    torch.testing.assert_close(grouped_product(rows, factors, runs), product, rtol=1e-5, atol=1e-5)
    outer = torch.stack([part.T @ other for part, other, _ in parts])
    torch.testing.assert_close(grouped_outer(rows, base, clients, runs), outer, rtol=1e-5, atol=1e-5)
    expected = base + 0.5 * product
    torch.testing.assert_close(grouped_sum(base, rows, factors, runs, 0.5, False), expected, rtol=1e-5, atol=1e-5)
    grouped_sum(base, rows, factors, runs, 0.5, True)
    torch.testing.assert_close(base, expected, rtol=1e-5, atol=1e-5)


def test_detached_model_is_as_before(model) -> None:
    source = torch.randn(2, 3, 5)
    before, names = model(source), set(vars(model.first))
    stack = LoraStack(model, SETTINGS)
    with stack.attached():
        torch.testing.assert_close(model(source), before)
        stack.set([Component(stack.layout.factors(random_flat(stack, 2, 1)))])
        assert not torch.allclose(model(source), before)
    assert torch.equal(model(source), before)
    assert set(vars(model.first)) == names


def test_layout_round_trip(model) -> None:
    stack = LoraStack(model, SETTINGS)
    flat = random_flat(stack, 1, 3)
    state = stack.layout.unflatten(flat[0])
    assert list(state) == sorted(state)
    assert torch.equal(stack.layout.flatten(state, torch.device("cpu")), flat[0])
    with pytest.raises(ValueError, match="not those of the model"):
        stack.layout.flatten({}, torch.device("cpu"))
    name = next(iter(state))
    with pytest.raises(ValueError, match="has shape"):
        stack.layout.flatten({**state, name: torch.ones(1, 1)}, torch.device("cpu"))


def test_random_bits_are_those_published_for_splitmix64() -> None:
    # The first outputs for seed 1234567, from the reference implementation (Vigna, splitmix64.c).
    published = [6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431]
    counters = np.uint64(1234567) + np.arange(1, 5, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    assert split_mix(counters).tolist() == published


@pytest.mark.parametrize("inputs", [6, 8])
def test_masks_depend_on_no_device_packing_or_cut(inputs) -> None:
    device = torch.device("cpu")
    alone = DropoutMasks([MaskEntry(7, 3, 0, (5, 2, 4))], 11, 0.4, device).on_processor(1, inputs)
    # The same micro-batch behind another and before padding; and its last two rows alone.
    packed = DropoutMasks([MaskEntry(8, 3, 0, (9, 8)), MaskEntry(7, 3, 20, (5, 2, 4))], 32, 0.4, device)
    cut = DropoutMasks([MaskEntry(7, 3, 0, (5, 2, 4), slice(1, 3))], 6, 0.4, device)
    whole = packed.on_processor(1, inputs)
    assert torch.equal(whole[20:31], alone)
    assert torch.equal(cut.on_processor(1, inputs), alone[5:])
    assert 0.4 < whole[:17].float().mean() < 0.8
    assert not whole[17:20].any()
    assert not whole[31:].any()
    for masks, tokens in ((packed, slice(20, 31)), (cut, slice(6))):
        drawn = masks.on_accelerator(1, inputs).times(torch.ones(masks.tokens, inputs))
        assert torch.equal(drawn[tokens], masks.on_processor(1, inputs)[tokens].float())


@pytest.mark.skipif(importlib.util.find_spec("triton") is None, reason="without Triton")
def test_the_kernel_draws_the_same_masks(monkeypatch) -> None:
    """On a processor, by Triton's interpreter; the block of 1,024 columns is not filled."""
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    from favor.lm import dropout_kernel

    entries = [MaskEntry(8, 3, 0, (9, 8)), MaskEntry(7, 3, 17, (5, 2, 4))]
    masks, rows = DropoutMasks(entries, 28, 0.4, torch.device("cpu")), torch.randn(28, 1030)
    drawn = masks.on_accelerator(1, 1030)
    assert torch.equal(dropout_kernel.dropped(rows, drawn.starts, drawn.threshold), rows * masks.on_processor(1, 1030))


def test_masks_of_another_client_micro_batch_or_module_differ_and_have_their_rate() -> None:
    drawn = [draw_mask(*key, 1000, 100, 0.05) for key in ((7, 3, 1), (8, 3, 1), (7, 4, 1), (7, 3, 2))]
    assert all(not torch.equal(drawn[0], other) for other in drawn[1:])
    assert drawn[0].dtype == torch.bool
    # 100,000 draws: standard error 0.0007.
    assert float(1 - drawn[0].float().mean()) == pytest.approx(0.05, abs=0.003)
