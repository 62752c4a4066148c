"""Which clients train where, and from what: the rounds of every track, and what each job of a stage starts from."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

from favor.config.experiments import Experiment
from favor.federation.method import POOLED, PersonalStage, Plan, SharedStage, needs_shared, plan_values
from favor.federation.schedule import batches, client_names, cohorts, last_participation
from favor.foundation.errors import UserError
from favor.plan.keys import (
    Batch,
    InExperiment,
    InRound,
    InRun,
    InSeed,
    InTrack,
    PersonalBatch,
    PersonalJob,
    Run,
    SharedJob,
)
from favor.plan.paths import Template
from favor.plan.project import Project, parameter, pick, plain, unique


class Training:
    """The jobs behind every adapter of a project."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.paths = project.paths

    def clients(self, experiment: str) -> list[str]:
        """Return the names of an experiment's clients."""
        section = self.project.config.experiments[experiment]
        return client_names(section.clients, section.skip_clients)

    @cache
    def rounds(self, experiment: str, seed: str, sampling: str) -> list[list[str]]:
        """Return the cohorts of an experiment's rounds."""
        federation = self.project.config.experiments[experiment].federation
        return cohorts(int(seed), self.clients(experiment), federation.rounds, federation.clients_per_round, sampling)

    @cache
    def last_rounds(self, experiment: str, seed: str, sampling: str) -> dict[str, int]:
        """Return the round of every client's last participation."""
        return last_participation(self.rounds(experiment, seed, sampling))

    def runs(self, experiment: str) -> list[Run]:
        """Return every run of an experiment."""
        section = self.project.config.experiments[experiment]
        return [Run(experiment, str(seed), method) for seed in section.seeds for method in section.methods]

    def home(self, run: InRun) -> Run:
        """Return the run that makes a run's outputs: itself, or that of the experiment named by ``outputs_of``."""
        archive = self.project.experiment(run).outputs_of
        there = archive is not None and run.method in self.project.config.experiments[archive].methods
        return Run(archive if archive is not None and there else run.experiment, run.seed, run.method)

    def per_job(self, key: InExperiment) -> int:
        """Return how many clients one job trains."""
        size = self.project.experiment(key).federation.clients_per_job
        assert size is not None
        return size

    # Shared stages

    def stage(self, key: InTrack) -> SharedStage:
        """Return the shared stage behind a track."""
        return self._stage(key.experiment, key.track)

    @cache
    def _stage(self, experiment: str, track: str) -> SharedStage:
        for plan in self.project.plans(experiment).values():
            if plan.shared is not None and plan.shared.track == track:
                return plan.shared
        raise UserError(f"no method of experiment '{experiment}' has the shared track '{track}'; check the name")

    def schedule(self, key: InTrack) -> str:
        """Return the schedule of a track's rounds."""
        return self.paths.schedule.of(key, sampling=self.stage(key).sampling)

    def cohort(self, key: InRound) -> list[str]:
        """Return the clients of a round."""
        return self.rounds(key.experiment, key.seed, self.stage(key).sampling)[int(key.round)]

    def shared_clients(self, key: SharedJob) -> list[str]:
        """Return the clients of one job of a shared stage."""
        return batches(self.cohort(key), self.per_job(key))[int(key.batch)]

    def round_jobs(self, run: InSeed, stage: SharedStage, number: int) -> list[Batch]:
        """Return the jobs of a round."""
        cohort = self.rounds(run.experiment, run.seed, stage.sampling)[number]
        count = len(batches(cohort, self.per_job(run)))
        return [Batch(run.experiment, run.seed, stage.track, str(number), str(batch)) for batch in range(count)]

    def initial_adapter(self, key: InSeed, origin: str) -> str:
        """Return the adapter that training starts from: one per seed, or one per track or local method."""
        common = self.project.experiment(key).federation.initial_adapter == "common"
        return self.paths.initial_adapter.of(key, origin="common" if common else origin)

    def server_adapter(self, key: InSeed, stage: SharedStage, number: int) -> str:
        """Return the shared adapter at the start of a round."""
        if number == 0:
            return self.initial_adapter(key, stage.track)
        return self.paths.server_adapter.of(key, track=stage.track, next_round=number)

    def round_start(self, key: InRound) -> str:
        """Return the shared adapter that the clients of a round are sent."""
        return self.server_adapter(key, self.stage(key), int(key.round))

    def aggregated_from(self, key: Any) -> str:
        """Return the shared adapter that a round's uploads are added to."""
        return self.server_adapter(key, self.stage(key), int(key.next_round) - 1)

    def uploads(self, key: Any) -> list[str]:
        """Return the uploads that make the adapter of ``next_round``."""
        return self.round_uploads(key, self.stage(key), int(key.next_round) - 1)

    def round_uploads(self, run: InSeed, stage: SharedStage, number: int) -> list[str]:
        """Return the uploads of a round."""
        return [self.paths.upload.of(job) for job in self.round_jobs(run, stage, number)]

    @cache
    def _positions(self, experiment: str, seed: str, sampling: str, number: int) -> dict[str, int]:
        return {client: place for place, client in enumerate(self.rounds(experiment, seed, sampling)[number])}

    def endpoint(self, key: InSeed, stage: SharedStage, client: str, number: int) -> str:
        """Return the bundle that holds a client's shared endpoint of a round."""
        place = self._positions(key.experiment, key.seed, stage.sampling, number)[client]
        batch = place // self.per_job(key)
        return self.paths.endpoints.of(key, track=stage.track, round=number, batch=batch)

    @cache
    def _ends_in_use(self, experiment: str, track: str) -> bool:
        """Return whether a row with this track generates with its endpoints, or starts its personal stage there."""
        return any(
            plan.inference == "endpoint" or (plan.personal is not None and plan.personal.start == "endpoint")
            for plan in self.project.plans(experiment).values()
            if plan.shared is not None and plan.shared.track == track
        )

    def kept_endpoints(self, key: InRound) -> list[str]:
        """Return the clients whose shared endpoint of this round is kept.

        All of them, where their next participation starts there. Else those that never take part again, where a row
        generates with endpoints or starts its personal stage there.
        """
        stage = self.stage(key)
        if stage.start == "own":
            return self.cohort(key)
        if not self._ends_in_use(key.experiment, key.track):
            return []
        last = self.last_rounds(key.experiment, key.seed, stage.sampling)
        return [client for client in self.cohort(key) if last[client] == int(key.round)]

    def endpoint_count(self, run: InSeed, stage: SharedStage) -> int:
        """Return how many shared endpoints of a track are kept, over all rounds."""
        schedule = self.rounds(run.experiment, run.seed, stage.sampling)
        if stage.start == "own":
            return sum(map(len, schedule))
        used = self._ends_in_use(run.experiment, stage.track)
        return len(self.last_rounds(run.experiment, run.seed, stage.sampling)) if used else 0

    def previous_endpoints(self, key: SharedJob) -> list[str]:
        """Return the bundles with the last endpoints of a job's clients, where their shared stage starts from them."""
        stage = self.stage(key)
        if stage.start != "own":
            return []
        before = last_participation(self.rounds(key.experiment, key.seed, stage.sampling)[: int(key.round)])
        clients = self.shared_clients(key)
        return unique(self.endpoint(key, stage, client, before[client]) for client in clients if client in before)

    def shared_settings(self, key: SharedJob) -> dict[str, Any]:
        """Return what a job of a shared stage reads of the configuration."""
        stage = self.stage(key)
        return parameter(
            **self._stage_settings(key, stage),
            stage=plan_values(stage),
            keep_endpoints=self.kept_endpoints(key),
            participations=self._participations(key, stage, stage.sampling, self.cohort(key)),
        )

    def shared_style(self, key: InTrack) -> list[str]:
        """Return the clients' own style embeddings, where a shared stage aligns with them."""
        return self._style(key, self.stage(key))

    # Personal stages

    @cache
    def owner(self, experiment: str, method: str) -> str:
        """Return the first row with the same stages: it trains for all of them (FedDPA and its gate audit)."""
        plans = self.project.plans(experiment)
        wanted = (plans[method].shared, plans[method].personal)
        return next(row for row, plan in plans.items() if (plan.shared, plan.personal) == wanted)

    def phases(self, experiment: str, plan: Plan) -> list[str]:
        """Return the phases of a personal stage: every round where participations build on one another, or the last."""
        if not _personal(plan).chained:
            return ["last"]
        return [f"round{number}" for number in range(self.project.config.experiments[experiment].federation.rounds)]

    @cache
    def _phase_clients(self, experiment: str, seed: str, plan: Plan, phase: str) -> list[str]:
        """Return the clients of one phase of a personal stage, in the order that is cut into jobs."""
        if _personal(plan).start == "pooled":
            return [POOLED]
        if plan.shared is None:
            return self.clients(experiment)
        rounds = self.rounds(experiment, seed, plan.shared.sampling)
        return rounds[_number(phase)] if _personal(plan).chained else sorted(last_participation(rounds))

    @cache
    def _phase_positions(self, experiment: str, seed: str, plan: Plan, phase: str) -> dict[str, int]:
        clients = self._phase_clients(experiment, seed, plan, phase)
        return {client: place for place, client in enumerate(clients)}

    def personal_clients(self, key: PersonalJob) -> list[str]:
        """Return the clients of one job of a personal stage."""
        clients = self._phase_clients(key.experiment, key.seed, self.project.plan(key), key.phase)
        return batches(clients, self.per_job(key))[int(key.batch)]

    def phase_jobs(self, run: InRun, phase: str) -> list[PersonalBatch]:
        """Return the jobs of one phase of a run's personal stage, under the row that trains for it."""
        clients = self._phase_clients(run.experiment, run.seed, self.project.plan(run), phase)
        owner = self.owner(run.experiment, run.method)
        count = len(batches(clients, self.per_job(run)))
        return [PersonalBatch(run.experiment, run.seed, owner, phase, str(batch)) for batch in range(count)]

    def personal_jobs(self, run: InRun) -> list[PersonalBatch]:
        """Return every job of a run's personal stage; none where it has no such stage."""
        plan = self.project.plan(run)
        if plan.personal is None:
            return []
        return [job for phase in self.phases(run.experiment, plan) for job in self.phase_jobs(run, phase)]

    def _bundle(self, run: InRun, client: str, phase: str) -> str:
        """Return the bundle that holds a client's personal adapter of a phase."""
        plan = self.project.plan(run)
        place = self._phase_positions(run.experiment, run.seed, plan, phase)[client]
        owner, batch = self.owner(run.experiment, run.method), place // self.per_job(run)
        return self.paths.personal_pack.of(run, method=owner, phase=phase, batch=batch)

    def personal_starts(self, key: PersonalJob) -> list[str]:
        """Return the adapters that a personal stage starts from.

        Endpoints, the clients' own earlier bundles, or the initial adapter.
        """
        plan, clients = self.project.plan(key), self.personal_clients(key)
        stage = _personal(plan)
        if needs_shared(plan):
            return [self.given_adapter(key, plan)]
        if stage.start in ("initial", "pooled"):
            return [self.initial_adapter(key, self.owner(key.experiment, key.method))]
        assert plan.shared is not None
        if stage.start == "endpoint":
            last = self.last_rounds(key.experiment, key.seed, plan.shared.sampling)
            return unique(self.endpoint(key, plan.shared, client, last[client]) for client in clients)
        rounds = self.rounds(key.experiment, key.seed, plan.shared.sampling)
        before = last_participation(rounds[: _number(key.phase)])
        return unique(self._bundle(key, client, f"round{before[client]}") for client in clients if client in before)

    def anchors(self, key: PersonalJob) -> list[str]:
        """Return the server's adapter at the start of the round, for stages that carry over and their proximal term."""
        plan = self.project.plan(key)
        if not _personal(plan).chained:
            return []
        assert plan.shared is not None
        return [self.server_adapter(key, plan.shared, _number(key.phase))]

    def personal_settings(self, key: PersonalJob) -> dict[str, Any]:
        """Return what a job of a personal stage reads of the configuration.

        ``rounds``: by client, the round that the stage belongs to: the last participation where each starts again.
        """
        plan, clients = self.project.plan(key), self.personal_clients(key)
        stage, sampling = _personal(plan), plan.shared.sampling if plan.shared is not None else None
        numbers = dict.fromkeys(clients, 0)
        if stage.chained:
            numbers = dict.fromkeys(clients, _number(key.phase))
        elif stage.start == "endpoint":
            assert sampling is not None
            last = self.last_rounds(key.experiment, key.seed, sampling)
            numbers = {client: last[client] for client in clients}
        return parameter(
            **self._stage_settings(key, stage),
            stage=plan_values(stage),
            rounds=numbers,
            participations=self._participations(key, stage, sampling, clients),
        )

    def personal_style(self, key: InRun) -> list[str]:
        """Return the clients' own style embeddings, where a personal stage aligns with them."""
        return self._style(key, _personal(self.project.plan(key)))

    # Both stages

    def _stage_settings(self, key: InExperiment, stage: SharedStage | PersonalStage) -> dict[str, Any]:
        experiment = self.project.experiment(key)
        return {
            "model": self.project.model_settings(experiment.base_model),
            **pick(experiment, "lora", "training"),
            "alignment": plain(experiment.alignment) if stage.objective.alignment else None,
            "prefix_tokens": experiment.prompts.prefix_tokens,
            **pick(experiment.federation, "clients_per_job", "engine"),
        }

    def _style(self, key: InExperiment, stage: SharedStage | PersonalStage) -> list[str]:
        encoder = self.project.experiment(key).style_encoder
        return [self.paths.source_embeddings.of(key, encoder=encoder)] if stage.objective.alignment else []

    def _participations(
        self, key: InSeed, stage: SharedStage | PersonalStage, sampling: str | None, clients: Iterable[str]
    ) -> dict[str, int]:
        """Return how often each client takes part in all, where the passes of a stage are spread over it."""
        if not stage.spread or sampling is None:
            return {}
        rounds = self.rounds(key.experiment, key.seed, sampling)
        return {client: sum(client in cohort for cohort in rounds) for client in clients}

    # What clients generate with

    def frozen_adapter(self, key: InSeed) -> str:
        """Return the final shared adapter of another experiment, which a cold start begins with."""
        start = self.project.experiment(key).cold_start
        assert start is not None
        source = Run(start.shared_from, str(start.seed), start.row)
        plan = self.project.plan(source)
        if plan.shared is None:
            raise UserError(
                f"config key 'experiments.{key.experiment}.cold_start.row': '{source.method}' trains no shared "
                "adapter; name a row that does"
            )
        return self.final_adapter(source, plan)

    def given_adapter(self, key: InSeed, plan: Plan) -> str:
        """Return what the clients of a cold start are given: the frozen shared adapter, or a random one of its size."""
        if plan.personal is not None and plan.personal.start == "random":
            return self.paths.random_adapter.of(key)
        return self.frozen_adapter(key)

    def final_adapter(self, run: InSeed, plan: Plan) -> str:
        """Return the final shared adapter of a run, its own or the one it was given."""
        if needs_shared(plan):
            return self.given_adapter(run, plan)
        assert plan.shared is not None
        return self.server_adapter(run, plan.shared, self.project.experiment(run).federation.rounds)

    def bundles(self, run: InRun) -> list[str]:
        """Return the adapter bundles of a run's clients that they generate with."""
        return self._adapters(self.home(run))[1]

    def adapters(self, run: InRun) -> list[str]:
        """Return the bundles and shared adapters that the clients of a run generate with."""
        shared, bundles = self._adapters(self.home(run))
        return [*shared, *bundles]

    @cache
    def _adapters(self, run: Run) -> tuple[list[str], list[str]]:
        plan = self.project.plan(run)
        if plan.inference in ("base", "prompted"):
            return [], []
        if plan.inference == "given":
            return [self.given_adapter(run, plan)], []
        shared = [] if plan.shared is None else [self.final_adapter(run, plan)]
        if plan.inference == "server":
            return shared, []
        if plan.personal is not None and plan.inference == "personal" and plan.personal.start == "pooled":
            return [], [self._bundle(run, POOLED, "last")]
        if plan.shared is None:
            return shared, unique(self._bundle(run, client, "last") for client in sorted(self.clients(run.experiment)))
        last = self.last_rounds(run.experiment, run.seed, plan.shared.sampling)
        bundles = []
        for client, number in sorted(last.items()):
            if plan.inference == "endpoint":
                bundles.append(self.endpoint(run, plan.shared, client, number))
            else:
                phase = f"round{number}" if _personal(plan).chained else "last"
                bundles.append(self._bundle(run, client, phase))
        return shared, unique(bundles)

    def initial_adapters(self, key: InExperiment) -> list[str]:
        """Return of every seed the adapter that a method starts from: what is trained has its shapes.

        Empty where nothing trains.
        """
        found: dict[str, str] = {}
        for run in map(self.home, self.runs(key.experiment)):
            plan = self.project.plan(run)
            if plan.shared is not None:
                found.setdefault(run.seed, self.server_adapter(run, plan.shared, 0))
            elif needs_shared(plan):
                found.setdefault(run.seed, self.frozen_adapter(run))
            elif plan.personal is not None:
                found.setdefault(run.seed, self.initial_adapter(run, self.owner(run.experiment, run.method)))
        return list(found.values())

    # Logs

    def logged_jobs(self, run: InRun, personal: bool = True) -> list[tuple[str, str]]:
        """Return (training log, benchmark) of every training job behind a run: its shared track's, then its own.

        ``personal`` False leaves those of its personal stage out.
        """
        plan, found = self.project.plan(run), []
        if plan.shared is not None:
            rounds = self.rounds(run.experiment, run.seed, plan.shared.sampling)
            jobs = [job for number in range(len(rounds)) for job in self.round_jobs(run, plan.shared, number)]
            found += _logged(jobs, self.paths.shared_log, self.paths.benchmark("train_shared"))
        if personal:
            found += _logged(self.personal_jobs(run), self.paths.personal_log, self.paths.benchmark("train_personal"))
        return found

    def logs(self, key: InExperiment) -> list[str]:
        """Return the training logs of every run of an experiment."""
        runs = map(self.home, self.runs(key.experiment))
        return unique(log for run in runs for log, _ in self.logged_jobs(run))

    # Settings of the other rules of the federation

    def schedule_settings(self, key: InExperiment) -> dict[str, Any]:
        """Return what a schedule depends on."""
        experiment = self.project.experiment(key)
        return parameter(
            **pick(experiment, "clients", "skip_clients"),
            **pick(experiment.federation, "rounds", "clients_per_round"),
        )

    def initial_settings(self, key: InExperiment) -> dict[str, Any]:
        """Return what an initial adapter depends on."""
        experiment = self.project.experiment(key)
        return parameter(model=self.project.model_settings(experiment.base_model), lora=experiment.lora)

    def aggregation_settings(self, key: InTrack) -> dict[str, Any]:
        """Return what the server reads of the configuration."""
        return parameter(
            **pick(self.project.experiment(key).federation, "server_learning_rate"),
            weighting=self.stage(key).weighting,
            results=self.paths.results,
        )

    def generation_settings(self, key: InRun) -> dict[str, Any]:
        """Return what a job that generates reads of the configuration."""
        experiment = self.project.experiment(key)
        return parameter(
            model=self.project.model_settings(experiment.base_model),
            **plan_values(self.project.plan(key).generates),
            **pick(experiment, "lora", "generation"),
            words=self.project.words(key),
        )

    def export_settings(self, key: InRun) -> dict[str, Any]:
        """Return what the export of a run's adapters reads of the configuration."""
        experiment: Experiment = self.project.experiment(key)
        return parameter(
            base=self.project.plain_folder(experiment.base_model),
            lora=experiment.lora,
            clients=self.clients(key.experiment),
            **plan_values(self.project.plan(key).generates),
        )


def _personal(plan: Plan) -> PersonalStage:
    assert plan.personal is not None
    return plan.personal


def _number(phase: str) -> int:
    return int(phase.removeprefix("round"))


def _logged(
    jobs: Iterable[Batch] | Iterable[PersonalBatch], log: Template, benchmark: Template
) -> list[tuple[str, str]]:
    return [(log.of(job), benchmark.of(job)) for job in jobs]
