"""The guarantee of clipping and noise, and the privacy audit, which attacks adapters and uploads and plants secrets."""

from collections import Counter
from dataclasses import dataclass
from itertools import chain

from favor.config.experiments import Experiment
from favor.federation.factors import change_output
from favor.federation.method import SharedStage, plan_values
from favor.federation.schedule import client_names
from favor.foundation.section import refuse
from favor.plan.job_settings import job_settings, not_none
from favor.plan.keys import Key, run_key
from favor.plan.training import Training, TrainingComponent
from favor.statistics.accounting import epsilon, rho
from favor.studies.settings import CanaryClients, Planted, Privacy, PrivacyReading, PrivacyScoring


def failure_probability(section: Experiment) -> float:
    """Return delta of an experiment's guarantee: ``federation.privacy.delta``, or clients^-1.1."""
    assert section.clients is not None
    privacy = section.federation.privacy
    return section.clients**-1.1 if privacy is None or privacy.delta is None else privacy.delta


def guarantee(training: Training, experiment: str) -> str:
    """Return the sentence that tables print about the guarantee; "" without clipping."""
    section = training.project.config.experiments[experiment]
    privacy = section.federation.privacy
    if privacy is None:
        return ""
    if not privacy.noise_multiplier:
        return f"Uploads are clipped to a norm of {privacy.clip:g}; without noise that guarantees nothing."
    # The most rounds that a client takes part in, over seeds and the sampling rules of its tracks.
    samplings = {plan.shared.sampling for plan in training.project.plans(experiment).values() if plan.shared}
    schedules = [training.rounds(experiment, str(seed), sampling) for seed in section.seeds for sampling in samplings]
    times = max((max(Counter(chain.from_iterable(rounds)).values()) for rounds in schedules), default=0)
    delta = failure_probability(section)
    loss = epsilon(rho(times, privacy.noise_multiplier), delta)
    open_server = "" if section.federation.aggregation == "sum_only" else "The server sees uploads without noise. "
    return (
        f"Each shared adapter is (ε = {loss:.3g}, δ = {delta:.2g})-differentially private for one author in "
        f"{section.clients}, whose uploads are replaced by zeros in the neighbouring run: clip {privacy.clip:g}, noise "
        f"{privacy.noise_multiplier:g}, at most {times} {'participation' if times == 1 else 'participations'}. "
        f"{open_server}Personal adapters are not covered."
    )


