"""Continuations that were made elsewhere: whole files are taken as they are, broken ones stop with one line."""

import json
from pathlib import Path

import pandas as pd
import pytest
import torch

from favor.federation.inference import distinct, foreign_adapters
from favor.federation.outside import given_outputs, prompts_to_answer
from favor.foundation.errors import UserError
from favor.inference.generation import GenerationRequest
from favor.lm.lora import export_peft
from favor.lm.settings import Lora

A, B = "client_001", "client_002"


@pytest.fixture
def asked() -> list:
    rows = [(A, "p1", "When I was young", 1), (B, "p2", "The sea is", 1)]
    rows += [(A, "p3", "Today we drove", 2), (B, "p4", "My cat", 2)]
    own = pd.DataFrame(rows, columns=["client", "prompt_id", "prompt_text", "seed"])
    return prompts_to_answer(own, pd.DataFrame({"prompt_id": ["c1"], "prompt_text": ["Dear diary of mine"]}))


def rows() -> list[dict]:
    """Answers to every prompt of seed 1."""
    answers = [("p1", A, "a dog"), ("p2", B, "blue"), ("c1", A, "I slept"), ("c1", B, "I ate")]
    return [{"prompt": prompt, "author": author, "text": text} for prompt, author, text in answers]


def write(path, lines) -> Path:
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return path


def test_answers_by_id_or_text_and_common_ones_for_every_seed(asked, tmp_path) -> None:
    lines = rows()
    lines[0]["prompt"] = "When I was young"
    later = (("p3", A, "home"), ("p4", B, ""))
    lines += [{"prompt": prompt, "author": author, "text": text, "seed": 2} for prompt, author, text in later]
    path = write(tmp_path / "a.jsonl", lines)
    first = given_outputs(path, asked, 1)
    assert first.to_numpy().tolist() == [
        [A, "c1", 0, "I slept", True],
        [A, "p1", 0, "a dog", False],
        [B, "c1", 0, "I ate", True],
        [B, "p2", 0, "blue", False],
    ]
    second = given_outputs(path, asked, 2)
    assert second["prompt_id"].tolist() == ["c1", "p3", "c1", "p4"]
    table = pd.DataFrame(lines).astype({"seed": "Int64"})
    table.to_csv(tmp_path / "a.csv", index=False)
    table.to_parquet(tmp_path / "a.parquet")
    for name in ("a.csv", "a.parquet"):
        pd.testing.assert_frame_equal(given_outputs(tmp_path / name, asked, 1), first)


def test_samples_and_seeds_of_common_prompts(asked, tmp_path) -> None:
    lines = [*rows(), {**rows()[0], "text": "a cat", "sample": 1}]
    lines[2] |= {"seed": 2}  # this answer is not seed 1's
    lines.append({**rows()[2], "seed": 1, "text": "I woke"})
    found = given_outputs(write(tmp_path / "a.jsonl", lines), asked, 1).set_index(["prompt_id", "client", "sample"])
    assert found.loc[("p1", A, 1), "text"] == "a cat"
    assert found.loc[("c1", A, 0), "text"] == "I woke"


def test_the_list_of_prompts_becomes_answers_by_a_text(asked, tmp_path) -> None:
    lines = [{**json.loads(each.line), "text": "and then"} for each in asked]
    for seed in (1, 2):
        assert len(given_outputs(write(tmp_path / "a.jsonl", lines), asked, seed)) == 4


@pytest.mark.parametrize(
    ("line", "change", "message"),
    [
        (0, {"prompt": "p9"}, "line 1: no prompt has the id or the text 'p9'"),
        (0, {"author": B}, "line 1: the prompt is not one of author 'client_002' but of client_001"),
        (0, {"seed": 2}, "line 1: seed 2 does not ask this prompt"),
        (2, {"seed": 7}, "line 3: seed 7 does not ask this prompt"),
        (0, {"text": "When I\nwas  YOUNG, a dog"}, "line 1: the text begins with its prompt"),
        (0, {"text": None}, r"line 1: 'text' is null; write the text \(\"\" where it is empty\)"),
        (0, {"text": 7}, "line 1: column 'text' holds a value of type int, not text; store the"),
        (0, {"sample": "x"}, "line 1: sample 'x' is not a whole number"),
        (0, {"sample": 1}, "prompt 'p1' of client_001 has a sample 1 and no sample 0"),
        (slice(None), {"sample": 1}, "no sample 0; number the samples of every prompt from"),
        (0, {"sample": 2**31}, "line 1: sample '2147483648' is not a whole number from 0 to"),
        (0, {"sample": "1" * 5000}, "line 1: sample '1111"),
    ],
)
def test_what_does_not_fit_stops_with_the_row(asked, tmp_path, line, change, message) -> None:
    lines = rows()
    for each in lines[line] if isinstance(line, slice) else [lines[line]]:
        each.update(change)
    with pytest.raises(UserError, match=message):
        given_outputs(write(tmp_path / "a.jsonl", lines), asked, 1)


