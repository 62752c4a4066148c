"""The frozen base language model: loading (plain or 4-bit), saving quantised once per machine, adding for good."""

import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Literal

import torch
from huggingface_hub.errors import StrictDataclassError
from safetensors import SafetensorError
from torch import nn

from favor.foundation.arithmetic import multiplies_bfloat16
from favor.foundation.errors import UserError
from favor.foundation.files import is_local
from favor.lm.checks import check_folder, check_head, check_pieces
from favor.lm.configuration import load_configuration, local_configuration
from favor.lm.lora import LoraState, factor_name, target_layers
from favor.lm.saving import written_whole
from favor.lm.settings import CHAT_DATE, AskedModel, LoadedModel, Lora
from favor.lm.tokenizer import TextTokenizer, load_tokenizer, opening
from favor.running.jobs.processor_memory import keep_freed_memory

Quantisation = Literal["none", "nf4"]
Chat = Literal["auto", "template", "plain"]
# What transformers raises of a configuration or a file that is not what it says: whatever it stumbles over.
_UNREADABLE = (
    ArithmeticError, AttributeError, LookupError, OSError, SafetensorError, StrictDataclassError, TypeError, ValueError,
)  # fmt: skip
_TOKENIZER_FILES = ("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "chat_template.jinja")


@dataclass
class BaseModel:
    """A frozen causal language model with its tokenizer.

    ``decoder`` gives final states after the last norm; ``head`` (a plain linear layer) turns them into logits.
    ``end_ids`` are the tokens at which generation stops; ``context`` is the longest sequence in tokens; ``chat`` says
    how the model is asked in words (:class:`favor.inference.chat.ChatTokens`), ``chat_date`` which day that is.
    """

    source: str
    model: Any
    tokenizer: TextTokenizer
    device: torch.device
    dtype: torch.dtype
    context: int
    end_ids: tuple[int, ...]
    chat: Chat = "auto"
    chat_date: str = CHAT_DATE

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


def open_base(model: LoadedModel, lora: Lora | None = None, context_needed: int = 0) -> BaseModel:
    """Load a base model as a job is told to; see :func:`load_base`."""
    chat = model.chat if isinstance(model, AskedModel) else "auto"
    base = load_base(model.source, model.quantisation, model.device, model.dtype, lora, context_needed, chat)
    base.chat_date = model.chat_date
    return base


def load_base(
    source: str,
    quantisation: Quantisation = "none",
    device: Literal["auto", "cpu", "cuda"] = "auto",
    dtype: Literal["auto", "float32", "bfloat16"] = "auto",
    lora: Lora | None = None,
    context_needed: int = 0,
    chat: Chat = "auto",
) -> BaseModel:
    """Load a base model by Hugging Face id or local folder: frozen, in evaluation mode, safetensors only.

    ``dtype`` "auto" is bfloat16 on a GPU and float32 on a CPU; with ``quantisation`` "nf4" (NF4 with double
    quantisation, QLoRA) it is the dtype of computation. A CPU without products in bfloat16 computes in float32, and
    that is said. ``lora``: adapters that the model must take,
    ``context_needed``: tokens (prompt and continuation) that must fit.

    Raises ``UserError``, one line each: no such folder or id, a file missing or truncated, a projection missing, a
    context too short, no GPU where one is asked for, a model whose logits are not its output layer's product.
    """
    if is_local(source):
        check_folder(Path(source).expanduser())
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
    precision = computation_type(dtype, place.type)
    if dtype == "bfloat16" and precision == torch.float32:
        print("dtype bfloat16: this processor has no products in it; float32 is computed instead", file=sys.stderr)
    tokenizer = load_tokenizer(source)
    base = wrap_model(_load_model(source, quantisation, place, precision), tokenizer, source, precision)
    if lora is not None:
        try:
            target_layers(base.model, lora)
        except UserError as error:
            raise UserError(f"model '{source}': {error}") from None
    base.chat = chat
    return base


def computation_type(dtype: str, device: str) -> torch.dtype:
    """Return what a base model computes in on a ``device`` ("cpu", "cuda"); see :func:`load_base`."""
    if dtype == "float32" or (dtype == "auto" and device == "cpu"):
        return torch.float32
    return torch.bfloat16 if device != "cpu" or multiplies_bfloat16() else torch.float32


def wrap_model(model: Any, tokenizer: TextTokenizer, source: str, dtype: torch.dtype) -> BaseModel:
    """Return ``model`` (already on its device) as a frozen base; see :func:`load_base` for the errors."""
    if model.device.type == "cpu":
        keep_freed_memory()
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
    check_pieces(source, model, base.final_states, dtype)
    check_head(source, model, base.final_states)
    return base


def _load_model(source: str, quantisation: Quantisation, device: torch.device, dtype: torch.dtype) -> Any:
    from transformers import AutoModelForCausalLM

    options: dict[str, Any] = {"dtype": dtype, "trust_remote_code": False, "use_safetensors": True}
    if quantisation == "nf4":
        from transformers import BitsAndBytesConfig

        options["device_map"] = {"": str(device) if device.type == "cpu" else torch.cuda.current_device()}
        if not is_local(source) or local_configuration(source).quantization_config is None:
            options["quantization_config"] = BitsAndBytesConfig(
                load_in_4bit=True,
                bnb_4bit_quant_type="nf4",
                bnb_4bit_use_double_quant=True,
                bnb_4bit_compute_dtype=dtype,
            )
    try:
        model = AutoModelForCausalLM.from_pretrained(source, **options)
    except _UNREADABLE as error:
        reason = " ".join(str(error).split())[:200]
        raise UserError(
            f"model '{source}': cannot be loaded ({reason}); check its name, files or the network"
        ) from None
    if quantisation == "nf4":
        _compute_in(model, dtype)
        return model
    return model.to(device)


def _compute_in(model: nn.Module, dtype: torch.dtype) -> None:
    """Let a model whose layers are quantised compute in ``dtype``: a saved one has the type of where it was made."""
    module: Any
    for module in model.modules():
        quantised = hasattr(module, "compute_dtype")
        if quantised:
            module.compute_dtype, module.compute_type_is_set = dtype, True
        if hasattr(module, "support_avx512bf16_for_cpu"):
            # On CPUs with AVX512-BF16, bitsandbytes repacks 4-bit weights at the first forward pass in evaluation mode,
            # after which they can be neither trained through nor saved.
            module.support_avx512bf16_for_cpu = False
        for name, parameter in module.named_parameters(recurse=False):
            if parameter.is_floating_point() and not (quantised and name == "weight"):
                parameter.data = parameter.data.to(dtype)


def save_base(base: BaseModel, folder: str | Path) -> None:
    """Save a base, quantised as it is, so that later jobs load it without quantising again.

    The tokenizer goes with it as it was found, its chat template included.
    """
    with written_whole(Path(folder)) as partial:
        base.model.save_pretrained(partial, max_shard_size="1TB")  # one file, whatever its size
        copy_tokenizer(base.source, partial)
        if not (partial / "tokenizer.json").is_file():
            base.tokenizer.save(partial / "tokenizer.json")


def copy_tokenizer(source: str, folder: Path) -> None:
    """Copy the tokenizer's files of a model into ``folder``, as far as it has them."""
    found = Path(source)
    if not is_local(source):
        from huggingface_hub import snapshot_download

        found = Path(snapshot_download(source, allow_patterns=list(_TOKENIZER_FILES)))
    for name in _TOKENIZER_FILES:
        if (found / name).is_file():
            shutil.copyfile(found / name, folder / name)


def context_length(source: str) -> int:
    """Return the longest sequence, in tokens, that the model in a local folder or under a Hugging Face id may read."""
    if is_local(source):
        configuration = local_configuration(source).model_dump()
    else:
        configuration = load_configuration(source).get_text_config().to_dict()
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
            length = min(length, original) if isinstance(original, int) else length
    return length


def add_frozen(base: BaseModel, frozen: LoraState, lora: Lora) -> None:
    """Add (alpha / rank of ``lora``) B A x to the output of every layer for good: W <- W + (alpha / rank) B A.

    ``frozen``: A [R, d_in] and B [d_out, R] by PEFT's names, of any rank R, which may differ by layer. Weights stay as
    they are: in 4 or 16 bits they would not hold a small update. Without tensors nothing is added.
    """
    for path, layer in target_layers(base.model, lora).items() if frozen else ():
        first, second = (frozen[factor_name(path, factor)].to(base.device, base.dtype) for factor in ("A", "B"))
        layer.register_forward_hook(partial(_added, first, lora.scaling * second))


def _added(
    first: torch.Tensor, second: torch.Tensor, _: nn.Module, inputs: tuple[torch.Tensor], output: torch.Tensor
) -> torch.Tensor:
    return output + nn.functional.linear(nn.functional.linear(inputs[0], first), second)
