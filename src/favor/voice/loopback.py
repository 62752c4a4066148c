"""A server of one page on this machine's loopback, for whoever holds a token."""

import json
import secrets
import sys
from collections.abc import Callable, Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from favor.foundation.errors import UserError

HOST = "127.0.0.1"
LARGEST = 1 << 20  # bytes of a request
Answer = Callable[[Mapping[str, Any]], str]


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
            self.send_header("Cache-Control", "no-store")
            self.send_header("Referrer-Policy", "no-referrer")
            self.send_header("X-Content-Type-Options", "nosniff")
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
