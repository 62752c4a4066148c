"""Packed rows give every piece what it gets alone, in decoders with grouped heads, windows and partial rotary sizes."""

from __future__ import annotations

import pytest
import torch
from transformers import (
    AutoModelForCausalLM,
    Gemma2Config,
    LlamaConfig,
    MistralConfig,
    Phi3Config,
    PhiConfig,
    Qwen2Config,
    Qwen3Config,
)

from favor.foundation.errors import UserError
from favor.lm.dropout import DropoutMasks, MaskEntry
from favor.lm.grouped import Needed, Runs
from favor.lm.packing import Packing, packed_attention
from favor.lm.settings import LoraSettings
from favor.lm.stack import Component, LoraStack

SIZE = {
    "vocab_size": 90,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 64,
    "pad_token_id": 0,
}
DECODERS = {
    "llama": LlamaConfig(**SIZE),
    "mistral, window": MistralConfig(**SIZE, sliding_window=5),
    "qwen2": Qwen2Config(**SIZE),
    "qwen3": Qwen3Config(**SIZE, head_dim=16),
    "phi": PhiConfig(**SIZE),
    "phi3": Phi3Config(**SIZE),
}
CPU = torch.device("cpu")


def decoder(configuration) -> torch.nn.Module:
    torch.manual_seed(3)
    return AutoModelForCausalLM.from_config(configuration).eval().requires_grad_(False).base_model


@pytest.mark.parametrize("name", DECODERS)
def test_every_piece_is_as_alone(name) -> None:
    model, lengths = decoder(DECODERS[name]), (9, 3, 12)
    tokens = torch.randint(1, 90, (1, sum(lengths)))
    before = model.config._attn_implementation
    alone = torch.cat([model(input_ids=part, use_cache=False)[0] for part in tokens.split(lengths, dim=1)], dim=1)
    packing = Packing(lengths, CPU)
    with packed_attention(model):
        packed = model(input_ids=tokens, position_ids=packing.positions, packing=packing, use_cache=False)[0]
    torch.testing.assert_close(packed, alone, rtol=1e-4, atol=1e-5)
    assert model.config._attn_implementation == before


def test_scores_that_are_capped_are_refused() -> None:
    model, packing = decoder(Gemma2Config(**SIZE, head_dim=8)), Packing((4,), CPU)
    with packed_attention(model), pytest.raises(UserError, match="attention with softcap is not supported"):
        model(input_ids=torch.ones(1, 4, dtype=torch.long), packing=packing, use_cache=False)


def test_positions_and_starts_by_hand() -> None:
    packing = Packing((3, 1, 2), CPU)
    assert packing.positions.tolist() == [[0, 1, 2, 0, 0, 1]]
    assert packing.starts.tolist() == [0, 3, 4, 6]


@pytest.mark.parametrize("name", ["llama", "qwen3", "phi"])
def test_the_last_perceptron_computes_the_needed_tokens_alone(name) -> None:
    """Final states and gradients of the needed tokens are those of a whole pass; masks and factors are their own."""
    model, lengths = decoder(DECODERS[name]), (16, 32)
    targets = {"phi": ("q_proj", "fc1", "fc2")}.get(name, ("v_proj", "gate_proj", "down_proj"))
    stack = LoraStack(model, LoraSettings(rank=2, target_modules=targets))
    flat = 0.3 * torch.randn(2, stack.layout.size)
    entries = [MaskEntry(client, 0, 16 * client, (length,)) for client, length in enumerate(lengths)]
    masks, tokens = DropoutMasks(entries, 48, 0.2, CPU), torch.randint(1, 90, (1, 48))
    runs, packing, kept = Runs(lengths, CPU), Packing(lengths, CPU), torch.tensor([3, 8, 15, 20, 47])
    seen = []
    for needed in (None, Needed(kept, Runs((3, 2), CPU))):
        factors = stack.layout.factors(flat, trainable=True)
        with packed_attention(model), stack.attached():
            stack.set([Component(factors, None, dropout=True)], masks, 0.2, runs, needed)
            states = model(input_ids=tokens, position_ids=packing.positions, packing=packing, use_cache=False)[0]
            states[0, kept].square().sum().backward()
        seen.append((states[0, kept].detach(), [leaf.grad for pair in factors for leaf in pair]))
    torch.testing.assert_close(*seen, rtol=1e-4, atol=1e-4)
