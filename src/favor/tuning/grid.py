"""The experiment that rates are chosen in: the rows of another one at every point of a grid, on later authors.

Rates of shared stages come first, and those of personal stages, with passes, after the shared ones that were chosen.
All points are rows of one experiment, so that those with equal shared stages share their rounds.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from favor.config.configuration import Configuration
from favor.federation.method import Plan
from favor.federation.row_plan import load_method
from favor.foundation.errors import UserError
from favor.foundation.names import nearest
from favor.foundation.registry import row_method
from favor.lm.settings import Validation
from favor.plan import Planner
from favor.plan.keys import run_key

Stage = Literal["shared", "personal"]
FACTORS = (0.25, 0.5, 1.0, 2.0, 4.0)  # of the experiment's own rate, where no rates are named
SUFFIX = "_tuning"


@dataclass(frozen=True)
class Candidate:
    """One point of the grid: a row of the experiment, and the row of the tuning experiment that tries it."""

    row: str
    stage: Stage
    learning_rate: float
    passes: float
    trial: str
    overrides: Mapping[str, Any]


class Grid:
    """The grid of one experiment.

    rates: those tried in every stage; None: ``FACTORS``. personal_rates, passes: those in every personal one; None:
    ``rates``, and each row's own passes.
    authors: how many of the roster choose; None: as many as the experiment's clients, or all that are left.

    Raises ``UserError`` where too few authors are left, and where no row trains.
    """

    def __init__(
        self,
        config: Configuration,
        experiment: str,
        rates: Sequence[float] | None = None,
        passes: Sequence[int] | None = None,
        authors: int | None = None,
        personal_rates: Sequence[float] | None = None,
    ) -> None:
        self.name, self.section = experiment, config.experiments[experiment]
        if self.tuning in config.experiments:
            raise UserError(f"experiment '{self.tuning}': rates are chosen in one of that name; rename yours")
        own = self.section.training.learning_rate
        self.rates = sorted(set(rates or [float(f"{own * factor:.6g}") for factor in FACTORS]))
        self.personal_rates = sorted(set(personal_rates or self.rates))
        self.passes = sorted(set(passes)) if passes else None
        for option, given in (("--rates", self.rates), ("--personal-rates", self.personal_rates)):
            if wrong := [rate for rate in given if not 0 < rate <= 1]:
                raise UserError(f"{option}: {wrong[0]:g} is out of range; a rate is more than 0 and at most 1")
        if self.passes and self.passes[0] < 1:
            raise UserError(f"--passes: {self.passes[0]} is out of range; a stage has 1 pass or more")
        self.plans = {row: self._plan(row, given) for row, given in self.section.methods.items()}
        if not any(plan.shared or plan.personal for plan in self.plans.values()):
            raise UserError(f"experiment '{experiment}': no row trains, so there is no rate to choose")
        roster = config.corpora[self.section.corpus].roles.clients
        assert self.section.clients is not None
        self.skipped = self.section.skip_clients + self.section.clients
        left, needed = roster - self.skipped, max(2, self.section.federation.clients_per_round)
        self.authors = min(left, self.section.clients) if authors is None else authors
        if authors is not None and authors < needed <= left:
            raise UserError(f"--authors {authors}: one round needs {needed}; name {needed} to {left}")
        if not needed <= self.authors <= left:
            raise UserError(
                f"experiment '{experiment}': rates are chosen on {needed} or more authors who are not its clients "
                f"(one round has {self.section.federation.clients_per_round}), and {left} of {roster} are left; raise "
                f"corpora.{self.section.corpus}.roles.clients, or lower experiments.{experiment}.clients"
                + (f" or --authors {authors}" if authors is not None else "")
            )

    @property
    def tuning(self) -> str:
        """Name of the tuning experiment."""
        return self.name + SUFFIX

    def _plan(self, row: str, overrides: Mapping[str, Any]) -> Plan:
        return load_method(row, overrides, self.section)[1]

    def _bare(self, row: str) -> dict[str, Any]:
        """Return a row's overrides with its method, and without what does not train."""
        own = {key: value for key, value in self.section.methods[row].items() if key not in ("title", "generation")}
        return {**own, "method": row_method(row, own)}

    def _passes_key(self, row: str) -> str | None:
        """Return the hyper-parameter that is the passes of a row's personal stage; None where it has none that acts."""
        own = self._bare(row)
        for key, value in load_method(row, own, self.section)[2].items():
            if key.endswith("epochs"):
                try:
                    other = self._plan(row, {**own, key: 1 + int(value or 0)})
                except UserError:  # budget: matched sets the passes
                    continue
                if other.shared == self.plans[row].shared and other.personal != self.plans[row].personal:
                    return str(key)
        return None

    def shared(self) -> list[Candidate]:
        """Return the points of the shared stages."""
        found = []
        for row, plan in self.plans.items():
            for rate in self.rates if plan.shared else ():
                assert plan.shared is not None
                given = {**self._bare(row), "learning_rate": rate}
                found.append(Candidate(row, "shared", rate, plan.shared.epochs, _trial(row, "shared", rate), given))
        return found

    def personal(self, chosen: Mapping[str, float]) -> list[Candidate]:
        """Return the points of the personal stages; ``chosen``: by row, the rate of its shared stage."""
        found = []
        for row, plan in self.plans.items():
            if plan.personal is None:
                continue
            key = self._passes_key(row) if self.passes else None
            own = {**self._bare(row), **({"learning_rate": chosen[row]} if row in chosen else {})}
            for rate in self.personal_rates:
                for passes in self.passes if self.passes and key else (plan.personal.epochs or 0.0,):
                    given = {**own, "personal_learning_rate": rate, **({key: passes} if key else {})}
                    trial = _trial(row, "personal", rate) + (f"_{passes}" if key else "")
                    found.append(Candidate(row, "personal", rate, float(passes), trial, given))
        return found

    def settings(self, candidates: Iterable[Candidate]) -> dict[str, Any]:
        """Return the configuration to lay over that of the experiment: the tuning experiment with these points."""
        section, total = self.section, self.section.allocation.total_words
        assert section.clients is not None
        experiment: dict[str, Any] = {
            "extends": self.name,
            "title": f"{section.title}, rates",
            "outputs_of": None,
            "tuned": None,
            "withdrawn": [],
            "clients": self.authors,
            "skip_clients": self.skipped,
            "seeds": section.seeds[:1],
            "training": {"validation": (section.training.validation or Validation()).model_dump()},
            "methods": {each.trial: dict(each.overrides) for each in candidates},
            "tables": [],
            "figures": False,
        }
        if total is not None:
            experiment["allocation"] = {"total_words": total * self.authors // section.clients}
        if section.federation.clients_per_job is not None:
            experiment["federation"] = {"clients_per_job": min(section.federation.clients_per_job, self.authors)}
        return {"experiments": {self.tuning: experiment}}


def _trial(row: str, stage: Stage, rate: float) -> str:
    """Return the name of the row that tries a rate: by the rate, so that a larger grid trains no point again."""
    return f"{row}_{stage}_{rate!r}".replace(".", "p").replace("-", "m")


def losses_of(planner: Planner, experiment: str, candidate: Candidate) -> str:
    """Return the file of the authors' losses at a point, of the planned tuning experiment.

    The final shared adapter reads every author's validation texts. Of a personal stage, and of a shared one whose
    endpoint a client generates with, the training logs hold the losses.
    """
    run = run_key(experiment, planner.config.experiments[experiment].seeds[0], candidate.trial)
    plan = planner.project.plan(run)
    if candidate.stage == "personal" or plan.inference == "endpoint":
        return planner.paths.stage_validation.of(run, stage=candidate.stage)
    assert plan.shared is not None
    return planner.paths.shared_validation.of(run, track=plan.shared.track)


def tuned_experiment(config: Configuration, name: str | None) -> str:
    """Return the experiment that a command line means. Raises ``UserError`` where it is not told or not there."""
    if name is None and len(config.experiments) == 1:
        return next(iter(config.experiments))
    if name is None:
        raise UserError(f"there are several experiments; name one by --experiment: {', '.join(config.experiments)}")
    if name not in config.experiments:
        raise UserError(f"there is no experiment '{name}'; {nearest(name, config.experiments)}")
    return name
