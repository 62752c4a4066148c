"""What a project costs before it is started: jobs, hours, disk and traffic, counted from its planned jobs.

GPU-hours are an ESTIMATE: the operations of all tokens that are trained on, written and read, over the speed that the
configuration states (``cluster.gpu_teraflops``). :mod:`favor.forecast.probe` measures the same tokens on this machine.
"""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from favor.federation.method import PersonalStage, Plan, SharedStage, needs_shared
from favor.federation.ranks import mean_share
from favor.foundation.gguf import read_header
from favor.lm.settings import LanguageModel
from favor.plan import Planner
from favor.plan.costs import NF4_BYTES, OPERATIONS, pass_tokens
from favor.plan.job_settings import not_none
from favor.plan.keys import Key, run_key

GIB = 2**30
MOST_ON_CPU = 1_000_000_000  # parameters; more take minutes to probe on a processor, and nobody trains them there
# Of the paper's imbalance appendix: 904,378 words of 50 clients.
WORDS_OF_A_CLIENT = 904_378 / 50
# Shapes of hub models that the configurations name, so that nothing is fetched.
QWEN_7B = {
    "hidden_size": 3584, "intermediate_size": 18_944, "num_hidden_layers": 28,
    "num_attention_heads": 28, "num_key_value_heads": 4, "vocab_size": 152_064, "tie_word_embeddings": False,
}  # fmt: skip
HUB: dict[str, dict[str, int]] = {
    "Qwen/Qwen2.5-3B-Instruct": {
        "hidden_size": 2048, "intermediate_size": 11_008, "num_hidden_layers": 36,
        "num_attention_heads": 16, "num_key_value_heads": 2, "vocab_size": 151_936, "tie_word_embeddings": True,
    },
    "Qwen/Qwen2.5-7B": QWEN_7B,
    "Qwen/Qwen2.5-7B-Instruct": QWEN_7B,
}  # fmt: skip


def shape_of(model: LanguageModel) -> Any:
    """Return the transformers configuration of a base model; one that is not a folder and not known here is fetched."""
    from transformers import AutoConfig
    from transformers.integrations.ggml import GGUF_CONFIG_MAPPING
    from transformers.models.qwen2 import Qwen2Config

    made = model.pretrain
    if made is not None:
        return Qwen2Config(
            vocab_size=made.vocabulary_size,
            hidden_size=made.hidden_size,
            intermediate_size=made.intermediate_size,
            num_hidden_layers=made.layers,
            num_attention_heads=made.heads,
            num_key_value_heads=made.key_value_heads,
            tie_word_embeddings=True,
        )
    if model.source in HUB:
        return Qwen2Config(**HUB[model.source])
    if model.gguf is not None:
        header = read_header(model.gguf)
        if (architecture := header.architecture) in ("llama", "qwen2"):
            # As transformers reads it, which takes ten seconds over the vocabulary first.
            names = {f"{architecture}.{key}": name for key, name in GGUF_CONFIG_MAPPING[architecture].items() if name}
            given = {"vocab_size": header.shapes["token_embd.weight"][1]}
            given |= {names[key]: value for key, value in header.values.items() if key in names}
            tied = "output.weight" not in header.shapes
            return AutoConfig.for_model(architecture, **given, tie_word_embeddings=tied)
        path = Path(model.gguf)
        found = AutoConfig.from_pretrained(path.parent, gguf_file=path.name)
        found.quantization_config = None
        return found
    return AutoConfig.from_pretrained(model.source)


def device_of(wanted: str) -> str:
    """Return "cuda" or "cpu", where a base model runs on this machine."""
    import torch

    return "cuda" if wanted != "cpu" and torch.cuda.is_available() else "cpu"


