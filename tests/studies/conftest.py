"""A made-up experiment: eight clients of four topics, two seeds, every text told apart by its words."""

import pandas as pd
import pytest

from favor.corpora.schemas import CLIENT_TEXTS
from favor.studies.human_audit.items import draw_items
from favor.studies.settings import ItemDrawing
from tests.studies.judges.judge_server import connect, server  # noqa: F401 - fixtures of the tests of judges

CLIENTS = [f"client_{number:03d}" for number in range(1, 9)]
SEEDS = (2026, 2027)
METHODS = {"ditto": "alpha", "favor": "beta", "fedavg": "gamma"}  # what their outputs are made of
HOSTILE = "</script><script>alert('x')</script> & <b>bold</b> “ü” 中 \u2028 end"


def words(name, count) -> str:
    """A text of ``count`` different words."""
    return " ".join(f"{name}w{number}" for number in range(count))


def made_texts() -> pd.DataFrame:
    """Table ``client_texts``: five training texts a client, the last of them short."""
    rows = []
    for number, client in enumerate(CLIENTS):
        for place in range(7):
            split = "train" if place < 5 else "test"
            text = words(f"{split}{number}x{place}", 12 if place == 4 else 40)
            text = text.replace(" ", "\n", 1) if place != 1 else f"{HOSTILE} {text}"
            row = {"client": client, "document_id": f"doc-{number}-{place}", "split": split, "topic": f"t{number // 2}"}
            row |= {"prompt": "", "text": text, "words": 40, "allocated_words": 40, "training_text": text}
            rows.append(row)
    return pd.DataFrame(rows)[CLIENT_TEXTS.names]


def made_prompts() -> pd.DataFrame:
    """Table ``prompts`` of both seeds with a column seed; both seeds cut the same two documents of a client."""
    rows = []
    for seed in SEEDS:
        for number, client in enumerate(CLIENTS):
            for place in (5, 6):
                row = {"seed": seed, "client": client, "prompt_id": f"{client}-{seed}-{place}"}
                row |= {"document_id": f"doc-{number}-{place}", "topic": f"t{number // 2}", "prompt_text": "start "}
                row |= {"prompt_tokens": [1], "gold_text": words(f"human{number}x{place}x", 30), "gold_tokens": 30}
                rows.append(row)
    return pd.DataFrame(rows)


def made_generations(prompts) -> pd.DataFrame:
    """Table ``generations``: the outputs of client_001 fail the filter."""
    rows = []
    for method, stem in METHODS.items():
        for prompt in prompts.to_dict("records"):
            keys = {key: prompt[key] for key in ("seed", "client", "prompt_id")}
            text = words(f"{stem}zz{prompt['client'][-1]}x{prompt['prompt_id'][-1]}x{prompt['seed'] % 10}x", 25)
            row = {"method": method, "text": f" {text}\n", "tokens": 25, "words": 25, "distinct_bigram_ratio": 1.0}
            rows.append({**keys, "sample": 0, **row, "passed": prompt["client"] != "client_001"})
    return pd.DataFrame(rows)


texts = pytest.fixture(scope="session", name="texts")(made_texts)
prompts = pytest.fixture(scope="session", name="prompts")(made_prompts)
generations = pytest.fixture(scope="session", name="generations")(made_generations)


@pytest.fixture(scope="session")
def settings() -> ItemDrawing:
    """Four items of each method and two human ones."""
    return ItemDrawing(methods=["ditto", "favor"], items=10, human_items=2, excerpts=3, excerpt_words=20, seed=7)


@pytest.fixture(scope="session")
def items(generations, prompts, texts, settings) -> pd.DataFrame:
    """Table ``human_2afc_items`` of that experiment."""
    return draw_items(generations, prompts, texts, settings)
