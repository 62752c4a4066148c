"""Pieces and plans: supervision once a token, steps, shuffling."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some
from tests.lm.conftest import optimisation

from favor.foundation.errors import UserError
from favor.lm.tasks import ClientTask, Piece, cut_pieces, make_plan, plan_steps, predicted_tokens, stage_steps


@given(some.integers(0, 300), some.integers(1, 30), some.integers(2, 40))
def test_every_token_after_the_first_prefix_is_supervised_once(length, prefix, longest) -> None:
    if prefix >= longest:
        longest = prefix + longest
    pieces = cut_pieces(range(length), "d", prefix, longest)
    supervised = [token for piece in pieces for token in piece.tokens[piece.response_start :].tolist()]
    if length < 2:
        assert pieces == []
        return
    first = prefix if length >= 2 * prefix else length // 2
    assert supervised == list(range(first, length))
    assert all(1 <= piece.response_start < len(piece) <= longest for piece in pieces)
    # Context: every later window begins with the prefix tokens before its response.
    for piece in pieces[1:]:
        assert piece.tokens[0] == piece.tokens[prefix] - prefix


@pytest.mark.parametrize(
    ("length", "prefix", "longest", "options", "expected"),
    [
        # Windows of 6 that overlap by 2: 0-5 supervising 2-5, 4-9 supervising 6-9.
        (10, 2, 6, {}, [(0, 6, 2), (4, 10, 2)]),
        (40, 4, 16, {"cut": "truncate"}, [(0, 16, 4)]),
        (5, 4, 8, {}, [(0, 5, 2)]),  # shorter than two prefixes: the second half
        # A writing prompt is context alone: within the prefix as without.
        (10, 2, 6, {"given": 2}, [(0, 6, 2), (4, 10, 2)]),
        (10, 2, 6, {"given": 4}, [(0, 6, 4), (4, 10, 2)]),
        (10, 2, 6, {"given": 7}, [(4, 10, 3)]),  # the first window holds nothing to learn
        (10, 2, 6, {"given": 10}, []),
        (3, 2, 6, {"given": 2}, [(0, 3, 2)]),  # a short one, later than its middle
        # An opening takes one token of 7, and is in no response.
        (10, 2, 7, {"opening": [90]}, [(0, 6, 3), (4, 10, 3)]),
    ],
)
def test_pieces_by_hand(length, prefix, longest, options, expected) -> None:
    pieces = cut_pieces(range(length), "d", prefix, longest, **options)
    assert [(piece.tokens.tolist(), piece.response_start) for piece in pieces] == [
        ([*options.get("opening", ()), *range(start, stop)], response) for start, stop, response in expected
    ]
    assert all(piece.tokens.dtype == np.int32 for piece in pieces)


@pytest.mark.parametrize(("prefix", "longest"), [(0, 4), (4, 4)])
def test_impossible_windows_are_refused(prefix, longest) -> None:
    with pytest.raises(ValueError, match="prefix_tokens"):
        cut_pieces(range(9), "d", prefix, longest)


def test_steps_cover_every_piece_once_an_epoch() -> None:
    lengths = list(range(5, 18))
    steps = plan_steps(lengths, 2, micro_batch=2, accumulation=3, seed=4)
    assert [[len(group) for group in step] for step in steps] == [[2, 2, 2], [2, 2, 2], [1]] * 2
    for epoch in (steps[:3], steps[3:]):
        assert sorted(index for step in epoch for group in step for index in group) == list(range(13))
    assert steps[:3] != steps[3:]
    assert steps == plan_steps(lengths, 2, 2, 3, 4)
    assert steps != plan_steps(lengths, 2, 2, 3, 5)


def test_length_sorting_moves_pieces_within_a_step_only() -> None:
    lengths = np.random.default_rng(0).integers(2, 99, size=23).tolist()
    plain = plan_steps(lengths, 1, 2, 4, seed=9, group_by_length=False)
    grouped = plan_steps(lengths, 1, 2, 4, seed=9)
    for left, right in zip(plain, grouped, strict=True):
        flat = [index for group in right for index in group]
        assert sorted(index for group in left for index in group) == sorted(flat)
        assert [lengths[index] for index in flat] == sorted((lengths[index] for index in flat), reverse=True)


def test_plan_counts_supervised_tokens() -> None:
    pieces = [Piece(np.arange(7, dtype=np.int32), 3, "a"), Piece(np.arange(5, dtype=np.int32), 1, "b")]
    task = ClientTask("c", pieces, {}, 1, 1)
    # Response: 4 + 4. Every token: 6 + 4, for nothing predicts the first.
    assert make_plan(task, optimisation()).supervised_tokens == [8]
    assert make_plan(task, optimisation(supervised="all")).supervised_tokens == [10]
    assert predicted_tokens(pieces[0], optimisation(supervised="all")) == 6


@pytest.mark.parametrize(
    ("pieces", "epochs", "longest", "message"),
    [
        (0, 1, 32, "client_009: no supervised token"),
        (1, 0, 32, "client_009: no supervised token"),
        (1, 1, 6, "a piece of 7 tokens exceeds max_length 6"),
    ],
)
def test_plan_refuses_what_trains_nothing(pieces, epochs, longest, message) -> None:
    task = ClientTask("client_009", [Piece(np.arange(7, dtype=np.int32), 3, "a")] * pieces, {}, epochs, 1)
    with pytest.raises(UserError, match=message):
        make_plan(task, optimisation(max_length=longest))


def test_a_fraction_of_a_pass_stops_within_it() -> None:
    lengths = [5] * 11  # five steps a pass of 2 x 1 pieces and one of a single piece
    assert stage_steps(11, 1.44, 2) == math.ceil(1.44 * 6) == 9
    assert stage_steps(11, 3, 2) == 18
    # 1.1 * 10 is 11.000000000000002 in binary: still eleven steps.
    assert stage_steps(10, 1.1, 1) == 11
    steps = plan_steps(lengths, 1.44, 2, 1, 3)
    assert steps == plan_steps(lengths, 2, 2, 1, 3)[:9]


@pytest.mark.parametrize("pieces", [1, 3, 8, 31])
def test_a_fixed_number_of_steps_does_not_depend_on_the_text(pieces) -> None:
    lengths = list(range(2, 2 + pieces))
    steps = plan_steps(lengths, 2, micro_batch=2, accumulation=2, seed=3, steps_per_epoch=4)
    assert [[len(group) for group in step] for step in steps] == [[2, 2]] * 8
    assert stage_steps(pieces, 2, 4, 4) == 8
    assert stage_steps(pieces, 0.5, 4, 3) == 2  # a part of a pass rounds up to a step
    drawn = [index for step in steps for group in step for index in group]
    counts = [drawn.count(index) for index in range(pieces)]
    assert max(counts) - min(counts) <= 1  # whole passes one after another: 32 draws of 3 pieces are 11, 11, 10
    plain = plan_steps(lengths, 2, 2, 2, 3, group_by_length=False, steps_per_epoch=4)
    order = [index for step in plain for group in step for index in group]
    assert sorted(order[:pieces]) == list(range(pieces))[: len(order)]  # a pass covers all before the next begins


def test_a_fixed_number_of_steps_equals_the_plain_plan_where_it_fits() -> None:
    lengths = [5, 9, 7, 6, 8, 4]
    assert plan_steps(lengths, 3, 1, 2, 4, steps_per_epoch=3) == plan_steps(lengths, 3, 1, 2, 4)
