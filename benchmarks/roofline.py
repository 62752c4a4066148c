"""What the engine asks of a GPU, found without one: padding, arithmetic, bytes, operations, memory, and an estimate.

Two parts. The planner's own forward passes over a corpus's length distribution say how many tokens are padding. The
project's own forward and backward pass and a decoding step run at a model's shape on torch's meta device, where tensors
have shapes and no values, and every operation is counted. Figures in seconds are a model, not a measurement: see
``CARDS`` and :meth:`counting.Counts.seconds`. ``python benchmarks/roofline.py`` takes a minute on one core;
``--configuration FOLDER`` takes any Hugging Face ``config.json``.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import torch
from counting import GPU, META, OVERHEAD, Card, Counts, Quantised, attention_kernel, card_kernels, counting, meta_base
from random_models import SHAPES

from favor.config.checks import MOST_CLIENTS_PER_JOB
from favor.inference.decoding import Batch, StaticSteps
from favor.inference.decoding_stack import DecodingStack
from favor.inference.generation import stacked_factors
from favor.lm.attention import packed_attention, shared_heads
from favor.lm.base import BaseModel
from favor.lm.batch_limits import Widths
from favor.lm.cohort import Cohort
from favor.lm.forward import build_batch
from favor.lm.fused import fused_layers
from favor.lm.lora import state_shapes
from favor.lm.memory_budget import Room, bytes_per_client, clients_in, recomputation
from favor.lm.passes import StepFigures, run_pass
from favor.lm.settings import ALL_LINEAR, Optimisation, WeightedAlignment
from favor.lm.stack import Component, LoraStack
from favor.lm.tasks import ClientTask, Piece, Plan, make_plan

LORA, SETTINGS = ALL_LINEAR, Optimisation(supervised="response", warmup_counts_from=1)
ALIGNMENT = WeightedAlignment(pooling="minibatch", ramp_counts="steps", weight=0.3)
# The corpus assumed: log-normal posts cut at 1,024 tokens, shares of clients falling as rank^-0.7.
PIECES, MEAN, SIGMA, SKEW, CLIENTS, ROUNDS, SAMPLED = 4522, 302.0, 1.0, 0.7, 50, 6, 12
EPOCHS = ROUNDS * SAMPLED / CLIENTS, 2  # over all clients' pieces: of the shared stage, of the private one
TRACED = 252  # tokens of a traced pass's piece, on average

CARDS = {"RTX 4090": Card(150, 0.90, 3.0, 24), "H200": Card(650, 4.0, 2.5, 141)}
# The share of a card's memory that is there for tensors.
USABLE = 0.95
# Seconds from a job's start to its first pass: Snakemake, imports (3 s of processor time), CUDA, 2 GB of base. Assumed.
START = 10
# What one generation of the clients' prompts decodes: rows, tokens of a prompt, and steps.
ROWS, PROMPT, STEPS = 200, 96, 220
# What trace_pass counted, by model.
_COUNTED: WeakKeyDictionary[torch.nn.Module, dict[tuple[Any, ...], tuple[Counts, int]]] = WeakKeyDictionary()


def corpus(seed: int = 1) -> list[list[int]]:
    """Return the lengths in tokens of every client's pieces."""
    generator = np.random.default_rng(seed)
    lengths = np.clip(generator.lognormal(np.log(MEAN) - SIGMA**2 / 2, SIGMA, PIECES), 16, SETTINGS.max_length)
    shares = np.arange(1, CLIENTS + 1) ** -SKEW
    bounds = np.round(np.cumsum(shares / shares.sum()) * PIECES).astype(int)[:-1]
    return [part.astype(int).tolist() for part in np.split(lengths, bounds)]


