"""A tiny Qwen2 with random weights and a byte-level tokenizer, and tasks over it."""

import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tests.once import made_once

from favor.config.models import PROJECTIONS
from favor.lm.base import BaseModel, load_base
from favor.lm.gguf import dequantise
from favor.lm.lora import state_shapes
from favor.lm.settings import Lora, Optimisation, WeightedAlignment
from favor.lm.stack import Component, LoraStack
from favor.lm.tasks import Piece
from favor.lm.tokenizer import train_tokenizer

SENTENCES = [
    "the quick brown fox jumps over the lazy dog and then it sleeps in the warm sun",
    "so i went to the store today, and guess what!! they were closed again :(",
    "It was, I suppose, inevitable; nevertheless one had hoped for a better outcome.",
]
TINY = {
    "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4,
    "num_key_value_heads": 2, "max_position_embeddings": 128, "initializer_range": 0.15,
    "bos_token_id": None, "eos_token_id": 1, "pad_token_id": 0,
}  # fmt: skip


def drawn_state(source, lora, seed, scale=0.2) -> dict[str, torch.Tensor]:
    """An adapter state with random A and B, for a model or its configuration."""
    generator = torch.Generator().manual_seed(seed)
    shapes = state_shapes(source, lora)
    return {name: scale * torch.randn(shape, generator=generator) for name, shape in shapes.items()}


def same_bits(left, right) -> bool:
    """Whether two adapter states are equal in every bit."""
    return left.keys() == right.keys() and all(torch.equal(left[name], right[name]) for name in left)


def squared_norm(state, origin=None) -> float:
    """The squared distance of an adapter state from another, or from 0."""
    return sum(float(torch.sum((state[name] - (origin[name] if origin else 0)).double() ** 2)) for name in state)


def random_model(folder, texts, seed, family="Qwen2", kind=None, vocabulary=300, **sizes) -> Any:
    """Save a random model of a family, and a tokenizer of ``texts``, in ``folder``; return the model."""
    import transformers

    vocabulary = train_tokenizer(texts, vocabulary, folder).vocabulary_size
    torch.manual_seed(seed)
    settings = getattr(transformers, kind or f"{family}Config")(**{**TINY, "vocab_size": vocabulary, **sizes})
    model = getattr(transformers, f"{family}ForCausalLM")(settings)
    model.save_pretrained(folder)
    return model


def optimisation(**changes) -> Optimisation:
    """Settings of tiny stages under the paper's protocol."""
    usual = {"learning_rate": 5e-3, "micro_batch": 2, "accumulation": 3, "max_length": 32}
    return Optimisation(**{"supervised": "response", "warmup_counts_from": 1, **usual, **changes})


def alignment(**changes) -> WeightedAlignment:
    """Alignment under the paper's protocol, with a small head."""
    usual = {"pooling": "minibatch", "ramp_counts": "steps", "weight": 0.3, "hidden": 16}
    return WeightedAlignment(**{**usual, **changes})


def style_target(seed) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=8).astype(np.float32)


def under_peft(model_folder, lora, state) -> Any:
    """The model in a folder under an adapter that PEFT holds, and trains."""
    from peft import LoraConfig, get_peft_model, set_peft_model_state_dict
    from transformers import AutoModelForCausalLM

    targets = list(lora.target_modules)
    settings = LoraConfig(r=lora.rank, lora_alpha=lora.alpha, lora_dropout=0.0, target_modules=targets)
    model = get_peft_model(AutoModelForCausalLM.from_pretrained(model_folder), settings).eval()
    set_peft_model_state_dict(model, state)
    return model


def stacked_logits(base, lora, state, tokens) -> torch.Tensor:
    """The logits of a loaded model under an adapter in its stack."""
    stack = LoraStack(base.model, lora)
    with torch.no_grad(), stack.attached():
        stack.set([Component(stack.layout.factors(stack.layout.flatten(state, base.device)[None]))])
        return base.model(input_ids=tokens).logits


