"""Validation losses: the training logs with the loss of the adapter that is used for generation."""

from dataclasses import dataclass

from favor.federation.method import Inference, Plan, plan_values
from favor.federation.settings import ValidationReading
from favor.plan.job_settings import Parameter, job_params, to_params
from favor.plan.keys import Key
from favor.plan.project import PlannerComponent, unique
from favor.plan.training import Training
from favor.scores.settings import ValidatedRun, ValidatedStage, ValidationScoring

FAMILY = "validation"
_NOT_TRAINED = "its clients generate with no adapter of their own, whose loss a training log would hold"
_POOLED = "one adapter for all authors: its training log has no loss of a single author"
_MIXED = "its clients generate with another mixture than its training logs read"


def unread(plan: Plan) -> str:
    """Return why no training log has the validation loss of the adapters that a row generates with; "" if one has.

    A log reads the adapter as it trains. It is what generates where no part is replaced afterwards: a shared half by
    the final one, a gate per text by its mean, the mean of the others by a later one.
    """
    if plan.inference not in ("personal", "endpoint"):
        return _NOT_TRAINED
    if plan.inference == "personal" and plan.personal is not None and plan.personal.start == "pooled":
        return _POOLED
    mixture = plan.generates.mixture
    fixed = mixture is None or (mixture.kind in ("learned", "sum") and mixture.training == "dynamic")
    return "" if fixed and plan.global_half == "last_round" else _MIXED


@dataclass(eq=False)
class ValidationLosses(PlannerComponent):
    """The validation losses of a project's rows."""

    training: Training

    def _logs(self, run: Key) -> list[str]:
        plan = self.project.plan(run)
        return [] if unread(plan) else [log for log, _ in self.training.logged_jobs(self.training.trainer(run))]

    def final_adapter(self, key: Key) -> str:
        rounds = self.project.experiment(key).federation.rounds
        return self.training.server_adapter(key, self.training.stage(key), rounds)

    def read_validation_settings(self, key: Key) -> Parameter:
        experiment = self.project.experiment(key)
        return job_params(
            ValidationReading,
            experiment,
            experiment.prompts,
            generates=plan_values(Inference("server", ranks=self.training.stage(key).ranks)),
            model=self.project.loaded_model(experiment.base_model),
            clients=self.training.clients(key.experiment),
        )

    def stage_logs(self, key: Key) -> list[str]:
        shared = [log for log, _ in self.training.logged_jobs(key, personal=False)]
        if key.stage == "shared":
            return shared
        return [log for log, _ in self.training.logged_jobs(key) if log not in shared]

    def take_validation_settings(self, key: Key) -> Parameter:
        stopped = key.stage == "personal" and self._patient(key)
        return to_params(ValidatedStage(stage=key.stage, stopped=stopped, logs=self.stage_logs(key)))

    def _patient(self, key: Key) -> bool:
        validation = self.project.experiment(key).training.validation
        return validation is not None and validation.patience is not None

    def logs(self, key: Key) -> list[str]:
        return unique(log for run in self.training.runs(key.experiment) for log in self._logs(run))

    def score_validation_settings(self, key: Key) -> Parameter:
        """Return the training logs of each run, and why a row has no score."""
        experiment, plans = self.project.experiment(key), self.project.plans(key.experiment)
        patient = self._patient(key)
        runs = []
        for run in self.training.runs(key.experiment):
            stage = "personal" if plans[run.method].inference == "personal" else "shared"
            stopped = patient and stage == "personal"
            runs.append(ValidatedRun(method=run.method, stage=stage, stopped=stopped, logs=self._logs(run)))
        without = {row: why for row, plan in plans.items() if (why := unread(plan))}
        return to_params(ValidationScoring(runs=runs, without=without, bootstrap=experiment.evaluation.bootstrap))
