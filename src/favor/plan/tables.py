"""What is printed: the tables of a project by label, and its sweeps: experiments that differ in one setting."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path

from favor.config.availability import absent_encoders
from favor.config.experiments import Experiment
from favor.federation.factors import change_output
from favor.foundation.errors import UserError
from favor.foundation.registry import METRIC_FAMILIES, TABLES
from favor.foundation.section import refuse
from favor.paper.names import METHODS, method_name, unmarked
from favor.paper.values import paper_file
from favor.plan.job_settings import job_settings
from favor.plan.keys import Key
from favor.plan.privacy import guarantee
from favor.plan.project import Inputs, PlannerComponent, unique
from favor.plan.readings import FAMILY as VALIDATION
from favor.plan.readings import unread
from favor.plan.records import Records, recipe
from favor.report.settings import PrintedSweep
from favor.scores.metric import families_of
from favor.tables.settings import Excerpts, PrintedTable, Sweep, SweepFigure, SweepPrinting, SweepScores
from favor.tables.specs import Context, RowSettings, TableSpec, load_spec

TABLE_KINDS = ("parquet", "tex", "html")
RETRIEVAL = "author_retrieval"  # the family by which a table warns of encoders


@dataclass(eq=False)
class Tables(PlannerComponent):
    """The tables of a project.

    Raises ``UserError`` for an unknown table, for a sweep's table under an experiment, and the other way round.
    """

    records: Records

    def __post_init__(self) -> None:
        config = self.config
        self.specs = _specs(config.experiments, False) | _specs(config.sweeps, True)
        self._needs = {family: METRIC_FAMILIES.constant(family, "NEEDS") for family in METRIC_FAMILIES.names()}

    def sweeps_of(self, experiment: str) -> list[Sweep]:
        sweeps = self.config.sweeps.values()
        return [sweep for sweep in sweeps if any(point.experiment == experiment for point in sweep.points)]

    def titles(self, experiment: str) -> dict[str, str]:
        plans = self.project.plans(experiment)
        return {
            row: title
            for row, title in self.project.titles(experiment).items()
            if row not in METHODS or title != plans[row].display
        }

    def encoder_roles(self, experiment: str) -> dict[str, str]:
        section = self.experiments[experiment]
        return {
            "style": section.style_encoder,
            "semantic": section.evaluation.semantic_encoder,
            **self.project.independent_encoder(experiment),
        }

    def context(self, experiment: str, settings: Mapping[str, RowSettings] | None = None) -> Context:
        """Return what a table prints besides scores; ``settings``: by row, where the table prints them."""
        section, shown = self.experiments[experiment], self.config.report
        corpus = self.config.corpora[section.corpus]
        return Context(
            experiment=experiment,
            methods=list(section.methods),
            dataset=corpus.title,
            paper_dataset=corpus.paper_dataset or "",
            encoders=self.encoder_roles(experiment),
            encoder_titles={key: encoder.title for key, encoder in self.config.encoders.items() if encoder.title},
            display=self.titles(experiment),
            seeds=section.seeds,
            absences=absent_encoders(self.config.encoders, places=False),
            settings=settings or {},
            references=self.references(experiment),
            remarks=self.remarks(experiment),
            clients=section.remaining_clients,
            marks=shown.marks,
            unranked=[row for row in section.methods if row in shown.unranked],
            prompts=section.remaining_clients * section.prompts.per_client,
        )

    def references(self, experiment: str) -> list[str]:
        return [row for row, plan in self.project.plans(experiment).items() if not plan.collaborative]

    def remarks(self, experiment: str) -> dict[str, str]:
        """Return a sentence on what the clients of a row generate with, by the row's key and by its printed name.

        That is the global half of a gated pair (FedDPA), and the base model for clients that were never sampled where
        the shared adapter alone changes nothing (FedSA-LoRA). By "": which clients withdrew and what is guaranteed to
        authors.
        """
        section, titles = self.experiments[experiment], self.titles(experiment)
        halves: dict[str, dict[str, str]] = {}
        left = {}
        for row, plan in self.project.plans(experiment).items():
            stage, name = plan.shared, method_name(row, titles)
            if stage is not None and plan.personal is not None and plan.personal.mixture is not None:
                half = self._last_round_half(experiment, stage.sampling)
                if plan.global_half == "final":
                    half = "the final shared adapter"
                halves.setdefault(half, {})[row] = name
            if stage is not None and plan.inference == "endpoint" and not change_output(stage.trains, stage.uploads):
                counts = self.records.training.never_sampled(experiment, stage.sampling).items()
                if unseen := ", ".join(f"{count} (seed {seed})" for seed, count in counts if count):
                    said = f"{unmarked(name)}: the shared half alone changes nothing, so that {unseen} clients that no "
                    left[row] = left[name] = f"{said}round sampled generate with the base model."
        if section.withdrawn:
            left[""] = f"Withdrawn, so neither trained on nor measured: {', '.join(section.withdrawn)}."
        if promise := guarantee(self.records.training, experiment):
            left[""] = f"{left.get('', '')} {promise}".strip()
        return left | {
            key: f"{', '.join(map(unmarked, names.values()))}: the global half of a client's pair is {half}."
            for half, names in halves.items()
            for key in (*names, *names.values())
        }

    def _last_round_half(self, experiment: str, sampling: str) -> str:
        section = self.experiments[experiment]
        initial = []
        for seed in section.seeds:
            last = self.records.training.last_rounds(experiment, str(seed), sampling)
            initial.append(f"{sum(number == 0 for number in last.values())} (seed {seed})")
        return (
            "the server's adapter at the start of its last participation, which for "
            f"{', '.join(initial)} of {section.remaining_clients} clients is the untrained initial adapter"
        )

    def evidence(self, key: Key) -> list[str]:
        """Return the comparisons of all rows, on which the marks of a table of scores rest."""
        spec = self.specs[key.label]
        columns = [column for panel in spec.panels for column in panel.columns]
        # Without a metric or a direction no cell is better than another.
        scored = any(column.metric or column.direction for column in columns) or any(row.metric for row in spec.rows)
        marked = spec.comparisons is None and (spec.every_metric or bool(spec.sources and scored))
        return [self.paths.evidence.of(key)] if marked and self.config.report.marks == "evidence" else []

    def retrieval(self, key: Key) -> list[str]:
        return [self.paths.scores.of(key, family=RETRIEVAL)] if self.specs[key.label].prints_style else []

    def _printed_settings(self, key: Key) -> Mapping[str, RowSettings]:
        spec, experiment = self.specs[key.label], self.project.experiment(key)
        columns = [column for panel in spec.panels for column in panel.columns]
        if not any([*(column.setting for column in columns), *(row.setting for row in spec.rows)]):
            return {}
        title = self.project.model_title(experiment.base_model)
        settings: dict[str, dict[str, bool | int | float | str]] = {}
        quantisation = self.config.base_models[experiment.base_model].quantisation
        for row, plan in self.project.plans(key.experiment).items():
            printed = recipe(plan, experiment, title, quantisation)
            settings[row] = {**self.records.checked(key.experiment, row), **printed}
            if plan.prompting is not None and plan.prompting.sheet:
                settings[row]["sheet_model"] = self.project.model_title(self.project.sheet_model(key))
        return settings

    # Tables

    def labels(self, key: Key) -> dict[str, str]:
        return {"table": self.specs[key.label].title, "name": key.label}

    def code(self, label: str) -> list[str]:
        """Return what declares a table, and the metrics that say what its columns are called and which way is better.

        Empty for a label that no experiment has: only a rule without jobs names it.
        """
        if label not in self.specs:
            return []
        return [TABLES.entry(label), *map(METRIC_FAMILIES.entry, self.specs[label].families)]

    def sources(self, experiment: str, label: str) -> list[str]:
        spec = self.specs[label]
        if not spec.every_metric:
            return list(spec.sources)
        return self.computable(experiment)

    def computable(self, experiment: str) -> list[str]:
        """Return the metric families that an experiment can compute: those whose ``NEEDS`` it has."""
        section = self.experiments[experiment]
        return [family for family, key in self._needs.items() if not key or attrgetter(key)(section)]

    def make_table_inputs(self, key: Key) -> Inputs:
        """Return what a table is made of. Raises ``UserError`` for a table that the experiment does not have."""
        present = self.project.experiment(key).tables
        if key.label not in present:
            raise UserError(
                f"experiment '{key.experiment}' has no table '{key.label}'; name it under "
                f"'experiments.{key.experiment}.tables', which has {', '.join(present) or 'none'}"
            )
        return {
            "scores": self.paths.scores.each(key, family=self.sources(key.experiment, key.label)),
            "comparisons": self.comparisons(key),
            "evidence": self.evidence(key),
            "retrieval": self.retrieval(key),
            "paper": self.paper_values(key),
            "prompts": self.project.prompts(key),
        }

    def comparisons(self, key: Key) -> list[str]:
        return [self.paths.comparisons.of(key)] if self.specs[key.label].comparisons else []

    def paper_values(self, key: Key) -> list[str]:
        """Return the file of the paper's values of a table, if the paper has the table."""
        path, here = paper_file(key.label), Path.cwd()
        if not path.is_file():
            return []
        return [str(path.relative_to(here) if path.is_relative_to(here) else path)]

    def files(self, *kinds: str) -> list[str]:
        return [
            file
            for name, experiment in self.experiments.items()
            for file in self.paths.table.each(experiment=name, label=experiment.tables, kind=kinds)
        ]

    def make_table_settings(self, key: Key) -> PrintedTable:
        context = self.context(key.experiment, self._printed_settings(key))
        return PrintedTable(context=context)

    def make_excerpts_settings(self, key: Key) -> Excerpts:
        return job_settings(Excerpts, context=self.context(key.experiment), words=self.project.words(key))


