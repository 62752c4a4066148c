"""The client against a real server on loopback that misbehaves, and against addresses that cannot be right."""

import json
import urllib.parse
from collections.abc import Callable

import pytest
from tests.studies.judges.judge_server import KEY, QUALITY_ANSWER, completion

from favor.foundation.errors import UserError
from favor.studies.judges.asking import Question
from favor.studies.judges.endpoint import Endpoint
from favor.studies.settings import EndpointLimits

ASKED = Question("quality", "quality_00001", 1, "rate", "text", 0, "digest")
GOOD = (200, {}, completion(QUALITY_ANSWER))


def endpoint(url="https://host/v1", key=None, model="judge-1", **limits) -> Endpoint:
    names = {"FAVOR_JUDGE_BASE_URL": url, "FAVOR_JUDGE_MODEL": model}
    names |= {} if key is None else {"FAVOR_JUDGE_API_KEY": key}
    return Endpoint.from_environment(EndpointLimits(**{"requests_per_minute": 1e6, **limits}), 200, names)


def first_then_good(*faults) -> Callable[[int, dict], tuple]:
    return lambda number, body: faults[number] if number < len(faults) else GOOD


def test_a_request_is_what_the_interface_defines(server, connect) -> None:
    answer = connect(temperature=0.5, answer_tokens=99).ask(ASKED)
    assert (answer.content, answer.finish, answer.input_tokens, answer.output_tokens) == (QUALITY_ANSWER, "stop", 11, 7)
    assert server.paths == {"/v1/chat/completions": 1}
    assert server.keys == [f"Bearer {KEY}"]
    messages = [{"role": "system", "content": "rate"}, {"role": "user", "content": "text"}]
    assert server.requests == [{"model": "judge-1", "temperature": 0.5, "max_tokens": 99, "messages": messages}]


@pytest.mark.parametrize(
    "fault",
    [
        (429, {}, b"slow down"),
        (503, {}, b"<html>busy</html>"),
        (200, {}, b'{"choices": [{"mess'),  # JSON cut off, though the length is right
        (200, {"Content-Length": "5000"}, completion(QUALITY_ANSWER)),  # the body cut off
        *((200, {}, said) for said in (b"<html>a proxy</html>", b'{"choices": []}', b"null", b"[" * 100_000)),
        *((200, {}, b'{"choices": [{"message": %s}]}' % said) for said in (b'"text"', b'{"content": 7}')),
        *(
            (200, {}, completion(QUALITY_ANSWER).replace(b'"prompt_tokens": 11', b'"prompt_tokens": ' + absurd))
            for absurd in (b"1e400", b"1" + 30 * b"0", b"-5", b"[[]]")
        ),
        None,  # no answer before the client's timeout
    ],
)
def test_a_passing_fault_is_tried_again(server, connect, fault) -> None:
    server.behave = first_then_good(fault, fault)
    # A busy machine may let a good answer wait for as long, which is one more fault.
    limits = {} if fault else {"timeout": 0.5, "tries": 20}
    assert connect(**limits).ask(ASKED).content == QUALITY_ANSWER
    assert len(server.requests) == 3 or (fault is None and len(server.requests) > 3)


def test_an_answer_in_parts_is_put_together_and_a_refusal_is_empty(server, connect) -> None:
    half = len(QUALITY_ANSWER) // 2
    parts = [{"type": "text", "text": QUALITY_ANSWER[:half]}, {"type": "text", "text": QUALITY_ANSWER[half:]}]
    for content, said in ((parts, QUALITY_ANSWER), (None, "")):
        reply = json.dumps({"choices": [{"message": {"content": content}}]}).encode()
        server.behave = lambda number, body, reply=reply: (200, {}, reply)
        assert connect().ask(ASKED).content == said


def test_retry_after_is_slept_for_in_earnest(server, connect) -> None:
    server.behave = first_then_good((429, {"Retry-After": "0.4"}, b""))
    connect().ask(ASKED)
    assert server.arrivals[1] - server.arrivals[0] >= 0.4


