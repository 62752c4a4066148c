"""What no schema can say of a configuration: names that must exist elsewhere in it, and combinations that cannot be.

Runs while the workflow is parsed, after the schema's own checks, so it reads no model and no corpus.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from favor.config.declarations import declared, declared_kinds
from favor.config.protocol import apply_protocol
from favor.config.study_checks import check_outputs_of
from favor.foundation.errors import UserError
from favor.foundation.names import nearest

EMBEDDED_MINILM = "embedded-minilm"
# Of the Qwen2 models that are pretrained here.
PRETRAINED_PROJECTIONS = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")
COLLABORATIVE = ("fedavg", "fedprox", "pfedme", "ditto", "feddpa", "favor")  # the paper's collaborative methods
RESERVED_EXPERIMENTS = {"corpora", "models", "encoders", "assistants", "figures", "logs", "benchmarks", "sweeps"}
RESERVED_ROWS = {"shared", "server", "schedule", "gold", "shuffled"}


def modules_in(folder: Path) -> list[str]:
    """Return the names of the plug-in modules in ``folder``."""
    return sorted(path.stem for path in folder.glob("*.py") if not path.stem.startswith("_"))


def cross_check(config: dict[str, Any], source_root: Path) -> None:
    """Check a completed configuration in place against the package in ``source_root``, and fill what follows from it.

    Raises ``UserError`` with one line that names the key, or both sides of an impossible combination.
    """
    config["results"] = str(Path(config["results"]).expanduser())
    if config["results"] == "." or set(config["results"]) & set("{}*?"):
        raise UserError(f"config key 'results': '{config['results']}' cannot be a results folder; name another")
    for name, experiment in config["experiments"].items():
        if name in RESERVED_EXPERIMENTS:
            raise UserError(f"config key 'experiments.{name}': the workflow has a folder of that name; choose another")
        for row in experiment["methods"]:
            if row in RESERVED_ROWS:
                raise UserError(f"config key 'experiments.{name}.methods.{row}': the name is taken; choose another")
    _fill_corpus_path(config)
    package = source_root / "favor"
    for name, corpus in config["corpora"].items():
        _known(corpus["reader"], modules_in(package / "corpora" / "readers"), f"corpora.{name}.reader")
        try:
            re.compile(corpus["word_pattern"])
            codecs.lookup(corpus["encoding"])
        except re.error as error:
            raise UserError(f"config key 'corpora.{name}.word_pattern': no regular expression ({error})") from None
        except LookupError as error:
            raise UserError(f"config key 'corpora.{name}.encoding': {error}") from None
        _check_shape(f"corpora.{name}", corpus)
        _check_columns(f"corpora.{name}", corpus)
        if corpus["tokenizer"] is None:
            users = [e["base_model"] for e in config["experiments"].values() if e["corpus"] == name]
            users += [e["base_model"] for e in config["experiments"].values() if _transfer_corpus(e) == name]
            corpus["tokenizer"] = users[0] if users else None
        if corpus["tokenizer"] is not None:
            _known(corpus["tokenizer"], config["base_models"], f"corpora.{name}.tokenizer")
    for name, model in config["base_models"].items():
        where = f"base_models.{name}"
        if (model["source"] is None) == (model["pretrain"] is None):
            raise UserError(f"config key '{where}': give either 'source' or 'pretrain'")
        if model["source"] is not None and model["source"].startswith((".", "/", "~")):
            folder = Path(model["source"]).expanduser()
            if not (folder / "config.json").is_file():
                raise UserError(
                    f"config key '{where}.source': no model in {folder} (config.json is missing); correct it"
                )
        if model["pretrain"] is not None:
            corpus_name = model["pretrain"]["corpus"]
            _known(corpus_name, config["corpora"], f"{where}.pretrain.corpus")
            if config["corpora"][corpus_name]["roles"]["background"] < 1:
                raise UserError(
                    f"config key '{where}.pretrain': corpus '{corpus_name}' has no background authors; "
                    f"set corpora.{corpus_name}.roles.background to 1 or more"
                )
            if model["pretrain"]["hidden_size"] % model["pretrain"]["heads"]:
                raise UserError(f"config key '{where}.pretrain.hidden_size': not a multiple of 'heads'")
            if model["pretrain"]["heads"] % model["pretrain"]["key_value_heads"]:
                raise UserError(f"config key '{where}.pretrain.heads': not a multiple of 'key_value_heads'")
    for name, encoder in config["encoders"].items():
        _cross_check_encoder(name, encoder, config, package)
    for name, assistant in config["assistants"].items():
        _cross_check_assistant(f"assistants.{name}", assistant, config)
    for name, experiment in config["experiments"].items():
        _cross_check_experiment(name, experiment, config, package)
    for name, experiment in config["experiments"].items():
        if experiment["cold_start"] is not None:
            _cross_check_cold_start(f"experiments.{name}.cold_start", experiment, config["experiments"])
    for name, sweep in config["sweeps"].items():
        _cross_check_sweep(f"sweeps.{name}", sweep, config["experiments"], package)
    for name in config["experiments"]:
        check_outputs_of(name, config["experiments"])


def _cross_check_cold_start(where: str, experiment: dict[str, Any], experiments: Mapping[str, Any]) -> None:
    start = experiment["cold_start"]
    name = start["shared_from"]
    _known(name, experiments, f"{where}.shared_from")
    source = experiments[name]
    _known(start["row"], source["methods"], f"{where}.row")
    if start["seed"] is None:
        start["seed"] = source["seeds"][0]
    if start["seed"] not in source["seeds"]:
        raise UserError(f"config key '{where}.seed': '{name}' has no seed {start['seed']}; name one it has")
    for key in ("base_model", "lora"):
        if experiment[key] != source[key]:
            raise UserError(f"config key '{where}.shared_from': '{name}' has another '{key}'; make them equal")
    own, others = (set(_client_numbers(one)) for one in (experiment, source))
    if experiment["corpus"] == source["corpus"] and own & others:
        raise UserError(
            f"config key '{where}.shared_from': {len(own & others)} clients here trained that adapter; leave them out "
            "with 'skip_clients'"
        )


def _client_numbers(experiment: Mapping[str, Any]) -> range:
    return range(experiment["skip_clients"], experiment["skip_clients"] + experiment["clients"])


def _cross_check_sweep(where: str, sweep: dict[str, Any], experiments: Mapping[str, Any], package: Path) -> None:
    for point in sweep["points"]:
        _known(point["experiment"], experiments, f"{where}.points")
    labels = [point["label"] for point in sweep["points"]]
    if len(set(labels)) < len(labels):
        raise UserError(f"config key '{where}.points': two points have one label; give each its own")
    _known_tables(sweep["tables"], f"{where}.tables", package)
    if sweep["figure"] and not sweep["tables"]:
        raise UserError(f"config key '{where}.figure': a figure draws what the sweep's tables score; name a table")


def _known_tables(labels: Iterable[str], where: str, package: Path) -> None:
    # A table's file carries its label with underscores for hyphens.
    tables = set(modules_in(package / "report" / "tables"))
    for label in labels:
        if label.replace("-", "_") not in tables:
            _known(label, tables, where)


def _fill_corpus_path(config: dict[str, Any]) -> None:
    waiting = [name for name, corpus in config["corpora"].items() if corpus["path"] is None and corpus["demo"] is None]
    if len(waiting) > 1:
        raise UserError(f"config key 'corpora.{waiting[0]}.path': set it (several corpora have no path: {waiting})")
    for name in waiting:
        if config["corpus_path"] is None:
            raise UserError(
                f"config key 'corpora.{name}.path': no path; set it, or add --config corpus_path=/path/of/the/corpus"
            )
        config["corpora"][name]["path"] = config["corpus_path"]
    for name, corpus in config["corpora"].items():
        if corpus["demo"] is None and not Path(corpus["path"]).exists():
            raise UserError(f"config key 'corpora.{name}.path': {corpus['path']} does not exist; correct the path")


def _transfer_corpus(experiment: Mapping[str, Any]) -> str | None:
    transfer = experiment["evaluation"]["transfer"]
    return transfer["corpus"] if transfer else None


def _check_shape(where: str, corpus: Mapping[str, Any]) -> None:
    readers = {"blog": "blog_csv", "mythos": "mythos"}
    wanted = readers[corpus["demo"]["shape"]] if corpus["demo"] else ""
    if wanted and corpus["reader"] in readers.values() and corpus["reader"] != wanted:
        raise UserError(
            f"config key '{where}.reader': '{corpus['reader']}' cannot read a generated corpus of shape "
            f"'{corpus['demo']['shape']}'; set it to {wanted}"
        )


def _check_columns(where: str, corpus: Mapping[str, Any]) -> None:
    named = sorted(corpus["columns"].items())
    for position, (role, column) in enumerate(named):
        for other, taken in named[:position]:
            if column == taken:
                raise UserError(
                    f"config key '{where}.columns': '{column}' is both {other} and {role}; name a column for each"
                )


def _cross_check_encoder(name: str, encoder: dict[str, Any], config: dict[str, Any], package: Path) -> None:
    where = f"encoders.{name}"
    _known(encoder["kind"], modules_in(package / "encoders" / "kinds"), f"{where}.kind")
    training = encoder["training"]
    for kind, key in (("asce", "training"), ("stylometry", "fitting")):
        made_here = encoder["kind"] == kind and "folder" not in encoder["options"]
        if made_here != (encoder[key] is not None):
            raise UserError(
                f"config key '{where}.{key}': an encoder of kind {kind} needs it unless options.folder names one made "
                "elsewhere, and no other kind has it"
            )
    if encoder["fitting"] is not None:
        _known(encoder["fitting"]["corpus"], config["corpora"], f"{where}.fitting.corpus")
    if training is None:
        return
    _known(training["corpus"], config["corpora"], f"{where}.training.corpus")
    if (encoder["source"] is None) == (training["small"] is None):
        raise UserError(f"config key '{where}': give either 'source' or 'training.small' as the backbone")
    available = config["corpora"][training["corpus"]]["roles"][training["role"]]
    wanted = training["authors"] if training["authors"] is not None else available
    if wanted < 2 or wanted > available:
        raise UserError(
            f"config key '{where}.training.authors': {wanted} authors wanted, but corpora.{training['corpus']}.roles."
            f"{training['role']} is {available}; at least 2 and at most that many are possible"
        )


def _cross_check_assistant(where: str, assistant: dict[str, Any], config: dict[str, Any]) -> None:
    _known(assistant["corpus"], config["corpora"], f"{where}.corpus")
    if (assistant["path"] is None) == (assistant["demo"] is None):
        raise UserError(f"config key '{where}': give either 'path' (assistant texts) or 'demo'")
    if assistant["path"] is not None and not Path(assistant["path"]).exists():
        raise UserError(f"config key '{where}.path': {assistant['path']} does not exist; correct the path")
    if (assistant["source"] is None) == (assistant["training"]["small"] is None):
        raise UserError(f"config key '{where}': give either 'source' or 'training.small' as the backbone")


def _cross_check_experiment(name: str, experiment: dict[str, Any], config: dict[str, Any], package: Path) -> None:
    where = f"experiments.{name}"
    _known(experiment["corpus"], config["corpora"], f"{where}.corpus")
    _known(experiment["base_model"], config["base_models"], f"{where}.base_model")
    evaluation = experiment["evaluation"]
    for key, encoder in _encoder_keys(experiment):
        _known(encoder, config["encoders"], f"{where}.{key}")
    roster = config["corpora"][experiment["corpus"]]["roles"]["clients"]
    skipped = experiment["skip_clients"]
    if experiment["clients"] is None:
        experiment["clients"] = max(1, roster - skipped)
    if skipped + experiment["clients"] > roster:
        after = f" after the first {skipped}" if skipped else ""
        raise UserError(
            f"config key '{where}.clients': {experiment['clients']} clients{after}, but corpora.{experiment['corpus']}."
            f"roles.clients is {roster}; lower the first or raise the second"
        )
    if experiment["allocation"]["reference_texts"] and experiment["allocation"]["shots"] is None:
        raise UserError(
            f"config key '{where}.allocation.reference_texts': set aside beside 'allocation.shots' only; set that too"
        )
    apply_protocol(experiment)
    cohort = experiment["federation"]["clients_per_round"]
    if cohort > experiment["clients"]:
        raise UserError(
            f"config key '{where}.federation.clients_per_round': {cohort} clients a round, but only "
            f"{experiment['clients']} clients; lower it"
        )
    per_job = experiment["federation"]["clients_per_job"]
    if per_job is None or per_job > experiment["clients"]:
        experiment["federation"]["clients_per_job"] = experiment["clients"]
    pretrain = config["base_models"][experiment["base_model"]]["pretrain"]
    if pretrain is not None:
        _check_context(where, experiment, pretrain["context_length"])
        for module in experiment["lora"]["target_modules"]:
            _known(module, PRETRAINED_PROJECTIONS, f"{where}.lora.target_modules")
    golds, new = experiment["prompts"]["minimum_gold_tokens"], experiment["generation"]["max_new_tokens"]
    if golds > new:
        raise UserError(
            f"config key '{where}.prompts.minimum_gold_tokens': {golds} tokens, but continuations have "
            f"{new} at most (generation.max_new_tokens); lower the first or raise the second"
        )
    if experiment["prompts"]["prefix_tokens"] >= experiment["training"]["max_length"]:
        raise UserError(
            f"config key '{where}.training.max_length': {experiment['training']['max_length']} tokens leave nothing "
            f"to learn after a prefix of {experiment['prompts']['prefix_tokens']}; raise it"
        )
    methods = modules_in(package / "federation" / "methods")
    for row, overrides in experiment["methods"].items():
        _known(overrides.get("method", row), methods, f"{where}.methods.{row}")
    _cross_check_judges(f"{where}.studies.judges", experiment, config)
    _known_tables(experiment["tables"], f"{where}.tables", package)
    if evaluation["semantic_encoder"] is None:
        evaluation["semantic_encoder"] = next(
            (
                key
                for key, encoder in config["encoders"].items()
                if encoder["kind"] == "sentence" and encoder["source"] == EMBEDDED_MINILM
            ),
            None,
        )
    if experiment["prompting"]["model"] is not None:
        _known(experiment["prompting"]["model"], config["base_models"], f"{where}.prompting.model")
    if evaluation["transfer"] is not None:
        _known(evaluation["transfer"]["corpus"], config["corpora"], f"{where}.evaluation.transfer.corpus")
    if evaluation["assistant"] is not None:
        _known(evaluation["assistant"], config["assistants"], f"{where}.evaluation.assistant")
    if evaluation["semantic_encoder"] is None:
        raise UserError(
            f"config key '{where}.evaluation.semantic_encoder': no encoder has the source {EMBEDDED_MINILM}; name one"
        )
    _cross_check_scores(f"{where}.evaluation.scores", evaluation, package / "scores")
    if experiment["studies"]["human_2afc"] is not None:
        _cross_check_human_2afc(f"{where}.studies.human_2afc", experiment)


def _cross_check_judges(where: str, experiment: dict[str, Any], config: dict[str, Any]) -> None:
    judges = experiment["studies"]["judges"]
    if judges is None:
        return
    rows = experiment["methods"]
    if judges["methods"] is None:
        judges["methods"] = [row for row in COLLABORATIVE if row in rows]
    if judges["voice"] is not None and len(set(judges["voice"])) != 2:
        raise UserError(f"config key '{where}.voice': name two rows, or set it to null")
    for key in ("methods", "voice"):
        for row in judges[key] or ():
            _known(row, rows, f"{where}.{key}")
    if "favor" not in judges["methods"] or len(set(judges["methods"])) < 2:
        raise UserError(f"config key '{where}.methods': ratings compare row 'favor' with others; name it and another")
    if judges["base_model"] is None:
        judges["base_model"] = experiment["base_model"]
    _known(judges["base_model"], config["base_models"], f"{where}.base_model")


def _cross_check_scores(where: str, evaluation: dict[str, Any], folder: Path) -> None:
    for family, settings in evaluation["scores"].items():
        families = [name for name in modules_in(folder) if declared(folder / f"{name}.py", "METRICS") is not None]
        _known(family, families, where)
        kinds = declared_kinds(folder / f"{family}.py", "DEFAULTS")
        for name, value in settings.items():
            _known(name, kinds, f"{where}.{family}")
            kind = kinds[name]
            if kind is not None and not (isinstance(value, kind) or (kind is float and isinstance(value, int))):
                raise UserError(f"config key '{where}.{family}.{name}': expected {kind.__name__}, found {value!r}")
    # MAUVE depends on its features: one space stands for the text, as one does for the semantic similarity.
    evaluation["scores"].setdefault("mauve", {}).setdefault("encoders", [evaluation["semantic_encoder"]])


def _cross_check_human_2afc(where: str, experiment: Mapping[str, Any]) -> None:
    audit = experiment["studies"]["human_2afc"]
    for method in audit["methods"]:
        _known(method, experiment["methods"], f"{where}.methods")
    generated = audit["items"] - audit["human_items"]
    if generated < len(audit["methods"]) or generated % len(audit["methods"]):
        raise UserError(
            f"config key '{where}.items': {audit['items']} items less {audit['human_items']} human ones cannot be "
            f"shared equally by {len(audit['methods'])} methods; change one of them"
        )
    if audit["responses"] is not None:
        audit["responses"] = str(Path(audit["responses"]).expanduser())
        if not Path(audit["responses"]).is_dir():
            raise UserError(
                f"config key '{where}.responses': no folder {audit['responses']}; make it or correct the path"
            )


def _encoder_keys(experiment: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield "style_encoder", experiment["style_encoder"]
    for encoder in experiment["evaluation"]["encoders"]:
        yield "evaluation.encoders", encoder
    if experiment["evaluation"]["semantic_encoder"] is not None:
        yield "evaluation.semantic_encoder", experiment["evaluation"]["semantic_encoder"]


def _check_context(where: str, experiment: Mapping[str, Any], context: int) -> None:
    prefix = experiment["prompts"]["prefix_tokens"]
    new = experiment["generation"]["max_new_tokens"]
    if prefix >= context:
        raise UserError(
            f"config key '{where}.prompts.prefix_tokens': a prefix of {prefix} tokens does not fit the model's context "
            f"of {context}; shorten it or raise base_models.{experiment['base_model']}.pretrain.context_length"
        )
    if prefix + new > context:
        raise UserError(
            f"config key '{where}.generation.max_new_tokens': a prefix of {prefix} and {new} new tokens exceed the "
            f"model's context of {context}; lower one of them"
        )
    if experiment["training"]["max_length"] > context:
        raise UserError(
            f"config key '{where}.training.max_length': {experiment['training']['max_length']} tokens exceed the "
            f"model's context of {context}; lower it"
        )


def _known(name: str, valid: Iterable[str], where: str) -> None:
    if name not in valid:
        raise UserError(f"config key '{where}': there is no '{name}'; {nearest(name, valid)}")
