"""What the jobs that generate have in common: every request is answered once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from favor.federation.inference import ClientAdapter, distinct, prompt_gates, requests
from favor.lm.base import BaseModel
from favor.lm.generation import GenerationRequest, generate
from favor.lm.settings import LoraSettings
from favor.lm.widths import Widths
from favor.running.progress import Progress


def answers(
    base: BaseModel,
    lora: LoraSettings,
    asked: Sequence[GenerationRequest],
    settings: Mapping[str, Any],
    title: str,
    widths: Widths | None = None,
) -> list[list[int]]:
    """Return the new tokens of every request under ``settings``, the section ``generation`` of the configuration."""
    own, places = distinct(asked)
    progress = Progress(title, len(own), "texts")
    limits = (settings["max_new_tokens"], settings["repetition_penalty"], settings["rows_per_batch"])
    found = generate(base, lora, own, *limits, progress, widths)
    progress.close()
    return [found[place] for place in places]


def adapted_answers(
    base: BaseModel,
    lora: LoraSettings,
    prompts: pd.DataFrame,
    adapters: Mapping[str, ClientAdapter | None],
    settings: Mapping[str, Any],
    title: str,
    widths: Widths,
) -> tuple[list[list[int]], list[float | None]]:
    """Return the new tokens of every row of ``prompts`` (client, prompt_id, prompt_tokens) and its gate, if it has one.

    ``adapters``: what each client generates with (:func:`favor.federation.inference.client_adapters`).
    """
    columns = zip(prompts["client"], prompts["prompt_id"], prompts["prompt_tokens"], strict=True)
    rows = [(f"{prompt} of {client}", str(client), list(map(int, tokens))) for client, prompt, tokens in columns]
    gates = prompt_gates(base, lora, rows, adapters)
    tokens = answers(base, lora, requests(rows, adapters, gates), settings, title, widths)
    return tokens, [gates.get(name) for name, _, _ in rows]