def test_the_pace_is_kept_by_every_try(server, connect) -> None:
    server.behave = first_then_good((500, {}, b""))
    judge, waits = connect(requests_per_minute=0.01), []
    judge._pace.sleep = waits.append
    for _ in range(2):
        judge.ask(ASKED)
    assert len(server.requests) == 3
    assert len(waits) == 2
    assert 5000 < waits[0] <= 6000 < 11000 < waits[1] <= 12000


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (400, "refused the request"),
        (401, "refused the key"),
        (403, "refused the key"),
        (404, "path or model"),
        (302, "HTTP 302"),  # a redirect is not followed
    ],
)
def test_what_no_second_try_mends_stops_at_once(server, connect, status, words) -> None:
    server.behave = lambda number, body: (status, {"Location": f"{server.url}/elsewhere"}, b"wrong")
    with pytest.raises(UserError, match=words):
        connect().ask(ASKED)
    assert server.paths == {"/v1/chat/completions": 1}


@pytest.mark.parametrize("status", [400, 403])
@pytest.mark.parametrize(
    "reply",
    [
        {"error": {"code": "content_filter", "message": "no"}},
        {"error": {"code": "data_inspection_failed"}},
        {"error": {"type": "content_policy_violation"}},
        {"error": {"code": "BadRequest", "innererror": {"code": "content_filter"}}},
        {"error": "blocked", "code": "content_filter"},
        {"error": {"error": {"code": "content_filter"}}},
    ],
)
def test_a_refusal_is_known_by_its_code(server, connect, status, reply) -> None:
    server.behave = lambda number, body: (status, {}, json.dumps(reply).encode())
    assert connect().ask(ASKED).finish == "content_filter"


@pytest.mark.parametrize(
    "said",
    [
        b"content_filter",
        b'{"error": {"code": "invalid_request", "message": "unknown field content_filter"}}',
        b'{"error": {"code": "context_length_exceeded", "input": "my data_inspection_failed post"}}',
        b'{"error": "content_filter"}',
        b'["content_filter"]',
    ],
)
def test_a_message_that_mentions_a_filter_is_no_refusal(server, connect, said) -> None:
    server.behave = lambda number, body: (400, {}, said)
    with pytest.raises(UserError, match="refused the request"):
        connect().ask(ASKED)


@pytest.mark.parametrize("status", [400, 401, 404, 500])
def test_messages_hold_neither_key_nor_address(server, connect, status) -> None:
    judge = connect(tries=1)
    judge.key = "sk-test+/0123?45 6789~never"
    quoted = urllib.parse.quote(judge.key), urllib.parse.quote(judge.key, safe=""), judge.key.upper()
    quoted += (judge.key.replace("/", r"\/"),)
    echo = f"no {' or '.join((judge.key, *quoted))} at {server.url}/chat/completions"
    server.behave = lambda number, body: (status, {}, echo.encode())
    with pytest.raises(UserError) as raised:
        judge.ask(ASKED)
    for said in (str(raised.value), repr(judge)):
        assert not any(part in said.lower() for part in ("sk-test", "never", "127.0.0.1"))
    assert ("…" in str(raised.value)) == (status == 400)


def test_a_server_that_is_not_there_is_said_so_without_its_address() -> None:
    with pytest.raises(UserError, match="2 tries failed") as raised:
        endpoint("http://127.0.0.1:9/v1", tries=2).ask(ASKED)
    assert "127.0.0.1" not in str(raised.value)


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        *(({"url": url}, "BASE_URL") for url in ("", "host/v1", "ftp://host/v1", "https://me:secret@host/v1")),
        ({"model": " "}, "MODEL"),
        *(({"key": key}, "API_KEY") for key in ("sk-secret\nX: y", "sk-secret–")),
    ],
)
def test_an_environment_that_cannot_be_right_is_named_without_its_secrets(changed, named) -> None:
    with pytest.raises(UserError, match=f"FAVOR_JUDGE_{named}") as raised:
        endpoint(**changed)
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize("key", [KEY, "", None])
def test_nothing_else_of_the_environment_is_sent(server, monkeypatch, key) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_BASE_URL"):
        monkeypatch.setenv(name, "elsewhere")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Other: yes\nAuthorization: Bearer other")
    endpoint(f"{server.url}/", key).ask(ASKED)
    assert server.keys == [f"Bearer {key}" if key else None]
    known = {"host", "connection", "accept", "accept-encoding", "user-agent", "content-type", "content-length"}
    assert server.headers[0] - known <= {"authorization", "x-stainless-raw-response"}
