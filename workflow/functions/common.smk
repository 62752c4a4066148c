# Functions that the rules share: the configuration, code fingerprints, paths and the plan of every run.
# Nothing here reads a model or a corpus; a cluster job parses it again.

import os
import sys
from functools import cache, wraps
from pathlib import Path
from types import SimpleNamespace as Namespace

ROOT = Path(workflow.basedir)
SOURCE = ROOT / "src"
SCRIPTS = ROOT / "workflow" / "scripts"

# This file and the scripts import the package from the checkout, whichever environment runs them.
sys.path.insert(0, str(SOURCE))

from favor.encoders.availability import absent_encoders, to_fetch
from favor.federation.method import (
    POOLED,
    load_method,
    needs_shared,
    plan_values,
    row_title,
)
from favor.federation.record import recipe, run_check
from favor.federation.schedule import batches, client_names, cohorts, last_participation
from favor.config.files import check_files
from favor.config.inputs import input_paths
from favor.config.resolve import canonical, resolve
from favor.running.environment import export_source, only_planning
from favor.foundation.errors import UserError
from favor.running.changes import Changes, check_accept
from favor.running.fingerprint import fingerprint, source_code
from favor.running.occupancy import name_results
from favor.running.results_folder import open_results


def stop(error):
    """End the workflow with one line."""
    print(f"\nerror: {error}\n", file=sys.stderr)
    os._exit(1)


def load_row(name, row, overrides, experiment):
    """A row's method; what is wrong with it names the whole key."""
    try:
        return load_method(row, overrides, experiment)
    except UserError as error:
        text = str(error).replace("'methods.", f"'experiments.{name}.methods.")
        raise UserError(text) from None


export_source(SOURCE)

try:
    if workflow.is_main_process:
        check_files(workflow.configfiles)
    CONFIGURATION = resolve(config)
    CONFIG = CONFIGURATION.model_dump(mode="json")
    PLANS = {
        (name, row): load_row(name, row, overrides, experiment)
        for name, experiment in CONFIGURATION.experiments.items()
        for row, overrides in experiment.methods.items()
    }
    TO_FETCH = to_fetch(CONFIGURATION)
    RESULTS = CONFIG["results"]
    check_accept(CONFIG["accept"], {path.stem for path in SCRIPTS.glob("*.py")})
    CHANGES = Changes(Path(RESULTS), source_code(SOURCE), CONFIG["accept"])
    name_results(None if workflow.remote_exec else Path(RESULTS))
    if workflow.is_main_process:
        planning = only_planning(sys.argv[1:])
        open_results(Path(RESULTS), ROOT, input_paths(CONFIGURATION), planning)
except UserError as error:
    stop(error)

EXPERIMENTS = CONFIG["experiments"]
SWEEPS = CONFIG["sweeps"]
ABSENT = absent_encoders(CONFIGURATION.encoders)
if ABSENT and workflow.is_main_process:
    print(
        f"warning: left out: {'; '.join(ABSENT.values())}. Tables print a dash; fetch ids with 'hf download <id>'.",
        file=sys.stderr,
    )


if TO_FETCH and workflow.is_main_process:
    print(
        f"warning: not on this machine, fetched when a job needs them: {', '.join(TO_FETCH)}. Without a network then, "
        "fetch them before ('hf download <id>').",
        file=sys.stderr,
    )


wildcard_constraints:
    corpus="|".join(CONFIG["corpora"]) or "none",
    model="|".join(CONFIG["base_models"]) or "none",
    encoder="|".join(CONFIG["encoders"]) or "none",
    assistant="|".join(CONFIG["assistants"]) or "none",
    experiment="|".join(EXPERIMENTS),
    sweep="|".join(SWEEPS) or "none",
    seed=r"\d+",
    round=r"\d+",
    batch=r"\d+",
    phase=r"last|round\d+",
    track=r"[a-z0-9-]+",
    method=r"(?!shared/)[a-z][a-z0-9_]*",
    family=r"[a-z][a-z0-9_]*",
    label=r"[a-z][a-z0-9_-]*",


def code(script, *modules):
    """Fingerprint of a rule's script and of what it imports; ``modules`` are loaded by name at run time."""
    try:
        return fingerprint(SCRIPTS / f"{script}.py", SOURCE, tuple(modules))
    except UserError as error:
        raise WorkflowError(str(error)) from None


def cfg(**values):
    """The configuration a rule reads, as one canonical dictionary."""
    return canonical(values)


def pick(mapping, *keys):
    """The named keys of a mapping."""
    return {key: mapping[key] for key in keys}


def once_for(*names):
    """Compute a function of wildcards and further arguments once for the values of these wildcards."""

    def decorate(function):
        known = {}

        @wraps(function)
        def looked_up(wildcards, *arguments):
            key = (*(getattr(wildcards, name) for name in names), *arguments)
            if key not in known:
                known[key] = function(wildcards, *arguments)
            return known[key]

        return looked_up

    return decorate


def experiment_of(wildcards):
    return EXPERIMENTS[wildcards.experiment]


def corpus_file(name, file):
    return f"{RESULTS}/corpora/{name}/{file}"


# Base models: either made here or found where the configuration says.


def plain_folder(name):
    """Folder or Hugging Face id that holds a base model as it was pretrained."""
    model = CONFIG["base_models"][name]
    return f"{RESULTS}/models/{name}/base" if model["pretrain"] else model["source"]


