"""``favor voice page``: who may ask, what is marked in a text, and the page in a browser."""

import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from http.client import HTTPConnection
from threading import Thread
from urllib.parse import urlsplit

import numpy as np
import pytest
from selenium.webdriver.support.ui import WebDriverWait
from tests.scores.copied_voices import written
from tests.voice.conftest import Trigrams, refusal, write_others
from tests.voice.test_score import CONTRAST

from favor.corpora.schemas import CLIENT_TEXTS
from favor.encoders.base import Unread
from favor.foundation.parquet import read_parquet
from favor.voice.contrast import Contrast
from favor.voice.folder import VoiceFolder
from favor.voice.habits import HABITS, stretches
from favor.voice.verifiers import Remembered
from favor.voice.web_app import LARGEST, Desk, make_server

pytestmark = pytest.mark.slow(30)


@pytest.fixture
def address(trained) -> Iterator[str]:
    """Address of a page of jane's voice with a light encoder; its server."""
    own = read_parquet(trained / "texts.parquet", CLIENT_TEXTS)["text"].tolist()
    contrast = Contrast(CONTRAST, "seven writers", "")
    desk = Desk("jane", own, contrast, Remembered(Trigrams()), VoiceFolder(trained))
    server, where = make_server(desk.page(), desk.policy, {"score": desk.score, "write": desk.write})
    Thread(target=server.serve_forever, daemon=True).start()
    yield where
    server.shutdown()
    server.server_close()


def asked(address, path, body=None, **headers) -> tuple[int, str]:
    """Status and text of an answer; a body makes it a POST."""
    parts = urlsplit(address)
    connection = HTTPConnection(parts.netloc, timeout=60)
    connection.request("GET" if body is None else "POST", path, body, headers)
    answer = connection.getresponse()
    return answer.status, answer.read().decode()


def test_only_who_has_the_token_is_answered(address) -> None:
    parts = urlsplit(address)
    assert parts.hostname == "127.0.0.1"
    token = parts.query.removeprefix("token=")
    assert len(token) >= 32
    key = {"X-Token": token}
    page = asked(address, f"/?{parts.query}")
    assert page[0] == 200
    assert "The voice of jane" in page[1]
    assert token not in page[1]
    for status, path, body, headers in (
        *((403, path, None, {}) for path in ("/", "/?token=", f"/?token={token[:-1]}")),
        (403, f"/?{parts.query}", None, {"Host": "evil.example"}),
        (403, "/score", "{}", {}),
        (403, "/score", "{}", {**key, "Host": f"localhost:{parts.port}"}),
        (404, "/voice.json", "{}", key),
        (404, f"/texts.parquet?{parts.query}", None, {}),
        *((400, "/score", body, key) for body in ("[1]", "{", "[" * 200_000)),
        (413, "/score", "{}", {**key, "Content-Length": str(LARGEST + 1)}),
        (400, "/write", json.dumps({"prompt": "", "tokens": 5}), key),
        (400, "/write", json.dumps({"prompt": "a", "tokens": -1}), key),
    ):
        assert asked(address, path, body, **headers)[0] == status, (path, headers)
    needed = (400, "no text can be scored: The text has 3 words, and 50 are needed")
    assert asked(address, "/score", json.dumps({"text": "Only three words."}), **key) == needed


def test_an_answer_is_text_whatever_is_asked(address) -> None:
    text = written(0, "scored", 1) + " <script>alert(1)</script> & <b>bold</b>!"
    token = urlsplit(address).query.removeprefix("token=")
    status, found = asked(address, "/score", json.dumps({"text": text}), **{"X-Token": token})
    assert status == 200
    assert "<script>" not in found
    assert "<b>" not in found
    plain = re.sub(r"<[^>]*>", "", found[found.index('class="shown"') :])
    assert "&lt;script&gt;alert" in plain


def test_what_the_encoder_did_not_read_is_passed_on() -> None:
    class Cutting(Trigrams):
        def encode(self, texts, progress=None) -> np.ndarray:
            self.count(Unread(len(texts), len(texts), 20, 5))
            return super().encode(texts, progress)

    remembered = Remembered(Cutting())
    remembered.encode(["one", "two"])
    remembered.encode(["one", "three"])
    assert remembered.unread == (3, 3, 40, 10)


