"""What a job asks of a scheduler before its retries: GPUs, memory, minutes. docs/slurm.md explains the estimates.

Functions of the configuration, of the clients' texts once they are there, and of the attempt. On one machine only the
GPU counts have an effect.
"""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from favor.config.experiments import Experiment
from favor.federation.method import POOLED, PersonalStage, SharedStage
from favor.foundation.errors import UserError
from favor.foundation.gguf import read_header
from favor.foundation.names import nearest
from favor.lm.settings import PASS_BYTES, STACK_BYTES
from favor.plan.job_settings import not_none
from favor.plan.keys import Key
from favor.plan.likelihood import read_length
from favor.plan.project import PlannerComponent
from favor.plan.training import Training
from favor.running.settings import Cluster

PRETRAINED_PARAMETERS = 3_000_000_000  # of a base model whose configuration names no number
WIDTHS_SHARE = 0.01 / 16  # inputs and outputs of all projections, to the parameters of a model of 3 billion
TOKENS_PER_WORD = 1.5
PLAIN_MB = 1500  # Snakemake's two processes of a job and the libraries of a script
MODEL_MB = 3500  # with torch and a tokenizer, and what a pass on a processor keeps
LIBRARIES_MB = 1000  # of a job on a processor of this machine: 0.5 GB, and what jobs of small models add at most
UNCOUNTED_MB = 8000  # of a job with a model or an encoder whose work is not counted
READ_MB_PER_MB = 8  # a compressed table in memory, a copy or two
STREAMED_MB_PER_MB = 0.5  # a raw corpus, of which memory holds an index (44 bytes per post, measured 0.3 in all)
PLAIN_MINUTES = 30
MODEL_MINUTES = 60
UNCOUNTED_MINUTES = 480
SAFETY = 3  # on computed durations
SEQUENTIAL = 30  # ratio of the cost of a generated token to that of one that is read
# Per parameter and token. Training runs the forward pass twice, to keep no values of layers, and has fixed weights.
OPERATIONS = {"training": 6, "pretraining": 6, "reading": 2, "generation": 2 * SEQUENTIAL}

# (operations, MB of memory) of a job beyond what every job takes, from its wildcards and input
Work = Callable[[Any, Any], tuple[float, float]]


def no_work(key: Any, files: Any) -> tuple[float, float]:
    return 0, 0


@cache
def words_by_client(path: str, changed: int) -> dict[str, tuple[int, int]]:
    """Return (training words, those that are allocated) of every client of an allocation.

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
    """Return the tokens of one pass over the texts of so many clients, which have so many words together."""
    training = experiment.training
    if training.steps_per_epoch is None:
        return TOKENS_PER_WORD * words
    return training.steps_per_epoch * training.micro_batch * training.accumulation * training.max_length * clients


def tables_mb(files: Iterable[str]) -> float:
    """Return the size of a job's tables. Adapters are read as they are needed; weights count with what loads them."""
    return sum(os.stat(str(path)).st_size for path in files if not str(path).endswith(".safetensors")) / 1e6