class Account:
    """What an experiment trains, keeps and sends, all seeds; what ``outputs_of`` takes from elsewhere counts there.

    ``jobs``: training and generation jobs by rule. ``passes``: passes over one client's text. ``stored``: adapters
    that stay, by kind, and ``uploads`` that do. ``temporary``: those that go again and are on disk at once at most:
    uploads, every track amid a round; those of clients that take part again; those that ``keep_adapters`` does not
    keep. ``up``, ``down``: adapters sent, counted for each row as ``boundary.parquet`` does. What is uploaded or sent
    is counted in adapters of full rank and 32 bits; one LoRA factor alone counts as half an adapter. ``written``: texts
    that are generated.
    """

    def __init__(self, planner: Planner, experiment: str) -> None:
        self.planner, self.training, self.experiment = planner, planner.training, experiment
        self.section = planner.config.experiments[experiment]
        self.jobs: Counter[str] = Counter()
        self.stored: Counter[str] = Counter()
        self.passes = self.uploads = self.temporary = self.up = self.down = 0.0
        self.written = 0
        training = self.training
        tracks = {training.track(run, planted=True) for run in training.planted_runs(experiment)}
        personal: dict[tuple[str, str], Key] = {}
        initial: set[str] = set()
        for run in training.runs(experiment):
            if training.source_run(run) != run:
                continue
            plan, owner = planner.project.plan(run), training.owner(experiment, run.method)
            self._add_generation(run, plan)
            self._add_traffic(run, plan)
            if training.trainer(run) != run:
                continue
            if plan.shared is not None:
                tracks.add(training.track(run))
                initial.add(training.server_adapter(run, 0))
            elif plan.personal is not None and not needs_shared(plan):
                initial.add(training.initial_adapter(run, owner))
            if plan.personal is not None:
                personal.setdefault((run.seed, owner), run)
        for track in sorted(tracks, key=lambda track: (track.seed, track.track)):
            self._add_track(track)
        for run in personal.values():
            self._add_personal(run)
        self.stored["shared adapters"] += len(initial)

    def _add_generation(self, run: Key, plan: Plan) -> None:
        parts = len(self.training.generation_parts(self.experiment))
        if plan.inference == "outputs" or not self.planner.evaluation.is_measured(self.experiment):
            return  # they are made elsewhere, or not at all
        several = {"generate_part": parts, "join_generations": 1}
        self.jobs.update({"generate_prompted": 1} if plan.prompting else {"generate": 1} if parts == 1 else several)
        self.written += self.planner.costs.written_texts(run, self.section.remaining_clients)

    def _add_track(self, track: Key) -> None:
        training = self.training
        stage, schedule = training.stage(track), training.cohorts(track)
        jobs = len(training.shared_jobs(track))
        self.jobs["train_shared"] += jobs
        self.jobs["aggregate_with_memory" if stage.server.moments else "aggregate"] += len(schedule)
        self.passes += _passes(stage, schedule) * max(1, stage.inner_steps)
        beside = sum(training.beside(track, number + 1) for number in range(len(schedule)))
        self.stored["shared adapters"] += len(schedule) + beside
        # A first moment is as large as an adapter; an adaptive server has a second one too.
        if stage.server.moments:
            self.stored["server moments"] += stage.server.moments * len(schedule)
        rounds = [training.round_step(track, number) for number in range(len(schedule))]
        self._add_kept(track, "endpoints", sum(len(training.kept_endpoints(step)) for step in rounds))
        sent = [_uploaded(stage, track, cohort) for cohort in schedule]
        audited, kept = self._is_audited(track), self.planner.config.keep_uploads
        if audited and not kept:
            self.uploads += sum(sent)
            self.jobs["keep_upload"] += jobs
        # A sum and a combination have 64 bits.
        summed = stage.aggregation == "sum_only" or self.section.federation.robust is not None
        total = 2 * _sent_share(stage) if summed else 0.0
        for number, step in enumerate(rounds):
            again = [client for job in training.jobs(step) for client in training.falsified(job)]
            sent[number] += _uploaded(stage, track, again) + total
        if kept:
            self.uploads += sum(sent)
        else:
            # A server that keeps the mean of its members' adapters reads each of them until the next one is there.
            self.temporary += sum(sent) if stage.server.kind == "members" else max(sent)

    def _is_audited(self, track: Key) -> bool:
        """Return whether the privacy audit of any experiment reads the uploads of a track."""
        training = self.training
        for name, section in self.planner.config.experiments.items():
            for row in training.audited_rows(name) if section.studies.privacy is not None else ():
                home = training.trainer(run_key(name, track.seed, row))
                if track in (training.track(home), training.track(home, planted=True)):
                    return True
        return False

    def _add_personal(self, run: Key) -> None:
        training, stage = self.training, not_none(self.planner.project.plan(run).personal)
        phases = [
            [client for job in training.jobs(phase) for client in training.job_clients(job)]
            for phase in training.phases(run)
        ]
        self.jobs["train_personal"] += len(training.personal_jobs(run))
        # Pooled texts are read whole in a pass, but fixed steps are those of one client.
        fixed = self.section.training.steps_per_epoch is not None
        everyone = training.clients(run.experiment)
        self.passes += _passes(stage, [everyone] if stage.start == "pooled" and not fixed else phases)
        last = {client: number for number, phase in enumerate(phases) for client in phase}
        self._add_kept(run, "personal adapters", len(last))
        # Of participations that build on one another the last stays; the one before goes when its next is made.
        waiting: set[str] = set()
        most = 0
        for number, phase in enumerate(phases):
            again = {client for client in phase if last[client] > number}
            most = max(most, len(waiting) + len(again))
            waiting = waiting - set(phase) | again
        self.temporary += most

    def _add_kept(self, run: Key, kind: str, adapters: int) -> None:
        if self.planner.evaluation.keeps_adapters(run.seed):
            self.stored[kind] += adapters
        else:
            self.temporary += adapters

    def _add_traffic(self, run: Key, plan: Plan) -> None:
        training = self.training
        recipients, share = self.planner.records.final_recipients(run, plan), 1.0
        if plan.shared is not None:
            schedule, stage = training.cohorts(run), plan.shared
            taking_part, ranks = [client for cohort in schedule for client in cohort], stage.ranks or ()
            share = _sent_share(stage)
            self.up += _uploaded(stage, run, taking_part)
            self.down += share * len(taking_part) * mean_share(ranks, int(run.seed), taking_part)
            self.down += sum(len(cohort) * training.beside(run, at) for at, cohort in enumerate(schedule))
            share += training.beside(run, len(schedule)) if stage.state is None else 0
            share *= mean_share(ranks, int(run.seed), recipients)
        if plan.personal is not None and plan.personal.start == "pooled":
            self.down += self.section.remaining_clients
        self.down += share * len(recipients)

    def tokens(self) -> dict[str, float]:
        """Return how many tokens the experiment trains on, generates and reads for likelihoods."""
        planner, experiment = self.planner, self.section
        key, costs = Key(experiment=self.experiment), planner.costs
        total = experiment.allocation.total_words
        words = total / experiment.clients if total else WORDS_OF_A_CLIENT
        read = planner.likelihood.own_runs(key) if planner.evaluation.is_measured(self.experiment) else []
        models = sum(map(costs.readers, read)) + bool(read)  # and the base
        return {
            "training": self.passes * pass_tokens(experiment, words, 1),
            "generation": self.written * experiment.generation.max_new_tokens,
            "reading": models * costs.read_tokens(key),
        }


