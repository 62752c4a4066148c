"""Products in oneDNN are float32 products, and a model is left as it was."""

import torch
from torch import nn

from favor.foundation.arithmetic import fast_linear_layers, fast_products


def test_fast_products_are_float32_and_leave_no_trace() -> None:
    before = torch.backends.mkldnn.matmul.fp32_precision
    left, right = torch.randn(3, 200, 64), torch.randn(3, 64, 100)
    with fast_products():
        product = left @ right
    assert torch.backends.mkldnn.matmul.fp32_precision == before
    # 64 terms of size 1 in float32: errors near 64 * 6e-8.
    assert (product - left.double() @ right.double()).abs().max() < 5e-5


def test_fast_linear_layers_have_the_gradients_of_linear_layers() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(6, 5), nn.Tanh(), nn.Linear(5, 4, bias=False))
    source = torch.randn(2, 3, 6, requires_grad=True)

    def gradients() -> list[torch.Tensor]:
        model.zero_grad()
        source.grad = None
        model(source).square().sum().backward()
        return [source.grad, *(parameter.grad for parameter in model.parameters())]

    expected = gradients()
    with fast_linear_layers(model):
        ours = gradients()
    for left, right in zip(ours, expected, strict=True):
        torch.testing.assert_close(left, right)
    assert "forward" not in vars(model[0])


def test_layers_that_compute_elsewhere_or_in_halves_are_left_alone() -> None:
    model = nn.Linear(3, 2)
    with fast_linear_layers(model):
        assert "forward" in vars(model)
    with fast_linear_layers(model, "bfloat16"):
        assert "forward" not in vars(model)
    elsewhere = nn.Linear(3, 2, device="meta")
    with fast_linear_layers(elsewhere):
        assert "forward" not in vars(elsewhere)
