"""A GPU that runs out of memory: narrower passes and stacks, the same results, and what the next job is told.

There is no GPU here, so the decoder raises CUDA's error for more rows than a limit, wherever the library calls it.
"""

import json
import weakref
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from tests.lm.conftest import alignment as aligned_by
from tests.lm.conftest import optimisation, same_bits, style_target
from torch import nn

from favor.config.models import PROJECTIONS
from favor.foundation.errors import UserError
from favor.inference.generation import GenerationRequest, generate, last_token_states
from favor.lm import passes, training
from favor.lm.batch_limits import WidthMemory, Widths
from favor.lm.cohort import Cohort
from favor.lm.memory_budget import Room, bytes_per_token, clients_held
from favor.lm.settings import PASS_BYTES, Lora
from favor.lm.stack import FactorLayout
from favor.lm.tasks import ClientTask, make_plan
from favor.lm.training import count_steps, train
from favor.running.devices.leases import SHARE, WIDTHS
from favor.running.jobs.progress import Progress

pytestmark = pytest.mark.slow(27)

LORA = Lora(rank=3, alpha=6, dropout=0.3, target_modules=PROJECTIONS)
SETTINGS = optimisation(micro_batch=4, accumulation=2, group_by_length=False, gradient_checkpointing="off")
ALIGNMENT = aligned_by(dropout=0.25, ramp_fraction=0.3)
# Float32 sums in another order, carried through Adam's division by a root.
TOLERANCE = {"rtol": 1e-4, "atol": 2e-5}


@pytest.fixture(autouse=True)
def no_collection(monkeypatch) -> None:
    """A collection takes a second beside this many libraries, and there is no memory to give back."""
    monkeypatch.setattr("favor.running.devices.gpu_memory.gc.collect", lambda: 0)


@contextmanager
def memory_for(base, rows, every=1) -> Iterator[list[int]]:
    """Let the decoder hold at most ``rows`` rows; with ``every`` n only each n-th wider pass fails."""
    seen = []

    def refuse(module, arguments, options) -> None:
        tokens = options["input_ids"]
        if "packing" in options:  # Pieces in one row, and padding of zeros.
            seen.append(sum(bool(piece.any()) for piece in tokens[0].split(options["packing"].lengths)))
        else:
            seen.append(len(tokens))
        wide = sum(count > rows for count in seen)
        if seen[-1] > rows and wide % every == 0:
            raise torch.cuda.OutOfMemoryError("no room")

    handle = base.decoder.register_forward_pre_hook(refuse, with_kwargs=True)
    try:
        yield seen
    finally:
        handle.remove()


def tasks(random_state, random_pieces, clients=3, **values) -> list[ClientTask]:
    made = [
        ClientTask(f"client_{k}", random_pieces(k, 9 + 5 * k, 16), random_state(k, LORA), 1, k, target=style_target(k))
        for k in range(clients)
    ]
    return [replace(task, **values) for task in made]


def assert_same(left, right) -> None:
    for one, other in zip(left, right, strict=True):
        assert one.name == other.name
        torch.testing.assert_close(one.state, other.state, **TOLERANCE)
        assert len(one.log) == len(other.log)
        for column in ("task_loss", "cosine", "gradient_norm", "alignment_gradient_share", "supervised_tokens"):
            np.testing.assert_allclose(
                [row[column] for row in one.log], [row[column] for row in other.log], rtol=5e-4, atol=2e-5
            )


@pytest.mark.parametrize("pooling", ["minibatch", "example", None])
@pytest.mark.parametrize("limit", [4, 3, 1])
def test_training_completes_with_the_same_effective_batch(base, random_state, random_pieces, limit, pooling) -> None:
    """Also of clients with everything that a task may hold, those of "minibatch"."""
    alignment = None if pooling is None else ALIGNMENT.model_copy(update={"pooling": pooling, "minimum_tokens": 3})
    clients = tasks(random_state, random_pieces, **({} if pooling else {"target": None}))
    if pooling == "minibatch":
        anchor, companion, offset = (random_state(seed, LORA) for seed in (7, 8, 9))
        held = {"anchor": anchor, "proximal": 0.01, "offset": offset, "companion": companion}
        clients = [replace(task, **held, gates=np.linspace(0, 1, len(task.pieces))) for task in clients]
    expected = train(base, LORA, clients, SETTINGS, alignment)
    widths, progress = Widths(), Progress("stage", count_steps(clients, SETTINGS))
    with memory_for(base, limit) as seen:
        result = train(base, LORA, clients, SETTINGS, alignment, progress, widths=widths)
    assert seen[0] > limit
    assert_same(result, expected)
    # Clients that began again are counted once.
    assert progress.done == progress.total
    # A stack gets fewer clients before a micro-batch is cut.
    assert widths.clients == (None if limit >= 4 else 1)
    # The next job begins with what fitted, and finds room at once.
    with memory_for(base, limit):
        kept = replace(widths)
        assert_same(train(base, LORA, clients, SETTINGS, alignment, widths=widths), expected)
        assert widths == kept


