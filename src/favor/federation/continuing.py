"""What the jobs that generate have in common: requests answered once, with as many samples as are asked for."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from favor.federation.inference import ClientAdapter, distinct, prompt_gates, requests
from favor.inference.generation import GenerationRequest, generate
from favor.inference.sampling import Sampling
from favor.lm.base import BaseModel
from favor.lm.settings import Decoding, Lora
from favor.lm.widths import Widths
from favor.running.jobs.progress import Progress


def answers(
    base: BaseModel,
    lora: Lora,
    run: pd.DataFrame,
    asked: Sequence[GenerationRequest],
    settings: Decoding,
    title: str,
    widths: Widths | None = None,
) -> tuple[pd.DataFrame, list[list[int]]]:
    """Return ``run`` with a row per sample (column sample, from 0), and the new tokens of every row.

    run: seed, method, client and prompt_id of every request of ``asked``. Greedy decoding (``temperature`` 0) gives one
    sample. A sampled continuation is drawn with the stream (seed, method, prompt, sample): clients draw with the same
    numbers on one prompt, so that they differ by their adapters alone.
    """
    count = settings.samples
    rows = run.loc[run.index.repeat(count)].assign(sample=np.tile(np.arange(count, dtype=np.int32), len(run)))
    repeated = [request for request in asked for _ in range(count)]
    sampling = None
    if settings.temperature:
        sampling = Sampling(settings.temperature, settings.top_p)
        names = zip(*(rows[key].tolist() for key in ("seed", "method", "prompt_id", "sample")), strict=True)
        repeated = [replace(request, stream=name) for request, name in zip(repeated, names, strict=True)]
    own, places = distinct(repeated)
    progress = Progress(title, len(own), "texts")
    limits = (settings.max_new_tokens, settings.repetition_penalty, settings.rows_per_batch)
    found = generate(base, lora, own, *limits, progress, widths, sampling)
    progress.close()
    return rows.reset_index(drop=True), [found[place] for place in places]


def adapted_requests(
    base: BaseModel,
    lora: Lora,
    prompts: pd.DataFrame,
    adapters: Mapping[str, ClientAdapter | None],
) -> tuple[list[GenerationRequest], list[float | None]]:
    """Return the request of every row of ``prompts`` (client, prompt_id, prompt_tokens) and its gate, if it has one.

    ``adapters``: what each client generates with (:func:`favor.federation.inference.client_adapters`).
    """
    columns = zip(prompts["client"], prompts["prompt_id"], prompts["prompt_tokens"], strict=True)
    opening = base.opening
    rows = [(f"{prompt} of {client}", str(client), [*opening, *map(int, tokens)]) for client, prompt, tokens in columns]
    gates = prompt_gates(base, lora, rows, adapters)
    return requests(rows, adapters, gates), [gates.get(name) for name, _, _ in rows]
