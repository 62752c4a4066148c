"""``favor voice write``: one beginning, continued by every model of a voice."""

import argparse

from favor.corpora.posts import clean_text
from favor.foundation.errors import UserError
from favor.inference.chat import ChatTokens
from favor.inference.generation import GenerationRequest, generate
from favor.inference.sampling import Sampling
from favor.lm.tokenizer import language_model_text
from favor.studies.tasks.requests import Request
from favor.voice.folder import VoiceFolder, VoiceModels, open_models
from favor.voice.rewriting import print_texts


def run(arguments: argparse.Namespace) -> None:
    """Continue what a command line gives, and print every model's text. Raises ``UserError`` without a voice."""
    folder = VoiceFolder(arguments.voice)
    record = folder.read_record()
    if record.task == "rewrite":
        raise UserError(f"{folder.path}: was trained to rewrite drafts; use 'favor voice rewrite'")
    if record.request is not None and arguments.about:
        raise UserError(f"{folder.path}: was trained on instructions; say everything in one, without --about")
    how = (arguments.about, arguments.tokens, arguments.temperature, arguments.seed, record.request)
    found = written(open_models(folder, record), arguments.prompt, *how)
    print_texts(found, arguments.json, "" if record.request is not None else clean_text(arguments.prompt))


def written(
    models: VoiceModels,
    prompt: str,
    about: str = "",
    tokens: int = 160,
    temperature: float = 0.0,
    seed: int = 0,
    request: Request | None = None,
) -> dict[str, str]:
    """Return how every model goes on from ``prompt``, or answers it as a ``request``, by its name.

    ``about``: the writing prompt that the text answers, such as the subject of a mail, where the texts trained on have
    them. ``tokens``: longest continuation. ``temperature`` 0 takes the most probable token; otherwise tokens are drawn,
    with the same numbers for every model, by ``seed``. Raises ``UserError`` where nothing is given, or too much.
    """
    text = language_model_text(clean_text(about), clean_text(prompt))
    base = models.base
    if request is None:
        asked = [*base.opening, *base.tokenizer.encode(text)]
    else:
        asked = ChatTokens(base).encode(request.ask, text)
    if not text.strip():
        raise UserError("nothing to go on from; give the first words of a text, or what to write")
    if len(asked) + tokens > base.context:
        raise UserError(
            f"{len(asked)} tokens are given and {tokens} are to be written, and the base model reads {base.context}; "
            "give less, or lower --tokens"
        )
    requests = [
        GenerationRequest(name, asked, state, stream=(seed, "voice", text, 0)) for name, state in models.states.items()
    ]
    sampling = Sampling(temperature, 1.0) if temperature else None
    found = generate(base, models.lora, requests, tokens, sampling=sampling)
    return {name: base.tokenizer.decode(ids) for name, ids in zip(models.states, found, strict=True)}