def test_habits_are_marked_where_they_stand() -> None:
    """By hand: "!!" and two commas; "i" is a lower-case i and in the first person; "(" opens a bracket."""
    text = "Well, i know!! And, (perhaps) so."
    names = {number: habit.name for number, habit in enumerate(HABITS)}
    found = list(stretches(text))
    assert "".join(part for part, _ in found) == text
    marked = [(part, {names[number] for number in habits}) for part, habits in found if habits]
    assert (",", {"commas"}) in marked
    assert [part for part, habits in marked if "commas" in habits] == [",", ","]
    assert [part for part, habits in marked if "exclamation marks" in habits] == ["!", "!"]
    assert ("i", {"lower-case i", "first person"}) in marked
    assert ("(", {"brackets"}) in marked
    assert list(stretches("Nothing")) == [("Nothing", ())]
    assert list(stretches("")) == []


def test_the_page_in_chromium(address, browser, violations) -> None:
    browser.set_window_size(1200, 900)
    browser.get(address)
    assert browser.current_url == address[: address.index("?")]  # without the token
    browser.execute_script("document.getElementById('text').value = arguments[0]", written(9, "scored", 1) + " No!")
    browser.find_element("css selector", "#score button").click()
    wait = WebDriverWait(browser, 120)
    wait.until(lambda _: browser.find_elements("css selector", "#scored .shown"))
    shown = browser.find_element("css selector", "#scored .shown").get_attribute("textContent")
    assert shown == written(9, "scored", 1) + " No!"
    on = "return document.querySelectorAll('mark.on').length"
    for box in browser.find_elements("css selector", "#scored input:checked"):
        box.click()
    assert browser.execute_script(on) == 0
    label = next(
        each for each in browser.find_elements("css selector", ".habits label") if "exclamation marks" in each.text
    )
    label.click()
    marks = browser.execute_script("return [...document.querySelectorAll('mark.on')].map(m => m.textContent)")
    assert marks
    assert set(marks) == {"!"}
    browser.find_element("id", "prompt").send_keys("Dear all,")
    tokens = browser.find_element("name", "tokens")
    tokens.clear()
    tokens.send_keys("30")
    browser.find_element("css selector", "#write button").click()
    wait.until(lambda _: browser.find_elements("css selector", "#written h3"))
    assert [each.text for each in browser.find_elements("css selector", "#written h3")] == ["base", "own"]
    assert browser.find_element("css selector", "#written [data-text]").text.startswith("Dear all,")
    for width in (1200, 390):
        browser.set_window_size(width, 900)
        assert browser.execute_script("return document.documentElement.scrollWidth <= window.innerWidth")
    assert violations() == []
    origin = address[: address.index("/?")]
    loaded = browser.execute_script("return performance.getEntriesByType('resource').map(each => each.name)")
    assert {*loaded} <= {f"{origin}/score", f"{origin}/write", f"{origin}/favicon.ico"}
    browser.find_element("css selector", "#written [data-score]").click()
    wait.until(lambda _: browser.find_element("css selector", "#score [role=alert]").text)
    alert = browser.find_element("css selector", "#score [role=alert]").text
    assert re.search(r"words, and 50 are needed|copied", alert)  # thirty tokens are too few
    assert [
        each for each in browser.get_log("browser") if "favicon" not in each["message"] and "400" not in each["message"]
    ] == []


def test_the_command_serves_until_ctrl_c(toy, trained, tmp_path) -> None:
    given = ["voice", "page", "--voice", str(tmp_path), "--author", str(trained / "texts.parquet")]
    given += ["--contrast", str(write_others(tmp_path / "others.csv", CONTRAST))]
    with subprocess.Popen([sys.executable, "-m", "favor.cli", *given], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        status, page = asked(address, address[address.index("/?") :])
        assert status == 200
        assert "Write and compare" not in page  # no voice is there
        process.send_signal(signal.SIGINT)
    assert process.returncode == 0
    assert "holds no voice; name one with --voice, or give an author" in refusal("page", "--voice", tmp_path / "none")
    busy, where = make_server("", "", {})
    for port in (urlsplit(where).port, 70000):
        assert f"--port: {port} cannot be used" in refusal(*given[1:], "--port", port)
    busy.server_close()
