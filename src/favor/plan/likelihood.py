"""Likelihood attribution: which texts are read, under which adapters, and what its scores depend on."""

from dataclasses import dataclass

from favor.config.experiments import Experiment
from favor.federation.settings import BaseReading, Likelihood, LikelihoodReading
from favor.plan.job_settings import Parameter, job_params, not_none, to_params
from favor.plan.keys import Key, run_key
from favor.plan.project import PlannerComponent, alternatives
from favor.plan.training import Training
from favor.scores.settings import LikelihoodScoring, PoisoningScoring

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


@dataclass(eq=False)
class LikelihoodAttribution(PlannerComponent):
    """The readings of a project's adapters."""

    training: Training

    def _section(self, key: Key) -> Likelihood:
        return not_none(self.project.experiment(key).evaluation.likelihood)

    def reader(self, key: Key) -> Key:
        """Return the run whose likelihoods a run takes: its source run, or itself if that experiment reads none."""
        home = self.training.source_run(key)
        return key if self.project.experiment(home).evaluation.likelihood is None else home

    def rows(self) -> str:
        """Return a regular expression of the rows that generate with adapters or with the plain base."""
        rows = {row for name, row in self.project.rows if self._reads(name, row)}
        return alternatives(sorted(rows))

    def _reads(self, experiment: str, row: str) -> bool:
        return self.project.rows[experiment, row].plan.inference not in WITHOUT

    # What is read

    def neutral(self, key: Key) -> list[str]:
        given = self._section(key).neutral
        return [] if given in (None, "english") else [self.project.given(str(given))]

    def near_duplicates(self, key: Key) -> list[str]:
        return self.project.near_duplicates(self.project.experiment(key).corpus)

    def read_base_likelihoods_settings(self, key: Key) -> Parameter:
        """Return which texts are read, and the base model."""
        experiment, section = self.project.experiment(key), self._section(key)
        longest = read_length(experiment)
        return job_params(
            BaseReading,
            section,
            experiment,
            experiment.prompts,
            model=self.project.loaded_model(experiment.base_model),
            maximum_tokens=longest,
            minimum_tokens=min(section.minimum_tokens, longest),
            neutral=section.neutral is not None,
        )

    def read_likelihoods_settings(self, key: Key) -> Parameter:
        experiment = self.project.experiment(key)
        return job_params(
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
        runs = self.training.runs(key.experiment)
        return [self.paths.likelihood.of(self.reader(run)) for run in runs if self._reads(run.experiment, run.method)]

    def readings_beside(self, key: Key) -> list[str]:
        """Return the likelihoods of the same rows in the experiment without the attack."""
        poisoning = self.project.experiment(key).studies.poisoning
        if poisoning is None:
            return []
        runs = [run for run in self.training.runs(key.experiment) if self._reads(run.experiment, run.method)]
        there = (run_key(poisoning.beside, run.seed, run.method) for run in runs)
        return [self.paths.likelihood.of(self.reader(run)) for run in there]

    def score_likelihood_settings(self, key: Key) -> Parameter:
        """``without``: why a row has no score."""
        return to_params(self._scoring(key))

    def _scoring(self, key: Key) -> LikelihoodScoring:
        experiment, plans = self.project.experiment(key), self.project.plans(key.experiment)
        return LikelihoodScoring(
            methods=list(plans),
            clients=self.training.clients(key.experiment),
            without={row: WITHOUT[plan.inference] for row, plan in plans.items() if plan.inference in WITHOUT},
            bootstrap=experiment.evaluation.bootstrap,
        )

    def score_poisoning_settings(self, key: Key) -> Parameter:
        experiment = self.project.experiment(key)
        attack = experiment.federation.attack
        found = {str(seed): self.training.attackers(key.experiment, str(seed)) for seed in experiment.seeds}
        aimed = attack is not None and attack.kind == "hijack"
        return job_params(
            PoisoningScoring,
            self._scoring(key),
            attackers={seed: each.clients for seed, each in found.items()},
            targets={seed: each.target for seed, each in found.items()} if aimed else {},
        )
