"""Foreign adapters: what PEFT saves is read back and generates as PEFT does; what is not plain LoRA is refused."""

import json
from pathlib import Path

import peft
import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import Qwen2Config, Qwen2ForCausalLM

from favor.foundation.errors import UserError
from favor.lm.lora import export_peft, initial_state
from favor.lm.peft_import import check_shapes, import_peft
from favor.lm.settings import Lora

SIZES = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2}
MODULES = ["k_proj", "q_proj"]


def model() -> Qwen2ForCausalLM:
    torch.manual_seed(0)
    return Qwen2ForCausalLM(Qwen2Config(vocab_size=40, num_key_value_heads=1, **SIZES))


@pytest.fixture
def folder(tmp_path) -> Path:
    """Two adapters that PEFT saved, with both factors drawn at random."""
    for seed, name in enumerate(("client_001", "client_002")):
        torch.manual_seed(seed)
        settings = peft.LoraConfig(r=4, lora_alpha=6, target_modules=MODULES, init_lora_weights=False)
        peft.get_peft_model(model(), settings).save_pretrained(tmp_path / name)
    return tmp_path


def folders(path) -> list[Path]:
    return sorted(path.iterdir())


def test_what_peft_saves_is_read(folder) -> None:
    states, settings = import_peft(folders(folder))
    assert settings == Lora(rank=4, alpha=6.0, dropout=0.0, target_modules=("k_proj", "q_proj"))
    check_shapes(states, model(), settings)
    saved = load_file(folder / "client_002" / "adapter_model.safetensors")
    assert states["client_002"].keys() == saved.keys()
    assert all(torch.equal(states["client_002"][name], saved[name]) for name in saved)


def test_what_is_exported_here_is_read_back(tmp_path) -> None:
    settings = Lora(rank=2, alpha=8, dropout=0.1, target_modules=("q_proj",))
    state = initial_state(model(), settings, 3)
    export_peft(state, settings, "base", tmp_path / "client_001")
    states, found = import_peft(folders(tmp_path))
    assert (found.rank, found.alpha, found.target_modules) == (2, 8.0, ("q_proj",))
    assert all(torch.equal(states["client_001"][name], state[name]) for name in state)


def test_half_precision_old_names_and_rank_stabilised_scales(folder) -> None:
    for place in folders(folder):
        path = place / "adapter_model.safetensors"
        state = {
            name.replace(".weight", ".default.weight"): tensor.bfloat16() for name, tensor in load_file(path).items()
        }
        save_file(state, path)
        edit(place, use_rslora=True)
    states, settings = import_peft(folders(folder))
    assert settings.scaling == pytest.approx(6 / 4**0.5)
    check_shapes(states, model(), settings)
    assert all(tensor.dtype == torch.float32 for tensor in states["client_001"].values())


def edit(place, **keys) -> None:
    path = place / "adapter_config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | keys))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"peft_type": "LOHA", "r": None}, "of type LOHA; only LORA"),
        ({"use_dora": True}, "'use_dora' is set"),
        ({"init_lora_weights": "pissa_niter_4"}, "'init_lora_weights' is 'pissa_niter_4', which changes the base"),
        ({"alora_invocation_tokens": [5, 6]}, "'alora_invocation_tokens' is set"),
        ({"modules_to_save": ["lm_head"]}, "'modules_to_save' is set"),
        ({"bias": "all"}, "'bias' is 'all'"),
        ({"r": "a"}, r"key 'r': Input should be a valid integer"),
        ({"r": 0}, r"key 'r': Input should be greater"),
        ({"r": None}, r"key 'r': "),
        ({"r": 10**30}, r"key 'r': "),
        ({"r": -1, "use_rslora": True}, r"key 'r': "),
        ({"lora_alpha": "much"}, r"key 'lora_alpha': "),
        ({"init_lora_weights": ["pissa"]}, r"key 'init_lora_weights"),
        ({"peft_type": ["LORA"]}, r"of type \['LORA'\]; only LORA"),
        ("[]", "not an adapter of LoRA in PEFT's format"),
        ("[" * 100_000, "Invalid JSON: recursion limit"),
    ],
)
def test_a_configuration_of_another_kind_or_form_is_refused(folder, content, message) -> None:
    if isinstance(content, str):
        (folder / "client_002" / "adapter_config.json").write_text(content)
    else:
        edit(folder / "client_002", **content)
    with pytest.raises(UserError, match=rf"adapter_config\.json: .*{message}"):
        import_peft(folders(folder))


def test_adapters_of_unequal_scales_are_refused(folder) -> None:
    edit(folder / "client_002", lora_alpha=9)
    with pytest.raises(UserError, match="adapter 'client_002': alpha 9, but 'client_001' has 6; the adapters of a row"):
        import_peft(folders(folder))


def test_an_adapter_in_a_cache_is_links(folder) -> None:
    path = folder / "client_002" / "adapter_config.json"
    blob = path.rename(folder.with_name("blob"))
    path.symlink_to(blob)
    assert import_peft(folders(folder))


def test_another_model_and_broken_files_are_refused(folder) -> None:
    states, settings = import_peft(folders(folder))
    torch.manual_seed(0)
    wide = Qwen2ForCausalLM(Qwen2Config(vocab_size=40, num_key_value_heads=2, **SIZES))
    with pytest.raises(UserError, match=r"k_proj.lora_B.weight is \(8, 4\), the .* base model needs \(16, 4\)"):
        check_shapes(states, wide, settings)
    deep = Qwen2ForCausalLM(Qwen2Config(vocab_size=40, num_key_value_heads=1, **{**SIZES, "num_hidden_layers": 3}))
    with pytest.raises(UserError, match=r"layers.2.self_attn.k_proj.lora_A.weight is missing"):
        check_shapes(states, deep, settings)
    (folder / "client_002" / "adapter_model.safetensors").write_bytes(b"0" * 20)
    with pytest.raises(UserError, match="not a complete safetensors file"):
        import_peft(folders(folder))
    (folder / "client_001" / "adapter_config.json").unlink()
    with pytest.raises(UserError, match="must hold an adapter in PEFT's format"):
        import_peft(folders(folder))
