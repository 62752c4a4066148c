"""The resources that jobs request from a scheduler: GPUs, memory, minutes. docs/slurm.md explains the estimates.

They depend on the configuration, on the clients' texts once these exist, and on the attempt. On one machine only the
GPU counts have an effect. ``favor plan`` multiplies the same operations (:mod:`favor.forecast.estimate`).
"""

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from favor.config.experiments import Experiment
from favor.federation.method import POOLED, SharedStage
from favor.foundation.gguf import GgufHeader, read_header
from favor.foundation.section import check_known
from favor.lm.settings import PASS_BYTES, STACK_BYTES
from favor.plan.job_settings import not_none
from favor.plan.keys import Key
from favor.plan.readings import read_length
from favor.plan.training import TrainingComponent
from favor.running.settings import Stage

PRETRAINED_PARAMETERS = 3_000_000_000  # of a base model whose configuration names no number
WIDTHS_SHARE = 0.01 / 16  # inputs and outputs of all projections, to the parameters of a model of 3 billion
NF4_BYTES = 0.75  # per parameter: half a byte of a layer's, two of an embedding's; 0.73 for Qwen2.5-7B, 0.66 for 3B
TOKENS_PER_WORD = 1.5
# MB and minutes of a job: Snakemake's two processes and the libraries of a script; with torch, a tokenizer and what a
# pass on a processor keeps, where work is counted; with a model or an encoder whose work is not counted.
PLAIN, COUNTED, UNCOUNTED = (1500, 30), (3500, 60), (8000, 480)
LIBRARIES_MB = 1000  # of a job on a processor of this machine: 0.5 GB, and what jobs of small models add at most
HEAP = 1.15  # what the C library holds of a processor's memory, to what is in use in it (measured: 1.14)
READ_MB_PER_MB = 8  # a compressed table in memory, a copy or two
STREAMED_MB_PER_MB = 0.5  # a raw corpus, of which memory holds an index (44 bytes per post, measured 0.3 in all)
SAFETY = 3  # on computed durations
SEQUENTIAL = 30  # cost of a generated token per cost of a token that is read
# Per parameter and token. Training runs the forward pass twice, to keep no values of layers, and has fixed weights.
OPERATIONS = {"training": 6, "pretraining": 6, "reading": 2, "generation": 2 * SEQUENTIAL}

# Of wildcards and input: operations per parameter, and MB of adapters beside what the server sends with them.
Work = Callable[[Any, Any], tuple[float, float]]


@dataclass(frozen=True)
class Load:
    """What the jobs of a stage load and compute, by their wildcards.

    ``work``: None where it is not counted; ``model``: the base model that is loaded; ``gpus``: None for those of that
    model; ``streamed``: whether the input is read post by post, not as a whole table.
    """

    work: Work | None = None
    model: Callable[[Any], str | None] = lambda key: None
    gpus: Callable[[Any], int] | None = None
    streamed: bool = False


@cache
def words_by_client(path: str, changed: int) -> dict[str, tuple[int, int]]:
    """Return the (available, allocated) training words of every client, from the table ``allocation``.

    ``changed`` is the file's modification time, used only as a cache key. Returns {} for an unreadable file: sizes are
    estimates, and the job that reads it reports the error.
    """
    # Here, because the workflow reads this module whenever it is parsed.
    from pyarrow import ArrowException
    from pyarrow.parquet import read_table

    try:
        rows = read_table(path, columns=["client", "available_words", "allocated_words"]).to_pylist()
    except (ArrowException, OSError):
        return {}
    return {row["client"]: (row["available_words"], row["allocated_words"]) for row in rows}


def words_of(texts: str, clients: Sequence[str], enforced: bool) -> int:
    """Return the training words of clients; a file of an earlier configuration may lack some of them.

    They are counted in the allocation, which one job writes beside the ``texts``.
    """
    words = words_by_client(os.path.join(os.path.dirname(texts), "allocation.parquet"), os.stat(texts).st_mtime_ns)
    chosen: Iterable[str] = words if list(clients) == [POOLED] else clients
    return sum(words.get(client, (0, 0))[enforced] for client in chosen)