def with_peft(model_folder, folder) -> Any:
    """The model in one folder under the adapter in another, as PEFT loads them."""
    from peft import PeftModel
    from transformers import AutoModelForCausalLM

    return PeftModel.from_pretrained(AutoModelForCausalLM.from_pretrained(model_folder), folder).eval()


def merged(model_folder, lora, *weighted) -> torch.nn.Module:
    """The model in a folder with w (alpha / rank) B A of every (state, w) in ``weighted`` added to its weights."""
    from transformers import AutoModelForCausalLM

    model = AutoModelForCausalLM.from_pretrained(model_folder).eval()
    with torch.no_grad():
        for state, weight in weighted:
            for name in [name for name in state if ".lora_A." in name]:
                layer = model.get_submodule(name.removeprefix("base_model.model.").removesuffix(".lora_A.weight"))
                layer.weight += weight * lora.scaling * state[name.replace("lora_A", "lora_B")] @ state[name]
    return model


def plain_losses(model, piece, first=None) -> torch.Tensor:
    """-ln p of every supervised token of a piece in one pass of transformers, of those from ``first`` on."""
    tokens, first = torch.from_numpy(piece.tokens.astype(np.int64)), first or piece.response_start
    logits = model(input_ids=tokens[None]).logits[0]
    return torch.nn.functional.cross_entropy(logits[first - 1 : -1], tokens[first:], reduction="none")


def plain_continuation(model, prompt, new=12, penalty=1.1, end=1) -> list[int]:
    """What transformers' greedy generation makes of one prompt, up to the end token if there is one."""
    tokens = torch.tensor([list(prompt)])
    options = {"do_sample": False, "max_new_tokens": new, "repetition_penalty": penalty, "pad_token_id": 0}
    made = model.generate(tokens, attention_mask=torch.ones_like(tokens), eos_token_id=end, **options)[0, len(prompt) :]
    return made[: (made == end).nonzero()[0, 0] if (made == end).any() else None].tolist()


def benchmark(name) -> Any:
    """A fixture: the module of this name in ``benchmarks``."""

    @pytest.fixture(scope="module")
    def imported() -> Iterator[Any]:
        sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))
        try:
            yield importlib.import_module(name)
        finally:
            del sys.path[0]

    return imported


@pytest.fixture(scope="session")
def model_folder(tmp_path_factory) -> Path:
    """A saved model of 2 layers, width 32, about 300 tokens, with biases and embeddings far from zero."""
    folder = tmp_path_factory.mktemp("model")
    model = random_model(folder, SENTENCES * 3, 5, tie_word_embeddings=True)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name.endswith("bias"):
                parameter.normal_(0, 0.1)
    model.save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def dequantised(tmp_path_factory, real_base) -> Path:
    """The folder of the real base, whose file transformers reads once for all workers (20 processor seconds)."""
    return made_once(tmp_path_factory, "dequantised", lambda folder: dequantise(real_base, folder))


@pytest.fixture(scope="session")
def base(model_folder) -> BaseModel:
    torch.set_num_threads(1)
    return load_base(str(model_folder), device="cpu")


@pytest.fixture(scope="session")
def lora() -> Lora:
    return Lora(rank=3, alpha=6, dropout=0.0, target_modules=PROJECTIONS)


@pytest.fixture(scope="session")
def random_state(base) -> Callable[..., dict[str, torch.Tensor]]:
    """A function (seed, settings) -> adapter state with random A and B."""
    return lambda seed, settings: drawn_state(base.model, settings, seed)


@pytest.fixture(scope="session")
def random_pieces() -> Callable[..., list[Piece]]:
    """A function (seed, count, longest) -> pieces of random tokens and unequal lengths."""

    def make(seed, count, longest=24) -> list[Piece]:
        generator = np.random.default_rng(seed)
        pieces = []
        for number in range(count):
            length = int(generator.integers(4, longest + 1))
            tokens = generator.integers(2, 290, size=length).astype(np.int32)
            pieces.append(Piece(tokens, int(generator.integers(1, length)), f"document_{number}"))
        return pieces

    return make
