"""What the engine asks of a GPU, found without one: padding, arithmetic, bytes, operations, memory, and an estimate.

Two parts. The planner's own forward passes over a corpus's length distribution say how many tokens are padding. The
project's own forward and backward pass and a decoding step run at a model's shape on torch's meta device, where tensors
have shapes and no values, and every operation is counted. Figures in seconds are a model, not a measurement: see
``CARDS`` and :func:`seconds`. ``python benchmarks/roofline.py`` takes a minute on one core;
``--configuration FOLDER`` takes any Hugging Face ``config.json``.
"""

from __future__ import annotations

import argparse
import math
import time
import weakref
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
from random_models import SHAPES
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import flop_registry

from favor.lm.base import BaseModel
from favor.lm.batches import Piece
from favor.lm.cache import growing_cache
from favor.lm.cohort import Cohort
from favor.lm.decoding_stack import DecodingStack
from favor.lm.figures import StepFigures
from favor.lm.forward import build_batch
from favor.lm.fused import Kernels, Rotation, fused_layers, kernels
from favor.lm.lora import LoraState, state_shapes
from favor.lm.packing import packed_attention
from favor.lm.passes import run_pass
from favor.lm.recomputation import recomputation
from favor.lm.room import Room, bytes_per_client, clients_in
from favor.lm.settings import AlignmentSettings, LoraSettings, TrainingSettings
from favor.lm.stack import Component, LoraStack
from favor.lm.tasks import ClientTask, Plan, make_plan
from favor.lm.widths import Widths

META, GPU = torch.device("meta"), torch.device("cuda")
LORA, SETTINGS, ALIGNMENT = LoraSettings(), TrainingSettings(), AlignmentSettings()
# The corpus assumed: log-normal posts cut at 1,024 tokens, shares of clients falling as rank^-0.7.
PIECES, MEAN, SIGMA, SKEW, CLIENTS, ROUNDS, SAMPLED = 4522, 280.0, 1.0, 0.7, 50, 6, 12


@dataclass(frozen=True)
class Card:
    """A GPU's sustained arithmetic (TFLOP/s, bf16), memory traffic (TB/s), microseconds a kernel takes to start, GB."""

    arithmetic: float
    traffic: float
    launch: float
    memory: float


CARDS = {"RTX 4090": Card(150, 0.90, 3.0, 24), "H200": Card(650, 4.0, 2.5, 141)}
# What the model leaves out: gaps between kernels, the host, the optimiser.
OVERHEAD = 1.15
# The share of a card's memory that is there for tensors.
USABLE = 0.95


def corpus(seed: int = 1) -> list[list[int]]:
    """Return the lengths in tokens of every client's pieces."""
    generator = np.random.default_rng(seed)
    lengths = np.clip(generator.lognormal(np.log(MEAN) - SIGMA**2 / 2, SIGMA, PIECES), 16, SETTINGS.max_length)
    shares = np.arange(1, CLIENTS + 1) ** -SKEW
    bounds = np.round(np.cumsum(shares / shares.sum()) * PIECES).astype(int)[:-1]
    return [part.astype(int).tolist() for part in np.split(lengths, bounds)]


