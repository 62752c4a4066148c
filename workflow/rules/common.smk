# Functions that the rules share: the configuration, code fingerprints, paths and the plan of every run.
# Nothing here reads a model or a corpus; a cluster job parses it again.

import os
import sys
from functools import cache
from pathlib import Path
from types import SimpleNamespace as Namespace

ROOT = Path(workflow.basedir)
SOURCE = ROOT / "src"
SCRIPTS = ROOT / "workflow" / "scripts"

# Scripts and this file import the package from the checkout, whichever environment runs them.
os.environ["PYTHONPATH"] = os.pathsep.join(
    filter(None, [str(SOURCE), os.environ.get("PYTHONPATH", "")])
)
sys.path.insert(0, str(SOURCE))

from favor.federation.method import load_method, plan_values, row_title
from favor.federation.schedule import batches, client_names, cohorts, last_participation
from favor.foundation.config import canonical, load_schema, require_writable, resolve
from favor.foundation.errors import UserError
from favor.foundation.fingerprint import fingerprint
from favor.foundation.leftovers import set_aside_truncated


def stop(error):
    """End the workflow with one line."""
    print(f"\nerror: {error}\n", file=sys.stderr)
    os._exit(1)


try:
    CONFIG = resolve(
        config,
        load_schema(ROOT / "workflow" / "schemas" / "config.schema.yaml"),
        SOURCE,
    )
    PLANS = {
        (name, row): load_method(row, overrides, experiment["protocol"])
        for name, experiment in CONFIG["experiments"].items()
        for row, overrides in experiment["methods"].items()
    }
    RESULTS = CONFIG["results"]
    if workflow.is_main_process:
        if not workflow.dryrun:
            require_writable(Path(RESULTS))
        set_aside_truncated(Path(RESULTS), rename=not workflow.dryrun)
except UserError as error:
    stop(error)

EXPERIMENTS = CONFIG["experiments"]


wildcard_constraints:
    corpus="|".join(CONFIG["corpora"]) or "none",
    model="|".join(CONFIG["base_models"]) or "none",
    encoder="|".join(CONFIG["encoders"]) or "none",
    experiment="|".join(EXPERIMENTS),
    seed=r"\d+",
    round=r"\d+",
    batch=r"\d+",
    phase=r"last|round\d+",
    track=r"[a-z0-9-]+",
    method=r"(?!shared$)[a-z][a-z0-9_]*",
    family=r"[a-z][a-z0-9_]*",
    label=r"[a-z][a-z0-9_-]*",


def code(script, *modules):
    """Fingerprint of a rule's script and of what it imports; ``modules`` are loaded by name at run time."""
    try:
        return fingerprint(SCRIPTS / f"{script}.py", SOURCE, tuple(modules))
    except UserError as error:
        stop(error)


def cfg(**values):
    """The configuration a rule reads, as one canonical dictionary."""
    return canonical(values)


def pick(mapping, *keys):
    """The named keys of a mapping."""
    return {key: mapping[key] for key in keys}


def experiment_of(wildcards):
    return EXPERIMENTS[wildcards.experiment]


def corpus_file(name, file):
    return f"{RESULTS}/corpora/{name}/{file}"


# Base models: either made here or found where the configuration says.


def model_folder(name):
    """Folder or Hugging Face id that holds a base model."""
    model = CONFIG["base_models"][name]
    return f"{RESULTS}/models/{name}/base" if model["pretrain"] else model["source"]


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


def model_files(name):
    """Files a job that loads the base model waits for (none for a model that is not made here)."""
    if not CONFIG["base_models"][name]["pretrain"]:
        return []
    return [
        f"{model_folder(name)}/{file}"
        for file in ("model.safetensors", "config.json", "tokenizer.json")
    ]


def model_settings(name):
    model = CONFIG["base_models"][name]
    return {
        "source": model_folder(name),
        **pick(model, "quantisation", "device", "dtype"),
    }


# Encoders


def encoder_files(name):
    """Files a job that loads the encoder waits for (none for an encoder that is not trained here)."""
    if CONFIG["encoders"][name]["training"] is None:
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
        "folder": f"{RESULTS}/encoders/{name}" if encoder["training"] else None,
    }


def encoder_module(name):
    return f"favor.encoders.kinds.{CONFIG['encoders'][name]['kind']}"


def experiment_encoders(name):
    """Encoders whose spaces an experiment is measured in, the style encoder first."""
    experiment = EXPERIMENTS[name]
    return list(
        dict.fromkeys(
            [experiment["style_encoder"], *experiment["evaluation"]["encoders"]]
        )
    )


