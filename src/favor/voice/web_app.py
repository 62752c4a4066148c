"""``favor voice page``: a page on this machine that scores texts against a voice, and writes in it."""

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import Any

from markupsafe import Markup

from favor.corpora.schemas import CLIENT_TEXTS
from favor.encoders.base import TextEncoder
from favor.foundation.errors import UserError
from favor.foundation.html import content_policy, render
from favor.foundation.parquet import read_parquet
from favor.studies.tasks.requests import Request
from favor.tables.html import page
from favor.voice.command import style_encoder
from favor.voice.contrast import Contrast, contrast_of
from favor.voice.folder import VoiceFolder, VoiceModels, open_models
from favor.voice.habits import HABITS, stretches
from favor.voice.language import check_language
from favor.voice.loopback import serve
from favor.voice.rewriting import rewritten
from favor.voice.score import score_voice
from favor.voice.texts import read_author
from favor.voice.verifiers import Remembered
from favor.voice.words import WORDING, summary
from favor.voice.writing import written

_TEMPLATES = Path(__file__).parent / "templates"
_SCRIPT, _STYLE = ((_TEMPLATES / f"web_app.{kind}").read_text(encoding="utf-8") for kind in ("js", "css"))
_SERVER = "connect-src 'self'; "


def run(arguments: argparse.Namespace) -> None:
    """Serve the page until Ctrl-C. Raises ``UserError`` first where there is neither a voice nor an author's text."""
    folder = VoiceFolder(arguments.voice)
    voice = folder if folder.record.is_file() else None
    if voice is not None:
        name, own = voice.read_record().author, read_parquet(voice.texts, CLIENT_TEXTS)["text"].tolist()
    elif arguments.author is None:
        raise UserError(
            f"{folder.path}: holds no voice; name one with --voice, or give an author's texts with --author"
        )
    if arguments.author is not None:
        own, name = read_author(arguments.author), str(arguments.author)
    contrast = contrast_of(arguments.contrast)
    check_language(own, contrast.authors)
    desk = Desk(name, own, contrast, Remembered(style_encoder(arguments.encoder)), voice)
    serve(desk.page(), desk.policy, {"score": desk.score, "write": desk.write}, arguments.port)


@dataclass
class Desk:
    """What the page can do. Answers are HTML; one is made at a time. Raises ``UserError`` where it cannot be done.

    ``own``: texts of the ``author``. ``voice``: None where nothing can be written.
    """

    author: str
    own: Sequence[str]
    contrast: Contrast
    encoder: TextEncoder
    voice: VoiceFolder | None
    _working: Lock = field(default_factory=Lock)

    @cached_property
    def request(self) -> Request | None:
        """What the voice is asked; None of one that continues texts."""
        return None if self.voice is None else self.voice.read_record().request

    @cached_property
    def models(self) -> VoiceModels:
        """The models. Raises ``UserError`` where there is no voice, or its training has not ended."""
        if self.voice is None:
            raise UserError("no voice is open; train one with 'favor voice train' and start the page again")
        return open_models(self.voice, self.voice.read_record())

    @property
    def policy(self) -> str:
        """The page's Content-Security-Policy: its own script and style, and this server, alone."""
        return f"{content_policy(_SCRIPT, _SERVER)}; frame-ancestors 'none'"

    def page(self) -> str:
        """Return the whole page."""
        body = render(
            _TEMPLATES,
            "web_app.html",
            author=self.author,
            contrast=self.contrast.name,
            writes=self.voice is not None,
            given="" if self.request is None else self.request.given,
        )
        return page("A voice", body, _SCRIPT, _STYLE, _SERVER)

    def score(self, asked: Mapping[str, Any]) -> Markup:
        """Return where the text ``asked["text"]`` lies, its habits, and the text with the habits marked."""
        text = str(asked.get("text", ""))
        with self._working:
            print("favor: scoring a text", file=sys.stderr, flush=True)
            found = score_voice({"The text": text}, self.own, self.contrast.authors, self.encoder)
        parts = list(stretches(text))
        marked = {habit for part in parts for habit in part.habits}
        counts = {each: round(HABITS[each].events(text)) for each in marked}
        return render(
            _TEMPLATES, "web_app_score.html", score=found, text=found.texts[0], summary=summary(found),
            genre=self.contrast.genre, counts=counts, stretches=parts, **WORDING,
        )  # fmt: skip

    def write(self, asked: Mapping[str, Any]) -> Markup:
        """Return how every model goes on from ``asked["prompt"]``, side by side."""
        prompt, request = str(asked.get("prompt", "")), self.request
        if request is not None and request.given == "draft":
            with self._working:
                found = rewritten(self.models, prompt)
            return render(_TEMPLATES, "web_app_written.html", prompt="", found=found)
        drawn = bool(asked.get("draw"))
        with self._working:
            print("favor: writing", file=sys.stderr, flush=True)
            found = written(
                self.models, prompt, str(asked.get("about", "")),
                _tokens(asked.get("tokens")), 0.8 if drawn else 0.0, int(drawn and _tokens(asked.get("seed"))), request,
            )  # fmt: skip
        return render(_TEMPLATES, "web_app_written.html", prompt="" if request else prompt, found=found)


def _tokens(value: object) -> int:
    if isinstance(value, int) and 0 < value <= 2048:
        return value
    raise UserError("a number from 1 to 2048 is needed")
