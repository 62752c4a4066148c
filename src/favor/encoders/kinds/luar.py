"""Encoder kind ``luar``: LUAR (Rivera-Soto et al. 2021) for one document, from its plain weights, L2-normalised.

With one document an episode, LUAR's attention over the episode and its maximum over documents change nothing, so
the embedding is a linear map (to 512 dimensions) of the mean-pooled DistilRoBERTa states. Its repository runs code
of its own, which is not executed: the sizes follow from the weights' shapes.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn import functional
from transformers import RobertaConfig, RobertaModel
from transformers.utils import cached_file

from favor.encoders.backbones import Backbone, cannot_be_loaded, compute_device, mean_pool
from favor.encoders.base import TextEncoder, checked_options
from favor.encoders.transformer import TransformerEncoder
from favor.foundation.errors import UserError
from favor.foundation.tensors import read_safetensors
from favor.foundation.tokenizer import open_tokenizer

DEFAULTS: dict[str, Any] = {
    "source": "rrivera1849/LUAR-MUD",
    "maximum_tokens": 512,
    "batch_size": 64,
    "precision": "float32",
}
_HEAD_WIDTH = 64  # of every RoBERTa
_PREFIX = "transformer."


def load(options: Mapping[str, Any], folder: Path | None) -> TextEncoder:
    """Options and their defaults: see ``DEFAULTS``. ``folder`` is not used: nothing is trained."""
    checked = checked_options("luar", options, DEFAULTS)
    source = str(Path(checked["source"]).expanduser())
    tensors, _ = read_safetensors(_file(source, "model.safetensors"))
    tokenizer = open_tokenizer(_file(source, "tokenizer.json"))
    padding_id = tokenizer.token_to_id("<pad>")
    if padding_id is None or not {"linear.weight", "linear.bias"} <= set(tensors):
        raise UserError(f"encoder source '{source}': not a LUAR model (no '<pad>' token or no linear map); check it")
    model = _transformer(tensors, padding_id, source)
    weight, bias = (torch.from_numpy(tensors[f"linear.{part}"]).float() for part in ("weight", "bias"))
    device = compute_device()
    weight, bias = weight.to(device), bias.to(device)
    return TransformerEncoder(
        Backbone(model, tokenizer, padding_id),
        lambda output, mask: functional.linear(mean_pool(output.last_hidden_state.float(), mask), weight, bias),
        weight.shape[0],
        checked,
    )


def _transformer(tensors: Mapping[str, np.ndarray], padding_id: int, source: str) -> Any:
    states = {
        name.removeprefix(_PREFIX): torch.from_numpy(array).float()
        for name, array in tensors.items()
        if name.startswith(_PREFIX) and ".pooler." not in name and not name.endswith("position_ids")
    }
    try:
        vocabulary, hidden = states["embeddings.word_embeddings.weight"].shape
        config = RobertaConfig(
            vocab_size=vocabulary,
            hidden_size=hidden,
            num_hidden_layers=1 + max(int(name.split(".")[2]) for name in states if name.startswith("encoder.layer.")),
            num_attention_heads=max(1, hidden // _HEAD_WIDTH),
            intermediate_size=states["encoder.layer.0.intermediate.dense.weight"].shape[0],
            max_position_embeddings=states["embeddings.position_embeddings.weight"].shape[0],
            type_vocab_size=states["embeddings.token_type_embeddings.weight"].shape[0],
            layer_norm_eps=1e-5,
            pad_token_id=padding_id,
        )
        model = RobertaModel(config, add_pooling_layer=False)
        model.load_state_dict(states)
    except (KeyError, ValueError, RuntimeError) as error:
        reason = str(error).splitlines()[0]
        raise UserError(f"encoder source '{source}': its weights are not LUAR's ({reason}); check the folder") from None
    return model


def _file(source: str, name: str) -> str:
    try:
        return str(cached_file(source, name))
    except OSError as error:
        raise cannot_be_loaded(source, error) from None
