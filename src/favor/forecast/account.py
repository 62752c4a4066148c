"""What a project trains, keeps and sends, counted from its planned jobs in units of one adapter."""

from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property

from favor.federation.method import PersonalStage, Plan, SharedStage, needs_shared
from favor.plan.evaluation import Evaluation
from favor.plan.job_settings import not_none
from favor.plan.keys import Key, run_key
from favor.plan.project import PlannerComponent
from favor.plan.records import Records
from favor.plan.shared import with_canaries
from favor.plan.training import Training


@dataclass
class Account:
    """One experiment, all seeds.

    ``jobs``: training and generation jobs by rule. ``passes``: passes over one client's text. ``stored``: adapters
    that stay, by kind. ``temporary``: those that go again and are on disk at once at most: uploads, every track amid a
    round; those of clients that take part again; those that ``keep_adapters`` does not keep. ``up``, ``down``: adapters
    sent, counted for each row as ``boundary.parquet`` does; one LoRA factor alone counts as half an adapter.
    """

    jobs: Counter[str] = field(default_factory=Counter)
    passes: float = 0.0
    stored: Counter[str] = field(default_factory=Counter)
    temporary: int = 0
    up: float = 0.0
    down: float = 0.0


@dataclass(eq=False)
class Accounts(PlannerComponent):
    """The accounts of a project's experiments. What ``outputs_of`` takes from elsewhere is counted there."""

    training: Training
    records: Records
    evaluation: Evaluation

    def of(self, experiment: str) -> Account:
        """Return the account of one experiment."""
        found = Account()
        tracks: set[tuple[str, str]] = set()
        stages: set[tuple[str, str]] = set()
        initial: set[str] = set()
        for run in self.training.runs(experiment):
            if self.training.source_run(run) != run:
                continue
            plan, trains = self.project.plan(run), self.training.trainer(run) == run
            if plan.shared is not None and trains:
                if (run.seed, plan.shared.track) not in tracks:
                    tracks.add((run.seed, plan.shared.track))
                    self._add_track(found, run, plan.shared)
                initial.add(self.training.server_adapter(run, plan.shared, 0))
            owner = (run.seed, self.training.owner(experiment, run.method))
            if plan.personal is not None and trains and owner not in stages:
                stages.add(owner)
                self._add_personal(found, run, plan, plan.personal)
            if plan.personal is not None and trains and plan.shared is None and not needs_shared(plan):
                initial.add(self.training.initial_adapter(run, owner[1]))
            if self.evaluation.is_measured(experiment):
                parts = len(self.training.generation_parts(experiment))
                if plan.prompting is not None:
                    found.jobs["generate_prompted"] += 1
                elif parts == 1:
                    found.jobs["generate"] += 1
                else:
                    found.jobs.update({"generate_part": parts, "join_generations": 1})
            self._add_traffic(found, run, plan)
        for run in self.training.planted_runs(experiment):
            plan = self.project.plan(run)
            if plan.shared is not None and (run.seed, with_canaries(plan.shared).track) not in tracks:
                tracks.add((run.seed, with_canaries(plan.shared).track))
                self._add_track(found, run, with_canaries(plan.shared))
        found.stored["shared adapters"] += len(initial)
        return found

    @cached_property
    def _audited_tracks(self) -> set[tuple[str, str]]:
        """The (experiment, track) whose uploads a privacy audit reads."""
        found = set()
        for name, experiment in self.project.config.experiments.items():
            if experiment.studies.privacy is not None:
                for row in self.training.audited_rows(name):
                    run = self.training.trainer(run_key(name, experiment.seeds[0], row))
                    stage = not_none(self.project.plan(run).shared)
                    found |= {(run.experiment, stage.track), (run.experiment, with_canaries(stage).track)}
        return found

    def _add_track(self, found: Account, run: Key, stage: SharedStage) -> None:
        schedule = self.training.rounds(run.experiment, run.seed, stage.sampling)
        participations = sum(map(len, schedule))
        jobs = sum(len(self.training.round_jobs(run, stage, number)) for number in range(len(schedule)))
        found.jobs["train_shared"] += jobs
        found.jobs["aggregate_with_memory" if stage.server.moments else "aggregate"] += len(schedule)
        found.passes += _passes(stage, schedule) * max(1, stage.inner_steps)
        beside = [self.training.beside(run, stage, number + 1) for number in range(len(schedule))]
        found.stored["shared adapters"] += len(schedule) + sum(beside)
        # A first moment is as large as an adapter; an adaptive server has a second one too.
        if stage.server.moments:
            found.stored["server moments"] += stage.server.moments * len(schedule)
        self._add_kept(found, run, "endpoints", self.training.endpoint_count(run, stage))
        if self.project.config.keep_uploads:
            found.stored["uploads"] += participations
        else:
            if (run.experiment, stage.track) in self._audited_tracks:
                found.stored["uploads"] += participations
                found.jobs["keep_upload"] += jobs
            # A server that keeps the mean of its members' adapters reads each of them until the next one is there.
            members = stage.server.kind == "members"
            found.temporary += participations if members else max(map(len, schedule))

    def _add_personal(self, found: Account, run: Key, plan: Plan, stage: PersonalStage) -> None:
        phases = [
            [client for job in self.training.phase_jobs(run, phase) for client in self.training.personal_clients(job)]
            for phase in self.training.phases(run.experiment, plan)
        ]
        found.jobs["train_personal"] += len(self.training.personal_jobs(run))
        pooled = stage.start == "pooled"
        clients = len(self.training.clients(run.experiment))
        found.passes += clients * float(stage.epochs or 0) if pooled else _passes(stage, phases)
        last = {client: number for number, phase in enumerate(phases) for client in phase}
        self._add_kept(found, run, "personal adapters", len(last))
        # Of participations that build on one another the last stays; the one before goes when its next is made.
        waiting: set[str] = set()
        most = 0
        for number, phase in enumerate(phases):
            again = {client for client in phase if last[client] > number}
            most = max(most, len(waiting) + len(again))
            waiting = waiting - set(phase) | again
        found.temporary += most

    def _add_kept(self, found: Account, run: Key, kind: str, adapters: int) -> None:
        if self.evaluation.keeps_adapters(run.seed):
            found.stored[kind] += adapters
        else:
            found.temporary += adapters

    def _add_traffic(self, found: Account, run: Key, plan: Plan) -> None:
        if plan.shared is not None:
            schedule = self.training.rounds(run.experiment, run.seed, plan.shared.sampling)
            participations = sum(map(len, schedule))
            found.up += participations * _share(plan.shared) * (1 if plan.shared.state is None else 2)
            found.down += participations * _share(plan.shared)
            found.down += sum(
                len(cohort) * self.training.beside(run, plan.shared, number) for number, cohort in enumerate(schedule)
            )
        if plan.personal is not None and plan.personal.start == "pooled":
            found.down += len(self.training.clients(run.experiment))
        share = 1.0 if plan.shared is None else _share(plan.shared)
        if plan.shared is not None and plan.shared.state is None:
            share += self.training.beside(run, plan.shared, self.project.experiment(run).federation.rounds)
        found.down += share * len(self.records.final_recipients(run, plan))


def _share(stage: SharedStage) -> float:
    """Return about how much of an adapter a stage sends; a range of layers counts whole."""
    return len(set(stage.trains.factors) & set(stage.uploads.factors)) / 2


def _passes(stage: SharedStage | PersonalStage, phases: list[list[str]]) -> float:
    """Return passes over a client's text, all participations; ``epochs`` is each client's total where it is spread."""
    clients = len({client for phase in phases for client in phase}) if stage.spread else sum(map(len, phases))
    return clients * float(stage.epochs or 0)
