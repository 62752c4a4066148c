"""A base model out of a GGUF file: what its header says, what is refused, and the real one of ``make real-base``."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest
import torch
from gguf import GGUFWriter

from favor.config.models import PROJECTIONS
from favor.foundation.errors import UserError
from favor.foundation.gguf import read_header
from favor.lm.base import load_base
from favor.lm.batches import Piece
from favor.lm.gguf import dequantise
from favor.lm.likelihood import Question, answer
from favor.lm.settings import Lora

REAL = Path(__file__).resolve().parents[2] / "resources" / "SmolLM2-135M-Instruct.Q4_1.gguf"
TEXT = "I went to the lake this morning and the water was as cold as it ever is in March."


def written(path, architecture="llama", tokens=("a", "b")) -> Path:
    """A GGUF file of one tensor of 4 x 8 elements."""
    writer = GGUFWriter(path, architecture)
    writer.add_context_length(512)
    if tokens:
        writer.add_token_list(list(tokens))
    writer.add_tensor("token_embd.weight", np.ones((4, 8), dtype=np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def test_the_header_says_context_and_size(tmp_path) -> None:
    found = read_header(written(tmp_path / "a.gguf"))
    assert (found.architecture, found.context, found.parameters) == ("llama", 512, 32)


def test_what_cannot_be_read_is_one_line(tmp_path) -> None:
    whole = written(tmp_path / "a.gguf").read_bytes()
    for name, content, said in (
        ("text", b"hello, this is no model", "not a GGUF file"),
        ("header", whole[:60], "truncated or damaged in its header"),
        ("tensors", whole[: len(whole) - 128], "truncated"),
        ("nothing", written(tmp_path / "b.gguf", tokens=()).read_bytes(), "no tokenizer in it"),
    ):
        path = tmp_path / f"{name}.gguf"
        path.write_bytes(content)
        with pytest.raises(UserError, match=said):
            read_header(path)
    with pytest.raises(UserError, match=r"file not found; correct the path \('make real-base'"):
        read_header(tmp_path / "absent.gguf")
    with pytest.raises(UserError, match="architecture 'unheard' cannot be read"):
        dequantise(written(tmp_path / "c.gguf", "unheard"), tmp_path / "made")
    assert not (tmp_path / "made").exists()


@pytest.mark.skipif(not REAL.is_file(), reason="needs the real base: make real-base")
def test_the_real_base_is_read_packed_and_alone_as_plain_transformers_with_peft(tmp_path) -> None:
    from peft import LoraConfig, get_peft_model, set_peft_model_state_dict
    from transformers import AutoModelForCausalLM

    from favor.lm.lora import state_shapes

    torch.set_num_threads(1)
    dequantise(REAL, tmp_path / "base")
    record = json.loads((tmp_path / "base" / "gguf.json").read_text())
    assert record["sha256"] == hashlib.sha256(REAL.read_bytes()).hexdigest()
    base = load_base(str(tmp_path / "base"), device="cpu")
    assert base.context == read_header(REAL).context == 8192
    assert base.opening == ()
    assert sum(parameter.numel() for parameter in base.model.parameters()) == read_header(REAL).parameters
    # As dequantised by transformers, and not changed by saving.
    plain = AutoModelForCausalLM.from_pretrained(REAL.parent, gguf_file=REAL.name, dtype="float32")
    saved = base.model.state_dict()
    assert all(torch.equal(tensor, saved[name]) for name, tensor in plain.state_dict().items())
    # Two clients' adapters in one pass, against PEFT, one text at a time.
    lora = Lora(rank=4, alpha=8, dropout=0.0, target_modules=PROJECTIONS)
    tokens = np.array(base.tokenizer.encode(TEXT), dtype=np.int32)
    pieces = [Piece(tokens, 4, "one"), Piece(tokens[3:], 2, "two")]
    generator = torch.Generator().manual_seed(1)
    shapes = state_shapes(base.model, lora)
    states = [{n: 0.02 * torch.randn(s, generator=generator) for n, s in shapes.items()} for _ in pieces]
    found = answer(base, lora, [Question(state, piece) for state in states for piece in pieces])
    targets = list(lora.target_modules)
    model = get_peft_model(plain, LoraConfig(r=4, lora_alpha=8, lora_dropout=0.0, target_modules=targets))
    model.eval()
    expected = []
    for state in states:
        set_peft_model_state_dict(model, state)
        for piece in pieces:
            ids = torch.tensor(piece.tokens.astype(np.int64))[None]
            with torch.no_grad():
                logs = model(ids).logits[0].log_softmax(-1)
            first = piece.response_start
            expected.append(-float(logs[range(first - 1, len(piece) - 1), ids[0, first:]].mean()))
    np.testing.assert_allclose(found.loss, expected, atol=1e-4)
    assert abs(expected[0] - expected[2]) > 1e-2
