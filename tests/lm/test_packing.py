"""Packed rows give every piece what it gets alone, in decoders with grouped heads, windows and partial rotary sizes."""

from types import SimpleNamespace

import pytest
import torch
import torch.nn.attention.varlen
import transformers
from tests.lm.conftest import TINY

from favor.lm import attention, grouped
from favor.lm.attention import Packing, packed_attention
from favor.lm.dropout import DropoutMasks, MaskEntry
from favor.lm.grouped import Needed, Runs
from favor.lm.settings import Lora
from favor.lm.stack import Component, LoraStack

SIZE = {**TINY, "vocab_size": 90, "max_position_embeddings": 64}
DECODERS = {
    "llama": transformers.LlamaConfig(**SIZE),
    "mistral, window": transformers.MistralConfig(**SIZE, sliding_window=5),
    "qwen2": transformers.Qwen2Config(**SIZE),
    "qwen3": transformers.Qwen3Config(**SIZE, head_dim=16),
    "phi": transformers.PhiConfig(**SIZE),
    "phi3": transformers.Phi3Config(**SIZE),
    "gemma3, one layer of two with a window": transformers.Gemma3TextConfig(
        **SIZE, head_dim=8, sliding_window=5, layer_types=["sliding_attention", "full_attention"]
    ),
}
CPU = torch.device("cpu")


def decoder(configuration) -> torch.nn.Module:
    torch.manual_seed(3)
    return transformers.AutoModelForCausalLM.from_config(configuration).eval().requires_grad_(False).base_model


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


def test_positions_and_starts_by_hand() -> None:
    packing = Packing((3, 1, 2), CPU)
    assert packing.positions.tolist() == [[0, 1, 2, 0, 0, 1]]
    assert packing.starts.tolist() == [0, 3, 4, 6]


@pytest.mark.parametrize("name", ["llama", "qwen3", "phi"])
def test_the_last_perceptron_computes_the_needed_tokens_alone(name) -> None:
    """Final states and gradients of the needed tokens are those of a whole pass; masks and factors are their own."""
    model, lengths = decoder(DECODERS[name]), (16, 32)
    targets = {"phi": ("q_proj", "fc1", "fc2")}.get(name, ("v_proj", "gate_proj", "down_proj"))
    stack = LoraStack(model, Lora(rank=2, target_modules=targets))
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
            # Not the sum of squares, which the last norm makes the same whatever the factors are.
            (states[0, kept] * torch.arange(states.shape[-1])).sum().backward()
        seen.append((states[0, kept].detach(), [leaf.grad for pair in factors for leaf in pair]))
    torch.testing.assert_close(*seen, rtol=1e-4, atol=1e-4)


def attended_by_hand(
    query, key, value, starts, other_starts, longest, other_longest, *, scale, window_size, enable_gqa
) -> torch.Tensor:
    """Torch's varlen_attn, as documented: [tokens, heads, size]; ``window_size`` (left, right), -1 for no end."""
    assert torch.equal(starts, other_starts)
    assert longest == other_longest == int(starts.diff().max())
    assert enable_gqa == (key.shape[1] != query.shape[1])
    left, right = (24 if end == -1 else end for end in window_size)
    key, value = (states.repeat_interleave(query.shape[1] // states.shape[1], dim=1) for states in (key, value))
    outputs = []
    for first, last in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
        scores = torch.einsum("qhd,khd->hqk", query[first:last], key[first:last]) * scale
        back = torch.arange(last - first)[:, None] - torch.arange(last - first)[None, :]
        weights = scores.masked_fill((back > left) | (-back > right), -torch.inf).softmax(-1)
        outputs.append(torch.einsum("hqk,khd->qhd", weights, value[first:last]))
    return torch.cat(outputs)


@pytest.mark.parametrize("heads", [4, 2])
@pytest.mark.parametrize("window", [None, 3])
def test_what_a_gpu_s_kernel_is_asked_for(monkeypatch, window, heads) -> None:
    monkeypatch.setattr(torch.nn.attention.varlen, "varlen_attn", attended_by_hand)
    states = [torch.randn(1, count, 24, 16) for count in (4, heads, heads)]
    given = states, Packing((9, 3, 12), CPU), 0.3, window
    torch.testing.assert_close(attention._varlen(*given), attention._piecewise(*given), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("capability", "size", "dtype", "flash"),
    [
        ((8, 0), 128, torch.bfloat16, True),
        ((7, 5), 128, torch.bfloat16, False),  # before Ampere
        ((9, 0), 12, torch.bfloat16, False),
        ((9, 0), 128, torch.float32, False),
    ],
)
def test_cards_and_heads_that_the_kernel_takes(monkeypatch, capability, size, dtype, flash) -> None:
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: capability)
    states = SimpleNamespace(device=torch.device("cuda"), is_cuda=True, dtype=dtype, shape=(1, 2, 5, size))
    assert attention._flashes(states, states) is flash


@pytest.mark.parametrize(("capability", "groupable"), [((8, 9), False), ((9, 0), True)])
def test_cards_whose_grouped_product_does_not_wait(monkeypatch, capability, groupable) -> None:
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: capability)
    rows = torch.empty(8, 16, dtype=torch.bfloat16, device="meta")
    on_card = SimpleNamespace(device=torch.device("cuda"), is_cuda=True, dtype=rows.dtype, shape=rows.shape)
    assert grouped._groupable(on_card, rows) is groupable
