"""Which clients train what stays with them, from what, and what every client generates with."""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from favor.federation import settings
from favor.federation.method import POOLED, PersonalStage, Plan, needs_shared, plan_values
from favor.federation.schedule import batches, last_participation
from favor.federation.withdrawal import erase
from favor.foundation.errors import UserError
from favor.plan.job_settings import job_settings, not_none
from favor.plan.keys import Key, run_key
from favor.plan.paths import Template
from favor.plan.project import PlannerComponent, alternatives, unique
from favor.plan.schedule import round_of
from favor.plan.shared import SharedTraining


class Training(SharedTraining):
    """The jobs behind every adapter of a project: those of shared stages, and of what stays on the clients."""

    # Personal stages

    def personal_jobs(self, run: Key) -> list[Key]:
        return [job for step in self.phases(run) for job in self.jobs(step)]

    def _bundle(self, run: Key, client: str, phase: str) -> str:
        return self.paths.personal_pack.of(self.job_of(self.phase(run, phase), client))

    def personal_starts(self, key: Key) -> list[str]:
        """Return the adapters that a personal stage starts from.

        Endpoints, the clients' own earlier bundles, or the initial adapter.
        """
        plan, clients = self.project.plan(key), self.job_clients(key)
        stage = _personal(plan)
        if needs_shared(plan):
            return [self.given_adapter(key, plan)]
        if stage.start in ("initial", "pooled"):
            return [self.initial_adapter(key, self.owner(key.experiment, key.method))]
        if stage.start == "final":
            return [self.final_adapter(key, plan)]
        if stage.start == "endpoint":
            last = self.last(key)
            return unique(self.endpoint(key, client, last[client]) for client in clients)
        # What clients that take part again carry over: it goes once they have.
        before = last_participation(self.cohorts(key)[: round_of(key)])
        phases = {client: self.phase(key, f"round{before[client]}") for client in clients if client in before}
        return unique(self.paths.personal_passing.of(self.job_of(phase, client)) for client, phase in phases.items())

    def anchors(self, key: Key) -> list[str]:
        """Return the server's adapter at the start of the round, for stages that carry over and their proximal term."""
        number = round_of(key)
        return [] if number is None else [self.server_adapter(key, number)]

    def first_adapter(self, key: Key) -> list[str]:
        stage = _personal(self.project.plan(key))
        return [self.server_adapter(key, 0)] if stage.chained and stage.begin == "initial" else []

    def train_personal_settings(self, key: Key) -> settings.PersonalTraining:
        """Return what a job of a personal stage reads of the configuration.

        ``rounds``: by client, the round that the stage belongs to, or the last participation. ``again``: the clients
        that take part again later, if participations build on one another. ``withdrawn``: the clients whose texts the
        pooled reference leaves out.
        """
        plan, clients = self.project.plan(key), self.job_clients(key)
        stage, number = _personal(plan), round_of(key)
        numbers = last = dict.fromkeys(clients, 0)
        if stage.chained or stage.start == "endpoint":
            last = self.last(key)
            numbers = {client: last[client] if number is None else number for client in clients}
        experiment = self.project.experiment(key)
        return job_settings(
            settings.PersonalTraining,
            self.common_settings(experiment, stage),
            rounds=numbers,
            again=[client for client in clients if last[client] > numbers[client]],
            participations=self._participations(stage, self.cohorts(key) if plan.shared else [], clients),
            withdrawn=experiment.withdrawn if clients == [POOLED] else [],
        )

    # What clients generate with

    def frozen_adapter(self, key: Key) -> str:
        """Return the final shared adapter of another experiment, from which a cold start begins."""
        start = not_none(self.project.experiment(key).cold_start)
        source = run_key(start.shared_from, start.seed, start.row)
        plan = self.project.plan(source)
        if plan.shared is None or plan.shared.hands_out_more:
            raise UserError(
                f"config key 'experiments.{key.experiment}.cold_start.row': '{source.method}' trains no shared "
                "adapter that works alone; name a row that does"
            )
        return self.final_adapter(source, plan)

    def given_adapter(self, key: Key, plan: Plan) -> str:
        if plan.personal is not None and plan.personal.start == "random":
            return self.paths.random_adapter.of(key)
        return self.frozen_adapter(key)

    def final_adapter(self, run: Key, plan: Plan) -> str:
        """Return the final shared adapter of a run, its own or the one it was given."""
        if needs_shared(plan):
            return self.given_adapter(run, plan)
        return self.server_adapter(run, self.project.experiment(run).federation.rounds)

    def bundles(self, run: Key) -> list[str]:
        return self._adapters(self.trainer(run))[1]

    def adapters(self, run: Key) -> list[str]:
        shared, bundles = self._adapters(self.trainer(run))
        return [*shared, *bundles]

    def behind(self, run: Key) -> list[str]:
        """Return the files that hold parts of a run's bundles: starts of residuals, round starts of mixtures."""
        home = self.trainer(run)
        plan = self.project.plan(home)
        stage = plan.personal
        if stage is None or plan.inference != "personal":
            return []
        found: list[str] = []
        if stage.residual and not stage.chained:
            found += [file for job in self.personal_jobs(home) for file in self.personal_starts(job)]
        if stage.mixture is not None and plan.shared is not None:
            found += [self.server_adapter(home, number) for number in sorted(set(self.last(home).values()))]
        return unique(found)

    @cache
    def _adapters(self, run: Key) -> tuple[list[str], list[str]]:
        plan = self.project.plan(run)
        if plan.inference in ("base", "prompted", "outputs"):
            return [], []
        if plan.inference == "adapters":
            files = sorted(Path(plan.source).glob("*/adapter_*"))
            return [], [self.project.given(str(path)) for path in files if path.is_file()]
        if plan.inference == "given":
            return [self.given_adapter(run, plan)], []
        shared = [] if plan.shared is None else [self.final_adapter(run, plan)]
        if plan.inference == "server":
            return shared, []
        if plan.personal is not None and plan.inference == "personal" and plan.personal.start == "pooled":
            return [], [self._bundle(run, POOLED, "last")]
        if plan.shared is None or (plan.personal is not None and plan.personal.start == "final"):
            return shared, unique(self._bundle(run, client, "last") for client in sorted(self.clients(run.experiment)))
        last = sorted(self.last(run).items())
        if plan.inference == "endpoint":
            return shared, unique(self.endpoint(run, client, number) for client, number in last)
        phases = {client: f"round{number}" if _personal(plan).chained else "last" for client, number in last}
        return shared, unique(self._bundle(run, client, phase) for client, phase in phases.items())

    def initial_adapters(self, key: Key) -> list[str]:
        """Return of every seed the adapter that a method starts from: what is trained has its shapes.

        Empty where nothing trains.
        """
        found: dict[str, str] = {}
        for run in map(self.trainer, self.runs(key.experiment)):
            plan = self.project.plan(run)
            if plan.shared is not None:
                found.setdefault(run.seed, self.server_adapter(run, 0))
            elif needs_shared(plan):
                found.setdefault(run.seed, self.frozen_adapter(run))
            elif plan.personal is not None:
                found.setdefault(run.seed, self.initial_adapter(run, self.owner(run.experiment, run.method)))
        return list(found.values())

    # Leaving

    def erase_withdrawn(self, planning: bool) -> None:
        """Erase what the results hold of clients that withdrew, and print a line per file; ``planning``: print alone.

        At the start of a run, so that what was deleted is made again without them, and at its end: a run that begins
        with them withdrawn cuts the clients' tables first.
        """
        for name, experiment in self.experiments.items():
            for line in erase(Path(self.paths.results), name, experiment.withdrawn, self.paths.quoting(name), planning):
                print(line, file=sys.stderr)

    # Logs

    def training_jobs(self, run: Key) -> list[Key]:
        """Return every training job behind a run: those of its shared track, then its own."""
        shared = [] if self.project.plan(run).shared is None else self.shared_jobs(run)
        return [*shared, *self.personal_jobs(run)]

    def log(self, job: Key) -> str:
        return (self.paths.shared_log if hasattr(job, "track") else self.paths.personal_log).of(job)

    def logs(self, key: Key) -> list[str]:
        runs = map(self.trainer, self.runs(key.experiment))
        return unique(self.log(job) for run in runs for job in self.training_jobs(run))

    # Settings of generation and export

    def common_prompts(self, key: Key) -> list[str]:
        return [] if self.project.experiment(key).prompts.common is None else [self.paths.common_prompts.of(key)]

    def generation_parts(self, experiment: str) -> list[list[str]]:
        size = not_none(self.experiments[experiment].generation.clients_per_job)
        return batches(self.clients(experiment), size)

    def generating(self, parted: bool) -> str:
        """Return a regular expression of the experiments whose runs generate in several jobs, or of the others."""
        return alternatives(name for name in self.experiments if (len(self.generation_parts(name)) > 1) == parted)

    def parts_of(self, kind: Template) -> Callable[[Key], list[str]]:
        """Return the input function of a file that every part of a run makes."""
        return lambda run: [kind.of(run, part=part) for part in range(len(self.generation_parts(run.experiment)))]

    def generate_settings(self, key: Key) -> settings.GenerationJob:
        """Return the settings of generation, for all clients or those of a part."""
        experiment = self.project.experiment(key)
        return job_settings(
            settings.GenerationJob,
            self.adapter_use(key),
            model=self.project.loaded_model(experiment.base_model),
            generation=experiment.row_generation(key.method),
            words=self.project.words(key),
            clients=self.generation_parts(key.experiment)[int(key.part)] if hasattr(key, "part") else None,
        )

    def adapter_use(self, key: Key) -> settings.AdapterUse:
        generates = plan_values(self.project.plan(key).generates)
        return settings.AdapterUse(lora=self.project.experiment(key).lora, generates=generates)

    def export_adapters_settings(self, key: Key) -> settings.AdapterExport:
        base = self.project.plain_folder(self.project.experiment(key).base_model)
        clients = self.clients(key.experiment)
        return job_settings(settings.AdapterExport, self.adapter_use(key), base=base, clients=clients)


@dataclass(eq=False)
class TrainingComponent(PlannerComponent):
    """A part of the planner that asks what is trained."""

    training: Training


def _personal(plan: Plan) -> PersonalStage:
    return not_none(plan.personal)
