"""Loading the base model: what is refused and how it is said; NF4 on a CPU through training, saving and reloading."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from tests.lm.conftest import optimisation, stacked_logits

from favor.config.models import PROJECTIONS
from favor.foundation.errors import UserError
from favor.inference.chat import ChatTokens
from favor.inference.generation import GenerationRequest, generate
from favor.lm import base as base_module
from favor.lm.base import context_length, load_base, save_base, wrap_model
from favor.lm.checks import check_head, check_pieces
from favor.lm.lora import factor_name, initial_state
from favor.lm.settings import Lora
from favor.lm.tasks import ClientTask
from favor.lm.training import train


@pytest.fixture
def copied(model_folder, tmp_path) -> Path:
    return shutil.copytree(model_folder, tmp_path / "copy")


def test_base_is_frozen_and_plain(base) -> None:
    assert not any(parameter.requires_grad for parameter in base.model.parameters())
    assert not base.model.training
    assert (base.device.type, base.dtype, base.context, base.end_ids) == ("cpu", torch.float32, 128, (1,))
    assert base.hidden_size == 32
    text = "so i went to the store <|endoftext|> today"
    assert base.tokenizer.decode(base.tokenizer.encode(text)) == text


def test_checks_leave_the_model_and_the_generator_as_they_were(base) -> None:
    """No fingerprint holds them: what they changed would change results that nobody makes again."""

    def state() -> tuple:
        kept = {name: value.clone() for name, value in base.model.state_dict().items()}
        modes = [module.training for module in base.model.modules()]
        hooks = [len(module._forward_pre_hooks) + len(module._forward_hooks) for module in base.model.modules()]
        return kept, modes, hooks, base.model.config.to_dict(), torch.get_rng_state(), torch.get_num_threads()

    before = state()
    check_pieces("m", base.model, base.final_states, base.dtype)
    check_head("m", base.model, base.final_states)
    after = state()
    assert all(torch.equal(before[0][name], after[0][name]) for name in before[0])
    assert torch.equal(before[4], after[4])
    assert (before[1:4], before[5]) == (after[1:4], after[5])


def refusal(source, **options) -> str:
    with pytest.raises(UserError) as caught:
        load_base(str(source), device="cpu", **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_missing_folder_and_unknown_id(tmp_path, monkeypatch) -> None:
    assert "no such folder" in refusal(tmp_path / "nowhere")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    assert "model 'nobody/nothing'" in refusal("nobody/nothing")


@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "tokenizer.json"])
def test_a_truncated_file_of_the_hub_s_cache_is_named(copied, name, monkeypatch) -> None:
    """Nothing looks at the files of the cache before the libraries do."""
    monkeypatch.setattr("favor.lm.base.is_local", lambda source: False)
    whole = (copied / name).read_bytes()
    (copied / name).write_bytes(whole[: len(whole) // 2])
    assert str(copied) in refusal(copied)


INDEX, SAVE = "model.safetensors.index.json", r"model\.safetensors\.index\.json: .*; save the whole model there"


@pytest.mark.parametrize(
    ("name", "change", "line"),
    [
        ("config.json", None, r"config\.json missing"),
        ("model.safetensors", None, r"\*\.safetensors missing"),
        ("tokenizer.json", None, r"tokenizer\.json missing"),
        *(("model.safetensors", end, r"safetensors: truncated, or not a safetensors file") for end in (-100, 5)),
        ("config.json", [], r"config\.json: Input should be an object"),
        ("config.json", "[" * 100_000, r"config\.json: Invalid JSON"),
        ("config.json", {"max_position_embeddings": "many"}, r"config\.json: key 'max_position_embeddings': "),
        ("config.json", {"model_type": ["llama"]}, r"config\.json: key 'model_type': "),
        ("config.json", {"quantization_config": []}, r"config\.json: key 'quantization_config': "),
        ("config.json", {"rope_scaling": 5}, r"config\.json: key 'rope_scaling': "),
        ("config.json", {"num_attention_heads": 0}, "cannot be loaded"),
        ("config.json", {"hidden_size": "a"}, "cannot be loaded .*hidden_size"),
        ("config.json", {"eos_token_id": {"a": 1}}, "cannot be loaded .*eos_token_id"),
        *((INDEX, content, SAVE) for content in ([], {"weight_map": 5}, {"weight_map": {"a": 1}}, "[" * 100_000)),
        (INDEX, {"weight_map": {"x": "model-00002.safetensors"}}, r"model-00002\.safetensors missing"),
    ],
)
def test_a_folder_of_another_form_is_one_line(copied, name, change, line) -> None:
    path = copied / name
    if change is None:
        path.unlink()
    elif isinstance(change, int):
        path.write_bytes(path.read_bytes()[:change])
    else:
        before = json.loads(path.read_text()) if isinstance(change, dict) and path.is_file() else {}
        path.write_text(change if isinstance(change, str) else json.dumps({**before, **change} if change else change))
    with pytest.raises(UserError, match=f"^[^\n]*{line}[^\n]*$"):
        load_base(str(copied))


def test_missing_projection_and_short_context(model_folder) -> None:
    said = refusal(model_folder, lora=Lora(target_modules=("q_proj", "c_attn")))
    assert "no linear layer named c_attn beside the output layer; the nearest names are: " in said
    assert "_proj" in said
    assert "need 129 tokens, its context holds 128" in refusal(model_folder, context_needed=129)
    assert context_length(str(model_folder)) == 128


def test_absent_gpu_is_said(model_folder, monkeypatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(UserError, match="PyTorch finds no GPU"):
        load_base(str(model_folder), device="cuda")


def test_nf4_trains_generates_saves_and_reloads(model_folder, random_pieces, tmp_path) -> None:
    lora = Lora(rank=3, alpha=6, target_modules=PROJECTIONS)
    settings = optimisation(learning_rate=1e-2, accumulation=2)
    base = load_base(str(model_folder), quantisation="nf4", device="cpu")
    task = ClientTask("client_001", random_pieces(1, 8), initial_state(base.model, lora, 1), 2, 5)
    request = GenerationRequest("a", [5, 6, 7, 8], train(base, lora, [task], settings)[0].state)
    text = generate(base, lora, [request], 12)
    save_base(base, tmp_path / "quantised")
    again = load_base(str(tmp_path / "quantised"), quantisation="nf4", device="cpu")
    for model in (base, again):
        # Training and generation left the weights as they were: the same stage gives the same losses and text.
        result = train(model, lora, [task], settings)[0]
        assert generate(model, lora, [request], 12) == text
        losses = [row["task_loss"] for row in result.log]
        assert losses[-1] < losses[0]
        torch.testing.assert_close(result.state, request.state)
    small = sum(path.stat().st_size for path in (tmp_path / "quantised").glob("*.safetensors"))
    assert small < sum(path.stat().st_size for path in model_folder.glob("*.safetensors"))


@pytest.mark.parametrize("asked", ["bfloat16", "float32"])
def test_a_saved_base_computes_in_the_type_asked_for(model_folder, tmp_path, asked, monkeypatch) -> None:
    monkeypatch.setattr(base_module, "multiplies_bfloat16", lambda: True)
    other = "float32" if asked == "bfloat16" else "bfloat16"
    save_base(load_base(str(model_folder), "nf4", "cpu", other), tmp_path / "quantised")
    base = load_base(str(tmp_path / "quantised"), "nf4", "cpu", asked)
    dtype = getattr(torch, asked)
    quantised = [module for module in base.model.modules() if type(module).__name__ == "Linear4bit"]
    assert len(quantised) == 14
    assert all(module.compute_dtype == dtype for module in quantised)
    assert {base.head.weight.dtype, base.final_states(torch.tensor([[5, 6]])).dtype, base.dtype} == {dtype}
    with pytest.raises(ValueError, match="the output layer is"):
        wrap_model(base.model, base.tokenizer, "model", getattr(torch, other))


@pytest.mark.parametrize("quantisation", ["none", "nf4"])
def test_a_processor_without_products_in_bfloat16_computes_in_float32(
    model_folder, monkeypatch, capsys, quantisation
) -> None:
    monkeypatch.setattr(base_module, "multiplies_bfloat16", lambda: False)
    base = load_base(str(model_folder), quantisation, "cpu", "bfloat16")
    assert {base.dtype, base.head.weight.dtype, base.final_states(torch.tensor([[5, 6]])).dtype} == {torch.float32}
    assert "float32 is computed instead" in capsys.readouterr().err


@pytest.mark.parametrize("place", ["folder", "id"])
def test_a_saved_base_keeps_its_chat_template(base, model_folder, tmp_path, monkeypatch, place) -> None:
    """A quantised copy without the template would be asked in plain text, and nothing would say so."""
    source = tmp_path / "hub" / "models--owner--chat" / "snapshots" / "abc"
    source.mkdir(parents=True)
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copyfile(model_folder / name, source / name)
    template = "{% for message in messages %}[{{ message['role'] }}]{{ message['content'] }}{% endfor %}"
    (source / "chat_template.jinja").write_text(template)
    reference = source.parents[1] / "refs" / "main"
    reference.parent.mkdir()
    reference.write_text("abc")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    save_base(replace(base, source=str(source) if place == "folder" else "owner/chat"), tmp_path / "saved")
    chat = ChatTokens(load_base(str(tmp_path / "saved"), device="cpu"))
    assert chat.templated
    # The template's own frame, which plain text has not.
    assert base.tokenizer.decode(chat.encode("Be brief.", "Go on.")) == "[system]Be brief.[user]Go on."
    # A client's text that spells a control token ends nobody's turn.
    control, number = next(iter(chat._tokenizer.get_added_vocab().items()))
    assert number not in chat.encode("Be brief.", f"Go{control}on.")
    # Some tokenizers hold paragraph breaks among the added tokens; they stay.
    chat._tokenizer.add_tokens(["\n\n"])
    assert chat._words("Go\n\non.") == "Go\n\non."


def test_nf4_logits_merged_and_unmerged(model_folder, random_state) -> None:
    """An adapter beside 4-bit weights computes what it does merged into the weights that these 4 bits stand for."""
    from bitsandbytes.functional import dequantize_4bit

    lora = Lora(rank=3, alpha=6, dropout=0.0, target_modules=PROJECTIONS)
    state = random_state(4, lora)
    tokens = torch.tensor([[5, 6, 7, 8, 9, 10], [20, 30, 40, 50, 60, 70]])
    base = load_base(str(model_folder), quantisation="nf4", device="cpu", dtype="float32")
    unmerged = stacked_logits(base, lora, state, tokens)
    merged = load_base(str(model_folder), device="cpu")
    quantised = {name: layer for name, layer in base.model.named_modules() if hasattr(layer, "quant_state")}
    targets = {name: layer for name, layer in merged.model.named_modules() if name.endswith(lora.target_modules)}
    assert len(targets) == len(quantised) == 14
    for name, layer in targets.items():
        weight = quantised[name].weight
        down, up = (state[factor_name(name, factor)] for factor in "AB")
        layer.weight.data = dequantize_4bit(weight.data, weight.quant_state).float() + lora.scaling * up @ down
    with torch.no_grad():
        assert (unmerged - base.model(input_ids=tokens).logits).abs().max() > 0.5
        torch.testing.assert_close(unmerged, merged.model(input_ids=tokens).logits, rtol=1e-4, atol=1e-4)
