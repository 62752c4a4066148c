"""The adapted layers against plain formulas: several clients, weights per row, dropout masks, detaching."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from favor.lm.dropout import DropoutMasks, MaskEntry, draw_mask
from favor.lm.settings import LoraSettings
from favor.lm.stack import Component, LoraStack

SETTINGS = LoraSettings(rank=2, alpha=6, dropout=0.0, target_modules=("first", "second"))


class TwoLayers(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(5, 4)
        self.second = nn.Linear(4, 3, bias=False)

    def forward(self, source: torch.Tensor) -> torch.Tensor:
        return self.second(torch.tanh(self.first(source)))


class Other(nn.Linear):
    """Stands for a quantised layer: not exactly ``nn.Linear``, so it is reached by a hook."""


@pytest.fixture(params=[nn.Linear, Other], ids=["plain layer", "hooked layer"])
def model(request):
    torch.manual_seed(0)
    model = TwoLayers()
    model.requires_grad_(False)
    for layer in model.children():
        layer.__class__ = request.param
    return model


def random_flat(stack, clients, seed):
    return torch.randn(clients, stack.layout.size, generator=torch.Generator().manual_seed(seed))


def explicit(model, source, factors, weights, masks, clients, keep):
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


def test_two_components_weights_and_masks_agree_with_the_formula(model):
    stack = LoraStack(model, SETTINGS)
    clients, rows, length = 3, 6, 4
    flat, other = random_flat(stack, clients, 1), random_flat(stack, clients, 2)
    gates = torch.rand(rows)
    masks = {index: (torch.rand(clients, 2 * length, size) > 0.3).float() for index, size in ((0, 5), (1, 4))}
    source = torch.randn(rows, length, 5, requires_grad=True)

    def run(through_stack):
        factors = stack.layout.factors(flat, trainable=True)
        frozen = stack.layout.factors(other)
        source.grad = None
        if through_stack:
            with stack.attached():
                stack.set(
                    [Component(factors, 1 - gates, dropout=True), Component(frozen, gates)],
                    lambda index, size: masks[index],
                    0.3,
                )
                out = model(source)
        else:
            out = explicit(model, source, [factors, frozen], [1 - gates, gates], masks, clients, 0.7)
        out.square().sum().backward()
        return [out.detach(), source.grad, *(leaf.grad for pair in factors for leaf in pair)]

    for left, right in zip(run(True), run(False), strict=True):
        torch.testing.assert_close(left, right, rtol=1e-4, atol=1e-5)


def test_detached_model_is_as_before(model):
    source = torch.randn(2, 3, 5)
    before, names = model(source), set(vars(model.first))
    stack = LoraStack(model, SETTINGS)
    with stack.attached():
        torch.testing.assert_close(model(source), before)
        stack.set([Component(stack.layout.factors(random_flat(stack, 2, 1)))])
        assert not torch.allclose(model(source), before)
    assert torch.equal(model(source), before)
    assert set(vars(model.first)) == names


def test_layout_round_trip(model):
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


@pytest.mark.parametrize("route", ["on_processor", "on_accelerator"])
def test_masks_ignore_padding_and_stacking(route):
    device = torch.device("cpu")
    entry = MaskEntry(stage_seed=7, counter=3, first_row=0, lengths=(5, 2))
    alone = DropoutMasks([entry], rows=2, length=5, clients=1, rate=0.4, device=device)
    others = [MaskEntry(8, 3, 0, (9, 8)), MaskEntry(7, 3, 3, (5, 2))]
    stacked = DropoutMasks(others, rows=6, length=9, clients=2, rate=0.4, device=device)
    left, right = getattr(alone, route)(1, 6), getattr(stacked, route)(1, 6)
    assert torch.equal(left, right[3:5, :5])
    assert 0.3 < right[:2, :8].float().mean() < 0.9
    # Padding and empty rows are masked out.
    for padding in (right[1, 8:], right[2], right[3, 5:], right[4, 2:], right[5]):
        assert not padding.any()


def test_streams_of_masks_differ():
    # Another client, micro-batch or module has another mask.
    drawn = [draw_mask(*key, 50, 20, 0.4) for key in ((7, 3, 1), (8, 3, 1), (7, 4, 1), (7, 3, 2))]
    assert all(not torch.equal(drawn[0], other) for other in drawn[1:])


def test_rate_of_masks():
    mask = draw_mask(1, 2, 3, 1000, 100, 0.05)
    assert mask.dtype == torch.bool
    # 100,000 draws: standard error 0.0007.
    assert float(1 - mask.float().mean()) == pytest.approx(0.05, abs=0.003)
