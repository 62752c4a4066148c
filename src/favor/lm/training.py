"""Training many clients' adapters at once over one frozen base: own loop, one optimiser state a client.

The stack is the only execution: one client at a time is a stack of one. What a client computes (losses, clipping,
schedule, dropout, shuffling) depends on nothing but its own task; how wide the stack is and how many rows run in one
forward pass changes results by rounding only.
"""

import math
import sys
from collections.abc import Callable, Sequence
from functools import partial

import torch

from favor.foundation.errors import UserError
from favor.lm.attention import packed_attention
from favor.lm.base import BaseModel
from favor.lm.batch_limits import Widths
from favor.lm.cohort import Cohort
from favor.lm.forward import Share, build_batch, kappa_of
from favor.lm.fused import fused_layers, kernels
from favor.lm.memory_budget import Room, bytes_per_token, clients_held, recomputation
from favor.lm.optimiser import linear_schedule
from favor.lm.passes import StepFigures, read_losses, run_parts
from favor.lm.resuming import Checkpoint
from favor.lm.settings import Lora, Optimisation, WeightedAlignment
from favor.lm.stack import LoraStack
from favor.lm.tasks import ClientResult, ClientTask, EarlyStopping, Plan, make_plan, stage_steps, validation_plan
from favor.running.devices.gpu_memory import attempt
from favor.running.jobs.progress import Progress


def count_steps(tasks: Sequence[ClientTask], settings: Optimisation) -> int:
    """Return the optimiser steps of all tasks together: the total for :class:`Progress`."""
    effective = settings.micro_batch * settings.accumulation
    fixed = settings.steps_per_epoch
    return sum(
        stage_steps(len(task.pieces), task.epochs, effective, fixed) * max(1, task.inner_steps) for task in tasks
    )


def train(
    base: BaseModel,
    lora: Lora,
    tasks: Sequence[ClientTask],
    settings: Optimisation,
    alignment: WeightedAlignment | None = None,
    progress: Progress | None = None,
    max_rows_per_forward: int | None = None,
    clients_per_stack: int | None = None,
    widths: Widths | None = None,
    checkpoint: Checkpoint | None = None,
) -> list[ClientResult]:
    """Train every task and return results in the order of ``tasks``.

    The loss of an optimiser step is the mean cross-entropy over the step's supervised tokens, plus
    ``proximal * ||factors - anchor||^2``, plus, for tasks with a target, ``weight * kappa * (1 - cos)`` averaged over
    the step's micro-batches (Eqs. task_loss, shared_objective, private_objective). Hidden states for the style state
    are final, after the last norm, at the positions whose own label is not ignored. Gradients are clipped per client
    over its factors and projection head together.

    ``max_rows_per_forward`` and ``clients_per_stack`` bound memory and change nothing else. On a GPU that runs out of
    memory the step is done again, as :meth:`favor.lm.memory_budget.Room.narrow` says: in smaller passes, then with
    layers computed twice (``gradient_checkpointing`` "auto"); then the stack is halved and its clients begin again;
    then micro-batches are cut, whose losses and gradients stay those of the whole. A stack's values take at most a
    share of a device's memory from the start (:func:`favor.lm.memory_budget.clients_held`). ``widths`` holds what was
    found to fit: it is where the call begins, and is changed in place.

    A task's ``validation`` pieces are read before its first step and after every pass; what is trained does not depend
    on it, unless the task has ``patience``. The learning rate follows the planned steps also where a stage ends early.

    With a ``checkpoint`` the one task goes on behind the pass that is saved there, if one is, and every pass is saved.
    The result is that of a training that was never stopped. It is not for mixtures, inner steps and corrections.

    Raises ``UserError``, naming the client: a stage that would train nothing (no supervised token, no step at a rate
    over zero, no gradient that reaches the adapter), a loss that is not finite, memory that does not suffice.
    """
    if len({task.name for task in tasks}) != len(tasks):
        raise ValueError("client names of one call must differ")
    parts = (tasks[0].companion, tasks[0].correction)
    if checkpoint and (len(tasks) > 1 or tasks[0].inner_steps or parts != (None, None)):
        raise ValueError("a checkpoint holds one client without inner steps, mixtures and corrections")
    plans = sorted((make_plan(task, settings) for task in tasks), key=lambda plan: -len(plan.steps))
    for plan in plans:
        _check_rates(plan, settings)
    stack = LoraStack(base.model, lora)
    widths = widths or Widths()
    results: dict[str, ClientResult] = {}
    with stack.attached(), packed_attention(base.model), fused_layers(base.model, kernels(base.device)):
        # Stacks hold clients of one kind (aligned or not, offset or not), so that one code path serves all rows.
        for waiting in _alike(plans):
            while waiting:
                held = clients_held(base.device, stack.layout.size, waiting[0].task)
                members = waiting[: min(limit or len(waiting) for limit in (clients_per_stack, widths.clients, held))]
                given = (base, stack, members, settings, alignment, max_rows_per_forward, widths, checkpoint, progress)
                counted = (progress.done, progress.tokens) if progress is not None else (0, 0)
                trained = attempt(lambda: _StackRun(*given).train())  # noqa: B023 - called at once
                if trained is None:
                    _halve_stack(widths, members)
                    if progress is not None:  # The clients begin again.
                        progress.done, progress.tokens = counted
                    continue
                results |= {result.name: result for result in trained}
                waiting = waiting[len(members) :]
    return [results[task.name] for task in tasks]


