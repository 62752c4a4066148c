"""The clients of every round, the attackers among them, and the jobs of shared stages."""

from collections.abc import Iterable
from dataclasses import dataclass, fields
from functools import cache

from favor.config.experiments import Experiment
from favor.federation import settings
from favor.federation.canaries import repeats_by_client
from favor.federation.kinds import MOMENTS
from favor.federation.method import PersonalStage, SharedStage, plan_values, stage_rate
from favor.federation.poisoning import Attackers, attackers_of
from favor.federation.schedule import answering, batches, client_names, cohorts, last_participation
from favor.federation.settings import Hijack
from favor.foundation.declarations import declared_value
from favor.foundation.errors import UserError
from favor.foundation.registry import ROBUST_RULES
from favor.plan.job_settings import Parameter, job_params, not_none, to_params
from favor.plan.keys import Key, run_key
from favor.plan.project import PlannerComponent, unique

CANARY = "-canary"  # ends the name of a track whose clients' texts carry planted secrets


@dataclass(frozen=True)
class _CanaryStage(SharedStage):
    """A shared stage whose clients' texts carry planted secrets: the same stage on a track of its own."""

    @property
    def track(self) -> str:
        return f"{super().track}{CANARY}"


def with_canaries(stage: SharedStage) -> SharedStage:
    """Return the same stage on the track whose clients' texts carry planted secrets."""
    return _CanaryStage(**{field.name: getattr(stage, field.name) for field in fields(stage)})


