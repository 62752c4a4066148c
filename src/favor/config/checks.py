"""What concerns several sections at once.

Names that must exist elsewhere, impossible combinations, and values that follow from another section. Runs while the
workflow is parsed, once every section is valid by itself, so it reads no model and no corpus.
"""

from collections.abc import Mapping
from pathlib import Path

from favor.config import study_checks
from favor.config.configuration import Configuration
from favor.config.corpora import check_corpus, check_corpus_path, complete_corpus
from favor.config.experiments import RESERVED_ROWS, Experiment
from favor.config.messages import kind_name, quoted
from favor.config.models import PROJECTIONS, check_assistant, check_encoder, check_generation, check_model
from favor.config.protocol import apply_protocol
from favor.encoders.settings import EMBEDDED_MINILM, Encoder
from favor.federation.poisoning import attacker_count
from favor.federation.schedule import client_names
from favor.foundation.declarations import declared_value
from favor.foundation.registry import ENCODER_KINDS, FIGURES, METHODS, ROBUST_RULES, TABLES
from favor.foundation.section import check_known, refuse, set_keys
from favor.lm.configuration import local_configuration
from favor.lm.settings import LanguageModel
from favor.scores.settings import BertScore, Evaluation, Scores

MINILM_LAYERS = 6
# Host memory of a training job grows by up to eight adapters per client, 0.9 GiB at 3 billion parameters and rank 16.
MOST_CLIENTS_PER_JOB = 32
MOST_CLIENTS_GENERATED = 1000  # some minutes of a GPU
ENCODER_ROLES = {"style", "independent", "semantic"}
RESERVED_EXPERIMENTS = {"corpora", "models", "encoders", "assistants", "figures", "logs", "benchmarks", "sweeps"}
# Values beside null with which a key excludes nothing.
UNSET = {"weighting": "uniform", "upload_bits": 32, "aggregation": "uploads", "withdrawn": []}
# Which keys of ``federation`` are refused, beside which others, and why.
EXCLUDED = {
    "weighting": {
        "privacy": "'privacy' weights all uploads alike; set it to uniform",
        "robust": "'robust' counts every upload once, whatever it says of its words; set uniform",
    },
    "upload_bits": {
        "privacy": "rounding makes a clipped upload longer than the clip of 'privacy'; set 32, or drop privacy",
        "aggregation": "every upload has steps of its own, so that whole numbers have no sum; set 32, or drop sum_only",
        "attack": "attackers send a multiple of an update, which whole numbers do not hold; set 32, or drop attack",
        "studies.privacy": "the audit of 'studies.privacy' reads uploads of 32 bits; set 32, or drop the audit",
    },
    "ranks": {
        "privacy": "the server fills up uploads with what no 'privacy' clipped; set null, or drop privacy",
        "aggregation": "uploads of several shapes have no sum; set null, or drop sum_only",
        "robust": "a robust rule compares uploads number by number, which needs one rank; set null, or drop robust",
        "studies.privacy": "the audit of 'studies.privacy' reads uploads of one rank; set null, or drop the audit",
    },
    "robust": {
        "aggregation": "a robust rule reads every upload, which 'aggregation: sum_only' denies it; drop one",
        "privacy": "the noise of 'privacy' covers a mean of clipped uploads and no other rule; drop one",
        "studies.privacy": "the attacks of 'studies.privacy' know of a server's mean alone; drop one",
    },
    "attack": {
        "privacy": "clients clip for 'privacy', and attackers would not; use 'robust: { rule: norm_bound }' instead",
        "withdrawn": "a client that withdraws may be the target of an attack; drop 'withdrawn' or the attack",
        "studies.privacy": "the audit of 'studies.privacy' is of honest clients; drop one",
    },
}


