"""The state of one client's stage at the end of a pass, from which a stopped training goes on with the same result."""

import json
import math
from dataclasses import asdict, dataclass
from pathlib import Path

import torch

from favor.foundation.tensors import read_safetensors, write_safetensors
from favor.lm.cohort import Cohort
from favor.lm.tasks import EarlyStopping


@dataclass(frozen=True)
class Checkpoint:
    """A safetensors file with what the steps behind it change, at ``path``. Only the last whole pass is kept.

    It holds trained values, moments of the optimiser and values of the best pass, and in its header steps, log and
    stopping. No generator has a state: shuffling and dropout are drawn by the step's number. That the file is of the
    same training is for the caller to know.
    """

    path: Path

    def save(self, cohort: Cohort, step: int, stopping: EarlyStopping | None) -> None:
        """Write the state of the only client behind ``step``."""
        optimiser = cohort.optimisers[0]
        tensors = {"values": cohort.values[0], "first": optimiser.first, "second": optimiser.second}
        if 0 in cohort.kept:
            tensors["kept"] = cohort.kept[0][0]
        header = {
            "step": step,
            "optimiser_steps": optimiser.steps,
            "reached": cohort.reached[0],
            "stopping": None if stopping is None else asdict(stopping),
            "log": cohort.logs[0],
        }
        write_safetensors(tensors, self.path, {name: json.dumps(value) for name, value in header.items()})

    def load(self, cohort: Cohort) -> tuple[int, EarlyStopping | None]:
        """Bring a new cohort of the same client to the state that was saved; return step and stopping.

        Raises ``UserError`` where the file is damaged.
        """
        tensors, header = read_safetensors(self.path)
        found = {name: torch.from_numpy(array).to(cohort.device) for name, array in tensors.items()}
        told = {name: json.loads(value) for name, value in header.items()}
        cohort.values[0] = found["values"]
        optimiser = cohort.optimisers[0]
        optimiser.first, optimiser.second, optimiser.steps = found["first"], found["second"], told["optimiser_steps"]
        cohort.reached[0], cohort.logs[0] = told["reached"], told["log"]
        if "kept" in found:
            cohort.kept[0] = found["kept"], math.nan  # there is no mixture
        cohort.refresh([0])
        return told["step"], None if told["stopping"] is None else EarlyStopping(**told["stopping"])
