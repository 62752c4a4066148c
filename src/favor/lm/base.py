"""The frozen base language model: loading (plain or 4-bit), checking, saving quantised once a machine."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import torch
from safetensors import SafetensorError
from torch import nn

from favor.foundation.errors import UserError
from favor.foundation.files import PARTIAL, REMEDY, read_json, to_disk
from favor.foundation.tokenizer import is_local
from favor.lm.lora import target_layers
from favor.lm.packing import Packing, packed_attention
from favor.lm.settings import LoraSettings
from favor.lm.tokenizer import TextTokenizer, load_tokenizer, opening

Quantisation = Literal["none", "nf4"]
Chat = Literal["auto", "template", "plain"]
_TOKENIZER_FILES = ("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "chat_template.jinja")


@dataclass
class BaseModel:
    """A frozen causal language model with its tokenizer.

    ``decoder`` gives final states after the last norm; ``head`` (a plain linear layer) turns them into logits.
    ``end_ids`` are the tokens at which generation stops; ``context`` is the longest sequence in tokens; ``chat`` says
    how the model is asked in words (:class:`favor.lm.chat.ChatTokens`).
    """

    source: str
    model: Any
    tokenizer: TextTokenizer
    device: torch.device
    dtype: torch.dtype
    context: int
    end_ids: tuple[int, ...]
    chat: Chat = "auto"

    @property
    def decoder(self) -> nn.Module:
        """The model without its output layer."""
        return self.model.base_model

    @property
    def head(self) -> nn.Linear:
        """The output layer."""
        return self.model.get_output_embeddings()

    @property
    def hidden_size(self) -> int:
        """Width d of the final states."""
        return self.model.config.get_text_config().hidden_size

    @cached_property
    def opening(self) -> tuple[int, ...]:
        """The special tokens that stand before every text and prompt (:func:`favor.lm.tokenizer.opening`)."""
        return opening(self.tokenizer)

    def final_states(self, token_ids: torch.Tensor, **options: Any) -> torch.Tensor:
        """Return final states [rows, length, d] after the last norm, for token ids [rows, length]."""
        return self.decoder(input_ids=token_ids, use_cache=False, **options).last_hidden_state


def load_base(
    source: str,
    quantisation: Quantisation = "none",
    device: Literal["auto", "cpu", "cuda"] = "auto",
    dtype: Literal["auto", "float32", "bfloat16"] = "auto",
    lora: LoraSettings | None = None,
    context_needed: int = 0,
    chat: Chat = "auto",
) -> BaseModel:
    """Load a base model by Hugging Face id or local folder: frozen, in evaluation mode, safetensors only.

    ``dtype`` "auto" is bfloat16 on a GPU and float32 on a CPU; with ``quantisation`` "nf4" (NF4 with double
    quantisation, QLoRA) it is the dtype of computation. ``lora``: adapters that the model must take,
    ``context_needed``: tokens (prompt and continuation) that must fit.

    Raises ``UserError``, one line each: no such folder or id, a file missing or truncated, a projection missing, a
    context too short, no GPU where one is asked for, a model whose logits are not its output layer's product.
    """
    if is_local(source):
        _check_folder(Path(source).expanduser())
        source = str(Path(source).expanduser())
    context = context_length(source)
    if context_needed > context:
        raise UserError(
            f"model '{source}': prompt and continuation need {context_needed} tokens, its context holds {context}; "
            "shorten the prefix or max_new_tokens, or take another model"
        )
    if device == "cuda" and not torch.cuda.is_available():
        raise UserError("device is 'cuda', but PyTorch finds no GPU; use 'auto' or 'cpu'")
    place = torch.device("cuda" if device != "cpu" and torch.cuda.is_available() else "cpu")
    precision = {"float32": torch.float32, "bfloat16": torch.bfloat16}.get(
        dtype, torch.bfloat16 if place.type == "cuda" else torch.float32
    )
    tokenizer = load_tokenizer(source)
    base = wrap_model(_load_model(source, quantisation, place, precision), tokenizer, source, precision)
    if lora is not None:
        try:
            target_layers(base.model, lora)
        except UserError as error:
            raise UserError(f"model '{source}': {error}") from None
    base.chat = chat
    return base


def wrap_model(model: Any, tokenizer: TextTokenizer, source: str, dtype: torch.dtype) -> BaseModel:
    """Return ``model`` (already on its device) as a frozen base; see :func:`load_base` for the errors."""
    model.requires_grad_(False)
    model.eval()
    configuration = model.config.get_text_config()
    ends = getattr(model.generation_config, "eos_token_id", None)
    if ends is None:
        ends = configuration.eos_token_id
    base = BaseModel(
        source=source,
        model=model,
        tokenizer=tokenizer,
        device=model.device,
        dtype=dtype,
        context=_unchanged_context(int(configuration.max_position_embeddings), configuration.to_dict()),
        end_ids=() if ends is None else (ends,) if isinstance(ends, int) else tuple(ends),
    )
    if base.head.weight.dtype != dtype:
        raise ValueError(f"the output layer is {base.head.weight.dtype}, not {dtype}")
    _check_pieces(base)
    _check_head(base)
    return base


def _load_model(source: str, quantisation: Quantisation, device: torch.device, dtype: torch.dtype) -> Any:
    from transformers import AutoModelForCausalLM

    options: dict[str, Any] = {"dtype": dtype, "trust_remote_code": False, "use_safetensors": True}
    if quantisation == "nf4":
        from transformers import BitsAndBytesConfig

        options["device_map"] = {"": str(device) if device.type == "cpu" else torch.cuda.current_device()}
        if not _is_quantised(source):
            options["quantization_config"] = BitsAndBytesConfig(
                load_in_4bit=True,
                bnb_4bit_quant_type="nf4",
                bnb_4bit_use_double_quant=True,
                bnb_4bit_compute_dtype=dtype,
            )
    try:
        model = AutoModelForCausalLM.from_pretrained(source, **options)
    except (OSError, ValueError, SafetensorError) as error:
        reason = str(error).splitlines()[0]
        raise UserError(
            f"model '{source}': cannot be loaded ({reason}); check its name, files or the network"
        ) from None
    if quantisation == "nf4":
        _keep_weights_unpacked(model)
        _compute_in(model, dtype)
        return model
    return model.to(device)


def _keep_weights_unpacked(model: nn.Module) -> None:
    # On CPUs with AVX512-BF16, bitsandbytes repacks 4-bit weights at the first forward pass in evaluation mode, after
    # which they can be neither trained through nor saved.
    for module in model.modules():
        if hasattr(module, "support_avx512bf16_for_cpu"):
            setattr(module, "support_avx512bf16_for_cpu", False)  # noqa: B010 - the type of modules forbids the plain form


def _compute_in(model: nn.Module, dtype: torch.dtype) -> None:
    """Let a model whose layers are quantised compute in ``dtype``: a saved one has the type of where it was made."""
    for module in model.modules():
        quantised = hasattr(module, "compute_dtype")
        if quantised:
            setattr(module, "compute_dtype", dtype)  # noqa: B010 - as above
            setattr(module, "compute_type_is_set", True)  # noqa: B010
        for name, parameter in module.named_parameters(recurse=False):
            if parameter.is_floating_point() and not (quantised and name == "weight"):
                parameter.data = parameter.data.to(dtype)


def save_base(base: BaseModel, folder: str | Path) -> None:
    """Save a base, quantised as it is, so that later jobs load it without quantising again.

    The weights are written to a temporary folder beside ``folder``, which is then moved into place. The tokenizer goes
    with them as it was found, its chat template included.
    """
    target, found = Path(folder), _tokenizer_folder(base.source)
    partial = target.with_name(f".{target.name}{PARTIAL}")
    shutil.rmtree(partial, ignore_errors=True)
    try:
        partial.mkdir(parents=True)
        base.model.save_pretrained(partial, max_shard_size="1TB")  # one file, whatever its size
        for name in _TOKENIZER_FILES:
            if (found / name).is_file():
                shutil.copyfile(found / name, partial / name)
        if not (partial / "tokenizer.json").is_file():
            base.tokenizer.save(partial / "tokenizer.json")
        for path in partial.iterdir():
            to_disk(path)
        shutil.rmtree(target, ignore_errors=True)
        partial.replace(target)
    except (OSError, SafetensorError) as error:
        raise UserError(f"{target}: the model cannot be saved there ({error}); {REMEDY}") from None
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _tokenizer_folder(source: str) -> Path:
    """Return the folder with the tokenizer's files of a local model or, fetched where they are not, of an id."""
    if is_local(source):
        return Path(source)
    from huggingface_hub import snapshot_download

    return Path(snapshot_download(source, allow_patterns=list(_TOKENIZER_FILES)))


