"""``favor voice export``: the adapter elsewhere is the adapter here, of a known base, and leaves with consent alone."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from peft import PeftModel
from tests.config.test_starting import write_gguf
from tests.voice.conftest import command, refusal
from transformers import AutoModelForCausalLM, AutoTokenizer

from favor.inference.likelihood import Question, answer
from favor.lm.base import load_base
from favor.lm.gguf_adapter import read_gguf_deltas
from favor.lm.peft_import import import_peft
from favor.lm.tasks import Piece
from favor.voice.export import UNKNOWN, base_licence, card, modelfile
from favor.voice.folder import VoiceFolder

FILES = {
    *("adapter_config.json", "adapter_model.safetensors", "adapter.gguf", "Modelfile", "README.md"),
    *("prompt_form.json", "tokenizer.json", "tokenizer_config.json"),
}


@pytest.fixture(scope="module")
def exported(trained, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("exported") / "jane"
    command("export", folder, "--consent", "mine", "--voice", trained, "--base-licence", "apache-2.0")
    return folder


@pytest.mark.slow(4)
def test_the_loaded_adapter_changes_the_output_as_the_engine_does(toy, trained, exported) -> None:
    assert {path.name for path in exported.iterdir()} == FILES
    base = load_base(str(toy / "base"), device="cpu")
    states, lora = import_peft([trained / "own"])
    tokens = np.array(base.tokenizer.encode("Today I saw the old gallery again, and it was closed."), dtype=np.int32)
    piece = Piece(tokens, 3, "")
    plain, own = answer(base, lora, [Question(None, piece), Question(states["own"], piece)]).loss
    model = PeftModel.from_pretrained(AutoModelForCausalLM.from_pretrained(toy / "base"), exported).eval()
    ids = torch.tensor(tokens.astype(np.int64))[None]

    def loss() -> float:
        with torch.no_grad():
            logs = model(ids).logits[0].log_softmax(-1)
        return -float(logs[range(2, len(tokens) - 1), ids[0, 3:]].mean())

    assert loss() == pytest.approx(own, abs=1e-5)
    with model.disable_adapter():
        assert loss() == pytest.approx(plain, abs=1e-5)
    assert abs(own - plain) > 1e-4
    tokenizer = AutoTokenizer.from_pretrained(exported)
    assert tokenizer("Today I saw")["input_ids"] == base.tokenizer.encode("Today I saw")


def test_the_gguf_file_adds_to_every_layer_what_peft_adds(toy, exported) -> None:
    """The deltas by PEFT's own ``get_delta_weight``; the names of llama.cpp written out."""
    model = PeftModel.from_pretrained(AutoModelForCausalLM.from_pretrained(toy / "base"), exported)
    found = read_gguf_deltas(exported / "adapter.gguf")
    short = {f"self_attn.{part}_proj": f"attn_{part}" for part in "qkv"} | {"self_attn.o_proj": "attn_output"}
    short |= {f"mlp.{part}_proj": f"ffn_{part}" for part in ("gate", "up", "down")}
    layers = {name: layer for name, layer in model.named_modules() if hasattr(layer, "get_delta_weight")}
    assert len(found) == len(layers) == 14
    for name, layer in layers.items():
        block, part = name.split("layers.")[1].split(".", 1)
        delta = layer.get_delta_weight("default").detach().numpy()
        np.testing.assert_allclose(found[f"blk.{block}.{short[part]}.weight"], delta, atol=1e-7)
        assert np.abs(delta).max() > 0


def test_the_card_says_whose_voice_it_is_on_what_and_how_to_ask(exported) -> None:
    text = (exported / "README.md").read_text()
    for part in (
        "# The voice of jane",
        "| Consent | jane said twice",
        "| Licence of the base | apache-2.0 |",
        "- Was a text trained on? The adapter gives it away with AUC",
        "Neither program was run on it",
    ):
        assert part in text
    form = json.loads((exported / "prompt_form.json").read_text())
    assert form["template"] == "{about}\n\n{beginning}"
    assert form["opening_token_ids"] == []
    assert "FROM ./base.gguf\nADAPTER ./adapter.gguf\n" in (exported / "Modelfile").read_text()


def test_the_findings_of_the_report_stand_on_the_card_where_it_is_of_this_voice(voice, tmp_path, capsys) -> None:
    digest = VoiceFolder(voice).read_record().digest
    for name, known in (("this", digest), ("other", "0")):
        (voice / "report.json").write_text(json.dumps({"digest": known, "findings": ["Found this.", "warning: it."]}))
        command("export", tmp_path / name, "--consent", "mine", "--voice", voice)
        assert capsys.readouterr().out.endswith("\nwarning: it.\n") == (name == "this")
    assert "- Found this." in (tmp_path / "this" / "README.md").read_text()
    assert "- Found this." not in (tmp_path / "other" / "README.md").read_text()
    assert UNKNOWN in (tmp_path / "this" / "README.md").read_text()


def test_a_gguf_base_is_named_as_it_was_given(trained) -> None:
    record = VoiceFolder(trained).read_record().model_copy(update={"base": "models/small.Q4_1.gguf"})
    assert "FROM ./small.Q4_1.gguf\nADAPTER" in modelfile(record)
    assert 'TEMPLATE """{{ .Prompt }}"""' in modelfile(record)
    assert "No GGUF file: a reason." in card(record, "small", "MIT", ["a"], "a reason")


def test_the_licence_is_read_from_the_files_of_the_base(tmp_path) -> None:
    write_gguf(tmp_path / "a.gguf", "apache-2.0")
    write_gguf(tmp_path / "b.gguf")
    assert base_licence(str(tmp_path / "a.gguf")) == "apache-2.0"
    assert base_licence(str(tmp_path / "b.gguf")) == UNKNOWN
    (tmp_path / "README.md").write_text("---\nlanguage: en\nlicense: 'mit'\n---\n# A model\n")
    assert base_licence(str(tmp_path)) == "mit"
    assert base_licence("owner/name") == UNKNOWN


def test_another_base_under_the_name_of_a_voices_is_refused(voice) -> None:
    record = json.loads((voice / "voice.json").read_text())
    (voice / "voice.json").write_text(json.dumps(record | {"base_digest": "0" * 16}))
    assert "base: not the model that the voice in " in refusal("write", "a", "--voice", voice)


def test_nothing_is_exported_without_consent_or_over_other_files(voice, tmp_path) -> None:
    target = tmp_path / "out"
    for options in ((), ("--consent", "hers")):
        assert "can write as jane does; add --consent mine" in refusal("export", target, *options, "--voice", voice)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("Dear")
    line = refusal("export", tmp_path / "mine", "--consent", "mine", "--voice", voice)
    assert "is there already and is not an export of a voice" in line
    record = json.loads((voice / "voice.json").read_text())
    (voice / "voice.json").write_text(json.dumps(record | {"consent": "theirs"}))
    assert "holds no consent of the writer" in refusal("export", target, "--consent", "mine", "--voice", voice)
    (voice / "voice.json").write_text(json.dumps(record | {"consent": "mine", "unknown": 1}))
    assert "of another version" in refusal("export", target, "--consent", "mine", "--voice", voice)
    assert not target.exists()
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["letter.txt"]
