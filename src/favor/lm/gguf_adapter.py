"""An adapter as a GGUF file, which llama.cpp and Ollama put on top of a base model of theirs.

Layout: that of llama.cpp's ``convert_lora_to_gguf.py``. The factors of a layer are the tensors ``<layer>.lora_a``
[rank, d_in] and ``<layer>.lora_b`` [d_out, rank], and the scale is ``adapter.lora.alpha`` / rank. Llama's projections
to queries and keys are stored in another order of rows, because llama.cpp pairs neighbours in rotary positions.
"""

from pathlib import Path
from typing import Any

import numpy as np

from favor.foundation.errors import UserError
from favor.foundation.files import atomic_path
from favor.lm.lora import PEFT_PREFIX, LoraState
from favor.lm.settings import Lora

# transformers' name of an architecture -> llama.cpp's, and whether its query and key rows change places.
_ARCHITECTURES = {
    "llama": ("llama", True),
    "mistral": ("llama", True),
    "qwen2": ("qwen2", False),
    "qwen3": ("qwen3", False),
}
ALPHA, KIND = "adapter.lora.alpha", "adapter.type"


def write_gguf_adapter(state: LoraState, lora: Lora, configuration: Any, path: Path) -> None:
    """Write an adapter in float32 for a base model of a transformers ``configuration``, and read it back.

    Raises ``UserError`` for an architecture or a layer whose name in llama.cpp is not known here, and ``ValueError``
    where a layer's delta that is read differs from the adapter's.
    """
    import gguf

    if configuration.model_type not in _ARCHITECTURES:
        raise UserError(
            f"no GGUF file is written for models of type '{configuration.model_type}' (only "
            f"{', '.join(_ARCHITECTURES)}); llama.cpp's convert_lora_to_gguf.py may convert the one in PEFT's format"
        )
    architecture, permuted = _ARCHITECTURES[configuration.model_type]
    names = gguf.get_tensor_name_map(
        {name: kind for kind, name in gguf.MODEL_ARCH_NAMES.items()}[architecture], configuration.num_hidden_layers
    )
    stored: dict[str, tuple[str, np.ndarray, np.ndarray]] = {}
    for layer in sorted({name.split(".lora_")[0] for name in state}):
        module = layer.removeprefix(PEFT_PREFIX)
        known = names.get_name(module)
        if known is None:
            raise UserError(f"{module}: llama.cpp has no name for this layer; use the adapter in PEFT's format")
        a, b = (np.ascontiguousarray(state[f"{layer}.lora_{factor}.weight"], dtype=np.float32) for factor in "AB")
        rows = rows_in_gguf(module, configuration) if permuted else np.arange(0)
        stored[layer] = f"{known}.weight", a, b[rows] if len(rows) else b
    with atomic_path(path) as temporary:
        writer = gguf.GGUFWriter(temporary, architecture)
        writer.add_type(gguf.GGUFType.ADAPTER)
        writer.add_string(KIND, "lora")
        writer.add_float32(ALPHA, float(lora.alpha))
        for name, a, b in stored.values():
            writer.add_tensor(f"{name}.lora_a", a)
            writer.add_tensor(f"{name}.lora_b", b)
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()
        deltas = read_gguf_deltas(temporary)
        for layer, (name, a, b) in stored.items():
            if not np.allclose(deltas.pop(name), lora.scaling * (b @ a), rtol=1e-5, atol=1e-8):
                raise ValueError(f"{path}: the delta of {layer} is not the adapter's")
        if deltas:
            raise ValueError(f"{path}: holds layers that the adapter has not: {sorted(deltas)}")


def read_gguf_deltas(path: Path) -> dict[str, np.ndarray]:
    """Return what the adapter in a GGUF file adds to every layer [d_out, d_in], in llama.cpp's names and order of rows.

    It is (alpha / rank) B A, as llama.cpp computes it.
    """
    import gguf

    reader = gguf.GGUFReader(path)
    alpha = float(reader.fields[ALPHA].contents())
    tensors = {tensor.name: np.array(tensor.data) for tensor in reader.tensors}
    names = sorted(name.removesuffix(".lora_a") for name in tensors if name.endswith(".lora_a"))
    return {
        name: alpha / len(tensors[f"{name}.lora_a"]) * (tensors[f"{name}.lora_b"] @ tensors[f"{name}.lora_a"])
        for name in names
    }


def rows_in_gguf(module: str, configuration: Any) -> np.ndarray:
    """Return which rows of a Llama projection stand where in a GGUF file; empty where they keep their places.

    A head's rows are halves (i, i + size / 2) in transformers and neighbours (2 i, 2 i + 1) in llama.cpp.
    """
    heads = {
        "q_proj": configuration.num_attention_heads,
        "k_proj": getattr(configuration, "num_key_value_heads", None) or configuration.num_attention_heads,
    }.get(module.rpartition(".")[2])
    if heads is None:
        return np.arange(0)
    size = getattr(configuration, "head_dim", None) or configuration.hidden_size // configuration.num_attention_heads
    return np.arange(heads * size).reshape(heads, 2, size // 2).swapaxes(1, 2).ravel()
