"""What all parties of a federation must have in common, and what of it differs where they do not.

An agreement is plain values, made by each party from its own configuration: the resolved plan of one row, its seed and
schedule, how texts are cut and adapters begin. It names no path: where a party keeps its base, encoder and texts is its
own affair. What these files hold is compared by digests.
"""

import json
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from favor.corpora.settings import TextAllocation
from favor.encoders.backbones import resolve_source
from favor.federation.method import PersonalStage, Plan, SharedStage, plan_values
from favor.federation.settings import Federation
from favor.federation.stages import as_arrays
from favor.foundation.errors import UserError
from favor.foundation.names import nearest, printable
from favor.foundation.seeds import derive_seed
from favor.lm.checks import check_folder
from favor.lm.configuration import load_configuration
from favor.lm.lora import initial_state
from favor.lm.settings import LoadedModel, Lora
from favor.plan import Planner
from favor.plan.job_settings import job_settings, to_params
from favor.plan.keys import Key, run_key
from favor.sites.signing import canonical, digest, files_digest, tensors_digest

Agreement = dict[str, Any]
Digests = dict[str, str]
HERE = ("source", "device")  # of a model or an encoder: where a party has it


def chosen_run(planner: Planner, experiment: str | None, method: str, seed: int | None) -> Key:
    """Return the run that a command line names: by default the only experiment, and its first seed."""
    experiments = list(planner.config.experiments)
    if experiment is None and len(experiments) > 1:
        raise UserError(
            f"the configuration has several experiments; name one by --experiment: {', '.join(experiments)}"
        )
    name = experiment or experiments[0]
    if name not in experiments:
        raise UserError(f"there is no experiment '{name}'; {nearest(name, experiments)}")
    return run_key(name, planner.config.experiments[name].seeds[0] if seed is None else seed, method)


def agreement(planner: Planner, run: Key) -> Agreement:
    """Return the agreement about one row under one seed.

    Raises ``UserError`` for a row or seed that is not there, and for what needs a federation in one place.
    """
    planner.project.check_run(run.experiment, run.method, run.seed)
    experiment, plan, training = planner.project.experiment(run), planner.project.plan(run), planner.training
    if experiment.answers:
        raise UserError(
            f"config key 'experiments.{run.experiment}.task': sites train on texts to continue; set continue"
        )
    shared = _federated(run, plan, experiment.federation)
    sampling = shared.sampling
    federation = experiment.federation
    common = federation.initial_adapter == "common"
    aligns = any(stage is not None and stage.objective.alignment > 0 for stage in (plan.shared, plan.personal))
    encoder = planner.project.loaded_encoder(Key(encoder=experiment.style_encoder)) if aligns else None
    agreed = {
        "version": version("favor-workflow"),
        "experiment": run.experiment,
        "row": run.method,
        "seed": int(run.seed),
        "shared": _without_place(to_params(training.common_settings(experiment, shared))),
        "personal": plan.personal and _without_place(to_params(training.common_settings(experiment, plan.personal))),
        "generates": plan_values(plan.generates),
        "clients": training.clients(run.experiment),
        "cohorts": training.rounds(run.experiment, run.seed, sampling),
        "recipients": planner.records.final_recipients(run, plan),
        "initial_seed": int(run.seed) if common else derive_seed(int(run.seed), "initial adapter", shared.track),
        "server": {"learning_rate": federation.server_learning_rate, "robust": federation.robust},
        "splitting": planner.preparation.split_documents_settings(Key(corpus=experiment.corpus)),
        "texts": job_settings(TextAllocation, experiment, planner.project.own_corpus(run)),
        "encoder": encoder and {name: value for name, value in encoder.spec.items() if name not in HERE},
        "threads": planner.config.threads.training,
    }
    return to_params(agreed)


def check_version(agreed: Agreement) -> None:
    """Refuse another version than a federation agreed on. Raises ``UserError``."""
    if agreed["version"] != (here := version("favor-workflow")):
        raise UserError(f"version: {here} here, and the federation agreed on {agreed['version']}; install that one")


