"""Losses of texts under adapters: likelihoods that attribute held-out texts, and validation losses of training logs."""

from favor.config.experiments import Experiment
from favor.federation.method import Inference, Plan, plan_values
from favor.federation.settings import BaseReading, Likelihood, LikelihoodReading, ValidationReading
from favor.plan.job_settings import job_settings, not_none
from favor.plan.keys import Key, run_key
from favor.plan.project import alternatives, unique
from favor.plan.training import TrainingComponent
from favor.scores.settings import LikelihoodScoring, PoisoningScoring, ValidatedRun, ValidatedStage, ValidationScoring

LONGEST = 128  # supervised tokens of a text, where the configuration names no number
# Why a row has no likelihood, by what it generates with.
WITHOUT = {
    "prompted": "the base model is prompted: the row has no adapter",
    "outputs": "the row's texts were made elsewhere: there is no adapter to ask",
}


def read_length(experiment: Experiment) -> int:
    """Return the most supervised tokens of a text that is read."""
    section = experiment.evaluation.likelihood
    if section is not None and section.maximum_tokens is not None:
        return section.maximum_tokens
    return min(LONGEST, experiment.generation.max_new_tokens)


class LikelihoodAttribution(TrainingComponent):
    """The readings of a project's adapters."""

    def _section(self, key: Key) -> Likelihood:
        return not_none(self.project.experiment(key).evaluation.likelihood)

    def reader(self, key: Key) -> Key:
        """Return the run whose likelihoods count for a run: its source run, or itself if that experiment reads none."""
        home = self.training.source_run(key)
        return key if self.project.experiment(home).evaluation.likelihood is None else home

    def rows(self) -> str:
        """Return a regular expression of the rows that generate with adapters or with the plain base."""
        return alternatives(sorted({row for name, row in self.project.rows if self._reads(name, row)}))

    def _reads(self, experiment: str, row: str) -> bool:
        return self.project.rows[experiment, row].plan.inference not in WITHOUT

    # What is read

    def neutral(self, key: Key) -> list[str]:
        given = self._section(key).neutral
        return [] if given in (None, "english") else [self.project.given(str(given))]

    def read_base_likelihoods_settings(self, key: Key) -> BaseReading:
        experiment, section = self.project.experiment(key), self._section(key)
        longest = read_length(experiment)
        return job_settings(
            BaseReading,
            section,
            experiment,
            experiment.prompts,
            model=self.project.loaded_model(experiment.base_model),
            maximum_tokens=longest,
            minimum_tokens=min(section.minimum_tokens, longest),
            neutral=section.neutral is not None,
        )

    def read_likelihoods_settings(self, key: Key) -> LikelihoodReading:
        experiment = self.project.experiment(key)
        return job_settings(
            LikelihoodReading,
            self.training.adapter_use(key),
            model=self.project.loaded_model(experiment.base_model),
            clients=self.training.clients(key.experiment),
            context=experiment.prompts.prefix_tokens + read_length(experiment),
        )

    # Scores

    def readings(self, key: Key) -> list[str]:
        if self.project.experiment(key).evaluation.likelihood is None:
            return []
        return [self.paths.likelihood.of(self.reader(run)) for run in self._runs(key)]

    def own_runs(self, key: Key) -> list[Key]:
        """Return the runs that are read for an experiment, without those that ``outputs_of`` reads."""
        if self.project.experiment(key).evaluation.likelihood is None:
            return []
        return [run for run in self._runs(key) if self.reader(run) == run]

    def _runs(self, key: Key) -> list[Key]:
        return [run for run in self.training.runs(key.experiment) if self._reads(run.experiment, run.method)]

    def readings_beside(self, key: Key) -> list[str]:
        poisoning = self.project.experiment(key).studies.poisoning
        if poisoning is None:
            return []
        there = (run_key(poisoning.beside, run.seed, run.method) for run in self._runs(key))
        return [self.paths.likelihood.of(self.reader(run)) for run in there]

    def score_likelihood_settings(self, key: Key) -> LikelihoodScoring:
        """``without``: why a row has no score."""
        experiment, plans = self.project.experiment(key), self.project.plans(key.experiment)
        return LikelihoodScoring(
            methods=list(plans),
            clients=self.training.clients(key.experiment),
            without={row: WITHOUT[plan.inference] for row, plan in plans.items() if plan.inference in WITHOUT},
            bootstrap=experiment.evaluation.bootstrap,
        )

    def score_poisoning_settings(self, key: Key) -> PoisoningScoring:
        experiment = self.project.experiment(key)
        attack = experiment.federation.attack
        found = {str(seed): self.training.attackers(key.experiment, str(seed)) for seed in experiment.seeds}
        aimed = attack is not None and attack.kind == "hijack"
        return job_settings(
            PoisoningScoring,
            self.score_likelihood_settings(key),
            attackers={seed: each.clients for seed, each in found.items()},
            targets={seed: each.target for seed, each in found.items()} if aimed else {},
        )


