"""AdamW against torch's and by hand; schedules by hand."""

import pytest
import torch

from favor.lm.optimiser import AdamW, cosine_schedule, linear_schedule, ramp


@pytest.mark.parametrize("decay", [0.0, 0.1])
def test_adamw_is_torchs(decay) -> None:
    generator = torch.Generator().manual_seed(1)
    ours = torch.randn(50, generator=generator)
    theirs = ours.clone().requires_grad_()
    optimiser = torch.optim.AdamW([theirs], lr=0.0, weight_decay=decay, foreach=False, fused=False)
    own = AdamW(50, torch.device("cpu"), 0.9, 0.999, 1e-8, decay)
    for step in range(20):
        gradient = torch.randn(50, generator=generator)
        rate = 0.01 * (20 - step) / 20
        own.step(ours, gradient, rate)
        theirs.grad = gradient.clone()
        optimiser.param_groups[0]["lr"] = rate
        optimiser.step()
    torch.testing.assert_close(ours, theirs.detach(), rtol=1e-6, atol=1e-7)


def test_two_steps_by_hand() -> None:
    value = torch.tensor([1.0], dtype=torch.float64)
    optimiser = AdamW(1, torch.device("cpu"), 0.9, 0.999, 1e-8, 0.0)
    optimiser.first, optimiser.second = optimiser.first.double(), optimiser.second.double()
    optimiser.step(value, torch.tensor([0.5], dtype=torch.float64), 0.1)
    # m = 0.05, v = 0.00025; corrected 0.5 and 0.25: the step is 0.1 * 0.5 / 0.5.
    assert value.item() == pytest.approx(0.9, abs=1e-8)
    optimiser.step(value, torch.tensor([-0.25], dtype=torch.float64), 0.1)
    # m = 0.9 * 0.05 - 0.025 = 0.02, / 0.19 = 0.105263; v = 0.999 * 0.00025 + 0.001 * 0.0625 = 0.00031225, / 0.001999 =
    # 0.156203, root 0.395225; the step is 0.1 * 0.105263 / 0.395225 = 0.0266337.
    assert value.item() == pytest.approx(0.9 - 0.0266337, abs=1e-6)


def test_linear_schedule_counted_from_one_loses_no_step() -> None:
    # 6 steps, 3 %: one warm-up step. It runs at the full rate; the decay starts at 5/5.
    factors = [linear_schedule(step, 6, 0.03, 1) for step in range(6)]
    assert factors == pytest.approx([1, 1, 0.8, 0.6, 0.4, 0.2])
    # 10 steps, 20 %: two warm-up steps at 1/2 and 2/2.
    assert [linear_schedule(step, 10, 0.2, 1) for step in range(3)] == pytest.approx([0.5, 1.0, 1.0])
    assert linear_schedule(0, 1, 0.03, 1) == 1.0


def test_linear_schedule_counted_from_zero_is_that_of_transformers() -> None:
    from transformers import get_linear_schedule_with_warmup

    for steps, warmup in ((6, 1), (40, 2), (7, 0)):
        optimiser = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0)
        schedule = get_linear_schedule_with_warmup(optimiser, warmup, steps)
        fraction = {1: 0.03, 2: 0.04, 0: 0.0}[warmup]
        for step in range(steps):
            assert linear_schedule(step, steps, fraction, 0) == pytest.approx(optimiser.param_groups[0]["lr"])
            optimiser.step()
            schedule.step()


def test_ramp_by_hand() -> None:
    # 60 steps, 5 %: three steps of ramp: 0, 1/3, 2/3, then 1.
    assert [ramp(step, 60, 0.05) for step in range(5)] == pytest.approx([0, 1 / 3, 2 / 3, 1, 1])
    # 6 steps: ceil(0.3) = 1: 0 at the first step, 1 from the second.
    assert [ramp(step, 6, 0.05) for step in range(3)] == [0, 1, 1]
    assert ramp(0, 6, 0.0) == 1.0


def test_cosine_schedule_by_hand() -> None:
    # 10 steps, 20 %: 1/2, 2/2, then half a cosine over 8 steps: cos 0, ..., middle at step 6.
    assert [cosine_schedule(step, 10, 0.2) for step in (0, 1, 2, 6)] == pytest.approx([0.5, 1, 1, 0.5])