def _sent_share(stage: SharedStage) -> float:
    """Return the share of an adapter that crosses the boundary; a range of layers counts whole."""
    return len(set(stage.trains.factors) & set(stage.uploads.factors)) / 2


def _uploaded(stage: SharedStage, run: Key, clients: Sequence[str]) -> float:
    """Return what ``clients`` upload at one participation each, with the change of a state, in whole adapters."""
    ranked = len(clients) * mean_share(stage.ranks or (), int(run.seed), clients)
    return _sent_share(stage) * ranked * (1 if stage.state is None else 2) * stage.upload_bits / 32


def _passes(stage: SharedStage | PersonalStage, phases: list[list[str]]) -> float:
    """Return passes over a client's text, all participations; ``epochs`` is each client's total where it is spread."""
    clients = len({client for phase in phases for client in phase}) if stage.spread else sum(map(len, phases))
    return clients * not_none(stage.epochs)


def estimate(planner: Planner, only: str | None = None) -> dict[str, Any]:
    """Return what the runs of a project take: jobs by rule, GPU-hours, and GiB sent, stored and asked of a machine.

    ``only``: the one experiment that is run.
    """
    from favor.foundation.tensors import safetensors_bytes
    from favor.lm.lora import state_shapes

    costs, models = planner.costs, planner.config.base_models
    jobs: Counter[str] = Counter()
    stored: Counter[str] = Counter()
    tokens: dict[str, Counter[str]] = {}  # by base model and kind of work
    temporary, up, down = 0.0, 0.0, 0.0
    for name, experiment in planner.config.experiments.items():
        if only not in (None, name):
            continue
        found = Account(planner, name)
        adapter = safetensors_bytes(state_shapes(shape_of(models[experiment.base_model]), experiment.lora))
        tokens.setdefault(experiment.base_model, Counter()).update(found.tokens())
        jobs += found.jobs
        stored.update({kind: count * adapter for kind, count in found.stored.items()})
        stored.update({"uploads": round(found.uploads * adapter)} if found.uploads else {})
        temporary += found.temporary * adapter
        up, down = up + found.up * adapter, down + found.down * adapter
    for name, counted in tokens.items():
        pretrain = models[name].pretrain
        counted["pretraining"] = 0 if pretrain is None else pretrain.tokens
        # Copies in the results: in float32 where a model is made here, and under NF4.
        size = 4 * models[name].made_here + NF4_BYTES * (models[name].quantisation == "nf4")
        stored["base models"] += int(costs.parameters(name) * size)
    operations = sum(
        OPERATIONS[kind] * count * costs.parameters(name)
        for name, counted in tokens.items()
        for kind, count in counted.items()
    )

    def on_gpu(name: str) -> bool:
        """Return whether a GPU of this machine, or of another, trains a base model."""
        return costs.parameters(name) > MOST_ON_CPU or device_of(models[name].device) == "cuda"

    final = sum(stored.values())
    return {
        "jobs": dict(jobs),
        "tokens": {name: dict(counted) for name, counted in tokens.items()},
        "gpu_hours": operations / (planner.config.cluster.gpu_teraflops * 1e12) / 3600,
        "host_memory_gib": costs.largest_memory_mb(on_gpu) * 1e6 / GIB,
        "upload_gib": up / GIB,
        "download_gib": down / GIB,
        "disk_gib": {kind: size / GIB for kind, size in sorted(stored.items())},
        "final_gib": final / GIB,
        "peak_gib": (final + temporary) / GIB,
    }
