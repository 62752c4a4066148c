"""What the untouched base makes of clients' passages, and the pieces that are made of it."""

import pandas as pd
import pytest
from tests.voice.conftest import chatting, neutral, wide  # noqa: F401 - fixtures

from favor.federation.local import answering, continued, cut_of
from favor.federation.method import POOLED
from favor.federation.schemas import REQUESTS
from favor.foundation.errors import UserError
from favor.foundation.parquet import write_row_groups
from favor.inference.chat import ChatTokens
from favor.lm.base import BaseModel, load_base
from favor.studies.tasks import drafting
from favor.studies.tasks.requesting import make_requests
from favor.studies.tasks.requests import REQUESTS as KINDS

REWRITE = KINDS["rewrite"]
PASSAGE = "The cat of {} sat on the mat, and it looked at all the birds that flew over the green hills of {} today."


@pytest.fixture
def base(wide, monkeypatch) -> BaseModel:  # noqa: F811
    """A base whose texts open with a token, and whose drafts are made by hand: a passage of "copy" is repeated."""

    def answers(base, lora, states, system, asked) -> dict:
        assert (states, system) == ({"base": None}, REWRITE.system)
        texts = [each.removeprefix(REWRITE.make) for each in asked]
        return {"base": [(text if "copy" in text else neutral(text), True) for text in texts]}

    monkeypatch.setattr(drafting, "ask", answers)
    found = load_base(str(wide / "base"), device="cpu")
    found.__dict__["opening"] = (1,)
    return found


def texts(*rows) -> pd.DataFrame:
    """Table ``client_texts`` of (client, document, split, text); of training texts the first passage is allocated."""
    frame = pd.DataFrame(rows, columns=["client", "document_id", "split", "text"])
    trained = [text.split("\n\n")[0] if split == "train" else "" for *_, split, text in rows]
    return frame.assign(topic="t", prompt="", words=20, allocated_words=[20 * bool(each) for each in trained]).assign(
        training_text=trained
    )


def passage(*names) -> str:
    return PASSAGE.format(*names)


def rows(*more) -> pd.DataFrame:
    """Two clients with a training text of two passages, of which one is allocated, and a held-out text."""
    own = [
        (client, f"{client}1", "train", "\n\n".join([passage(client, place) for place in ("one", "two", "six", "ten")]))
        for client in ("anna", "bert")
    ]
    return texts(*own, ("anna", "a2", "test", passage("ghent", "rome")), ("bert", "b2", "test", "Too short."), *more)


def test_allocated_passages_and_held_out_texts_have_requests_in_the_models_form(base) -> None:
    found = make_requests(base, rows(), REWRITE, 512)
    assert found[["client", "document_id", "passage", "split", "text"]].values.tolist() == [
        ["anna", "a2", 0, "test", passage("ghent", "rome")],
        ["anna", "anna1", 0, "train", passage("anna", "one")],
        ["bert", "bert1", 0, "train", passage("bert", "one")],
    ]
    assert set(found["refused"]) == {""}
    chat = ChatTokens(base)
    for row in found.itertuples():
        assert row.draft == neutral(row.text)
        # The opening is put before where it is read.
        assert [1, *row.prompt_tokens] == chat.encode(REWRITE.ask, row.draft)
        assert row.answer_tokens == [*base.tokenizer.encode(row.text), base.end_ids[0]]


def test_pieces_are_of_the_clients_own_documents_and_supervise_the_answer_alone(base, tmp_path) -> None:
    given = rows()
    found = make_requests(base, given, REWRITE, 512)
    write_row_groups(found, tmp_path / "requests.parquet", REQUESTS, "client")
    for clients in (["anna"], ["bert"], [POOLED]):
        own = given if clients == [POOLED] else given[given["client"].isin(clients)]
        pieces = cut_of([str(tmp_path / "requests.parquet")], clients)(base, own, "training_text", None)  # type: ignore[arg-type]
        wanted = found[(found["split"] == "train") & found["client"].isin(own["client"])]
        assert [piece.document_id for piece in pieces] == wanted["document_id"].tolist()
        for piece, row in zip(pieces, wanted.itertuples(), strict=True):
            assert piece.tokens.tolist() == [1, *row.prompt_tokens, *row.answer_tokens]
            assert piece.tokens[piece.response_start :].tolist() == list(row.answer_tokens)
    held_out = given[given["split"] == "test"]
    assert [piece.document_id for piece in answering(found)(base, held_out, "text", None)] == ["a2"]  # type: ignore[arg-type]
    assert cut_of([], ["anna"]) is continued


def test_a_copy_and_what_fits_no_piece_are_kept_and_refused(base) -> None:
    found = make_requests(base, rows(("anna", "a3", "test", passage("copy", "rome"))), REWRITE, 512)
    assert dict(zip(found["document_id"], found["refused"], strict=True))["a3"] == "copied"
    assert not len(answering(found)(base, rows(("anna", "a3", "test", "x")).iloc[[-1]], "text", None))  # type: ignore[arg-type]
    lengths = 1 + found["prompt_tokens"].str.len() + found["answer_tokens"].str.len()
    longest = int(lengths[found["refused"] == ""].max())
    again = make_requests(base, rows(), REWRITE, longest)
    assert set(again["refused"]) == {""}
    with pytest.raises(UserError, match=r"task: anna \(of 2 such clients\) has no draft to train on .*: .*fit a"):
        make_requests(base, rows(), REWRITE, int(lengths.min()) - 1)


def test_what_cannot_be_asked_is_refused_before_anything_is_made(base) -> None:
    with pytest.raises(UserError, match="texts that answer writing prompts are only continued; set it to continue"):
        make_requests(base, rows().assign(prompt="Write of a cat."), REWRITE, 512)
    with pytest.raises(UserError, match="has no chat template, and instructions need one"):
        make_requests(base, rows(), KINDS["instruct"], 512)


def test_a_client_without_a_draft_is_named(base) -> None:
    only = rows(("carl", "c1", "train", passage("copy", "rome")))
    with pytest.raises(UserError, match=r"task: carl \(of 1 such clients\).*refused: 1 repeat 5 words in a row"):
        make_requests(base, only, REWRITE, 512)


def test_instructions_are_asked_in_the_chat_template(chatting, monkeypatch) -> None:  # noqa: F811
    monkeypatch.setattr(
        drafting,
        "ask",
        lambda base, lora, states, system, asked: {"base": [(" ".join(each.split()[-22::3]), True) for each in asked]},
    )
    base, instruct = load_base(str(chatting), device="cpu"), KINDS["instruct"]
    found = make_requests(base, rows(), instruct, 512)
    assert set(found["refused"]) == {""}
    for row in found.itertuples():
        request = f"(system) {instruct.ask}\n(user) {row.draft}\n(assistant) "
        assert base.tokenizer.decode(row.prompt_tokens) == request
        assert row.answer_tokens == [*base.tokenizer.encode(row.text), base.end_ids[0]]
