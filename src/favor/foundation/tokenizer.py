"""Opens a model's tokenizer, by folder, file or Hugging Face id. No torch, no transformers."""

import json
import re
import string
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from tokenizers import AddedToken, Tokenizer
from tokenizers.models import BPE
from tokenizers.normalizers import NFC

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
# By byte of UTF-8.
_VISIBLE = np.isin(np.arange(256), np.arange(ord("!"), ord("~") + 1))
_LETTER = np.isin(np.arange(256), list(string.ascii_letters.encode()))
_REMEMBERED = 1_000_000  # pieces whose tokens are kept


def open_tokenizer(source: str | Path) -> Tokenizer:
    """Return the tokenizer of a ``tokenizer.json``, of the folder that holds one, or of a Hugging Face id.

    It neither truncates nor pads, and reads control tokens in a text as text. Raises ``UserError`` where there is none.
    """
    path = Path(source).expanduser()
    if path.is_dir():
        path /= "tokenizer.json"
    here = path.is_file()
    if not here and is_local(str(source)):
        raise UserError(f"{path}: file not found; the base model's folder must hold a tokenizer.json (fast format)")
    try:
        tokenizer = Tokenizer.from_file(str(path)) if here else Tokenizer.from_pretrained(str(source))
    except Exception as error:  # the library raises bare Exception for every fault
        if here:
            raise UserError(f"{path}: not a complete tokenizer.json ({error}); fetch or save it again") from None
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise UserError(
            f"model '{source}': neither a local folder nor a Hugging Face model whose tokenizer.json can be fetched "
            f"({reason}); check the name and the network, or give a local folder"
        ) from None
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


def most_tokens(tokenizer: Tokenizer) -> Callable[[str], int] | None:
    """Return an upper bound on the tokens of a text, far cheaper than their number; None where none is known.

    A token of a byte-level tokenizer covers at least one byte of the text as its normaliser leaves it.
    """
    parts = _pre_tokenizers(tokenizer)
    byte_level = [part for part in parts if part.get("type") == "ByteLevel"]
    others = {part.get("type") for part in parts} - {"ByteLevel", "Split"}
    if len(byte_level) != 1 or others or byte_level[0]["add_prefix_space"]:
        return None
    normalizer = tokenizer.normalizer
    keeps_ascii = normalizer is None or isinstance(normalizer, NFC)

    def bound(text: str) -> int:
        if keeps_ascii and (normalizer is None or text.isascii()):
            return len(text.encode("utf-8", "replace"))
        return len(normalizer.normalize_str(text).encode("utf-8", "replace"))

    return bound


def token_counter(tokenizer: Tokenizer) -> Callable[[Sequence[str]], list[int]]:
    """Return a function that counts the tokens of texts, without special tokens.

    Most byte-level tokenizers let no token reach across a space behind a visible character, or from a letter into
    another visible character. Between such places the pieces of a corpus are mostly the same words: each is encoded
    once. Other tokenizers encode whole texts.
    """
    known: dict[str, int] = {}

    def lengths(texts: Sequence[str]) -> list[int]:
        return list(map(len, tokenizer.encode_batch_fast(texts, add_special_tokens=False)))

    def count(texts: Sequence[str]) -> list[int]:
        pieces, starts = _pieces(texts)
        coded = pieces.dictionary_encode()
        words = coded.dictionary.to_pylist()
        new = [word for word in words if word not in known]
        known.update(zip(new, lengths(new), strict=True))
        tokens = np.array([known[word] for word in words], dtype=np.int64)[coded.indices]
        if len(known) > _REMEMBERED:
            known.clear()
        return np.diff(np.append(0, np.cumsum(tokens))[starts]).tolist()

    return count if _splits_into_pieces(tokenizer) else lengths


def _pieces(texts: Sequence[str]) -> tuple[pa.LargeStringArray, np.ndarray]:
    """Return the pieces of all texts, and the place of each text's first among them, then of the end."""
    array = pa.array(texts, pa.large_string())
    _, offsets, content = array.buffers()
    texts_at = np.frombuffer(offsets, dtype=np.int64)[: len(texts) + 1]
    signs = np.frombuffer(content or b"", dtype=np.uint8)[: texts_at[-1]]
    before, sign = signs[:-1], signs[1:]
    begins = np.zeros(len(signs) + 1, dtype=bool)
    begins[1:-1] = _VISIBLE[before] & (sign == ord(" ")) | _LETTER[before] & _VISIBLE[sign] & ~_LETTER[sign]
    begins[texts_at] = True
    pieces_at = np.flatnonzero(begins)
    pieces = pa.LargeStringArray.from_buffers(len(pieces_at) - 1, pa.py_buffer(pieces_at), content)
    return pieces, np.searchsorted(pieces_at, texts_at)


def _splits_into_pieces(tokenizer: Tokenizer) -> bool:
    parts = _pre_tokenizers(tokenizer)
    splits = [
        part.get("use_regex", False) or (part.get("pattern", {}).get("Regex"), part.get("behavior")) in _SPLITS
        for part in parts
    ]
    return (
        any(splits)
        and not any(part.get("add_prefix_space", False) for part in parts)
        and all(split or part.get("type") in ("Digits", "ByteLevel") for split, part in zip(splits, parts, strict=True))
        and isinstance(tokenizer.normalizer, NFC | None)
        and isinstance(tokenizer.model, BPE)
        and tokenizer.model.dropout is None
        and all(token.special for token in tokenizer.get_added_tokens_decoder().values())
    )


def _pre_tokenizers(tokenizer: Tokenizer) -> list[Any]:
    # Its own part of tokenizer.json; all of it, with the vocabulary, takes half a second.
    last = json.loads(tokenizer.pre_tokenizer.__getstate__()) if tokenizer.pre_tokenizer else {}
    return list(last.get("pretokenizers", [last]))