def test_a_failed_pass_leaves_nothing_behind(base, random_state, random_pieces) -> None:
    """The third pass of a step fails: its step is done again from cleared gradients, with the very same masks."""
    clients = tasks(random_state, random_pieces, clients=1, pieces=random_pieces(9, 40, 16))
    settings = SETTINGS.model_copy(update={"accumulation": 4})
    with memory_for(base, 4, every=3) as seen:
        widths = Widths()
        result = train(base, LORA, clients, settings, ALIGNMENT, max_rows_per_forward=8, widths=widths)
    assert (seen[:3], widths.divisor) == ([8, 8, 8], 2)
    assert max(seen[3:]) == 4
    # The first step ran in passes of 8 rows; all others are those of a job that begins with 4, bit for bit.
    first = train(base, LORA, clients, settings, ALIGNMENT, max_rows_per_forward=8)
    assert result[0].log[0] == first[0].log[0]
    assert_same(result, first)
    with memory_for(base, 4) as seen:
        from_the_start = train(base, LORA, clients, settings, ALIGNMENT, max_rows_per_forward=8)
    undisturbed = train(base, LORA, clients, settings, ALIGNMENT, max_rows_per_forward=4)
    assert same_bits(from_the_start[0].state, undisturbed[0].state)


def test_too_little_memory_is_one_line(base, random_state, random_pieces) -> None:
    clients = tasks(random_state, random_pieces)
    with memory_for(base, 0), pytest.raises(UserError, match="one row of one client does not fit in GPU memory"):
        train(base, LORA, clients, SETTINGS, ALIGNMENT)
    with memory_for(base, 0), pytest.raises(UserError, match="a: one continuation does not fit in GPU memory"):
        generate(base, LORA, [GenerationRequest("a", [5, 6, 7])], 8)
    with memory_for(base, 0), pytest.raises(UserError, match="one prompt does not fit in GPU memory"):
        last_token_states(base, LORA, random_state(0, LORA), [[5, 6, 7]])


@pytest.mark.parametrize("limit", [5, 2, 1])
def test_generation_gives_the_same_texts(base, random_state, limit) -> None:
    generator = np.random.default_rng(2)
    states = [random_state(number, LORA) for number in range(4)]
    lengths = [9, 4, 9, 9, 7, 9, 12, 9, 9, 5, 9, 9]
    requests = [
        GenerationRequest(str(row), generator.integers(2, 290, size=length).tolist(), states[row % 4])
        for row, length in enumerate(lengths)
    ]
    expected = generate(base, LORA, requests, 20)
    widths, progress = Widths(), Progress("texts", len(requests))
    with memory_for(base, limit):
        assert generate(base, LORA, requests, 20, progress=progress, widths=widths) == expected
    assert progress.done == len(requests)
    assert widths.rows(64) <= limit
    prompts = [request.prompt_tokens for request in requests]
    whole = last_token_states(base, LORA, states[0], prompts)
    with memory_for(base, limit):
        np.testing.assert_allclose(last_token_states(base, LORA, states[0], prompts), whole, rtol=1e-4, atol=1e-5)


def test_what_fitted_is_remembered_by_kind(base, tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.setenv(WIDTHS, str(tmp_path / "widths"))
    memory, other = WidthMemory(base, {"stage": "shared"}), WidthMemory(base, {"stage": "personal"})
    memory.remember(memory.recall())
    assert not (tmp_path / "widths").exists()
    memory.remember(Widths(4, None))
    memory.remember(Widths(2, 6))
    assert WidthMemory(base, {"stage": "shared"}).recall() == Widths(4, 6)
    assert f"batch limits as in {memory.path}" in capsys.readouterr().err
    assert other.recall() == Widths()
    assert json.loads(memory.path.read_text())["job"]["device"] == "cpu"
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda divisor: other.remember(Widths(divisor)), [2, 4, 8, 16] * 8))
    assert other.recall().divisor in (2, 4, 8, 16)
    # Passes are full again where every layer is computed twice, which needs less memory than small ones without.
    other.remember(Widths(1, None, 2))
    other.remember(Widths(32, None, 0))
    assert other.recall() == Widths(1, None, 2)
    assert [path.name for path in (tmp_path / "widths").iterdir() if not path.name.endswith(".json")] == []
    memory.path.write_text("{")
    with pytest.raises(UserError, match="not complete JSON"):
        memory.recall()
    monkeypatch.setenv(SHARE, "2")  # jobs that share a device have other widths than those that have it alone
    assert WidthMemory(base, {"stage": "personal"}).recall() == Widths()
    monkeypatch.delenv(WIDTHS)
    assert WidthMemory(base, {"stage": "shared"}).recall() == Widths()


@pytest.mark.parametrize("clients", [1, 3])
def test_no_pass_keeps_the_factors_of_another(base, random_state, random_pieces, monkeypatch, clients) -> None:
    """Neither a failed pass's, which retries would wait for, nor those of the pass before."""
    made, alive, factors = [], [], FactorLayout.factors

    def watched(*arguments, **options) -> Any:
        alive.append(sum(reference() is not None for reference in made))
        pairs = factors(*arguments, **options)
        made.extend(weakref.ref(leaf) for pair in pairs for leaf in pair)
        return pairs

    monkeypatch.undo()  # collections take place
    monkeypatch.setattr(FactorLayout, "factors", watched)
    with memory_for(base, 4):
        train(base, LORA, tasks(random_state, random_pieces, clients), SETTINGS, ALIGNMENT)
    assert len(alive) > 3
    assert set(alive) == {0}


