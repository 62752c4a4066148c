"""Greedy generation in one batch against ``transformers.generate``, one prompt and one adapter at a time."""

import gc
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from tests.lm.conftest import drawn_state, plain_continuation, under_peft

from favor.config.models import PROJECTIONS
from favor.foundation.errors import UserError
from favor.inference import decoding, generation
from favor.inference.generation import GenerationRequest, generate, last_token_states
from favor.inference.sampling import Sampling
from favor.lm.lora import initial_state
from favor.lm.settings import Lora

LORA = Lora(rank=3, alpha=6, dropout=0.05, target_modules=PROJECTIONS)
NEW = 12


@pytest.fixture(scope="module")
def adapters(base) -> list[Any]:
    """Three random adapters and one that changes nothing (None)."""
    return [*(drawn_state(base.model, LORA, seed, 0.3) for seed in range(3)), None]


@pytest.fixture(scope="module")
def peft_models(base, model_folder, adapters) -> list[Any]:
    return [under_peft(model_folder, LORA, state or initial_state(base.model, LORA, 9)) for state in adapters]


@pytest.mark.parametrize("penalty", [1.1, pytest.param(1.0, marks=pytest.mark.slow(6))])
@pytest.mark.parametrize("lengths", [[9] * 8, [3, 9, 9, 5, 4, 9, 12, 7]], ids=["one length", "many lengths"])
def test_batch_gives_the_text_of_transformers_generate(base, adapters, peft_models, penalty, lengths) -> None:
    generator = np.random.default_rng(3)
    prompts = [generator.integers(2, 290, size=length).tolist() for length in lengths]
    requests = [GenerationRequest(f"{row}", prompt, adapters[(row // 3) % 4]) for row, prompt in enumerate(prompts)]
    expected = [plain_continuation(peft_models[(row // 3) % 4], one, NEW, penalty) for row, one in enumerate(prompts)]
    for rows in (64, 3, 1):
        assert generate(base, LORA, requests, NEW, penalty, rows_per_batch=rows) == expected


def test_samples_depend_on_no_batch_and_no_order(base, adapters) -> None:
    generator = np.random.default_rng(3)
    prompts = [generator.integers(2, 290, size=length).tolist() for length in (9, 3, 9, 9, 5, 9)]
    requests = [
        GenerationRequest(f"{row}", prompt, adapters[row % 2], stream=(1, "favor", f"p{row}", row % 3))
        for row, prompt in enumerate(prompts)
    ]
    sampling = Sampling(1.0, 0.95)
    made = generate(base, LORA, requests, NEW, rows_per_batch=64, sampling=sampling)
    assert made == generate(base, LORA, requests, NEW, rows_per_batch=1, sampling=sampling)
    assert made[::-1] == generate(base, LORA, requests[::-1], NEW, rows_per_batch=4, sampling=sampling)
    assert made != generate(base, LORA, requests, NEW)
    other = [replace(request, stream=(2, "favor", "p", 0)) for request in requests]
    assert made != generate(base, LORA, other, NEW, sampling=sampling)
    # A temperature near 0 is greedy.
    assert generate(base, LORA, requests, NEW, sampling=Sampling(1e-4, 1.0)) == generate(base, LORA, requests, NEW)


def test_end_token_stops_a_row_and_only_that_row(base, adapters, monkeypatch) -> None:
    prompts = [[5, 9, 14, 20], [7, 8, 9, 10]]
    requests = [GenerationRequest(str(row), prompt, adapters[row]) for row, prompt in enumerate(prompts)]
    (free,) = generate(base, LORA, requests[:1], NEW)
    end = free[6]
    monkeypatch.setattr(base, "end_ids", (end,))
    stopped, other = generate(base, LORA, requests, NEW)
    assert stopped == free[: free.index(end)]
    assert end not in other
    # A GPU is asked seldom whether all have ended; what comes after an end is dropped.
    monkeypatch.setitem(generation.END_TEST_STEPS, "cpu", 8)
    assert generate(base, LORA, requests[:1], NEW) == [stopped]


def test_last_token_states_ignore_padding_and_see_the_adapter(base, lora, random_state, model_folder) -> None:
    sequences, adapter = [[5, 6, 7], [9, 10, 11, 12, 13], [20]], random_state(5, lora)
    states = last_token_states(base, lora, adapter, sequences)
    model = under_peft(model_folder, lora, adapter)
    for sequence, state in zip(sequences, states, strict=True):
        with torch.no_grad():
            out = model(input_ids=torch.tensor([sequence]), output_hidden_states=True)
        np.testing.assert_allclose(state, out.hidden_states[-1][0, -1].numpy(), rtol=1e-4, atol=1e-5)


def test_prompt_that_does_not_fit_is_refused(base, adapters) -> None:
    with pytest.raises(UserError, match=r"client_007-1: a prompt of 120 tokens"):
        generate(base, LORA, [GenerationRequest("client_007-1", [3] * 120, adapters[0])], NEW)
    with pytest.raises(UserError, match="prompt of 0 tokens"):
        generate(base, LORA, [GenerationRequest("a", [], adapters[0])], NEW)


@pytest.mark.parametrize("lengths", [[9] * 6, [3, 9, 9, 5, 4, 12]], ids=["one length", "many lengths"])
def test_a_static_cache_gives_the_tokens_of_the_growing_one(base, adapters, monkeypatch, lengths) -> None:
    generator = np.random.default_rng(4)
    prompts = [generator.integers(2, 290, size=length).tolist() for length in lengths]
    requests = [GenerationRequest(f"{row}", prompt, adapters[row // 2]) for row, prompt in enumerate(prompts)]
    growing = generate(base, LORA, requests, NEW, 1.1)
    taken, plain = [], decoding.StaticSteps._step
    monkeypatch.setattr(decoding.StaticSteps, "_step", lambda steps: taken.append(steps) or plain(steps))
    monkeypatch.setattr(generation, "static_fits", lambda base, total: True)
    assert generate(base, LORA, requests, NEW, 1.1) == growing
    assert taken
    assert generate(base, LORA, requests, NEW, 1.0) != growing


@pytest.mark.parametrize("fate", ["kept", "differs", "cannot be recorded"])
def test_a_graph_is_kept_where_its_first_step_is_that_of_a_plain_one(base, adapters, monkeypatch, capsys, fate) -> None:
    """A CUDA graph is pretended on a processor: it replays by a plain step, after which one that differs is spoilt."""
    requests = [GenerationRequest(f"{row}", [5 + row, 9, 14], adapters[row]) for row in range(4)]
    expected = generate(base, LORA, requests, NEW, 1.1)
    steps: list[decoding.StaticSteps] = []
    replays, streams = [], []
    made, plain = decoding.StaticSteps.__init__, decoding.StaticSteps._step

    def initialise(self, *given) -> None:
        made(self, *given)
        self.records = True
        steps.append(self)

    def replay() -> None:
        replays.append(1)
        plain(steps[-1])
        steps[-1].batch.history[:, -1] += fate == "differs"

    @contextmanager
    def recorded(_) -> Iterator[None]:
        with monkeypatch.context() as patch:
            patch.setattr(decoding.StaticSteps, "_step", lambda self: None)  # recording runs nothing
            yield
        if fate == "cannot be recorded":
            raise RuntimeError("operation not permitted when stream is capturing\nmore")

    monkeypatch.setattr(generation, "static_fits", lambda base, total: True)
    monkeypatch.setattr(decoding.StaticSteps, "__init__", initialise)
    monkeypatch.setattr(decoding, "_UNRECORDED", weakref.WeakSet())
    monkeypatch.setattr(torch.cuda, "CUDAGraph", lambda: SimpleNamespace(replay=replay))
    monkeypatch.setattr(torch.cuda, "graph", recorded)
    monkeypatch.setattr(torch.cuda, "current_stream", lambda: "before")
    monkeypatch.setattr(torch.cuda, "set_stream", streams.append)
    assert generate(base, LORA, requests, NEW, 1.1) == expected
    assert streams == ["before"]  # recorded once
    assert (base.model in decoding._UNRECORDED) == (fate != "kept")
    message = capsys.readouterr().err
    if fate == "kept":
        assert len(replays) > 1
        assert "CUDA graph" not in message
    else:
        assert len(replays) == (fate == "differs")
        reason = "its first tokens were not those of a plain step" if fate == "differs" else "operation not permitted"
        assert f"without a CUDA graph: {reason}" in message


def test_a_model_that_slides_over_its_past_or_adds_its_masks_keeps_the_growing_cache(base, monkeypatch) -> None:
    gpu = replace(base, device=torch.device("cuda"))
    assert not decoding.static_fits(base, 100)
    monkeypatch.setattr(base.model.config, "sliding_window", 64)
    assert [decoding.static_fits(gpu, tokens) for tokens in (100, 64)] == [False, True]
    monkeypatch.setattr(base.model.config, "_attn_implementation", "eager")
    assert not decoding.static_fits(gpu, 64)


@pytest.mark.parametrize("nested", [False, True])
@pytest.mark.parametrize(("kind", "fits"), [("default", True), ("yarn", True), ("dynamic", False), ("longrope", False)])
def test_a_rotation_that_looks_at_the_positions_is_not_recorded(base, monkeypatch, kind, fits, nested) -> None:
    gpu, rotation = replace(base, device=torch.device("cuda")), {"rope_type": kind, "rope_theta": 10_000.0}
    monkeypatch.setattr(base.model.config, "rope_parameters", {"full_attention": rotation} if nested else rotation)
    assert decoding.static_fits(gpu, 100) is fits


def test_a_batch_s_cache_goes_with_its_batch(base, adapters, monkeypatch) -> None:
    """Without waiting for the garbage collector, which does not know how full a GPU is."""
    made: list[weakref.ref[decoding.StaticSteps]] = []
    plain = decoding.StaticSteps.__init__

    def initialise(self, *given) -> None:
        assert all(earlier() is None for earlier in made)
        plain(self, *given)
        made.append(weakref.ref(self))

    monkeypatch.setattr(generation, "static_fits", lambda base, total: True)
    monkeypatch.setattr(decoding.StaticSteps, "__init__", initialise)
    gc.collect()
    gc.disable()
    try:
        generate(base, LORA, [GenerationRequest(f"{row}", [5, 9, 14], adapters[0]) for row in range(6)], NEW, 1.1, 2)
    finally:
        gc.enable()
    assert len(made) == 3
