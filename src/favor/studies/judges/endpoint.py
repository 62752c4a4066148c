"""A judge behind an OpenAI-compatible endpoint: one POST to ``/chat/completions`` a request, by the library ``openai``.

Where it is, which model it serves and the key come from the environment alone. Key and address are written to no file
and no log, and stand in no message. The library tries again; each of its tries keeps the pace.
"""

import json
import os
import re
import threading
import time
import urllib.parse
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypedDict

import httpx2
from openai import APIConnectionError, APIStatusError, DefaultHttpxClient, OpenAI

from favor.foundation.errors import UserError
from favor.studies.judges.asking import Answer, Question
from favor.studies.settings import EndpointLimits, JudgeJob

BASE_URL, MODEL, KEY = "FAVOR_JUDGE_BASE_URL", "FAVOR_JUDGE_MODEL", "FAVOR_JUDGE_API_KEY"
# How endpoints name a text that they refuse, as the code or type of the error.
FILTERED = ("content_filter", "data_inspection_failed", "content_policy_violation")
_MOST_TOKENS = 10**9
_TRANSIENT = (408, 409, 429)  # and 500 and above: what the library tries again
# All that is sent beside the body and the key: neither the machine's description nor what other variables of the
# environment add. The last is how the library marks a reply that it leaves as it came.
_HEADERS = {"host", "connection", "accept", "accept-encoding", "user-agent", "content-type", "content-length"}
_HEADERS |= {"x-stainless-raw-response"}


def open_judge(settings: JudgeJob) -> "Endpoint":
    """Return the endpoint of the environment."""
    assert settings.endpoint is not None
    return Endpoint.from_environment(settings.endpoint, settings.answer_tokens)


class AnswerSettings(TypedDict):
    """What an answer of an endpoint depends on beside the question, by the names of its interface."""

    model: str
    temperature: float
    max_tokens: int


@dataclass
class Endpoint:
    """The endpoint that the environment names; ``ask`` may be called from several threads."""

    url: str = field(repr=False)
    name: str
    key: str = field(repr=False)
    limits: EndpointLimits
    answer_tokens: int
    sleep: Callable[[float], None] = time.sleep

    def __post_init__(self) -> None:
        # A redirect would send the key somewhere else, and turn the POST into a GET.
        hooks: Any = {"request": [self._strip, self._wait], "response": [_hold_complete]}
        transport = DefaultHttpxClient(follow_redirects=False, event_hooks=hooks)
        self._client = OpenAI(
            base_url=self.url,
            api_key=self.key or "none",  # without one the library would take another from the environment
            default_headers={"Authorization": f"Bearer {self.key or 'none'}"},
            timeout=self.limits.timeout,
            max_retries=self.limits.tries - 1,
            http_client=transport,
        )
        self._pace = _Pace(self.limits.requests_per_minute, self.sleep)

    @staticmethod
    def from_environment(
        limits: EndpointLimits, answer_tokens: int, environment: Mapping[str, str] = os.environ
    ) -> "Endpoint":
        """Return the endpoint; ``UserError`` where a variable is missing. The key may be absent (a server at home)."""
        for name, what in ((BASE_URL, "the endpoint's address, such as https://host/v1"), (MODEL, "the judging model")):
            if not environment.get(name, "").strip():
                raise UserError(
                    f"environment variable {name} is not set; export {what}, or set studies.judges.model: local"
                )
        address = environment[BASE_URL].strip().rstrip("/")
        parts = urllib.parse.urlsplit(address)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.query:
            raise UserError(f"environment variable {BASE_URL}: not an http(s) address without user, password or query")
        key = environment.get(KEY, "").strip()
        if not (key.isascii() and key.isprintable()):  # the library's own complaint would quote it
            raise UserError(f"environment variable {KEY} holds characters that no key has; export it again")
        return Endpoint(address, environment[MODEL].strip(), key, limits, answer_tokens)

    def settings(self) -> AnswerSettings:
        """What an answer depends on beside the question."""
        return {"model": self.name, "temperature": self.limits.temperature, "max_tokens": self.answer_tokens}

    def ask(self, question: Question) -> Answer:
        """Return the answer to one question, tried again after 429, 5xx, a timeout or a broken reply.

        Raises ``UserError`` for what no second try fixes, and when every try failed.
        """
        messages: Any = [{"role": "system", "content": question.system}, {"role": "user", "content": question.user}]
        try:
            reply = self._client.chat.completions.with_raw_response.create(messages=messages, **self.settings())
        except APIStatusError as error:
            return self._refused(error)
        except APIConnectionError as error:
            # Timeouts and resets; what the cause says may hold the host's name, its type may not.
            raise self._failed(type(error.__cause__ or error).__name__) from None
        return _read_answer(reply.content)

    def _failed(self, last: str) -> UserError:
        return UserError(
            f"judge: {self.limits.tries} tries failed, the last with {last}; answers so far are kept, run again when "
            "the endpoint answers"
        )

    def _strip(self, request: Any) -> None:
        """Take every header away that is not needed."""
        kept = {*_HEADERS, "authorization"} if self.key else _HEADERS
        for name in [name for name in request.headers if name.lower() not in kept]:
            del request.headers[name]

    def _wait(self, _request: Any) -> None:
        self._pace.wait()

    def _refused(self, error: APIStatusError) -> Answer:
        status = f"HTTP {error.status_code}"
        if error.status_code in _TRANSIENT or error.status_code >= 500:
            raise self._failed(status)
        if error.status_code in (400, 403) and _names_a_filter(error.response.text):
            return Answer("", "content_filter", 0, 0)
        if error.status_code in (401, 403):
            raise UserError(f"judge: the endpoint refused the key ({status}); correct {KEY}")
        if error.status_code == 404:
            raise UserError(
                f"judge: the endpoint knows no such path or model ({status}); correct {BASE_URL} or {MODEL}"
            )
        said = f"{status}: {self._clean(error.response.text)}"
        raise UserError(f"judge: the endpoint refused the request ({said}); fix it and run again")

    def _clean(self, text: str) -> str:
        """One short line without the key and the address, as they are, in JSON or quoted as in an address."""
        host = urllib.parse.urlsplit(self.url).hostname or self.url
        quote = urllib.parse.quote
        secrets = (self.key or host, self.url, host)
        forms = [
            form for each in secrets for form in (each, each.replace("/", r"\/"), quote(each), quote(each, safe=""))
        ]
        text = re.sub("|".join(map(re.escape, forms)), "…", text, flags=re.IGNORECASE)
        return " ".join(text.split())[:200]


