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
from favor.plan.job_settings import Parameter, job_params, not_none
from favor.plan.keys import Key, run_key
from favor.plan.paths import Template
from favor.plan.project import PlannerComponent, alternatives, unique
from favor.plan.shared import SharedTraining


class Training(SharedTraining):
    """The jobs behind every adapter of a project: those of shared stages, and of what stays on the clients."""

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
        return [f"round{number}" for number in range(self.experiments[experiment].federation.rounds)]

    @cache
    def _phase_clients(self, experiment: str, seed: str, plan: Plan, phase: str) -> list[str]:
        """Return the clients of one phase of a personal stage in the order of its jobs, trained or not."""
        if _personal(plan).start == "pooled":
            return [POOLED]
        if plan.shared is None or _personal(plan).start == "final":
            return self.all_clients(experiment)
        rounds = self.drawn(experiment, seed, plan.shared.sampling)
        return rounds[_number(phase)] if _personal(plan).chained else sorted(last_participation(rounds))

    @cache
    def _phase_positions(self, experiment: str, seed: str, plan: Plan, phase: str) -> dict[str, int]:
        clients = self._phase_clients(experiment, seed, plan, phase)
        return {client: place for place, client in enumerate(clients)}

    def personal_clients(self, key: Key) -> list[str]:
        plan = self.project.plan(key)
        clients = self._phase_clients(key.experiment, key.seed, plan, key.phase)
        return self._training(key, plan, key.phase, batches(clients, self.per_job(key))[int(key.batch)])

    def _training(self, run: Key, plan: Plan, phase: str, clients: list[str]) -> list[str]:
        """Return the clients of a phase that train: those that did not withdraw and took part before it."""
        left = self.remaining(run.experiment, clients)
        if plan.shared is None or _personal(plan).start in ("pooled", "final"):
            return left
        sampling = plan.shared.sampling
        if not _personal(plan).chained:
            return [client for client in left if client in self.last_rounds(run.experiment, run.seed, sampling)]
        taking_part = self.rounds(run.experiment, run.seed, sampling)[_number(phase)]
        return [client for client in left if client in taking_part]

    def phase_jobs(self, run: Key, phase: str) -> list[Key]:
        """Return the jobs of one phase of a run's personal stage, under the row that trains for it."""
        plan = self.project.plan(run)
        clients = self._phase_clients(run.experiment, run.seed, plan, phase)
        owner = self.owner(run.experiment, run.method)
        return [
            Key(experiment=run.experiment, seed=run.seed, method=owner, phase=phase, batch=batch)
            for batch, served in enumerate(batches(clients, self.per_job(run)))
            if self._training(run, plan, phase, served)
        ]

    def personal_jobs(self, run: Key) -> list[Key]:
        plan = self.project.plan(run)
        if plan.personal is None:
            return []
        return [job for phase in self.phases(run.experiment, plan) for job in self.phase_jobs(run, phase)]

    def _bundle(self, run: Key, client: str, phase: str, again: bool = False) -> str:
        """Return the bundle that holds a client's personal adapter of a phase.

        ``again``: the one with the clients that take part again after this phase, which goes once they have.
        """
        plan = self.project.plan(run)
        place = self._phase_positions(run.experiment, run.seed, plan, phase)[client]
        owner, batch = self.owner(run.experiment, run.method), place // self.per_job(run)
        path = self.paths.personal_passing if again else self.paths.personal_pack
        return path.of(run, method=owner, phase=phase, batch=batch)

    def personal_starts(self, key: Key) -> list[str]:
        """Return the adapters that a personal stage starts from.

        Endpoints, the clients' own earlier bundles, or the initial adapter.
        """
        plan, clients = self.project.plan(key), self.personal_clients(key)
        stage = _personal(plan)
        if needs_shared(plan):
            return [self.given_adapter(key, plan)]
        if stage.start in ("initial", "pooled"):
            return [self.initial_adapter(key, self.owner(key.experiment, key.method))]
        shared = not_none(plan.shared)
        if stage.start == "final":
            return [self.final_adapter(key, plan)]
        if stage.start == "endpoint":
            last = self.last_rounds(key.experiment, key.seed, shared.sampling)
            return unique(self.endpoint(key, shared, client, last[client]) for client in clients)
        rounds = self.rounds(key.experiment, key.seed, shared.sampling)
        before = last_participation(rounds[: _number(key.phase)])
        found = (self._bundle(key, client, f"round{before[client]}", True) for client in clients if client in before)
        return unique(found)

    def anchors(self, key: Key) -> list[str]:
        """Return the server's adapter at the start of the round, for stages that carry over and their proximal term."""
        plan = self.project.plan(key)
        if not _personal(plan).chained:
            return []
        return [self.server_adapter(key, not_none(plan.shared), _number(key.phase))]

    def first_adapter(self, key: Key) -> list[str]:
        """Return the track's initial adapter, where a carried adapter begins there and a client takes part first."""
        plan = self.project.plan(key)
        if not _personal(plan).chained or _personal(plan).begin != "initial":
            return []
        return [self.server_adapter(key, not_none(plan.shared), 0)]

    def train_personal_settings(self, key: Key) -> Parameter:
        """Return what a job of a personal stage reads of the configuration.

        ``rounds``: by client, the round that the stage belongs to: the last participation where each starts again.
        ``again``: the clients that take part again later, where participations build on one another. ``withdrawn``:
        those whose texts the pooled reference leaves out.
        """
        plan, clients = self.project.plan(key), self.personal_clients(key)
        stage, sampling = _personal(plan), plan.shared.sampling if plan.shared is not None else None
        numbers = last = dict.fromkeys(clients, 0)
        if stage.chained or stage.start == "endpoint":
            last = self.last_rounds(key.experiment, key.seed, not_none(sampling))
            numbers = {client: _number(key.phase) if stage.chained else last[client] for client in clients}
        experiment = self.project.experiment(key)
        return job_params(
            settings.PersonalTraining,
            self.common_settings(experiment, stage),
            rounds=numbers,
            again=[client for client in clients if last[client] > numbers[client]],
            participations=self._participations(key, stage, sampling, clients),
            withdrawn=experiment.withdrawn if clients == [POOLED] else [],
        )

    def personal_style(self, key: Key) -> list[str]:
        return self._style(key, _personal(self.project.plan(key)))

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
        """Return what the clients of a cold start are given: the frozen shared adapter, or a random one of its size."""
        if plan.personal is not None and plan.personal.start == "random":
            return self.paths.random_adapter.of(key)
        return self.frozen_adapter(key)

    def final_adapter(self, run: Key, plan: Plan) -> str:
        """Return the final shared adapter of a run, its own or the one it was given."""
        if needs_shared(plan):
            return self.given_adapter(run, plan)
        return self.server_adapter(run, not_none(plan.shared), self.project.experiment(run).federation.rounds)

    def bundles(self, run: Key) -> list[str]:
        return self._adapters(self.trainer(run))[1]

    def adapters(self, run: Key) -> list[str]:
        """Return the bundles and shared adapters that the clients of a run generate with."""
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
            found += [file for job in self.phase_jobs(home, "last") for file in self.personal_starts(job)]
        if stage.mixture is not None and plan.shared is not None:
            numbers = sorted(set(self.last_rounds(home.experiment, home.seed, plan.shared.sampling).values()))
            found += [self.server_adapter(home, plan.shared, number) for number in numbers]
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
        last = self.last_rounds(run.experiment, run.seed, plan.shared.sampling)
        bundles = []
        for client, number in sorted(last.items()):
            if plan.inference == "endpoint":
                bundles.append(self.endpoint(run, plan.shared, client, number))
            else:
                phase = f"round{number}" if _personal(plan).chained else "last"
                bundles.append(self._bundle(run, client, phase))
        return shared, unique(bundles)

    def initial_adapters(self, key: Key) -> list[str]:
        """Return of every seed the adapter that a method starts from: what is trained has its shapes.

        Empty where nothing trains.
        """
        found: dict[str, str] = {}
        for run in map(self.trainer, self.runs(key.experiment)):
            plan = self.project.plan(run)
            if plan.shared is not None:
                found.setdefault(run.seed, self.server_adapter(run, plan.shared, 0))
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

    def logged_jobs(self, run: Key, personal: bool = True) -> list[tuple[str, str]]:
        """Return (training log, benchmark) of every training job behind a run: its shared track's, then its own.

        ``personal`` False leaves those of its personal stage out.
        """
        plan, found = self.project.plan(run), []
        if plan.shared is not None:
            rounds = self.rounds(run.experiment, run.seed, plan.shared.sampling)
            jobs = [job for number in range(len(rounds)) for job in self.round_jobs(run, plan.shared, number)]
            benchmark = self.paths.benchmark("train_shared", self.paths.upload)
            found += [(self.paths.shared_log.of(job), benchmark.of(job)) for job in jobs]
        if personal:
            benchmark = self.paths.benchmark("train_personal", self.paths.personal_pack)
            found += [(self.paths.personal_log.of(job), benchmark.of(job)) for job in self.personal_jobs(run)]
        return found

    def logs(self, key: Key) -> list[str]:
        runs = map(self.trainer, self.runs(key.experiment))
        return unique(log for run in runs for log, _ in self.logged_jobs(run))

    # Settings of generation and export

    def common_prompts(self, key: Key) -> list[str]:
        return [] if self.project.experiment(key).prompts.common is None else [self.paths.common_prompts.of(key)]

    def generation_parts(self, experiment: str) -> list[list[str]]:
        """Return the clients of every job that generates for a run of an experiment."""
        size = not_none(self.experiments[experiment].generation.clients_per_job)
        return batches(self.clients(experiment), size)

    def generating(self, parted: bool) -> str:
        """Return a regular expression of the experiments whose runs generate in several jobs, or of the others."""
        return alternatives(name for name in self.experiments if (len(self.generation_parts(name)) > 1) == parted)

    def parts_of(self, kind: Template) -> Callable[[Key], list[str]]:
        """Return the input function of a file that every part of a run makes."""
        return lambda run: [kind.of(run, part=part) for part in range(len(self.generation_parts(run.experiment)))]

    def generate_part_settings(self, key: Key) -> Parameter:
        return self.generate_settings(key, self.generation_parts(key.experiment)[int(key.part)])

    def generate_settings(self, key: Key, clients: list[str] | None = None) -> Parameter:
        """Return the settings of generation; ``clients``: for whom, None for all."""
        experiment = self.project.experiment(key)
        return job_params(
            settings.GenerationJob,
            self.adapter_use(key),
            model=self.project.loaded_model(experiment.base_model),
            generation=experiment.row_generation(key.method),
            words=self.project.words(key),
            clients=clients,
        )

    def adapter_use(self, key: Key) -> settings.AdapterUse:
        generates = plan_values(self.project.plan(key).generates)
        return settings.AdapterUse(lora=self.project.experiment(key).lora, generates=generates)

    def export_adapters_settings(self, key: Key) -> Parameter:
        base = self.project.plain_folder(self.project.experiment(key).base_model)
        clients = self.clients(key.experiment)
        return job_params(settings.AdapterExport, self.adapter_use(key), base=base, clients=clients)


@dataclass(eq=False)
class TrainingComponent(PlannerComponent):
    """A part of the planner that asks what is trained."""

    training: Training


def _personal(plan: Plan) -> PersonalStage:
    return not_none(plan.personal)


def _number(phase: str) -> int:
    return int(phase.removeprefix("round"))
