"""``favor voice page``: a page on this machine that scores texts against a voice, and writes in it.

It is served on this machine's loopback, to whoever holds a token.
"""

import argparse
import json
import secrets
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock
from typing import Any
from urllib.parse import parse_qs, urlsplit

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
from favor.voice.rewriting import rewritten
from favor.voice.score import score_voice
from favor.voice.texts import read_author
from favor.voice.verifiers import Remembered
from favor.voice.words import WORDING, summary
from favor.voice.writing import written

_TEMPLATES = Path(__file__).parent / "templates"
_SCRIPT, _STYLE = ((_TEMPLATES / f"web_app.{kind}").read_text(encoding="utf-8") for kind in ("js", "css"))
_SERVER = "connect-src 'self'; "
HOST = "127.0.0.1"
LARGEST = 1 << 20  # bytes of a request
_HEADERS = {"Cache-Control": "no-store", "Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff"}
Answer = Callable[[Mapping[str, Any]], str]


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
        given = "" if self.request is None else self.request.given
        about = {"author": self.author, "contrast": self.contrast.name, "writes": self.voice is not None}
        body = render(_TEMPLATES, "web_app.html", **about, given=given)
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


def make_server(
    page: str, policy: str, answers: Mapping[str, Answer], port: int = 0
) -> tuple[ThreadingHTTPServer, str]:
    """Return a server on the loopback, and the address of its page, which holds the token.

    ``answers``: by path, what a POST of a JSON object is answered with, as HTML. A request without the token, or for
    another host's name (a page elsewhere whose name was bent to this machine), gets nothing. ``port`` 0: any that is
    free. Raises ``UserError`` where the port is taken.
    """
    token = secrets.token_urlsafe(24)

    class Handler(BaseHTTPRequestHandler):
        server_version, sys_version = "favor", ""
        timeout = 30

        def do_GET(self) -> None:
            address = urlsplit(self.path)
            given = parse_qs(address.query).get("token", [""])[0]
            if address.path != "/":
                self._send(HTTPStatus.NOT_FOUND, "Nothing is here.")
            elif self._allowed(given):
                self._send(HTTPStatus.OK, page, "text/html")

        def do_POST(self) -> None:
            answer = answers.get(self.path.removeprefix("/"))
            if not self._allowed(self.headers.get("X-Token", "")):
                return
            if answer is None:
                self._send(HTTPStatus.NOT_FOUND, "Nothing is here.")
                return
            length = self.headers.get("Content-Length", "")
            if not (length.isascii() and length.isdigit() and int(length) <= LARGEST):
                self.close_connection = True
                self._send(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"Too much text at once; {LARGEST:,} bytes are read.")
                return
            try:
                asked = json.loads(self.rfile.read(int(length)))
            except (ValueError, RecursionError):
                asked = None
            if not isinstance(asked, dict):
                self._send(HTTPStatus.BAD_REQUEST, "The request is not a JSON object.")
                return
            try:
                self._send(HTTPStatus.OK, answer(asked), "text/html")
            except UserError as error:
                self._send(HTTPStatus.BAD_REQUEST, str(error))
            except Exception:
                self._send(HTTPStatus.INTERNAL_SERVER_ERROR, "This failed; the terminal of favor voice page says why.")
                raise

        def _allowed(self, given: str) -> bool:
            named = self.headers.get("Host", "") == f"{HOST}:{server.server_port}"
            if named and secrets.compare_digest(given.encode(), token.encode()):
                return True
            self._send(HTTPStatus.FORBIDDEN, "Open the address that favor voice page printed; it holds a token.")
            return False

        def _send(self, status: HTTPStatus, text: str, kind: str = "text/plain") -> None:
            content = text.encode()
            self.send_response(status)
            self.send_header("Content-Type", f"{kind}; charset=utf-8")
            self.send_header("Content-Length", str(len(content)))
            self.send_header("Content-Security-Policy", policy)
            for name, value in _HEADERS.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *arguments: object) -> None:
            """Say nothing: the line of a request would hold the token."""

    try:
        server = ThreadingHTTPServer((HOST, port), Handler)
    except (OSError, OverflowError) as error:  # above 65535
        raise UserError(f"--port: {port} cannot be used ({error}); give another, or none") from None
    return server, f"http://{HOST}:{server.server_port}/?token={token}"


def serve(page: str, policy: str, answers: Mapping[str, Answer], port: int) -> None:
    """Print the address of the page, and serve it until Ctrl-C."""
    server, address = make_server(page, policy, answers, port)
    print(f"{address}\nOnly this machine reaches it, and only with this address. End with Ctrl-C.", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        print("favor: the page is closed", file=sys.stderr)
    finally:
        server.server_close()
