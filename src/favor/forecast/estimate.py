"""What a project costs before it is started: GPU-hours, disk and traffic, from its account and the size of an adapter.

GPU-hours are an ESTIMATE: the operations of all tokens that are trained on, written and read, over the speed that the
configuration states (``cluster.gpu_teraflops``). :mod:`favor.forecast.probe` measures the same tokens on this machine.
"""

from collections import Counter
from pathlib import Path
from typing import Any

from favor.config.configuration import Configuration
from favor.forecast.account import Account, Accounts
from favor.foundation.gguf import read_header
from favor.lm.settings import LanguageModel
from favor.plan import Planner
from favor.plan.costs import pass_tokens
from favor.plan.keys import Key

GIB = 2**30
MOST_ON_CPU = 1_000_000_000  # parameters; more take minutes to probe on a processor, and nobody trains them there
# Of the paper's imbalance appendix: 904,378 words of 50 clients.
WORDS_OF_A_CLIENT = 904_378 / 50
# Shapes of hub models that the configurations name, so that nothing is fetched.
QWEN = {"vocab_size": 151_936, "tie_word_embeddings": True}
QWEN_7B = {
    "hidden_size": 3584, "intermediate_size": 18_944, "num_hidden_layers": 28,
    "num_attention_heads": 28, "num_key_value_heads": 4, "vocab_size": 152_064, "tie_word_embeddings": False,
}  # fmt: skip
HUB: dict[str, dict[str, int]] = {
    "Qwen/Qwen2.5-3B-Instruct": {
        **QWEN, "hidden_size": 2048, "intermediate_size": 11_008, "num_hidden_layers": 36,
        "num_attention_heads": 16, "num_key_value_heads": 2,
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
        path = Path(model.gguf).expanduser()
        found = AutoConfig.from_pretrained(path.parent, gguf_file=path.name)
        found.quantization_config = None
        return found
    return AutoConfig.from_pretrained(model.source)


def model_bytes(model: LanguageModel, shape: Any) -> tuple[int, int]:
    """Return (parameters, bytes of the copy under results): made here in float32, NF4 in 4.5 bits of the layers.

    NF4 keeps 4 bits per weight and, doubly quantised, one byte for 64 weights; embeddings stay in 16 bits.
    """
    import torch
    from transformers import AutoModelForCausalLM

    with torch.device("meta"):
        made = AutoModelForCausalLM.from_config(shape)
    total = sum(parameter.numel() for parameter in made.parameters())
    layers = sum(module.weight.numel() for name, module in made.named_modules() if name.endswith("_proj"))
    nf4 = int(layers * (0.5 + 1 / 64) + (total - layers) * 2) if model.quantisation == "nf4" else 0
    return total, nf4 + (4 * total if model.made_here else 0)


def device_of(wanted: str) -> str:
    """Return "cuda" or "cpu", where a base model runs on this machine."""
    import torch

    return "cuda" if wanted != "cpu" and torch.cuda.is_available() else "cpu"


def _tokens(planner: Planner, name: str, found: Account, words: float) -> dict[str, float]:
    """Return how many tokens an experiment trains on, generates and reads for likelihoods."""
    experiment, key = planner.config.experiments[name], Key(experiment=name)
    generation = experiment.generation
    runs = sum(found.jobs[rule] for rule in ("generate", "generate_prompted", "join_generations"))
    continued = experiment.clients * planner.costs.prompts_of(key) * generation.samples
    readings = len(set(planner.likelihood.readings(key))) if planner.evaluation.is_measured(name) else 0
    read = planner.costs.read_tokens(key) * experiment.clients * readings
    return {
        "training": found.passes * pass_tokens(experiment, words, 1),
        "generation": runs * continued * generation.max_new_tokens,
        "reading": read,
    }


def estimate(planner: Planner, only: str | None = None) -> dict[str, Any]:
    """Return what the runs of a project take: jobs by rule, GPU-hours, and GiB sent, stored and asked of a machine.

    ``only``: the one experiment that is run.
    """
    from favor.foundation.tensors import safetensors_bytes
    from favor.lm.lora import state_shapes

    config: Configuration = planner.config
    jobs: Counter[str] = Counter()
    stored: Counter[str] = Counter()
    tokens: dict[str, Counter[str]] = {}  # by base model and kind of work
    bases: dict[str, int] = {}
    temporary, up, down = 0, 0.0, 0.0
    accounts = Accounts(planner.project, planner.training, planner.records, planner.evaluation)
    for name, experiment in config.experiments.items():
        if only not in (None, name):
            continue
        found = accounts.of(name)
        model = config.base_models[experiment.base_model]
        shape = shape_of(model)
        adapter = safetensors_bytes(state_shapes(shape, experiment.lora))
        bases[experiment.base_model] = model_bytes(model, shape)[1]
        total = experiment.allocation.total_words
        words = total / experiment.clients if total else WORDS_OF_A_CLIENT
        tokens.setdefault(experiment.base_model, Counter()).update(_tokens(planner, name, found, words))
        jobs += found.jobs
        stored.update({kind: count * adapter for kind, count in found.stored.items()})
        temporary += found.temporary * adapter
        up, down = up + found.up * adapter, down + found.down * adapter

    def on_gpu(name: str) -> bool:
        """Return whether a GPU of this machine, or of another, trains a base model."""
        return planner.costs.parameters(name) > MOST_ON_CPU or device_of(config.base_models[name].device) == "cuda"

    for name, counted in tokens.items():
        pretrain = config.base_models[name].pretrain
        counted["pretraining"] = 0 if pretrain is None else pretrain.tokens
    stored["base models"] = sum(bases.values())
    final = sum(stored.values())
    return {
        "jobs": dict(jobs),
        "tokens": {name: dict(counted) for name, counted in tokens.items()},
        "gpu_hours": planner.costs.gpu_hours(tokens),
        "host_memory_gib": planner.costs.largest_memory_mb(on_gpu) * 1e6 / GIB,
        "upload_gib": up / GIB,
        "download_gib": down / GIB,
        "disk_gib": {kind: size / GIB for kind, size in sorted(stored.items())},
        "final_gib": final / GIB,
        "peak_gib": (final + temporary) / GIB,
    }
