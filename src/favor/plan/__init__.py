"""The planner: which job reads and writes what, and at what cost. It needs no Snakemake, numpy, pandas or pyarrow."""

from collections.abc import Callable
from pathlib import Path

from favor.config.configuration import Configuration
from favor.config.row_checks import check_families
from favor.plan.costs import Costs
from favor.plan.evaluation import Evaluation
from favor.plan.figures import Figures
from favor.plan.job_settings import Parameter
from favor.plan.keys import Key
from favor.plan.preparation import Preparation
from favor.plan.privacy import PrivacyAudit
from favor.plan.project import PlannerComponent, Project
from favor.plan.publication import Exports, Publication
from favor.plan.readings import LikelihoodAttribution, ValidationLosses
from favor.plan.records import Records
from favor.plan.studies import Studies
from favor.plan.tables import Sweeps, Tables
from favor.plan.targets import Targets
from favor.plan.training import Training


class Planner:
    """The planner of one configuration, by parts. Raises ``UserError`` where the configuration cannot be planned."""

    def __init__(self, config: Configuration, root: Path) -> None:
        self.config = config
        self.project = project = Project(config, root)
        self.paths = project.paths
        self.preparation = Preparation(project)
        self.training = training = Training(project)
        self.records = records = Records(project, training)
        self.studies = studies = Studies(project, training)
        self.tables = tables = Tables(project, records)
        self.evaluation = evaluation = Evaluation(project, training, tables)
        self.likelihood = LikelihoodAttribution(project, training)
        check_families(config, {name: evaluation.families(name) for name in config.experiments})
        self.validation = ValidationLosses(project, training)
        self.privacy = PrivacyAudit(project, training)
        self.exports = Exports(project, training, evaluation)
        self.sweeps = sweeps = Sweeps(project, tables)
        self.figures = figures = Figures(project, training, tables, evaluation)
        self.publication = Publication(project, training, records, tables, evaluation, sweeps, figures)
        self.targets = Targets(project, training, studies, tables, evaluation, sweeps, self.publication)
        self.costs = Costs(project, training)

    def settings_of(self, stage: str) -> Callable[[Key], Parameter] | None:
        """Return the function that makes the parameter ``cfg`` of a stage; None where its jobs read no settings."""
        name = f"{stage}_settings"
        found = (getattr(part, name, None) for part in vars(self).values() if isinstance(part, PlannerComponent))
        return next((function for function in found if function is not None), None)
