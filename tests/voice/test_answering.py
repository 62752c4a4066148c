"""Voices that rewrite drafts or follow instructions: what the base makes, what is trained, asked and measured."""

import json
import shutil
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import replace
from io import StringIO
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.scores.copied_voices import written
from tests.tables.test_html import parsed
from tests.voice.conftest import TEMPLATE, command, drafting_by_hand, neutral, refusal, training, write_others
from tests.voice.test_score import CONTRAST
from tokenizers import Tokenizer

from favor.corpora.schemas import CLIENT_TEXTS
from favor.encoders.base import TextEncoder
from favor.federation.schemas import TRAINING_LOG
from favor.foundation.parquet import read_parquet
from favor.foundation.tensors import read_safetensors, write_safetensors
from favor.inference.chat import ChatTokens, answer_end
from favor.lm.base import load_base
from favor.statistics.kept_share import KeptShare
from favor.studies.tasks import drafting
from favor.studies.tasks.drafting import passages_of, piece, refused
from favor.studies.tasks.requests import REQUESTS
from favor.voice import writing
from favor.voice.folder import VoiceFolder
from favor.voice.report import gained
from favor.voice.rewriting import content_kept, voice_gained
from favor.voice.schemas import VOICE_CONTINUATIONS, VOICE_DRAFTS
from favor.voice.score import Placement, TextScore, VoiceScore
from favor.voice.texts import WORDS
from favor.voice.training import answering_cut, make_drafts

REWRITE, INSTRUCT = REQUESTS["rewrite"], REQUESTS["instruct"]
# What a model is asked: without a chat template, and in that of ``chatting``.
ASKED = {
    "rewrite": f"{REWRITE.ask}\n\n{{}}\n\n".format,
    "instruct": f"(system) {INSTRUCT.ask}\n(user) {{}}\n(assistant) ".format,
}
TASKS = pytest.mark.parametrize("task", ["rewrite", "instruct"])


def given(wide, chatting, folder, task) -> list:
    base = chatting if task == "instruct" else wide / "base"
    return training(wide, folder, "--task", task, "--epochs", 2, base=base)


@pytest.fixture(scope="module")
def voices(wide, chatting, tmp_path_factory) -> dict[str, tuple[VoiceFolder, str]]:
    """A voice of each task, whose drafts are made by hand, and what its training printed."""
    made = {}
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(drafting, "ask", drafting_by_hand([]))
        for task in ASKED:
            folder, printed = tmp_path_factory.mktemp("voices") / task, StringIO()
            with redirect_stdout(printed), redirect_stderr(printed):
                command(*given(wide, chatting, folder, task))
            made[task] = VoiceFolder(folder), printed.getvalue()
    return made


def test_passages_end_with_sentences_and_lose_nothing() -> None:
    sentences = [" ".join([f"word{'x' * n}"] * 30) + "." for n in range(5)]
    text = " ".join(sentences[:3]) + "\n\n" + " ".join(sentences[3:])
    found = passages_of(text, REWRITE.words)
    assert found == [" ".join(sentences[:2]), sentences[2] + "\n\n" + sentences[3], sentences[4]]
    assert all(WORDS.count(passage) <= REWRITE.words for passage in found)
    long = " ".join(["word"] * 200)
    assert passages_of(f"Short. {long}. End.", 80) == ["Short.", f"{long}.", "End."]
    assert passages_of(" \n ", 80) == []


TEN = "one two three four five six seven eight nine ten"
MAIL = "Dear Ann, the meeting moves to Friday noon because Tom is ill. Bring the plan."  # 15 words


@pytest.mark.parametrize(
    ("request_", "original", "draft", "ended", "reason"),
    [
        (REWRITE, TEN, "Zero TWO three, four five six!", True, "copied"),
        (REWRITE, TEN, "one two three four, and six seven eight nine", True, ""),
        (REWRITE, TEN, "nine eight seven six five", False, "endless"),
        (REWRITE, TEN, "ten nine eight", True, "short"),  # three of ten words, and four are needed
        (REWRITE, TEN, "ten nine is a good answer to that", True, "strayed"),  # two; 2.5 are needed
        (REWRITE, TEN, "ten nine eight seven", True, ""),
        (INSTRUCT, MAIL, "Tell Ann of the new day and ask for her plan.", True, ""),
        (INSTRUCT, MAIL, "Say that the meeting moves to Friday.", True, "copied"),
        (INSTRUCT, MAIL, "Write something friendly.", True, "strayed"),
        (INSTRUCT, MAIL, "", True, "strayed"),
        (INSTRUCT, MAIL, "Ann " * 16, True, "long"),
        (INSTRUCT, MAIL, "Ann " * 15, True, ""),
    ],
)
def test_what_is_refused(request_, original, draft, ended, reason) -> None:
    assert refused(request_, original, draft, ended) == reason


