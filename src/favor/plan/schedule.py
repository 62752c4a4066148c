"""Who trains in which job: runs, the clients of every round, tracks, and the steps of stages."""

from collections.abc import Collection, Iterable
from functools import cache

from favor.federation.method import POOLED, SharedStage
from favor.federation.poisoning import Attackers, attackers_of
from favor.federation.schedule import answering, batches, client_names, cohorts, last_participation
from favor.foundation.declarations import declared_value
from favor.foundation.errors import UserError
from favor.foundation.registry import ROBUST_RULES
from favor.plan.job_settings import not_none
from favor.plan.keys import Key, run_key
from favor.plan.project import PlannerComponent

CANARY = "-canary"  # ends the name of a track whose clients' texts carry planted secrets


class Schedule(PlannerComponent):
    """The clients, runs and stages of a project, and which jobs train them.

    A stage is trained in steps: a shared stage in the rounds of a track, a personal stage in phases. The key of a step
    has ``track`` and ``round``, or ``method`` and ``phase``; the key of a job has ``batch`` too. A run's key may be
    given in place of its track's.
    """

    # Clients

    def clients(self, experiment: str) -> list[str]:
        return self.remaining(experiment, self.all_clients(experiment))

    def all_clients(self, experiment: str) -> list[str]:
        section = self.experiments[experiment]
        return client_names(section.clients, section.skip_clients)

    def remaining(self, experiment: str, clients: Iterable[str]) -> list[str]:
        withdrawn = self.experiments[experiment].withdrawn
        return [client for client in clients if client not in withdrawn]

    @cache
    def drawn(self, experiment: str, seed: str, sampling: str) -> list[list[str]]:
        """Return the sampled cohorts. Jobs divide these, so that a withdrawal moves no other client to another job."""
        federation, clients = self.experiments[experiment].federation, self.all_clients(experiment)
        return cohorts(int(seed), clients, federation.rounds, federation.clients_per_round, sampling)

    @cache
    def rounds(self, experiment: str, seed: str, sampling: str) -> list[list[str]]:
        """Return the clients of an experiment's rounds: those that were drawn, answer and did not withdraw.

        Raises ``UserError`` where a round has nobody left, or too few for its robust rule.
        """
        share = self.experiments[experiment].federation.answers
        cohorts_drawn = enumerate(self.drawn(experiment, seed, sampling))
        answered = (answering(int(seed), number, cohort, share) for number, cohort in cohorts_drawn)
        found = [self.remaining(experiment, cohort) for cohort in answered]
        if [] in found:
            raise UserError(
                f"config key 'experiments.{experiment}.withdrawn': nobody is left of round {found.index([])} of seed "
                f"{seed}; shorten it, or raise 'federation.clients_per_round'"
            )
        robust = self.experiments[experiment].federation.robust
        if robust is not None:
            times, more = declared_value(ROBUST_RULES.path(robust.rule), "FEWEST", (0, 1))
            least = times * robust.attackers + more
            for number, cohort in enumerate(found):
                if len(cohort) < least:
                    raise UserError(
                        f"config key 'experiments.{experiment}.federation.robust': '{robust.rule}' needs {least} "
                        f"uploads against {robust.attackers} attackers, but round {number} of seed {seed} has "
                        f"{len(cohort)}; lower 'attackers', or raise 'federation.clients_per_round'"
                    )
        return found

    @cache
    def last_rounds(self, experiment: str, seed: str, sampling: str) -> dict[str, int]:
        return last_participation(self.rounds(experiment, seed, sampling))

    def never_sampled(self, experiment: str, sampling: str) -> dict[str, int]:
        """Return how many clients no round samples, by seed."""
        section = self.experiments[experiment]
        sampled = {str(seed): len(self.last_rounds(experiment, str(seed), sampling)) for seed in section.seeds}
        return {seed: section.remaining_clients - count for seed, count in sampled.items()}

    @cache
    def attackers(self, experiment: str, seed: str) -> Attackers:
        """Return who attacks, and the target of hijacks; nobody and "" without ``federation.attack``."""
        attack = self.experiments[experiment].federation.attack
        if attack is None:
            return Attackers([], "")
        return attackers_of(int(seed), self.all_clients(experiment), attack.share)

    # Runs

    def runs(self, experiment: str) -> list[Key]:
        section = self.experiments[experiment]
        return [run_key(experiment, seed, method) for seed in section.seeds for method in section.methods]

    def source_run(self, run: Key) -> Key:
        """Return the run that makes a run's outputs: itself, or that of the experiment named by ``outputs_of``."""
        archive = self.project.experiment(run).outputs_of
        there = archive is not None and run.method in self.experiments[archive].methods
        return run_key(archive if archive is not None and there else run.experiment, run.seed, run.method)

    def trainer(self, run: Key) -> Key:
        """Return the run that trains a run's adapters: its source run, or one with the same plan in ``outputs_of``.

        So rows that only generate otherwise, at another temperature, train nothing of their own.
        """
        home = self.source_run(run)
        archive, plan = self.project.experiment(home).outputs_of, self.project.plan(home)
        if archive is None or (plan.shared is None and plan.personal is None):
            return home
        alike = [row for row, other in self.project.plans(archive).items() if other == plan]
        return run_key(archive, run.seed, alike[0]) if alike else home

    @cache
    def owner(self, experiment: str, method: str) -> str:
        """Return the first row with the same stages: it trains for all of them (FedDPA and its gate audit)."""
        plans = self.project.plans(experiment)
        wanted = (plans[method].shared, plans[method].personal)
        return next(row for row, plan in plans.items() if (plan.shared, plan.personal) == wanted)

    # Tracks

    def track(self, key: Key, planted: bool = False) -> Key:
        """Return the track of a run or step; ``planted``: its twin, whose clients' texts carry planted secrets."""
        name = key.track if hasattr(key, "track") else not_none(self.project.plan(key).shared).track
        return Key(experiment=key.experiment, seed=key.seed, track=f"{name}{CANARY if planted else ''}")

    def stage(self, key: Key) -> SharedStage:
        """Return the shared stage of a track. Raises ``UserError`` for a track that the experiment does not have."""
        if not hasattr(key, "track"):
            return not_none(self.project.plan(key).shared)
        return self._stage(key.experiment, key.track.removesuffix(CANARY))

    @cache
    def _stage(self, experiment: str, track: str) -> SharedStage:
        for plan in self.project.plans(experiment).values():
            if plan.shared is not None and plan.shared.track == track:
                return plan.shared
        raise UserError(f"no method of experiment '{experiment}' has the shared track '{track}'; check the name")

    def cohorts(self, key: Key) -> list[list[str]]:
        return self.rounds(key.experiment, key.seed, self.stage(key).sampling)

    def last(self, key: Key) -> dict[str, int]:
        return self.last_rounds(key.experiment, key.seed, self.stage(key).sampling)

    # Steps and their jobs

    def round_step(self, key: Key, number: int) -> Key:
        return Key(**vars(self.track(key)), round=number)

    def phases(self, run: Key) -> list[Key]:
        """Return the steps of a personal stage: every round where participations build on one another, or the last."""
        stage, rounds = self.project.plan(run).personal, range(self.project.experiment(run).federation.rounds)
        if stage is None:
            return []
        return [self.phase(run, f"round{number}") for number in rounds] if stage.chained else [self.phase(run, "last")]

    def phase(self, run: Key, name: str) -> Key:
        """Return the key of a phase, under the row that trains it."""
        owner = self.owner(run.experiment, run.method)
        return Key(experiment=run.experiment, seed=run.seed, method=owner, phase=name)

    def jobs(self, step: Key) -> list[Key]:
        """Return the jobs of a step, without those of which no client trains."""
        parts = enumerate(batches(self._in_order(step), self.per_job(step)))
        return [Key(**vars(step), batch=batch) for batch, clients in parts if self._training(step, clients)]

    def job_clients(self, job: Key) -> list[str]:
        return self._training(job, self.served(job))

    def served(self, job: Key) -> list[str]:
        """Return the clients of a job's part of its step, trained or not."""
        return batches(self._in_order(job), self.per_job(job))[int(job.batch)]

    def job_of(self, step: Key, client: str) -> Key:
        return Key(**vars(step), batch=self._places(step)[client] // self.per_job(step))

    def per_job(self, key: Key) -> int:
        return not_none(self.project.experiment(key).federation.clients_per_job)

    @cache
    def _places(self, step: Key) -> dict[str, int]:
        return {client: place for place, client in enumerate(self._in_order(step))}

    def _in_order(self, step: Key) -> list[str]:
        """Return the clients of a step in the order of its jobs, trained or not."""
        if not self._is_sampled(step):
            pooled = not_none(self.project.plan(step).personal).start == "pooled"
            return [POOLED] if pooled else self.all_clients(step.experiment)
        rounds, number = self.drawn(step.experiment, step.seed, self.stage(step).sampling), round_of(step)
        return sorted(last_participation(rounds)) if number is None else rounds[number]

    def _training(self, step: Key, clients: list[str]) -> list[str]:
        """Return those of ``clients`` that did not withdraw and take part in the step's round, or in any before it."""
        taking_part: Collection[str] = clients
        if self._is_sampled(step):
            number = round_of(step)
            taking_part = self.last(step) if number is None else set(self.cohorts(step)[number])
        return [client for client in self.remaining(step.experiment, clients) if client in taking_part]

    def _is_sampled(self, step: Key) -> bool:
        """Return whether only clients that a round samples train in a step."""
        if hasattr(step, "track"):
            return True
        plan = self.project.plan(step)
        return plan.shared is not None and not_none(plan.personal).start not in ("pooled", "final")


def round_of(step: Key) -> int | None:
    """Return the round that a step belongs to; None for the phase after all rounds."""
    if hasattr(step, "track"):
        return int(step.round)
    return None if step.phase == "last" else int(step.phase.removeprefix("round"))
