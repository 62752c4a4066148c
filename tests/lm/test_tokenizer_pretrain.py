"""The byte-level BPE and the small Qwen2 trained from scratch."""

import json

import pytest
import torch

from favor.foundation.errors import UserError
from favor.lm.base import load_base
from favor.lm.pretrain import pretrain
from favor.lm.settings import ModelTraining
from favor.lm.tokenizer import END_TOKEN, PAD_TOKEN, load_tokenizer, train_tokenizer
from favor.running.jobs.progress import Progress

TEXTS = [
    f"{name} went to the {place} on day {number}, and {name} liked the {place} very much!"
    for number, (name, place) in enumerate([("ann", "market"), ("bob", "harbour"), ("eve", "mill")] * 20)
]
TINY = ModelTraining(
    hidden_size=32,
    layers=1,
    heads=2,
    key_value_heads=1,
    intermediate_size=48,
    context_length=64,
    sequence_length=32,
    tokens=12_000,
    batch_size=4,
    learning_rate=1e-2,
)


@pytest.fixture(autouse=True)
def enough_is_held_out(monkeypatch) -> None:
    monkeypatch.setattr("favor.lm.pretrain.HELD_OUT_FRACTION", 0.1)


def test_tokenizer_round_trips_any_text_and_is_deterministic(tmp_path) -> None:
    tokenizer = train_tokenizer(TEXTS, 320, tmp_path / "one")
    train_tokenizer(iter(TEXTS), 320, tmp_path / "two")
    for name in ("tokenizer.json", "tokenizer_config.json"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    for text in (TEXTS[0], " two  spaces\n\ttab", "naïve café 😀 中文", "", "a <|endoftext|> inside"):
        assert tokenizer.decode(tokenizer.encode(text)) == text
        assert load_tokenizer(str(tmp_path / "one")).encode(text) == tokenizer.encode(text)
    assert tokenizer.encode_many(TEXTS[:3]) == [tokenizer.encode(text) for text in TEXTS[:3]]
    assert (tokenizer.token_id(PAD_TOKEN), tokenizer.token_id(END_TOKEN)) == (0, 1)
    assert tokenizer.vocabulary_size == 320
    # A post that spells the end token out does not contain one.
    assert 1 not in tokenizer.encode("a <|endoftext|> inside")


def test_transformers_loads_the_tokenizer(tmp_path) -> None:
    from transformers import AutoTokenizer

    tokenizer = train_tokenizer(TEXTS, 300, tmp_path)
    theirs = AutoTokenizer.from_pretrained(tmp_path)
    assert theirs(TEXTS[4])["input_ids"] == tokenizer.encode(TEXTS[4])
    assert (theirs.pad_token, theirs.eos_token) == (PAD_TOKEN, END_TOKEN)


def test_too_small_vocabulary_and_missing_tokenizer_are_refused(tmp_path) -> None:
    with pytest.raises(UserError, match="need 258"):
        train_tokenizer(TEXTS, 257, tmp_path)
    with pytest.raises(UserError, match=r"tokenizer\.json: file not found"):
        load_tokenizer(str(tmp_path))
    (tmp_path / "tokenizer.json").write_text("{")
    with pytest.raises(UserError, match="not a complete tokenizer"):
        load_tokenizer(str(tmp_path))


def test_pretraining_learns_and_is_deterministic(tmp_path) -> None:
    torch.set_num_threads(1)
    train_tokenizer(TEXTS, 320, tmp_path / "tokenizer")
    progress = Progress("pretraining", TINY.tokens, "tokens")
    report = pretrain(TEXTS, tmp_path / "tokenizer", TINY, 1, tmp_path / "one", progress)
    again = pretrain(TEXTS, tmp_path / "tokenizer", TINY, 1, tmp_path / "two")
    assert report == again
    # 12,000 / (4 * 32) = 93.75 batches.
    assert (report.steps, report.tokens, progress.done) == (94, 94 * 128, 94 * 128)
    # Chance is log 320 = 5.77 nats.
    assert report.held_out_loss < 3.0
    names = sorted(path.name for path in (tmp_path / "one").iterdir())
    assert {"config.json", "model.safetensors", "tokenizer.json"} < set(names)
    for name in names:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    other = pretrain(TEXTS, tmp_path / "tokenizer", TINY, 2, tmp_path / "two")
    assert other.held_out_loss != report.held_out_loss
    base = load_base(str(tmp_path / "one"), device="cpu")
    assert (base.context, base.end_ids) == (64, (1,))
    assert json.loads((tmp_path / "one" / "config.json").read_text())["pad_token_id"] == 0


def test_bfloat16_comes_close(tmp_path) -> None:
    train_tokenizer(TEXTS, 320, tmp_path)
    small = TINY.model_copy(update={"tokens": 2_000})
    exact = pretrain(TEXTS, tmp_path, small, 1, tmp_path / "a")
    rounded = pretrain(TEXTS, tmp_path, small.model_copy(update={"precision": "bfloat16"}), 1, tmp_path / "b")
    assert rounded.held_out_loss == pytest.approx(exact.held_out_loss, rel=0.02)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"batch_size": 500}, "a batch needs 500"),
        ({"heads": 3}, "must be a multiple"),
        ({"sequence_length": 65}, "must not exceed context_length"),
        ({"learning_rate": 1e30}, "not finite"),
    ],
)
def test_impossible_settings_are_refused(tmp_path, changed, message) -> None:

    train_tokenizer(TEXTS, 300, tmp_path)
    with pytest.raises(UserError, match=message):
        pretrain(TEXTS, tmp_path, TINY.model_copy(update=changed), 1, tmp_path / "model")
    assert not (tmp_path / "model" / "config.json").exists()
