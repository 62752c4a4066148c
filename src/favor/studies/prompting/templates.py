"""The wording of prompting baselines: how sheets and personas are asked for, and what stands before a prompt.

The paper prints no wording; this is the project's own. ``WORDING_TOKENS`` is room for it in a model's context where
no tokenizer has been read yet; the exact length is checked before anything is generated.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from favor.federation.method import Prompting
from favor.foundation.errors import UserError

if TYPE_CHECKING:  # jobs load this file too, and read no configuration
    from favor.config.experiments import Experiment

WORDING_TOKENS = 128

SHEET_SYSTEM = "You describe how an author writes."
SHEET_TASK = (
    "Describe in short points how the author of these texts writes: tone, rhythm of the sentences, choice of words, "
    "spelling and punctuation, habits of structure. Do not retell the texts."
)
SHEET_LEAD = "How the author writes:\n"
PERSONA_SYSTEM = "You turn a description of an author into a persona."
PERSONA_TASK = "In one paragraph that begins with 'You are', tell a writer to be the author described here."
PERSONA_LEAD = "You are"

AVERAGE_SYSTEM = "You are an average author who writes for ordinary readers."
AUTHOR_SYSTEM = "You write as one author."
SHEET_HEADING = "How the author writes:"
PASSAGES_HEADING = "Earlier texts by the author:"
TASK = "Continue this text as the author would. Write the continuation alone."
AVERAGE_TASK = "Continue this text. Write the continuation alone."


class Request(NamedTuple):
    """Instructions, a message, and how the answer begins where the model has no chat template."""

    system: str
    user: str
    lead: str = ""


def sheet_request(texts: Sequence[str]) -> Request:
    """Return the request for a sheet of the author of ``texts``."""
    return Request(SHEET_SYSTEM, "\n\n".join([*texts, SHEET_TASK]), SHEET_LEAD)


def persona_request(sheet: str) -> Request:
    """Return the request for a persona of the author that ``sheet`` describes."""
    return Request(PERSONA_SYSTEM, f"{sheet}\n\n{PERSONA_TASK}", PERSONA_LEAD)


def continuation_request(
    prompting: Prompting, prefix: str, sheet: str = "", persona: str = "", passages: Sequence[str] = ()
) -> Request:
    """Return the request to continue ``prefix``, with the parts that ``prompting`` asks for.

    The message ends with the prefix; without a chat template it is left out there, and the prompt's own tokens follow.
    """
    system = persona if prompting.persona else AUTHOR_SYSTEM
    task = TASK
    if not (prompting.sheet or prompting.passages):
        system, task = AVERAGE_SYSTEM, AVERAGE_TASK
    parts = [f"{SHEET_HEADING}\n{sheet}"] if prompting.sheet else []
    parts += ["\n\n".join([PASSAGES_HEADING, *passages])] if prompting.passages else []
    return Request(system, "\n\n".join([*parts, task]), prefix)


def check_context(where: str, prompting: Prompting, experiment: Experiment, context: int) -> None:
    """Refuse a prompting row whose longest request may exceed a context of ``context`` tokens."""
    sizes, generation = experiment.prompting, experiment.generation
    needed = WORDING_TOKENS + experiment.prompts.prefix_tokens + generation.max_new_tokens
    needed += sizes.passages * sizes.passage_tokens if prompting.passages else 0
    needed += sizes.sheet_tokens if prompting.sheet else 0
    needed += sizes.persona_tokens if prompting.persona else 0
    if needed > context:
        raise UserError(
            f"{where}: its prompts need up to {needed} tokens, wording and continuation included, and the base model's "
            f"context holds {context}; lower the numbers under 'prompting' or take another model"
        )


def check_sheet_context(where: str, experiment: Experiment, context: int) -> None:
    """Refuse sheets that may not fit the context of the model that distils them."""
    sizes = experiment.prompting
    texts = sizes.sheet_texts * sizes.sheet_text_tokens + sizes.sheet_tokens
    needed = WORDING_TOKENS + max(texts, sizes.sheet_tokens + sizes.persona_tokens)
    if needed > context:
        raise UserError(
            f"{where}: a request for a sheet needs up to {needed} tokens, and its model's context holds {context}; "
            "lower 'sheet_texts', 'sheet_text_tokens' or 'sheet_tokens', or name another model"
        )
