"""Validation losses of a stage: what they are, that reading changes nothing, and which pass early stopping keeps."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from tests.lm.conftest import alignment, optimisation, plain_losses, same_bits, under_peft

from favor.config.models import PROJECTIONS
from favor.lm import training
from favor.lm.lora import concatenate_rank
from favor.lm.optimiser import linear_schedule
from favor.lm.settings import Lora
from favor.lm.tasks import ClientTask, EarlyStopping, make_plan
from favor.lm.training import train

SETTINGS = optimisation(accumulation=2)
ALIGNMENT = alignment(dropout=0.1)
DROPOUT = Lora(rank=3, alpha=6, dropout=0.2, target_modules=PROJECTIONS)


def losses(result) -> list[float]:
    """The validation losses of a log in their order: before the stage, then after its passes."""
    rows = [row["validation_loss"] for row in result.log if not math.isnan(row["validation_loss"])]
    return [result.log[0]["validation_loss_before"], *rows]


def oracle(model_folder, lora, state, pieces, supervised) -> float:
    """Mean -ln p per supervised token, one piece at a time with transformers and PEFT."""
    model, first = under_peft(model_folder, lora, state), 1 if supervised == "all" else None
    return float(torch.cat([plain_losses(model, piece, first) for piece in pieces]).mean())


@pytest.mark.parametrize("supervised", ["response", "all"])
@pytest.mark.parametrize("personal", [False, True])
def test_losses_are_those_of_transformers_and_peft(
    personal, supervised, base, model_folder, random_state, random_pieces
) -> None:
    # The rate is such that start and end differ clearly.
    settings = SETTINGS.model_copy(update={"supervised": supervised, "learning_rate": 5e-2})
    start, unseen = random_state(4, DROPOUT), random_pieces(9, 7)
    task = ClientTask("client_0", random_pieces(0, 9), start, 2, 3, validation=unseen)
    if personal:  # the endpoint held, the residual trained
        task = replace(task, offset=start, target=np.ones(8, dtype=np.float32))
    (result,) = train(base, DROPOUT, [task], settings, ALIGNMENT if personal else None)
    found = losses(result)
    assert len(found) == 3
    assert found[0] == pytest.approx(oracle(model_folder, DROPOUT, start, unseen, supervised), abs=1e-4)
    assert found[-1] == pytest.approx(oracle(model_folder, DROPOUT, result.state, unseen, supervised), abs=1e-4)
    assert abs(found[0] - found[-1]) > 1e-2


@pytest.mark.parametrize("aligned", [False, True])
def test_reading_changes_no_bit_of_what_is_trained(aligned, base, random_state, random_pieces) -> None:
    start, target = random_state(4, DROPOUT), np.ones(8, dtype=np.float32) if aligned else None
    tasks = [ClientTask(f"c{k}", random_pieces(k, 5 + k), start, 2, k, offset=start, target=target) for k in range(3)]
    plain = train(base, DROPOUT, tasks, SETTINGS, ALIGNMENT)
    read = train(base, DROPOUT, [replace(t, validation=random_pieces(9, 5)) for t in tasks], SETTINGS, ALIGNMENT)
    for before, after in zip(plain, read, strict=True):
        assert same_bits(before.state, after.state)
        assert same_bits(before.residual, after.residual)
        assert [row["task_loss"] for row in before.log] == [row["task_loss"] for row in after.log]
        assert all(map(math.isnan, losses(before)))
        assert not any(map(math.isnan, losses(after)))


def test_clients_read_together_and_those_without_texts(base, lora, random_state, random_pieces) -> None:
    start = random_state(4, lora)
    tasks = [
        ClientTask(f"client_{k}", random_pieces(k, 5), start, 1, k, validation=random_pieces(k + 9, 0 if k == 1 else 5))
        for k in range(3)
    ]
    together = [losses(result) for result in train(base, lora, tasks, SETTINGS)]
    parts = [losses(result) for result in train(base, lora, tasks, SETTINGS, max_rows_per_forward=1)]
    alone = [losses(train(base, lora, [task], SETTINGS)[0]) for task in tasks]
    for found in (parts, alone):
        for one, other in zip(together, found, strict=True):
            assert one == pytest.approx(other, rel=1e-5, nan_ok=True)
    assert list(map(len, together)) == [2, 1, 2]
    assert math.isnan(together[1][0])


def test_a_mixture_is_read_as_it_is_trained(base, lora, random_state, random_pieces) -> None:
    own, other, unseen = random_state(1, lora), random_state(2, lora), random_pieces(9, 5)
    task = ClientTask("client_0", random_pieces(0, 5), own, 1, 3, companion=other, validation=unseen)
    gates = {"gates": np.full(5, 0.9), "validation_gates": np.full(5, 0.3)}
    (gated,) = train(base, lora, [replace(task, **gates)], SETTINGS)
    (learned,) = train(base, lora, [replace(task, weight=0.7, weight_rate=0.1)], SETTINGS)
    wide = Lora(rank=6, alpha=12, dropout=0.0, target_modules=PROJECTIONS)

    def joined(state, share) -> float:
        joint = concatenate_rank(other, state, share)
        return losses(train(base, wide, [replace(task, start=joint, companion=None)], SETTINGS)[0])[0]

    assert losses(gated) == pytest.approx([joined(own, 0.3), joined(gated.state, 0.3)], rel=1e-5)
    assert learned.weight not in (None, 0.7)
    expected = [joined(own, 0.3), joined(learned.state, 1 - learned.weight)]
    assert losses(learned) == pytest.approx(expected, rel=1e-5)


def test_the_steps_that_end_a_pass(random_pieces) -> None:
    task = ClientTask("client_0", random_pieces(0, 9), {}, 2, 3)  # 3 steps a pass
    assert make_plan(task, SETTINGS).passes == {2, 5}
    assert make_plan(replace(task, epochs=1.5), SETTINGS).passes == {2, 4}
    assert make_plan(replace(task, inner_steps=2), SETTINGS).passes == {5, 11}
    assert make_plan(task, SETTINGS.model_copy(update={"steps_per_epoch": 4})).passes == {3, 7}


def test_the_pass_that_is_kept() -> None:
    stopping = EarlyStopping(2)
    answers = [(stopping.better(loss), stopping.over) for loss in (3.0, 2.0, 2.5, 1.9, 1.9, 2.1)]
    # A loss that is equal has not fallen.
    assert answers == [(True, False), (True, False), (False, False), (True, False), (False, False), (False, True)]
    assert stopping.best == 1.9


@pytest.mark.parametrize("parts", [{}, {"weight": 0.5, "weight_rate": 0.1}])
def test_early_stopping_keeps_the_values_of_the_best_pass(
    parts, base, random_state, random_pieces, monkeypatch
) -> None:
    """Losses by hand say which: client 0's rise after the first pass, client 1's only after the second."""
    start = random_state(4, DROPOUT)
    given = {0: [9.0, 1.0, 2.0, 3.0, 4.0], 1: [9.0, 2.0, 1.0, 3.0, 4.0]}
    companion = random_state(5, DROPOUT) if parts else None
    tasks = [
        ClientTask(
            f"client_{k}", random_pieces(k, 5), start, 4, k, None if parts else start, companion=companion,
            validation=random_pieces(9, 3), patience=1, **parts,
        )
        for k in range(2)
    ]  # fmt: skip
    seen: dict[int, list[tuple[torch.Tensor, float | None]]] = {0: [], 1: []}

    def read(run, positions) -> dict[int, float]:
        for place in positions:
            weight = run.cohort.mixture.weights[place] if run.cohort.mixture else None
            seen[place].append((run.cohort.effective[place].clone(), weight))
        return {place: given[place][len(seen[place]) - 1] for place in positions}

    monkeypatch.setattr(training._StackRun, "_validation", read)
    results = train(base, DROPOUT, tasks, SETTINGS)
    stack = training.LoraStack(base.model, DROPOUT)
    for result, readings, best in zip(results, seen.values(), (1, 2), strict=True):
        assert torch.equal(stack.layout.flatten(result.state, base.device), readings[best][0])
        assert result.weight == readings[best][1]
        # One more pass than the best was run; the learning rates are those of the planned four, of two steps each.
        assert len(readings) == best + 2
        assert not torch.equal(readings[best][0], readings[-1][0])
        rates = [5e-3 * linear_schedule(step, 8, 0.03, 1) for step in range(2 * (best + 1))]
        assert [row["learning_rate"] for row in result.log] == pytest.approx(rates)
