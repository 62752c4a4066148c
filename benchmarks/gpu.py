"""What one GPU gives: checks of the engine first, then its speed against a user's own way. Meant for under 8 minutes.

    make benchmark-gpu

Every check prints its figure and its bound, and a failed one ends the command with an error before anything is timed.
Then training and generation run at Qwen2.5-3B's shape in NF4 with random weights, each against Trainer + PEFT and one
``generate`` per adapter. The figures are written to ``benchmarks/figures/{device}.json`` and printed as a table.
``--device cpu --tiny`` runs all of it in small on a processor, where an error stands for memory that runs out.
"""

import argparse
import json
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any
from unittest.mock import patch

import assumed_seed
import generation
import torch
import training
from random_models import random_base

import favor.lm.training as training_module
from favor.lm import passes
from favor.lm.attention import Packing, attend
from favor.lm.base import BaseModel
from favor.lm.batch_limits import Widths
from favor.lm.dropout import DropoutMasks, MaskEntry
from favor.lm.fused import kernels
from favor.lm.lora import LoraState, initial_state
from favor.lm.settings import Optimisation
from favor.lm.tasks import ClientResult, ClientTask

HERE = Path(__file__).resolve().parent
CPU = torch.device("cpu")
# A full run's options of the two benchmarks; ``tiny`` is for a test of this file.
TRAINING = {"shape": "qwen2.5-3b", "quantise": True, "recompute": "on", "clients": 4, "pieces": 16, "length": 1024}
GENERATION = {"shape": "qwen2.5-3b", "quantise": True, "adapters": 8, "prompts": 4, "prefix": 96, "new": 96, "rows": 32}
TINY_TRAINING = {"shape": "demo", "quantise": False, "recompute": "off", "clients": 2, "pieces": 2, "length": 32}
TINY_GENERATION = {"shape": "demo", "quantise": False, "adapters": 2, "prompts": 2, "prefix": 8, "new": 4, "rows": 4}
# One FAVoR seed of the paper, as the workflow trains and generates it: what its projection is measured with.
SEED_TRAINING = {**TRAINING, "recompute": "auto", "clients": assumed_seed.SAMPLED}
SEED_GENERATION = {**GENERATION, "adapters": assumed_seed.CLIENTS, "rows": assumed_seed.ROWS}


@dataclass(frozen=True)
class Check:
    """A measured figure that has to be at most ``bound``."""

    name: str
    figure: float
    bound: float

    @property
    def passed(self) -> bool:
        """Whether it is; not where it is not a number."""
        return self.figure <= self.bound


def _tasks(base: BaseModel, clients: int, pieces: int, length: int) -> list[ClientTask]:
    shape = argparse.Namespace(shape="demo", clients=clients, pieces=pieces, length=length)
    return training.make_tasks(shape, initial_state(base.model, training.LORA, 1))


def _apart(one: list[ClientResult], other: list[ClientResult], start: LoraState) -> float:
    """Return the largest over clients of |one - other| / |one - start|."""
    return max(training.apart(left.state, right.state, start) for left, right in zip(one, other, strict=True))


def stacked_and_trainer(device: str, quantise: bool, dtype: torch.dtype, bound: float) -> Check:
    """A client trained in the engine against Trainer and PEFT, without dropout."""
    base = random_base("demo", quantise, device, dtype)
    (task,) = _tasks(base, 1, 8, 64)
    return Check(
        f"the engine against Trainer and PEFT, {_kind(quantise, dtype)}", training.sides_apart(base, task.pieces), bound
    )


def texts_are_generates(device: str) -> Check:
    """The share of continuations in float32 that are not those of one ``generate`` per adapter."""
    base = random_base("demo", False, device, torch.float32)
    options = argparse.Namespace(shape="demo", adapters=6, prompts=4, prefix=24, new=40, rows=24)
    requests = generation.make_requests(base, options)
    stacked, single = (run(base, requests, options) for run in (generation.run_stacked, generation.run_one_by_one))
    different = [one != other for one, other in zip(stacked, single, strict=True)]
    # A GPU sums in another order per shape: a tie of two tokens may fall either way.
    return Check("texts that are not generate's, float32", sum(different) / len(different), 0.05)


