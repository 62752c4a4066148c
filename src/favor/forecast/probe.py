"""Hours of a run on this machine: tokens that the plan counts, over what a few seconds of the engine's work measure.

The engine trains, generates and reads with a model of the configured shape and random weights, so nothing is loaded or
fetched. Of a large model only ``LAYERS`` layers run, and the time of a layer is multiplied. On a processor its own time
counts, so that other work on the machine does not. Hours are an ESTIMATE: texts of other lengths and memory that is
short change them. Encoders, scores, tables and the start of jobs are not in them.
"""

import copy
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from favor.forecast.estimate import MOST_ON_CPU, device_of, shape_of
from favor.plan import Planner
from favor.plan.keys import Key

LARGE = 300_000_000  # parameters from which on a few layers stand for all
LAYERS = (1, 3)
SECONDS = 2.5  # the longest run of each kind; runs before it are shorter
NEW_TOKENS = 16
Work = Callable[[int], int]  # does so many rows, or steps of writing, and returns their tokens


def hours_here(planner: Planner, tokens: Mapping[str, Mapping[str, float]]) -> dict[str, Any]:
    """Return the hours of every base model's work by kind, of one job after the other, and the device of each.

    tokens: by base model and kind, of :func:`favor.forecast.estimate.estimate`.
    """
    found: dict[str, Any] = {}
    for name, counted in tokens.items():
        using = [key for key, each in planner.config.experiments.items() if each.base_model == name]
        device = device_of(planner.config.base_models[name].device)
        parameters = planner.costs.parameters(name)
        if device == "cpu" and parameters > MOST_ON_CPU:
            reason = f"{parameters / 1e9:.1f} billion parameters and no GPU: plan on the machine that is to run it"
            found[name] = {"device": device, "why_not": reason, "hours": {}}
            continue
        seconds = seconds_per_token(planner, using[0], device, [kind for kind, count in counted.items() if count])
        hours = {kind: counted[kind] * each / 3600 for kind, each in seconds.items()}
        found[name] = {"device": device, "hours": hours, "tokens_per_second": {k: 1 / s for k, s in seconds.items()}}
    return found


def seconds_per_token(planner: Planner, name: str, device: str, kinds: list[str]) -> dict[str, float]:
    """Return the seconds that a token of each kind of work takes in an experiment."""
    import torch

    experiment, threads = planner.config.experiments[name], planner.config.threads
    shape = shape_of(planner.config.base_models[experiment.base_model])
    layers = int(shape.num_hidden_layers)
    large = planner.costs.parameters(experiment.base_model) > LARGE and layers > LAYERS[-1]
    depths = LAYERS if large else (layers,)
    measured: list[dict[str, float]] = []
    before = torch.get_num_threads()
    try:
        for depth in depths:
            part = copy.deepcopy(shape)
            part.num_hidden_layers = depth
            if getattr(part, "layer_types", None):
                part.layer_types = part.layer_types[:depth]
            rows: dict[str, float] = {}
            for kind, (work, most) in _works(planner, name, part, device).items():
                # What is written follows a prompt, which is read.
                if kind in kinds or (kind == "reading" and "generation" in kinds):
                    if device == "cpu":
                        torch.set_num_threads(getattr(threads, "generation" if kind == "reading" else kind))
                    rows[kind] = _seconds_per_token(work, most, SECONDS / len(depths), device)
            measured.append(rows)
    finally:
        torch.set_num_threads(before)
    first, last = measured[0], measured[-1]
    step = max(1, depths[-1] - depths[0])
    found = {kind: first[kind] + max(0.0, last[kind] - first[kind]) / step * (layers - depths[0]) for kind in first}
    if "generation" in found:
        prompt = experiment.prompts.prefix_tokens / experiment.generation.max_new_tokens
        found["generation"] += prompt * found["reading"]
    return {kind: found[kind] for kind in found if kind in kinds}


def _seconds_per_token(work: Work, most: int, budget: float, device: str) -> float:
    """Return the time of a token in the largest amount of work that fits the budget, at most ``most``."""
    import torch

    work(1)  # the first is slower
    rows = 1
    while True:
        start = _now(device)
        tokens = work(rows)
        if device == "cuda":
            torch.cuda.synchronize()
        taken = _now(device) - start
        if rows >= most or 4 * taken > budget:
            return taken / max(1, tokens)
        rows = min(most, 4 * rows)


def _now(device: str) -> float:
    """Return the time in seconds: on a processor that of this process, per thread."""
    import torch

    return time.perf_counter() if device == "cuda" else time.process_time() / torch.get_num_threads()