def _specs(owners: Mapping[str, Experiment] | Mapping[str, Sweep], over_points: bool) -> dict[str, TableSpec]:
    specs = {label: load_spec(label) for owner in owners.values() for label in owner.tables}
    for name, owner in owners.items():
        where = f"{'sweeps' if over_points else 'experiments'}.{name}.tables"
        for label in owner.tables:
            if specs[label].over_points != over_points:
                place = "a sweep (sweeps.<name>.tables)" if specs[label].over_points else "an experiment"
                refuse(where, f"'{label}' is a table of {place}; name it there")
    return specs


@dataclass(eq=False)
class Sweeps(PlannerComponent):
    """The sweeps of a project.

    Raises ``UserError`` for a figure of a metric that no table of its sweep scores, and for a choice without a loss.
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

        A row of the paper that is another method at some points ("fedavg" as FFA-LoRA) keeps its name: the label of the
        point says what differs.
        """
        experiments, found = self.experiments, {}
        for row in self._methods(sweep):
            names = [titles(name).get(row, "") for name in self.members(sweep) if row in experiments[name].methods]
            if names[-1] and (row not in METHODS or len(set(names)) == 1):
                found[row] = names[-1]
        return found

    def collect_sweep_inputs(self, key: Key) -> Inputs:
        experiments = [point.experiment for point in self.config.sweeps[key.sweep].points]
        return {"scores": self.paths.scores.each(experiment=experiments, family=self.families(key.sweep))}

    def collect_sweep_settings(self, key: Key) -> SweepScores:
        sweep = self.config.sweeps[key.sweep]
        return job_settings(SweepScores, sweep, families=self.families(key.sweep))

    def _of_members(self, key: Key, files: Callable[[Key], list[str]]) -> list[str]:
        return [file for name in self.members(key.sweep) for file in files(Key(experiment=name, label=key.label))]

    def comparisons(self, key: Key) -> list[str]:
        return self._of_members(key, self.tables.comparisons)

    def retrieval(self, key: Key) -> list[str]:
        return self._of_members(key, self.tables.retrieval)

    def make_sweep_table_inputs(self, key: Key) -> Inputs:
        """Return what a table over points is made of: comparisons of all rows where its marks rest on them."""
        marked = self.tables.specs[key.label].ranked_within == "point"
        return {
            "scores": self.paths.sweep_scores.of(key),
            "comparisons": self.comparisons(key),
            "evidence": self._of_members(key, self.tables.evidence) if marked else [],
            "retrieval": self.retrieval(key),
            "prompts": self._of_members(key, self.project.prompts),
            "paper": self.tables.paper_values(key),
        }

    def make_sweep_table_settings(self, key: Key) -> SweepPrinting:
        contexts = {name: self.tables.context(name) for name in self.members(key.sweep)}
        display = self._titles(key.sweep, self.tables.titles)
        return job_settings(SweepPrinting, self.config.sweeps[key.sweep], contexts=contexts, display=display)

    def draw_sweep_settings(self, key: Key) -> SweepFigure:
        sweep, experiments = self.config.sweeps[key.sweep], self.experiments
        return job_settings(
            SweepFigure,
            sweep,
            methods=self._methods(key.sweep),
            families=self.families(key.sweep),
            style_encoders={point.label: experiments[point.experiment].style_encoder for point in sweep.points},
            display=self._titles(key.sweep, self.tables.titles),
        )

    def table_files(self, *kinds: str) -> list[str]:
        return [
            file
            for name, sweep in self.config.sweeps.items()
            for file in self.paths.sweep_table.each(sweep=name, label=sweep.tables, kind=kinds)
        ]

    def figures(self, kind: str) -> list[str]:
        sweeps = self.config.sweeps
        return [self.paths.sweep_figure.of(sweep=name, kind=kind) for name, sweep in sweeps.items() if sweep.figure]

    def report_settings(self) -> dict[str, PrintedSweep]:
        settings = {}
        config = self.config
        for name, sweep in config.sweeps.items():
            experiments = self.members(name)
            first = config.experiments[experiments[0]]
            corpus = config.corpora[first.corpus]
            settings[name] = job_settings(
                PrintedSweep,
                sweep,
                contexts={entry: self.tables.context(entry) for entry in experiments},
                methods=self._methods(name),
                display=self._titles(name, self.project.titles),
                seeds=sorted({seed for entry in experiments for seed in config.experiments[entry].seeds}),
                dataset=corpus.title,
                demo=bool(corpus.demo),
                base_model=self.project.model_title(first.base_model),
            )
        return settings
