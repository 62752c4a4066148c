"""What a tokenizer puts before a text stands before every piece that is trained on and every prompt, as with Gemma."""

import dataclasses
import shutil
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from tests.lm.conftest import SENTENCES, plain_continuation
from tokenizers import Tokenizer
from tokenizers.processors import TemplateProcessing

from favor.federation.gates import ClientGate
from favor.federation.inference import adapted_requests
from favor.federation.local import client_pieces, continued, validation_pieces
from favor.federation.settings import StagePieces
from favor.foundation.errors import UserError
from favor.inference.chat import ChatTokens
from favor.inference.generation import generate
from favor.lm.base import BaseModel, load_base
from favor.lm.settings import ALL_LINEAR, Training, Validation
from favor.lm.tasks import Piece
from favor.lm.tokenizer import language_model_text
from favor.studies.privacy.losses import first_pieces, secret_pieces
from favor.studies.settings import TextCutting

PAD, END = 0, 1
PIECES = {"max_length": 12, "pieces": "windows", "supervised": "response"}


def training(prefix=4, **keys) -> StagePieces:
    return StagePieces(prefix_tokens=prefix, training=Training(**{**PIECES, **keys}))


TRAINING = training()


@pytest.fixture(scope="module")
def opened(model_folder, tmp_path_factory) -> BaseModel:
    """The tiny model with a tokenizer that puts <|pad|> before a text and an end token behind it."""
    folder = tmp_path_factory.mktemp("opened") / "model"
    shutil.copytree(model_folder, folder)
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.post_processor = TemplateProcessing(
        single="<|pad|> $A <|endoftext|>", special_tokens=[("<|pad|>", PAD), ("<|endoftext|>", END)]
    )
    tokenizer.save(str(folder / "tokenizer.json"))
    return load_base(str(folder), device="cpu")


@pytest.fixture
def texts() -> pd.DataFrame:
    rows = [("anna", f"d{n}", "", text, text, 9, "train") for n, text in enumerate(SENTENCES)]
    return pd.DataFrame(
        rows, columns=["client", "document_id", "prompt", "training_text", "text", "allocated_words", "split"]
    )


def test_training_pieces_begin_with_it(base, opened, texts) -> None:
    plain = client_pieces(base, texts, "anna", training(max_length=11))
    pieces = client_pieces(opened, texts, "anna", TRAINING)
    assert [piece.tokens.tolist() for piece in pieces] == [[PAD, *piece.tokens.tolist()] for piece in plain]
    assert [piece.response_start for piece in pieces] == [piece.response_start + 1 for piece in plain]
    with pytest.raises(UserError, match=r"training.max_length: 5 tokens hold no more than the prefix of 4 .* \(1\)"):
        client_pieces(opened, texts, "anna", training(max_length=5))


def test_the_words_of_a_writing_prompt_are_not_learnt(opened, texts) -> None:
    """Neither in training nor in an audit, with a prompt that is longer than the prefix and than half of the text."""
    prompt, story = "the quick brown fox and the lazy dog", "once there was"
    one = texts.iloc[:1].assign(prompt=prompt, training_text=story, text=story)
    (piece,) = client_pieces(opened, one, "anna", training(max_length=60))
    assert opened.tokenizer.decode(piece.tokens[1:].tolist()) == f"{prompt}\n\n{story}"
    assert opened.tokenizer.decode(piece.tokens[piece.response_start :].tolist()) == story
    audit = TextCutting(prefix_tokens=4, max_length=60, pieces="windows")
    (again,) = first_pieces(opened, one, "text", audit)["anna"]
    assert (again.tokens.tolist(), again.response_start) == (piece.tokens.tolist(), piece.response_start)