def _halve_stack(widths: Widths, members: Sequence[Plan]) -> None:
    if len(members) == 1:
        raise UserError(
            f"{members[0].task.name}: one row of one client does not fit in GPU memory; set "
            "gradient_checkpointing: on, or lower max_length or the LoRA rank"
        )
    widths.clients, widths.divisor = (len(members) + 1) // 2, 1
    print(f"GPU memory is short: stacks of {widths.clients} clients from here on", file=sys.stderr, flush=True)


def _alike(plans: Sequence[Plan]) -> list[list[Plan]]:
    kinds: dict[tuple[bool, ...], list[Plan]] = {}
    for plan in plans:
        task = plan.task
        parts = (task.target, task.offset, task.companion, task.gates, task.weight, task.gate)
        kinds.setdefault(tuple(part is not None for part in parts), []).append(plan)
    return list(kinds.values())


def _check_rates(plan: Plan, settings: Optimisation) -> None:
    steps = len(plan.steps)
    factors = [
        linear_schedule(step, steps, settings.warmup_fraction, settings.warmup_counts_from) for step in range(steps)
    ]
    if settings.learning_rate <= 0 or not any(factor > 0 for factor in factors):
        raise UserError(
            f"{plan.task.name}: none of its {steps} optimiser steps has a learning rate above zero; "
            "count the warm-up from 1, or give more text or epochs"
        )