def plans(lengths: Sequence[Sequence[int]], settings: Optimisation) -> list[Plan]:
    """Return a stage's plan of every client, over pieces of zeros."""
    made = []
    for number, own in enumerate(lengths):
        pieces = [Piece(np.zeros(length, dtype=np.int32), min(96, length // 2), "") for length in own]
        made.append(make_plan(ClientTask(str(number), pieces, {}, 1, number), settings))
    return made


def planned_passes(room: Room, stage: Sequence[Plan], together: int) -> Iterator[Sequence[Any]]:
    """Yield every pass of a stage's epoch, in parts where a micro-batch is cut, with ``together`` clients in a job."""
    for first in range(0, len(stage), together):
        members = stage[first : first + together]
        for step in range(max(len(plan.steps) for plan in members)):
            active = [position for position, plan in enumerate(members) if step < len(plan.steps)]
            yield from room.passes(members, step, active)


def real_tokens(shares: Sequence[Any]) -> int:
    """Return the tokens of a pass, or of a part of it, without padding."""
    return sum(len(s.plan.task.pieces[i]) for s in shares for g in s.groups for i in s.indices(g))


def described(room: Room) -> str:
    """Return how large a room's passes are, and which of their layers are computed twice."""
    layers = "no layer" if room.recomputed is None else f"one layer in {room.recomputed}"
    return f"passes of {room.tokens // room.widths.divisor:,} tokens with {layers} computed twice"


def padding(stage: Sequence[Plan], together: int, device: torch.device) -> tuple[float, int]:
    """Return (padded / real tokens, passes) of one epoch of a stage with so many clients ``together`` in a job."""
    room = Room(device, SETTINGS, None, Widths())
    padded = real = passes = 0
    for shares in (shares for parts in planned_passes(room, stage, together) for shares in parts):
        batch = build_batch(shares, SETTINGS, None, 0.0, META if device == GPU else device)
        padded += batch.tokens.numel()
        real += real_tokens(shares)
        passes += 1
    return padded / real, passes


def trace_pass(
    base: BaseModel,
    tokens: int,
    clients: int,
    every: int | None,
    aligned: bool = False,
    dropout: float = LORA.dropout,
    liger: bool = False,
) -> tuple[Counts, int]:
    """Count a training pass of about ``tokens`` tokens of ``clients`` clients; return (counts, real tokens).

    ``every``: which layers are computed again in the backward pass (None: none; 1: every one). ``liger``: with the
    kernels of the extra ``gpu``. A pass that was counted before, of as many micro-batches, is not counted again.
    """
    lora = LORA.model_copy(update={"dropout": dropout})
    groups = max(1, tokens // (clients * TRACED * SETTINGS.micro_batch))
    known, key = _COUNTED.setdefault(base.model, {}), (groups, clients, every, aligned, dropout, liger)
    if key in known:
        return known[key]
    shape = clients, groups * SETTINGS.micro_batch
    lengths = np.random.default_rng(1).integers(TRACED // 2, TRACED * 3 // 2, shape).tolist()
    settings = SETTINGS.model_copy(update={"accumulation": groups})
    alignment = ALIGNMENT if aligned else None
    target = np.ones(64, dtype=np.float32) if aligned else None
    start = {name: torch.zeros(1).expand(shape) for name, shape in state_shapes(base.model, LORA).items()}
    planned = plans(lengths, settings)
    members = [replace(plan, task=replace(plan.task, start=start, target=target)) for plan in planned]
    stack = LoraStack(base.model, lora)
    cohort = Cohort(base, stack, [plan.task for plan in members], settings, alignment)
    room = Room(GPU, settings, clients * groups * settings.micro_batch, Widths())
    ((shares,),) = room.passes(members, 0, range(clients))
    batch = build_batch(shares, settings, alignment, dropout, META)
    figures = StepFigures(clients, META)
    with ExitStack() as entered:
        entered.enter_context(stack.attached())
        entered.enter_context(packed_attention(base.model))
        entered.enter_context(fused_layers(base.model, card_kernels(liger)))
        entered.enter_context(recomputation(base.model, every))
        counts = entered.enter_context(counting(batch.packing.lengths, base, LORA.rank))
        run_pass(cohort, batch, figures)
    known[key] = counts, sum(map(sum, lengths))
    return known[key]


def stage_seconds(
    base: BaseModel, card: Card, stage: Sequence[Plan], together: int, liger: bool = False
) -> tuple[Room, float]:
    """Return the room that a card's memory leaves, found as the engine finds it, and the seconds of a stage's epoch.

    Every planned pass is priced: by what passes of the largest size and of half of it take, in between by a straight
    line. ``together`` clients are stacked, or as many as the card holds. An aligned stage reads a micro-batch that is
    cut twice, which is a third more.
    """
    size, task = sum(map(math.prod, state_shapes(base.model, LORA).values())), stage[0].task
    together = min(together, clients_in(round(card.memory * 1e9), size, task))
    values = together * bytes_per_client(size, task)
    weights = sum(parameter.numel() * parameter.element_size() for parameter in base.model.parameters())
    room = Room(GPU, SETTINGS, None, Widths())
    while True:
        passes = [list(map(real_tokens, parts)) for parts in planned_passes(room, stage, together)]
        largest = max(map(max, passes))
        counts, many = trace_pass(base, largest, min(2, together), room.recomputed, liger=liger)
        if weights + values + counts.peak <= USABLE * card.memory * 1e9:
            break
        # The pass that runs out of memory is the one at work.
        next(parts for parts in planned_passes(room, stage, together) if max(map(real_tokens, parts)) == largest)
        if not room.narrow(1):
            raise ValueError(f"one row does not fit in {card.memory} GB")
    half, few = trace_pass(base, largest // 2, min(2, together), room.recomputed, liger=liger)
    more, less = counts.seconds(card), half.seconds(card)
    slope = (more - less) / (many - few) if many > few else more / many
    cut = 4 / 3 if task.offset is not None else 1.0
    spent = sum(
        sum(more + slope * (tokens - many) for tokens in parts) * (cut if len(parts) > 1 else 1.0) for parts in passes
    )
    return room, spent


def training_seconds(
    base: BaseModel, lengths: Sequence[Sequence[int]], card: Card, aligned: float, liger: bool = False
) -> tuple[dict[str, Room], float]:
    """Return the rooms of a FAVoR seed's stages on a card, and the seconds of their training.

    ``aligned``: what a pass of the private stage costs more.
    """
    plain = plans(lengths, SETTINGS)
    offset = plans(lengths, SETTINGS.model_copy(update={"group_by_length": False}))
    offset = [replace(plan, task=replace(plan.task, offset={})) for plan in offset]
    shared, own_shared = stage_seconds(base, card, plain, SAMPLED, liger)
    private, own_private = stage_seconds(base, card, offset, MOST_CLIENTS_PER_JOB, liger)
    return {"shared": shared, "private": private}, EPOCHS[0] * own_shared + EPOCHS[1] * aligned * own_private


def trace_decoding(base: BaseModel, rows: int, adapters: int, prompt: int, new: int) -> Counts:
    """Count one step, as a GPU records it, of decoding ``rows`` continuations of ``adapters`` adapters.

    The step reads all positions of ``prompt`` and ``new`` tokens, filled or not.
    """
    stack = DecodingStack(base.model, LORA)
    history, mask = (torch.zeros(rows, prompt + new, dtype=torch.long, device="meta") for _ in range(2))
    batch = Batch(history, mask, prompt, torch.zeros(1, dtype=torch.long, device="meta"))
    with torch.no_grad(), stack.attached(), shared_heads(base.model), attention_kernel():
        stack.set([Component(stacked_factors(base, stack, [None] * adapters))])
        steps = StaticSteps(base, batch, penalty=1.1)
        steps.advance()
        with counting([prompt], base, LORA.rank) as counts:
            steps.advance()
    return counts


def _print_padding(lengths: Sequence[Sequence[int]]) -> None:
    print("padded / real tokens (passes an epoch)")
    for name, settings in (("shared", SETTINGS), ("private", SETTINGS.model_copy(update={"group_by_length": False}))):
        stage = plans(lengths, settings)
        for together in (1, SAMPLED if name == "shared" else CLIENTS):
            found = [(device.type, *padding(stage, together, device)) for device in (GPU, torch.device("cpu"))]
            text = ", ".join(f"{device} {ratio:.3f} ({passes:,})" for device, ratio, passes in found)
            print(f"  {name:8} {together:3} clients a job: {text}")


def _print_pass(name: str, counts: Counts, real: int) -> None:
    estimates = ", ".join(f"{card} {counts.seconds(CARDS[card]):.2f} s" for card in CARDS)
    print(f"  {name}")
    print(
        f"    {counts.flops() / real / 1e9:.2f} GFLOP a real token, {counts.bytes() / 1e9:,.0f} GB moved, "
        f"{len(counts.work):,} operations, {counts.peak / 2**30:.1f} GiB at most, "
        f"{counts.host_seconds:.1f} processor s to count; {estimates}"
    )
    kinds = [
        f"{kind}: {counts.flops(kind) / 1e12:.1f} TFLOP, {counts.bytes(kind) / 1e9:,.0f} GB"
        for kind in sorted({kind for kind, _, _ in counts.work})
    ]
    print(f"    {'; '.join(kinds)}")


def main() -> None:
    """Print padding, the passes' counts and the estimates."""
    from transformers import AutoConfig
    from transformers.models.qwen2 import Qwen2Config

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--configuration", help="folder with config.json or a Hugging Face id; default Qwen2.5-3B")
    parser.add_argument("--tokens", type=int, default=8192, help="tokens of the traced pass")
    parser.add_argument("--clients", type=int, default=2, help="clients in the traced pass")
    options = parser.parse_args()
    configuration = (
        AutoConfig.from_pretrained(options.configuration)
        if options.configuration
        else Qwen2Config(**SHAPES["qwen2.5-3b"], tie_word_embeddings=True)
    )
    lengths = corpus()
    real = sum(map(sum, lengths))
    print(f"corpus assumed: {PIECES:,} pieces, {real:,} tokens, {CLIENTS} clients\n")
    _print_padding(lengths)
    base = meta_base(configuration)
    products = sum(m.weight.numel() * 2 for m in base.model.modules() if isinstance(m, Quantised))
    embeddings = sum(p.numel() for p in base.model.parameters() if p.dtype != torch.uint8)
    parameters = products + embeddings
    print(f"\na training pass of {options.tokens:,} tokens, {options.clients} clients, NF4, {parameters / 1e9:.2f} G")
    print(f"  floor of the base's products, 4 per weight and token: {4 * products / 1e9:.2f} GFLOP a real token")
    traced = {}
    for name, every, aligned, dropout, liger in (
        ("every layer computed twice", 1, False, LORA.dropout, False),
        ("every second layer computed twice", 2, False, LORA.dropout, False),
        ("none computed twice", None, False, LORA.dropout, False),
        ("none, aligned", None, True, LORA.dropout, False),
        ("none, no dropout", None, False, 0.0, False),
        ("every layer computed twice, Liger's kernels", 1, False, LORA.dropout, True),
        ("none computed twice, Liger's kernels", None, False, LORA.dropout, True),
    ):
        traced[name] = trace_pass(base, options.tokens, options.clients, every, aligned, dropout, liger)
        _print_pass(name, *traced[name])
    decoding = trace_decoding(base, ROWS, CLIENTS, PROMPT, STEPS)
    print(f"\na decoding step of {ROWS} rows, {CLIENTS} adapters")
    _print_pass(f"{PROMPT} tokens of prompt and {STEPS} new ones", decoding, ROWS)
    with_target, without = (traced[name][0].seconds(CARDS["H200"]) for name in ("none, aligned", "none computed twice"))
    _print_estimates(base, lengths, with_target / without, decoding)


def jobs() -> dict[str, int]:
    """Return how many jobs of one FAVoR seed load the base: training, and one of generation."""
    together = MOST_CLIENTS_PER_JOB
    return {
        "one client a job": ROUNDS * SAMPLED + CLIENTS + 1,
        "by default": ROUNDS * math.ceil(SAMPLED / together) + math.ceil(CLIENTS / together) + 1,
    }


def _print_estimates(base: BaseModel, lengths: Sequence[Sequence[int]], aligned: float, decoding: Counts) -> None:
    """Print what a seed takes on every card; ``aligned``: what a pass of the private stage costs more."""
    real = sum(map(sum, lengths))
    print(f"\none FAVoR seed: {sum(EPOCHS) * real / 1e6:.2f} M real tokens; jobs that load the base: {jobs()}")
    rates = [f"{name} {card.arithmetic} TFLOP/s, {card.traffic} TB/s, {card.memory} GB" for name, card in CARDS.items()]
    print(
        f"assumed: {'; '.join(rates)}; {OVERHEAD} times the sum of the operations, {USABLE:.0%} of memory for tensors, "
        f"{START} s per start, {ROWS} continuations of {STEPS} tokens"
    )
    started = jobs()["by default"] * START
    for name, card in CARDS.items():
        for liger in (False, True):
            rooms, trained = training_seconds(base, lengths, card, aligned, liger)
            generated = STEPS * decoding.seconds(card)
            stages = "; ".join(f"{stage} stage in {described(room)}" for stage, room in rooms.items())
            print(
                f"  {name}{', Liger' if liger else ''}: {(trained + generated + started) / 60:.1f} min = "
                f"{trained / 60:.1f} of training + {generated / 60:.1f} of generation + {started / 60:.1f} of starts; "
                f"{stages}; estimated, not measured"
            )


if __name__ == "__main__":
    main()