def test_a_writing_prompt_that_fills_a_piece(opened, texts) -> None:
    """Windows go on with the text, for training and audit alike; a piece of all tokens is learnt; else none is left."""
    one = texts.iloc[:1].assign(prompt="the quick brown fox and the lazy dog " * 4, training_text="once there was")
    length = len(opened.tokenizer.encode(one["prompt"].item())) // 2 + 10

    def cut(**keys) -> list[Piece]:
        return client_pieces(opened, one, "anna", training(max_length=length, **keys))

    first, *_ = pieces = cut()
    learnt = np.concatenate([piece.tokens[piece.response_start :] for piece in pieces]).tolist()
    assert opened.tokenizer.decode(learnt) == "once there was"
    audit = TextCutting(prefix_tokens=4, max_length=length, pieces="windows")
    (read,) = first_pieces(opened, one, "training_text", audit)["anna"]
    assert read.tokens.tolist() == first.tokens.tolist()
    assert first_pieces(opened, one, "training_text", audit.model_copy(update={"pieces": "truncate"})) == {"anna": []}
    assert len(cut(pieces="truncate", supervised="all")) == 1
    with pytest.raises(UserError, match=r"no text to train on; raise .* training.max_length where writing prompts"):
        cut(pieces="truncate")


def test_of_a_validation_text_the_first_piece_is_read(opened, texts) -> None:
    """Also where its writing prompt fills what "truncate" would keep."""
    held_out = texts.iloc[:2].assign(split="validation", client="anna", document_id=["d1", "d2"])
    held_out["prompt"] = ["", "the quick brown fox and the lazy dog " * 4]
    held_out["text"] = "once there was a dog and then another one"
    settings = training(max_length=30, validation=Validation(texts_per_client=2))
    cut = continued(opened, held_out, "text", settings)
    pieces = validation_pieces(opened, held_out, "anna", settings, 1)
    assert len(cut) > 2 == len(pieces)
    found = {piece.document_id: piece.tokens.tolist() for piece in pieces}
    assert found == {piece.document_id: piece.tokens.tolist() for piece in reversed(cut)}
    assert validation_pieces(opened, held_out, "anna", training(max_length=30), 1) == []


def test_a_text_beyond_the_models_context_is_refused(opened, texts) -> None:
    short = dataclasses.replace(opened, context=8)
    with pytest.raises(UserError, match=r"a text has 12 tokens of 12, but model '.*' reads 8 at most; lower it"):
        client_pieces(short, texts, "anna", TRAINING)


def test_prompts_are_continued_as_transformers_continues_their_text(opened) -> None:
    from transformers import AutoModelForCausalLM, AutoTokenizer

    prompt = "the quick brown fox"
    prompts = pd.DataFrame({"client": ["anna"], "prompt_id": ["p"], "prompt_tokens": [opened.tokenizer.encode(prompt)]})
    asked, _ = adapted_requests(opened, ALL_LINEAR, prompts, {"anna": None})
    (found,) = generate(opened, ALL_LINEAR, asked, 12)
    ids = AutoTokenizer.from_pretrained(opened.source)(prompt, return_tensors="pt")["input_ids"][:, :-1]
    assert ids[0, 0] == PAD
    model = AutoModelForCausalLM.from_pretrained(opened.source)
    assert found == plain_continuation(model, ids[0].tolist())


def test_requests_in_words_secrets_and_losses_begin_with_it(base, opened, texts) -> None:
    plain, begun = (ChatTokens(model).encode("Be brief.", "Hello", [7, 8]) for model in (base, opened))
    assert begun == [PAD, *plain]
    audit = TextCutting(prefix_tokens=4, max_length=12, pieces="windows")
    assert all(piece.tokens[0] == PAD for piece in first_pieces(opened, texts, "text", audit)["anna"])
    one, other = (
        secret_pieces(model, ["1234", "5678"], audit.model_copy(update={"max_length": length}))[0][-1]
        for model, length in ((base, 120), (opened, 121))
    )
    assert other.tokens.tolist() == [PAD, *one.tokens.tolist()]
    assert other.response_start == one.response_start + 1


@pytest.mark.parametrize("states", ["prefix", "text"])
def test_gates_see_it(opened, texts, monkeypatch, states) -> None:
    seen = []
    monkeypatch.setattr(
        "favor.federation.gates.last_token_states", lambda base, lora, shared, sequences: seen.extend(sequences)
    )
    mixture = SimpleNamespace(states=states)
    gate = SimpleNamespace(base=opened, lora=None, shared=None, settings=TRAINING, mixture=mixture)
    ClientGate._states(gate, texts, "text")
    longest = 1 + 4 if states == "prefix" else 12
    expected = [opened.tokenizer.encode(language_model_text("", text)) for text in SENTENCES]
    assert seen == [[PAD, *tokens][:longest] for tokens in expected]