FAMILY = "validation"
_NOT_TRAINED = "its clients generate with no adapter of their own, whose loss a training log would hold"
_POOLED = "one adapter for all authors: its training log has no loss of a single author"
_MIXED = "its clients generate with another mixture than its training logs read"


def unread(plan: Plan) -> str:
    """Return why no training log has the validation loss of the adapters that a row generates with; "" if one does.

    A log reads the adapter while it trains. A row generates with the same one unless a part is replaced afterwards: a
    shared half by the final one, a gate per text by its mean, the mean of the others by a later one.
    """
    if plan.inference not in ("personal", "endpoint"):
        return _NOT_TRAINED
    if plan.inference == "personal" and plan.personal is not None and plan.personal.start == "pooled":
        return _POOLED
    mixture = plan.generates.mixture
    fixed = mixture is None or (mixture.kind in ("learned", "sum") and mixture.training == "dynamic")
    return "" if fixed and plan.global_half == "last_round" else _MIXED


class ValidationLosses(TrainingComponent):
    """The validation losses of a project's rows."""

    def _logs(self, run: Key) -> list[str]:
        plan = self.project.plan(run)
        jobs = [] if unread(plan) else self.training.training_jobs(self.training.trainer(run))
        return list(map(self.training.log, jobs))

    def final_adapter(self, key: Key) -> str:
        rounds = self.project.experiment(key).federation.rounds
        return self.training.server_adapter(key, rounds)

    def read_validation_settings(self, key: Key) -> ValidationReading:
        experiment = self.project.experiment(key)
        return job_settings(
            ValidationReading,
            experiment,
            experiment.prompts,
            generates=plan_values(Inference("server", ranks=self.training.stage(key).ranks)),
            model=self.project.loaded_model(experiment.base_model),
            clients=self.training.clients(key.experiment),
        )

    def stage_logs(self, key: Key) -> list[str]:
        jobs = self.training.training_jobs(key)
        return [self.training.log(job) for job in jobs if hasattr(job, "track") == (key.stage == "shared")]

    def take_validation_settings(self, key: Key) -> ValidatedStage:
        stopped = key.stage == "personal" and self._patient(key)
        return ValidatedStage(stage=key.stage, stopped=stopped, logs=self.stage_logs(key))

    def _patient(self, key: Key) -> bool:
        validation = self.project.experiment(key).training.validation
        return validation is not None and validation.patience is not None

    def logs(self, key: Key) -> list[str]:
        return unique(log for run in self.training.runs(key.experiment) for log in self._logs(run))

    def score_validation_settings(self, key: Key) -> ValidationScoring:
        experiment, plans = self.project.experiment(key), self.project.plans(key.experiment)
        patient = self._patient(key)
        runs = []
        for run in self.training.runs(key.experiment):
            stage = "personal" if plans[run.method].inference == "personal" else "shared"
            stopped = patient and stage == "personal"
            runs.append(ValidatedRun(method=run.method, stage=stage, stopped=stopped, logs=self._logs(run)))
        without = {row: why for row, plan in plans.items() if (why := unread(plan))}
        return ValidationScoring(runs=runs, without=without, bootstrap=experiment.evaluation.bootstrap)
