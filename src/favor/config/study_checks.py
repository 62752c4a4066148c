"""Cross-checks of several experiments: outputs of another, a corpus drawn again, prompting rows, points of a sweep."""

from collections.abc import Iterable, Mapping
from operator import attrgetter
from pathlib import Path

from favor.config.configuration import Configuration
from favor.config.experiments import Experiment
from favor.corpora.settings import Corpus
from favor.encoders.settings import Assistant, Encoder, StyleTraining, StylometryFitting
from favor.federation.settings import Federation
from favor.foundation.names import nearest
from favor.foundation.section import Section, check_known, refuse
from favor.lm.settings import Pretraining

TRANSFER_TABLE = "asce-scale-transfer"

# What no output depends on, and what is compared row by row and seed by seed. Only prompted rows read ``prompting``.
_BESIDE = {"extends", "outputs_of", "title", "seeds", "methods", "prompting"}
_BESIDE |= {"evaluation", "studies", "tables", "figures", "tuned"}
# What an output depends on, the experiment's own keys before those of its bases.
_MAKING = [key for key in {**Experiment.__annotations__, **Experiment.model_fields} if key not in _BESIDE]
# What validation losses depend on, apart from how the adapters were trained.
_VALIDATING = (
    *("corpus", "base_model", "clients", "skip_clients", "withdrawn", "seeds", "prompts.prefix_tokens"),
    *("training.max_length", "training.pieces", "training.supervised", "training.validation.texts_per_client"),
)
# What is about texts to continue.
_OF_TEXTS = (
    *("prompts.common", "evaluation.likelihood", "federation.attack", "studies.privacy"),
    *("studies.human_2afc", "studies.judges", "withdrawn"),
)


def check_outputs_of(name: str, experiments: Mapping[str, Experiment]) -> None:
    """Check that the rows an experiment shares with the one named by ``outputs_of`` are the same runs there.

    Raises ``UserError`` where that experiment is not there, takes its outputs from elsewhere itself, shares no row,
    or made its outputs otherwise.
    """
    experiment, where = experiments[name], f"experiments.{name}.outputs_of"
    archive = experiment.outputs_of
    if archive is None:
        return
    if archive not in experiments or archive == name:
        others = [other for other in experiments if other != name]
        refuse(where, f"there is no other experiment '{archive}'; {nearest(archive, others)}")
    other = experiments[archive]
    if other.outputs_of is not None:
        refuse(where, f"'{archive}' takes its outputs from '{other.outputs_of}'; name that one")
    shared = [row for row in experiment.methods if row in other.methods]
    if not shared:
        refuse(where, f"no row is also one of '{archive}'; remove the key or add such a row")
    if key := _differing(_MAKING, experiment, other):
        refuse(
            where,
            f"'{key}' differs from that of '{archive}', whose outputs were made otherwise; leave it as it is there "
            f"(extends: {archive})",
        )
    absent = [seed for seed in experiment.seeds if seed not in other.seeds]
    if absent:
        refuse(where, f"'{archive}' has no outputs of seed {absent[0]}; leave the seed out")
    if row := _differing_row(shared, experiment, other):
        refuse(where, f"row '{row}' has other settings in '{archive}'; give it another name")


def check_task(where: str, experiment: Experiment) -> None:
    """Refuse what reads, attacks or withdraws texts to continue, where models answer. Raises ``UserError``."""
    if not experiment.answers:
        return
    for key in _OF_TEXTS:
        if attrgetter(key)(experiment):
            remedy = "empty it" if key == "withdrawn" else "set it to null"
            refuse(f"{where}.{key}", f"is about texts to continue, and 'task' is {experiment.task}; {remedy}")


def check_leaving(name: str, experiments: Mapping[str, Experiment]) -> None:
    """Check that the experiment of ``studies.privacy.leaving`` is this one without clients that withdrew there.

    Raises ``UserError`` where there is no such experiment, nobody withdrew there, or anything else differs.
    """
    experiment, where = experiments[name], f"experiments.{name}.studies.privacy.leaving"
    left = None if experiment.studies.privacy is None else experiment.studies.privacy.leaving
    if left is None:
        return
    check_known(left, experiments, where)
    other = experiments[left]
    if not set(other.withdrawn) - set(experiment.withdrawn):
        refuse(where, f"no client of this experiment withdrew in '{left}'; set 'experiments.{left}.withdrawn'")
    if key := _differing([each for each in _MAKING if each != "withdrawn"], experiment, other):
        refuse(where, f"'{key}' differs from that of '{left}'; leave it as it is here (extends: {name})")
    if not set(experiment.seeds) & set(other.seeds):
        refuse(where, f"'{left}' has none of the seeds; give it the first")
    if row := _differing_row(experiment.methods.keys() & other.methods, experiment, other):
        refuse(where, f"row '{row}' has other settings in '{left}'; make them equal")