def complete_and_check(config: Configuration) -> None:
    """Fill in place what follows from other sections, and check what concerns several.

    Raises ``UserError`` with one line that names the key, or both sides of an impossible combination.
    """
    _check_results(config)
    _check_reserved(config)
    _complete_corpora(config)
    for name, model in config.base_models.items():
        check_model(model, f"base_models.{name}")
        _check_pretraining(f"base_models.{name}.pretrain", model, config)
    for name, encoder in config.encoders.items():
        _check_encoder(f"encoders.{name}", encoder, config)
    for name, assistant in config.assistants.items():
        check_known(assistant.corpus, config.corpora, f"assistants.{name}.corpus")
        check_assistant(assistant, f"assistants.{name}")
    for name, experiment in config.experiments.items():
        _complete_experiment(experiment, f"experiments.{name}", config)
        _check_experiment(f"experiments.{name}", experiment, config)
        study_checks.check_made_elsewhere(f"experiments.{name}", experiment, config)
        study_checks.check_transfer(f"experiments.{name}", experiment, config.encoders)
        names = client_names(experiment.clients, experiment.skip_clients)
        check_known(experiment.withdrawn, names, f"experiments.{name}.withdrawn")
    for name, experiment in config.experiments.items():
        _check_cold_start(f"experiments.{name}.cold_start", experiment, config.experiments)
    for name, sweep in config.sweeps.items():
        check_known((point.experiment for point in sweep.points), config.experiments, f"sweeps.{name}.points")
        sweep.check(f"sweeps.{name}")
        check_known(sweep.tables, TABLES.names(), f"sweeps.{name}.tables")
        if sweep.choose_by is not None:
            points = dict.fromkeys(point.experiment for point in sweep.points)
            study_checks.check_choice(
                f"sweeps.{name}.choose_by", {point: config.experiments[point] for point in points}
            )
    rows = {row for experiment in config.experiments.values() for row in experiment.methods}
    check_known(config.report.unranked, rows, "report.unranked")
    for name in config.experiments:
        study_checks.check_outputs_of(name, config.experiments)
        study_checks.check_leaving(name, config.experiments)
        study_checks.check_beside(name, config.experiments)


def _check_results(config: Configuration) -> None:
    """Check the name of the results folder; ``favor.running.folder.results_folder`` looks at the folder itself."""
    folder = Path(config.results)
    set_keys(config, results=str(folder))
    wrong = set(config.results) & set("{}*?$") or config.results.startswith("~") or not config.results.isprintable()
    if wrong or folder == folder.parent:
        refuse("results", f"'{config.results}' cannot be a results folder; write it out, without {{, }}, *, ?, $ or ~")


def _check_reserved(config: Configuration) -> None:
    for name in ENCODER_ROLES & config.encoders.keys():
        refuse(f"encoders.{name}", "tables use this name for the role of an encoder; choose another name")
    for name, experiment in config.experiments.items():
        if name in RESERVED_EXPERIMENTS:
            refuse(f"experiments.{name}", "the workflow has a folder of that name; choose another")
        for row in experiment.methods:
            if row in RESERVED_ROWS:
                refuse(f"experiments.{name}.methods.{row}", "the name is taken; choose another")
        if 0 in experiment.seeds:
            refuse(f"experiments.{name}.seeds", "0 stands for scores over all seeds; choose another")


def _complete_corpora(config: Configuration) -> None:
    for name, corpus in config.corpora.items():
        if corpus.demo is not None and corpus.path is not None:
            refuse(
                f"corpora.{name}.path", "the corpus is generated ('demo'), so no file is read; remove one of the two"
            )
    waiting = [name for name, corpus in config.corpora.items() if corpus.path is None and corpus.demo is None]
    sources = [name for name in waiting if config.corpora[name].extends not in waiting]  # others take theirs
    if len(sources) > 1:
        refuse(f"corpora.{sources[0]}.path", f"set it (several corpora have no path: {sources})")
    for name in waiting:
        if config.corpus_path is None:
            refuse(f"corpora.{name}.path", "no path; set it, or add --config corpus_path=/path/of/the/corpus")
        set_keys(config.corpora[name], path=config.corpus_path)
    paths = [corpus.path for corpus in config.corpora.values()]
    if config.corpus_path is not None and config.corpus_path not in paths:
        generated = any(corpus.demo for corpus in config.corpora.values())
        why = "the demo generates its corpus" if generated else "every corpus has a path of its own"
        refuse("corpus_path", f"nothing reads it: {why}; add --configfile config/blogtext.yaml, or leave the path out")
    for name, corpus in config.corpora.items():
        check_corpus_path(corpus, f"corpora.{name}")
    for name, corpus in config.corpora.items():
        complete_corpus(corpus, f"corpora.{name}")
        check_corpus(corpus, f"corpora.{name}")
        if corpus.tokenizer is None:
            experiments = config.experiments.values()
            users = [each.base_model for each in experiments if each.corpus == name]
            transfers = [(each.base_model, each.evaluation.transfer) for each in experiments]
            users += [model for model, transfer in transfers if transfer is not None and transfer.corpus == name]
            set_keys(corpus, tokenizer=users[0] if users else None)
        check_known(corpus.tokenizer, config.base_models, f"corpora.{name}.tokenizer")


