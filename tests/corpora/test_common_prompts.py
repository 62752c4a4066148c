"""Common prompts: authors without a role, topics in turn, nothing that a client trains on; the user's own."""

from pathlib import Path

import pandas as pd
import pytest
from tests.corpora.made import byte_level, write_documents

from favor.corpora.common_prompts import client_prompts, read_common_prompts, select_common_prompts
from favor.corpora.schemas import COMMON_PROMPTS, DOCUMENTS
from favor.corpora.settings import CommonChoice, PromptCut
from favor.foundation.errors import UserError
from favor.foundation.parquet import write_parquet

CUT = PromptCut(per_client=1, prefix_tokens=60, minimum_gold_tokens=5, maximum_gold_tokens=5)
ROLES = dict.fromkeys(("a", "b", "d"), "unused")
ROLES |= {"c": "too_small", "client": "client", "asce": "asce_a", "f": "filtered"}
TOPICS = {"a": "Arts", "b": "Arts", "c": "Tourism", "d": "Tourism"}


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("tokenizer") / "tokenizer.json"
    byte_level(size=260).save(str(path))
    return path


def text(author, number) -> str:
    return " ".join(f"{author}{number}w{place}" for place in range(40))


@pytest.fixture
def corpus(tmp_path) -> tuple[Path, pd.DataFrame, pd.DataFrame]:
    """Return documents (two per author), roster, and the client's texts."""
    names = [(author, number) for author in sorted(ROLES) for number in (1, 2)]
    rows = [(name, f"{name}-{number}", TOPICS.get(name, "Arts"), "", text(name, number), 40) for name, number in names]
    path = write_documents(tmp_path / "documents.parquet", rows)
    roster = pd.DataFrame({"author": list(ROLES), "role": list(ROLES.values())})
    roster["topic"] = [TOPICS.get(author, "Arts") for author in roster["author"]]
    texts = pd.DataFrame({"client": ["client_001"], "training_text": [text("client", 1)]})
    return path, roster, texts


def test_topics_and_authors_take_turns(corpus, tokenizer, tmp_path) -> None:
    documents, roster, texts = corpus

    def chosen(count, left_out=()) -> pd.DataFrame:
        settings = CommonChoice(count=count, seed=1)
        return select_common_prompts(documents, roster, texts, tokenizer, CUT, settings, left_out)

    four = chosen(4)
    assert sorted(name[0] for name in four["document_id"]) == ["a", "b", "c", "d"]  # every free author once
    assert set(chosen(2)["topic"]) == {"Arts", "Tourism"}
    pd.testing.assert_frame_equal(chosen(8).iloc[:4], four)
    assert four["prompt_tokens"].str.len().tolist() == [60] * 4
    assert four["prompt_id"].tolist() == ["common-001", "common-002", "common-003", "common-004"]
    write_parquet(four, tmp_path / "common.parquet", COMMON_PROMPTS)
    assert "a-1" not in set(chosen(7, left_out=("a-1",))["document_id"])
    with pytest.raises(UserError, match="8 of 9 can be cut from posts of 4 authors without a role; lower"):
        chosen(9)


@pytest.mark.parametrize("reader", ["client", "encoder"])
def test_a_prompt_that_a_client_or_an_encoder_has_read_is_passed_over(corpus, tokenizer, reader) -> None:
    documents, roster, texts = corpus
    copied = f"so {text('d', 2)} it was"
    if reader == "client":
        texts = pd.concat([texts, pd.DataFrame({"client": ["client_002"], "training_text": [copied.upper()]})])
    else:
        frame = pd.read_parquet(documents)
        frame.loc[frame["document_id"] == "asce-2", "text"] = copied
        write_parquet(frame, documents, DOCUMENTS)
    made = select_common_prompts(documents, roster, texts, tokenizer, CUT, CommonChoice(count=7, seed=1))
    assert "d-2" not in set(made["document_id"])
    with pytest.raises(UserError, match="7 of 8"):
        select_common_prompts(documents, roster, texts, tokenizer, CUT, CommonChoice(count=8, seed=1))


def test_prompts_of_the_user(tokenizer, tmp_path, capsys) -> None:
    texts = pd.DataFrame({"client": ["client_001"], "training_text": [text("client", 1)]})
    path = tmp_path / "prompts.jsonl"

    def read(*lines, count=24) -> pd.DataFrame:
        path.write_text("".join(f"{line}\n" for line in lines))
        return read_common_prompts(path, tokenizer, CommonChoice(count=count), texts)

    made = read('{"prompt": "Dear diary"}', '{"prompt": "The sea"}')
    assert made["prompt_text"].tolist() == ["Dear diary", "The sea"]
    assert made["document_id"].tolist() == ["", ""]
    assert len(read('{"prompt": "Dear diary"}', '{"prompt": "The sea"}', count=1)) == 1
    assert capsys.readouterr().err == ""
    read(f'{{"prompt": "{text("client", 1)}"}}')
    assert "line 1 shares 10 words with a client's training text" in capsys.readouterr().err
    with pytest.raises(UserError, match="line 2: the prompt is empty"):
        read('{"prompt": "Dear diary"}', '{"prompt": " "}')
    with pytest.raises(UserError, match="line 2 repeats the prompt of line 1"):
        read('{"prompt": "Dear diary"}', '{"prompt": "Dear diary"}')
    with pytest.raises(UserError, match="'prompt' is missing"):
        read('{"text": "Dear diary"}')


def test_every_client_gets_every_prompt() -> None:
    common = pd.DataFrame({"prompt_id": ["p1", "p2"], "prompt_text": ["a", "b"]})
    made = client_prompts(common, ["x", "y"])[["client", "prompt_id"]]
    assert made.to_numpy().tolist() == [["x", "p1"], ["x", "p2"], ["y", "p1"], ["y", "p2"]]
    assert client_prompts(COMMON_PROMPTS.empty(), ["x"]).empty
