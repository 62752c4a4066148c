"""Experiments whose models answer requests: how these are made, chosen and scored."""

from dataclasses import dataclass

from favor.foundation.errors import UserError
from favor.foundation.section import refuse
from favor.plan.job_settings import Parameter, job_params
from favor.plan.keys import Key
from favor.plan.project import Part, alternatives
from favor.studies.settings import RequestMaking, RequestSelection, TaskScoring

FAMILY = "tasks"


@dataclass(eq=False)
class Tasks(Part):
    """The requests of a project. Raises ``UserError`` for rows that continue or read texts where models answer."""

    def __post_init__(self) -> None:
        for name in self.project.config.experiments:
            self._check_rows(name)

    def _check_rows(self, name: str) -> None:
        experiment = self.project.config.experiments[name]
        task = experiment.task
        for row, plan in self.project.plans(name).items() if experiment.answers else ():
            where, stage = f"experiments.{name}.methods.{row}", plan.personal or plan.shared
            if plan.inference == "prompted":
                refuse(where, f"it asks for a continuation, but 'task' is {task}; leave the row out")
            if stage is not None and stage.mixture is not None and stage.mixture.kind == "similarity":
                refuse(where, f"its gate reads texts to continue, but 'task' is {task}; leave the row out")

    def check(self, experiment: str, families: list[str]) -> None:
        """Refuse the table of tasks where models continue texts. Raises ``UserError``."""
        if FAMILY in families and not self.project.config.experiments[experiment].answers:
            raise UserError(
                f"config key 'experiments.{experiment}.task': its tables compare answers with drafts, and 'continue' "
                "has none; set rewrite or instruct, or leave them out"
            )

    def doing(self, *tasks: str) -> str:
        """Return an expression for the experiments whose models do one of ``tasks``."""
        return alternatives(name for name, each in self.project.config.experiments.items() if each.task in tasks)

    def make_requests_settings(self, key: Key) -> Parameter:
        """Return what the requests of an experiment's clients depend on."""
        experiment = self.project.experiment(key)
        splits = ["train", "test", *(["validation"] if experiment.training.validation is not None else [])]
        model = self.project.asked_model(experiment.base_model)
        return job_params(RequestMaking, experiment, experiment.training, model=model, splits=splits)

    def select_requests_settings(self, key: Key) -> Parameter:
        """Return how requests of held-out passages are chosen as prompts."""
        experiment = self.project.experiment(key)
        longest = experiment.generation.max_new_tokens
        return job_params(RequestSelection, experiment, experiment.prompts, maximum_gold_tokens=longest)

    def score_tasks_settings(self, key: Key) -> Parameter:
        """Return what the scores of answers depend on."""
        experiment = self.project.experiment(key)
        encoders, words = self.project.encoders_of(key.experiment), self.project.words(key)
        return job_params(TaskScoring, experiment, experiment.evaluation, encoders=encoders, words=words)
