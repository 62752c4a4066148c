"""A small base model, one writer's posts, and the voice that ``favor voice train`` makes of them."""

import json
import shutil
import sys
from collections.abc import Callable
from functools import reduce
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.feature_extraction.text import HashingVectorizer
from tests.once import made_once
from tests.scores.copied_voices import written

from favor import cli
from favor.encoders.base import TextEncoder
from favor.foundation.vectors import unit_rows
from favor.lm.pretrain import pretrain
from favor.lm.settings import ModelTraining
from favor.lm.tokenizer import train_tokenizer
from favor.studies.tasks import drafting
from favor.studies.tasks.requests import REQUESTS
from favor.voice import command as score_command

TEMPLATE = (
    "{% for turn in messages %}({{ turn.role }}) {{ turn.content }}\n{% endfor %}"
    "{% if add_generation_prompt %}(assistant) {% endif %}"
)


class Trigrams(TextEncoder):
    """Hashed character trigrams: a style encoder of no weight."""

    dimension = 512

    def encode(self, texts, progress=None) -> np.ndarray:
        hashed = HashingVectorizer(analyzer="char", ngram_range=(3, 3), n_features=self.dimension)
        return unit_rows(hashed.transform(texts).toarray()).astype(np.float32)


@pytest.fixture
def light(monkeypatch) -> None:
    """Texts are scored by an encoder of no weight."""
    monkeypatch.setattr(score_command, "style_encoder", lambda name: Trigrams())


def command(*arguments, program="voice") -> None:
    """Run ``favor voice`` or another program of favor with these arguments."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(sys, "argv", ["favor", program, *map(str, arguments)])
        cli.main()


def refusal(*arguments, program="voice") -> str:
    """The one line with which :func:`command` stops."""
    with pytest.raises(SystemExit) as stopped:
        command(*arguments, program=program)
    line = str(stopped.value.code)
    assert line.startswith("error: ")
    assert "\n" not in line
    return line


def training(folder, voice, *more, base=None) -> list:
    """The command line that trains jane's ``voice`` on ``posts.csv`` of a folder and on its base or another."""
    given = ["train", folder / "posts.csv", "--author", "jane", "--consent", "mine", "--base", base or folder / "base"]
    return [*given, "--voice", voice, *more]


def neutral(text) -> str:
    """A draft by hand: the words in the order of the alphabet, so that next to none stand in a row as they did."""
    return " ".join(sorted(text.lower().replace(".", "").replace(",", "").split()))


def posts() -> list[tuple[str, str]]:
    """Jane's sixty posts of some 120 words with their days, one after another."""
    return [(written(0, "voice", n, 6), f"2020-{1 + n // 28:02d}-{1 + n % 28:02d}") for n in range(60)]


def write_others(path, texts) -> Path:
    """Write texts by author as a table of other writers."""
    rows = [(author, text) for author, own in texts.items() for text in own]
    pd.DataFrame(rows, columns=["author", "text"]).to_csv(path, index=False)
    return path


def write_base(folder, context) -> None:
    """A small base model of four other writers in ``folder``."""
    texts = [written(author, "base", n) for author in range(1, 5) for n in range(30)]
    train_tokenizer(texts, 400, folder / "tokenizer")
    sizes = {"hidden_size": 32, "layers": 2, "heads": 4, "intermediate_size": 64, "sequence_length": 64}
    shape = ModelTraining(**sizes, context_length=context, tokens=40_000)
    pretrain(texts, folder / "tokenizer", shape, 1, folder / "base")


@pytest.fixture(scope="session")
def wide(tmp_path_factory) -> Path:
    """A base model that reads 512 tokens, and jane's posts of some 120 words."""

    def make(folder) -> None:
        write_base(folder, context=768)
        pd.DataFrame(posts(), columns=["text", "date"]).to_csv(folder / "posts.csv", index=False)

    return made_once(tmp_path_factory, "wide", make)


@pytest.fixture(scope="session")
def chatting(wide, tmp_path_factory) -> Path:
    """The base ``wide`` with a chat template."""
    folder = Path(shutil.copytree(wide / "base", tmp_path_factory.mktemp("chatting") / "base"))
    settings = json.loads((folder / "tokenizer_config.json").read_text())
    (folder / "tokenizer_config.json").write_text(json.dumps(settings | {"chat_template": TEMPLATE}))
    return folder


def drafting_by_hand(asked) -> Callable[..., dict]:
    """Drafts by :func:`neutral`, but every fifth repeats the passage; ``asked`` gets the number of passages."""

    def answers(base, lora, states, system, requests) -> dict:
        makes = [request.make for request in REQUESTS.values()]
        texts = [reduce(str.removeprefix, makes, request) for request in requests]
        asked.append(len(texts))
        return {"base": [(text if place % 5 == 0 else neutral(text), True) for place, text in enumerate(texts)]}

    return answers


@pytest.fixture
def by_hand(monkeypatch) -> list[int]:
    """Drafts are made by hand; the number of passages asked for."""
    asked: list[int] = []
    monkeypatch.setattr(drafting, "ask", drafting_by_hand(asked))
    return asked


@pytest.fixture(scope="session")
def toy(tmp_path_factory) -> Path:
    """A folder with a base model of four other writers (``base``), and the posts of jane and of joe (``posts.csv``)."""
    torch.set_num_threads(1)

    def make(folder) -> None:
        write_base(folder, context=160)
        rows = [("jane", *post) for post in posts()] + [("joe", "Hello there.", "2020-01-01")]
        pd.DataFrame(rows, columns=["author", "text", "date"]).to_csv(folder / "posts.csv", index=False)

    return made_once(tmp_path_factory, "toy", make)


@pytest.fixture(scope="session")
def trained(toy, tmp_path_factory) -> Path:
    """The folder of jane's voice. Tests that change it take ``voice``."""
    return made_once(tmp_path_factory, "jane", lambda folder: command(*training(toy, folder, "--epochs", 2)))


@pytest.fixture
def voice(trained, tmp_path) -> Path:
    return Path(shutil.copytree(trained, tmp_path / "voice"))


@pytest.fixture
def train_again(toy, voice) -> Callable[..., None]:
    """A function that gives the command of ``voice`` again, with other options where they are named."""
    return lambda *options: command(*training(toy, voice, "--epochs", 2, *options))
