"""Requests to a model in words: in its own chat template where it has one, else as plain text."""

from collections.abc import Sequence
from datetime import datetime
from functools import partial
from string import ascii_letters

from jinja2 import TemplateError

from favor.foundation.errors import UserError
from favor.lm.base import BaseModel

_ANSWER = "answer"  # stands for one
# Goes over the function of this name, with which templates write today's date: templates are handed no functions.
_TODAY = (
    "{% macro strftime_now(form) %}{% set written = namespace(day=form) %}{% for mark, value in day_by_mark %}"
    "{% set written.day = written.day.replace(mark, value) %}{% endfor %}{{ written.day }}{% endmacro +%}"
)


class ChatTokens:
    """Turns instructions and a message into the token ids that the model continues.

    ``base.chat``: "template" insists on the model's chat template, "plain" on plain text, "auto" takes a template where
    there is one. Raises ``UserError`` where one is insisted on and the model's files hold none.
    """

    def __init__(self, base: BaseModel) -> None:
        from transformers import PreTrainedTokenizerFast

        self.base = base
        # It reads tokenizer.json, as training does. AutoTokenizer splits by the architecture's own rules for some.
        self._tokenizer = PreTrainedTokenizerFast.from_pretrained(base.source)
        if base.chat == "template" and self._tokenizer.chat_template is None:
            raise UserError(
                f"model '{base.source}': no chat template among its files (tokenizer_config.json, chat_template.jinja)"
                "; fetch them, or set base_models.<name>.chat to plain"
            )

    @property
    def templated(self) -> bool:
        """Whether the model is asked in its chat template."""
        return self.base.chat != "plain" and self._tokenizer.chat_template is not None

    def text(self, system: str, user: str) -> str:
        """Return a request in words, without what a model's texts open with where it has no template."""
        return self._in_template(system, user) if self.templated else f"{system}\n\n{user}\n\n"

    def encode(self, system: str, user: str, lead: str | Sequence[int] = "") -> list[int]:
        """Return the token ids of a request.

        ``lead``: how the answer begins, text or token ids, for a model without a template, which goes on from there; a
        model with one is left to begin by itself.
        """
        if not self.templated:
            tokens = self.base.tokenizer.encode(self.text(system, user))
            return [
                *self.base.opening,
                *tokens,
                *(self.base.tokenizer.encode(lead) if isinstance(lead, str) else lead),
            ]
        text = self._in_template(self._words(system), self._words(user))
        return list(self._tokenizer(text, add_special_tokens=False)["input_ids"])

    def render(self, turns: list[dict[str, str]], add_generation_prompt: bool = False) -> str:
        """Return turns (role and content) in the model's template, in which it is the base's ``chat_date``."""
        template, day = self._tokenizer.get_chat_template(), datetime.fromisoformat(self.base.chat_date)
        marks = [f"%{sign}" for sign in (*(f"-{letter}" for letter in ascii_letters), *ascii_letters)]
        text: str = self._tokenizer.apply_chat_template(
            turns,
            chat_template=_TODAY + template if "strftime_now" in template else template,
            tokenize=False,
            add_generation_prompt=add_generation_prompt,
            day_by_mark=[[mark, day.strftime(mark)] for mark in marks],
        )
        return text

    def _in_template(self, system: str, user: str) -> str:
        apply = partial(self.render, add_generation_prompt=True)
        said = "it leaves out what it is given"
        # Some templates refuse a system's turn, and some pass over it; what it says then opens the user's.
        for turns in ({"system": system, "user": user}, {"user": f"{system}\n\n{user}"}):
            try:
                text = apply([{"role": role, "content": content} for role, content in turns.items()])
            except TemplateError as error:
                said = str(error)
                continue
            # Templates may cut the white space around a turn.
            if all(part.strip() in text for part in turns.values()):
                return text
        raise UserError(
            f"model '{self.base.source}': its chat template cannot be used ({said}); set "
            "base_models.<name>.chat to plain"
        )

    def _words(self, text: str) -> str:
        """Break what spells a control token in two, so that no text of a client ends its own turn.

        Runs of white space, which some tokenizers hold among the added tokens, end no turn.
        """
        for token in sorted(self._tokenizer.get_added_vocab(), key=len, reverse=True):
            if len(token) > 1 and not token.isspace():
                text = text.replace(token, f"{token[0]} {token[1:]}")
        return text


def answer_end(chat: ChatTokens) -> int:
    """Return the token that ends an answer: what the template puts behind one (Llama 3: ``<|eot_id|>``).

    Where it puts none of the model's end tokens there, and without a template, the first of these.
    """
    ends = chat.base.end_ids
    if not chat.templated:
        return ends[0]
    turns = [{"role": "user", "content": "a"}, {"role": "assistant", "content": _ANSWER}]
    try:
        text = chat.render(turns)
    except TemplateError:
        return ends[0]
    behind = chat._tokenizer(text.rpartition(_ANSWER)[2], add_special_tokens=False)["input_ids"]
    return next((token for token in behind if token in ends), ends[0])
