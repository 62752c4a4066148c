"""A base model out of a GGUF file: its weights dequantised once, as a folder that every job loads."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from favor.foundation.errors import UserError
from favor.foundation.files import write_json
from favor.foundation.gguf import read_header
from favor.lm.saving import written_whole

_SPLIT_AS_GPT2 = {"gpt-2", "mpt", "olmo", "phi-2"}  # values of tokenizer.ggml.pre, as llama.cpp reads them


def save_tokenizer(path: str | Path, folder: str | Path) -> None:
    """Write the tokenizer of a GGUF file to ``folder``. Raises ``UserError`` where transformers cannot read it."""
    source = Path(path).expanduser()
    with _readable(source):
        _tokenizer(source).save_pretrained(folder)


def _tokenizer(source: Path) -> Any:
    from tokenizers.pre_tokenizers import ByteLevel, Digits, Sequence
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(source.parent, gguf_file=source.name)
    split = read_header(source).values.get("tokenizer.ggml.pre")
    if split == "smollm":
        # Its vocabulary was learned on text whose digits stand alone, also from the spaces before them; transformers
        # knows the splits of other models.
        digits_alone = Sequence([Digits(individual_digits=True), ByteLevel(add_prefix_space=False)])
        tokenizer.backend_tokenizer.pre_tokenizer = digits_alone
    elif isinstance(tokenizer.backend_tokenizer.pre_tokenizer, ByteLevel) and split not in _SPLIT_AS_GPT2:
        # transformers splits as GPT-2 does where it does not know better: other tokens, and nothing would say so.
        raise ValueError(f"it is not known how the vocabulary '{split}' splits text")
    return tokenizer


@contextmanager
def _readable(source: Path) -> Iterator[None]:
    """Say in one line what transformers cannot read of a GGUF file."""
    header = read_header(source)
    try:
        yield
    except Exception as error:  # gguf and transformers raise whatever numpy, the reader or a missing name gives them
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise UserError(
            f"{source}: the model of architecture '{header.architecture}' cannot be read ({reason}); fetch it again, "
            "or give a model's folder"
        ) from None


def dequantise(path: str | Path, folder: str | Path) -> None:
    """Write the model of a GGUF file to ``folder`` in float32, with its tokenizer and ``gguf.json``.

    ``gguf.json`` holds the file's name, its size in bytes and its SHA-256. What quantisation took is gone: the weights
    are those that llama.cpp computes with. Raises ``UserError`` for a file that transformers cannot read.
    """
    from transformers import AutoModelForCausalLM

    source = Path(path).expanduser()
    with _readable(source):
        found = AutoModelForCausalLM.from_pretrained(source.parent, gguf_file=source.name, dtype="float32")
        tokenizer = _tokenizer(source)
    # The marker of quantisation, which is no longer true, would forbid saving.
    del found.config.quantization_config
    model = type(found)(found.config)
    model.load_state_dict(found.state_dict())
    model.generation_config = found.generation_config
    with source.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    with written_whole(Path(folder)) as partial:
        model.save_pretrained(partial, max_shard_size="1TB")  # one file, whatever its size
        tokenizer.save_pretrained(partial)
        write_json({"file": source.name, "bytes": source.stat().st_size, "sha256": digest}, partial / "gguf.json")
