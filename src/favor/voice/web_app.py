"""``favor voice page``: a page on this machine that scores texts against a voice, and writes in it."""

import argparse
import sys
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
from markupsafe import Markup

from favor.corpora.schemas import CLIENT_TEXTS
from favor.encoders.base import TextEncoder
from favor.foundation.errors import UserError
from favor.foundation.html import content_policy, render
from favor.foundation.parquet import read_parquet
from favor.running.jobs.progress import Progress
from favor.studies.tasks.requests import Request
from favor.tables.html import page
from favor.voice.command import style_encoder
from favor.voice.contrast import contrast_of
from favor.voice.folder import VoiceFolder, VoiceModels, open_models
from favor.voice.habits import HABITS, stretches
from favor.voice.language import check_language
from favor.voice.loopback import serve
from favor.voice.rewriting import rewritten
from favor.voice.score import score_voice
from favor.voice.texts import read_author
from favor.voice.words import WORDING, summary
from favor.voice.writing import written

_TEMPLATES = Path(__file__).parent / "templates"
_SERVER = "connect-src 'self'; "
LONGEST_TEXT = 200_000  # characters that are scored at once


def run(arguments: argparse.Namespace) -> None:
    """Serve the page until Ctrl-C. Raises ``UserError`` first where there is neither a voice nor an author's text."""
    folder = VoiceFolder(arguments.voice)
    models = None
    if folder.record.is_file():
        record = folder.read_record()
        models = Models(folder)
        own = read_parquet(folder.texts, CLIENT_TEXTS)["text"].tolist()
        name = record.author
    elif arguments.author is None:
        raise UserError(
            f"{folder.path}: holds no voice; name one with --voice, or give an author's texts with --author"
        )
    if arguments.author is not None:
        own, name = read_author(arguments.author), str(arguments.author)
    contrast = contrast_of(arguments.contrast)
    check_language(own, contrast.authors)
    desk = Desk(name, own, *contrast, Remembered(style_encoder(arguments.encoder)), models)
    serve(desk.page(), desk.policy, {"score": desk.score, "write": desk.write}, arguments.port)


class Remembered(TextEncoder):
    """An encoder that reads each text once: after the first draft, only drafts."""

    def __init__(self, encoder: TextEncoder) -> None:
        self._encoder, self.dimension = encoder, encoder.dimension
        self._known: dict[str, np.ndarray] = {}

    def encode(self, texts: Sequence[str], progress: Progress | None = None) -> np.ndarray:
        """See :class:`favor.encoders.base.TextEncoder`."""
        new = sorted(set(texts) - self._known.keys())
        if new:
            self._known |= dict(zip(new, self._encoder.encode(new, progress), strict=True))
        return np.stack([self._known[text] for text in texts])


class Models:
    """The models of a voice, loaded when they are first asked for."""

    def __init__(self, folder: VoiceFolder) -> None:
        self._folder = folder

    @property
    def request(self) -> Request | None:
        """What the voice is asked; None of one that continues texts."""
        return self._folder.read_record().request

    @cached_property
    def loaded(self) -> VoiceModels:
        """The models. Raises ``UserError`` where the training has not ended."""
        return open_models(self._folder, self._folder.read_record())


class Desk:
    """What the page can do. Answers are HTML; one is made at a time. Raises ``UserError`` where it cannot be done."""

    def __init__(
        self,
        author: str,
        own: Sequence[str],
        contrast: Mapping[str, Sequence[str]],
        contrast_name: str,
        genre: str,
        encoder: TextEncoder,
        models: Models | None,
    ) -> None:
        self.author, self.own, self.contrast, self.encoder, self.models = author, own, contrast, encoder, models
        self.contrast_name, self.genre = contrast_name, genre
        self._working = Lock()

    @property
    def _script(self) -> str:
        return (_TEMPLATES / "web_app.js").read_text(encoding="utf-8")

    @property
    def policy(self) -> str:
        """The page's Content-Security-Policy: its own script and style, and this server, alone."""
        return f"{content_policy(self._script, _SERVER)}; frame-ancestors 'none'"

    def page(self) -> str:
        """Return the whole page."""
        body = render(
            _TEMPLATES,
            "web_app.html",
            author=self.author,
            contrast=self.contrast_name,
            writes=self.models is not None,
            given="" if self.models is None or self.models.request is None else self.models.request.given,
        )
        return page("A voice", body, self._script, (_TEMPLATES / "web_app.css").read_text(encoding="utf-8"), _SERVER)

    def score(self, asked: Mapping[str, Any]) -> Markup:
        """Return where the text ``asked["text"]`` lies, its habits, and the text with the habits marked."""
        text = str(asked.get("text", ""))
        if len(text) > LONGEST_TEXT:
            raise UserError(f"the text has {len(text):,} characters; give {LONGEST_TEXT:,} at most")
        with self._working:
            print("favor: scoring a text", file=sys.stderr, flush=True)
            found = score_voice({"The text": text}, self.own, self.contrast, self.encoder)
        parts = list(stretches(text))
        marked = {habit for part in parts for habit in part.habits}
        counts = {each: round(HABITS[each].events(text)) for each in marked}
        return render(
            _TEMPLATES, "web_app_score.html", score=found, text=found.texts[0], summary=summary(found),
            genre=self.genre, counts=counts, stretches=parts, **WORDING,
        )  # fmt: skip

    def write(self, asked: Mapping[str, Any]) -> Markup:
        """Return how every model goes on from ``asked["prompt"]``, side by side."""
        if self.models is None:
            raise UserError("no voice is open; train one with 'favor voice train' and start the page again")
        prompt = str(asked.get("prompt", ""))
        request = self.models.request
        if request is not None and request.given == "draft":
            with self._working:
                found = rewritten(self.models.loaded, prompt)
            return render(_TEMPLATES, "web_app_written.html", prompt="", found=found)
        drawn = bool(asked.get("draw"))
        with self._working:
            print("favor: writing", file=sys.stderr, flush=True)
            found = written(
                self.models.loaded, prompt, str(asked.get("about", "")),
                _tokens(asked.get("tokens")), 0.8 if drawn else 0.0, int(drawn and _tokens(asked.get("seed"))), request,
            )  # fmt: skip
        return render(_TEMPLATES, "web_app_written.html", prompt="" if request else prompt, found=found)


def _tokens(value: object) -> int:
    if isinstance(value, int) and 0 < value <= 2048:
        return value
    raise UserError("a number from 1 to 2048 is needed")