def context_length(source: str) -> int:
    """Return the longest sequence, in tokens, that the model in a local folder or under a Hugging Face id may read."""
    if is_local(source):
        configuration = read_json(Path(source).expanduser() / "config.json")
    else:
        from transformers import AutoConfig

        try:
            configuration = AutoConfig.from_pretrained(source).get_text_config().to_dict()
        except (OSError, ValueError) as error:
            raise UserError(
                f"model '{source}': no local folder of this name, and its configuration cannot be fetched "
                f"({str(error).splitlines()[0]}); check the name and the network, or give a local folder"
            ) from None
    length = configuration.get("max_position_embeddings")
    if not isinstance(length, int):
        raise UserError(f"model '{source}': its configuration lacks max_position_embeddings; take another model")
    return _unchanged_context(length, configuration)


def _unchanged_context(length: int, configuration: Mapping[str, Any]) -> int:
    """Return how many of ``length`` positions a model reads in one way.

    Rotary positions of the kind "longrope" are others for a row that goes beyond the original context. Texts share
    rows, so a longer one would change what the model makes of its neighbours. (Those of the kind "dynamic" change
    beyond ``length`` itself.)
    """
    rotation = configuration.get("rope_parameters") or configuration.get("rope_scaling") or {}
    for part in (rotation, *(part for part in rotation.values() if isinstance(part, dict))):
        if (part.get("rope_type") or part.get("type")) == "longrope":
            original = part.get("original_max_position_embeddings")
            original = original or configuration.get("original_max_position_embeddings")
            length = min(length, original or length)
    return length


