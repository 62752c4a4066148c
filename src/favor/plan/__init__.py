"""The planner: which job reads and writes what, and at what cost. It needs no Snakemake, numpy, pandas or pyarrow."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from favor.config.configuration import Configuration
from favor.config.row_checks import check_families
from favor.corpora import settings as corpora
from favor.encoders.settings import StyleEncoder
from favor.federation.settings import Scheduling
from favor.foundation.registry import CORPUS_READERS, ENCODER_KINDS, FIGURES, METRIC_FAMILIES
from favor.foundation.section import Section
from favor.lm.settings import ModelTraining, Vocabulary
from favor.plan.costs import Costs
from favor.plan.evaluation import Evaluation
from favor.plan.figures import Figures
from favor.plan.job_settings import Parameter, job_settings, not_none, to_params
from favor.plan.keys import Key
from favor.plan.preparation import Preparation
from favor.plan.privacy import PrivacyAudit
from favor.plan.project import Project
from favor.plan.publication import Exports, Publication
from favor.plan.readings import LikelihoodAttribution, ValidationLosses
from favor.plan.records import Records
from favor.plan.studies import Studies
from favor.plan.tables import Sweeps, Tables
from favor.plan.targets import Targets
from favor.plan.training import Training
from favor.scores.settings import BertScoring, Seeds
from favor.studies.settings import AuditPage


class Planner:
    """The planner of one configuration, by parts. Raises ``UserError`` where the configuration cannot be planned."""

    def __init__(self, config: Configuration, root: Path) -> None:
        self.config = config
        self.project = project = Project(config, root)
        self.paths = project.paths
        self.preparation = Preparation(project)
        self.training = training = Training(project)
        self.records = records = Records(project, training)
        self.studies = studies = Studies(project, training)
        self.tables = tables = Tables(project, records)
        self.evaluation = evaluation = Evaluation(project, training, tables)
        self.likelihood = LikelihoodAttribution(project, training)
        check_families(config, {name: evaluation.families(name) for name in config.experiments})
        self.validation = ValidationLosses(project, training)
        self.privacy = PrivacyAudit(project, training)
        self.exports = Exports(project, training, evaluation)
        self.sweeps = sweeps = Sweeps(project, tables)
        self.figures = figures = Figures(project, training, tables, evaluation)
        self.publication = Publication(project, training, records, tables, evaluation, sweeps, figures)
        self.targets = Targets(project, training, studies, tables, evaluation, sweeps, self.publication)
        self.costs = Costs(project, training)

    def settings_of(self, stage: str) -> Callable[[Key], Parameter] | None:
        """Return the function that makes the parameter ``cfg`` of a stage; None where its jobs read no settings."""
        if stage in SECTIONS:
            kind, *sections = SECTIONS[stage]
            return lambda key: to_params(job_settings(kind, *(section(self.project, key) for section in sections)))
        found = (getattr(part, f"{stage}_settings", None) for part in vars(self).values())
        settings = next(filter(None, found), None)
        return None if settings is None else lambda key: to_params(settings(key))

    def loaded_by(self, stage: str) -> Callable[[Key], list[str]] | None:
        """Return the function that names what jobs of a stage load by name at run time; None if they load nothing."""
        loaded = LOADED.get(stage)
        return None if loaded is None else partial(loaded, self)


# Stages whose jobs read keys of sections of the configuration and nothing else.
SECTIONS: dict[str, tuple[type[Section], *tuple[Callable[[Project, Key], Section], ...]]] = {
    "make_demo_corpus": (corpora.DemoCorpus, lambda project, key: not_none(project.corpus_section(key).demo)),
    "build_documents": (corpora.DocumentBuilding, Project.corpus_section),
    "find_near_duplicates": (corpora.NearDuplicates, Project.corpus_section),
    "measure_authors": (corpora.AuthorMeasuring, Project.corpus_section),
    "assign_roles": (corpora.RoleAssignment, Project.corpus_section),
    "allocate_texts": (corpora.TextAllocation, Project.experiment, Project.own_corpus),
    "train_tokenizer": (Vocabulary, Project.pretraining),
    "pretrain_base": (ModelTraining, Project.pretraining),
    "train_asce": (StyleEncoder, lambda project, key: project.config.encoders[key.encoder]),
    "make_demo_assistant": (
        corpora.DemoAssistant,
        lambda project, key: not_none(project.config.assistants[key.assistant].demo),
    ),
    "make_schedule": (Scheduling, Project.experiment, lambda project, key: project.experiment(key).federation),
    "drop_withdrawn_clients": (corpora.Withdrawals, Project.experiment),
    "measure_assistant": (Seeds, Project.experiment),
    "measure_bertscore": (BertScoring, Project.experiment, lambda project, key: project.experiment(key).evaluation),
    "measure_utility": (Seeds, Project.experiment),
    "make_2afc_page": (AuditPage, Project.audit),
}
# What jobs of a stage load by name at run time: "module", or "module:name".
LOADED: dict[str, Callable[[Planner, Key], list[str]]] = {
    "build_documents": lambda planner, key: [CORPUS_READERS.entry(planner.config.corpora[key.corpus].reader)],
    "check_corpus": lambda planner, key: [CORPUS_READERS.module(planner.config.corpora[key.corpus].reader)],
    **dict.fromkeys(
        ("certify_encoder", "embed_sources", "embed_generations", "embed_drafts", "embed_transfer"),
        lambda planner, key: [ENCODER_KINDS.entry(planner.config.encoders[key.encoder].kind)],
    ),
    **dict.fromkeys(("train_shared", "aggregate"), lambda planner, key: planner.training.state_code(key)),
    "combine_uploads": lambda planner, key: [planner.training.combination_code(key)],
    "judge": lambda planner, key: [planner.studies.judge_code(key)],
    "score": lambda planner, key: [f"{METRIC_FAMILIES.module(key.family)}:score"],
    **dict.fromkeys(("make_table", "make_sweep_table"), lambda planner, key: planner.tables.code(key.label)),
    "make_excerpts": lambda planner, key: planner.tables.code("qualitative-appendix"),
    "draw_figure": lambda planner, key: [FIGURES.entry(key.figure)],
    "draw_sweep": lambda planner, key: list(map(METRIC_FAMILIES.entry, planner.sweeps.families(key.sweep))),
    "report": lambda planner, key: planner.publication.report_code(),
    # Declarations of metric families say what scores are per client and so not released.
    "release": lambda planner, key: list(map(METRIC_FAMILIES.entry, METRIC_FAMILIES.names())),
}
