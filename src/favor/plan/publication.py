"""What is published from a results folder: exports of runs, the report, numbers of the running text, the release."""

from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path

from pydantic_core import to_jsonable_python

from favor.federation.method import Plan
from favor.federation.row_plan import load_method, rate_caution
from favor.figures.specs import declared_figure
from favor.foundation.errors import UserError
from favor.foundation.names import nearest
from favor.foundation.registry import FIGURES
from favor.paper.settings import Claimed, Numbers, NumberSource
from favor.plan.evaluation import Evaluation
from favor.plan.figures import Figures
from favor.plan.job_settings import Parameter, job_settings, to_params
from favor.plan.keys import Key, run_key
from favor.plan.project import unique
from favor.plan.readings import FAMILY as VALIDATION
from favor.plan.records import Records
from favor.plan.tables import RETRIEVAL, TABLE_KINDS, Sweeps, Tables
from favor.plan.training import TrainingComponent
from favor.publish.settings import FAMILIES, Bundle, PanExport, ReleasedRun, check
from favor.report.settings import PrintedExperiment
from favor.running.jobs.environment import latex_available

_SECTIONS = ("protocol", "allocation", "prompts", "federation", "lora", "training", "alignment", "generation")


@dataclass(eq=False)
class Exports(TrainingComponent):
    """The exports of a project's runs."""

    evaluation: Evaluation

    def adapters(self, key: Key) -> list[str]:
        """Return the adapters of a run, to export them as PEFT folders. Raises ``UserError`` for an unknown run."""
        self.project.check_run(key.experiment, key.method, key.seed)
        mixture = self.project.plan(key).generates.mixture
        if mixture is not None and mixture.kind == "token":
            raise UserError(
                f"{key.method}: its gate looks at every token, which an adapter in PEFT's format cannot do; export "
                "another row"
            )
        return self.training.adapters(key)

    # PAN's evaluator

    def pan_generations(self, key: Key) -> str:
        """Return the generations of a run, if PAN's evaluator can read them. Raises ``UserError`` if not."""
        self.project.check_run(key.experiment, key.method, key.seed)
        encoders = self.project.encoders_of(key)
        if key.encoder not in encoders:
            raise UserError(
                f"experiment '{key.experiment}' is not measured with encoder '{key.encoder}'; "
                f"{nearest(key.encoder, encoders)}"
            )
        return self.evaluation.run_generations(key)

    def export_pan_settings(self, key: Key) -> PanExport:
        return PanExport(method=key.method, seed=int(key.seed))

    # The layout of the paper's release

    def released_generations(self, key: Key) -> str:
        """Return the generations of a run, if the released layout can hold them. Raises ``UserError`` if not."""
        self.project.check_run(key.experiment, key.method, key.seed)
        check(self.export_release_settings(key))
        return self.evaluation.run_generations(key)

    def released_scores(self, key: Key) -> list[str]:
        return self.paths.scores.each(key, family=FAMILIES)

    def export_release_settings(self, key: Key) -> ReleasedRun:
        config, experiment = self.config, self.project.experiment(key)
        row, corpus = self.project.rows[key.experiment, key.method], config.corpora[experiment.corpus]
        model, evaluation = config.base_models[experiment.base_model], experiment.evaluation
        method = row.module.rsplit(".", 1)[-1]
        shared, personal = row.plan.shared, row.plan.personal
        return ReleasedRun(
            dataset=corpus.paper_dataset or "",
            generated=corpus.demo is not None,
            row=key.method,
            title=self.project.titles(key.experiment)[key.method],
            method=method,
            seed=int(key.seed),
            style_encoder=experiment.style_encoder,
            style_encoder_title=config.encoders[experiment.style_encoder].title or experiment.style_encoder,
            base_model=model.title or experiment.base_model,
            quantisation=model.quantisation,
            hyperparameters=to_jsonable_python(row.hyperparameters),
            settings=experiment.model_dump(mode="json", include={*_SECTIONS, "clients"}),
            measured_with={
                "words": corpus.words,
                "bertscore_model": Path(evaluation.bertscore.model).name,
                "bertscore_layer": evaluation.bertscore.layer,
                "semantic_encoder": evaluation.semantic_encoder,
                "assistant_classifier": evaluation.assistant,
            },
            components=_components(row.plan),
            method_components=_components(load_method(method, {}, experiment)[1]),
            local_epochs_shared=shared.epochs if shared is not None else 0,
            local_epochs_private=personal.epochs if personal is not None else 0,
            client_updates=0 if shared is None else sum(map(len, self.training.cohorts(key))),
        )


def _components(plan: Plan) -> dict[str, bool]:
    stages = [stage for stage in (plan.shared, plan.personal) if stage is not None]
    return {
        "shared_stage": plan.shared is not None,
        "proximal_term": any(stage.objective.proximal > 0 for stage in stages),
        "private_residual": plan.personal is not None and plan.personal.residual,
        "asce_alignment": any(stage.objective.alignment > 0 for stage in stages),
    }


