"""An adapter as a GGUF file: every layer's delta, under the names and in the order of rows that transformers reads."""

from typing import Any

import gguf
import numpy as np
import pytest
from tests.lm.conftest import drawn_state
from transformers import AutoModelForCausalLM, GPT2Config, LlamaConfig, Qwen2Config, Qwen3Config
from transformers.modeling_gguf_pytorch_utils import LlamaTensorProcessor, TensorProcessor, get_gguf_hf_weights_map

from favor.foundation.errors import UserError
from favor.lm import gguf_adapter
from favor.lm.gguf_adapter import read_gguf_deltas, write_gguf_adapter
from favor.lm.lora import PEFT_PREFIX
from favor.lm.settings import Lora

LORA = Lora(rank=3, alpha=7, dropout=0.0)
SHAPE = {"vocab_size": 50, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2}
HEADS = {"num_attention_heads": 4, "num_key_value_heads": 2}


def deltas_of(state) -> dict[str, np.ndarray]:
    """(alpha / rank) B A of every layer by its name in transformers."""
    layers = sorted({name.split(".lora_")[0] for name in state})
    return {
        layer.removeprefix(PEFT_PREFIX): (
            LORA.alpha / LORA.rank * state[f"{layer}.lora_B.weight"] @ state[f"{layer}.lora_A.weight"]
        ).numpy()
        for layer in layers
    }


@pytest.mark.parametrize(
    "configuration",
    [LlamaConfig(**SHAPE, **HEADS), Qwen2Config(**SHAPE, **HEADS), Qwen3Config(**SHAPE, **HEADS, head_dim=16)],
    ids=["llama", "qwen2", "qwen3"],
)
def test_every_layer_gets_the_delta_of_the_adapter(configuration, tmp_path) -> None:
    """Names and rows by transformers' own reader of GGUF files, which undoes what llama.cpp's converter does."""
    state = drawn_state(configuration, LORA, 4)
    write_gguf_adapter(state, LORA, configuration, tmp_path / "a.gguf")
    found, expected = read_gguf_deltas(tmp_path / "a.gguf"), deltas_of(state)
    processor = (LlamaTensorProcessor if configuration.model_type == "llama" else TensorProcessor)(config=HEADS)
    names = get_gguf_hf_weights_map(AutoModelForCausalLM.from_config(configuration), processor)
    assert len(found) == len(expected) == 14  # seven layers in two blocks
    for name, delta in found.items():
        read = processor.process(delta, name).weights
        np.testing.assert_allclose(read, expected[names[name].removesuffix(".weight")], rtol=1e-5, atol=1e-6)
    fields = gguf.GGUFReader(tmp_path / "a.gguf").fields
    assert fields["general.type"].contents() == "adapter"
    assert fields["general.architecture"].contents() == configuration.model_type
    assert fields["adapter.type"].contents() == "lora"
    assert fields["adapter.lora.alpha"].contents() == 7


def test_what_llama_cpp_does_not_know_is_refused(tmp_path) -> None:
    with pytest.raises(UserError, match="no GGUF file is written for models of type 'gpt2'"):
        write_gguf_adapter({}, LORA, GPT2Config(), tmp_path / "a.gguf")
    configuration = LlamaConfig(**SHAPE, **HEADS)
    state = drawn_state(configuration, LORA, 4)
    state = {name.replace("mlp.up_proj", "mlp.odd"): tensor for name, tensor in state.items()}
    with pytest.raises(UserError, match=r"layers\.0\.mlp\.odd: llama\.cpp has no name for this layer"):
        write_gguf_adapter(state, LORA, configuration, tmp_path / "a.gguf")
    assert not list(tmp_path.iterdir())


def test_a_file_that_holds_another_delta_is_not_kept(tmp_path, monkeypatch) -> None:
    configuration = LlamaConfig(**SHAPE, **HEADS)
    read = read_gguf_deltas

    def other(path) -> dict[str, Any]:
        deltas = read(path)
        return {name: delta + (name == "blk.1.attn_k.weight") * 1e-3 for name, delta in deltas.items()}

    monkeypatch.setattr(gguf_adapter, "read_gguf_deltas", other)
    with pytest.raises(ValueError, match=r"the delta of .*layers\.1\.self_attn\.k_proj is not the adapter's"):
        write_gguf_adapter(drawn_state(configuration, LORA, 4), LORA, configuration, tmp_path / "a.gguf")
    assert not list(tmp_path.iterdir())
