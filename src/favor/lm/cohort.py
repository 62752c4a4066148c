"""The trained values of one stack of clients: factors, projection heads, gradients, optimisers."""

import math
from collections.abc import Sequence
from itertools import chain

import numpy as np
import torch

from favor.foundation.errors import UserError
from favor.lm.alignment import head_layout, initial_head
from favor.lm.base import BaseModel
from favor.lm.lora import LoraState
from favor.lm.mixture import LearnedMixture, gate_layout
from favor.lm.optimiser import BETAS, EPSILON, AdamW
from favor.lm.settings import Optimisation, WeightedAlignment
from favor.lm.stack import Component, Layout, LoraStack
from favor.lm.tasks import ClientResult, ClientTask, LogRow, Plan


class Correction:
    """What one client adds to its gradients, and their mean without it, each step's weighted by its rate."""

    def __init__(self, added: torch.Tensor) -> None:
        self.added, self.total, self.rates = added, torch.zeros_like(added), 0.0

    def apply(self, gradient: torch.Tensor, rate: float) -> None:
        """Note a step's ``gradient`` [factors], and correct it in place."""
        self.total.add_(gradient, alpha=rate)
        self.rates += rate
        gradient.add_(self.added)

    def mean(self) -> torch.Tensor:
        """Return the mean gradient of the steps so far."""
        return self.total / self.rates