@pytest.mark.slow(20)
@TASKS
def test_a_piece_is_the_request_the_passage_and_the_end(voices, wide, chatting, task) -> None:
    (folder, said), request = voices[task], REQUESTS[task]
    base = load_base(str(chatting if task == "instruct" else wide / "base"), device="cpu")
    table, texts = read_parquet(folder.drafts, VOICE_DRAFTS), read_parquet(folder.texts, CLIENT_TEXTS)
    pieces = answering_cut(table, request)(base, texts, "training_text", None)
    trained = texts.loc[texts["split"] == "train", "document_id"]
    good = table[(table["refused"] == "") & table["document_id"].isin(trained)]
    assert len(pieces) == len(good) > 20
    for made, row in zip(pieces, good.itertuples(), strict=True):
        tokens = made.tokens.tolist()
        assert base.tokenizer.decode(tokens[: made.response_start]) == ASKED[task](row.draft)
        assert tokens[made.response_start :] == [*base.tokenizer.encode(str(row.text)), base.end_ids[0]]
    copied = (table["refused"] == "copied").sum()  # every fifth
    assert copied >= len(table) // 5
    assert f"{request.given}s: {len(table) - copied} of {len(table)} passages; refused: {copied} repeat 5 words" in said
    assert "Was a text trained on?" in said
    log = read_parquet(folder.log, TRAINING_LOG)
    assert log["validation_loss"].dropna().min() < log["validation_loss_before"].iloc[0]


@pytest.mark.slow(9)
def test_a_passage_that_fits_no_piece_is_refused_and_counted(voices, chatting, tmp_path, by_hand) -> None:
    folder, base = voices["instruct"][0], load_base(str(chatting), device="cpu")
    whole, texts = read_parquet(folder.drafts, VOICE_DRAFTS), read_parquet(folder.texts, CLIENT_TEXTS)
    lengths = [len(piece.tokens) for piece in answering_cut(whole, INSTRUCT)(base, texts, "training_text", None)]
    longest = sorted(lengths)[-2]
    table = make_drafts(VoiceFolder(tmp_path), base, texts, INSTRUCT, longest)
    left = answering_cut(table, INSTRUCT)(base, texts, "training_text", None)
    assert sorted(len(piece.tokens) for piece in left) == [each for each in sorted(lengths) if each <= longest]
    assert (table["refused"] == "large").sum() >= sum(each > longest for each in lengths) > 0


@pytest.mark.slow(9)
def test_write_asks_in_the_chat_template(voices, capsys, monkeypatch) -> None:
    seen, generate = [], writing.generate

    def recorded(base, lora, requests, *rest, **more) -> list:
        seen.extend(base.tokenizer.decode(request.prompt_tokens) for request in requests)
        return generate(base, lora, requests, *rest, **more)

    monkeypatch.setattr(writing, "generate", recorded)
    command("write", "Decline the invitation.", "--tokens", 8, "--voice", voices["instruct"][0].path, "--json")
    assert list(json.loads(capsys.readouterr().out)) == ["base", "own"]
    assert seen == [ASKED["instruct"]("Decline the invitation.")] * 2


@pytest.mark.slow(9)
def test_drafts_are_kept_and_the_adapter_rewrites(voices, wide, chatting, tmp_path, by_hand, capsys) -> None:
    folder = VoiceFolder(Path(shutil.copytree(voices["rewrite"][0].path, tmp_path / "v")))
    folder.losses.unlink()
    command(*given(wide, chatting, folder.path, "rewrite"))
    assert by_hand == []
    (tmp_path / "draft.txt").write_text(neutral(written(0, "scored", 1)))
    # A dozen small steps leave the likeliest words of so small a model as they are; a hundred times as far do not.
    weights = folder.adapter("own") / "adapter_model.safetensors"
    state, header = read_safetensors(weights)
    far = {name: array * 100 if "lora_B" in name else array for name, array in state.items()}
    write_safetensors(far, weights, header)
    capsys.readouterr()
    command("rewrite", tmp_path / "draft.txt", "--voice", folder.path, "--json")
    found = json.loads(capsys.readouterr().out)
    assert list(found) == ["base", "own"]
    assert found["base"] != found["own"]


