"""What the engine asks of a GPU stays within budgets, counted on the meta device (benchmarks/roofline.py)."""

import math
from dataclasses import replace
from functools import cache

import pytest
import torch
from tests.lm.conftest import benchmark
from tests.lm.test_packing import DECODERS
from transformers import Qwen2Config

from favor.lm.base import BaseModel
from favor.lm.lora import state_shapes

pytestmark = pytest.mark.slow(20)


roofline = benchmark("roofline")


@cache
def qwen(roofline, layers=36) -> BaseModel:
    """Qwen2.5-3B, or as many of its layers."""
    shape = roofline.SHAPES["qwen2.5-3b"] | {"num_hidden_layers": layers}
    return roofline.meta_base(Qwen2Config(**shape, tie_word_embeddings=True))


@pytest.fixture(scope="module")
def base(roofline) -> BaseModel:
    return qwen(roofline, 2)


@pytest.mark.parametrize("device", ["cpu", "cuda"])
@pytest.mark.parametrize(("aligned", "together"), [(False, 1), (False, 12), (True, 1), (True, 50)])
def test_padding(roofline, device, aligned, together) -> None:
    settings = roofline.SETTINGS.model_copy(update={"group_by_length": not aligned})
    ratio, _ = roofline.padding(roofline.plans(roofline.corpus(), settings), together, torch.device(device))
    assert 1 <= ratio <= 1.05


@pytest.mark.parametrize(("every", "twice"), [(None, (0, 0)), (2, (1, 0)), (1, (1, 1))])
def test_arithmetic_of_a_pass(roofline, base, every, twice) -> None:
    """Two operations a weight and token forward, two back, and two where a layer is computed twice: nothing else.

    The last layer's perceptron is for tokens that predict a label: 64 % of those in pieces of 126 to 377 tokens, of
    which the first 96, or half of a short piece, are context.
    """
    counts, real = roofline.trace_pass(base, 8192, 4, every)
    attention, perceptron = 2048 * 2048 * 2 + 2048 * 256 * 2, 2048 * 11008 * 3
    layers = (attention + perceptron, attention + 0.636 * perceptron)
    expected = sum((4 + 2 * again) * weights for weights, again in zip(layers, twice, strict=True))
    assert counts.flops("base") / real == pytest.approx(expected, rel=0.02)
    # Adapters of rank 16: forward, recomputed in part, and four products back.
    assert counts.flops("adapters") < 0.04 * counts.flops("base")
    assert counts.flops() == pytest.approx(sum(counts.flops(kind) for kind in {kind for kind, _, _ in counts.work}))


def test_arithmetic_of_the_whole_model(roofline) -> None:
    """GFLOP per real token at Qwen2.5-3B's shape: 11.1 are the base's products, forward and for the gradient."""
    counts, real = roofline.trace_pass(qwen(roofline), 8192, 2, None)
    assert 11 < counts.flops() / real / 1e9 <= 13


def test_alignment_costs_no_second_backward_pass(roofline, base) -> None:
    plain, aligned = (roofline.trace_pass(base, 8192, 4, None, aligned)[0] for aligned in (False, True))
    assert aligned.flops() < 1.01 * plain.flops()
    assert len(aligned.work) < 1.25 * len(plain.work)


def test_traffic_of_a_layer(roofline) -> None:
    """Bytes and operations of a layer: the third one of three, so that the output layer does not count."""
    found = []
    for layers in (2, 3):
        model = qwen(roofline, layers)
        counts = [roofline.trace_pass(model, 8192, 2, None, liger=liger)[0] for liger in (False, True)]
        found.append([(count.bytes() / 1e9, len(count.work)) for count in counts])
    (plain, liger) = ([more - less for less, more in zip(*pair, strict=True)] for pair in zip(*found, strict=True))
    assert plain[0] < 15
    assert plain[1] < 275
    assert liger[0] < plain[0] - 1
    assert liger[1] < plain[1]


