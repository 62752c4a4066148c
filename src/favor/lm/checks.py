"""Checks of a base model when it is loaded: they return nothing and leave it as it was, so a new one reruns no job."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from pydantic import Field
from torch import nn

from favor.foundation.errors import UserError
from favor.foundation.received import Received, received_json
from favor.lm.attention import Packing, packed_attention
from favor.running.folder.leftovers import is_truncated


class _Index(Received, extra="allow"):
    """Of weights in several files: which tensor lies where."""

    weight_map: dict[str, str] = Field(default_factory=dict)


def check_folder(folder: Path) -> None:
    """Make sure that a model's folder is whole. Raises ``UserError`` that names what is missing or truncated."""
    if not folder.is_dir():
        raise UserError(f"model folder {folder}: no such folder; give a folder with config.json, or a Hugging Face id")
    weights = sorted(folder.glob("*.safetensors"))
    present = {
        "config.json": (folder / "config.json").is_file(),
        "*.safetensors": bool(weights),
        "tokenizer.json": (folder / "tokenizer.json").is_file(),
    }
    missing = [name for name, there in present.items() if not there]
    if missing:
        raise UserError(f"model folder {folder}: {', '.join(missing)} missing; save the whole model there")
    index = folder / "model.safetensors.index.json"
    if index.is_file():
        needed = received_json(index, _Index, "save the whole model there", links=True).weight_map.values()
        absent = {*needed} - {path.name for path in weights}
        if absent:
            raise UserError(f"model folder {folder}: {', '.join(sorted(absent))} missing; save the whole model there")
    for path in weights:
        if is_truncated(path):
            raise UserError(f"{path}: truncated, or not a safetensors file; fetch or save it again")


def check_pieces(source: str, model: Any, final_states: Callable[..., torch.Tensor], dtype: torch.dtype) -> None:
    """Make sure that pieces packed into one row are read as each alone, whatever stands before them.

    Raises ``UserError`` for a model that sees across them, and for one whose windows packed attention is not told of.
    """
    before, piece = torch.arange(4), torch.tensor([2, 0, 3, 1, 2])
    packing = Packing((len(before), len(piece)), model.device)
    options = {"position_ids": packing.positions, "packing": packing}
    remedy = "take a decoder whose layers are attention and perceptrons"
    try:
        with torch.no_grad(), _short_windows(model), packed_attention(model):
            one, other = (
                final_states(torch.cat([first, piece])[None].to(model.device), **options)[0, len(first) :].float()
                for first in (before, before.flip(0))
            )
    except UserError as error:
        raise UserError(f"model '{source}': {error}; {remedy}") from None
    except (TypeError, ValueError, AttributeError) as error:
        raise UserError(f"model '{source}': it does not read packed rows ({error}); {remedy}") from None
    with torch.no_grad(), _short_windows(model):
        alone = final_states(piece[None].to(model.device))[0].float()
    # Rounding differs in rows of another length; another start of the row alone changes it where experts are chosen.
    rounding = 1e-3 if dtype == torch.float32 else 0.1
    if (one - other).norm() > rounding / 2 * one.norm() or (one - alone).norm() > rounding * alone.norm():
        raise UserError(
            f"model '{source}': its layers carry what they read of one piece of a packed row into the next, as "
            f"recurrent ones do, count positions on, or keep a sliding window by their masks alone; {remedy}"
        )


@contextmanager
def _short_windows(model: Any) -> Iterator[None]:
    """Narrow sliding windows to two tokens, so that a few show whether they are kept.

    A window as long as the context is none.
    """
    context = model.config.get_text_config().max_position_embeddings
    found = [holder for module in model.modules() for holder in (module, getattr(module, "config", module))]
    holders = {id(holder): holder for holder in found}
    windows = {key: getattr(holder, "sliding_window", None) for key, holder in holders.items()}
    windows = {key: size for key, size in windows.items() if isinstance(size, int) and 0 < size < context}
    try:
        for key in windows:
            holders[key].sliding_window = 2
        yield
    finally:
        for key, size in windows.items():
            holders[key].sliding_window = size


def check_head(source: str, model: Any, final_states: Callable[..., torch.Tensor]) -> None:
    """Make sure that the final states times the output layer are the model's logits (no scaling, no capping)."""
    head = model.get_output_embeddings()
    if type(head) is not nn.Linear:
        raise UserError(f"model '{source}': its output layer is not a plain linear layer; leave it unquantised")
    tokens = torch.arange(4, device=model.device).unsqueeze(0)
    with torch.no_grad():
        expected = model(input_ids=tokens, use_cache=False).logits.float()
        logits = head(final_states(tokens)).float()
    # A cap changes small logits by less than the tolerance that bfloat16 needs.
    capped = getattr(model.config.get_text_config(), "final_logit_softcapping", None) is not None
    if capped or not torch.allclose(logits, expected, rtol=1e-2, atol=1e-2):
        raise UserError(f"model '{source}': it alters its logits after the output layer, which is not supported")
