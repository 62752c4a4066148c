"""The jobs of shared stages: what clients train from and send, and what the server makes of it."""

from collections.abc import Iterable, Sequence
from functools import cache

from favor.config.experiments import Experiment
from favor.federation import settings
from favor.federation.canaries import repeats_by_client
from favor.federation.kinds import MOMENTS
from favor.federation.method import PersonalStage, SharedStage, plan_values
from favor.federation.row_plan import stage_rate
from favor.federation.schedule import last_participation
from favor.federation.settings import Hijack
from favor.foundation.errors import UserError
from favor.foundation.registry import ROBUST_RULES
from favor.plan.job_settings import job_settings, not_none
from favor.plan.keys import Key, run_key
from favor.plan.project import unique
from favor.plan.schedule import CANARY, Schedule


class SharedTraining(Schedule):
    """The jobs of shared stages: of clients, of attackers, and of the server."""

    def shared_texts(self, key: Key) -> str:
        """Return the texts that shared stages train on: the clients' own, or those with the attackers' replaced."""
        attack = self.project.experiment(key).federation.attack
        hijacked = attack is not None and attack.kind == "hijack" and self.attackers(key.experiment, key.seed).clients
        return (self.paths.hijacked_texts if hijacked else self.paths.texts).of(key)

    def poison_data_settings(self, key: Key) -> Hijack:
        found = self.attackers(key.experiment, key.seed)
        return Hijack(attackers=found.clients, target=found.target)

    def track_names(self, remembering: bool) -> str:
        """Return a regular expression of the tracks whose server keeps moments between rounds, or of the others."""
        named = f"({'|'.join(MOMENTS)})-"
        return f"{named}.*" if remembering else f"(?!{named}).*"

    def schedule(self, key: Key) -> str:
        return self.paths.schedule.of(key, sampling=self.stage(key).sampling)

    def initial_adapter(self, key: Key, origin: str) -> str:
        """Return the adapter that training starts from: one per seed, or one per track or local method."""
        common = self.project.experiment(key).federation.initial_adapter == "common"
        return self.paths.initial_adapter.of(key, origin="common" if common else origin)

    def server_adapter(self, key: Key, number: int) -> str:
        track = self.track(key)
        if number == 0:
            return self.initial_adapter(key, track.track)
        return self.paths.server_adapter.of(track, next_round=number)

    def beside(self, key: Key, number: int) -> int:
        """Return how much a server sends beside the shared adapter at the start of a round, in adapters.

        A state counts as one, from the second round on. FedEx-LoRA sends the residuals of all rounds before, each of a
        cohort less one. Many residuals count a little too high, since their rank cannot exceed that of the layers.
        """
        stage = self.stage(key)
        if stage.state is not None:
            return min(number, 1)
        if stage.server.kind != "exact":
            return 0
        return sum(len(cohort) - 1 for cohort in self.cohorts(key)[:number])

    def round_start(self, key: Key) -> str:
        return self.server_adapter(key, int(key.round))

    def aggregated_from(self, key: Key) -> str:
        return self.server_adapter(key, int(key.next_round) - 1)

    def server_memory(self, key: Key) -> list[str]:
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
            return self.round_uploads(key, number)
        last = last_participation(self.cohorts(key)[: number + 1])
        return unique(self.paths.upload.of(self._job(key, client, last[client])) for client in sorted(last))

    def summed_uploads(self, key: Key) -> list[str]:
        return self.round_uploads(key, int(key.round))

    def shared_jobs(self, key: Key) -> list[Key]:
        rounds = range(self.project.experiment(key).federation.rounds)
        return [job for number in rounds for job in self.jobs(self.round_step(key, number))]

    def round_uploads(self, key: Key, number: int) -> list[str]:
        return [self._sent(job) for job in self.jobs(self.round_step(key, number))]

    def _sent(self, job: Key) -> str:
        return (self.paths.false_upload if self.falsified(job) else self.paths.upload).of(job)

    def falsified(self, job: Key) -> list[str]:
        """Return the clients whose uploads are written again: all of a job in which an attacker changes its own."""
        attack = self.project.experiment(job).federation.attack
        changed = attack is not None and attack.sent != 1 and self._attackers(job)
        return self.job_clients(job) if changed else []

    def _attackers(self, job: Key) -> list[str]:
        clients = self.job_clients(job)
        return [client for client in self.attackers(job.experiment, job.seed).clients if client in clients]

    def poison_updates_settings(self, key: Key) -> settings.FalseUploads:
        attack = not_none(self.project.experiment(key).federation.attack)
        return settings.FalseUploads(attackers=self._attackers(key), factor=attack.sent)

    def endpoint(self, key: Key, client: str, number: int) -> str:
        return self.paths.endpoints.of(self._job(key, client, number))

    def _job(self, key: Key, client: str, number: int) -> Key:
        return self.job_of(self.round_step(key, number), client)

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

        All of them, if their next participation starts there. Else those that never take part again, if a row generates
        with endpoints or starts its personal stage there.
        """
        cohort = self.cohorts(key)[int(key.round)]
        if self.stage(key).carries:
            return cohort
        if not self._ends_in_use(key.experiment, key.track):
            return []
        last = self.last(key)
        return [client for client in cohort if last[client] == int(key.round)]

    def previous_endpoints(self, key: Key) -> list[str]:
        """Return the bundles of the last endpoints of a job's clients, if their shared stage starts from these."""
        if not self.stage(key).carries:
            return []
        before = last_participation(self.cohorts(key)[: int(key.round)])
        clients = (client for client in self.job_clients(key) if client in before)
        return unique(self.endpoint(key, client, before[client]) for client in clients)

    def warm_start(self, key: Key) -> list[str]:
        """Return the initial adapter, if a client's first participation in a shared stage starts from it."""
        return [self.server_adapter(key, 0)] if self.stage(key).begin == "initial" else []

    def state_code(self, key: Key) -> list[str]:
        state = self.stage(key).state
        return [] if state is None else [f"{state.module}:STATE"]

    def kept_states(self, key: Key) -> list[str]:
        if self.stage(key).state is None:
            return []
        return unique(self.endpoint(key, client, number) for client, number in sorted(self.last(key).items()))

    def train_shared_settings(self, key: Key) -> settings.SharedTraining:
        stage, experiment = self.stage(key), self.project.experiment(key)
        plans, common = self.project.plans(key.experiment).values(), self.common_settings(experiment, stage)
        # The loss of an adapter that no client generates with is not read.
        read = any(plan.inference == "endpoint" and plan.shared == stage for plan in plans) and not _plants(key)
        training = common.training if read else common.training.model_copy(update={"validation": None})
        return job_settings(
            settings.SharedTraining,
            common,
            training=training,
            clients_per_job=self.per_job(key),
            keep_endpoints=self.kept_endpoints(key),
            participations=self._participations(stage, self.cohorts(key), self.cohorts(key)[int(key.round)]),
            withdrawn=[client for client in self.served(key) if client not in self.job_clients(key)],
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
        privacy = self.project.experiment(key).studies.privacy
        if privacy is None or privacy.canaries is None:
            raise UserError(
                f"config key 'experiments.{key.experiment}.studies.privacy.canaries': no secrets are planted; set "
                "it, or ask for another track"
            )
        return repeats_by_client(self.all_clients(key.experiment), privacy.canaries.repeats)

    def _planted(self, key: Key) -> dict[str, int] | None:
        """Return how often the secret of each client of a job is planted; None without an audit."""
        if not _plants(key):
            return None
        repeats = self.canary_repeats(key)
        return {client: repeats[client] for client in self.job_clients(key)}

    # Both stages

    def trained_stage(self, key: Key) -> SharedStage | PersonalStage:
        return self.stage(key) if hasattr(key, "track") else not_none(self.project.plan(key).personal)

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

    def style(self, key: Key) -> list[str]:
        encoder, stage = self.project.experiment(key).style_encoder, self.trained_stage(key)
        return [self.paths.source_embeddings.of(key, encoder=encoder)] if stage.objective.alignment else []

    def _participations(
        self, stage: SharedStage | PersonalStage, cohorts: Sequence[Sequence[str]], clients: Iterable[str]
    ) -> dict[str, int]:
        """Return how often each client takes part in a run's rounds, if a stage spreads its passes over them."""
        if not stage.spread or not cohorts:
            return {}
        return {client: sum(client in cohort for cohort in cohorts) for client in clients}

    def requests(self, key: Key) -> list[str]:
        return [self.paths.requests.of(key)] if self.project.experiment(key).answers else []

    # Schedules, initial adapters, aggregation

    def initialise_server_settings(self, key: Key) -> settings.Initialisation:
        experiment = self.project.experiment(key)
        source = self.project.model_folder(experiment.base_model)
        return settings.Initialisation(source=source, lora=experiment.lora)

    def aggregate_settings(self, key: Key) -> settings.Aggregation:
        """Return what the server reads. It reads a robust combination of uploads as it reads their sum."""
        summed = self.sum_uploads_settings(key)
        if self.project.experiment(key).federation.robust is not None:
            summed = summed.model_copy(update={"stage": {**summed.stage, "aggregation": "sum_only"}})
        return job_settings(settings.Aggregation, summed, self.project.experiment(key).federation)

    def combine_uploads_settings(self, key: Key) -> settings.Combination:
        return job_settings(
            settings.Combination, self.sum_uploads_settings(key), self.project.experiment(key).federation
        )

    def combination_code(self, key: Key) -> str:
        return ROBUST_RULES.entry(not_none(self.project.experiment(key).federation.robust).rule)

    def sum_uploads_settings(self, key: Key) -> settings.Summation:
        return settings.Summation(stage=plan_values(self.stage(key)), results=self.paths.results)


def _plants(key: Key) -> bool:
    return key.track.endswith(CANARY)
