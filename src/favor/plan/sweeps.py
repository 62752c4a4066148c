"""Sweeps: experiments that differ in one setting, side by side; their scores, tables and figures."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from favor.foundation.registry import METRIC_FAMILIES
from favor.foundation.section import refuse
from favor.paper.names import METHODS
from favor.plan.job_settings import Parameter, build_job_settings, job_params
from favor.plan.keys import Key
from favor.plan.project import PlannerComponent, unique
from favor.plan.tables import Tables
from favor.plan.validation import FAMILY as VALIDATION
from favor.plan.validation import unread
from favor.report.settings import PrintedSweep
from favor.scores.metric import families_of
from favor.tables.settings import SweepFigure, SweepPrinting, SweepScores


@dataclass(eq=False)
class Sweeps(PlannerComponent):
    """The sweeps of a project.

    Raises ``UserError`` for a figure of what no table of its sweep scores, and for a choice that no row can make.
    """

    tables: Tables

    def __post_init__(self) -> None:
        for name, sweep in self.config.sweeps.items():
            scored = set(self.families(name))
            for metric in sweep.figure:
                if scored.isdisjoint(families_of([metric.partition(":")[0]])):
                    refuse(f"sweeps.{name}.figure", f"no table of the sweep scores '{metric}'; name another metric")
            reasons = [unread(plan) for point in self.members(name) for plan in self.project.plans(point).values()]
            if sweep.choose_by and all(reasons):
                refuse(f"sweeps.{name}.choose_by", f"no row has a validation loss: {reasons[0]}; add a row that trains")

    def families(self, sweep: str) -> list[str]:
        section = self.config.sweeps[sweep]
        chosen = {VALIDATION} if section.choose_by else set()
        return sorted(chosen | {family for label in section.tables for family in self.tables.specs[label].sources})

    def members(self, sweep: str) -> list[str]:
        return unique(point.experiment for point in self.config.sweeps[sweep].points)

    def _methods(self, sweep: str) -> list[str]:
        experiments = self.experiments
        return unique(row for name in self.members(sweep) for row in experiments[name].methods)

    def _titles(self, sweep: str, titles: Callable[[str], Mapping[str, str]]) -> dict[str, str]:
        """Return the printed names of the rows of a sweep, from those of each experiment.

        A row of the paper that is another method at some of the points ("fedavg" as FFA-LoRA) has its own name: what
        differs there is said by the point's label.
        """
        experiments, found = self.experiments, {}
        for row in self._methods(sweep):
            names = [titles(name).get(row, "") for name in self.members(sweep) if row in experiments[name].methods]
            if names[-1] and (row not in METHODS or len(set(names)) == 1):
                found[row] = names[-1]
        return found

    def scores(self, key: Key) -> list[str]:
        return [
            self.paths.scores.of(experiment=point.experiment, family=family)
            for point in self.config.sweeps[key.sweep].points
            for family in self.families(key.sweep)
        ]

    def collect_sweep_settings(self, key: Key) -> Parameter:
        sweep = self.config.sweeps[key.sweep]
        return job_params(SweepScores, sweep, families=self.families(key.sweep))

    def _of_members(self, key: Key, files: Callable[[Key], list[str]]) -> list[str]:
        """Return files of the same table in every experiment."""
        return [file for name in self.members(key.sweep) for file in files(Key(experiment=name, label=key.label))]

    def comparisons(self, key: Key) -> list[str]:
        return self._of_members(key, self.tables.comparisons)

    def evidence(self, key: Key) -> list[str]:
        """Return the comparisons of all rows, where marks of the table rest on them."""
        within = self.tables.specs[key.label].ranked_within == "point"
        return self._of_members(key, self.tables.evidence) if within else []

    def retrieval(self, key: Key) -> list[str]:
        return self._of_members(key, self.tables.retrieval)

    def prompts(self, key: Key) -> list[str]:
        return self._of_members(key, self.tables.prompts)

    def make_sweep_table_settings(self, key: Key) -> Parameter:
        contexts = {name: self.tables.context(name) for name in self.members(key.sweep)}
        display = self._titles(key.sweep, self.tables.titles)
        return job_params(SweepPrinting, self.config.sweeps[key.sweep], contexts=contexts, display=display)

    def draw_sweep_settings(self, key: Key) -> Parameter:
        sweep, experiments = self.config.sweeps[key.sweep], self.experiments
        return job_params(
            SweepFigure,
            sweep,
            methods=self._methods(key.sweep),
            families=self.families(key.sweep),
            style_encoders={point.label: experiments[point.experiment].style_encoder for point in sweep.points},
            display=self._titles(key.sweep, self.tables.titles),
        )

    def family_code(self, key: Key) -> list[str]:
        return list(map(METRIC_FAMILIES.entry, self.families(key.sweep)))

    def table_files(self, *kinds: str) -> list[str]:
        return [
            self.paths.sweep_table.of(sweep=name, label=label, kind=kind)
            for name, sweep in self.config.sweeps.items()
            for label in sweep.tables
            for kind in kinds
        ]

    def figures(self, kind: str) -> list[str]:
        sweeps = self.config.sweeps
        return [self.paths.sweep_figure.of(sweep=name, kind=kind) for name, sweep in sweeps.items() if sweep.figure]

    def report_settings(self) -> dict[str, PrintedSweep]:
        """Return what the report prints of every sweep."""
        settings = {}
        config = self.config
        for name, sweep in config.sweeps.items():
            experiments = self.members(name)
            first = config.experiments[experiments[0]]
            corpus = config.corpora[first.corpus]
            settings[name] = build_job_settings(
                PrintedSweep,
                sweep,
                encoders={entry: self.tables.encoder_roles(entry) for entry in experiments},
                encoder_titles=self.tables.encoder_titles(),
                methods=self._methods(name),
                display=self._titles(name, self.project.titles),
                seeds=sorted({seed for entry in experiments for seed in config.experiments[entry].seeds}),
                dataset=corpus.title,
                demo=bool(corpus.demo),
                base_model=self.project.model_title(first.base_model),
            )
        return settings
