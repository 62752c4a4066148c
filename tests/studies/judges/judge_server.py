"""A judge's endpoint on loopback that misbehaves as told, and outputs to judge."""

import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pandas as pd
import pytest
from openai import _base_client

from favor.studies.judges.endpoint import Endpoint
from favor.studies.settings import EndpointLimits

KEY = "sk-test-0123456789-never-to-be-written"
QUALITY_ANSWER = '{"coherence": 3, "fluency": 4, "specificity": 2, "non_repetition": 5, "overall": 3}'


def completion(content, finish="stop") -> bytes:
    choice = {"index": 0, "message": {"role": "assistant", "content": content}, "finish_reason": finish}
    usage = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
    return json.dumps({"id": "x", "object": "chat.completion", "choices": [choice], "usage": usage}).encode()


class JudgeServer(ThreadingHTTPServer):
    """Answers ``/v1/chat/completions``; ``behave(number, body)`` returns what request ``number`` (from 0) meets.

    That is (status, headers, body); a body longer than the announced Content-Length stays unsaid. ``None`` answers
    nothing until the client gives up.
    """

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        good = 200, {}, completion(QUALITY_ANSWER)
        self.behave: Callable[[int, dict], tuple[int, dict[str, str], bytes] | None] = lambda number, body: good
        self.requests: list[dict] = []
        self.arrivals: list[float] = []
        self.keys: list[str | None] = []
        self.headers: list[set[str]] = []
        self.paths: Counter[str] = Counter()
        self.lock = threading.Lock()
        self.released = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def handle_error(self, request, client_address) -> None:
        """A client that gave up is no news."""


class _Handler(BaseHTTPRequestHandler):
    server: JudgeServer

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        server = self.server
        with server.lock:
            number = len(server.requests)
            server.requests.append(body)
            server.arrivals.append(time.monotonic())
            server.keys.append(self.headers.get("Authorization"))
            server.headers.append({name.lower() for name in self.headers})
            server.paths[self.path] += 1
        said = server.behave(number, body)
        if said is None:
            server.released.wait(20)
            return
        status, headers, content = said
        self.send_response(status)
        for name, value in {"Content-Length": str(len(content)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *arguments) -> None:
        """Nothing on the terminal."""


@pytest.fixture
def server(monkeypatch) -> Iterator[JudgeServer]:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    running = JudgeServer()
    thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    yield running
    running.released.set()
    running.shutdown()
    running.server_close()


@pytest.fixture
def connect(server, monkeypatch) -> Callable[..., Endpoint]:
    """Makes an endpoint of the server, with limits that suit a test; between tries lies little time."""
    monkeypatch.setattr(_base_client, "INITIAL_RETRY_DELAY", 0.01)

    def make(answer_tokens=200, **limits) -> Endpoint:
        chosen = EndpointLimits(**{"timeout": 60.0, "tries": 4, "requests_per_minute": 1e6, **limits})
        environment = {"FAVOR_JUDGE_BASE_URL": server.url, "FAVOR_JUDGE_MODEL": "judge-1", "FAVOR_JUDGE_API_KEY": KEY}
        return Endpoint.from_environment(chosen, answer_tokens, environment)

    return make


def outputs(methods, seeds=(1, 2), clients=3, prompts=3) -> tuple:
    """Return generations, prompts (with a column seed) and client texts; every text says what it is."""
    generations, asked, texts = [], [], []
    for number in range(1, clients + 1):
        client = f"client_{number:03d}"
        for text in range(5):
            words = f"own{number}x{text} " * 200
            texts.append({"client": client, "document_id": f"d{text}", "split": "train" if text < 4 else "test"})
            texts[-1]["text"] = words
        for seed in seeds:
            for prompt in range(prompts):
                name = f"{client}-{seed}-{prompt}"
                row = {"seed": seed, "client": client, "prompt_id": name}
                asked.append({**row, "prompt_text": f"prefix of {name}", "gold_text": f"gold of {name}"})
                generations += [
                    {**row, "method": method, "sample": 0, "text": f"words by m{place} on {name}", "passed": True}
                    for place, method in enumerate(methods)
                ]
    return pd.DataFrame(generations), pd.DataFrame(asked), pd.DataFrame(texts)