def pass_tokens(experiment: Experiment, words: float, clients: int) -> float:
    """Return the tokens of one pass over the texts of ``clients`` clients, who have ``words`` words together."""
    training = experiment.training
    if training.steps_per_epoch is None:
        return TOKENS_PER_WORD * words
    return training.steps_per_epoch * training.micro_batch * training.accumulation * training.max_length * clients


def tables_mb(files: Iterable[str]) -> float:
    return sum(os.stat(str(path)).st_size for path in files if not str(path).endswith(".safetensors")) / 1e6


class Costs(TrainingComponent):
    """The resources of a project's jobs, by :data:`OPERATIONS` of base models."""

    @cached_property
    def loads(self) -> dict[str, Load]:
        """What the jobs of each stage load. Jobs of a stage that is not named here read tables alone."""
        base, streamed = Load(model=self.base_model), Load(streamed=True)
        adapters = Load(lambda key, files: (0, 6 * self.adapter_mb(key)))
        stylometry = [name for name, encoder in self.config.encoders.items() if encoder.kind == "stylometry"]
        encoder = Load(gpus=lambda key: self._gpu("cpu" if key.encoder in stylometry else "auto"))
        classifier = Load(gpus=lambda key: self._gpu("auto"))
        generation, training = Load(self.generation_work, self.base_model), Load(self._stage_work, self.base_model)
        return {
            **dict.fromkeys(("build_documents", "select_common_prompts", "check_corpus"), streamed),
            "pretrain_base": Load(gpus=lambda key: 0),
            "dequantise_base": Load(model=lambda key: str(key.model), gpus=lambda key: 0),
            "quantise_base": Load(model=lambda key: str(key.model)),
            **dict.fromkeys(("train_asce", "certify_encoder", "embed_sources", "embed_generations"), encoder),
            **dict.fromkeys(("embed_drafts", "embed_transfer"), encoder),
            **dict.fromkeys(("train_assistant", "measure_assistant", "measure_bertscore"), classifier),
            **dict.fromkeys(("train_shared", "train_personal"), training),
            **dict.fromkeys(("sum_uploads", "combine_uploads", "aggregate", "export_adapters"), adapters),
            **dict.fromkeys(("generate", "generate_prompted"), generation),
            "read_likelihoods": Load(self._reading_work, self.base_model),
            **dict.fromkeys(("read_base_likelihoods", "read_validation", "measure_privacy", "make_requests"), base),
            "distil_sheets": Load(model=self.project.sheet_model),
            "judge": Load(model=self._judge_model),
        }

    # Base models and their sizes

    def _gpu(self, device: str | None) -> int:
        return int(self.config.cluster.gpu and device not in (None, "cpu"))

    def base_model(self, key: Key) -> str:
        return self.project.experiment(key).base_model

    def _judge_model(self, key: Key) -> str | None:
        judges = self.project.experiment(key).studies.judges
        return judges.base_model if judges is not None and judges.model == "local" else None

    def _header(self, name: str) -> GgufHeader | None:
        path = self.config.base_models[name].gguf
        return read_header(path) if path is not None and Path(path).is_file() else None

    def parameters(self, name: str) -> int:
        """Return a base model's number of parameters: configured, counted from its shape, or assumed."""
        model, header, shape = self.config.base_models[name], self._header(name), self.config.base_models[name].pretrain
        if model.parameters is not None:
            return model.parameters
        if header is not None:
            return header.parameters
        if shape is None:
            return PRETRAINED_PARAMETERS
        width = shape.hidden_size
        attention = 2 * width**2 * (1 + shape.key_value_heads / shape.heads)
        layer = attention + 3 * width * shape.intermediate_size
        return int(shape.layers * layer + shape.vocabulary_size * width)

    def widths(self, name: str) -> float:
        """Return the summed input and output widths of a base model's projections; adapters are proportional to it."""
        shape, header = self.config.base_models[name].pretrain, self._header(name)
        if header is not None:
            return header.widths
        if shape is None:
            return WIDTHS_SHARE * self.parameters(name)
        width, shared = shape.hidden_size, shape.hidden_size * shape.key_value_heads / shape.heads
        return shape.layers * (9 * width + 2 * shared + 3 * shape.intermediate_size)

    def weights_mb(self, name: str, gpu: int) -> float:
        """Return the host MB of a base model's weights: while they load to a GPU, or throughout on a processor."""
        plain = 2 if gpu else 4
        size = NF4_BYTES if self.config.base_models[name].quantisation == "nf4" else plain
        return self.parameters(name) * size / 1e6

    def adapter_mb(self, key: Key) -> float:
        return 4 * self.project.experiment(key).lora.rank * self.widths(self.base_model(key)) / 1e6

    def _values_mb(self, key: Key, clients: int, gpu: int) -> float:
        """Return the MB that training takes beside the model; a processor stacks some of the clients at a time."""
        adapters = self.adapter_mb(key) * clients
        validation = self.project.experiment(key).training.validation
        best = validation is not None and validation.patience is not None  # the values of every client's best pass
        return 8 * adapters if gpu else min(8 * adapters, (4 + best) * adapters + STACK_BYTES / 1e6)

    def _pass_mb(self, key: Key) -> float:
        """Return the MB that a training pass keeps on a processor: inputs and outputs of projections in float32."""
        training = self.project.experiment(key).training
        each = 4.5 * self.widths(self.base_model(key))
        return max(training.micro_batch * training.max_length * each, min(2048 * each, PASS_BYTES)) / 1e6

    def _beside_mb(self, key: Any) -> float:
        """Return the MB that the server of a track or run sends beside the shared adapter in the last round."""
        if not hasattr(key, "track") and self.project.plan(key).shared is None:
            return 0
        return 3 * self.adapter_mb(key) * self.training.beside(key, self.project.experiment(key).federation.rounds)

    def largest_memory_mb(self, on_gpu: Callable[[str], bool]) -> float:
        """Return the host memory of the largest training job; ``on_gpu``: whether a base model is trained on a GPU."""
        sizes = [0.0]
        for run in (run for name in self.experiments for run in self.training.runs(name)):
            name, gpu = self.base_model(run), on_gpu(self.base_model(run))
            clients = min(self.training.per_job(run), self.project.experiment(run).clients)
            values = self._values_mb(run, clients, gpu)
            used = COUNTED[0] + values if gpu else LIBRARIES_MB + HEAP * (self._pass_mb(run) + values)
            sizes.append(used + self.weights_mb(name, gpu))
        return max(sizes)

    # Work

    def _stage_work(self, key: Key, files: Any) -> tuple[float, float]:
        """Return the work of a stage's job, by the words of its clients in its input ``texts``."""
        experiment, clients = self.project.experiment(key), self.training.job_clients(key)
        stage = self.training.trained_stage(key)
        steps = not_none(stage.epochs) * max(1, stage.inner_steps if isinstance(stage, SharedStage) else 0)
        words = words_of(files.texts, clients, bool(experiment.allocation.enforce))
        operations = OPERATIONS["training"] * steps * pass_tokens(experiment, words, len(clients))
        gpu = self._gpu(self.config.base_models[experiment.base_model].device)
        return operations, self._values_mb(key, len(clients), gpu)

    def prompts_of(self, key: Key) -> int:
        prompts = self.project.experiment(key).prompts
        return prompts.per_client + (0 if prompts.common is None else prompts.common.count)

    def generation_work(self, key: Any, files: Any) -> tuple[float, float]:
        """Return the work of generating for a run's clients, or a part of them; memory holds a batch's adapters."""
        experiment, parts = self.project.experiment(key), self.training.generation_parts(key.experiment)
        clients = len(parts[int(key.part)]) if hasattr(key, "part") else experiment.remaining_clients
        tokens = {"reading": experiment.prompts.prefix_tokens, "generation": experiment.generation.max_new_tokens}
        operations = sum(OPERATIONS[kind] * count for kind, count in tokens.items()) * self.written_texts(key, clients)
        return operations, 3 * self.adapter_mb(key) * min(clients, experiment.generation.rows_per_batch)

    def written_texts(self, run: Key, clients: int) -> int:
        return clients * self.prompts_of(run) * self.project.experiment(run).row_generation(run.method).samples

    def readers(self, run: Key) -> int:
        """Return how many models of a run read: what clients share does once, and the base has read before all runs."""
        plan = self.project.plan(run)
        if plan.inference == "base":
            return 0
        pooled = plan.personal is not None and plan.personal.start == "pooled"
        return 1 if pooled or plan.inference in ("server", "given") else self.project.experiment(run).remaining_clients

    def read_tokens(self, key: Key) -> float:
        """Return the tokens of the texts that one model reads."""
        experiment = self.project.experiment(key)
        section = experiment.evaluation.likelihood
        if section is None:
            return 0
        texts = experiment.remaining_clients * section.texts_per_client + section.neutral_texts
        return texts * (experiment.prompts.prefix_tokens + read_length(experiment))

    def _reading_work(self, key: Key, files: Any) -> tuple[float, float]:
        models = self.readers(key)
        return OPERATIONS["reading"] * models * self.read_tokens(key), 3 * self.adapter_mb(key) * models

    # Resources of a rule

    def resources_for(self, stage: str, rule: str = "") -> dict[str, object]:
        """Return the resources of a rule, in Snakemake's form; ``stage``: its script, ``rule``: another name of it."""
        cluster, load = self.config.cluster, self.loads.get(stage, Load())
        own = cluster.stages.get(rule or stage, cluster.stages.get(stage, Stage()))
        light = load.streamed or stage not in self.loads
        plain_mb, plain_minutes = PLAIN if light else COUNTED if load.work else UNCOUNTED

        def gpu(wildcards: Any) -> int:
            name = load.model(wildcards)
            return load.gpus(wildcards) if load.gpus else self._gpu(name and self.config.base_models[name].device)

        def capped(value: float, attempt: int, limit: int | None) -> int:
            wanted: int = max(1, int(value)) * 2 ** (attempt - 1)
            return wanted if limit is None else min(wanted, limit)

        def mem_mb(wildcards: Any, input: Any, attempt: int) -> int:
            if own.memory_mb is not None:
                return capped(own.memory_mb, attempt, cluster.maximum_memory_mb)
            name, gpus = load.model(wildcards), gpu(wildcards)
            size = plain_mb + (STREAMED_MB_PER_MB if load.streamed else READ_MB_PER_MB) * tables_mb(input)
            size += load.work(wildcards, input)[1] + self._beside_mb(wildcards) if load.work else 0
            # On a processor weights of another type are converted while they load.
            size += self.weights_mb(name, gpus) * (1 if gpus else 2) if name else 0
            return capped(size, attempt, cluster.maximum_memory_mb)

        def runtime(wildcards: Any, input: Any, threads: int, attempt: int) -> int:
            if own.minutes is not None:
                return capped(own.minutes, attempt, cluster.maximum_minutes)
            work = load.work(wildcards, input)[0] if load.work else 0
            operations = work * self.parameters(self.base_model(wildcards)) if work else 0
            speed = cluster.gpu_teraflops if gpu(wildcards) else threads * cluster.cpu_teraflops
            minutes = plain_minutes + SAFETY * operations / (speed * 1e12) / 60
            return capped(minutes, attempt, cluster.maximum_minutes)

        def partition(wildcards: Any) -> str | None:
            general = cluster.gpu_partition if gpu(wildcards) else None
            return own.partition or general or cluster.partition

        return {
            "mem_mb": mem_mb,
            "runtime": runtime,
            "slurm_partition": partition,
            "slurm_account": lambda wildcards: cluster.account,
            "gpu": gpu,
            "gpu_model": lambda wildcards: own.gpu_model or cluster.gpu_model if gpu(wildcards) else None,
            "nodes": 1,
        }

    def check_stages(self, rules: Iterable[str]) -> None:
        """Check the names of rules in section ``cluster``. Raises ``UserError`` naming the nearest rule."""
        names = sorted(rules)
        check_known(self.config.cluster.local, names, "cluster.local", "stage")
        check_known(self.config.cluster.stages, names, "cluster.stages", "stage")
