"""The files and models that a configuration names: which are the user's own, and which this machine lacks."""

import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from favor.config.configuration import Configuration
from favor.encoders.settings import EMBEDDED_MINILM, Encoder
from favor.foundation.declarations import declared_value
from favor.foundation.errors import UserError
from favor.foundation.gguf import read_header
from favor.foundation.registry import ENCODER_KINDS


def hub_cache() -> Path:
    """Return the folder in which Hugging Face libraries keep downloaded models."""
    home = os.environ.get("HF_HOME") or os.path.join(
        os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "huggingface"
    )
    return Path(os.environ.get("HF_HUB_CACHE") or os.path.join(home, "hub"))


def is_here(source: str) -> bool:
    """Return whether a local folder exists, or whether the cache has a snapshot of a Hugging Face id."""
    if source == EMBEDDED_MINILM:
        return True
    folder = Path(source)
    if source.startswith((".", "/", "~")) or folder.is_dir():
        return folder.is_dir()
    snapshots = hub_cache() / f"models--{source.replace('/', '--')}" / "snapshots"
    return any(snapshots.glob("*/*"))


def _is_place(source: str) -> bool:
    """Whether this is a local folder and not a Hugging Face id, which has one part or two."""
    return source.startswith((".", "/", "~")) or "\\" in source or source.count("/") > 1


def sources(encoder: Encoder) -> list[str]:
    """Return what an encoder of the configuration is loaded from.

    Ids or folders of weights and tokenizer, the kind's own where the configuration names none; the folder of one that
    was trained elsewhere.
    """
    given = {**declared_value(ENCODER_KINDS.path(encoder.kind), "DEFAULTS", {}), **encoder.options}
    if encoder.source is not None:
        given["source"] = encoder.source
    return [str(given[name]) for name in ("folder", "source", "tokenizer") if given.get(name)]


def absent_encoders(encoders: Mapping[str, Encoder], places: bool = True) -> dict[str, str]:
    """Return, by name, why an encoder marked ``optional`` is left out: it is not on this machine.

    ``places`` False leaves local folders out, for what may be published. A remote id counts as absent until it is in
    the cache, so that a long run neither waits for the network nor fails on it at its end.
    """
    absent = {}
    for name, encoder in encoders.items():
        missing = [source for source in sources(encoder) if encoder.optional and not is_here(source)]
        shown = [source for source in missing if places or not _is_place(source)]
        if missing:
            where = f" ({', '.join(shown)})" if shown else ""
            absent[name] = f"{encoder.title or name}{where} is not on this machine"
    return absent


def to_fetch(config: Configuration) -> list[str]:
    """Return the Hugging Face ids that the configuration names and the machine lacks, optional encoders aside.

    Raises ``UserError`` where a local folder or GGUF file is named that does not exist, or where the header of such a
    file is wrong: the job that needs it may come at the end.
    """
    wanted = {}
    for name, model in config.base_models.items():
        if model.gguf is not None:
            try:
                read_header(model.gguf)
            except UserError as error:
                raise UserError(f"config key 'base_models.{name}.source': {error}") from None
        elif model.source is not None:
            wanted[f"base_models.{name}.source"] = [model.source]
    for name, encoder in config.encoders.items():
        wanted[f"encoders.{name}"] = [] if encoder.optional else sources(encoder)
    for name, experiment in config.experiments.items():
        wanted[f"experiments.{name}.evaluation.bertscore.model"] = [experiment.evaluation.bertscore.model]
    missing = [(key, source) for key, found in wanted.items() for source in found if not is_here(source)]
    for key, source in missing:
        if source.startswith((".", "/", "~")):
            raise UserError(f"config key '{key}': there is no folder '{source}'; correct the path, or name an id")
    return sorted({source for _, source in missing})


def input_paths(config: Configuration) -> list[tuple[str, Path]]:
    """Return the keys of a resolved configuration that name a file or folder to read, each with its path.

    A model's Hugging Face id is none, unless a folder has that name.
    """
    paths = [(key, Path(value)) for key, value in _inputs(config).items()]
    return [(key, path) for key, path in paths if path.is_absolute() or path.exists()]


def local_paths(config: Configuration) -> set[str]:
    """Return every file and folder of this machine that a resolved configuration names, as it is written there.

    Those of :func:`input_paths`, and what may lie in a results folder: encoders, adapters and outputs made elsewhere.
    """
    found = set(_inputs(config).values())
    for encoder in config.encoders.values():
        found.update(sources(encoder))
    for experiment in config.experiments.values():
        found.update(
            str(row[key]) for row in experiment.methods.values() for key in ("outputs", "adapters") if key in row
        )
    return {path for path in found if Path(path).exists()}


def _inputs(config: Configuration) -> dict[str, str]:
    named = {f"corpora.{name}.path": corpus.path for name, corpus in config.corpora.items()}
    named |= {f"base_models.{name}.source": model.source for name, model in config.base_models.items()}
    named |= {f"encoders.{name}.source": encoder.source for name, encoder in config.encoders.items()}
    for name, assistant in config.assistants.items():
        named |= {f"assistants.{name}.path": assistant.path, f"assistants.{name}.source": assistant.source}
    for name, experiment in config.experiments.items():
        named[f"experiments.{name}.evaluation.bertscore.model"] = experiment.evaluation.bertscore.model
        likelihood = experiment.evaluation.likelihood
        if likelihood is not None and likelihood.neutral != "english":
            named[f"experiments.{name}.evaluation.likelihood.neutral"] = likelihood.neutral
        if (common := experiment.prompts.common) is not None:
            named[f"experiments.{name}.prompts.common.path"] = common.path
        if (audit := experiment.studies.human_2afc) is not None:
            named[f"experiments.{name}.studies.human_2afc.responses"] = audit.responses
    return {key: value for key, value in named.items() if value is not None}


def announce(absent: Iterable[str], to_fetch: Iterable[str]) -> None:
    """Name the optional encoders that are left out (each with its reason), and what jobs will fetch."""
    left_out, fetched = "; ".join(absent), ", ".join(to_fetch)
    if left_out:
        print(
            f"warning: left out: {left_out}. Tables print a dash; fetch ids with 'hf download <id>'.", file=sys.stderr
        )
    if fetched:
        print(
            f"warning: not on this machine, fetched when a job needs them: {fetched}. Without a network then, "
            "fetch them before ('hf download <id>').",
            file=sys.stderr,
        )
