"""Tokens per second and peak memory of batched generation for many adapters against transformers.generate per adapter.

Same model (random weights), adapters, prompts, length and greedy settings in one run; every process warms up first.
The other side loads each adapter into one PEFT model and generates its prompts as one batch, with all threads. The
stacked engine runs as the workflow does: one thread per job, a job per core, each with its share of the adapters.
Last, the other side is split in the same way. Prints one line per side, the ratios and whether the texts agree.
``python benchmarks/generation.py`` takes about a minute on 2 CPU cores; ``--shape qwen2.5-3b --quantise --device cuda
--adapters 50`` is the paper's case on a GPU.
"""

from __future__ import annotations

import argparse
import json
import resource

import numpy as np
import torch
from random_models import SHAPES, random_base
from sides import compare, share, timed

from favor.config.models import PROJECTIONS
from favor.inference.generation import GenerationRequest, generate
from favor.lm.base import BaseModel
from favor.lm.lora import LoraState, state_shapes
from favor.lm.settings import Lora

LORA = Lora(target_modules=PROJECTIONS)
PENALTY = 1.1


def make_requests(base: BaseModel, options: argparse.Namespace) -> list[GenerationRequest]:
    """Return requests with random adapters and prompts of one length."""
    generator = np.random.default_rng(1)
    torch.manual_seed(1)
    requests = []
    for number in range(options.adapters):
        shapes = state_shapes(base.model, LORA)
        state: LoraState = {name: 0.02 * torch.randn(shape) for name, shape in shapes.items()}
        for _ in range(options.prompts):
            prompt = generator.integers(2, SHAPES[options.shape]["vocab_size"], options.prefix).tolist()
            requests.append(GenerationRequest(f"adapter_{number}", prompt, state))
    return requests


def run_stacked(base: BaseModel, requests: list[GenerationRequest], options: argparse.Namespace) -> list[list[int]]:
    """Generate for all adapters in shared batches."""
    return generate(base, LORA, requests, options.new, PENALTY, options.rows)


def run_one_by_one(base: BaseModel, requests: list[GenerationRequest], options: argparse.Namespace) -> list[list[int]]:
    """Generate adapter after adapter with transformers.generate on a PEFT model."""
    from peft import LoraConfig, get_peft_model, set_peft_model_state_dict

    configuration = LoraConfig(r=LORA.rank, lora_alpha=int(LORA.alpha), target_modules=list(LORA.target_modules))
    model = get_peft_model(base.model, configuration).eval()
    outputs = []
    for first in range(0, len(requests), options.prompts):
        own = requests[first : first + options.prompts]
        set_peft_model_state_dict(model, own[0].state)
        tokens = torch.tensor([list(request.prompt_tokens) for request in own], device=base.device)
        new = model.generate(
            input_ids=tokens,
            attention_mask=torch.ones_like(tokens),
            do_sample=False,
            max_new_tokens=options.new,
            repetition_penalty=PENALTY,
            pad_token_id=0,
        )[:, options.prefix :].tolist()
        for row in new:
            outputs.append(row[: next((at for at, token in enumerate(row) if token in base.end_ids), len(row))])
    model.unload()
    return outputs


def measure(options: argparse.Namespace) -> dict[str, object]:
    """Run one side after a warm-up and return its figures and texts."""
    if options.device == "cpu":
        torch.set_num_threads(options.threads)
    base = random_base(options.shape, options.quantise, options.device)
    every = make_requests(base, options)
    firsts = share(range(0, len(every), options.prompts), options.part)
    requests = [request for first in firsts for request in every[first : first + options.prompts]]
    make = run_stacked if options.side == "stacked" else run_one_by_one
    brief = argparse.Namespace(**{**vars(options), "new": 4})
    make(base, requests[: options.prompts], brief)
    if options.device == "cuda":
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()

    def work() -> list[list[int]]:
        outputs = make(base, requests, options)
        if options.device == "cuda":
            torch.cuda.synchronize()
        return outputs

    outputs, times = timed(work, options.part)
    memory = (
        torch.cuda.max_memory_allocated()
        if options.device == "cuda"
        else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    )
    return {
        "tokens": sum(len(row) for row in outputs),
        "peak_mib": memory / 2**20,
        # Adapter after adapter.
        "outputs": [outputs[first : first + options.prompts] for first in range(0, len(outputs), options.prompts)],
        **times,
    }


def main() -> None:
    """Measure the sides, each in processes of its own, and print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shape", choices=sorted(SHAPES), default="demo")
    parser.add_argument("--quantise", action="store_true", help="NF4 with double quantisation")
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--adapters", type=int, default=24)
    parser.add_argument("--prompts", type=int, default=4, help="prompts an adapter")
    parser.add_argument("--prefix", type=int, default=96, help="tokens of a prompt")
    parser.add_argument("--new", type=int, default=220, help="new tokens")
    parser.add_argument("--rows", type=int, default=96, help="rows of a stacked batch")
    parser.add_argument("--threads", type=int, default=2, help="CPU threads")
    parser.add_argument("--side", choices=["stacked", "one_by_one"], help=argparse.SUPPRESS)
    parser.add_argument("--part", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.side:
        print(json.dumps(measure(options)))
        return
    loop, stacked = compare(__file__, "one_by_one", "one by one", options)
    adapters = zip(loop["outputs"], stacked["outputs"], strict=True)
    alike = [left == right for pair in adapters for left, right in zip(*pair, strict=True)]
    print(f"{sum(alike)} of {len(alike)} texts identical")


if __name__ == "__main__":
    main()
