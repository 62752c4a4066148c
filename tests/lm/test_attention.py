"""Attention of a decoding step: heads that share keys read them once, with the result of reading them each."""

from __future__ import annotations

import pytest
import torch
from tests.lm.test_packing import DECODERS, decoder
from torch import nn

from favor.lm import attention
from favor.lm.attention import shared_heads


@pytest.mark.parametrize("shared", [4, 2, 1])
def test_one_token_by_hand(shared) -> None:
    query, (key, value) = torch.randn(3, 4, 1, 8), torch.randn(2, 3, shared, 6, 8)
    seen = torch.tensor([[1, 1, 1, 1, 0, 0], [0, 0, 1, 1, 1, 0], [1, 0, 0, 0, 0, 1]], dtype=torch.bool)[:, None, None]
    found, _ = attention._attend_one(nn.Module(), query, key, value, seen, scaling=0.3)
    keys, values = (states.repeat_interleave(4 // shared, dim=1) for states in (key, value))
    scores = (0.3 * query @ keys.transpose(2, 3)).masked_fill(~seen, -torch.inf)
    expected = (scores.softmax(-1) @ values).transpose(1, 2)
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("implementation", ["sdpa", "eager"])
def test_a_model_is_as_before(implementation) -> None:
    """One that does not attend by torch's function is left alone."""
    model = decoder(DECODERS["qwen2"])
    model.config._attn_implementation = implementation
    tokens, mask = (
        torch.randint(1, 90, (2, 5)),
        torch.ones(5, 5, dtype=torch.bool).tril()[None, None].expand(2, 1, 5, 5),
    )
    given = {"attention_mask": mask if implementation == "sdpa" else None, "use_cache": False}
    expected = model(input_ids=tokens, **given)[0]
    with shared_heads(model):
        assert (model.config._attn_implementation == implementation) is (implementation == "eager")
        torch.testing.assert_close(model(input_ids=tokens, **given)[0], expected, rtol=0, atol=0)
    assert model.config._attn_implementation == implementation
