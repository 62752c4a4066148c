"""The planner: which job reads and writes what, and at what cost. It needs no Snakemake, numpy, pandas or pyarrow."""

from __future__ import annotations

from pathlib import Path

from favor.config.configuration import Configuration
from favor.plan.costs import Costs
from favor.plan.evaluation import Evaluation
from favor.plan.preparation import Preparation
from favor.plan.project import Project
from favor.plan.records import Records
from favor.plan.studies import Studies
from favor.plan.sweeps import Sweeps
from favor.plan.targets import Targets
from favor.plan.training import Training


class Planner:
    """Every part of the planner over one configuration. Raises ``UserError`` for what no plan can be made of."""

    def __init__(self, config: Configuration, root: Path) -> None:
        self.config = config
        self.project = Project(config, root)
        self.paths = self.project.paths
        self.preparation = Preparation(self.project)
        self.training = Training(self.project)
        self.records = Records(self.project, self.training)
        self.studies = Studies(self.project, self.training)
        self.evaluation = Evaluation(self.project, self.training, self.records)
        self.sweeps = Sweeps(self.project, self.evaluation)
        self.targets = Targets(self.project, self.training, self.records, self.evaluation, self.sweeps, self.studies)
        self.costs = Costs(self.project, self.training, self.studies)