def _check_pretraining(where: str, model: LanguageModel, config: Configuration) -> None:
    if model.pretrain is None:
        return
    corpus = model.pretrain.corpus
    check_known(corpus, config.corpora, f"{where}.corpus")
    if config.corpora[corpus].roles.background < 1:
        refuse(
            where, f"corpus '{corpus}' has no background authors; set corpora.{corpus}.roles.background to 1 or more"
        )


def _check_encoder(where: str, encoder: Encoder, config: Configuration) -> None:
    check_known(encoder.kind, ENCODER_KINDS.names(), f"{where}.kind")
    if encoder.fitting is not None:
        check_known(encoder.fitting.corpus, config.corpora, f"{where}.fitting.corpus")
    training = encoder.training
    if training is not None:
        check_known(training.corpus, config.corpora, f"{where}.training.corpus")
    check_encoder(encoder, where)
    _check_options(f"{where}.options", encoder)
    if training is not None:
        available: int = getattr(config.corpora[training.corpus].roles, training.role)
        wanted = training.authors if training.authors is not None else available
        if wanted < 2 or wanted > available:
            refuse(
                f"{where}.training.authors",
                f"{wanted} authors wanted, but corpora.{training.corpus}.roles.{training.role} is {available}; "
                "at least 2 and at most that many are possible",
            )


def _check_options(where: str, encoder: Encoder) -> None:
    """Check options against those that the kind's file declares, if it does: it is loaded after training only."""
    defaults = declared_value(ENCODER_KINDS.path(encoder.kind), "DEFAULTS", {})
    for name, value in encoder.options.items() if defaults else ():
        check_known(name, defaults, where)
        kind = object if defaults[name] is None else type(defaults[name])
        fits = isinstance(value, (int, float) if kind is float else kind)  # a float may be written as an integer
        if not fits or (isinstance(value, bool) and kind in (int, float)):
            refuse(f"{where}.{name}", f"expected {kind_name(kind)}, found {quoted(value)}")
        if name in ("maximum_tokens", "batch_size") and isinstance(value, int) and value < 1:
            refuse(f"{where}.{name}", f"{value} is out of range; it must be at least 1")


def _complete_experiment(experiment: Experiment, where: str, config: Configuration) -> None:
    check_known(experiment.corpus, config.corpora, f"{where}.corpus")
    check_known(experiment.base_model, config.base_models, f"{where}.base_model")
    if experiment.clients is None:
        clients = config.corpora[experiment.corpus].roles.clients
        if clients - experiment.skip_clients < 2:
            refuse(
                f"{where}.skip_clients",
                f"{experiment.skip_clients} of {clients} clients are skipped, but at least 2 must take part; lower it",
            )
        set_keys(experiment, clients=clients - experiment.skip_clients)
    apply_protocol(experiment)
    if experiment.lora.target_modules is None and config.base_models[experiment.base_model].pretrain is not None:
        set_keys(experiment.lora, target_modules=PROJECTIONS)
    for jobs, most in (experiment.federation, MOST_CLIENTS_PER_JOB), (experiment.generation, MOST_CLIENTS_GENERATED):
        per_job = most if jobs.clients_per_job is None else jobs.clients_per_job
        set_keys(jobs, clients_per_job=min(per_job, experiment.clients))
    evaluation = experiment.evaluation
    if evaluation.semantic_encoder is None:
        embedded = [
            name
            for name, encoder in config.encoders.items()
            if encoder.kind == "sentence" and encoder.source == EMBEDDED_MINILM
        ]
        if not embedded:
            refuse(
                f"{where}.evaluation.semantic_encoder", f"no encoder has the source {EMBEDDED_MINILM}; name an encoder"
            )
        set_keys(evaluation, semantic_encoder=embedded[0])


