"""What crosses the boundary of a client, and what every row ran with."""

from dataclasses import dataclass

from favor.config.experiments import ROW_GENERATION
from favor.federation.method import Plan, needs_shared, plan_values
from favor.federation.settings import Boundary, RunBoundary
from favor.plan.handing import Parameter, canonical, parameter, pick, without
from favor.plan.keys import InExperiment, Run
from favor.plan.project import Part, unique
from favor.plan.record import run_check
from favor.plan.training import Training


@dataclass(eq=False)
class Records(Part):
    """The records of a project's runs."""

    training: Training

    def _homes(self, key: InExperiment) -> list[Run]:
        return [self.training.trainer(run) for run in self.training.runs(key.experiment)]

    def _round_traffic(self, run: Run) -> list[str]:
        plan = self.project.plan(run)
        if plan.shared is None:
            return []
        rounds = self.project.experiment(run).federation.rounds
        track = plan.shared.track
        return [self.paths.traffic.of(run, track=track, next_round=number + 1) for number in range(rounds)]

    def traffic(self, key: InExperiment) -> list[str]:
        """Return what every round of an experiment sent, each track once."""
        return unique(file for run in self._homes(key) for file in self._round_traffic(run))

    def _kept_bundles(self, run: Run) -> list[str]:
        plan = self.project.plan(run)
        if plan.inference in ("endpoint", "personal"):
            return self.training.bundles(run)
        return [] if plan.shared is None else self.training.kept_states(run, plan.shared)

    def kept_bundles(self, key: InExperiment) -> list[str]:
        """Return the bundles of everything that stays on the clients of an experiment."""
        return unique(file for run in self._homes(key) for file in self._kept_bundles(run))

    def behind(self, key: InExperiment) -> list[str]:
        """Return the files that hold parts of those bundles."""
        return unique(file for run in self._homes(key) for file in self.training.behind(run))

    def final_recipients(self, run: Run, plan: Plan) -> list[str]:
        """Return the clients that get a final shared adapter: all, or those never sampled, to generate with.

        Where it comes from another experiment, all of them get it, to start from or to generate with.
        """
        everyone = self.training.clients(run.experiment)
        if needs_shared(plan):
            return everyone
        if plan.shared is None or plan.never_sampled == "dropped":
            return []
        fine_tuned = plan.personal is not None and plan.personal.start == "final"
        if plan.inference == "server" or plan.global_half == "final" or fine_tuned:
            return everyone
        reached = self.training.last_rounds(run.experiment, run.seed, plan.shared.sampling)
        return [client for client in everyone if client not in reached]

    def final_adapters(self, key: InExperiment) -> list[str]:
        """Return the final shared adapters that clients of an experiment are sent."""
        runs = [(run, self.project.plan(run)) for run in self._homes(key)]
        return unique(self.training.final_adapter(run, plan) for run, plan in runs if self.final_recipients(run, plan))

    def boundary_settings(self, key: InExperiment) -> Parameter:
        """Return what the boundary record looks up for each run: rounds, bundles, who gets the final adapter."""
        runs = []
        for row, run in zip(self.training.runs(key.experiment), self._homes(key), strict=True):
            plan = self.project.plan(run)
            recipients = self.final_recipients(run, plan)
            runs.append(
                RunBoundary(
                    seed=int(run.seed),
                    method=row.method,
                    traffic=self._round_traffic(run),
                    packs=self._kept_bundles(run),
                    final=self.training.final_adapter(run, plan) if recipients else None,
                    recipients=recipients,
                    stage=None if plan.shared is None else plan_values(plan.shared),
                    pooled=plan.personal is not None and plan.personal.start == "pooled",
                )
            )
        return canonical(Boundary(results=self.paths.results, runs=runs))

    def checked(self, experiment: str, row: str) -> dict[str, bool | int | float | str]:
        """Return what a row ran with, in the few values by which a reader checks it."""
        ran = self.project.rows[experiment, row]
        return run_check(ran.plan, self.project.config.experiments[experiment], ran.module, ran.hyperparameters)

    def printed_studies(self, experiment: str) -> dict[str, object]:
        """Return the studies of an experiment as settings and report print them; no path of this machine."""
        studies = self.project.config.experiments[experiment].studies
        sections = {name: getattr(studies, name) for name in type(studies).model_fields}
        return {name: section and without(section, "responses") for name, section in sections.items()}

    def resolved_settings(self, key: InExperiment) -> Parameter:
        """Return every value an experiment runs with, protocol and budget applied; no path of this machine."""
        experiment, name = self.project.experiment(key), key.experiment
        rows = {row: self.project.rows[name, row] for row in experiment.methods}
        return parameter(
            experiment=without(experiment, "methods", "studies") | {"studies": self.printed_studies(name)},
            words=self.project.words(key),
            methods={
                row: {
                    "hyperparameters": ran.hyperparameters,
                    "generation": pick(experiment.row_generation(row), *ROW_GENERATION),
                    "plan": plan_values(ran.plan),
                    "run_check": self.checked(name, row),
                }
                for row, ran in rows.items()
            },
        )