class SharedTraining(PlannerComponent):
    """The clients and runs of a project, and the jobs of their shared stages."""

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
        """Return the sampled cohorts. Jobs are cut from these, so a withdrawal moves nobody else to another job."""
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

    def shared_texts(self, key: Key) -> str:
        """Return the texts that shared stages train on: the clients' own, or those with the attackers' replaced."""
        attack = self.project.experiment(key).federation.attack
        hijacked = attack is not None and attack.kind == "hijack" and self.attackers(key.experiment, key.seed).clients
        return (self.paths.hijacked_texts if hijacked else self.paths.texts).of(key)

    def poison_data_settings(self, key: Key) -> Parameter:
        found = self.attackers(key.experiment, key.seed)
        return to_params(Hijack(attackers=found.clients, target=found.target))

    def runs(self, experiment: str) -> list[Key]:
        section = self.experiments[experiment]
        return [run_key(experiment, seed, method) for seed in section.seeds for method in section.methods]

    def source_run(self, run: Key) -> Key:
        """Return the run that makes a run's outputs: itself, or that of the experiment named by ``outputs_of``."""
        archive = self.project.experiment(run).outputs_of
        there = archive is not None and run.method in self.experiments[archive].methods
        return run_key(archive if archive is not None and there else run.experiment, run.seed, run.method)

    def trainer(self, run: Key) -> Key:
        """Return the run that trains a run's adapters: its home, or the same method where ``outputs_of`` says.

        So rows that only generate otherwise, at another temperature, train nothing beside those they are compared with.
        """
        home = self.source_run(run)
        archive, plan = self.project.experiment(home).outputs_of, self.project.plan(home)
        if archive is None or (plan.shared is None and plan.personal is None):
            return home
        alike = [row for row, other in self.project.plans(archive).items() if other == plan]
        return run_key(archive, run.seed, alike[0]) if alike else home

    def per_job(self, key: Key) -> int:
        return not_none(self.project.experiment(key).federation.clients_per_job)

    # Shared stages

    def track_names(self, remembering: bool) -> str:
        """Return a regular expression of the tracks whose server keeps moments between rounds, or of the others."""
        named = f"({'|'.join(MOMENTS)})-"
        return f"{named}.*" if remembering else f"(?!{named}).*"

    def stage(self, key: Key) -> SharedStage:
        return self._stage(key.experiment, key.track)

    @cache
    def _stage(self, experiment: str, track: str) -> SharedStage:
        for plan in self.project.plans(experiment).values():
            if plan.shared is not None and plan.shared.track == track.removesuffix(CANARY):
                return with_canaries(plan.shared) if track.endswith(CANARY) else plan.shared
        raise UserError(f"no method of experiment '{experiment}' has the shared track '{track}'; check the name")

    def schedule(self, key: Key) -> str:
        return self.paths.schedule.of(key, sampling=self.stage(key).sampling)

    def cohort(self, key: Key) -> list[str]:
        return self.rounds(key.experiment, key.seed, self.stage(key).sampling)[int(key.round)]

    def shared_clients(self, key: Key) -> list[str]:
        cohort = self.cohort(key)
        return [client for client in self._drawn_batch(key) if client in cohort]

    def _drawn_batch(self, key: Key) -> list[str]:
        drawn = self.drawn(key.experiment, key.seed, self.stage(key).sampling)[int(key.round)]
        return batches(drawn, self.per_job(key))[int(key.batch)]

    def round_jobs(self, run: Key, stage: SharedStage, number: int) -> list[Key]:
        drawn, taking_part = (of(run.experiment, run.seed, stage.sampling)[number] for of in (self.drawn, self.rounds))
        return [
            Key(experiment=run.experiment, seed=run.seed, track=stage.track, round=number, batch=batch)
            for batch, clients in enumerate(batches(drawn, self.per_job(run)))
            if not set(clients).isdisjoint(taking_part)
        ]

    def initial_adapter(self, key: Key, origin: str) -> str:
        """Return the adapter that training starts from: one per seed, or one per track or local method."""
        common = self.project.experiment(key).federation.initial_adapter == "common"
        return self.paths.initial_adapter.of(key, origin="common" if common else origin)

    def server_adapter(self, key: Key, stage: SharedStage, number: int) -> str:
        if number == 0:
            return self.initial_adapter(key, stage.track)
        return self.paths.server_adapter.of(key, track=stage.track, next_round=number)

    def beside(self, key: Key, stage: SharedStage, number: int) -> int:
        """Return how much a server sends beside the shared adapter at the start of a round, in adapters.

        A state counts as one, from the second round on. FedEx-LoRA sends the residuals of all rounds before, each of a
        cohort less one. Many residuals count a little too high, since their rank cannot exceed that of the layers.
        """
        if stage.state is not None:
            return min(number, 1)
        if stage.server.kind != "exact":
            return 0
        return sum(len(cohort) - 1 for cohort in self.rounds(key.experiment, key.seed, stage.sampling)[:number])

    def round_start(self, key: Key) -> str:
        return self.server_adapter(key, self.stage(key), int(key.round))

    def aggregated_from(self, key: Key) -> str:
        return self.server_adapter(key, self.stage(key), int(key.next_round) - 1)

    def server_memory(self, key: Key) -> list[str]:
        """Return the server's moments after the previous round; [] in the first one."""
        number = int(key.next_round) - 1
        return [self.paths.server_memory.of(key, next_round=number)] if number else []

    def uploads(self, key: Key) -> list[str]:
        """Return what the server aggregates: a round's uploads, their combination, or every client's last upload."""
        stage, number = self.stage(key), int(key.next_round) - 1
        if stage.aggregation == "sum_only":
            return [self.paths.upload_sum.of(key, round=number)]
        if self.project.experiment(key).federation.robust is not None:
            return [self.paths.combination.of(key, round=number)]
        if stage.server.kind != "members":
            return self.round_uploads(key, stage, number)
        rounds = self.rounds(key.experiment, key.seed, stage.sampling)[: number + 1]
        last = last_participation(rounds)
        return unique(self.paths.upload.of(self._batch(key, stage, client, last[client])) for client in sorted(last))

    def summed_uploads(self, key: Key) -> list[str]:
        """Return the uploads of a round that are summed, or combined by a robust rule, before the server."""
        return self.round_uploads(key, self.stage(key), int(key.round))

    def round_uploads(self, run: Key, stage: SharedStage, number: int) -> list[str]:
        return [self._sent(job) for job in self.round_jobs(run, stage, number)]

    def _sent(self, job: Key) -> str:
        """Return the upload of a job: the poisoned one if some of its clients attack."""
        attack = self.project.experiment(job).federation.attack
        changed = attack is not None and attack.sent != 1 and self._attackers(job)
        return (self.paths.false_upload if changed else self.paths.upload).of(job)

    def _attackers(self, job: Key) -> list[str]:
        clients = self.shared_clients(job)
        return [client for client in self.attackers(job.experiment, job.seed).clients if client in clients]

    def poison_updates_settings(self, key: Key) -> Parameter:
        attack = not_none(self.project.experiment(key).federation.attack)
        return to_params(settings.FalseUploads(attackers=self._attackers(key), factor=attack.sent))

    @cache
    def _positions(self, experiment: str, seed: str, sampling: str, number: int) -> dict[str, int]:
        return {client: place for place, client in enumerate(self.drawn(experiment, seed, sampling)[number])}

    def endpoint(self, key: Key, stage: SharedStage, client: str, number: int) -> str:
        return self.paths.endpoints.of(self._batch(key, stage, client, number))

    def _batch(self, key: Key, stage: SharedStage, client: str, number: int) -> Key:
        place = self._positions(key.experiment, key.seed, stage.sampling, number)[client]
        return Key(
            experiment=key.experiment, seed=key.seed, track=stage.track, round=number, batch=place // self.per_job(key)
        )

    @cache
    def _ends_in_use(self, experiment: str, track: str) -> bool:
        """Return whether a row with this track generates with its endpoints, or starts its personal stage there."""
        return any(
            plan.inference == "endpoint" or (plan.personal is not None and plan.personal.start == "endpoint")
            for plan in self.project.plans(experiment).values()
            if plan.shared is not None and plan.shared.track == track
        )

    def kept_endpoints(self, key: Key) -> list[str]:
        """Return the clients whose shared endpoint of this round is kept.

        All of them, where their next participation starts there. Else those that never take part again, where a row
        generates with endpoints or starts its personal stage there.
        """
        stage = self.stage(key)
        if stage.carries:
            return self.cohort(key)
        if not self._ends_in_use(key.experiment, key.track):
            return []
        last = self.last_rounds(key.experiment, key.seed, stage.sampling)
        return [client for client in self.cohort(key) if last[client] == int(key.round)]

    def endpoint_count(self, run: Key, stage: SharedStage) -> int:
        schedule = self.rounds(run.experiment, run.seed, stage.sampling)
        if stage.carries:
            return sum(map(len, schedule))
        used = self._ends_in_use(run.experiment, stage.track)
        return len(self.last_rounds(run.experiment, run.seed, stage.sampling)) if used else 0

    def previous_endpoints(self, key: Key) -> list[str]:
        """Return the bundles with the last endpoints of a job's clients, if their shared stage starts there."""
        stage = self.stage(key)
        if not stage.carries:
            return []
        before = last_participation(self.rounds(key.experiment, key.seed, stage.sampling)[: int(key.round)])
        clients = self.shared_clients(key)
        return unique(self.endpoint(key, stage, client, before[client]) for client in clients if client in before)

    def warm_start(self, key: Key) -> list[str]:
        """Return the initial adapter, where a client's first participation in a shared stage begins there."""
        stage = self.stage(key)
        return [self.server_adapter(key, stage, 0)] if stage.begin == "initial" else []

    def state_code(self, key: Key) -> list[str]:
        """Return the declaration of the state that a track's server and clients keep, if any."""
        state = self.stage(key).state
        return [] if state is None else [f"{state.module}:STATE"]

    def kept_states(self, run: Key, stage: SharedStage) -> list[str]:
        """Return the bundles with every client's final state, if the stage keeps one."""
        if stage.state is None:
            return []
        last = self.last_rounds(run.experiment, run.seed, stage.sampling)
        return unique(self.endpoint(run, stage, client, number) for client, number in sorted(last.items()))

    def train_shared_settings(self, key: Key) -> Parameter:
        stage, experiment = self.stage(key), self.project.experiment(key)
        plans, common = self.project.plans(key.experiment).values(), self.common_settings(experiment, stage)
        # Nobody asks for the loss of what no client generates with.
        read = any(plan.inference == "endpoint" and plan.shared == stage for plan in plans)
        training = common.training if read else common.training.model_copy(update={"validation": None})
        return job_params(
            settings.SharedTraining,
            common,
            training=training,
            clients_per_job=self.per_job(key),
            keep_endpoints=self.kept_endpoints(key),
            participations=self._participations(key, stage, stage.sampling, self.cohort(key)),
            withdrawn=[client for client in self._drawn_batch(key) if client not in self.shared_clients(key)],
            canaries=self._planted(key),
        )

    def audited_rows(self, experiment: str) -> list[str]:
        """Return the rows that an experiment's privacy audit attacks. Raises ``UserError`` for one without deltas."""
        section = not_none(self.experiments[experiment].studies.privacy)
        # Of a server that is sent whole adapters nobody's delta is known; attacks read adapters alone.
        plans = self.project.plans(experiment).items()
        shared = {row: plan.shared for row, plan in plans if plan.shared is not None}
        federated = [row for row, stage in shared.items() if stage.content == "delta" and not stage.hands_out_more]
        where = f"config key 'experiments.{experiment}.studies.privacy.methods'"
        if section.methods is not None:
            if wrong := [row for row in section.methods if row not in federated]:
                raise UserError(f"{where}: '{wrong[0]}' uploads no deltas of an adapter alone; name a row that does")
            return section.methods
        if not federated:
            raise UserError(f"{where}: no row uploads deltas of an adapter alone; add one")
        return ["favor"] if "favor" in federated else federated[:1]

    def planted_runs(self, experiment: str) -> list[Key]:
        """Return the runs beside which secrets are planted: the audited rows' of the first seed."""
        section = self.experiments[experiment]
        if section.studies.privacy is None or section.studies.privacy.canaries is None:
            return []
        return [run_key(experiment, section.seeds[0], row) for row in self.audited_rows(experiment)]

    def canary_repeats(self, key: Key) -> dict[str, int]:
        """Return in how many documents each client's secret is planted."""
        privacy = self.project.experiment(key).studies.privacy
        if privacy is None or privacy.canaries is None:
            raise UserError(
                f"config key 'experiments.{key.experiment}.studies.privacy.canaries': no secrets are planted; set "
                "it, or ask for another track"
            )
        return repeats_by_client(self.all_clients(key.experiment), privacy.canaries.repeats)

    def _planted(self, key: Key) -> dict[str, int] | None:
        """Return how often the secret of each client of a job is planted; None without an audit."""
        if not key.track.endswith(CANARY):
            return None
        repeats = self.canary_repeats(key)
        return {client: repeats[client] for client in self.shared_clients(key)}

    def shared_style(self, key: Key) -> list[str]:
        return self._style(key, self.stage(key))

    # Both stages

    def common_settings(self, experiment: Experiment, stage: SharedStage | PersonalStage) -> settings.StageTraining:
        return settings.StageTraining(
            prefix_tokens=experiment.prompts.prefix_tokens,
            training=experiment.training.model_copy(update={"learning_rate": stage_rate(stage, experiment)}),
            engine=experiment.federation.engine,
            model=self.project.loaded_model(experiment.base_model),
            lora=experiment.lora,
            alignment=experiment.alignment if stage.objective.alignment else None,
            stage=plan_values(stage),
            participations={},
            withdrawn=[],
        )

    def _style(self, key: Key, stage: SharedStage | PersonalStage) -> list[str]:
        encoder = self.project.experiment(key).style_encoder
        return [self.paths.source_embeddings.of(key, encoder=encoder)] if stage.objective.alignment else []

    def _participations(
        self, key: Key, stage: SharedStage | PersonalStage, sampling: str | None, clients: Iterable[str]
    ) -> dict[str, int]:
        """Return how often each client takes part, if a stage spreads its passes over participations."""
        if not stage.spread or sampling is None:
            return {}
        rounds = self.rounds(key.experiment, key.seed, sampling)
        return {client: sum(client in cohort for cohort in rounds) for client in clients}

    def requests(self, key: Key) -> list[str]:
        """Return the requests and their answers, if models answer instead of continuing texts."""
        return [self.paths.requests.of(key)] if self.project.experiment(key).answers else []

    # Schedules, initial adapters, aggregation

    def make_schedule_settings(self, key: Key) -> Parameter:
        experiment = self.project.experiment(key)
        return job_params(settings.Scheduling, experiment, experiment.federation)

    def initialise_server_settings(self, key: Key) -> Parameter:
        experiment = self.project.experiment(key)
        source = self.project.model_folder(experiment.base_model)
        return to_params(settings.Initialisation(source=source, lora=experiment.lora))

    def aggregate_settings(self, key: Key) -> Parameter:
        """Return what the server reads. It reads a robust combination of uploads as it reads their sum."""
        summed = self._summation(key)
        if self.project.experiment(key).federation.robust is not None:
            summed = summed.model_copy(update={"stage": {**summed.stage, "aggregation": "sum_only"}})
        return job_params(settings.Aggregation, summed, self.project.experiment(key).federation)

    def combine_uploads_settings(self, key: Key) -> Parameter:
        return job_params(settings.Combination, self._summation(key), self.project.experiment(key).federation)

    def combination_code(self, key: Key) -> str:
        return ROBUST_RULES.entry(not_none(self.project.experiment(key).federation.robust).rule)

    def sum_uploads_settings(self, key: Key) -> Parameter:
        return to_params(self._summation(key))

    def _summation(self, key: Key) -> settings.Summation:
        return settings.Summation(stage=plan_values(self.stage(key)), results=self.paths.results)
