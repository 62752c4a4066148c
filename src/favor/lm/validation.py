"""The loss on texts that a client does not train on, read between the passes of a stage, and when a stage stops."""

import math
from dataclasses import dataclass, replace

from favor.lm.settings import Optimisation
from favor.lm.tasks import ClientTask, Group, Plan, predicted_tokens


def validation_plan(task: ClientTask, settings: Optimisation) -> Plan:
    """Return the plan of one reading: all of the task's validation pieces as one step of micro-batches.

    Its mean over a step's supervised tokens is then the mean over all of them. There is no step where nothing is
    supervised.
    """
    pieces, size = task.validation, settings.micro_batch
    plan = Plan(replace(task, pieces=pieces, gates=task.validation_gates))
    tokens = sum(predicted_tokens(piece, settings) for piece in pieces)
    if tokens:
        starts = range(0, len(pieces), size)
        plan.steps.append([Group(tuple(range(start, min(start + size, len(pieces)))), 0) for start in starts])
        plan.supervised_tokens.append(tokens)
    return plan


@dataclass
class EarlyStopping:
    """Which pass of a stage is kept: the one of the lowest validation loss, the first of equal ones.

    The stage ends after ``patience`` passes in a row that are not lower. ``best``: the lowest loss, in nats per token;
    ``since``: the passes after it.
    """

    patience: int
    best: float = math.inf
    since: int = 0

    def better(self, loss: float) -> bool:
        """Take the loss after a pass; return whether it is the lowest so far."""
        lower = loss < self.best
        self.best, self.since = (loss, 0) if lower else (self.best, self.since + 1)
        return lower

    @property
    def over(self) -> bool:
        """Whether the stage ends here."""
        return self.since >= self.patience
