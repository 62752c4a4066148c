"""A judge on this machine: an open model of the configuration, greedy, in its own chat template where it has one."""

import hashlib
from functools import cached_property

import torch

from favor.foundation.errors import UserError
from favor.inference.chat import ChatTokens
from favor.inference.generation import GenerationRequest, generate
from favor.lm.base import BaseModel, open_base
from favor.lm.settings import ALL_LINEAR
from favor.studies.judges.asking import Answer, Question
from favor.studies.settings import JudgeJob, LocalModel


def open_judge(settings: JudgeJob) -> "LocalJudge":
    """Return the judge of this machine."""
    assert settings.local is not None
    return LocalJudge(settings.local, settings.answer_tokens)


class LocalJudge:
    """A base model without adapter. ``name`` is its printed name."""

    def __init__(self, model: LocalModel, answer_tokens: int) -> None:
        self.name, self.answer_tokens = model.title, answer_tokens
        self.base: BaseModel = open_base(model.base)
        self.chat = ChatTokens(self.base)

    def settings(self) -> dict[str, object]:
        """What an answer depends on beside the question: a title may stand for other weights or another template."""
        return {
            "model": self.name,
            "local": True,
            "temperature": 0.0,
            "max_tokens": self.answer_tokens,
            "weights": self._weights,
            "dtype": str(self.base.dtype),
            "frame": self.chat.encode("", ""),
        }

    @cached_property
    def _weights(self) -> str:
        digest = hashlib.sha256()
        for _, parameter in sorted(self.base.model.named_parameters()):
            digest.update(parameter.detach().cpu().contiguous().view(torch.uint8).numpy())
        return digest.hexdigest()

    def ask(self, question: Question) -> Answer:
        """Answer one question. Raises ``UserError`` where it does not fit the model's context."""
        prompt = self.chat.encode(question.system, question.user)
        if len(prompt) + self.answer_tokens > self.base.context:
            raise UserError(
                f"judges: a request of {len(prompt)} tokens and an answer of {self.answer_tokens} do not fit "
                f"the context of model '{self.name}' ({self.base.context} tokens); name another as "
                "studies.judges.base_model"
            )
        request = GenerationRequest(question.item, prompt)
        (tokens,) = generate(self.base, ALL_LINEAR, [request], self.answer_tokens, repetition_penalty=1.0)
        finish = "length" if len(tokens) == self.answer_tokens else "stop"
        return Answer(self.base.tokenizer.decode(tokens), finish, len(prompt), len(tokens))
