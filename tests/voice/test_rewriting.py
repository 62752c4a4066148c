"""A voice that rewrites: neutral drafts and which are refused, what is trained, and what rewriting keeps and gains."""

import json

import numpy as np
import pandas as pd
import pytest
from tests.scores.copied_voices import written
from tests.voice.conftest import command, neutral, refusal, training, write_others
from tests.voice.test_score import CONTRAST

from favor.corpora.schemas import CLIENT_TEXTS
from favor.encoders.base import TextEncoder
from favor.federation.schemas import TRAINING_LOG
from favor.foundation.parquet import read_parquet
from favor.foundation.tensors import read_safetensors, write_safetensors
from favor.lm.base import load_base
from favor.statistics.kept_share import KeptShare
from favor.studies.tasks import drafting
from favor.studies.tasks.drafting import passages_of, refused
from favor.studies.tasks.requests import REQUESTS
from favor.voice.folder import VoiceFolder
from favor.voice.report import gained
from favor.voice.rewriting import content_kept, voice_gained
from favor.voice.schemas import VOICE_DRAFTS
from favor.voice.score import Placement, TextScore, VoiceScore
from favor.voice.texts import WORDS
from favor.voice.training import answering_cut

pytestmark = pytest.mark.slow(26)

REWRITE = REQUESTS["rewrite"]


def given(wide, folder) -> list:
    return training(wide, folder, "--task", "rewrite", "--epochs", 2)


def test_passages_end_with_sentences_and_lose_nothing() -> None:
    sentences = [" ".join([f"word{'x' * n}"] * 30) + "." for n in range(5)]
    text = " ".join(sentences[:3]) + "\n\n" + " ".join(sentences[3:])
    found = passages_of(text, REWRITE.words)
    assert found == [" ".join(sentences[:2]), sentences[2] + "\n\n" + sentences[3], sentences[4]]
    assert all(WORDS.count(passage) <= REWRITE.words for passage in found)
    long = " ".join(["word"] * 200)
    assert passages_of(f"Short. {long}. End.", 80) == ["Short.", f"{long}.", "End."]
    assert passages_of(" \n ", 80) == []


def test_a_draft_is_refused_that_copies_strays_ends_nowhere_or_is_short() -> None:
    original = "one two three four five six seven eight nine ten"
    assert refused(REWRITE, original, "Zero TWO three, four five six!", True) == "copied"
    assert refused(REWRITE, original, "one two three four, and six seven eight nine", True) == ""
    assert refused(REWRITE, original, "nine eight seven six five", False) == "endless"
    assert refused(REWRITE, original, "ten nine eight", True) == "short"  # three of ten words, and four are needed
    assert refused(REWRITE, original, "ten nine is a good answer to that", True) == "strayed"  # two; 2.5 are needed
    assert refused(REWRITE, original, "ten nine eight seven", True) == ""


def test_a_piece_is_the_request_the_passage_and_the_end(wide, tmp_path, by_hand) -> None:
    command(*given(wide, tmp_path / "v"))
    folder, base = VoiceFolder(tmp_path / "v"), load_base(str(wide / "base"), device="cpu")
    table, texts = read_parquet(folder.drafts, VOICE_DRAFTS), read_parquet(folder.texts, CLIENT_TEXTS)
    pieces = answering_cut(table, REWRITE)(base, texts, "training_text", None)
    trained = texts.loc[texts["split"] == "train", "document_id"]
    good = table[(table["refused"] == "") & table["document_id"].isin(trained)]
    assert len(pieces) == len(good)
    for piece, row in zip(pieces, good.itertuples(), strict=True):
        request = base.tokenizer.encode(f"{REWRITE.ask}\n\n{row.draft}\n\n")
        answer = base.tokenizer.encode(str(row.text))
        assert piece.tokens.tolist() == [*base.opening, *request, *answer, base.end_ids[0]]
        assert piece.response_start == len(base.opening) + len(request)


