"""AdamW and learning-rate schedules, written out so that a stack of clients can be stepped with its own rates."""

import math

import torch

BETAS, EPSILON = (0.9, 0.999), 1e-8  # of AdamW, in every local stage


def linear_schedule(step: int, steps: int, warmup_fraction: float, warmup_counts_from: int) -> float:
    """Return the factor on the peak rate at ``step`` (completed steps, from 0) of a stage of ``steps`` steps.

    With W = ceil(warmup_fraction * steps): (step + warmup_counts_from) / W during the first W steps, then
    (steps - step) / (steps - W). Counted from 0 this is the linear schedule of transformers, whose first step has
    rate 0; counted from 1 no step is lost.
    """
    warmup = math.ceil(warmup_fraction * steps)
    if step < warmup:
        return (step + warmup_counts_from) / warmup
    return (steps - step) / (steps - warmup)


def cosine_schedule(step: int, steps: int, warmup_fraction: float) -> float:
    """Return the factor on the peak rate: linear warm-up counted from 1, then half a cosine to 0."""
    warmup = math.ceil(warmup_fraction * steps)
    if step < warmup:
        return (step + 1) / warmup
    return 0.5 * (1.0 + math.cos(math.pi * (step - warmup) / max(1, steps - warmup)))


def ramp(step: int, steps: int, ramp_fraction: float) -> float:
    """Return kappa = min(1, step / ceil(ramp_fraction * steps)) after ``step`` completed steps (Eq. private_objective).

    A fraction of 0 gives 1 throughout.
    """
    length = math.ceil(ramp_fraction * steps)
    return 1.0 if length == 0 else min(1.0, step / length)


def micro_batch_ramp(micro_batch: int, steps: int, ramp_fraction: float) -> float:
    """Return kappa at a micro-batch (numbered from 0 in the stage) as the released trainers count it.

    min(1, (micro_batch + 1) / ceil(ramp_fraction * steps)), with ``steps`` optimiser steps, and 1 in stages of fewer
    than five: micro-batches are measured against a length in steps, so the ramp is over after few of them.
    """
    return 1.0 if steps < 5 else ramp(micro_batch + 1, steps, ramp_fraction)


class AdamW:
    """AdamW on one flat float32 vector, the arithmetic of ``torch.optim.AdamW`` (single tensor, no amsgrad).

    Written out because each client of a stack has its own rate, step count and life, on its row of a common tensor.
    """

    def __init__(
        self, size: int, device: torch.device, beta1: float, beta2: float, epsilon: float, decay: float
    ) -> None:
        self.beta1, self.beta2, self.epsilon, self.decay = beta1, beta2, epsilon, decay
        self.first = torch.zeros(size, device=device)
        self.second = torch.zeros(size, device=device)
        self.steps = 0

    def step(
        self, values: torch.Tensor, gradient: torch.Tensor, rate: float, trained: torch.Tensor | None = None
    ) -> None:
        """Update ``values`` [size] in place with ``gradient`` [size] at learning rate ``rate``.

        ``trained`` [size]: 0 where a value is held, whose gradient is 0 and which does not decay either; else 1.
        """
        self.steps += 1
        self.first.lerp_(gradient, 1.0 - self.beta1)
        self.second.mul_(self.beta2).addcmul_(gradient, gradient, value=1.0 - self.beta2)
        correction1 = 1.0 - self.beta1**self.steps
        correction2 = 1.0 - self.beta2**self.steps
        if self.decay:
            values.mul_(1.0 - rate * self.decay * (1.0 if trained is None else trained))
        denominator = self.second.sqrt().div_(math.sqrt(correction2)).add_(self.epsilon)
        values.addcdiv_(self.first, denominator, value=-rate / correction1)