def check_beside(name: str, experiments: Mapping[str, Experiment]) -> None:
    """Check that the experiment of ``studies.poisoning.beside`` is this one but for its attack and its robust rule.

    Raises ``UserError`` where there is no such experiment, or anything else differs.
    """
    experiment, where = experiments[name], f"experiments.{name}.studies.poisoning"
    if experiment.studies.poisoning is None:
        return
    if experiment.evaluation.likelihood is None:
        refuse(where, "it is read off likelihoods; set 'evaluation.likelihood: {}'")
    beside = experiment.studies.poisoning.beside
    check_known(beside, experiments, f"{where}.beside")
    other = experiments[beside]
    federation = [f"federation.{key}" for key in Federation.model_fields if key not in ("attack", "robust")]
    making = [key for key in _MAKING if key != "federation"]
    if key := _differing([*making, *federation, "evaluation.likelihood"], experiment, other):
        refuse(f"{where}.beside", f"'{key}' differs from that of '{beside}'; leave it as it is there")
    if absent := set(experiment.seeds) - set(other.seeds):
        refuse(f"{where}.beside", f"'{beside}' has no seed {min(absent)}; leave the seed out")
    if row := _differing_row(experiment.methods, experiment, other):
        refuse(f"{where}.beside", f"'{beside}' has no row '{row}' with these settings; add it there")


def check_made_elsewhere(where: str, experiment: Experiment, config: Configuration) -> None:
    """Check that nothing an experiment uses was made on authors of its own source under another corpus entry.

    Two entries of one source give its authors different roles. An author whose posts train an encoder in one may be a
    client in the other, and would be scored by an encoder that has seen its held-out posts. Raises ``UserError``.
    """
    used, evaluation = config.corpora[experiment.corpus], experiment.evaluation
    made: dict[str, StyleTraining | StylometryFitting | Pretraining | Assistant | None] = {}
    for model in filter(None, (experiment.base_model, experiment.prompting.model)):
        made[f"base_models.{model}.pretrain"] = config.base_models[model].pretrain
    for name in filter(None, (experiment.style_encoder, *evaluation.encoders, evaluation.semantic_encoder)):
        made[f"encoders.{name}.training"] = config.encoders[name].training
        made[f"encoders.{name}.fitting"] = config.encoders[name].fitting
    if evaluation.assistant is not None:
        made[f"assistants.{evaluation.assistant}"] = config.assistants[evaluation.assistant]
    for key, making in made.items():
        if making is None or making.corpus == experiment.corpus:
            continue
        if _source(config.corpora[making.corpus]) == _source(used):
            refuse(
                where,
                f"its corpus is '{experiment.corpus}', but {key} reads '{making.corpus}', which gives the same authors "
                f"other roles, so it may hold clients; use one whose corpus is '{experiment.corpus}'",
            )


def _source(corpus: Corpus) -> object:
    return corpus.demo if corpus.path is None else Path(corpus.path).resolve()


def check_choice(where: str, points: Mapping[str, Experiment]) -> None:
    """Check that the validation losses of a sweep's experiments are there, and are losses of the same tokens.

    Raises ``UserError`` where one reads no validation texts, or differs from the first in what is read, and how.
    """
    first = next(iter(points))
    for name, experiment in points.items():
        if experiment.training.validation is None:
            refuse(
                where,
                f"experiment '{name}' reads no validation texts; set experiments.{name}.training.validation: {{}}",
            )
        if key := _differing(_VALIDATING, experiment, points[first]):
            refuse(
                where,
                f"'{key}' of experiment '{name}' differs from that of '{first}', so their validation losses cannot be "
                "compared; make them equal",
            )


def compared_encoders(experiment: Experiment, encoders: Mapping[str, Encoder]) -> list[str]:
    """Return the encoders that a transfer compares: those trained here, apart from the style encoder."""
    named = experiment.evaluation.encoders
    return [name for name in named if encoders[name].training is not None and name != experiment.style_encoder]


def check_transfer(where: str, experiment: Experiment, encoders: Mapping[str, Encoder]) -> None:
    """Check that the table of a transfer has encoders to compare. Raises ``UserError``."""
    if TRANSFER_TABLE in experiment.tables and not compared_encoders(experiment, encoders):
        refuse(
            f"{where}.evaluation.encoders",
            f"table {TRANSFER_TABLE} compares style encoders that are trained here, beside the style encoder; name at "
            "least one",
        )


def check_prompted_outputs(name: str, row: str, experiments: Mapping[str, Experiment]) -> None:
    """Check that a prompting row whose outputs are taken from elsewhere (``outputs_of``) was prompted there alike.

    Only such rows read ``prompting``, so that an experiment may set its own beside trained rows of another. Raises
    ``UserError`` for the first key that differs.
    """
    archive = experiments[name].outputs_of
    if archive is None or row not in experiments[archive].methods:
        return
    own, other = (experiments[one].prompting for one in (name, archive))
    if key := _differing(type(own).model_fields, own, other):
        refuse(
            f"experiments.{name}.prompting.{key}",
            f"{getattr(own, key)!r}, but '{archive}' made the outputs of row '{row}' with {getattr(other, key)!r}; "
            "leave it as there, or give the row another name",
        )


def _differing(keys: Iterable[str], own: Section, other: Section) -> str | None:
    """Return the first of ``keys`` that differs; a key of a nested section is written "training.pieces"."""
    return next((key for key in keys if attrgetter(key)(own) != attrgetter(key)(other)), None)


def _differing_row(rows: Iterable[str], own: Experiment, other: Experiment) -> str | None:
    """Return the first of ``rows`` that ``other`` lacks or has with other settings; titles do not count."""

    def settings(experiment: Experiment, row: str) -> dict[str, object] | None:
        found = experiment.methods.get(row)
        return None if found is None else {**found, "title": None}

    return next((row for row in rows if settings(own, row) != settings(other, row)), None)