def test_layers_of_small_passes_are_computed_twice_before_these_shrink(
    base, random_state, random_pieces, monkeypatch
) -> None:
    """None, then every second layer, then every layer: the fourth failure alone makes passes smaller."""
    clients = tasks(random_state, random_pieces, clients=1)
    expected = train(base, LORA, clients, SETTINGS, ALIGNMENT)
    run_pass, recomputed = passes.run_pass, []

    def watched(*arguments) -> None:
        recomputed.append(sum(bool(layer.gradient_checkpointing) for layer in base.model.base_model.layers))
        run_pass(*arguments)

    monkeypatch.setattr(passes, "run_pass", watched)
    widths = Widths()
    with memory_for(base, 4) as seen:
        settings = SETTINGS.model_copy(update={"gradient_checkpointing": "auto"})
        assert_same(train(base, LORA, clients, settings, ALIGNMENT, widths=widths), expected)
    assert seen[:4] == [8, 8, 8, 4]
    assert recomputed[:4] == [0, 1, 2, 2]
    assert (widths.clients, widths.recomputed) == (None, 2)


@pytest.mark.parametrize(
    ("checkpointing", "max_rows", "expected"),
    [
        ("auto", None, [(8192, None), (4096, None), (2048, None), (2048, 2), (8192, 1), (4096, 1)]),
        ("auto", 32, [(32, None), (16, None), (8, None), (4, None), (4, 2), (32, 1), (16, 1)]),
        ("off", None, [(8192, None), (4096, None), (2048, None), (1024, None)]),
    ],
)
def test_what_gives_way_to_a_shortage_of_memory(random_pieces, checkpointing, max_rows, expected) -> None:
    """Passes to 2,048 tokens or a micro-batch, every second layer, every layer in full passes, then passes again."""
    changes = {"max_length": 1024, "accumulation": 16, "gradient_checkpointing": checkpointing, "steps_per_epoch": 1}
    settings = SETTINGS.model_copy(update=changes)
    plans = [make_plan(ClientTask(name, random_pieces(0, 64, 500), {}, 1, 1), settings) for name in "ab"]
    room = Room(torch.device("cuda"), settings, max_rows, Widths())
    course = []
    while len(course) < 20 and (not course or room.narrow(1)):
        next(room.passes(plans, 0, [0, 1]))
        course.append((room.widths.rows(max_rows or room.tokens), room.recomputed))
    assert course[: len(expected)] == expected
    # Nothing more gives way once a pass is one row.
    assert room.rows == 1
    assert len(course) < 20


def test_a_pass_on_a_processor_keeps_what_the_budget_says() -> None:
    """Two linear layers of 3 to 5 in float32: 4 x 8 bytes each, and 3 of the mask."""
    decoder = nn.Sequential(nn.Linear(3, 5), nn.Linear(3, 5))
    assert bytes_per_token(decoder) == 2 * (4 * 8 + 3)
    for bytes_of_a_token, tokens in ((70, 2048), (PASS_BYTES // 500, 500), (2 * PASS_BYTES, 1)):
        assert Room(torch.device("cpu"), SETTINGS, None, Widths(), bytes_of_a_token).tokens == tokens
    assert Room(torch.device("cuda"), SETTINGS, None, Widths(), 2 * PASS_BYTES).tokens == 8192


def test_a_stack_takes_a_tenth_of_the_memory(monkeypatch) -> None:
    plain = ClientTask("a", [], {}, 1, 1)
    # Values, gradients and two moments: 16 bytes per number.
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda _: SimpleNamespace(total_memory=24 * 10**9))
    for task, size, clients in (
        (plain, 30 * 10**6, 5),
        (replace(plain, offset={}), 30 * 10**6, 3),
        (replace(plain, companion={}), 30 * 10**6, 4),
        (plain, 10**9, 1),
    ):
        assert clients_held(torch.device("cuda"), size, task) == clients
    # On a processor half a GiB.
    held = [clients_held(torch.device("cpu"), size, plain) for size in (10**6, 5 * 10**6, 10**9)]
    assert held == [33, 6, 1]


def test_a_stack_that_the_card_does_not_hold_is_trained_in_parts(
    base, random_state, random_pieces, monkeypatch
) -> None:
    clients, made = tasks(random_state, random_pieces, clients=5), []
    expected = train(base, LORA, clients, SETTINGS, ALIGNMENT)
    monkeypatch.setattr(training, "clients_held", lambda *_: 2)
    monkeypatch.setattr(training, "Cohort", lambda *given: made.append(len(given[2])) or Cohort(*given))
    assert_same(train(base, LORA, clients, SETTINGS, ALIGNMENT), expected)
    assert made == [2, 2, 1]