def _is_quantised(source: str) -> bool:
    path = Path(source) / "config.json"
    return path.is_file() and "quantization_config" in read_json(path)


def _check_folder(folder: Path) -> None:
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
        absent = set(read_json(index).get("weight_map", {}).values()) - {path.name for path in weights}
        if absent:
            raise UserError(f"model folder {folder}: {', '.join(sorted(absent))} missing; save the whole model there")
    for path in weights:
        _check_safetensors(path)


def _check_safetensors(path: Path) -> None:
    """Compare the file's size with what its header declares, without reading the tensors."""
    size = path.stat().st_size
    try:
        with path.open("rb") as file:
            length = int.from_bytes(file.read(8), "little")
            header = json.loads(file.read(length)) if 0 < length < size else None
        if header is None:
            raise ValueError("no header")
        header.pop("__metadata__", None)
        expected = 8 + length + max((entry["data_offsets"][1] for entry in header.values()), default=0)
    except (ValueError, KeyError, TypeError, AttributeError):
        raise UserError(f"{path}: not a safetensors file, or truncated in its header; fetch or save it again") from None
    if size != expected:
        raise UserError(f"{path}: truncated: {size:,} of {expected:,} bytes; fetch or save it again")


def _check_pieces(base: BaseModel) -> None:
    """Make sure that pieces packed into one row are read as each alone, whatever stands before them.

    Raises ``UserError`` for a model that sees across them, and for one whose windows packed attention is not told of.
    """
    with _short_windows(base.model):
        _compare_pieces(base)


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


def _compare_pieces(base: BaseModel) -> None:
    before, piece = torch.arange(4), torch.tensor([2, 0, 3, 1, 2])
    packing = Packing((len(before), len(piece)), base.device)
    options = {"position_ids": packing.positions, "packing": packing}
    remedy = "take a decoder whose layers are attention and perceptrons"
    try:
        with torch.no_grad(), packed_attention(base.model):
            one, other = (
                base.final_states(torch.cat([first, piece])[None].to(base.device), **options)[0, len(first) :].float()
                for first in (before, before.flip(0))
            )
    except UserError as error:
        raise UserError(f"model '{base.source}': {error}; {remedy}") from None
    except (TypeError, ValueError, AttributeError) as error:
        raise UserError(f"model '{base.source}': it does not read packed rows ({error}); {remedy}") from None
    with torch.no_grad():
        alone = base.final_states(piece[None].to(base.device))[0].float()
    # Rounding differs in rows of another length; another start of the row alone changes it where experts are chosen.
    rounding = 1e-3 if base.dtype == torch.float32 else 0.1
    if (one - other).norm() > rounding / 2 * one.norm() or (one - alone).norm() > rounding * alone.norm():
        raise UserError(
            f"model '{base.source}': its layers carry what they read of one piece of a packed row into the next, as "
            f"recurrent ones do, count positions on, or keep a sliding window by their masks alone; {remedy}"
        )


def _check_head(base: BaseModel) -> None:
    """Make sure that the final states times the output layer are the model's logits (no scaling, no capping)."""
    head = base.head
    if type(head) is not nn.Linear:
        raise UserError(f"model '{base.source}': its output layer is not a plain linear layer; leave it unquantised")
    tokens = torch.arange(4, device=base.device).unsqueeze(0)
    with torch.no_grad():
        expected = base.model(input_ids=tokens, use_cache=False).logits.float()
        logits = head(base.final_states(tokens)).float()
    # A cap changes small logits by less than the tolerance that bfloat16 needs.
    capped = getattr(base.model.config.get_text_config(), "final_logit_softcapping", None) is not None
    if capped or not torch.allclose(logits, expected, rtol=1e-2, atol=1e-2):
        raise UserError(f"model '{base.source}': it alters its logits after the output layer, which is not supported")
