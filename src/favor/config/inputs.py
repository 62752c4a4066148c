"""The user's own files and folders that a configuration names."""

from pathlib import Path

from favor.config.configuration import Configuration


def input_paths(config: Configuration) -> list[tuple[str, Path]]:
    """Return the keys of a resolved configuration that name a file or folder to read, each with its path.

    A model's Hugging Face id is none, unless a folder has that name.
    """
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
    paths = [(key, Path(value).expanduser()) for key, value in named.items() if value is not None]
    return [(key, path) for key, path in paths if path.is_absolute() or path.exists()]
