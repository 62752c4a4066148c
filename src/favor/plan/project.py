"""The configuration as the planner uses it: rows with their plans; models, encoders and corpora with their files."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from favor.config.availability import absent_encoders
from favor.config.configuration import Configuration
from favor.config.experiments import Experiment
from favor.config.row_checks import check_rows
from favor.corpora.settings import Corpus
from favor.encoders.settings import LoadedEncoder
from favor.federation.method import Plan
from favor.federation.row_plan import load_method, row_title
from favor.foundation.errors import UserError
from favor.foundation.names import nearest, printable
from favor.foundation.section import refuse
from favor.lm.settings import AskedModel, LoadedModel, Pretraining
from favor.plan.job_settings import job_settings, not_none
from favor.plan.keys import Key
from favor.plan.paths import Paths, Template
from favor.running.invalidation.job_inputs import FOLDER, given_input
from favor.studies.settings import HumanAudit

Inputs = dict[str, str | list[str]]  # of a job, by name


@dataclass(frozen=True)
class Row:
    """One row of an experiment: the module of its method, its plan, and its resolved hyper-parameters."""

    module: str
    plan: Plan
    hyperparameters: dict[str, object]


def unique(files: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(files))


class Project:
    """A resolved configuration, and the rows of its experiments.

    ``root`` is the folder of the checkout. Raises ``UserError`` for rows that cannot be, and for an experiment that
    needs an encoder which is not on this machine.
    """

    def __init__(self, config: Configuration, root: Path) -> None:
        self.config = config
        self.root = root
        self.paths = Paths(config.results)
        self.rows = {
            (name, row): _load_row(name, row, overrides, experiment)
            for name, experiment in config.experiments.items()
            for row, overrides in experiment.methods.items()
        }
        check_rows(config, {key: row.plan for key, row in self.rows.items()})
        self.absent = absent_encoders(config.encoders)
        for name, experiment in config.experiments.items():
            for encoder in (experiment.style_encoder, experiment.evaluation.semantic_encoder):
                if encoder in self.absent:
                    raise UserError(f"experiment '{name}' needs encoder '{encoder}': {self.absent[encoder]}")

    def given(self, path: str) -> str:
        """Return a file or folder of the user as an input. Every such path passes through here."""
        return given_input(path, Path(self.config.results) / FOLDER)

    def given_outputs(self, key: Key) -> str:
        return self.given(self.plan(key).source)

    def experiment(self, key: Key) -> Experiment:
        return self.config.experiments[key.experiment]

    def prompts(self, key: Key) -> list[str]:
        return self.paths.prompts.each(key, seed=self.experiment(key).seeds)

    def audit(self, key: Key) -> HumanAudit:
        return not_none(self.experiment(key).studies.human_2afc)

    def corpus_section(self, key: Key) -> Corpus:
        return self.config.corpora[key.corpus]

    def corpus(self, key: Key) -> str:
        return self.experiment(key).corpus

    def own_corpus(self, key: Key) -> Corpus:
        return self.config.corpora[self.corpus(key)]

    def style_encoder(self, key: Key) -> str:
        return self.experiment(key).style_encoder

    def semantic_encoder(self, key: Key) -> str:
        return self.experiment(key).evaluation.semantic_encoder

    def check_run(self, experiment: str, row: str | None, seed: str | None) -> None:
        methods, seeds = self.config.experiments[experiment].methods, self.config.experiments[experiment].seeds
        if row is not None and row not in methods:
            raise UserError(f"experiment '{experiment}' has no row '{row}'; {nearest(row, methods)}")
        if seed is not None and seed not in map(str, seeds):
            raise UserError(f"experiment '{experiment}' has no seed {seed}; its seeds are {', '.join(map(str, seeds))}")

    def plan(self, key: Key) -> Plan:
        return self.rows[key.experiment, key.method].plan

    def plans(self, experiment: str) -> dict[str, Plan]:
        return {row: self.rows[experiment, row].plan for row in self.config.experiments[experiment].methods}

    def titles(self, experiment: str) -> dict[str, str]:
        methods = self.config.experiments[experiment].methods
        return {row: row_title(row, overrides, self.rows[experiment, row].plan) for row, overrides in methods.items()}

    def track_titles(self) -> dict[str, str]:
        sharing: dict[str, dict[str, None]] = {}
        for experiment in self.config.experiments:
            for row, plan in self.plans(experiment).items():
                if plan.shared is not None:
                    sharing.setdefault(plan.shared.track, {})[self.titles(experiment)[row]] = None
        return {track: f"{track} ({', '.join(titles)})" for track, titles in sharing.items()}

    # Base models: made here, or found where the configuration says.

    def plain_folder(self, name: str) -> str:
        """Return the folder or Hugging Face id of a base model before it is quantised."""
        model = self.config.base_models[name]
        return self.paths.base_folder.of(model=name) if model.made_here else not_none(model.source)

    def model_folder(self, name: str) -> str:
        """Return the folder or id that training and generation load: that of the quantised copy, if there is one."""
        plain = self.config.base_models[name].quantisation == "none"
        return self.plain_folder(name) if plain else self.paths.quantised_folder.of(model=name)

    def tokenizer_folder(self, name: str) -> str:
        model = self.config.base_models[name]
        return self.paths.tokenizer_folder.of(model=name) if model.made_here else self.plain_folder(name)

    def tokenizer_files(self, name: str) -> list[str]:
        """Return the files of a tokenizer that is trained here, or that comes out of a GGUF file."""
        return [self.paths.tokenizer.of(model=name)] if self.config.base_models[name].made_here else []

    def plain_files(self, name: str) -> list[str]:
        files = self.paths.weights(self.paths.base_folder).values()
        return [file.of(model=name) for file in files] if self.config.base_models[name].made_here else []

    def model_files(self, name: str) -> list[str]:
        if self.config.base_models[name].quantisation == "none":
            return self.plain_files(name)
        return [file.of(model=name) for file in self.paths.weights(self.paths.quantised_folder).values()]

    def loaded_model(self, name: str) -> LoadedModel:
        return job_settings(LoadedModel, self.config.base_models[name], source=self.model_folder(name))

    def asked_model(self, name: str) -> AskedModel:
        return job_settings(AskedModel, self.config.base_models[name], source=self.model_folder(name))

    def model_title(self, name: str) -> str:
        """Return the printed name of a base model; never a path of this machine."""
        model = self.config.base_models[name]
        return model.title or (Path(model.source).name if model.source else name)

    def sheet_model(self, key: Key) -> str:
        experiment = self.experiment(key)
        return experiment.prompting.model or experiment.base_model

    def base_files(self, key: Key) -> list[str]:
        return self.model_files(self.experiment(key).base_model)

    def gguf_file(self, key: Key) -> str:
        return self.given(str(Path(not_none(self.config.base_models[key.model].gguf))))

    def models_with(self, origin: str) -> str:
        return alternatives(name for name, model in self.config.base_models.items() if getattr(model, origin))

    def pretraining(self, key: Key) -> Pretraining:
        return not_none(self.config.base_models[key.model].pretrain)

    def pretraining_corpus(self, key: Key) -> str:
        return self.pretraining(key).corpus

    # Encoders and assistant classifiers

    def made_here(self, name: str) -> bool:
        encoder = self.config.encoders[name]
        return encoder.training is not None or encoder.fitting is not None

    def encoder_files(self, key: Key) -> list[str]:
        if not self.made_here(key.encoder):
            return []
        return [self.paths.encoder_weights.of(key), self.paths.encoder_manifest.of(key)]

    def loaded_encoder(self, key: Key) -> LoadedEncoder:
        """Return the settings of an encoder for jobs that use it, without those of its training."""
        encoder = self.config.encoders[key.encoder]
        spec = {"kind": encoder.kind, **encoder.options}
        if encoder.training is None and encoder.source is not None:
            spec["source"] = encoder.source
        folder = self.paths.encoder_folder.of(key) if self.made_here(key.encoder) else None
        return LoadedEncoder(spec=spec, folder=folder)

    def encoder_corpus(self, key: Key) -> str:
        encoder = self.config.encoders[key.encoder]
        return (encoder.training or not_none(encoder.fitting)).corpus

    def encoders_of(self, key: Key) -> list[str]:
        """Return the encoders that measure an experiment, the style encoder first, without absent ones."""
        section = self.experiment(key)
        wanted = [section.style_encoder, *section.evaluation.encoders, section.evaluation.semantic_encoder]
        return [encoder for encoder in dict.fromkeys(wanted) if encoder not in self.absent]

    def independent_encoder(self, experiment: str) -> dict[str, str]:
        """Return the second style encoder, trained on authors of role asce_b, where an experiment has one."""
        for encoder in self.config.experiments[experiment].evaluation.encoders:
            training = self.config.encoders[encoder].training
            if training is not None and training.role == "asce_b":
                return {"independent": encoder}
        return {}

    def encoders_with(self, section: str) -> str:
        return alternatives(name for name, encoder in self.config.encoders.items() if getattr(encoder, section))

    def assistant_texts(self, key: Key) -> str:
        """Return the texts of assistants that a classifier learns from: yours, or generated ones."""
        path = self.config.assistants[key.assistant].path
        return self.paths.assistant_texts.of(key) if path is None else self.given(path)

    def assistant_corpus(self, key: Key) -> str:
        return self.config.assistants[key.assistant].corpus

    # Corpora

    def raw_corpus(self, key: Key) -> str:
        corpus = self.config.corpora[key.corpus]
        return self.paths.raw_corpus.of(key) if corpus.demo else self.given(not_none(corpus.path))

    def corpus_files(self, corpus: Callable[[Key], str], *names: str) -> dict[str, Callable[[Key], str]]:
        """Return the input functions of files of the corpus that a job reads, by their names in :class:`Paths`."""

        def file_of(path: Template) -> Callable[[Key], str]:
            return lambda key: path.of(key, corpus=corpus(key))

        return {name: file_of(getattr(self.paths, name)) for name in names}

    def corpus_paths(self) -> dict[str, tuple[str, str]]:
        return {
            name: (not_none(corpus.path), self.paths.documents.of(corpus=name))
            for name, corpus in self.config.corpora.items()
            if corpus.demo is None
        }

    def background(self, corpus: str) -> list[str]:
        return [self.paths.background.of(corpus=corpus)] if self.config.corpora[corpus].roles.background else []

    def words(self, key: Key) -> str:
        return self.config.corpora[self.experiment(key).corpus].words

    def near_duplicates(self, corpus: str) -> list[str]:
        wanted = self.config.corpora[corpus].near_duplicates is not None
        return [self.paths.near_duplicates.of(corpus=corpus)] if wanted else []

    # Tables of clients as evaluators read them: without those that withdrew

    def _remaining(self, key: Key, table: str) -> str:
        withdrawn = self.experiment(key).withdrawn
        return (self.paths.remaining_table if withdrawn else self.paths.client_table).of(key, table=table)

    def texts(self, key: Key) -> str:
        return self._remaining(key, "texts")

    def allocation(self, key: Key) -> str:
        return self._remaining(key, "allocation")

    def sources(self, key: Key, encoder: str) -> str:
        return self._remaining(key, f"embeddings/{encoder}")

    @cached_property
    def wildcards(self) -> dict[str, str]:
        config = self.config
        return {
            "corpus": alternatives(config.corpora),
            "model": alternatives(config.base_models),
            "encoder": alternatives(config.encoders),
            "assistant": alternatives(config.assistants),
            "experiment": alternatives(config.experiments),
            "sweep": alternatives(config.sweeps),
            "seed": r"\d+",
            "round": r"\d+",
            "batch": r"\d+",
            "phase": r"last|round\d+",
            "track": r"[a-z0-9-]+",
            "method": r"(?!shared/)[a-z][a-z0-9_]*",
            "family": r"[a-z][a-z0-9_]*",
            "label": r"[a-z][a-z0-9_-]*",
        }


@dataclass(eq=False)
class PlannerComponent:
    """A part of the planner, over one project."""

    project: Project

    @property
    def paths(self) -> Paths:
        return self.project.paths

    @property
    def config(self) -> Configuration:
        return self.project.config

    @property
    def experiments(self) -> dict[str, Experiment]:
        return self.project.config.experiments


def alternatives(names: Iterable[str]) -> str:
    """Return the regular expression that matches each of the names, and no other name."""
    return "|".join(names) or "none"


def _load_row(name: str, row: str, overrides: dict[str, object], experiment: Experiment) -> Row:
    try:
        found = Row(*load_method(row, overrides, experiment))
    except UserError as error:
        # What is wrong names the whole key.
        raise UserError(str(error).replace("'methods.", f"'experiments.{name}.methods.")) from None
    kind = found.plan.inference
    if kind in ("outputs", "adapters"):
        path = Path(found.plan.source)
        if not found.plan.source or not (path.is_file() if kind == "outputs" else path.is_dir()):
            where, wanted = f"experiments.{name}.methods.{row}.{kind}", "file" if kind == "outputs" else "folder"
            if not found.plan.source:
                refuse(where, f"name the {wanted}")
            refuse(where, f"{printable(str(path))} is not a {wanted}; correct it")
    return found