@dataclass(eq=False)
class PrivacyAudit(TrainingComponent):
    """The privacy audits of a project's experiments.

    Raises ``UserError`` for an audit of a row without a shared adapter, or that the experiment left has not.
    """

    def __post_init__(self) -> None:
        for name, experiment in self.experiments.items():
            section = experiment.studies.privacy
            for row in [] if section is None else self.training.audited_rows(name):
                if section and section.leaving and row not in self.experiments[section.leaving].methods:
                    refuse(f"experiments.{section.leaving}.methods", f"the audit of '{name}' needs '{row}'; add it")

    def _section(self, key: Key) -> Privacy:
        return not_none(self.project.experiment(key).studies.privacy)

    def _plants(self, key: Key) -> bool:
        """Return whether secrets are planted beside a run: for the experiment's first seed."""
        return run_key(key.experiment, key.seed, key.method) in self.training.planted_runs(key.experiment)

    # What is read of a run

    def measure_privacy_inputs(self, key: Key) -> dict[str, list[str]]:
        """Return the job's inputs by name: of a run, and of the track with planted secrets.

        ``server``: the shared adapters, A_0 first. ``uploads``: by round, with what clients ``kept`` if uploads change
        nothing by themselves. ``personal``: what clients generate with, if they keep adapters. ``behind``: its parts
        elsewhere.
        """
        run, home = run_key(key.experiment, key.seed, key.method), self.training.trainer(key)
        found, beside = self._read(home), self._read(self.training.track(run, planted=True))
        return {
            **found,
            **{f"canary_{name}": files if self._plants(key) else [] for name, files in beside.items()},
            "personal": self.training.adapters(home) if self.training.bundles(home) else [],
            "behind": self.training.behind(home),
            "remade": self.remade(key),
        }

    def _read(self, track: Key) -> dict[str, list[str]]:
        """Return what is read of a track: copies of its uploads, if these are deleted after aggregation.

        Without copies, a changed audit would have to train again.
        """
        rounds, jobs = self.project.experiment(track).federation.rounds, self.training.shared_jobs(track)
        upload = self.paths.upload if self.config.keep_uploads else self.paths.audited_upload
        return {
            "server": [self.training.server_adapter(track, number) for number in range(rounds + 1)],
            "uploads": list(map(upload.of, jobs)),
            "kept": list(map(self.paths.endpoints.of, jobs)) if self._is_silent(track) else [],
        }

    def _is_silent(self, track: Key) -> bool:
        """Return whether the uploads of a track change nothing by themselves."""
        stage = self.training.stage(track)
        return not change_output(stage.trains, stage.uploads)

    def remade(self, key: Key) -> list[str]:
        """Return the final shared adapter of the run without the clients that left; [] if the audit asks about none."""
        left = self._section(key).leaving
        if left is None or int(key.seed) not in self.experiments[left].seeds:
            return []
        home = self.training.trainer(run_key(left, key.seed, key.method))
        return [self.training.server_adapter(home, self.project.experiment(home).federation.rounds)]

    def measure_privacy_settings(self, key: Key) -> PrivacyReading:
        experiment, section, home = self.project.experiment(key), self._section(key), self.training.trainer(key)
        rounds = range(experiment.federation.rounds)
        roster = self.config.corpora[experiment.corpus].roles.clients
        after = experiment.skip_clients + experiment.clients
        left = section.leaving if self.remade(key) else None
        withdrawn = [] if left is None else self.experiments[left].withdrawn
        planted, clients = None, self.training.clients(key.experiment)
        if section.canaries is not None and self._plants(key):
            planted = job_settings(Planted, section.canaries, carriers=self.training.canary_repeats(key))
        return job_settings(
            PrivacyReading,
            section,
            experiment.training,
            experiment.prompts,
            model=self.project.loaded_model(experiment.base_model),
            lora=experiment.lora,
            generates=plan_values(self.project.plan(home).generates),
            clients=clients,
            absent=client_names(roster, 0)[after : after + section.absent],
            left=[client for client in clients if client in withdrawn],
            jobs=[len(self.training.jobs(self.training.round_step(home, number))) for number in rounds],
            planted=planted,
            canary_clients=self._canary_clients(key, self.training.stage(home)),
        )

    def _canary_clients(self, key: Key, stage: SharedStage) -> CanaryClients | None:
        count, privacy = self._section(key).canary_clients, stage.privacy
        if not count or stage.server.kind != "mean":
            return None
        return CanaryClients(
            count=count,
            rate=self.project.experiment(key).federation.server_learning_rate * stage.server.rate,
            clip=None if privacy is None else privacy.clip,
            cohort=None if privacy is None else privacy.cohort,
        )

    # Scores

    def readings(self, key: Key) -> list[str]:
        """Return the tables that were read of every attacked run, five each."""
        experiment = self.project.experiment(key)
        if experiment.studies.privacy is None:
            return []
        rows = self.training.audited_rows(key.experiment)
        kinds = ("losses", "links", "canaries", "canary_clients", "norms")
        return self.paths.privacy.each(key, method=rows, seed=experiment.seeds, reading=kinds)

    def score_privacy_settings(self, key: Key) -> PrivacyScoring:
        experiment = self.project.experiment(key)
        rows = [] if experiment.studies.privacy is None else self.training.audited_rows(key.experiment)
        runs = {row: run_key(key.experiment, experiment.seeds[0], row) for row in rows}
        return PrivacyScoring(
            methods=rows,
            delta=failure_probability(experiment),
            silent=[row for row, run in runs.items() if self._is_silent(run)],
            bootstrap=experiment.evaluation.bootstrap,
            personal=[row for row, run in runs.items() if self.training.bundles(run)],
        )
