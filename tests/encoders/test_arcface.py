"""ArcFace head: hand numbers, an outside oracle, gradients."""

import math

import pytest
import torch
from pytorch_metric_learning.losses import ArcFaceLoss
from torch.nn import functional

from favor.encoders.asce_training import ArcFaceHead, margin_logits


def test_logits_by_hand() -> None:
    # Two authors, prototypes (1,0) and (0,1), z = (cos 60, sin 60) = (0.5, sqrt(3)/2), author 0, scale 30, margin 0.35:
    # theta = 60 degrees = 1.0471976 rad; s_0 = 30 cos(1.3971976) = 30 * 0.17273150 = 5.181945; s_1 = 30 * 0.8660254
    head = ArcFaceHead(2, 2)
    with torch.no_grad():
        head.weight.copy_(torch.tensor([[3.0, 0.0], [0.0, 0.5]]))  # prototypes are normalised by the head
    z = torch.tensor([[0.5, math.sqrt(3) / 2]])
    logits = head(z, torch.tensor([0]))
    assert logits[0, 0].item() == pytest.approx(30 * math.cos(math.pi / 3 + 0.35), abs=1e-4)
    assert logits[0, 1].item() == pytest.approx(25.980762, abs=1e-4)
    # loss = log(exp(5.18195) + exp(25.98076)) - 5.18195 = 20.79881 + log(1 + exp(-20.79881))
    expected = 25.980762 - 30 * math.cos(math.pi / 3 + 0.35) + math.log1p(math.exp(-20.79881))
    assert head.loss(z, torch.tensor([0])).item() == pytest.approx(expected, abs=1e-4)


def test_literal_equation_past_pi_has_no_fallback() -> None:
    # theta = 170 degrees, margin 0.35 rad = 20.05 degrees: theta + m = 190.05 degrees, whose cosine RISES again.
    theta = torch.tensor(170.0, dtype=torch.float64).deg2rad()
    cosines = torch.stack([theta.cos(), torch.tensor(0.0, dtype=torch.float64)]).unsqueeze(0)
    value = margin_logits(cosines, torch.tensor([0]), 30.0, 0.35)[0, 0].item()
    assert value == pytest.approx(30 * math.cos(math.radians(170) + 0.35), abs=1e-9)
    assert value > 30 * math.cos(math.pi)


@pytest.mark.parametrize("margin", [0.0, 0.35, 0.5])
def test_agrees_with_pytorch_metric_learning_while_angles_stay_below_pi(margin) -> None:
    generator = torch.Generator().manual_seed(4)
    z = functional.normalize(torch.randn(64, 16, generator=generator), dim=1)
    authors = torch.randint(0, 7, (64,), generator=generator)
    head = ArcFaceHead(16, 7, scale=30.0, margin=margin)
    keep = head.cosines(z).gather(1, authors[:, None]).squeeze(1).acos() + margin <= math.pi
    z, authors = z[keep], authors[keep]
    assert len(z) > 50
    oracle = ArcFaceLoss(num_classes=7, embedding_size=16, margin=math.degrees(margin), scale=30.0)  # takes degrees
    assert oracle.margin == pytest.approx(margin)
    with torch.no_grad():
        oracle.W.copy_(head.weight.T)
    assert head.loss(z, authors).item() == pytest.approx(oracle(z, authors).item(), abs=1e-5)


def test_gradient_agrees_with_finite_differences() -> None:
    generator = torch.Generator().manual_seed(1)
    cosines = (torch.rand(5, 4, generator=generator, dtype=torch.float64) * 1.8 - 0.9).requires_grad_()
    authors = torch.tensor([0, 1, 2, 3, 0])
    assert torch.autograd.gradcheck(lambda c: margin_logits(c, authors, 30.0, 0.35), (cosines,))


@pytest.mark.parametrize("edge", [1.0, -1.0])
def test_gradient_is_finite_at_the_edges(edge) -> None:
    cosines = torch.tensor([[edge, 0.2]], requires_grad=True)
    logits = margin_logits(cosines, torch.tensor([0]), 30.0, 0.35)
    functional.cross_entropy(logits, torch.tensor([0])).backward()
    assert cosines.grad is not None
    assert torch.isfinite(cosines.grad).all()
    assert logits[0, 0].item() == pytest.approx(30 * edge * math.cos(0.35), abs=1e-4)


def test_float32_under_autocast() -> None:
    head = ArcFaceHead(8, 3)
    z = functional.normalize(torch.randn(4, 8, generator=torch.Generator().manual_seed(2)), dim=1)
    plain = head(z, torch.tensor([0, 1, 2, 0]))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        mixed = head(z, torch.tensor([0, 1, 2, 0]))
        assert head.loss(z.bfloat16(), torch.tensor([0, 1, 2, 0])).dtype == torch.float32
    assert mixed.dtype == torch.float32
    torch.testing.assert_close(plain, mixed, rtol=0, atol=0)