class Cohort:
    """K clients' trained values as rows of flat tensors: [K, factors + projection head + gate per token].

    ``values`` holds what the optimiser moves: the factors, or the residual on a frozen offset, then head and gate.
    ``effective`` [K, factors] holds offset + residual (the same memory as ``values`` without an offset).
    """

    def __init__(
        self,
        base: BaseModel,
        stack: LoraStack,
        tasks: Sequence[ClientTask],
        settings: Optimisation,
        alignment: WeightedAlignment | None,
    ) -> None:
        self.base, self.stack, self.tasks, self.settings, self.alignment = base, stack, tasks, settings, alignment
        self.device = base.device
        self.size = stack.layout.size
        self.head: Layout | None = None
        if alignment is not None:
            targets = np.stack([np.asarray(task.target, dtype=np.float32) for task in tasks])
            self.head = head_layout(base.hidden_size, alignment, targets.shape[1])
            self.targets = torch.nn.functional.normalize(torch.from_numpy(targets), dim=-1).to(self.device)
        self._flat: dict[int, torch.Tensor] = {}
        self.gate = gate_layout(stack.layers) if tasks[0].gate is not None else None
        behind = self.size + (self.head.size if self.head is not None else 0)
        width = behind + (self.gate.size if self.gate is not None else 0)
        self.values = torch.zeros(len(tasks), width, device=self.device)
        self.offset: torch.Tensor | None = None
        if tasks[0].offset is not None:
            self.offset = torch.stack([self._shared(task.offset) for task in tasks])
        for position, task in enumerate(tasks):
            factors = stack.layout.flatten(task.start, self.device)
            self.values[position, : self.size] = factors if self.offset is None else factors - self.offset[position]
            if self.head is not None:
                self.values[position, self.size : behind] = initial_head(self.head, task.stage_seed).to(self.device)
            if self.gate is not None and task.gate:  # without vectors an even mixture
                self.values[position, behind:] = self.gate.flatten(task.gate, self.device)
        self.effective = (
            self.values[:, : self.size] if self.offset is None else self.offset + self.values[:, : self.size]
        )
        self.anchors = [
            self._shared(task.anchor) if task.anchor is not None and (task.proximal or task.inner_steps) else None
            for task in tasks
        ]
        gated = any(part is not None for task in tasks for part in (task.gates, task.weight, task.gate))
        if gated and any(task.companion is None for task in tasks):
            raise ValueError("gates and a weight need a companion adapter")
        self.companions: torch.Tensor | None = None
        if tasks[0].companion is not None:
            self.companions = torch.stack([self._shared(task.companion) for task in tasks])
        self.mixture = None
        if tasks[0].weight is not None:
            self.mixture = LearnedMixture(stack.layout, [task.weight or 0.0 for task in tasks], self.device)
        self.displacements: list[torch.Tensor | None] = [
            torch.zeros(self.size, device=self.device) if task.inner_steps else None for task in tasks
        ]
        self.corrections = [
            None if task.correction is None else Correction(self._shared(task.correction)) for task in tasks
        ]
        if any(task.inner_steps and task.anchor is None for task in tasks):
            raise ValueError("inner steps need an anchor")
        self.masks = [self._mask(task.trained, width) for task in tasks]
        self._flat.clear()
        self.gradients = torch.zeros_like(self.values)
        self.gate_values, self.gate_gradients = self.values[:, behind:], self.gradients[:, behind:]
        self.optimisers = [AdamW(width, self.device, *BETAS, EPSILON, settings.weight_decay) for _ in tasks]
        self.logs: list[list[LogRow]] = [[] for _ in tasks]
        self.reached = [False] * len(tasks)
        # By position the values of a client's best pass, with the weight of its mixture.
        self.kept: dict[int, tuple[torch.Tensor, float]] = {}

    def _shared(self, state: LoraState | None) -> torch.Tensor:
        """Return a state's flat vector; clients that hold the same object share one."""
        assert state is not None
        if id(state) not in self._flat:
            self._flat[id(state)] = self.stack.layout.flatten(state, self.device)
        return self._flat[id(state)]

    def _mask(self, trained: frozenset[str] | None, width: int) -> torch.Tensor | None:
        """Return [width] of 1 where a value is trained and 0 where it is held; None where all of them are trained."""
        if trained is None:
            return None
        if not trained or not trained <= self.stack.layout.slots.keys():
            raise ValueError("the trained tensors are not among those of the model's target modules")
        mask = torch.ones(width, device=self.device)
        mask[: self.size] = self.stack.layout.marks(trained, self.device)
        return mask

    def zero_gradients(self) -> None:
        """Clear the gradients."""
        self.gradients.zero_()
        if self.mixture is not None:
            self.mixture.companion_gradients.zero_()

    def select(self, flat: torch.Tensor, positions: Sequence[int]) -> torch.Tensor:
        """Return the rows of ``flat`` at sorted ``positions``: a view where they adjoin, else a copy."""
        if positions[-1] - positions[0] == len(positions) - 1:
            return flat[positions[0] : positions[-1] + 1]
        return flat[list(positions)]

    def components(self, positions: Sequence[int], gates: torch.Tensor | None) -> list[Component]:
        """Return what a pass of the clients at ``positions`` adds: the trained adapters, then the companions."""
        layout = self.stack.layout
        own = self.select(self.effective, positions)
        if self.companions is None:
            return [Component(layout.factors(own, trainable=True), dropout=True)]
        companions = self.select(self.companions, positions)
        if self.mixture is not None:
            own, companions = self.mixture.scaled(own, companions, positions)
        trained = Component(layout.factors(own, trainable=True), None if gates is None else 1.0 - gates, dropout=True)
        held = Component(layout.factors(companions, trainable=self.mixture is not None), gates)
        if self.gate is not None:
            trained.gates = self.gate.leaves(self.select(self.gate_values, positions), trainable=True)
            held.gates = [-vector for vector in trained.gates]
        return [trained, held]

    def collect(self, components: Sequence[Component], positions: Sequence[int]) -> None:
        """Add the gradients that a backward pass left at the factors of ``components``."""
        self.stack.layout.collect(chain(*components[0].factors), self.gradients, positions)
        if self.mixture is not None:
            self.stack.layout.collect(chain(*components[1].factors), self.mixture.companion_gradients, positions)
        if self.gate is not None and components[0].gates is not None:
            self.gate.collect(components[0].gates, self.gate_gradients, positions)

    def step(self, position: int, rate: float) -> tuple[float, float]:
        """Add the proximal gradient, clip and update one client.

        Returns the gradient's norm before clipping and the proximal loss.
        """
        gradient, task = self.gradients[position], self.tasks[position]
        if self.mixture is not None:
            assert self.companions is not None
            own, companion = self.effective[position], self.companions[position]
            self.mixture.step(position, gradient[: self.size], own, companion, task.weight_rate)
        proximal = 0.0
        anchor = self.anchors[position]
        if anchor is not None and task.proximal:
            difference = self.effective[position] - self._reference(position, anchor)
            proximal = task.proximal * float(torch.linalg.vector_norm(difference)) ** 2
            gradient[: self.size].add_(difference, alpha=2.0 * task.proximal)
        mask = self.masks[position]
        if mask is not None:
            gradient *= mask
        if rate > 0 and not self.reached[position]:
            self.reached[position] = bool(torch.any(gradient[: self.size] != 0))
        norm = float(torch.linalg.vector_norm(gradient))
        gradient *= min(1.0, self.settings.clip_norm / (norm + 1e-6))
        correction = self.corrections[position]
        if correction is not None:
            correction.apply(gradient[: self.size], rate)
        self.optimisers[position].step(self.values[position], gradient, rate, mask)
        displacement = self.displacements[position]
        if displacement is not None and anchor is not None and self.optimisers[position].steps % task.inner_steps == 0:
            moved = self._reference(position, anchor)
            displacement.add_(self.values[position, : self.size] - moved, alpha=task.outer_rate)
        return norm, proximal

    def _reference(self, position: int, anchor: torch.Tensor) -> torch.Tensor:
        """Return where a client's proximal term pulls: the anchor, moved by pFedMe's outer steps."""
        displacement = self.displacements[position]
        return anchor if displacement is None else anchor + displacement

    def refresh(self, positions: Sequence[int]) -> None:
        """Bring the factors in use up to date with the residuals of the clients just stepped."""
        if self.offset is not None:
            for position in positions:
                torch.add(self.offset[position], self.values[position, : self.size], out=self.effective[position])

    def keep(self, position: int) -> None:
        """Keep one client's values as they are, in place of what was kept before."""
        weight = self.mixture.weights[position] if self.mixture is not None else math.nan
        self.kept[position] = self.values[position].clone(), weight

    def restore(self) -> None:
        """Bring back the values that are kept."""
        for position, (values, weight) in self.kept.items():
            self.values[position] = values
            if self.mixture is not None:
                self.mixture.weights[position] = weight
        self.refresh(list(self.kept))

    def results(self, plans: Sequence[Plan]) -> list[ClientResult]:
        """Return every client's result. Raises ``UserError`` for a client whose adapter no gradient reached."""
        results = []
        for position, plan in enumerate(plans):
            if not self.reached[position]:
                raise UserError(
                    f"{plan.task.name}: no gradient reached its adapter at a learning rate above zero; "
                    "check target_modules and the supervised tokens"
                )
            residual = self.stack.layout.unflatten(self.values[position, : self.size])
            state = residual if self.offset is None else self.stack.layout.unflatten(self.effective[position])
            moved = self.displacements[position]
            displacement = None if moved is None else self.stack.layout.unflatten(moved)
            weight = None if self.mixture is None else self.mixture.weights[position]
            gate = None if self.gate is None else self.gate.unflatten(self.gate_values[position])
            correction = self.corrections[position]
            gradient = None if correction is None else self.stack.layout.unflatten(correction.mean())
            log = self.logs[position]
            results.append(ClientResult(plan.task.name, state, residual, log, displacement, weight, gate, gradient))
        return results
