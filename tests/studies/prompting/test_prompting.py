"""Prompting baselines: what is retrieved, what is said, what is refused; nothing but a client's own training texts."""

import json
import math
import shutil
from pathlib import Path

import pandas as pd
import pytest
from tests.experiments import experiment
from tests.lm.conftest import random_model

from favor.federation import settings
from favor.federation.method import Plan, Prompting
from favor.federation.method_names import PAPER
from favor.federation.row_plan import load_method
from favor.foundation import registry
from favor.foundation.errors import UserError
from favor.inference.chat import ChatTokens
from favor.lm.base import load_base
from favor.paper.names import METHODS
from favor.paper.values import load_paper_values
from favor.plan.records import run_check
from favor.studies.prompting.requests import cut, distil_sheets, nearest_texts, prompted_requests
from favor.studies.prompting.templates import check_context, check_sheet_context, continuation_request
from favor.tables.completion import printed_spec

WORDS = ["You describe how an author writes. Continue this text as the author would.", "the fox jumps in 2004 and 2004"]
# Shorter than a configuration allows.
LENGTHS = settings.Prompting.model_construct(
    passages=1, passage_tokens=6, sheet_texts=2, sheet_text_tokens=5, sheet_tokens=4, persona_tokens=3
)
TEMPLATE = "{% for m in messages %}[{{ m.role }}] {{ m.content }} {% endfor %}>"


