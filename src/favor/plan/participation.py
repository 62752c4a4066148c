"""Which clients take part in which round, and which of them attack."""

from collections.abc import Iterable
from functools import cache

from favor.federation.poisoning import Attackers, attackers_of
from favor.federation.schedule import answering, client_names, cohorts, last_participation
from favor.federation.settings import Hijack
from favor.foundation.declarations import declared_value
from favor.foundation.errors import UserError
from favor.foundation.registry import ROBUST_RULES
from favor.plan.job_settings import Parameter, to_params
from favor.plan.keys import Key
from favor.plan.project import PlannerComponent


class Participation(PlannerComponent):
    """The clients of a project's experiments."""

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
        """Return the clients that take part in an experiment's rounds: those drawn that answer and did not withdraw.

        Raises ``UserError`` where nobody is left of a round, or too few for its robust rule.
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