def _names_a_filter(body: str) -> bool:
    """Whether the error's own code or type says that a filter refused the text; its message may quote anything."""
    try:
        error = json.loads(body)
    except (ValueError, RecursionError):
        return False
    found: list[Any] = []
    while isinstance(error, dict):  # the error, then what caused it, as Azure nests them
        found += [error.get("code"), error.get("type")]
        error = error.get("error") or error.get("innererror")
    return any(name in FILTERED for name in found)


def _hold_complete(response: Any) -> None:
    """Take a reply that is not a chat completion (cut off, another shape) for a broken connection."""
    if response.is_success:
        try:
            _read_answer(response.read())
        except (ValueError, TypeError, LookupError, AttributeError, OverflowError, RecursionError) as error:
            raise httpx2.RemoteProtocolError(type(error).__name__) from None


def _read_answer(content: bytes) -> Answer:
    reply = json.loads(content)
    choice = reply["choices"][0]
    text, finish = _content(choice["message"].get("content")), choice.get("finish_reason") or "stop"
    usage = reply.get("usage") or {}
    tokens = [int(usage.get(name) or 0) for name in ("prompt_tokens", "completion_tokens")]
    if not all(0 <= number < _MOST_TOKENS for number in tokens):
        raise ValueError("a count of tokens that none can have")
    return Answer(text, str(finish), *tokens)


def _content(content: Any) -> str:
    """Return the text of a message: "" for null (a refusal), its parts put together where it comes in parts."""
    if isinstance(content, list):
        return "".join(part["text"] for part in content if part["type"] == "text")
    if content is not None and not isinstance(content, str):
        raise TypeError("content that is not text")
    return content or ""


class _Pace:
    """Lets at most so many requests a minute start, evenly spread, over all threads."""

    def __init__(self, per_minute: float, sleep: Callable[[float], None]) -> None:
        self.gap, self.sleep = 60.0 / per_minute, sleep
        self._next, self._lock = 0.0, threading.Lock()

    def wait(self) -> None:
        with self._lock:
            now = time.monotonic()
            start = max(now, self._next)
            self._next = start + self.gap
        if start > now:
            self.sleep(start - now)