def plans(lengths: Sequence[Sequence[int]], settings: TrainingSettings) -> list[Plan]:
    """Return a stage's plan of every client, over pieces of zeros."""
    made = []
    for number, own in enumerate(lengths):
        pieces = [Piece(np.zeros(length, dtype=np.int32), min(96, length // 2), "") for length in own]
        made.append(make_plan(ClientTask(str(number), pieces, {}, 1, number), settings))
    return made


def padding(stage: Sequence[Plan], together: int, device: torch.device) -> tuple[float, int]:
    """Return (padded / real tokens, passes) of one epoch of a stage with so many clients ``together`` in a job."""
    room = Room(device, SETTINGS, None, Widths())
    padded = real = passes = 0
    for first in range(0, len(stage), together):
        members = stage[first : first + together]
        for step in range(max(len(plan.steps) for plan in members)):
            active = [position for position, plan in enumerate(members) if step < len(plan.steps)]
            for parts in room.passes(members, step, active):
                for shares in parts:
                    batch = build_batch(shares, SETTINGS, None, 0.0, META if device == GPU else device)
                    padded += batch.tokens.numel()
                    real += sum(len(s.plan.task.pieces[i]) for s in shares for g in s.groups for i in s.indices(g))
                    passes += 1
    return padded / real, passes


@dataclass
class Counts:
    """What operations ask for: floating-point operations and bytes of each, by kind, and the most bytes alive."""

    work: list[tuple[str, float, float]] = field(default_factory=list)
    peak: int = 0
    host_seconds: float = 0.0

    def flops(self, kind: str | None = None) -> float:
        """Return the floating-point operations of a kind, or of all."""
        return sum(flops for name, flops, _ in self.work if kind in (None, name))

    def bytes(self, kind: str | None = None) -> float:
        """Return the bytes read and written of a kind, or of all."""
        return sum(moved for name, _, moved in self.work if kind in (None, name))

    def seconds(self, card: Card) -> float:
        """Return the time on a card: the slower of arithmetic and traffic for each operation, plus its start."""
        spent = sum(
            max(flops / (card.arithmetic * 1e12), moved / (card.traffic * 1e12)) + card.launch * 1e-6
            for _, flops, moved in self.work
        )
        return OVERHEAD * spent


class _Counting(TorchDispatchMode):
    """Counts every operation under it that computes something; ``lengths`` are the pieces that attention sees."""

    def __init__(self, lengths: Sequence[int], rank: int, vocabulary: int) -> None:
        super().__init__()
        self.counts, self.lengths, self.rank, self.vocabulary = Counts(), lengths, rank, vocabulary
        self.alive: dict[int, int] = {}

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        result = function(*args, **kwargs)
        inputs, outputs = _tensors((args, kwargs)), _tensors(result)
        for tensor in outputs:
            self._remember(tensor)
        name, packet = function.overloadpacket.__name__, function.overloadpacket
        if any(item.alias_info is not None and not item.alias_info.is_write for item in function._schema.returns):
            return result  # a view
        if name.startswith(("empty", "new_empty", "detach", "lift_fresh", "_unsafe_view")):
            return result
        flops = 0.0
        kind = "elementwise and copies"
        if "varlen_attn" in name:
            heads, size = inputs[0].shape[-2:] if "backward" not in name else inputs[1].shape[-2:]
            scores = sum(length * (length + 1) / 2 for length in self.lengths)
            kind, flops = "attention", (4 if "backward" not in name else 10) * scores * float(heads * size)
        elif name == "_grouped_mm":
            left, right = inputs[:2]
            kind, flops = "adapters", 2.0 * left.shape[0] * left.shape[1] * right.shape[-1]
        elif packet in flop_registry:
            flops = float(flop_registry[packet](*args, **kwargs, out_val=result))
            sizes = {size for tensor in (*inputs, *outputs) for size in tensor.shape}
            kind = "adapters" if self.rank in sizes else "output layer" if self.vocabulary in sizes else "base"
        elif name in ("bitwise_right_shift", "bitwise_and", "bitwise_xor_", "mul_", "__rshift__", "__ixor__") and any(
            tensor.dtype == torch.int64 for tensor in inputs
        ):
            kind = "masks"
        moved = sum(tensor.numel() * tensor.element_size() for tensor in (*inputs, *outputs))
        if name.startswith(("scatter_add", "gather")):  # touch what their indices name
            moved = 3 * sum(tensor.numel() * tensor.element_size() for tensor in inputs[1:])
        self.counts.work.append((kind, flops, float(moved)))
        return result

    def _remember(self, tensor: torch.Tensor) -> None:
        storage = tensor.untyped_storage()
        key = storage._cdata
        if key not in self.alive:
            self.alive[key] = storage.nbytes()
            weakref.finalize(storage, self.alive.pop, key, None)
            self.counts.peak = max(self.counts.peak, sum(self.alive.values()))


def _tensors(nested: Any) -> list[torch.Tensor]:
    found = [leaf for leaf in torch.utils._pytree.tree_leaves(nested) if isinstance(leaf, torch.Tensor)]
    return list({id(tensor): tensor for tensor in found}.values())


class _Dequantise(torch.autograd.Function):
    """A product with a 4-bit weight: made whole, multiplied by, forgotten, and made again for the gradient."""

    @staticmethod
    def forward(ctx: Any, source: torch.Tensor, layer: _Quantised) -> torch.Tensor:  # type: ignore[override]
        ctx.layer = layer
        return torch.nn.functional.linear(source, layer.whole(), layer.bias)

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor, None]:  # type: ignore[override]
        return gradient @ ctx.layer.whole(), None


class _Quantised(torch.nn.Linear):
    """A linear layer that costs what one in NF4 does."""

    def __init__(self, layer: torch.nn.Linear) -> None:
        super().__init__(1, 1, device="meta")
        self.in_features, self.out_features, self.bias = layer.in_features, layer.out_features, layer.bias
        size = layer.out_features * layer.in_features
        self.weight = torch.nn.Parameter(torch.empty(size // 2, dtype=torch.uint8, device="meta"), requires_grad=False)

    def whole(self) -> torch.Tensor:
        """Return the weight in bfloat16."""
        pairs = self.weight.unsqueeze(1).expand(-1, 2)
        return pairs.to(torch.bfloat16).view(self.out_features, self.in_features)

    def forward(self, source: torch.Tensor) -> torch.Tensor:
        """Return the layer's output."""
        return _Dequantise.apply(source, self)


@torch.library.custom_op("roofline::kernel", mutates_args=())
def _kernel(inputs: list[torch.Tensor], outputs: int) -> list[torch.Tensor]:
    """Stand for one kernel that reads ``inputs`` and writes as much as the first ``outputs`` of them hold."""
    raise NotImplementedError("only shapes are computed")


@_kernel.register_fake
def _(inputs: list[torch.Tensor], outputs: int) -> list[torch.Tensor]:
    return [torch.empty_like(tensor) for tensor in inputs[:outputs]]


class _NormKernel(torch.autograd.Function):
    """torch's RMS norm on a GPU: one kernel each way."""

    @staticmethod
    def forward(ctx: Any, states: torch.Tensor, weight: torch.Tensor, _: float) -> torch.Tensor:  # type: ignore[override]
        ctx.save_for_backward(states, weight)
        return _kernel([states, weight], 1)[0]

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor, None, None]:  # type: ignore[override]
        return _kernel([gradient, *ctx.saved_tensors], 1)[0], None, None


class _RotationKernel(torch.autograd.Function):
    """Liger's rotary embedding."""

    @staticmethod
    def forward(ctx: Any, *inputs: torch.Tensor) -> Rotation:  # type: ignore[override]
        ctx.save_for_backward(*inputs[2:])
        query, key = _kernel(list(inputs), 2)
        return query, key

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> tuple[torch.Tensor | None, ...]:  # type: ignore[override]
        query, key = _kernel([*gradients, *ctx.saved_tensors], 2)
        return query, key, None, None


class _GatedKernel(torch.autograd.Function):
    """Liger's silu(gate) * up."""

    @staticmethod
    def forward(ctx: Any, *inputs: torch.Tensor) -> torch.Tensor:  # type: ignore[override]
        ctx.save_for_backward(*inputs)
        return _kernel(list(inputs), 1)[0]

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor, ...]:  # type: ignore[override]
        return tuple(_kernel([*ctx.saved_tensors, gradient], 2))


def card_kernels(liger: bool) -> Kernels:
    """Return what stands for the kernels of a GPU, with or without Liger's."""
    if liger:
        return Kernels(_NormKernel.apply, _RotationKernel.apply, _GatedKernel.apply)
    return Kernels(_NormKernel.apply, kernels(GPU).rotate)


def meta_base(configuration: Any, quantise: bool = True) -> BaseModel:
    """Return a decoder of the configuration without values, its linear layers as in NF4 if ``quantise``."""
    from transformers import AutoModelForCausalLM

    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(configuration, dtype=torch.bfloat16)
    model.eval().requires_grad_(False)
    for path, layer in list(model.named_modules()):
        if quantise and type(layer) is torch.nn.Linear and layer is not model.get_output_embeddings():
            parent, _, name = path.rpartition(".")
            setattr(model.get_submodule(parent), name, _Quantised(layer))
    context = configuration.get_text_config().max_position_embeddings
    return BaseModel("meta", model, None, META, torch.bfloat16, context, ())  # type: ignore[arg-type]


@contextmanager
def counting(lengths: Sequence[int], base: BaseModel) -> Iterator[Counts]:
    """Count what runs in the context, beyond what is there before."""
    mode = _Counting(lengths, LORA.rank, base.head.out_features)
    started = time.process_time()
    with mode:
        yield mode.counts
    mode.counts.host_seconds = time.process_time() - started


def _state(base: BaseModel) -> LoraState:
    shapes = state_shapes(base.model, LORA)
    return {name: torch.zeros(1).expand(shape) for name, shape in shapes.items()}


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
    kernels of the extra ``gpu``.
    """
    lora = replace(LORA, dropout=dropout)
    own = int(MEAN * 0.9)
    groups = max(1, tokens // (clients * own * SETTINGS.micro_batch))
    generator = np.random.default_rng(1)
    lengths = generator.integers(own // 2, own * 3 // 2, (clients, groups * SETTINGS.micro_batch)).tolist()
    settings = replace(SETTINGS, accumulation=groups)
    alignment = ALIGNMENT if aligned else None
    target = np.ones(64, dtype=np.float32) if aligned else None
    members = [
        Plan(replace(plan.task, start=_state(base), target=target), plan.steps, plan.supervised_tokens)
        for plan in plans(lengths, settings)
    ]
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
        counts = entered.enter_context(counting(batch.packing.lengths, base))
        run_pass(base, stack, cohort, batch, alignment, figures)
    return counts, sum(map(sum, lengths))


def fitting_pass(
    base: BaseModel, card: Card, task: ClientTask, clients: int, liger: bool = False
) -> tuple[Room, float]:
    """Return the room that a card's memory leaves, found as the engine finds it, and the seconds per token there.

    A stack of ``clients`` clients like ``task``, or as many as the card holds, is trained.
    """
    room, size = Room(GPU, SETTINGS, None, Widths()), sum(map(math.prod, state_shapes(base.model, LORA).values()))
    clients = min(clients, clients_in(round(card.memory * 1e9), size, task))
    values = clients * bytes_per_client(size, task)
    weights = sum(parameter.numel() * parameter.element_size() for parameter in base.model.parameters())
    stage = plans(corpus()[:clients], SETTINGS)
    while True:
        next(room.passes(stage, 0, range(clients)))
        tokens = room.widths.rows(room.tokens)
        counts, real = trace_pass(base, tokens, min(2, clients), room.recomputed, liger=liger)
        if weights + values + counts.peak <= USABLE * card.memory * 1e9:
            return room, counts.seconds(card) / real
        if not room.narrow(1):
            raise ValueError(f"one row does not fit in {card.memory} GB")


def trace_decoding(base: BaseModel, rows: int, adapters: int, length: int) -> Counts:
    """Count one step of decoding ``rows`` continuations of ``adapters`` adapters after ``length`` tokens."""
    stack = DecodingStack(base.model, LORA)
    flat = torch.zeros(1, device="meta").expand(adapters, stack.layout.size)
    cache = growing_cache(base.model.config, length + 1)
    with torch.no_grad(), stack.attached():
        stack.set([Component(stack.layout.factors(flat))])
        ids = torch.zeros(rows, length, dtype=torch.long, device="meta")
        base.decoder(input_ids=ids, past_key_values=cache, use_cache=True)
        with counting([length], base) as counts:
            states = base.decoder(input_ids=ids[:, :1], past_key_values=cache, use_cache=True)[0]
            base.head(states)
    return counts


def _print_padding(lengths: Sequence[Sequence[int]]) -> None:
    print("padded / real tokens (passes an epoch)")
    for name, settings in (("shared", SETTINGS), ("private", replace(SETTINGS, group_by_length=False))):
        stage = plans(lengths, settings)
        for together in (1, SAMPLED if name == "shared" else CLIENTS):
            found = [(device.type, *padding(stage, together, device)) for device in (GPU, torch.device("cpu"))]
            text = ", ".join(f"{device} {ratio:.3f} ({passes:,})" for device, ratio, passes in found)
            print(f"  {name:8} {together:3} clients a job: {text}")


def _print_pass(name: str, counts: Counts, real: int) -> None:
    kinds: Counter[str] = Counter()
    for kind, _, moved in counts.work:
        kinds[kind] += moved
    estimates = ", ".join(f"{card} {counts.seconds(CARDS[card]):.2f} s" for card in CARDS)
    print(f"  {name}")
    print(
        f"    {counts.flops() / real / 1e9:.2f} GFLOP a real token, {counts.bytes() / 1e9:,.0f} GB moved, "
        f"{len(counts.work):,} operations, {counts.peak / 2**30:.1f} GiB at most, "
        f"{counts.host_seconds:.1f} processor s to count; {estimates}"
    )
    shares = defaultdict(list)
    for kind in kinds:
        shares[kind] = [f"{counts.flops(kind) / 1e12:.1f} TFLOP", f"{kinds[kind] / 1e9:,.0f} GB"]
    print("    " + "; ".join(f"{kind}: {', '.join(parts)}" for kind, parts in sorted(shares.items())))


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
    parameters = sum(p.numel() * (2 if p.dtype == torch.uint8 else 1) for p in base.model.parameters())
    print(f"\na training pass of {options.tokens:,} tokens, {options.clients} clients, NF4, {parameters / 1e9:.2f} G")
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
    counts = trace_decoding(base, 200, CLIENTS, 128)
    print("\na decoding step of 200 rows, 50 adapters")
    _print_pass("after 128 tokens", counts, 200)
    shared = real * ROUNDS * SAMPLED / CLIENTS
    starts = {"one client a job": ROUNDS * SAMPLED + CLIENTS, "whole cohorts": ROUNDS + 1}
    print(f"\none FAVoR seed: {(shared + 2 * real) / 1e6:.2f} M real tokens; training jobs: {starts}")
    extra = traced["none, aligned"][0].seconds(CARDS["H200"]) / traced["none computed twice"][0].seconds(CARDS["H200"])
    plain = ClientTask("", [], {}, 1, 0)
    stages = ((plain, SAMPLED, shared), (replace(plain, offset={}), CLIENTS, 2 * real * extra))
    for name, card in CARDS.items():
        for liger in (False, True):
            rooms, spent = [], 0.0
            for task, clients, tokens in stages:
                room, seconds = fitting_pass(base, card, task, clients, liger)
                rooms.append(str(room))
                spent += seconds * tokens
            print(
                f"  {name}{', Liger' if liger else ''}: {spent / 60:.1f} min of training; shared stage: {rooms[0]}; "
                f"private stage: {rooms[1]}; estimated, not measured"
            )


if __name__ == "__main__":
    main()