class _StackRun:
    """The training of one stack of clients of one kind, from first to last step."""

    def __init__(
        self,
        base: BaseModel,
        stack: LoraStack,
        plans: Sequence[Plan],
        settings: Optimisation,
        alignment: WeightedAlignment | None,
        max_rows: int | None,
        widths: Widths,
        checkpoint: Checkpoint | None,
        progress: Progress | None,
    ) -> None:
        self.base, self.stack, self.plans, self.settings = base, stack, plans, settings
        self.checkpoint, self.progress = checkpoint, progress
        self.alignment = alignment if plans[0].task.target is not None else None
        if plans[0].task.target is not None and alignment is None:
            raise ValueError("tasks with a style target need alignment settings")
        self.room = Room(base.device, settings, max_rows, widths, bytes_per_token(base.decoder))
        self.readings = [validation_plan(plan.task, settings) for plan in plans]
        patience = [plan.task.patience for plan in plans]
        self.stopping = [None if passes is None else EarlyStopping(passes) for passes in patience]
        self.stopped: set[int] = set()
        self.cohort = Cohort(base, stack, [plan.task for plan in plans], settings, self.alignment)

    def train(self) -> list[ClientResult]:
        """Run all steps and return the clients' results."""
        first = self._resume() if self.checkpoint and self.checkpoint.path.is_file() else 0
        if self.progress is not None:
            self.progress.skip(first)
        before = {} if first else self._validation(range(len(self.plans)))
        for step in range(first, max(len(plan.steps) for plan in self.plans)):
            active = [
                position
                for position, plan in enumerate(self.plans)
                if step < len(plan.steps) and position not in self.stopped
            ]
            if not active:
                break
            figures = self._within_memory(partial(self._all_passes, step, active))
            for position in active:
                row = self._update(position, step, figures)
                if self.progress is not None:
                    self.progress.update(1, int(row["supervised_tokens"]), loss=float(row["task_loss"]))
                if step == 0:
                    row["validation_loss_before"] = before.get(position, math.nan)
            self.cohort.refresh(active)
            ended = [position for position in active if step in self.plans[position].passes]
            self._after_passes(ended)
            if self.checkpoint and ended:
                self.checkpoint.save(self.cohort, step, self.stopping[0])
        self.cohort.restore()
        return self.cohort.results(self.plans)

    def _resume(self) -> int:
        """Bring the client to the end of the pass that is saved, and return the step behind it."""
        assert self.checkpoint is not None
        step, stopping = self.checkpoint.load(self.cohort)
        if stopping is not None:
            self.stopping[0] = stopping
            if stopping.over:
                self.stopped.add(0)
        return step + 1

    def _after_passes(self, positions: Sequence[int]) -> None:
        """Read and log the validation losses of clients that end a pass; keep and stop as their patience asks."""
        for position, loss in self._validation(positions).items():
            self.cohort.logs[position][-1]["validation_loss"] = loss
            stopping = self.stopping[position]
            if stopping is None:
                continue
            if stopping.better(loss):
                self.cohort.keep(position)
            if stopping.over:
                self.stopped.add(position)

    def _validation(self, positions: Sequence[int]) -> dict[int, float]:
        """Return the validation loss of the clients at ``positions`` that have pieces for it, by position.

        Of a stack of one client it is printed at once.

        It is the mean -ln p of their supervised tokens under the forward pass that is trained, without dropout. Raises
        ``UserError`` where it is not finite.
        """
        read = [position for position in positions if self.readings[position].steps]
        if not read:
            return {}
        figures = self._within_memory(partial(self._read, read))
        losses = {position: figures.of("task_loss", position) for position in read}
        for position, loss in losses.items():
            if not math.isfinite(loss):
                name = self.plans[position].task.name
                raise UserError(f"{name}: the validation loss is not finite; lower the learning rate")
            if self.progress is not None and len(self.plans) == 1:
                self.progress.show(**{"validation loss": loss})
        return losses

    def _read(self, positions: list[int]) -> StepFigures:
        """Do the forward passes of one reading. Nothing is drawn, and no gradient is touched."""
        figures = StepFigures(len(self.plans), self.base.device)
        for parts in self.room.passes(self.readings, 0, positions):
            batches = [build_batch(shares, self.settings, None, 0.0, self.base.device) for shares in parts]
            read_losses(self.cohort, batches, figures)
        return figures

    def _within_memory(self, passes: Callable[[], StepFigures]) -> StepFigures:
        """Return what ``passes`` returns, done again with less at once while memory is short.

        Raises ``torch.cuda.OutOfMemoryError`` where only a smaller stack can help.
        """
        while True:
            figures = attempt(passes)
            if figures is not None:
                return figures
            if not self.room.narrow(len(self.plans)):
                raise torch.cuda.OutOfMemoryError(f"{self.room.rows} rows of {len(self.plans)} clients")
            self.room.say()

    def _all_passes(self, step: int, active: list[int]) -> StepFigures:
        """Do the step's forward and backward passes from cleared gradients."""
        self.cohort.zero_gradients()
        figures = StepFigures(len(self.plans), self.base.device)
        dropout, device = self.stack.settings.dropout, self.base.device
        with recomputation(self.base.model, self.room.recomputed):
            for parts in self.room.passes(self.plans, step, active):
                batches = [build_batch(shares, self.settings, self.alignment, dropout, device) for shares in parts]
                run_parts(self.cohort, batches, figures)
        return figures

    def _update(self, position: int, step: int, figures: StepFigures) -> dict[str, float | int | str]:
        """Clip, step the optimiser and log, for one client."""
        plan, settings = self.plans[position], self.settings
        steps = len(plan.steps)
        kappa = math.nan
        if self.alignment is not None:
            groups = plan.steps[step]
            whole = Share(position, plan, step, groups)
            kappa = sum(kappa_of(whole, group, self.alignment) for group in groups) / len(groups)
        rate = settings.learning_rate * linear_schedule(
            step, steps, settings.warmup_fraction, settings.warmup_counts_from
        )
        norm, proximal = self.cohort.step(position, rate)
        task_loss = figures.of("task_loss", position)
        if not all(math.isfinite(value) for value in (norm, task_loss, proximal)):
            remedy = "lower the learning rate" if step else "check the base model and the adapter that it starts from"
            raise UserError(f"{plan.task.name}: the loss is not finite at step {step + 1} of {steps}; {remedy}")
        row: dict[str, float | int | str] = {
            "client": plan.task.name,
            "step": step,
            "learning_rate": rate,
            "task_loss": task_loss,
            "proximal": proximal,
            "alignment_loss": figures.of("alignment_loss", position) if self.alignment is not None else math.nan,
            "cosine": figures.cosine(position),
            "kappa": kappa,
            "gradient_norm": norm,
            "alignment_gradient_share": figures.alignment_share(position) if self.alignment is not None else math.nan,
            "supervised_tokens": plan.supervised_tokens[step],
            "validation_loss_before": math.nan,
            "validation_loss": math.nan,
        }
        self.cohort.logs[position].append(row)
        return row
