"""Attention of a decoding step: heads that share keys read them once, with the result of reading them each."""

from contextlib import nullcontext

import pytest
import torch
from tests.lm.test_packing import DECODERS, decoder
from torch import nn

from favor.lm import attention
from favor.lm.attention import Packing, shared_heads


@pytest.mark.parametrize("shared", [4, 2, 1])
@pytest.mark.parametrize("masked", [True, False])
def test_one_token_by_hand_and_in_bfloat16_by_torch(shared, masked) -> None:
    query, (key, value) = torch.randn(3, 4, 1, 8), torch.randn(2, 3, shared, 6, 8)
    seen = torch.tensor([[1, 1, 1, 1, 0, 0], [0, 0, 1, 1, 1, 0], [1, 0, 0, 0, 0, 1]], dtype=torch.bool)[:, None, None]
    mask = seen if masked else None
    found, _ = attention._attend_one(nn.Module(), query, key, value, mask, scaling=0.3)
    keys, values = (states.repeat_interleave(4 // shared, dim=1) for states in (key, value))
    scores = (0.3 * query @ keys.transpose(2, 3)).masked_fill(~seen & masked, -torch.inf)
    torch.testing.assert_close(found, (scores.softmax(-1) @ values).transpose(1, 2), rtol=1e-5, atol=1e-6)
    given = [states.bfloat16() for states in (query, key, value)]
    found, _ = attention._attend_one(nn.Module(), *given, mask, scaling=0.3)
    rounded = [states.float() for states in given]
    expected = nn.functional.scaled_dot_product_attention(*rounded, attn_mask=mask, scale=0.3, enable_gqa=True)
    torch.testing.assert_close(found.float(), expected.transpose(1, 2), rtol=1e-2, atol=1e-2)


@pytest.mark.parametrize("block", [128, 5])
@pytest.mark.parametrize("window", [None, 3])
@pytest.mark.parametrize("heads", [(4, 2, 2), (1, 1, 1)])
def test_pieces_in_bfloat16_and_their_gradients_are_those_in_float32(heads, window, block, monkeypatch) -> None:
    monkeypatch.setattr(attention, "_BLOCK", block)
    monkeypatch.setattr(attention, "_KEPT", block + 2)  # of later blocks the probabilities are computed again
    torch.manual_seed(0)
    packing = Packing((7, 2, 12), torch.device("cpu"))
    states = [torch.randn(1, each, 21, 8).bfloat16() for each in heads]
    results = []
    for dtype in (torch.bfloat16, torch.float32):
        leaves = [state.to(dtype, copy=True).requires_grad_() for state in states]
        attended = attention._piecewise(leaves, packing, 0.3, window)
        assert ("_Plain" in str(attended.grad_fn)) is (dtype == torch.bfloat16)
        (attended.float() * torch.arange(8)).sum().backward()
        results.append([attended.float(), *(leaf.grad.float() for leaf in leaves)])
    for found, expected in zip(*results, strict=True):
        torch.testing.assert_close(found, expected, rtol=2e-2, atol=5e-2)


def test_a_model_in_bfloat16_writes_with_shared_heads_what_it_writes_without() -> None:
    """Prompts of one length, and padded ones: the mask that transformers makes comes along."""
    model = decoder(DECODERS["qwen2"]).bfloat16()
    tokens, mask = torch.randint(1, 90, (2, 5)), torch.tensor([[0, 0, 1, 1, 1], [1, 1, 1, 1, 1]])
    for seen in (None, mask):
        steps = []
        for context in (nullcontext(), shared_heads(model)):
            with context, torch.no_grad():
                cache = model(input_ids=tokens[:, :4], attention_mask=None if seen is None else seen[:, :4])
                last = {"input_ids": tokens[:, 4:], "past_key_values": cache.past_key_values, "attention_mask": seen}
                steps.append(model(**last).last_hidden_state)
        torch.testing.assert_close(*steps, rtol=2e-2, atol=2e-2)


def test_a_model_that_does_not_attend_by_torchs_function_is_left_alone() -> None:
    model = decoder(DECODERS["qwen2"])
    model.config._attn_implementation = "eager"
    with shared_heads(model):
        assert model.config._attn_implementation == "eager"