def attention_is_exact(device: str) -> list[Check]:
    """Packed attention on the device, in bfloat16 on a GPU, against every piece alone in float32 on a processor."""
    lengths, checks = (90, 7, 31), []
    low = torch.bfloat16 if device == "cuda" else torch.float32
    for window in (None, 16):

        def packed(*states: torch.Tensor, window: int | None = window) -> torch.Tensor:
            packing = Packing(lengths, states[0].device)
            return attend(torch.nn.Module(), *states, None, packing=packing, scaling=0.1, sliding_window=window)[0]

        def by_hand(*states: torch.Tensor, window: int | None = window) -> torch.Tensor:
            parts = []
            for query, key, value in zip(*(one.split(lengths, dim=2) for one in states), strict=True):
                key, value = (one.repeat_interleave(query.shape[1] // one.shape[1], dim=1) for one in (key, value))
                seen = torch.ones(query.shape[2], query.shape[2], dtype=torch.bool).tril()
                seen = seen if window is None else seen.triu(1 - window)
                scores = (0.1 * query @ key.transpose(2, 3)).masked_fill(~seen, -torch.inf)
                parts.append((scores.softmax(-1) @ value).transpose(1, 2))
            return torch.cat(parts, dim=1)

        generator = torch.Generator().manual_seed(2)
        inputs = [torch.randn(1, heads, sum(lengths), 64, generator=generator).to(low) for heads in (4, 2, 2)]
        found = _with_gradients(packed, [tensor.to(device) for tensor in inputs])
        expected = _with_gradients(by_hand, [tensor.float() for tensor in inputs])
        checks.append(
            Check(f"packed attention and its gradients, window {window}", _largest_error(found, expected), 0.02)
        )
    return checks


def _kind(quantise: bool, dtype: torch.dtype) -> str:
    return f"{'NF4, ' if quantise else ''}{str(dtype).removeprefix('torch.')}"


def stacked_and_sequential(device: str, quantise: bool, dtype: torch.dtype, bound: float) -> Check:
    """Clients trained in one stack against one after another."""
    base = random_base("demo", quantise, device, dtype)
    tasks = _tasks(base, 3, 8, 64)
    settings = Optimisation(supervised="response", warmup_counts_from=1, max_length=64, accumulation=1)
    together = training_module.train(base, training.LORA, tasks, settings)
    alone = [training_module.train(base, training.LORA, [task], settings)[0] for task in tasks]
    return Check(
        f"stacked against sequential, {_kind(quantise, dtype)}", _apart(together, alone, dict(tasks[0].start)), bound
    )


def masks_are_those_of_a_processor(device: str) -> Check:
    """Entries of a dropout mask that differ between the device and a processor."""
    entries = [MaskEntry(5, 3, 0, (70, 9)), MaskEntry(6, 3, 80, (20,))]
    drawn = DropoutMasks(entries, 112, 0.3, torch.device(device)).on_accelerator(2, 1030)
    ones = torch.ones(112, 1030, device=device)
    expected = DropoutMasks(entries, 112, 0.3, CPU).on_processor(2, 1030).float()
    rows = [row for entry in entries for row in range(entry.first, entry.first + entry.tokens)]
    return Check(
        "dropout masks against a processor's", float((drawn.times(ones).cpu() - expected)[rows].abs().sum()), 0
    )


def kernels_are_exact(device: str) -> list[Check]:
    """The device's norm, rotation and gate, and their gradients, against float32 on a processor."""
    chosen, plain = kernels(torch.device(device)), kernels(CPU)
    generator = torch.Generator().manual_seed(1)

    def random(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=generator).to(torch.bfloat16)

    angle = random(1, 40, 64).float()
    cos, sin = (torch.cat([part, part], -1).to(torch.bfloat16) for part in (angle.cos(), angle.sin()))
    weight = random(256)
    cases: dict[str, tuple[Callable[..., Any], Callable[..., Any], list[torch.Tensor]]] = {
        "norm": (
            lambda x: chosen.norm(x, weight.to(x), 1e-6),
            lambda x: plain.norm(x, weight.to(x), 1e-6),
            [random(40, 256)],
        ),
        "rotation": (
            lambda q, k: chosen.rotate(q, k, cos.to(q), sin.to(q)),
            lambda q, k: plain.rotate(q, k, cos.to(q), sin.to(q)),
            [random(1, 4, 40, 128), random(1, 2, 40, 128)],
        ),
        "gate": (
            chosen.gated,
            lambda gate, up: torch.nn.functional.silu(gate) * up,
            [random(40, 512), random(40, 512)],
        ),
    }
    checks = []
    for name, (function, reference, inputs) in cases.items():
        found = _with_gradients(function, [tensor.to(device) for tensor in inputs])
        expected = _with_gradients(reference, [tensor.float() for tensor in inputs])
        checks.append(Check(f"{name} and its gradient in bfloat16", _largest_error(found, expected), 0.02))
    return checks


def _largest_error(found: list[torch.Tensor], expected: list[torch.Tensor]) -> float:
    """Return the largest difference of two tensors as a share of the expected one's largest value."""
    return max(float((a.float().cpu() - b).abs().max() / b.abs().max()) for a, b in zip(found, expected, strict=True))


def _with_gradients(function: Callable[..., Any], inputs: list[torch.Tensor]) -> list[torch.Tensor]:
    leaves = [tensor.clone().requires_grad_() for tensor in inputs]
    outputs = function(*(leaf * 1 for leaf in leaves))  # kernels may write into what they are given
    outputs = list(outputs) if isinstance(outputs, tuple) else [outputs]
    values = [output.detach().clone() for output in outputs]
    return values + list(torch.autograd.grad(outputs, leaves, [torch.ones_like(output) for output in outputs]))


@contextmanager
def short_of_memory(device: str, share: float) -> Iterator[None]:
    """Leave training ``share`` of the memory it took since the peak was last reset.

    On a processor a pass of over 512 tokens raises CUDA's error instead.
    """
    if device == "cpu":
        run_pass = passes.run_pass

        def fails(cohort: Any, batch: Any, *more: Any) -> None:
            if batch.tokens.numel() > 512:
                raise torch.cuda.OutOfMemoryError("no room")
            run_pass(cohort, batch, *more)

        with patch.object(passes, "run_pass", fails):
            yield
        return
    held, peak = torch.cuda.memory_allocated(), torch.cuda.max_memory_allocated()
    total = torch.cuda.get_device_properties(0).total_memory
    torch.cuda.empty_cache()
    torch.cuda.set_per_process_memory_fraction((held + share * (peak - held)) / total)
    try:
        yield
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0)


def steps_narrowed_by_memory(device: str, dtype: torch.dtype, bound: float) -> list[Check]:
    """Training under a cap of memory against training without one."""
    base = random_base("demo", False, device, dtype)
    tasks = _tasks(base, 2, 32, 512 if device == "cuda" else 64)
    settings = Optimisation(supervised="response", warmup_counts_from=1, max_length=512)
    if device == "cuda":
        torch.cuda.reset_peak_memory_stats()
    free = training_module.train(base, training.LORA, tasks, settings)
    widths = Widths()
    with short_of_memory(device, 0.6):
        capped = training_module.train(base, training.LORA, tasks, settings, widths=widths)
    narrowed = widths != Widths()
    return [
        Check("steps that memory narrowed (1: none was)", 0 if narrowed else 1, 0),
        Check(
            "training short of memory against training with enough", _apart(free, capped, dict(tasks[0].start)), bound
        ),
    ]


def checks(device: str) -> Iterator[Check]:
    """Yield the checks' outcomes."""
    yield masks_are_those_of_a_processor(device)
    yield from kernels_are_exact(device)
    yield from attention_is_exact(device)
    yield texts_are_generates(device)
    # The change of a factor in bfloat16 carries its rounding: 8 bits, over a dozen layers and one step of Adam.
    low, loose = (torch.bfloat16, 0.2) if device == "cuda" else (torch.float32, 1e-3)
    for check in (stacked_and_sequential, stacked_and_trainer):
        yield check(device, False, torch.float32, 1e-3)
        yield check(device, True, low, loose)
    yield from steps_narrowed_by_memory(device, torch.float32, 1e-3)


def measure(script: Any, options: dict[str, Any], sides: Sequence[str], device: str, tiny: bool) -> dict[str, Any]:
    """Return the figures of a benchmark's sides: each in a process of its own, ``tiny`` ones in this one."""
    found: dict[str, Any] = {}
    for side in sides:
        given = options | {"device": device, "threads": 1, "side": side}
        if tiny:
            found[side] = script.measure(argparse.Namespace(**given))
            continue
        command = [sys.executable, __file__, "--side", script.__name__, json.dumps(given)]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        found[side] = json.loads(done.stdout.splitlines()[-1])
    for row in found.values():
        row["tokens_per_second"] = row["tokens"] / row["seconds"]
    return found


def projection(trained: float, generated: float) -> dict[str, float]:
    """Return the minutes of one FAVoR seed's training and generation at these tokens per second, and of its starts."""
    real = sum(map(sum, assumed_seed.corpus()))
    tokens = real * assumed_seed.ROUNDS * assumed_seed.SAMPLED / assumed_seed.CLIENTS + 2 * real
    return {
        "training_minutes": tokens / trained / 60,
        "generation_minutes": assumed_seed.ROWS * assumed_seed.STEPS / generated / 60,
        "start_minutes_assumed": assumed_seed.jobs() * assumed_seed.START / 60,
    }


def _installed(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _table(figures: dict[str, Any]) -> str:
    rows = ["| what | tokens/s | peak memory | ratio |", "|---|---|---|---|"]
    for what, sides in (("training", figures["training"]), ("generation", figures["generation"])):
        other, ours = sides.values()
        for side, row in sides.items():
            ratio = row["tokens_per_second"] / other["tokens_per_second"] if row is ours else 1.0
            rows.append(
                f"| {what}, {side} | {row['tokens_per_second']:,.0f} | {row['peak_mib']:,.0f} MiB | {ratio:.2f} |"
            )
    minutes = figures["projected_seed"]
    rows.append(
        f"\nOne FAVoR seed: {minutes['training_minutes']:.1f} min of training and "
        f"{minutes['generation_minutes']:.1f} min of generation, from the rates of as many clients and rows as its "
        f"jobs have, and {minutes['start_minutes_assumed']:.1f} min of starts, which are assumed."
    )
    return "\n".join(rows)


def main(arguments: list[str] | None = None) -> None:
    """Check, measure, write and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cuda")
    parser.add_argument("--tiny", action="store_true", help="small models, both sides in one process")
    parser.add_argument("--folder", type=Path, default=HERE / "figures", help="where the figures are written")
    parser.add_argument("--side", nargs=2, help=argparse.SUPPRESS)  # a benchmark of the two, and its options
    options = parser.parse_args(arguments)
    if options.side:
        script, given = globals()[options.side[0]], json.loads(options.side[1])
        print(json.dumps(script.measure(argparse.Namespace(**given))))
        return
    if options.device == "cuda" and not torch.cuda.is_available():
        sys.exit("PyTorch finds no GPU. Run this on a machine with one, or try it with --device cpu --tiny.")
    started = time.perf_counter()
    outcomes = []
    for check in checks(options.device):
        outcomes.append(check)
        print(f"{'passed' if check.passed else 'FAILED'}: {check.name}: {check.figure:.2g} (at most {check.bound:g})")
    if not all(check.passed for check in outcomes):
        sys.exit("A check failed, so nothing was measured.")
    given = (TINY_TRAINING, TINY_GENERATION) if options.tiny else (TRAINING, GENERATION)
    figures: dict[str, Any] = {
        "device": torch.cuda.get_device_name() if options.device == "cuda" else "CPU",
        "versions": {name: _installed(name) for name in ("torch", "transformers", "bitsandbytes", "liger-kernel")},
        "checks": [asdict(check) for check in outcomes],
        "options": {"training": given[0], "generation": given[1]},
        "training": measure(training, given[0], ("trainer", "stacked"), options.device, options.tiny),
        "generation": measure(generation, given[1], ("one_by_one", "stacked"), options.device, options.tiny),
    }
    one, stacked = (row.pop("outputs") for row in figures["generation"].values())
    figures["texts_identical"] = sum(left == right for left, right in zip(one, stacked, strict=True)) / len(one)
    as_seed = given if options.tiny else (SEED_TRAINING, SEED_GENERATION)
    alone = [
        measure(script, shape, ["stacked"], options.device, options.tiny)["stacked"]
        for script, shape in zip((training, generation), as_seed, strict=True)
    ]
    rates = [row["tokens_per_second"] for row in alone]
    figures["projected_seed"] = {"options": as_seed, "tokens_per_second": rates, **projection(*rates)}
    figures["seconds"] = time.perf_counter() - started
    name = re.sub(r"[^a-z0-9]+", "-", figures["device"].lower()).strip("-")
    options.folder.mkdir(parents=True, exist_ok=True)
    path = options.folder / f"{name}.json"
    path.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    print(f"\n{_table(figures)}\n\nTook {figures['seconds']:.0f} s; written to {path}")


if __name__ == "__main__":
    main()