def test_a_voice_that_rewrites_end_to_end(wide, tmp_path, by_hand, light, capsys) -> None:
    folder = tmp_path / "v"
    command(*given(wide, folder))
    said = capsys.readouterr()
    table = read_parquet(folder / "drafts.parquet", VOICE_DRAFTS)
    copied = sum(-(-number // 5) for number in by_hand)  # the first of every five of a chunk
    assert (table["refused"] == "copied").sum() == copied
    assert f"drafts: {len(table) - copied} of {len(table)} passages; refused: {copied} repeat 5 words" in said.err
    assert "Was a text trained on?" in said.out
    log = read_parquet(folder / "training_log.parquet", TRAINING_LOG)
    assert log["validation_loss"].dropna().min() < log["validation_loss_before"].iloc[0]
    passes = len(by_hand)
    (folder / "losses.parquet").unlink()
    command(*given(wide, folder))
    assert len(by_hand) == passes  # drafts are kept
    draft = tmp_path / "draft.txt"
    draft.write_text(neutral(written(0, "scored", 1)))
    weights = folder / "own" / "adapter_model.safetensors"
    small = weights.read_bytes()
    # A dozen small steps leave the likeliest words of so small a model as they are; a hundred times as far do not.
    state, header = read_safetensors(weights)
    far = {name: array * 100 if "lora_B" in name else array for name, array in state.items()}
    write_safetensors(far, weights, header)
    capsys.readouterr()
    command("rewrite", draft, "--voice", folder, "--json")
    found = json.loads(capsys.readouterr().out)
    assert list(found) == ["base", "own"]
    assert found["base"] != found["own"]
    weights.write_bytes(small)
    command("report", "--voice", folder, "--contrast", write_others(tmp_path / "others.csv", CONTRAST))
    assert "Content of the draft that your adapter keeps: cosine" in capsys.readouterr().out
    report = json.loads((folder / "report.json").read_text())
    assert set(report["content"]) == {"base", "own"}
    assert "What rewriting keeps and gains" in (folder / "report.html").read_text()
    command("export", tmp_path / "out", "--consent", "mine", "--voice", folder)
    form = json.loads((tmp_path / "out" / "prompt_form.json").read_text())
    assert form["template"] == f"{REWRITE.ask}\n\n{{draft}}\n\n"
    assert 'TEMPLATE """' + f"{REWRITE.ask}\n\n{{{{ .Prompt }}}}\n\n" in (tmp_path / "out" / "Modelfile").read_text()
    line = refusal("write", "Dear all,", "--voice", folder)
    assert "was trained to rewrite drafts; use 'favor voice rewrite'" in line


def test_too_few_drafts_train_nothing(wide, tmp_path, monkeypatch) -> None:
    """A base that repeats what it is given makes no draft at all."""

    def repeated(base, lora, states, system, asked) -> dict:
        return {"base": [(each.removeprefix(REWRITE.make), True) for each in asked]}

    monkeypatch.setattr(drafting, "ask", repeated)
    with pytest.raises(SystemExit, match=r"made 0 drafts to train on.*\d+ repeat 5 words in a row.*larger base"):
        command(*given(wide, tmp_path / "v"))
    assert not (tmp_path / "v" / "own").exists()


def test_a_voice_that_continues_rewrites_nothing(trained, tmp_path) -> None:
    (tmp_path / "draft.txt").write_text("A draft of a few words.")
    line = refusal("rewrite", tmp_path / "draft.txt", "--voice", trained)
    assert "was trained to continue texts; train one with --task rewrite" in line


class Letters(TextEncoder):
    dimension = 3

    def encode(self, texts, progress=None) -> np.ndarray:
        counts = np.array([[text.count(letter) for letter in "abc"] for text in texts], dtype=np.float32)
        return counts / np.linalg.norm(counts, axis=1, keepdims=True)


def test_content_and_voice_by_hand() -> None:
    """Two passages: one keeps its draft's content whole (cosine 1), one has none of it (0); crossed pairs: 0 and 1."""
    rows = [("own", "d0", "test", "aa", "a"), ("own", "d1", "test", "b", "a"), ("own", "d2", "train", "a", "c")]
    made = pd.DataFrame(rows, columns=["model", "document_id", "split", "prompt_text", "text"])
    found = content_kept(made, Letters(), 1)["own"]
    assert found.kept.value == pytest.approx(0.5)
    assert found.kept.text() == "0.50 [–, –]"  # of two documents
    assert (found.chance, found.documents) == (pytest.approx(0.5), 2)
    # Another passage of one document is about the same.
    more = pd.DataFrame([("own", "d1", "test", "c", "b")], columns=made.columns)
    assert content_kept(pd.concat([made, more]), Letters(), 1)["own"].chance == pytest.approx((0 + 1 + 0 + 0) / 4)
    after, before = {"grammar": {"x": 0.9, "y": 0.5, "z": 1.0}}, {"grammar": {"x": 0.4, "y": 0.2}}
    gained = voice_gained(after, before, {"x": "d0", "y": "d1", "z": "d2"}, 1)["grammar"]
    assert gained.value == pytest.approx((0.5 + 0.3) / 2)  # z has no draft that is scored


def test_intervals_of_rewriting_cover_where_passages_of_one_document_are_alike() -> None:
    """Four documents of six passages, which share half of their variance."""
    generator, held = np.random.default_rng(2), 0
    documents = {f"d{document}.{passage}": f"d{document}" for document in range(4) for passage in range(6)}
    for number in range(300):
        moved = np.repeat(generator.normal(0.5, 0.2, 4), 6) + generator.normal(0, 0.2, 24)
        before = dict.fromkeys(documents, 0.0)
        after = dict(zip(documents, moved, strict=True))
        found = voice_gained({"grammar": after}, {"grammar": before}, documents, number)["grammar"]
        held += found.low <= 0.5 <= found.high
    assert 0.92 <= held / 300 <= 0.99


def score(passage_words, places, reason="") -> VoiceScore:
    """A score of texts x and y under one verifier, with a place for all or the reason that there is none."""
    placed = {name: {"grammar": Placement(0.0, place, 0.5, 0.5)} for name, place in places.items()}
    texts = [TextScore(name, 60, 0.0, 0, "", False, (), found) for name, found in placed.items()]
    share = KeptShare(0.5, 0.4, 0.6, 0.0, 0.0, 0.0, 0.0, 1.0, reason)
    return VoiceScore(texts, {"grammar": share}, [], (0.0, 0.0, 0.0), "texts", passage_words, 4000, 6, [])


def test_voice_gained_needs_two_places_of_one_kind() -> None:
    """.6 - .2 and .8 - .2 are .5 on average; not where a verifier tells nobody apart, nor over two lengths."""
    drafts_score, documents = score(50, {"x": 0.2, "y": 0.2}), {"x": "d0", "y": "d1"}
    own = score(50, {"x": 0.6, "y": 0.8})
    assert gained({"draft": drafts_score, "own": own}, documents, 1)["own"]["grammar"].value == pytest.approx(0.5)
    assert gained({"draft": score(50, {"x": 0.2}, "not apart"), "own": own}, documents, 1) == {"own": {}}
    assert gained({"draft": drafts_score, "own": score(80, {"x": 0.6})}, documents, 1) == {}
    assert gained({"draft": "too short", "own": own}, documents, 1) == {}