@pytest.mark.slow(9)
@TASKS
def test_measures_and_export(voices, light, capsys, tmp_path, task) -> None:
    (folder, _), request = voices[task], REQUESTS[task]
    made = read_parquet(folder.continuations, VOICE_CONTINUATIONS)
    assert set(made["prompt_text"]) <= set(read_parquet(folder.drafts, VOICE_DRAFTS)["draft"])
    command("report", "--voice", folder.path, "--contrast", write_others(tmp_path / "others.csv", CONTRAST))
    assert f"Content of the {request.given} that your adapter keeps: cosine" in capsys.readouterr().out
    page, report = folder.report.read_text(), json.loads(folder.summary.read_text())
    parsed(page)
    assert set(report["content"]) == {"base", "own"}
    rewrites = task == "rewrite"
    assert ("What rewriting keeps and gains" if rewrites else "What answers keep of the instruction") in page
    command("export", tmp_path / "out", "--consent", "mine", "--voice", folder.path)
    form = json.loads((tmp_path / "out" / "prompt_form.json").read_text())
    assert form["template"] == ASKED[task](f"{{{request.given}}}")
    modelfile = (tmp_path / "out" / "Modelfile").read_text()
    assert 'TEMPLATE """' + ASKED[task]("{{ .Prompt }}") in modelfile
    how = "To rewrite a draft, passage by passage" if rewrites else "To write what an instruction says"
    assert how in (tmp_path / "out" / "README.md").read_text()


@pytest.mark.slow(9)
def test_a_voice_does_what_it_was_trained_to(voices, trained, tmp_path) -> None:
    draft = tmp_path / "draft.txt"
    draft.write_text("A draft of a few words.")
    rewrites, instructed = voices["rewrite"][0].path, voices["instruct"][0].path
    for folder, arguments, message in (
        (rewrites, ["write", "Dear all,"], "was trained to rewrite drafts; use 'favor voice rewrite'"),
        (instructed, ["write", "No.", "--about", "Re: lunch"], "say everything in one, without --about"),
        (instructed, ["rewrite", draft], "was trained to write what it is asked for; train one with --task rewrite"),
        (trained, ["rewrite", draft], "was trained to continue texts; train one with --task rewrite"),
    ):
        assert message in refusal(*arguments, "--voice", folder)


@pytest.mark.slow(3)
def test_too_few_drafts_train_nothing(wide, tmp_path, monkeypatch) -> None:
    """A base that repeats what it is given makes no draft at all."""

    def repeated(base, lora, states, system, asked) -> dict:
        return {"base": [(each.removeprefix(REWRITE.make), True) for each in asked]}

    monkeypatch.setattr(drafting, "ask", repeated)
    with pytest.raises(SystemExit, match=r"made 0 drafts to train on.*\d+ repeat 5 words in a row.*larger base"):
        command(*training(wide, tmp_path / "v", "--task", "rewrite"))
    assert not (tmp_path / "v" / "own").exists()


def test_a_base_without_a_chat_template_is_refused(wide, tmp_path) -> None:
    line = refusal(*training(wide, tmp_path / "v", "--task", "instruct"))
    assert "has no chat template, and instructions need one" in line
    assert not (tmp_path / "v").exists()


def test_an_answer_ends_as_the_template_ends_an_assistants_turn(chatting, tmp_path) -> None:
    """Llama 3 names three end tokens, and its turns end with the last: trained on the first, no answer ends so."""
    folder = Path(shutil.copytree(chatting, tmp_path / "base"))
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.add_special_tokens(["<|eot|>"])
    tokenizer.save(str(folder / "tokenizer.json"))
    settings = json.loads((folder / "tokenizer_config.json").read_text())
    turns = TEMPLATE.replace("{{ turn.content }}\n", "{{ turn.content }}<|eot|>\n")
    (folder / "tokenizer_config.json").write_text(json.dumps(settings | {"chat_template": turns}))
    base = load_base(str(chatting), device="cpu")
    first = base.end_ids[0]
    assert answer_end(ChatTokens(base)) == first  # its template ends no turn
    turn_end = tokenizer.token_to_id("<|eot|>")
    asked = ChatTokens(replace(base, source=str(folder), end_ids=(first, turn_end)))
    assert piece(asked, INSTRUCT, "Say no.", "No.")[0][-1] == answer_end(asked) == turn_end != first
    unstopped = replace(base, source=str(folder), end_ids=(first,))  # generation would not stop
    assert answer_end(ChatTokens(unstopped)) == first


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
