"""Continuations for many adapters in one batch of the stacked engine, and adapter after adapter with ``generate``.

``real_base.py`` and ``gpu.py`` compare the two, each side in a process of its own, on the same model, adapters, prompts
and greedy settings. The other side loads each adapter into one PEFT model and generates its prompts as one batch.
"""

import argparse

import numpy as np
import torch
from random_models import SHAPES, random_base, timed

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
    requests = make_requests(base, options)
    make = run_stacked if options.side == "stacked" else run_one_by_one
    brief = argparse.Namespace(**{**vars(options), "new": 4})
    make(base, requests[: options.prompts], brief)
    outputs, spent = timed(options.device, lambda: make(base, requests, options))
    return {"tokens": sum(map(len, outputs)), **spent, "outputs": outputs}