def _check_experiment(where: str, experiment: Experiment, config: Configuration) -> None:
    evaluation = experiment.evaluation
    check_known(experiment.style_encoder, config.encoders, f"{where}.style_encoder")
    check_known(evaluation.encoders, config.encoders, f"{where}.evaluation.encoders")
    check_known(evaluation.semantic_encoder, config.encoders, f"{where}.evaluation.semantic_encoder")
    roster, skipped = config.corpora[experiment.corpus].roles.clients, experiment.skip_clients
    if skipped + experiment.clients > roster:
        after = f" after the first {skipped}" if skipped else ""
        refuse(
            f"{where}.clients",
            f"{experiment.clients} clients{after}, but corpora.{experiment.corpus}.roles.clients is {roster}; "
            "lower the first or raise the second",
        )
    if experiment.remaining_clients < 2:
        refuse(f"{where}.withdrawn", f"{experiment.remaining_clients} clients remain, but at least 2 must; shorten it")
    if experiment.allocation.reference_texts and experiment.allocation.shots is None:
        refuse(f"{where}.allocation.reference_texts", "works only with 'allocation.shots'; set that too")
    _check_federation(f"{where}.federation", experiment)
    model = config.base_models[experiment.base_model]
    context = model.known_context()
    if context is not None:
        experiment.check_context(where, context)
    if model.pretrain is not None:
        experiment.check_projections(where)
    experiment.check_lengths(where)
    study_checks.check_task(where, experiment)
    check_generation(experiment.generation, f"{where}.generation")
    longest, fewest = experiment.generation.max_new_tokens, experiment.generation.minimum_words
    # Where words are those between spaces, each takes a token or more.
    if config.corpora[experiment.corpus].words in ("paper", "unicode") and fewest > longest:
        refuse(f"{where}.generation.minimum_words", f"no output of {longest} tokens has {fewest} words; lower it")
    experiment.check_rows(where, METHODS.names())
    rows = list(experiment.methods)
    if experiment.studies.judges is not None:
        judges, models = experiment.studies.judges, list(config.base_models)
        judges.complete(f"{where}.studies.judges", rows, experiment.base_model, models)
    if experiment.studies.privacy is not None:
        absent = roster - skipped - experiment.clients
        experiment.studies.privacy.complete(f"{where}.studies.privacy", rows, absent)
    check_known(experiment.tables, TABLES.names(), f"{where}.tables")
    check_known(experiment.figures, ["all", *FIGURES.names()], f"{where}.figures")
    check_known(experiment.prompting.model, config.base_models, f"{where}.prompting.model")
    if evaluation.transfer is not None:
        check_known(evaluation.transfer.corpus, config.corpora, f"{where}.evaluation.transfer.corpus")
    check_known(evaluation.assistant, config.assistants, f"{where}.evaluation.assistant")
    _check_bertscore(f"{where}.evaluation.bertscore.layer", evaluation.bertscore)
    _check_scores(f"{where}.evaluation.scores", evaluation, experiment.style_encoder)
    if experiment.studies.human_2afc is not None:
        most = experiment.remaining_clients * experiment.prompts.per_client * len(experiment.seeds)
        experiment.studies.human_2afc.check(f"{where}.studies.human_2afc", rows, most)


