"""A voice that is instructed: what the base summarises, the chat template that it is trained and asked in."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from tests.tables.test_html import parsed
from tests.voice.conftest import TEMPLATE, command, refusal, training, write_others
from tests.voice.test_score import CONTRAST
from tokenizers import Tokenizer

from favor.corpora.schemas import CLIENT_TEXTS
from favor.foundation.parquet import read_parquet
from favor.inference.chat import ChatTokens, answer_end
from favor.lm.base import load_base
from favor.studies.tasks import drafting
from favor.studies.tasks.drafting import piece, refused
from favor.studies.tasks.requests import REQUESTS
from favor.voice import writing
from favor.voice.folder import VoiceFolder
from favor.voice.schemas import VOICE_CONTINUATIONS, VOICE_DRAFTS
from favor.voice.training import answering_cut, make_drafts

INSTRUCT = REQUESTS["instruct"]


def given(wide, base, folder) -> list:
    return training(wide, folder, "--task", "instruct", "--epochs", 1, base=base)


def summarised(base, lora, states, system, asked) -> dict:
    """Instructions by hand: every fourth word of the text, and of every fifth text its own beginning."""
    assert system == INSTRUCT.system
    texts = [each.removeprefix(INSTRUCT.make).split() for each in asked]
    return {"base": [(" ".join(text[:6] if n % 5 == 0 else text[::4]), True) for n, text in enumerate(texts)]}


@pytest.fixture(scope="module")
def instructed(wide, chatting, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("instructed") / "v"
    asked = drafting.ask
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(drafting, "ask", summarised)
        command(*given(wide, chatting, folder))
        assert drafting.ask is not asked
    return folder


def test_an_instruction_is_refused_that_copies_strays_or_is_longer() -> None:
    text = "Dear Ann, the meeting moves to Friday noon because Tom is ill. Bring the plan."
    assert refused(INSTRUCT, text, "Tell Ann of the new day and ask for her plan.", True) == ""
    assert refused(INSTRUCT, text, "Say that the meeting moves to Friday.", True) == "copied"
    assert refused(INSTRUCT, text, "Write something friendly.", True) == "strayed"
    assert refused(INSTRUCT, text, "", True) == "strayed"
    assert refused(INSTRUCT, text, "Ann " * 16, True) == "long"  # the text has 15 words
    assert refused(INSTRUCT, text, "Ann " * 15, True) == ""
    assert refused(INSTRUCT, text, "Tell Ann of it.", False) == "endless"


@pytest.mark.slow(9)
def test_trained_in_the_chat_template_with_an_end(instructed, chatting) -> None:
    folder, base = VoiceFolder(instructed), load_base(str(chatting), device="cpu")
    table, texts = read_parquet(folder.drafts, VOICE_DRAFTS), read_parquet(folder.texts, CLIENT_TEXTS)
    assert (table["refused"] == "copied").sum() == -(-len(table) // 5)
    pieces = answering_cut(table, INSTRUCT)(base, texts, "training_text", None)
    training = texts.loc[texts["split"] == "train", "document_id"]
    good = table[(table["refused"] == "") & table["document_id"].isin(training)]
    assert len(pieces) == len(good) > 20
    for made, row in zip(pieces, good.itertuples(), strict=True):
        request = f"(system) {INSTRUCT.ask}\n(user) {row.draft}\n(assistant) "
        tokens = made.tokens.tolist()
        assert base.tokenizer.decode(tokens[: made.response_start]) == request
        assert tokens[made.response_start :] == [*base.tokenizer.encode(str(row.text)), base.end_ids[0]]


@pytest.mark.slow(9)
def test_a_passage_that_fits_no_piece_is_refused_and_counted(instructed, chatting, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(drafting, "ask", summarised)
    folder, base = VoiceFolder(instructed), load_base(str(chatting), device="cpu")
    whole, texts = read_parquet(folder.drafts, VOICE_DRAFTS), read_parquet(folder.texts, CLIENT_TEXTS)
    lengths = [len(piece.tokens) for piece in answering_cut(whole, INSTRUCT)(base, texts, "training_text", None)]
    (tmp_path / "v").mkdir()
    longest = sorted(lengths)[-2]
    table = make_drafts(VoiceFolder(tmp_path / "v"), base, texts, INSTRUCT, longest)
    left = answering_cut(table, INSTRUCT)(base, texts, "training_text", None)
    assert sorted(len(piece.tokens) for piece in left) == [each for each in sorted(lengths) if each <= longest]
    assert (table["refused"] == "large").sum() >= sum(each > longest for each in lengths) > 0


@pytest.mark.slow(9)
def test_write_asks_in_the_chat_template(instructed, capsys, monkeypatch) -> None:
    seen = []
    generate = writing.generate

    def recorded(base, lora, requests, *rest, **more) -> list:
        seen.extend(base.tokenizer.decode(request.prompt_tokens) for request in requests)
        return generate(base, lora, requests, *rest, **more)

    monkeypatch.setattr(writing, "generate", recorded)
    command("write", "Decline the invitation.", "--tokens", 8, "--voice", instructed, "--json")
    assert list(json.loads(capsys.readouterr().out)) == ["base", "own"]
    assert seen == [f"(system) {INSTRUCT.ask}\n(user) Decline the invitation.\n(assistant) "] * 2
    line = refusal("write", "Decline.", "--about", "Re: lunch", "--voice", instructed)
    assert "was trained on instructions; say everything in one, without --about" in line
    (instructed.parent / "draft.txt").write_text("A draft of a few words.")
    line = refusal("rewrite", instructed.parent / "draft.txt", "--voice", instructed)
    assert "was trained to write what it is asked for; train one with --task rewrite" in line


@pytest.mark.slow(9)
def test_measures_and_export_take_instructions(instructed, light, capsys, tmp_path) -> None:
    folder = VoiceFolder(instructed)
    made = read_parquet(folder.continuations, VOICE_CONTINUATIONS)
    assert set(made["prompt_text"]) <= set(read_parquet(folder.drafts, VOICE_DRAFTS)["draft"])
    command("report", "--voice", instructed, "--contrast", write_others(tmp_path / "others.csv", CONTRAST))
    assert "Content of the instruction that your adapter keeps: cosine" in capsys.readouterr().out
    parsed(folder.report.read_text())
    report = json.loads(folder.summary.read_text())
    assert (set(report["content"]), report["gained"]) == ({"base", "own"}, {})
    assert "What answers keep of the instruction" in folder.report.read_text()
    command("export", tmp_path / "out", "--consent", "mine", "--voice", instructed)
    form = json.loads((tmp_path / "out" / "prompt_form.json").read_text())
    assert form["template"] == f"(system) {INSTRUCT.ask}\n(user) {{instruction}}\n(assistant) "
    assert "(user) {{ .Prompt }}\n(assistant) " in (tmp_path / "out" / "Modelfile").read_text()
    assert "To write what an instruction says" in (tmp_path / "out" / "README.md").read_text()


def test_a_base_without_a_chat_template_is_refused(wide, tmp_path) -> None:
    assert "has no chat template, and instructions need one" in refusal(*given(wide, wide / "base", tmp_path / "v"))
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
