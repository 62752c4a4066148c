"""Opens a model's tokenizer, by folder, file or Hugging Face id. No torch, no transformers."""

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tokenizers import AddedToken, Tokenizer

from favor.foundation.errors import UserError
from favor.foundation.files import is_local

# What a tokenizer adds beyond its vocabulary and looks like markup: <|endoftext|>, </tool_call>, [MASK].
_CONTROL = re.compile(r"<[^\s<>]+>|\[[^\s\[\]]+\]")
# The splits of Llama 3 and Qwen: as in GPT-2's, which "ByteLevel" makes by itself, no part holds a visible character
# and a space behind it.
_LLAMA = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|"
    r"\s*[\r\n]+|\s+(?!\S)|\s+"
)
_SPLITS = ((_LLAMA, "Isolated"), (_LLAMA.replace("{1,3}", ""), "Isolated"))
_BEFORE_SPACE = re.compile(r"(?<=[\w!-~])(?= )")
_REMEMBERED = 1_000_000  # pieces whose tokens are kept


def open_tokenizer(source: str | Path) -> Tokenizer:
    """Return the tokenizer of a ``tokenizer.json``, of the folder that holds one, or of a Hugging Face id.

    It neither truncates nor pads, and reads control tokens in a text as text. Raises ``UserError`` where there is none.
    """
    path = Path(source).expanduser()
    if path.is_dir():
        path /= "tokenizer.json"
    if path.is_file():
        tokenizer = _from_file(path)
    elif is_local(str(source)):
        raise UserError(f"{path}: file not found; the base model's folder must hold a tokenizer.json (fast format)")
    else:
        tokenizer = _from_hub(str(source))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    read_control_tokens_as_text(tokenizer)
    return tokenizer


def read_control_tokens_as_text(tokenizer: Tokenizer) -> None:
    """Let ``tokenizer`` encode a control token that a text spells out ("<|endoftext|>") as the characters it is.

    Many models flag only some of their control tokens as special; the others (Qwen's "<tool_call>") are flagged too.
    """
    unflagged = [
        AddedToken(token.content, special=True, normalized=False)
        for _, token in sorted(tokenizer.get_added_tokens_decoder().items())
        if not token.special and _CONTROL.fullmatch(token.content)
    ]
    tokenizer.add_special_tokens(unflagged)
    tokenizer.encode_special_tokens = True


def _from_file(path: Path) -> Tokenizer:
    try:
        return Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises bare Exception for every fault of the file
        raise UserError(f"{path}: not a complete tokenizer.json ({error}); fetch or save it again") from None


def _from_hub(name: str) -> Tokenizer:
    try:
        return Tokenizer.from_pretrained(name)
    except Exception as error:  # the library raises bare Exception
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise UserError(
            f"model '{name}': neither a local folder nor a Hugging Face model whose tokenizer.json can be fetched "
            f"({reason}); check the name and the network, or give a local folder"
        ) from None


def most_tokens(tokenizer: Tokenizer) -> Callable[[str], int] | None:
    """Return an upper bound on the tokens of a text, far cheaper than their number; None where none is known.

    A token of a byte-level tokenizer covers at least one byte of the text as its normaliser leaves it.
    """
    settings = json.loads(tokenizer.to_str())
    parts = _pre_tokenizers(settings)
    byte_level = [part for part in parts if part.get("type") == "ByteLevel"]
    others = {part.get("type") for part in parts} - {"ByteLevel", "Split"}
    if len(byte_level) != 1 or others or byte_level[0]["add_prefix_space"]:
        return None
    normalizer = tokenizer.normalizer
    keeps_ascii = normalizer is None or settings["normalizer"]["type"] == "NFC"

    def bound(text: str) -> int:
        if keeps_ascii and (normalizer is None or text.isascii()):
            return len(text.encode("utf-8", "replace"))
        return len(normalizer.normalize_str(text).encode("utf-8", "replace"))

    return bound


def token_counter(tokenizer: Tokenizer) -> Callable[[Sequence[str]], list[int]]:
    """Return a function that counts the tokens of texts, without special tokens.

    Most byte-level tokenizers let no token reach across a space behind a visible character. Between such places the
    pieces of a corpus are mostly the same words: each is encoded once. Other tokenizers encode whole texts.
    """
    known: dict[str, int] = {}

    def lengths(texts: Sequence[str]) -> list[int]:
        return list(map(len, tokenizer.encode_batch_fast(texts, add_special_tokens=False)))

    def count(texts: Sequence[str]) -> list[int]:
        pieces = [_BEFORE_SPACE.split(text) for text in texts]
        new = list({piece for own in pieces for piece in own if piece not in known})
        known.update(zip(new, lengths(new), strict=True))
        counts = [sum(known[piece] for piece in own) for own in pieces]
        if len(known) > _REMEMBERED:
            known.clear()
        return counts

    return count if _splits_before_spaces(tokenizer) else lengths


def _splits_before_spaces(tokenizer: Tokenizer) -> bool:
    settings = json.loads(tokenizer.to_str())
    parts = _pre_tokenizers(settings)
    splits = [
        part.get("use_regex", False) or (part.get("pattern", {}).get("Regex"), part.get("behavior")) in _SPLITS
        for part in parts
    ]
    return (
        any(splits)
        and all(split or part.get("type") in ("Digits", "ByteLevel") for split, part in zip(splits, parts, strict=True))
        and (settings["normalizer"] or {"type": "NFC"})["type"] == "NFC"
        and settings["model"]["type"] == "BPE"
        and settings["model"].get("dropout") is None
        and all(token.special for token in tokenizer.get_added_tokens_decoder().values())
    )


def _pre_tokenizers(settings: Any) -> list[Any]:
    last = settings["pre_tokenizer"] or {}
    return list(last.get("pretokenizers", [last]))