def test_what_is_missing_or_there_twice_stops_with_the_row(asked, tmp_path) -> None:
    (textless, *rest), whole = rows(), rows()
    del textless["text"]
    for lines, message in (
        (whole[:-1], "1 of 4 prompts of seed 1 have no row, first 'c1' of client_002"),
        ([*whole, whole[0]], "line 5 answers what line 1 answers; number them under 'sample'"),
        ([textless, *rest], "line 1: key 'text' is missing"),
    ):
        with pytest.raises(UserError, match=message):
            given_outputs(write(tmp_path / "a.jsonl", lines), asked, 1)


def test_a_chinese_answer_that_repeats_its_prompt_is_refused(tmp_path) -> None:
    own = pd.DataFrame([{"client": A, "prompt_id": "p", "prompt_text": "今天天气很好我们去公园散步", "seed": 1}])
    chinese = prompts_to_answer(own, pd.DataFrame(columns=["prompt_id", "prompt_text"]))
    lines = [{"prompt": "p", "author": A, "text": "然后回家"}]
    assert given_outputs(write(tmp_path / "a.jsonl", lines), chinese, 1)["text"].tolist() == ["然后回家"]
    lines[0]["text"] = "今天天气很好，我们去公园散步然后回家"
    with pytest.raises(UserError, match="line 1: the text begins with its prompt"):
        given_outputs(write(tmp_path / "a.jsonl", lines), chinese, 1)


def test_a_post_that_two_seeds_draw_is_answered_by_its_text_under_both(tmp_path) -> None:
    own = pd.DataFrame(
        [{"client": A, "prompt_id": f"p{seed}", "prompt_text": "When I was young", "seed": seed} for seed in (1, 2)]
    )
    both = prompts_to_answer(own, pd.DataFrame(columns=["prompt_id", "prompt_text"]))
    lines = [{"prompt": "When I was young", "author": A, "text": f"of {seed}", "seed": seed} for seed in (1, 2)]
    for seed in (1, 2):
        found = given_outputs(write(tmp_path / "a.jsonl", lines), both, seed)
        assert found[["prompt_id", "text"]].to_numpy().tolist() == [[f"p{seed}", f"of {seed}"]]


def test_numbers_that_pandas_made_floats_and_half_an_emoji_are_read(asked, tmp_path) -> None:
    lines = [{**line, "seed": 1.0 if line["prompt"] != "c1" else None, "sample": 0.0} for line in rows()]
    lines[0]["text"] = "half \ud83d"
    found = given_outputs(write(tmp_path / "a.jsonl", lines), asked, 1)
    assert found.loc[found["prompt_id"] == "p1", "text"].item().encode()  # can be stored
    table = pd.DataFrame(rows()).assign(seed=[1.0, 1.0, None, None])
    table.to_parquet(tmp_path / "a.parquet")
    assert len(given_outputs(tmp_path / "a.parquet", asked, 1)) == 4


def test_adapters_go_by_the_names_of_their_folders(tmp_path) -> None:
    settings = Lora(rank=1, alpha=2, dropout=0.0, target_modules=("q_proj",))
    for number, client in enumerate((A, B)):
        shapes = {"A": (1, 3), "B": (2, 1)}
        name = "base_model.model.layers.0.q_proj.lora_{}.weight"
        state = {name.format(factor): torch.full(shape, float(number)) for factor, shape in shapes.items()}
        export_peft(state, settings, "base", tmp_path / client)
    files = [str(path) for path in sorted(tmp_path.glob("*/adapter_*"))]
    adapters, found = foreign_adapters(files, [A, B])
    assert (found.rank, found.scaling) == (1, 2.0)
    assert {float(tensor.mean()) for tensor in adapters[B].state.values()} == {1.0}
    with pytest.raises(UserError, match="no adapter is named 'client_003'"):
        foreign_adapters(files, [A, B, "client_003"])
    with pytest.raises(UserError, match="no client is named 'client_002'"):
        foreign_adapters(files, [A])


def test_requests_that_give_one_text_are_made_once() -> None:
    shared, own = {}, {}
    asked = [GenerationRequest(name, [1, 2], own if name == "b" else shared) for name in "abc"]
    asked.append(GenerationRequest("d", [1, 3], shared))
    asked.append(GenerationRequest("e", [1, 2], shared, stream=(1, "m", "p", 0)))
    asked += [GenerationRequest(name, [1, 2], shared, own, gate) for name, gate in (("f", 0.5), ("g", 0.6))]
    gates = {"u": torch.ones(1)}, {"u": torch.zeros(1)}
    asked += [GenerationRequest(name, [1, 2], shared, own, token_gate=gates[name == "i"]) for name in "hij"]
    kept, places = distinct(asked)
    assert [one.name for one in kept] == ["a", "b", "d", "e", "f", "g", "h", "i"]
    assert places == [0, 1, 0, 2, 3, 4, 5, 6, 7, 6]