def _federated(run: Key, plan: Plan, federation: Federation) -> SharedStage:
    where = f"config key 'experiments.{run.experiment}"
    shared, row = plan.shared, f"methods.{run.method}"
    if shared is None:
        raise UserError(f"{where}.{row}': its clients send nothing to a server; name another row")
    more = "its server sends more than an adapter, which round files do not hold; name another row"
    alone = "'sum_only' stands for cryptography that upload files do not have; set uploads"
    for wrong, key, why in (
        (shared.hands_out_more and shared.state is None, row, more),
        (shared.aggregation == "sum_only", "federation.aggregation", alone),
        (federation.attack, "federation.attack", "attacks are simulated, not made by real sites; leave it out"),
        (federation.answers < 1, "federation.answers", "real sites answer or do not; set 1 and close rounds --without"),
        (federation.ranks is not None, "federation.ranks", "all sites of a round are sent one adapter file; set null"),
    ):
        if wrong:
            raise UserError(f"{where}.{key}': {why}")
    return shared


def _without_place(settings: dict[str, Any]) -> dict[str, Any]:
    model = {name: value for name, value in settings["model"].items() if name not in HERE}
    return {**settings, "model": model}


def stages(agreed: Agreement) -> tuple[SharedStage, PersonalStage | None]:
    """Return the stages of an agreement."""
    personal = agreed["personal"]
    return SharedStage.of(agreed["shared"]["stage"]), personal and PersonalStage.of(personal["stage"])


def differences(own: Any, other: Any, key: str = "") -> Iterator[str]:
    """Yield the values of ``other`` that differ from ``own``, each as "key: own here, other there"."""
    if isinstance(own, dict) and isinstance(other, dict):
        for name in sorted({*own, *other}):
            yield from differences(own.get(name), other.get(name), f"{key}.{name}" if key else name)
    elif own != other:
        yield f"{key}: {_short(own)} here, {_short(other)} there"


def _short(value: Any) -> str:
    text = printable(str(value))
    return text if len(text) < 60 else f"{text[:24]}... ({digest(canonical(value))[:12]})"


def model_digests(folder: str) -> Digests:
    """Return the digests of a base model's weights and of its tokenizer. Raises ``UserError`` for no local folder."""
    place = Path(folder).expanduser()
    if not place.is_dir():
        raise UserError(f"base model '{folder}': not a folder here, so nobody can compare it; set its 'source' to one")
    check_folder(place)
    base = [place / "config.json", *sorted(place.glob("*.safetensors"))]
    tokenizer = [path for path in sorted(place.iterdir()) if path.name in _TOKENIZER]
    return {"base": files_digest(base), "tokenizer": files_digest(tokenizer)}


_TOKENIZER = ("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "chat_template.jinja")


def encoder_digest(planner: Planner, name: str) -> str:
    """Return the digest of an encoder's files. Raises ``UserError`` where one is not here."""
    made = [Path(file) for file in planner.project.encoder_files(Key(encoder=name))]
    if made:
        if missing := [path for path in made if not path.is_file()]:
            raise UserError(f"{missing[0]}: file not found; copy the style encoder '{name}' there, or let it be made")
        return files_digest(made)
    source = Path(resolve_source(str(planner.config.encoders[name].source)))
    if not source.is_dir():
        raise UserError(f"style encoder '{name}': '{source}' is not a folder here; set its 'source' to one")
    return files_digest(
        path for path in sorted(source.rglob("*.*")) if path.suffix in (".json", ".safetensors", ".txt")
    )


def owned_digests(planner: Planner, agreed: Agreement) -> tuple[LoadedModel, dict[str, np.ndarray], Digests]:
    """Return a party's own base model and A_0, and the digests of all that it must have in common with others."""
    section = planner.config.experiments[agreed["experiment"]]
    model = planner.project.loaded_model(section.base_model)
    found = model_digests(model.source)
    if agreed["encoder"] is not None:
        found["encoder"] = encoder_digest(planner, section.style_encoder)
    lora = Lora.model_validate_json(json.dumps(agreed["shared"]["lora"]))
    first = as_arrays(initial_state(load_configuration(model.source), lora, agreed["initial_seed"]))
    return model, first, {**found, "initial adapter": tensors_digest(first)}
