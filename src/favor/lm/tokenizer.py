"""Tokenisers: loading one by folder or Hugging Face id, and training a byte-level BPE. No torch, no transformers."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from favor.foundation.errors import UserError
from favor.foundation.files import write_json, write_text
from favor.foundation.tokenizer import open_tokenizer, read_control_tokens_as_text

PAD_TOKEN = "<|pad|>"
END_TOKEN = "<|endoftext|>"


class TextTokenizer:
    """Text to token ids and back, without special tokens: raw text, no template, no end token."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        read_control_tokens_as_text(self._tokenizer)

    @property
    def vocabulary_size(self) -> int:
        """The number of token ids, added tokens included."""
        return self._tokenizer.get_vocab_size()

    def encode(self, text: str) -> list[int]:
        """Return the token ids of ``text``."""
        return self._tokenizer.encode(text, add_special_tokens=False).ids

    def encode_many(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the token ids of each text (in parallel where the machine's settings allow)."""
        return [encoding.ids for encoding in self._tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)]

    def decode(self, tokens: Sequence[int]) -> str:
        """Return the text of ``tokens``; special tokens are left out."""
        return self._tokenizer.decode(list(tokens), skip_special_tokens=True)

    def save(self, path: str | Path) -> None:
        """Write ``tokenizer.json`` to ``path``."""
        # The library's own save raises no OSError on a full disk.
        write_text(self._tokenizer.to_str(pretty=True), path)

    def token_id(self, token: str) -> int | None:
        """Return the id of a token given as text, or None where the vocabulary lacks it."""
        return self._tokenizer.token_to_id(token)


def offsets(tokenizer: TextTokenizer, text: str) -> tuple[list[int], list[tuple[int, int]]]:
    """Return the token ids of ``text`` and the characters (start, end) of each."""
    encoding = tokenizer._tokenizer.encode(text, add_special_tokens=False)
    return encoding.ids, encoding.offsets


def opening(tokenizer: TextTokenizer) -> tuple[int, ...]:
    """Return the special tokens that a tokenizer puts before a text: Gemma's ``<bos>``; none for Qwen."""
    encode = tokenizer._tokenizer.encode
    whole, plain = (encode("a", add_special_tokens=special).ids for special in (True, False))
    places = range(len(whole) - len(plain) + 1) if plain else ()
    return tuple(next((whole[:place] for place in places if whole[place : place + len(plain)] == plain), ()))


def load_tokenizer(source: str) -> TextTokenizer:
    """Load the tokenizer of a local folder or of a Hugging Face id. Raises ``UserError`` where there is none."""
    return TextTokenizer(open_tokenizer(source))


def train_tokenizer(texts: Iterable[str], vocabulary_size: int, folder: str | Path) -> TextTokenizer:
    """Train a byte-level BPE of at most ``vocabulary_size`` tokens and save it for ``PreTrainedTokenizerFast``.

    The padding and end-of-text tokens are distinct (ids 0 and 1). The same texts in the same order give the same
    bytes. Raises ``UserError`` where the vocabulary cannot hold the 256 bytes and two special tokens.
    """
    if vocabulary_size < 258:
        raise UserError(f"vocabulary_size {vocabulary_size} is too small: 256 bytes and 2 special tokens need 258")
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary_size,
        special_tokens=[PAD_TOKEN, END_TOKEN],
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    trained = TextTokenizer(tokenizer)
    trained.save(Path(folder) / "tokenizer.json")
    configuration = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "pad_token": PAD_TOKEN,
        "eos_token": END_TOKEN,
        "padding_side": "left",
        "clean_up_tokenization_spaces": False,
        "model_max_length": 1_000_000,
    }
    write_json(configuration, Path(folder) / "tokenizer_config.json")
    return trained


def language_model_text(prompt: str, text: str) -> str:
    """Return what the language model reads: the writing prompt, where there is one, then the text."""
    return f"{prompt}\n\n{text}" if prompt else text


def language_model_tokens(tokenizer: TextTokenizer, prompt: str, text: str) -> tuple[list[int], int]:
    """Return the tokens of what the language model reads, and how many of them are the writing prompt's.

    A token that joins the prompt's end to the text is the text's.
    """
    ids, spans = offsets(tokenizer, language_model_text(prompt, text))
    given = len(language_model_text(prompt, ""))
    return ids, next((at for at, (_, end) in enumerate(spans) if end > given), len(ids))