def _check_federation(where: str, experiment: Experiment) -> None:
    """Check the rounds, and what does not go together. Raises ``UserError`` that names the key."""
    federation, clients = experiment.federation, experiment.clients
    privacy, ranks, robust, attack = federation.privacy, federation.ranks, federation.robust, federation.attack
    if federation.clients_per_round > clients:
        refuse(
            f"{where}.clients_per_round",
            f"{federation.clients_per_round} clients per round, but only {clients} clients; lower it",
        )
    if privacy is not None and privacy.delta is not None and privacy.delta >= 1 / clients:
        refuse(
            f"{where}.privacy.delta",
            f"{privacy.delta:g} would allow publishing one of {clients} authors whole; set it below 1/{clients}",
        )
    rank = experiment.lora.rank
    if ranks is not None and max(ranks) != rank:
        refuse(
            f"{where}.ranks",
            f"the largest is {max(ranks)}, and the server's adapter has 'lora.rank: {rank}'; make them equal",
        )
    if robust is not None:
        check_known(robust.rule, ROBUST_RULES.names(), f"{where}.robust.rule")
        if robust.rule == "norm_bound" and robust.norm is None:
            refuse(f"{where}.robust.norm", "'norm_bound' scales longer uploads down to it; set it")
    if attack is not None:
        count = attacker_count(clients, attack.share)
        least = 3 if attack.kind == "hijack" else 2  # two to measure, and the target
        if count > clients - least:
            refuse(
                f"{where}.attack.share",
                f"{count} of {clients} clients would attack, but {least} honest ones must be left; lower it",
            )
        if attack.kind == "scale" and attack.factor == 1:
            refuse(f"{where}.attack.factor", "1 leaves the upload as it is; set a larger factor, or a smaller one")
    values = {**vars(federation), "withdrawn": experiment.withdrawn, "studies.privacy": experiment.studies.privacy}
    for key, others in EXCLUDED.items():
        for other, reason in others.items():
            if all(values[each] not in (None, UNSET.get(each)) for each in (key, other)):
                refuse(f"{where}.{key}", reason)


def _check_bertscore(where: str, bertscore: BertScore) -> None:
    """Check the layer against the model's, where it is on this machine: it is loaded after training only."""
    folder = Path(bertscore.model)
    layers = MINILM_LAYERS if bertscore.model == EMBEDDED_MINILM else None
    if (folder / "config.json").is_file():
        layers = local_configuration(folder).num_hidden_layers
    if layers is not None and bertscore.layer > layers:
        refuse(where, f"{bertscore.layer}, but '{bertscore.model}' has {layers} layers; lower it")


def _check_scores(where: str, evaluation: Evaluation, style_encoder: str) -> None:
    spaces = {style_encoder, evaluation.semantic_encoder, *evaluation.encoders}
    for family in Scores.model_fields:
        check_known(getattr(getattr(evaluation.scores, family), "encoders", None), spaces, f"{where}.{family}.encoders")
    # MAUVE depends on its features: one space stands for the text, as one does for the semantic similarity.
    if "encoders" not in evaluation.scores.mauve.model_fields_set:
        set_keys(evaluation.scores.mauve, encoders=[evaluation.semantic_encoder])


def _check_cold_start(where: str, experiment: Experiment, experiments: Mapping[str, Experiment]) -> None:
    start = experiment.cold_start
    if start is None:
        return
    name = start.shared_from
    check_known(name, experiments, f"{where}.shared_from")
    source = experiments[name]
    check_known(start.row, source.methods, f"{where}.row")
    if start.seed is None:
        set_keys(start, seed=source.seeds[0])
    if start.seed not in source.seeds:
        refuse(f"{where}.seed", f"'{name}' has no seed {start.seed}; name one it has")
    for key in ("base_model", "lora", "task"):
        if getattr(experiment, key) != getattr(source, key):
            refuse(f"{where}.shared_from", f"'{name}' has another '{key}'; make them equal")
    both = set(experiment.client_numbers) & set(source.client_numbers)
    if experiment.corpus == source.corpus and both:
        refuse(
            f"{where}.shared_from", f"{len(both)} clients here trained that adapter; leave them out with 'skip_clients'"
        )