# Runs: which clients train where, known from the configuration alone.


def plan_of(wildcards):
    return PLANS[wildcards.experiment, wildcards.method][1]


@cache
def rounds_of(name, seed, sampling):
    """Cohorts of an experiment's rounds."""
    experiment = EXPERIMENTS[name]
    federation = experiment["federation"]
    return cohorts(
        int(seed),
        client_names(experiment["clients"]),
        federation["rounds"],
        federation["clients_per_round"],
        sampling,
    )


def stage_of(wildcards):
    """The shared stage behind a track."""
    for (name, _), (_, plan, _) in PLANS.items():
        if (
            name == wildcards.experiment
            and plan.shared is not None
            and plan.shared.track == wildcards.track
        ):
            return plan.shared
    raise WorkflowError(
        f"no method of experiment '{wildcards.experiment}' has the shared track '{wildcards.track}'"
    )


def seed_folder(name, seed):
    return f"{RESULTS}/{name}/seed{seed}"


def track_folder(wildcards, stage):
    return f"{seed_folder(wildcards.experiment, wildcards.seed)}/shared/{stage.track}"


def schedule_file(wildcards, stage):
    return f"{seed_folder(wildcards.experiment, wildcards.seed)}/schedule/{stage.sampling}.parquet"


def server_file(wildcards, stage, round_number):
    """The shared adapter at the start of a round; round 0 is the same for every track of a seed."""
    if int(round_number) == 0:
        return f"{seed_folder(wildcards.experiment, wildcards.seed)}/server/round0/adapter.safetensors"
    return f"{track_folder(wildcards, stage)}/server/round{round_number}/adapter.safetensors"


def per_job(wildcards):
    return experiment_of(wildcards)["federation"]["clients_per_job"]


def upload_files(wildcards, stage, round_number):
    cohort = rounds_of(wildcards.experiment, wildcards.seed, stage.sampling)[
        int(round_number)
    ]
    count = len(batches(cohort, per_job(wildcards)))
    return [
        f"{track_folder(wildcards, stage)}/uploads/round{round_number}/batch{b}.safetensors"
        for b in range(count)
    ]


def endpoint_file(wildcards, stage, client, round_number):
    """The pack that holds a client's shared endpoint of a round."""
    cohort = rounds_of(wildcards.experiment, wildcards.seed, stage.sampling)[
        int(round_number)
    ]
    batch = cohort.index(client) // per_job(wildcards)
    return f"{track_folder(wildcards, stage)}/clients/round{round_number}/batch{batch}.endpoints.safetensors"


def personal_clients(wildcards, plan, phase):
    """Clients of one phase of a personal stage, in the order that is cut into jobs."""
    everyone = client_names(experiment_of(wildcards)["clients"])
    if plan.personal.start == "pooled":
        return ["pooled"]
    if plan.personal.start == "initial":
        return everyone
    rounds = rounds_of(wildcards.experiment, wildcards.seed, plan.shared.sampling)
    if plan.personal.chained:
        return rounds[int(phase.removeprefix("round"))]
    return sorted(last_participation(rounds))


def personal_file(wildcards, method, phase, batch):
    folder = f"{seed_folder(wildcards.experiment, wildcards.seed)}/{method}/clients"
    return f"{folder}/{phase}/batch{batch}.safetensors"


def personal_pack_of(wildcards, method, plan, client, phase):
    batch = personal_clients(wildcards, plan, phase).index(client) // per_job(wildcards)
    return personal_file(wildcards, method, phase, batch)


def runs_of(name):
    """(seed, method) of every run of an experiment."""
    experiment = EXPERIMENTS[name]
    return [
        (seed, method)
        for seed in experiment["seeds"]
        for method in experiment["methods"]
    ]


def personal_phases(wildcards, plan):
    """The phases of a personal stage: one a round where participations build on one another, else the last alone."""
    if not plan.personal.chained:
        return ["last"]
    return [
        f"round{number}"
        for number in range(experiment_of(wildcards)["federation"]["rounds"])
    ]


def titles_of(name):
    """Printed names of an experiment's rows, where they are not the paper's own."""
    return {
        row: row_title(row, overrides, PLANS[name, row][1])
        for row, overrides in EXPERIMENTS[name]["methods"].items()
        if row_title(row, overrides, PLANS[name, row][1]) != PLANS[name, row][1].display
    }
