"""``favor voice write`` and ``favor voice report`` on a small voice."""

import json

import pandas as pd
import pytest
from tests.scores.copied_voices import written as text_of
from tests.tables.test_html import parsed
from tests.voice.conftest import Trigrams, command, refusal, write_others

from favor.corpora.schemas import CLIENT_TEXTS
from favor.foundation.file_identity import content
from favor.foundation.parquet import read_parquet
from favor.inference.generation import GenerationRequest, generate
from favor.lm.base import load_base
from favor.lm.peft_import import import_peft
from favor.voice.report import scores
from favor.voice.score import VoiceScore


def test_every_model_goes_on_from_the_same_words(toy, trained, capsys) -> None:
    command("write", "Today I saw", "--about", "A day", "--tokens", 12, "--voice", trained, "--json")
    found = json.loads(capsys.readouterr().out)
    base = load_base(str(toy / "base"), device="cpu")
    states, lora = import_peft([trained / "own"])
    prompt = base.tokenizer.encode("A day\n\nToday I saw")
    for name, state in (("base", None), ("own", states["own"])):
        (tokens,) = generate(base, lora, [GenerationRequest(name, prompt, state)], 12)
        assert found[name] == base.tokenizer.decode(tokens)
    command("write", "Today I saw", "--tokens", 12, "--voice", trained)
    printed = capsys.readouterr().out
    assert printed.count("Today I saw") == 2
    assert "--- own" in printed


def test_drawn_words_depend_on_the_seed_alone(trained, capsys) -> None:
    texts = []
    for seed in (1, 1, 2):
        options = ("--tokens", 20, "--temperature", 1, "--seed", seed, "--voice", trained, "--json")
        command("write", "Today I saw", *options)
        texts.append(json.loads(capsys.readouterr().out)["own"])
    assert texts[0] == texts[1] != texts[2]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["write", " "], "nothing to go on from"),
        (["write", "a", "--tokens", 400], "the base model reads 160; give less, or lower --tokens"),
        (["write", "a", "--voice", "none"], "none: holds no voice"),
        (["report", "--contrast", "none.csv"], "none.csv: file not found"),
        (["report", "--page", ".", "--contrast", "none.csv"], "--page .: is a folder; name a file in it"),
    ],
)
def test_what_cannot_be_done_is_one_line(trained, monkeypatch, arguments, message) -> None:
    monkeypatch.chdir(trained.parent)
    assert message in refusal(*arguments, *(() if "--voice" in arguments else ("--voice", trained)))


def test_a_training_that_has_not_ended_is_said(voice) -> None:
    (voice / "losses.parquet").unlink()
    assert "the training has not ended" in refusal("report", "--voice", voice)
    (voice / "own" / "adapter_config.json").unlink()
    assert "the training has not ended" in refusal("write", "a", "--voice", voice)


def test_the_page_says_what_was_found_and_the_record_holds_no_text(toy, voice, light, capsys, violations) -> None:
    texts = {f"writer {author}": [text_of(author, "voice", n) for n in range(10)] for author in range(1, 6)}
    command("report", "--voice", voice, "--contrast", write_others(toy / "others.csv", texts))
    printed = capsys.readouterr().out
    page, found = (voice / "report.html").read_text(), json.loads((voice / "report.json").read_text())
    assert found["contrast_digest"] == content(str(toy / "others.csv"))
    parsed(page)
    assert violations(voice / "report.html") == []
    assert "http:" not in page.replace("http://www.w3.org", "")
    assert "https:" not in page
    for line in found["findings"]:
        assert line in printed
    assert "validation loss after pass 2" in page
    assert found["gains"]["own"]["own"]["value"] > 0  # two passes over jane's posts make her next ones likelier
    assert found["audit"]["validation"] == 6
    texts = read_parquet(voice / "texts.parquet", CLIENT_TEXTS)
    held_out = texts.loc[texts["split"] == "test", "text"]
    assert any(text[:60] in page for text in held_out)  # private: it shows what was continued
    for text in texts["text"]:
        assert text[:40] not in (voice / "report.json").read_text()


def test_continuations_are_scored_as_favor_score_scores_texts() -> None:
    """Continuations by jane herself lie near 1, a stranger's near 0; the documents continued are not in her profile."""
    own = [(f"d{n}", "train", text_of(0, "voice", n)) for n in range(40)]
    own += [(f"t{n}", "test", text_of(0, "held", n)) for n in range(6)]
    texts = pd.DataFrame(own, columns=["document_id", "split", "text"])
    made = [("own", f"t{n}", "test", text_of(0, "scored", n)) for n in range(6)]
    made += [("base", f"t{n}", "test", text_of(9, "scored", n)) for n in range(6)]
    contrast = {f"writer {author}": [text_of(author, "voice", n) for n in range(12)] for author in range(1, 8)}
    frame = pd.DataFrame(made, columns=["model", "document_id", "split", "text"])
    frame["prompt_id"] = frame["document_id"]
    found = scores(frame, texts, contrast, Trigrams())
    assert list(found) == ["base", "own"]
    near, far = found["own"], found["base"]
    assert isinstance(near, VoiceScore)
    assert isinstance(far, VoiceScore)
    for verifier in ("encoder", "stylometry", "grammar"):
        assert near.shares[verifier].low <= 1 <= near.shares[verifier].high
        assert far.shares[verifier].share < near.shares[verifier].low
    few = scores(frame, texts[texts["split"] == "test"], contrast, Trigrams())
    assert "the author has 0 words, and 3,000 are needed" in str(few["own"])