def test_computing_layers_twice_needs_less_memory(roofline, base) -> None:
    peaks = [roofline.trace_pass(base, 8192, 4, every)[0].peak for every in (None, 2, 1)]
    # Of two layers one is the first to go, then both; what the layer at work needs stays.
    assert peaks[0] > 1.2 * peaks[1]
    assert peaks[1] >= peaks[2]


def test_a_decoding_step(roofline, base) -> None:
    counts = roofline.trace_decoding(base, 20, 5, 32, 48)
    weights = 2 * (2048 * 2048 * 2 + 2048 * 256 * 2 + 2048 * 11008 * 3)
    assert counts.flops("base") == pytest.approx(2 * 20 * weights, rel=1e-6)
    # Keys and values of 80 positions are read once for the eight heads that share them.
    held = 2 * 20 * (2 * 2 * 80 * 128 + 2 * 16 * 128) * 2
    assert counts.bytes("attention") == pytest.approx(held, rel=0.01)
    # Weights are read in 4 bits, written and read in 16; factors of rank 16 are read in 16.
    factors = 5 * 16 * 2 * (2048 * 7 + 2048 * 2 + 256 * 2 + 11008 * 3) * 2
    output = 151936 * 2048 * 2
    rest = counts.bytes() - held - 5 * weights - factors - output
    assert rest < 0.1 * counts.bytes()


def test_a_small_card_gets_smaller_passes_and_no_layer_twice(roofline, base) -> None:
    stage, found = roofline.plans(roofline.corpus()[:2], roofline.SETTINGS), []
    for memory in (141, 4, 3.2):
        room, seconds = roofline.stage_seconds(base, replace(roofline.CARDS["H200"], memory=memory), stage, 2)
        found.append((room.widths.divisor, room.recomputed, seconds))
    assert [one[:2] for one in found] == [(1, None), (2, None), (4, None)]
    # Small passes take longer for the same tokens.
    assert found[0][2] < found[1][2] < found[2][2]
    with pytest.raises(ValueError, match="one row does not fit"):
        roofline.stage_seconds(base, replace(roofline.CARDS["H200"], memory=0.1), stage, 2)


@pytest.mark.parametrize("name", ["llama", "phi", "phi3", "qwen3"])
def test_other_decoders_are_counted(roofline, name) -> None:
    """The adapters sit on every linear layer, whatever an architecture calls it."""
    base = roofline.meta_base(DECODERS[name])
    counts, real = roofline.trace_pass(base, 512, 2, None)
    linear = sum(m.in_features * m.out_features for m in base.model.modules() if isinstance(m, roofline.Quantised))
    products = counts.flops("base") + counts.flops("adapters")
    adapters = sum(math.prod(shape) for shape in state_shapes(base.model, roofline.LORA).values())
    # The last perceptron computes what is predicted alone, and the first layer's input has no gradient.
    assert 2 * linear * real < products < (4 * linear + 8 * adapters) * real
    assert roofline.trace_decoding(base, 4, 2, 8, 8).flops() > 2 * linear * 4


def test_computing_layers_twice_costs_more_than_small_passes(roofline) -> None:
    """A layer more, on a card of 24 GB: what the order in which passes and layers give way rests on."""
    card, seconds = roofline.CARDS["RTX 4090"], []
    for tokens, every in ((2048, None), (8192, 1)):
        counts = []
        for layers in (2, 4):
            found, real = roofline.trace_pass(qwen(roofline, layers), tokens, 2, every)
            counts.append(found.seconds(card) / real)
        seconds.append(counts[1] - counts[0])
    assert seconds[0] < 0.9 * seconds[1]


def test_what_favor_plan_says_of_an_rtx_4090(roofline) -> None:
    """The constant in the plan's estimate is what is counted here for FAVoR at the paper's size."""
    card = roofline.CARDS["RTX 4090"]
    _, seconds = roofline.training_seconds(qwen(roofline), roofline.corpus(), card, aligned=1.0)
    assert seconds / 60 == pytest.approx(12.8, rel=0.05)  # as benchmarks/README.md says
