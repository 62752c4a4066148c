"""A stage of one client that is stopped goes on behind its last whole pass, and ends with the same numbers."""

from dataclasses import replace

import pytest
from tests.lm.conftest import optimisation, same_bits

from favor.foundation.errors import UserError
from favor.lm.cohort import Cohort
from favor.lm.resuming import Checkpoint
from favor.lm.settings import Lora
from favor.lm.tasks import ClientTask
from favor.lm.training import train

LORA = Lora(rank=3, alpha=6, dropout=0.2)
# At this rate the second pass is the best of four, so that values are held while later passes run.
SETTINGS = optimisation(learning_rate=0.1, accumulation=2)


@pytest.fixture
def task(random_state, random_pieces) -> ClientTask:
    """Four passes of two steps over five pieces."""
    own, unseen = random_pieces(0, 5), random_pieces(9, 3)
    return ClientTask("writer", own, random_state(4, LORA), 4, 1, validation=unseen, patience=3)


@pytest.mark.parametrize("residual", [False, pytest.param(True, marks=pytest.mark.slow(6))])
@pytest.mark.parametrize("patience", [None, 1, pytest.param(3, marks=pytest.mark.slow(4))])
def test_a_stage_stopped_in_any_step_ends_with_the_same_numbers(
    base, task, residual, patience, tmp_path, monkeypatch
) -> None:
    task = replace(task, patience=patience, offset=task.start if residual else None)
    (whole,) = train(base, LORA, [task], SETTINGS)
    steps = len(whole.log)
    assert steps == {None: 8, 1: 6, 3: 8}[patience]  # the third pass is worse than the second
    step = Cohort.step
    for stop in range(steps):
        checkpoint = Checkpoint(tmp_path / f"{stop}.safetensors")
        taken = [step] * stop  # without one more, which stands for a kill
        monkeypatch.setattr(Cohort, "step", lambda *given, taken=taken: taken.pop()(*given))
        with pytest.raises(IndexError):
            train(base, LORA, [task], SETTINGS, checkpoint=checkpoint)
        assert checkpoint.path.is_file() == (stop >= 2)
        taken += [step] * (steps - stop // 2 * 2)  # whole passes are not done again
        (result,) = train(base, LORA, [task], SETTINGS, checkpoint=checkpoint)
        assert not taken
        assert same_bits(result.state, whole.state)
        assert same_bits(result.residual, whole.residual)
        assert repr(result.log) == repr(whole.log)  # repr, because nan is not equal to itself


def test_a_finished_stage_trains_nothing_again_and_a_damaged_file_is_named(base, task, tmp_path) -> None:
    checkpoint = Checkpoint(tmp_path / "pass.safetensors")
    (whole,) = train(base, LORA, [task], SETTINGS, checkpoint=checkpoint)
    before = checkpoint.path.read_bytes()
    (again,) = train(base, LORA, [task], SETTINGS, checkpoint=checkpoint)
    assert checkpoint.path.read_bytes() == before
    assert same_bits(again.state, whole.state)
    checkpoint.path.write_bytes(before[:100])
    with pytest.raises(UserError, match=r"pass\.safetensors: not a complete safetensors file .* delete it"):
        train(base, LORA, [task], SETTINGS, checkpoint=checkpoint)


def test_several_clients_have_no_checkpoint(base, task, tmp_path) -> None:
    with pytest.raises(ValueError, match="one client"):
        train(base, LORA, [task, replace(task, name="b")], SETTINGS, checkpoint=Checkpoint(tmp_path / "x"))