@dataclass(eq=False)
class Costs(PlannerComponent):
    """The resources of a project's jobs, by :data:`OPERATIONS` of base models."""

    training: Training

    @property
    def cluster(self) -> Cluster:
        return self.project.config.cluster

    # GPUs

    def _gpu(self, device: str) -> int:
        return int(self.cluster.gpu and device != "cpu")

    def _model_gpu(self, name: str | None) -> int:
        return 0 if name is None else self._gpu(self.project.config.base_models[name].device)

    def no_gpus(self, key: object) -> int:
        """Return that a job computes on the processor although it loads a base model."""
        return 0

    def encoder_gpus(self, key: Key) -> int:
        """Return the GPUs of a job that encodes texts with the encoder of a wildcard."""
        kind = self.project.config.encoders[key.encoder].kind
        return self._gpu("cpu" if kind == "stylometry" else "auto")

    def any_gpus(self, key: object) -> int:
        """Return the GPUs of a job that encodes texts with an encoder that no wildcard names."""
        return self._gpu("auto")

    # Base models and their sizes

    def model(self, key: Key) -> str:
        return key.model

    def base_model(self, key: Key) -> str:
        return self.project.experiment(key).base_model

    def judge_model(self, key: Key) -> str | None:
        """Return the base model that judges, where it is one of this machine."""
        judges = self.project.experiment(key).studies.judges
        return judges.base_model if judges is not None and judges.model == "local" else None

    def parameters(self, name: str) -> int:
        """Return a base model's number of parameters: configured, counted from its shape, or assumed."""
        model = self.project.config.base_models[name]
        if model.parameters is not None:
            return model.parameters
        if model.gguf is not None and Path(model.gguf).expanduser().is_file():
            return read_header(model.gguf).parameters
        shape = model.pretrain
        if shape is None:
            return PRETRAINED_PARAMETERS
        width = shape.hidden_size
        attention = 2 * width**2 * (1 + shape.key_value_heads / shape.heads)
        layer = attention + 3 * width * shape.intermediate_size
        return int(shape.layers * layer + shape.vocabulary_size * width)

    def widths(self, name: str) -> float:
        """Return the inputs and outputs of all projections of a base model, to which adapters are proportional."""
        model = self.project.config.base_models[name]
        if model.gguf is not None and Path(model.gguf).expanduser().is_file():
            return read_header(model.gguf).widths
        shape = model.pretrain
        if shape is None:
            return WIDTHS_SHARE * self.parameters(name)
        width, shared = shape.hidden_size, shape.hidden_size * shape.key_value_heads / shape.heads
        return shape.layers * (9 * width + 2 * shared + 3 * shape.intermediate_size)

    def weights_mb(self, name: str, gpu: int) -> float:
        """Return the host memory of a base model's weights: while a GPU's load, or as long as they run on the CPU."""
        plain = 2 if gpu else 4
        size = 0.6 if self.project.config.base_models[name].quantisation == "nf4" else plain
        return self.parameters(name) * size / 1e6

    def adapter_mb(self, key: Key) -> float:
        """Return the size of one client's adapter of an experiment (float32)."""
        experiment = self.project.experiment(key)
        return 4 * experiment.lora.rank * self.widths(experiment.base_model) / 1e6

    def _values_mb(self, key: Key, clients: int, gpu: int) -> float:
        """Return the memory of training so many clients beside the model, of whom a processor stacks some at a time."""
        adapters = self.adapter_mb(key) * clients
        return 8 * adapters if gpu else min(8 * adapters, 4 * adapters + STACK_BYTES / 1e6)

    def _pass_mb(self, key: Key) -> float:
        """Return what a training pass on a processor keeps: of a projection in float32 what it reads and gives."""
        training = self.project.experiment(key).training
        each = 4.5 * self.widths(self.base_model(key))
        return max(training.micro_batch * training.max_length * each, min(2048 * each, PASS_BYTES)) / 1e6

    def _beside_mb(self, key: Any) -> float:
        """Return the memory of what a track's or a run's server hands out beside an adapter, in the last round."""
        stage = self.training.stage(key) if hasattr(key, "track") else self.project.plan(key).shared
        rounds = 0 if stage is None else self.project.experiment(key).federation.rounds
        return 3 * self.adapter_mb(key) * (self.training.beside(key, stage, rounds) if stage is not None else 0)

    def gpu_hours(self, tokens: Mapping[str, Mapping[str, float]]) -> float:
        """Return the hours of a GPU at the cluster's speed, for tokens by base model and kind of :data:`OPERATIONS`."""
        operations = sum(
            OPERATIONS[kind] * count * self.parameters(name)
            for name, counted in tokens.items()
            for kind, count in counted.items()
        )
        return operations / (self.cluster.gpu_teraflops * 1e12) / 3600

    def minutes(self, operations: float, gpu: int, threads: int) -> float:
        """Return the time limit behind a number of floating-point operations, without what a job takes anyway."""
        speed = self.cluster.gpu_teraflops if gpu else threads * self.cluster.cpu_teraflops
        return SAFETY * operations / (speed * 1e12) / 60

    # Work

    def stage_tokens(self, key: Key, texts: str, stage: SharedStage | PersonalStage, clients: Sequence[str]) -> float:
        """Return how many tokens a job of a stage trains on, by the clients' words in the table ``texts``."""
        experiment = self.project.experiment(key)
        federation = experiment.federation
        exposure = federation.rounds * federation.clients_per_round / experiment.clients * federation.answers
        passes = exposure if stage.epochs is None else stage.epochs
        steps = passes * max(1, stage.inner_steps if isinstance(stage, SharedStage) else 0)
        words = words_of(texts, clients, bool(experiment.allocation.enforce))
        return steps * pass_tokens(experiment, words, len(clients))

    def _stage_work(
        self, key: Key, files: Any, stage: SharedStage | PersonalStage, clients: Sequence[str]
    ) -> tuple[float, float]:
        tokens = self.stage_tokens(key, files.texts, stage, clients)
        name = self.base_model(key)
        memory = self._values_mb(key, len(clients), self._model_gpu(name)) + self._beside_mb(key)
        return OPERATIONS["training"] * self.parameters(name) * tokens, memory

    def shared_work(self, key: Key, files: Any) -> tuple[float, float]:
        return self._stage_work(key, files, self.training.stage(key), self.training.shared_clients(key))

    def personal_work(self, key: Key, files: Any) -> tuple[float, float]:
        stage = not_none(self.project.plan(key).personal)
        return self._stage_work(key, files, stage, self.training.personal_clients(key))

    def prompts_of(self, key: Key) -> int:
        """Return how many prompts a client continues, its own and the common ones."""
        prompts = self.project.experiment(key).prompts
        common = 0 if prompts.common is None else prompts.common.count
        return prompts.per_client + common

    def generation_work(self, key: Key, files: Any) -> tuple[float, float]:
        return self._generating(key, self.project.experiment(key).clients)

    def part_work(self, key: Key, files: Any) -> tuple[float, float]:
        return self._generating(key, len(self.training.generation_parts(key.experiment)[int(key.part)]))

    def _generating(self, key: Key, clients: int) -> tuple[float, float]:
        """Return the work of generating for so many clients. Only the adapters of a batch are read at once."""
        experiment = self.project.experiment(key)
        tokens = {"reading": experiment.prompts.prefix_tokens, "generation": experiment.generation.max_new_tokens}
        operations = sum(OPERATIONS[kind] * count for kind, count in tokens.items()) * clients * self.prompts_of(key)
        stacked = min(clients, experiment.generation.rows_per_batch)
        return operations * self.parameters(experiment.base_model), 3 * self.adapter_mb(
            key
        ) * stacked + self._beside_mb(key)

    def read_tokens(self, key: Key) -> float:
        """Return the tokens of the texts that every client's model reads."""
        experiment = self.project.experiment(key)
        section = experiment.evaluation.likelihood
        if section is None:
            return 0
        texts = experiment.clients * section.texts_per_client + section.neutral_texts
        return texts * (experiment.prompts.prefix_tokens + read_length(experiment))

    def reading_work(self, key: Key, files: Any) -> tuple[float, float]:
        """Return the work of reading them under every client's model, whose adapters are read at once."""
        clients = self.project.experiment(key).clients
        operations = OPERATIONS["reading"] * self.parameters(self.base_model(key)) * self.read_tokens(key)
        return operations * clients, 3 * self.adapter_mb(key) * clients + self._beside_mb(key)

    def adapter_work(self, key: Key, files: Any) -> tuple[float, float]:
        """Return the work of reading adapters tensor by tensor, however many, and writing one."""
        return 0, 6 * self.adapter_mb(key) + self._beside_mb(key)

    def largest_memory_mb(self, on_gpu: Callable[[str], bool]) -> float:
        """Return the host memory of the largest training job, without the tables that it reads.

        ``on_gpu``: whether a base model is trained on a GPU.
        """
        sizes = [0.0]
        for run in (run for name in self.project.config.experiments for run in self.training.runs(name)):
            name, gpu = self.base_model(run), on_gpu(self.base_model(run))
            clients = min(self.training.per_job(run), self.project.experiment(run).clients)
            model = MODEL_MB if gpu else LIBRARIES_MB + self._pass_mb(run)
            sizes.append(model + self.weights_mb(name, gpu) + self._values_mb(run, clients, gpu))
        return max(sizes)

    # Resources of a rule

    def asks(
        self,
        stage: str,
        work: Work = no_work,
        model: Callable[[Any], str | None] | None = None,
        gpu: Callable[[Any], int] | None = None,
        streamed: bool = False,
    ) -> dict[str, object]:
        """Return the resources of a rule, as Snakemake takes them.

        ``stage``: the rule's name, under which the configuration may set its own; ``work``: operations and memory
        beyond what every job takes, where they are counted; ``model``: the base model that it loads; ``gpu``: its GPUs,
        else those of that model; ``streamed``: whether its input passes through memory a post at a time, and is not a
        table that is read whole.
        """
        cluster, own = self.cluster, self.cluster.stages.get(stage)
        counted = work is not no_work
        heavy = counted or model is not None or gpu is not None
        read_mb_per_mb = STREAMED_MB_PER_MB if streamed else READ_MB_PER_MB

        def on_gpu(wildcards: Any) -> int:
            if gpu is not None:
                return gpu(wildcards)
            return self._model_gpu(model(wildcards)) if model else 0

        def capped(value: float, attempt: int, limit: int | None) -> int:
            wanted: int = max(1, int(value)) * 2 ** (attempt - 1)
            return wanted if limit is None else min(wanted, limit)

        def mem_mb(wildcards: Any, input: Any, attempt: int) -> int:
            if own is not None and own.memory_mb is not None:
                return capped(own.memory_mb, attempt, cluster.maximum_memory_mb)
            name, gpus = model(wildcards) if model else None, on_gpu(wildcards)
            size: float = MODEL_MB if counted else UNCOUNTED_MB if heavy else PLAIN_MB
            size += read_mb_per_mb * tables_mb(input) + work(wildcards, input)[1]
            # On a processor weights of another type are converted while they load.
            size += self.weights_mb(name, gpus) * (1 if gpus else 2) if name else 0
            return capped(size, attempt, cluster.maximum_memory_mb)

        def runtime(wildcards: Any, input: Any, threads: int, attempt: int) -> int:
            if own is not None and own.minutes is not None:
                return capped(own.minutes, attempt, cluster.maximum_minutes)
            plain = MODEL_MINUTES if counted else UNCOUNTED_MINUTES if heavy else PLAIN_MINUTES
            minutes = plain + self.minutes(work(wildcards, input)[0], on_gpu(wildcards), threads)
            return capped(minutes, attempt, cluster.maximum_minutes)

        def partition(wildcards: Any) -> str | None:
            general = cluster.gpu_partition or cluster.partition if on_gpu(wildcards) else cluster.partition
            return (own.partition if own is not None else None) or general

        def gpu_model(wildcards: Any) -> str | None:
            chosen = (own.gpu_model if own is not None else None) or cluster.gpu_model
            return chosen if on_gpu(wildcards) else None

        def account(wildcards: Any) -> str | None:
            return cluster.account

        return {
            "mem_mb": mem_mb,
            "runtime": runtime,
            "slurm_partition": partition,
            "slurm_account": account,
            "gpu": on_gpu,
            "gpu_model": gpu_model,
            "nodes": 1,
        }

    def check_stages(self, rules: Iterable[str]) -> None:
        """Check the names of rules that the configuration gives. Raises ``UserError`` naming the nearest rule."""
        names = sorted(rules)
        given: Mapping[str, Iterable[str]] = {"local": self.cluster.local, "stages": self.cluster.stages}
        for key, stages in given.items():
            for name in stages:
                if name not in names:
                    raise UserError(f"config key 'cluster.{key}': there is no stage '{name}'; {nearest(name, names)}")