def model_folder(name):
    """Folder or Hugging Face id that training and generation load: where it is quantised, the quantised copy."""
    if CONFIG["base_models"][name]["quantisation"] == "none":
        return plain_folder(name)
    return f"{RESULTS}/models/{name}/quantised"


def tokenizer_folder(name):
    """Folder or Hugging Face id that holds a base model's tokenizer."""
    model = CONFIG["base_models"][name]
    return (
        f"{RESULTS}/models/{name}/tokenizer" if model["pretrain"] else model["source"]
    )


def tokenizer_files(name):
    return (
        [f"{tokenizer_folder(name)}/tokenizer.json"]
        if CONFIG["base_models"][name]["pretrain"]
        else []
    )


MODEL_FILES = ("model.safetensors", "config.json", "tokenizer.json")


def plain_files(name):
    """Files of a base model that is made here (none for one that is not)."""
    if not CONFIG["base_models"][name]["pretrain"]:
        return []
    return [f"{plain_folder(name)}/{file}" for file in MODEL_FILES]


def model_files(name):
    """Files a job that loads the base model waits for (none for a model that is used as it is found)."""
    if CONFIG["base_models"][name]["quantisation"] == "none":
        return plain_files(name)
    return [f"{model_folder(name)}/{file}" for file in MODEL_FILES]


def model_settings(name):
    model = CONFIG["base_models"][name]
    return {
        "source": model_folder(name),
        **pick(model, "quantisation", "device", "dtype"),
    }


def asked_model_settings(name):
    """The same for a model that is asked in words."""
    return model_settings(name) | pick(CONFIG["base_models"][name], "chat")


# Encoders


def made_here(name):
    """Whether the workflow trains or fits the encoder."""
    encoder = CONFIG["encoders"][name]
    return encoder["training"] is not None or encoder["fitting"] is not None


def encoder_files(name):
    """Files a job that loads the encoder waits for (none for an encoder that is not trained or fitted here)."""
    if not made_here(name):
        return []
    return [
        f"{RESULTS}/encoders/{name}/{file}"
        for file in ("encoder.safetensors", "encoder.json")
    ]


def encoder_settings(name):
    """What an encoder is, for the jobs that use it (not how it was trained)."""
    encoder = CONFIG["encoders"][name]
    spec = {"kind": encoder["kind"], **encoder["options"]}
    if encoder["training"] is None and encoder["source"] is not None:
        spec["source"] = encoder["source"]
    return {
        "spec": spec,
        "folder": f"{RESULTS}/encoders/{name}" if made_here(name) else None,
    }


def encoder_module(name):
    return f"favor.encoders.kinds.{CONFIG['encoders'][name]['kind']}:load"


def experiment_encoders(name):
    """Encoders whose spaces an experiment is measured in, the style encoder first; absent ones are left out."""
    experiment = EXPERIMENTS[name]
    evaluation = experiment["evaluation"]
    needed = [experiment["style_encoder"], evaluation["semantic_encoder"]]
    for encoder in needed:
        if encoder in ABSENT:
            stop(f"experiment '{name}' needs encoder '{encoder}': {ABSENT[encoder]}")
    wanted = dict.fromkeys([needed[0], *evaluation["encoders"], needed[1]])
    return [encoder for encoder in wanted if encoder not in ABSENT]


def assistant_files(name):
    """Files of a trained assistant classifier."""
    files = (
        "encoder.safetensors",
        "encoder.json",
        "assistant.safetensors",
        "assistant.json",
    )
    return [f"{RESULTS}/assistants/{name}/{file}" for file in files]


def assistant_training(name):
    """How the encoder behind an assistant classifier is trained."""
    classifier = CONFIG["assistants"][name]
    if classifier["source"] is None:
        return classifier["training"]
    return {**classifier["training"], "backbone": classifier["source"]}


def assistant_scores(name):
    """The assistant scores of an experiment's texts, where it has a classifier."""
    classifier = EXPERIMENTS[name]["evaluation"]["assistant"]
    return [] if classifier is None else f"{RESULTS}/{name}/assistant.parquet"


# Corpora and what is trained on them


def raw_corpus(wildcards):
    corpus = CONFIG["corpora"][wildcards.corpus]
    return (
        corpus_file(wildcards.corpus, "raw.csv") if corpus["demo"] else corpus["path"]
    )


def reader_module(wildcards):
    return f"favor.corpora.readers.{CONFIG['corpora'][wildcards.corpus]['reader']}:read"


def background_file(corpus):
    """The background authors of a corpus, where it has any."""
    return (
        [corpus_file(corpus, "background.parquet")]
        if CONFIG["corpora"][corpus]["roles"]["background"]
        else []
    )


def experiment_corpus(wildcards, file):
    return corpus_file(experiment_of(wildcards)["corpus"], file)


def pretraining(wildcards):
    return CONFIG["base_models"][wildcards.model]["pretrain"]


def asce_training(wildcards):
    return CONFIG["encoders"][wildcards.encoder]["training"]


def encoder_corpus(wildcards, file):
    encoder = CONFIG["encoders"][wildcards.encoder]
    return corpus_file((encoder["training"] or encoder["fitting"])["corpus"], file)


def encoders_with(key):
    """Expression that matches the encoders whose configuration has a section."""
    return "|".join(n for n, e in CONFIG["encoders"].items() if e[key]) or "none"
