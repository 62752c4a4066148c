"""Training, writing and reading with a real base on one thread of a processor, against what a user would do otherwise.

Training against transformers.Trainer with PEFT, client after client; writing against ``generate`` with PEFT, adapter
after adapter, its prompts in one batch. Each side runs in a process of its own that warms up first. The share of the
matrix rate is what the products of the frozen weights alone take, timed in the same process, in the time of all.
Lengths and tokens of pieces are drawn. ``python benchmarks/real_base.py --base FOLDER`` needs the folder of a model,
such as ``models/NAME/base`` in a results folder.
"""

import argparse
import json
import resource
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import generation
import numpy as np
import torch
import training
from random_models import SHAPES

from favor.foundation.arithmetic import fast_products
from favor.inference.likelihood import Question, answer
from favor.lm.base import BaseModel, load_base
from favor.lm.lora import initial_state
from favor.lm.settings import Optimisation
from favor.lm.tasks import ClientTask, predicted_tokens

SETTINGS = Optimisation(supervised="response", warmup_counts_from=1, max_length=256, micro_batch=2, accumulation=1)
SIDES = {"training": ("ours", "Trainer + PEFT"), "writing": ("ours", "generate + PEFT"), "reading": ("ours",)}


def products(base: BaseModel, rows: int, backwards: bool) -> tuple[float, float]:
    """Return the seconds per row that the products of all layers, and of the output layer, take with so many rows."""
    shapes = Counter(
        (layer.weight.shape, layer is base.head) for layer in base.model.modules() if isinstance(layer, torch.nn.Linear)
    )
    seconds = {True: 0.0, False: 0.0}
    for ((outputs, inputs), last), count in shapes.items():
        weight = torch.randn(outputs, inputs, dtype=base.dtype)
        source, gradient = (torch.randn(rows, width, dtype=base.dtype) for width in (inputs, outputs))

        def product(weight: Any = weight, source: Any = source, gradient: Any = gradient) -> None:
            with fast_products():
                torch.nn.functional.linear(source, weight)
                if backwards:
                    gradient @ weight

        seconds[last] += count * min(spent(product)[0] for _ in range(4)) / rows
    return seconds[False], seconds[True]


def spent(work: Callable[[], object]) -> tuple[float, Any]:
    """Return the processor seconds of ``work``, and its result."""
    started = time.process_time()
    result = work()
    return time.process_time() - started, result


def measure(options: argparse.Namespace) -> dict[str, object]:
    """Do one side's work, the best of so many times, and return its figures."""
    torch.set_num_threads(1)
    base = load_base(options.base, device="cpu", dtype=options.dtype)
    SHAPES["real"] = {"vocab_size": base.head.out_features}
    start = initial_state(base.model, training.LORA, 1)
    tasks = training.make_tasks(options, start)
    ours = options.side == "ours"
    if options.work == "training":
        train = training.run_stacked if ours else training.run_trainer
        train(base, [ClientTask("warm", tasks[0].pieces[:2], start, 1, 1)], SETTINGS)
        tokens = sum(len(piece) for task in tasks for piece in task.pieces)
        supervised = sum(predicted_tokens(piece, SETTINGS) for task in tasks for piece in task.pieces)
        found = [spent(lambda: train(base, tasks, SETTINGS))[0] for _ in range(options.repeats)]
        layers, head = products(base, 512, True)[0], products(base, 256, True)[1]
        least = tokens * layers + supervised * head
    elif options.work == "writing":
        write = generation.run_stacked if ours else generation.run_one_by_one
        requests = generation.make_requests(base, options)
        write(base, requests[: options.prompts], argparse.Namespace(**{**vars(options), "new": 2}))
        results = [spent(lambda: write(base, requests, options)) for _ in range(options.repeats)]
        found, written = [seconds for seconds, _ in results], results[0][1]
        tokens = sum(map(len, written))
        layers, head = products(base, len(requests), False)
        least = tokens * (layers + head) + len(requests) * options.prefix * products(base, 512, False)[0]
    else:
        questions = [Question(task.start, piece) for task in tasks for piece in task.pieces]
        answer(base, training.LORA, questions[:2])
        tokens = sum(len(question.piece) for question in questions)
        supervised = tokens - sum(question.piece.response_start for question in questions)
        found = [spent(lambda: answer(base, training.LORA, questions))[0] for _ in range(options.repeats)]
        layers, head = products(base, 512, False)[0], products(base, 256, False)[1]
        least = tokens * layers + supervised * head
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    outputs = written if options.work == "writing" else []
    return {"tokens": tokens, "seconds": min(found), "least": least, "peak_mib": peak, "outputs": outputs}


def main() -> None:
    """Run every side and print its figures, the ratios, and how many texts are equal."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base", required=True, help="folder of the base model")
    parser.add_argument("--dtype", choices=["float32", "bfloat16"], default="bfloat16")
    parser.add_argument("--clients", type=int, default=6)
    parser.add_argument("--pieces", type=int, default=8, help="training pieces per client")
    parser.add_argument("--length", type=int, default=256, help="tokens of the longest piece")
    parser.add_argument("--adapters", type=int, default=12)
    parser.add_argument("--prompts", type=int, default=4, help="prompts per adapter")
    parser.add_argument("--prefix", type=int, default=64, help="tokens of a prompt")
    parser.add_argument("--new", type=int, default=96, help="new tokens")
    parser.add_argument("--rows", type=int, default=96, help="rows of a stacked batch")
    parser.add_argument("--repeats", type=int, default=1, help="the best of so many times counts")
    parser.add_argument("--work", choices=sorted(SIDES), help="this alone")
    parser.add_argument("--side", help=argparse.SUPPRESS)
    parser.set_defaults(shape="real")
    options = parser.parse_args()
    if options.side:
        print(json.dumps(measure(options)))
        return
    for work, sides in SIDES.items():
        if options.work not in (None, work):
            continue
        found = []
        for side in sides:
            command = [sys.executable, __file__, *sys.argv[1:], "--work", work, "--side", side]
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
            found.append(json.loads(done.stdout.splitlines()[-1]))
            row = found[-1]
            share = f"{row['least'] / row['seconds']:.0%} of the matrix rate, " if side == "ours" else ""
            print(
                f"{work:9} {side:16} {row['tokens'] / row['seconds']:7.1f} tokens per processor second, {share}"
                f"peak {row['peak_mib']:6,.0f} MiB",
                flush=True,
            )
        if len(found) == 2:
            ratio = (found[0]["tokens"] / found[0]["seconds"]) / (found[1]["tokens"] / found[1]["seconds"])
            equal = np.sum([one == other for one, other in zip(*(row["outputs"] for row in found), strict=True)])
            texts = f", {equal:.0f} of {len(found[0]['outputs'])} texts equal" if work == "writing" else ""
            print(f"{work:9} {ratio:.2f} times the tokens per processor second{texts}", flush=True)


if __name__ == "__main__":
    main()