def _works(planner: Planner, name: str, shape: Any, device: str) -> dict[str, tuple[Work, int]]:
    """Return what does each kind of work with random weights, and the most of it: a job's rows, or steps of writing."""
    import numpy as np
    import torch

    from favor.inference.generation import GenerationRequest, generate
    from favor.inference.likelihood import Question, log_likelihoods
    from favor.lm.base import computation_type
    from favor.lm.lora import initial_state
    from favor.lm.random_base import random_base
    from favor.lm.tasks import ClientTask, Piece
    from favor.lm.training import train
    from favor.plan.readings import read_length

    experiment = planner.config.experiments[name]
    model, lora = planner.config.base_models[experiment.base_model], experiment.lora
    base = random_base(shape, model.quantisation == "nf4", device, computation_type(model.dtype, device))
    generator = np.random.default_rng(0)
    clients = min(experiment.federation.clients_per_job or 1, experiment.federation.clients_per_round)
    states = [initial_state(base.model, lora, number) for number in range(clients)]
    settings = experiment.training.model_copy(update={"steps_per_epoch": None})

    def piece(length: int) -> Any:
        context = min(experiment.prompts.prefix_tokens, length // 2)
        return Piece(generator.integers(3, shape.vocab_size, length).astype(np.int32), context, "")

    def train_rows(rows: int) -> int:
        lengths = generator.integers(settings.max_length // 4, settings.max_length + 1, rows)
        dealt = [lengths[number::clients] for number in range(min(rows, clients))]
        tasks = [
            ClientTask(str(number), [piece(int(length)) for length in own], states[number], 1, number)
            for number, own in enumerate(dealt)
        ]
        train(base, lora, tasks, settings)
        return int(lengths.sum())

    def generate_tokens(new: int) -> int:
        """Write ``new`` tokens in every row of a full batch: few rows at once take longer per token."""
        rows = min(
            experiment.generation.rows_per_batch, experiment.clients * planner.costs.prompts_of(Key(experiment=name))
        )
        prompts = generator.integers(3, shape.vocab_size, rows).tolist()
        requests = [GenerationRequest(str(at), [prompt], states[at % clients]) for at, prompt in enumerate(prompts)]
        made = generate(base, lora, requests, new, experiment.generation.repetition_penalty)
        return sum(map(len, made))

    def read_rows(rows: int) -> int:
        length = experiment.prompts.prefix_tokens + read_length(experiment)
        log_likelihoods(base, lora, [Question(states[at % clients], piece(length)) for at in range(rows)])
        return rows * length

    works: dict[str, tuple[Work, int]] = {
        "training": (train_rows, clients * settings.micro_batch * settings.accumulation),
        "generation": (generate_tokens, min(NEW_TOKENS, experiment.generation.max_new_tokens)),
        "reading": (read_rows, 256),
    }
    if model.pretrain is not None:
        pretrain = model.pretrain
        weights = copy.deepcopy(base.model).float().requires_grad_(True).train()
        optimiser = torch.optim.AdamW(weights.parameters(), lr=1e-6)

        def pretrain_rows(rows: int) -> int:
            batch = torch.randint(3, shape.vocab_size, (rows, pretrain.sequence_length), device=device)
            with torch.autocast(device, torch.bfloat16, enabled=pretrain.precision == "bfloat16"):
                loss = weights(input_ids=batch, labels=batch, use_cache=False).loss
            loss.backward()
            optimiser.step()
            optimiser.zero_grad()
            return int(batch.numel())

        works["pretraining"] = (pretrain_rows, pretrain.batch_size)
    return works


def hour_lines(found: Mapping[str, Any], cores: int, threads: int) -> Iterator[tuple[str, str]]:
    """Yield the rows that ``favor plan`` prints of :func:`hours_here`."""
    for name, each in found.items():
        if "why_not" in each:
            yield f"work with {name}: {each['why_not']}", "not known"
            continue
        on = "GPU" if each["device"] == "cuda" else f"CPU, {threads} thread{'s' * (threads != 1)} per job"
        for kind, hours in each["hours"].items():
            rate = each["tokens_per_second"][kind]
            yield f"{kind} with {name}, this {on} ({rate:,.0f} tokens/s, estimated)", _time(hours)
    if any("why_not" in each for each in found.values()):
        return
    total = sum(hours for each in found.values() for hours in each["hours"].values())
    yield "these jobs one after another", _time(total)
    if all(each["device"] == "cpu" for each in found.values()) and cores > threads:
        yield f"these jobs on {cores} cores, at best", _time(total * threads / cores)


def _time(hours: float) -> str:
    return f"{hours:,.1f} h" if hours >= 1 else f"{60 * hours:.1f} min"