@dataclass(eq=False)
class Publication(TrainingComponent):
    """The report, the numbers and the release of a project."""

    records: Records
    tables: Tables
    evaluation: Evaluation
    sweeps: Sweeps
    figures: Figures
    latex: bool = field(default_factory=latex_available)

    # The report

    def report_files(self) -> dict[str, str]:
        endings = {"html": "html", **({"pdf": "pdf", "card": "card.pdf"} if self.latex else {})}
        return {kind: self.paths.report.of(kind=ending) for kind, ending in endings.items()}

    def report(self) -> list[str]:
        return list(self.report_files().values())

    def galleries(self) -> list[str]:
        return self.paths.gallery.each(experiment=self.evaluation.galleries())

    def report_inputs(self, key: object) -> list[str]:
        paths, shown = self.paths, self.evaluation.shown()
        printed, drawn = (("parquet", "tex"), ("svg", "pdf")) if self.latex else (("parquet",), ("svg",))
        corpora = unique(self.experiments[name].corpus for name in shown)
        described = (paths.dropped, paths.scripts, paths.author_measures, paths.roster, paths.splits, paths.overlap)
        return [
            *self.tables.files(*printed),
            *self.sweeps.table_files(*printed),
            *(file for kind in drawn for file in (*self.figures.files(kind), *self.sweeps.figures(kind))),
            paths.overview.of(figure="favor_overview", kind="svg"),
            paths.numbers.of(),
            *self.evidence(),
            *paths.gallery_sample.each(experiment=self.evaluation.galleries()),
            *(file for kind in described for file in kind.each(corpus=corpora)),
            *(file for corpus in corpora for file in self.project.near_duplicates(corpus)),
            *(self.project.allocation(Key(experiment=name)) for name in shown),
            *(file for name in shown for file in self.project.prompts(Key(experiment=name))),
        ]

    def evidence(self) -> list[str]:
        """Return the inputs of the report's first screens: comparisons of all rows, voices kept, cautions."""
        shown, families = self.evaluation.shown(), ("voice_kept", "likelihood", VALIDATION, "efficiency", RETRIEVAL)
        read = [file for family in families for name in shown for file in self._scored(name, family)]
        sweeps = self.config.sweeps.items()
        labels = [Key(sweep=name, label=label) for name, sweep in sweeps for label in sweep.tables]
        read += [file for key in labels for file in self.sweeps.retrieval(key)]
        read += [self.paths.sweep_scores.of(sweep=name) for name, sweep in sweeps if sweep.choose_by]
        return unique([*(self.paths.evidence.of(experiment=name) for name in shown), *read])

    def report_code(self) -> list[str]:
        tables = {code for label in self.tables.specs for code in self.tables.code(label)}
        return [*sorted(tables), *map(FIGURES.entry, FIGURES.names())]

    def report_settings(self, key: object, accepted: Collection[str]) -> Parameter:
        """Return the resolved values that the report prints, by experiment and by sweep; no path of this machine.

        ``accepted``: stages whose results were kept although something changed.
        """
        return to_params(
            {
                "results": self.paths.results,
                "experiments": self.printed_experiments(),
                "order": self.evaluation.shown(),
                "sweeps": self.sweeps.report_settings(),
                "accepted": list(accepted),
            }
        )

    def printed_experiments(self) -> dict[str, PrintedExperiment]:
        return {name: self._printed(name) for name in self.evaluation.shown()}

    def _printed(self, name: str) -> PrintedExperiment:
        experiment = self.experiments[name]
        corpus = self.config.corpora[experiment.corpus]
        return job_settings(
            PrintedExperiment,
            experiment,
            context=self.tables.context(name),
            corpus_key=experiment.corpus,
            dataset=corpus.title,
            base_model=self.project.model_title(experiment.base_model),
            **vars(self._claimed(name)),
            withdrawn=len(experiment.withdrawn),
            measured=experiment.evaluation.encoders,
            never_sampled=self.training.never_sampled(name, "coverage_first"),
            figures=self.evaluation.figures(name),
            near_duplicates=corpus.near_duplicates is not None,
            gallery=name in self.evaluation.galleries(),
            demo=corpus.demo is not None,
            rate_caution=rate_caution(experiment, self.project.plans(name)),
            filters=corpus.filters.model_dump(mode="json"),
            experiment=experiment.model_dump(mode="json", exclude={"methods", "tables", "studies", "tuned"})
            | {"studies": self.records.printed_studies(name)},
            methods={row: self.project.rows[name, row].hyperparameters for row in experiment.methods},
            corpus=corpus.model_dump(mode="json", exclude={"path"}),
        )

    # The numbers of the paper's running text

    def write_numbers_settings(self, key: object) -> Numbers:
        return Numbers(results=self.paths.results, experiments=self._number_sources())

    def number_files(self, key: object = None) -> list[str]:
        return [file for source in self._number_sources().values() for file in source.files]

    def _number_sources(self) -> dict[str, NumberSource]:
        return {name: self._number_source(name) for name in self.evaluation.shown()}

    def _number_source(self, name: str) -> NumberSource:
        # It loads every method's file when it is imported: what is wrong with one is to be said after the imports.
        from favor.paper.numbers import NUMBER_TABLES

        experiment, config, paths = self.experiments[name], self.config, self.paths
        labels = [label for label in experiment.tables if label in NUMBER_TABLES]
        rows = [row for row in ("feddpa", "feddpa_dynamic") if row in experiment.methods]
        gated = [run_key(name, seed, row) for seed in experiment.seeds for row in rows]
        drawn = any("coordinate_effects" in declared_figure(figure).inputs for figure in self.evaluation.figures(name))
        roles = {"style": experiment.style_encoder, **self.project.independent_encoder(name)}
        trained = {role: encoder for role, encoder in roles.items() if config.encoders[encoder].training is not None}
        assert experiment.clients is not None
        return NumberSource(
            tables={label: paths.table.of(Key(experiment=name, label=label), kind="parquet") for label in labels},
            gates=[paths.gates.of(self.training.source_run(run)) for run in gated],
            allocation=self.project.allocation(Key(experiment=name)),
            effects=[paths.coordinate_effects.of(experiment=name)] if drawn else [],
            judges=[paths.scores.of(experiment=name, family="judges")] if experiment.studies.judges else [],
            validation=self._scored(name, VALIDATION),
            participations=experiment.federation.participations(experiment.clients),
            encoders={role: paths.encoder_manifest.of(encoder=encoder) for role, encoder in trained.items()},
            paper_dataset=config.corpora[experiment.corpus].paper_dataset or "",
            whole="main_federated_results" in experiment.tables,
            evidence=[paths.evidence.of(experiment=name), *self._scored(name, "voice_kept", "likelihood")],
            claims=self._claimed(name),
        )

    def _claimed(self, name: str) -> Claimed:
        experiment = self.experiments[name]
        return job_settings(
            Claimed,
            experiment,
            clients=experiment.remaining_clients,
            prompts_per_client=experiment.prompts.per_client,
            rows=list(experiment.methods),
            display=self.project.titles(name),
            unseen=self.evaluation.unseen_encoders(Key(experiment=name)),
            margin=self.config.report.margin,
            families=self.evaluation.families(name),
        )

    def _scored(self, name: str, *families: str) -> list[str]:
        """Return the scores of those of ``families`` that are computed for an experiment."""
        computed = self.evaluation.families(name)
        return self.paths.scores.each(experiment=name, family=[family for family in families if family in computed])

    # The release

    def public_files(self, key: object = None) -> list[str]:
        """Return what a release holds of the results: aggregates; no PDF, whose text cannot be searched."""
        files = [self.paths.report.of(kind="html"), self.paths.numbers.of()]
        files += [*self.figures.overviews("svg"), *self.figures.files("svg"), *self.figures.files("csv")]
        for name, experiment in self.experiments.items():
            for label in experiment.tables:
                if self.tables.specs[label].publishable:
                    files += self.paths.table.each(experiment=name, label=label, kind=TABLE_KINDS)
                    files += self.tables.comparisons(Key(experiment=name, label=label))
            files += self.paths.scores.each(experiment=name, family=self.evaluation.families(name))
            files.append(self.paths.settings.of(experiment=name))
        files += [*self.sweeps.table_files(*TABLE_KINDS), *self.sweeps.figures("svg"), *self.sweeps.figures("csv")]
        for name, sweep in self.config.sweeps.items():
            files.append(self.paths.sweep_scores.of(sweep=name))
            for label in sweep.tables:
                files += self.sweeps.comparisons(Key(sweep=name, label=label))
        return unique(files)

    def private_generations(self, key: object = None) -> list[str]:
        measured = list(filter(self.evaluation.is_measured, self.experiments))
        runs = (run for name in measured for run in self.training.runs(name))
        common = (file for name in measured for file in self.evaluation.common_generations(Key(experiment=name)))
        return unique([*map(self.evaluation.run_generations, runs), *common])

    def project_files(self) -> list[str]:
        """Return the files about the project itself that a release holds, without the lock file."""
        root = self.project.root
        described = (root / "LICENSE", root / "CITATION.cff", *sorted((root / "envs").glob("*.yaml")))
        return list(map(str, described))

    def release_settings(self, key: object) -> Bundle:
        config = self.config
        return job_settings(Bundle, config, configuration=config.model_dump(mode="json", exclude={"release"}))
