"""Cross-entropy in chunks against torch's, with gradients."""

import pytest
import torch
from torch import nn

from favor.lm import losses


@pytest.mark.parametrize(("block", "chunk"), [(1 << 20, 1), (160, 1), (160, 8)])
@pytest.mark.parametrize("bias", [False, True])
def test_loss_and_gradients_are_torchs(monkeypatch, block, chunk, bias) -> None:
    monkeypatch.setitem(losses._BLOCK_ELEMENTS, "cpu", block)
    monkeypatch.setitem(losses._LEAST_TOKENS, "cpu", chunk)
    torch.manual_seed(2)
    layer = nn.Linear(8, 50, bias=bias)
    layer.requires_grad_(False)
    layer.weight.requires_grad_(not bias)
    hidden = (3 * torch.randn(23, 8)).requires_grad_()
    labels = torch.randint(0, 50, (23,))
    weights = torch.rand(23)
    total, each = losses.token_cross_entropy(hidden, layer, labels, weights)
    (2 * total).backward()
    ours = [hidden.grad.clone(), None if bias else layer.weight.grad.clone()]
    hidden.grad = layer.weight.grad = None
    expected = nn.functional.cross_entropy(layer(hidden), labels, reduction="none")
    (2 * (expected * weights).sum()).backward()
    torch.testing.assert_close(each, expected.detach())
    assert total.item() == pytest.approx((expected * weights).sum().item(), rel=1e-6)
    torch.testing.assert_close(ours[0], hidden.grad)
    if not bias:
        torch.testing.assert_close(ours[1], layer.weight.grad)
