"""How a base model makes what a voice is asked from an author's passages, and what of it is refused."""

import re
from collections.abc import Sequence

from favor.corpora.style_features import VERIFIER_WORDS
from favor.foundation.errors import UserError
from favor.foundation.words import document_words
from favor.inference.chat import ChatTokens, answer_end
from favor.inference.generation import GenerationRequest, generate
from favor.lm.base import BaseModel
from favor.lm.lora import LoraState
from favor.lm.settings import Lora
from favor.scores.copying import word_list
from favor.statistics.copied_spans import KnownTexts
from favor.studies.tasks.requests import COPIED, NEW_TOKENS, Request

FEWEST = 20  # words of a passage
_AUTHOR = "author"
_BREAKS = re.compile(r"(?<=[.!?…])\s+|\n\s*\n")
_FUNCTION_WORDS = frozenset(VERIFIER_WORDS)
_WORDS = document_words("unicode")


def passages_of(text: str, words: int) -> list[str]:
    """Cut ``text`` at ends of sentences and paragraphs into passages of at most ``words`` words.

    A sentence that is longer is one passage. A passage is as it stands in the text; only the white space
    between two is left out.
    """
    found: list[str] = []
    start = end = 0
    for stop in (*(each.start() for each in _BREAKS.finditer(text)), len(text)):
        if end > start and _WORDS.count(text[start:stop]) > words:
            found.append(text[start:end].strip())
            start = end
        end = stop
    found.append(text[start:].strip())
    return [passage for passage in found if passage]


def long_passages(text: str, request: Request) -> list[tuple[int, str]]:
    """Return the passages of ``text`` that a request is made of, with their numbers: those of ``FEWEST`` words."""
    found = enumerate(passages_of(text, request.words))
    return [(number, passage) for number, passage in found if _WORDS.count(passage) >= FEWEST]


def check_base(base: BaseModel, request: Request) -> None:
    """Raise ``UserError`` for a base that cannot be asked so, or names no end."""
    if not base.end_ids:
        raise UserError(f"model '{base.source}': names no end token, and this task needs one; take another base")
    if request.templated and not ChatTokens(base).templated:
        raise UserError(
            f"model '{base.source}': has no chat template, and instructions need one; take a base that follows "
            "instructions, or another task"
        )


def drafted(base: BaseModel, request: Request, passages: Sequence[str], longest: int) -> list[tuple[str, str]]:
    """Return for every passage what the untouched base makes of it, greedily, and why it is refused ("" if it is not).

    ``longest``: tokens of a training piece.
    """
    made = ask(base, Lora(), {"base": None}, request.system, [request.make + passage for passage in passages])["base"]
    chat, found = ChatTokens(base), []
    for passage, (draft, ended) in zip(passages, made, strict=True):
        tokens, _ = piece(chat, request, draft, passage)
        # A template may leave out what the model's texts open with, and training puts it before the piece.
        missing = 0 if tuple(tokens[: len(base.opening)]) == base.opening else len(base.opening)
        large = "large" if len(tokens) + missing > longest else ""
        found.append((draft, refused(request, passage, draft, ended) or large))
    return found


def refused(request: Request, original: str, draft: str, ended: bool) -> str:
    """Return why a draft cannot be trained on (a key of ``REASONS``), or ""."""
    words = word_list(draft, "unicode")
    if KnownTexts({_AUTHOR: [word_list(original, "unicode")]}, COPIED).overlap(_AUTHOR, words).longest_own:
        return "copied"
    if not ended:
        return "endless"
    content = _content(original)
    if len(content & _content(draft)) < request.content * len(content):
        return "strayed"
    if len(words) < request.fewest * _WORDS.count(original):
        return "short"
    return "long" if len(words) > request.most * _WORDS.count(original) else ""


def _content(text: str) -> set[str]:
    return set(word_list(text, "unicode")) - _FUNCTION_WORDS


def ask(
    base: BaseModel, lora: Lora, states: dict[str, LoraState | None], system: str, asked: Sequence[str]
) -> dict[str, list[tuple[str, bool]]]:
    """Return by model its greedy answer to every text of ``asked``, and whether it came to an end.

    Raises ``UserError`` where a text does not fit the model's context.
    """
    chat, new = ChatTokens(base), min(NEW_TOKENS, base.context // 2)
    requests = [
        GenerationRequest("passage", chat.encode(system, text), state) for state in states.values() for text in asked
    ]
    found = generate(base, lora, requests, new)
    answers = [(base.tokenizer.decode(tokens).strip(), len(tokens) < new) for tokens in found]
    return {name: answers[place * len(asked) :][: len(asked)] for place, name in enumerate(states)}


def piece(chat: ChatTokens, request: Request, draft: str, text: str) -> tuple[list[int], int]:
    """Return the tokens of a training piece, and where the passage ``text`` begins in them: the request is context.

    The passage ends as an answer of the model does (:func:`favor.inference.chat.answer_end`).
    """
    asked = chat.encode(request.ask, draft)
    return [*asked, *chat.base.tokenizer.encode(text), answer_end(chat)], len(asked)