@pytest.fixture(scope="module")
def longer(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("longer")
    sizes = {"hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 1, "num_attention_heads": 2}
    random_model(folder, WORDS * 3, 4, **sizes, num_key_value_heads=1, max_position_embeddings=1024)
    return folder


@pytest.fixture
def texts() -> pd.DataFrame:
    """Two clients: three training texts (one outside the budget), one test text each."""
    rows = [
        ("client_001", "a1", "train", "cats sleep on the mat", "cats sleep on the mat"),
        ("client_001", "a2", "train", "a dog barks at dogs", "a dog barks"),
        ("client_001", "a3", "train", "a dog outside the budget", ""),
        ("client_001", "a4", "test", "dog dog dog dog", ""),
        ("client_002", "b1", "train", "the dog of another author", "the dog of another author"),
        ("client_002", "b2", "test", "nothing of it", ""),
    ]
    return pd.DataFrame(rows, columns=["client", "document_id", "split", "text", "training_text"])


@pytest.fixture
def prompts() -> pd.DataFrame:
    rows = [("client_001", "p1", [11, 12, 13], "a dog"), ("client_002", "p2", [14, 15], "nothing")]
    return pd.DataFrame(rows, columns=["client", "prompt_id", "prompt_tokens", "prompt_text"])


def test_bm25_by_hand() -> None:
    # Without stop words: {cat sat mat}, {dogs chase cats cats}, {birds fly high}, {dog cat}; 'cat' is in two of four,
    # so idf = ln(1 + 2.5 / 2.5). With k1 = 1.5, b = 0.75 and a mean length of 3 the two-word text weighs
    # 1 / (1 + 1.5 (0.25 + 0.75 * 2 / 3)), the three-word one 1 / (1 + 1.5): the shorter text first.
    library = ["the cat sat on the mat", "dogs chase cats and cats", "birds fly high", "the dog and the cat"]
    assert 1 / (1 + 1.5 * 0.75) * math.log(2) > 1 / 2.5 * math.log(2)
    assert nearest_texts(library, "a cat", 2) == [3, 0]
    assert nearest_texts(library, "zebra", 3) == [0, 1, 2]  # no known word: as they come
    assert nearest_texts(["the", "of"], "cat", 5) == [0, 1]  # nothing but stop words


def test_a_text_is_cut_by_tokens(longer) -> None:
    tokenizer = load_base(str(longer), device="cpu").tokenizer
    assert cut(tokenizer, "the fox", 50) == "the fox"
    short = cut(tokenizer, "the fox jumps over the dog", 2)
    assert "the fox jumps over the dog".startswith(short)
    assert len(tokenizer.encode(short)) <= 2
    assert cut(tokenizer, "é", 1) == ""  # two bytes, two tokens: half a character is none


def test_every_baseline_is_a_method_of_the_paper_that_trains_nothing() -> None:
    prompting = ("average_author", "retrieval", "sheet_retrieval", "sheet_retrieval_without_persona", "sheet")
    assert METHODS[-5:] == prompting
    for row in prompting:
        made = registry.METHODS.load(row)
        plan = made.plan(made.Hyperparameters())
        assert plan.prompting is not None
        assert (plan.shared, plan.personal, PAPER[row].federates) == (None, None, False)


def test_the_parts_of_a_request() -> None:
    parts = {"sheet": "SHEET", "persona": "PERSONA", "passages": ["PASSAGE"]}
    expected = {
        "average_author": set(),
        "retrieval": {"PASSAGE"},
        "sheet_retrieval": {"SHEET", "PERSONA", "PASSAGE"},
        "sheet_retrieval_without_persona": {"SHEET", "PASSAGE"},
        "sheet": {"SHEET", "PERSONA"},
    }
    for row, wanted in expected.items():
        made = registry.METHODS.load(row)
        request = continuation_request(made.plan(made.Hyperparameters()).prompting, "PREFIX", **parts)
        said = f"{request.system} {request.user}"
        assert {part for part in ("SHEET", "PERSONA", "PASSAGE") if part in said} == wanted, row
        assert request.lead == "PREFIX"
        assert ("average" in request.system) == (row == "average_author")
    with pytest.raises(ValueError, match="persona"):
        Prompting(persona=True)
    with pytest.raises(ValueError, match="belong together"):
        Plan("prompted")


def test_requests_hold_the_clients_own_training_texts_and_end_with_the_prompts_tokens(longer, texts, prompts) -> None:
    base = load_base(str(longer), device="cpu")
    sheets = pd.DataFrame({"client": prompts["client"], "sheet": ["s1", "s2"], "persona": ["You are 1", "2"]})
    prompting = Prompting(passages=True, sheet=True, persona=True)
    table, tokens = prompted_requests(base, prompting, prompts, texts, sheets, LENGTHS)
    assert table["documents"].tolist() == [["a2"], ["b1"]]  # never a3, which is outside the budget, nor the test text
    first = table["request"].iloc[0]
    assert first.startswith("You are 1\n\n")
    assert "s1" in first
    assert "s2" not in first
    assert "another author" not in first
    assert tokens[0][-3:] == [11, 12, 13]
    assert tokens[1][-2:] == [14, 15]
    assert table["tokens"].tolist() == [len(row) for row in tokens]
    assert base.tokenizer.decode(tokens[0][:-3]) == first.removesuffix("a dog")
    with pytest.raises(UserError, match="client_002 has none"):
        prompted_requests(base, prompting, prompts, texts, sheets[:1], LENGTHS)


def with_template(model, folder, template) -> ChatTokens:
    """The model's requests in words, by a chat template of its own."""
    shutil.copytree(model, folder)
    path = folder / "tokenizer_config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "chat_template": template}))
    return ChatTokens(load_base(str(folder), device="cpu"))


def test_a_model_with_a_template_is_asked_in_it(longer, texts, prompts, tmp_path) -> None:
    folder = tmp_path / "chat"
    base = with_template(longer, folder, TEMPLATE).base
    table, tokens = prompted_requests(base, Prompting(), prompts, texts, None, LENGTHS)
    said = base.tokenizer.decode(tokens[0])
    assert said.startswith("[system] You are an average author")
    assert said.endswith("\n\na dog >")
    assert table["documents"].tolist() == [[], []]
    plain = load_base(str(folder), device="cpu", chat="plain")
    again, tokens = prompted_requests(plain, Prompting(), prompts, texts, None, LENGTHS)
    assert again["request"].tolist() == table["request"].tolist()
    assert plain.tokenizer.decode(tokens[0]).startswith("You are an average author")


PASSES = "{% for m in messages %}{% if m.role == 'ROLE' %}[user] {{ m.content | trim }} {% endif %}{% endfor %}>"
REFUSES = (
    "{% for m in messages %}{% if m.role != 'ROLE' %}{{ raise_exception('no ' + m.role) }}{% endif %}"
    "[{{ m.role }}] {{ m.content }} {% endfor %}>"
)


@pytest.mark.parametrize(
    ("template", "role", "said"),
    [
        (PASSES, "user", "[user] Be brief. \n\nHello >"),
        (PASSES, "nobody", r"\(it leaves out what it is given\)"),
        (REFUSES, "user", "[user]  Be brief. \n\nHello\n >"),
        (REFUSES, "nobody", r"\(no user\)"),
    ],
)
def test_a_template_without_a_systems_turn(longer, tmp_path, template, role, said) -> None:
    """What the system says opens the user's turn, else it would be gone and nothing would say so."""
    chat = with_template(longer, tmp_path / "chat", template.replace("ROLE", role))
    if role == "user":
        assert chat.base.tokenizer.decode(chat.encode(" Be brief. ", "Hello\n")) == said
    else:
        with pytest.raises(UserError, match=rf"its chat template cannot be used {said}; set base_models"):
            chat.encode("Be brief.", "Hello")


def test_a_template_is_read_with_the_tokenizer_of_training(longer, tmp_path) -> None:
    """``AutoTokenizer`` splits numbers and spaces of a model of Qwen2's kind otherwise than its tokenizer.json does."""
    chat = with_template(longer, tmp_path / "chat", TEMPLATE)
    said = "[system] Be brief. [user] the fox  jumps in 2004 >"
    tokens = chat.encode("Be brief.", "the fox  jumps in 2004")
    assert tokens == chat.base.tokenizer.encode(said)


def test_a_template_that_is_insisted_on_must_be_there(longer, texts, prompts) -> None:
    base = load_base(str(longer), device="cpu", chat="template")
    with pytest.raises(UserError, match=r"no chat template among its files .* set base_models.<name>.chat to plain"):
        prompted_requests(base, Prompting(), prompts, texts, None, LENGTHS)


def test_sheets_are_made_of_training_texts_within_the_budget(longer, texts, monkeypatch) -> None:
    base = load_base(str(longer), device="cpu")
    asked = []

    def answer(base, lora, requests, new_tokens, penalty, rows) -> list[list[int]]:
        asked.append([base.tokenizer.decode(request.prompt_tokens) for request in requests])
        return [base.tokenizer.encode(f"{request.name[-1]} of {new_tokens}") for request in requests]

    monkeypatch.setattr("favor.studies.prompting.requests.generate", answer)
    sheets = distil_sheets(base, texts, LENGTHS, 1.1, 8)
    assert sheets["client"].tolist() == ["client_001", "client_002"]
    assert sheets["sheet"].tolist() == ["1 of 4", "2 of 4"]
    assert sheets["persona"].tolist() == ["You are 1 of 3", "You are 2 of 3"]
    assert sheets["texts"].tolist() == [2, 1]
    assert "1 of 4" in asked[1][0]  # the persona is made from the sheet
    assert not [said for said in asked[0] if "outside" in said or "nothing" in said]
    again = distil_sheets(base, texts.sample(frac=1, random_state=1), LENGTHS, 1.1, 8)
    assert asked[2] == asked[0]
    pd.testing.assert_frame_equal(again, sheets)


def test_a_client_without_text_and_a_context_too_short_are_refused(longer, texts) -> None:
    base = load_base(str(longer), device="cpu")
    with pytest.raises(UserError, match="client_001 has no training text"):
        distil_sheets(base, texts.assign(training_text=""), LENGTHS, 1.1, 8)
    sizes = {"passages": 2, "passage_tokens": 10, "sheet_tokens": 40, "persona_tokens": 8}
    sizes |= {"sheet_texts": 3, "sheet_text_tokens": 20}
    made = experiment(prompting=sizes, prompts={"prefix_tokens": 16}, generation={"max_new_tokens": 32})
    # Wording 128, prefix 16, continuation 32, passages 20, sheet 40, persona 8.
    everything = Prompting(passages=True, sheet=True, persona=True)
    check_context("row", everything, made, 244)
    with pytest.raises(UserError, match="row: its prompts need up to 244 tokens"):
        check_context("row", everything, made, 243)
    check_context("row", Prompting(), made, 176)
    check_sheet_context("sheets", made, 228)  # 128 + 3 * 20 + 40
    with pytest.raises(UserError, match="up to 228 tokens"):
        check_sheet_context("sheets", made, 227)


def test_the_check_marks_are_the_papers() -> None:
    paper = experiment()
    values = load_paper_values("prompting_retrieval_baselines").set_index(["row", "column"])["text"]
    spec = printed_spec("prompting_retrieval_baselines")
    for row in spec.rows:
        module, plan, hyperparameters = load_method(row.method, {}, paper)
        found = run_check(plan, paper, module, hyperparameters)
        for column in spec.panels[0].columns[:5]:
            assert "✓✗"[not found[column.setting]] == values[row.label, column.label], (row.label, column.label)
