"""A base model out of a GGUF file: what its header says, what is refused, and the real one of ``make real-base``."""

import hashlib
import json
import math
import struct
from pathlib import Path

import numpy as np
import pytest
import torch
from gguf import GGUFReader, GGUFWriter, quants
from tests.lm.conftest import drawn_state, optimisation, plain_continuation, plain_losses, under_peft
from tests.lm.test_training_oracle import oracle
from transformers import AutoTokenizer

from favor.config.models import PROJECTIONS
from favor.forecast.estimate import shape_of
from favor.foundation.errors import UserError
from favor.foundation.gguf import read_header
from favor.inference.generation import GenerationRequest, generate
from favor.inference.likelihood import Question, answer
from favor.lm.base import BaseModel, load_base
from favor.lm.gguf import dequantise, save_tokenizer
from favor.lm.gguf_adapter import rows_in_gguf
from favor.lm.lora import state_shapes
from favor.lm.settings import LanguageModel, Lora
from favor.lm.tasks import ClientTask, Piece
from favor.lm.training import train

LORA = Lora(rank=4, alpha=8, dropout=0.0, target_modules=PROJECTIONS)
TEXT = "I went to the lake this morning and the water was as cold as it ever is in March."


def written(path, architecture="llama", tokens=("a", "b", "c", "ab"), merges=("a b",), pre="gpt-2") -> Path:
    """A GGUF file of a model of one layer, 8 wide, whose head is its embedding."""
    writer = GGUFWriter(path, architecture)
    sizes = {"context_length": 512, "embedding_length": 8, "block_count": 1, "feed_forward_length": 8, "vocab_size": 4}
    for name, size in {**sizes, "attention.head_count": 2, "attention.head_count_kv": 2}.items():
        writer.add_uint32(f"{architecture}.{name}", size)
    writer.add_layer_norm_rms_eps(1e-5)
    if tokens:
        writer.add_tokenizer_model("gpt2")
        writer.add_tokenizer_pre(pre)
        writer.add_token_list(list(tokens))
        writer.add_token_merges(list(merges))
        writer.add_eos_token_id(0)
    square = ("attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down")
    shapes = {f"blk.0.{part}": (8, 8) for part in square} | {"blk.0.attn_norm": (8,), "blk.0.ffn_norm": (8,)}
    draw = np.random.default_rng(1)
    for name, shape in {**shapes, "token_embd": (4, 8), "output_norm": (8,)}.items():
        writer.add_tensor(f"{name}.weight", draw.normal(size=shape).astype(np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def test_the_header_says_context_and_size(tmp_path) -> None:
    found = read_header(written(tmp_path / "a.gguf"))
    assert (found.architecture, found.context, found.parameters) == ("llama", 512, 504)


def head(key, kind, value) -> bytes:
    """A GGUF file of version 3 with one entry and no tensor."""
    return b"GGUF" + struct.pack("<IQQQ", 3, 0, 1, len(key)) + key + struct.pack("<I", kind) + value


def test_what_cannot_be_read_is_one_line(tmp_path) -> None:
    whole = written(tmp_path / "a.gguf").read_bytes()
    for name, content, said in (
        ("text", b"hello, this is no model", "not a GGUF file"),
        ("header", whole[:60], "truncated or damaged in its header"),
        ("tensors", whole[: len(whole) - 128], "truncated"),
        ("alignment", head(b"general.alignment", 4, bytes(4)), "'general.alignment' is 0, which"),
        ("alignment as text", head(b"general.alignment", 8, struct.pack("<Q", 2) + b"32"), "'general.alignment' is 32"),
        ("array", head(b"a", 9, struct.pack("<IQ", 10, 2**63)), "truncated or damaged in its header"),
        ("texts", head(b"a", 9, struct.pack("<IQQ", 8, 1, 2**63)), "truncated or damaged in its header"),
        ("kind", head(b"a", 99, b""), "truncated or damaged in its header"),
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


def test_a_model_is_kept_as_transformers_dequantises_it(tmp_path) -> None:
    from transformers import AutoModelForCausalLM

    dequantise(written(tmp_path / "a.gguf"), tmp_path / "made")
    read = AutoModelForCausalLM.from_pretrained(tmp_path, gguf_file="a.gguf", dtype="float32").state_dict()
    kept = AutoModelForCausalLM.from_pretrained(tmp_path / "made").state_dict()
    assert kept.keys() == read.keys()
    assert all(torch.equal(tensor, kept[name]) for name, tensor in read.items())


@pytest.mark.parametrize(("pre", "expected"), [("gpt-2", ["a", "Ġ", "Ġ", "1", "2"]), ("smollm", ["a", "ĠĠ", "1", "2"])])
def test_digits_stand_alone_where_the_model_learned_them_so(tmp_path, pre, expected) -> None:
    """As the tokenizer of SmolLM2 says: individual digits first, also from the spaces before them, then bytes."""
    tokens = ("a", "1", "2", "Ġ", "ĠĠ", "12")
    save_tokenizer(written(tmp_path / "a.gguf", tokens=tokens, merges=("Ġ Ġ",), pre=pre), tmp_path / "made")
    assert AutoTokenizer.from_pretrained(tmp_path / "made").tokenize("a  12") == expected


@pytest.mark.parametrize("pre", ["starcoder", "default"])
def test_a_vocabulary_whose_split_is_not_known_is_refused(tmp_path, pre) -> None:
    with pytest.raises(
        UserError, match=f"a.gguf: .*not known how the vocabulary '{pre}' splits text.*give a model's fold"
    ):
        save_tokenizer(written(tmp_path / "a.gguf", pre=pre), tmp_path / "made")


def test_the_planner_reads_the_shape_that_transformers_reads(real_base) -> None:
    """And adapters are counted from the header as from the model."""
    from transformers import AutoConfig

    found = shape_of(LanguageModel(source=str(real_base))).to_dict()
    expected = AutoConfig.from_pretrained(real_base.parent, gguf_file=real_base.name).to_dict()
    names = {"_name_or_path", "_model_name_or_path", "pad_token_id", "unk_token_id"}
    assert {name for name in found.keys() | expected.keys() if found.get(name) != expected.get(name)} <= names
    shapes = state_shapes(shape_of(LanguageModel(source=str(real_base))), LORA)
    assert LORA.rank * read_header(real_base).widths == sum(map(math.prod, shapes.values()))


@pytest.fixture(scope="module")
def real(dequantised) -> BaseModel:
    torch.set_num_threads(1)
    return load_base(str(dequantised), device="cpu")


@pytest.fixture(scope="module")
def states(real) -> list[dict[str, torch.Tensor]]:
    return [drawn_state(real.model, LORA, seed, 0.02) for seed in (1, 3)]


def test_the_real_base_is_whole(real, real_base) -> None:
    record = json.loads((Path(real.source) / "gguf.json").read_text())
    assert record["sha256"] == hashlib.sha256(real_base.read_bytes()).hexdigest()
    assert real.context == read_header(real_base).context == 8192
    assert real.opening == ()
    assert sum(parameter.numel() for parameter in real.model.parameters()) == read_header(real_base).parameters


def test_the_rows_are_those_of_the_real_base(real, real_base) -> None:
    """Query and key weights of the GGUF file against those that transformers read from it."""
    weights, stored = real.model.state_dict(), {tensor.name: tensor for tensor in GGUFReader(real_base).tensors}
    for block in (0, 17):
        for short, name in (("q", "q_proj"), ("k", "k_proj"), ("v", "v_proj")):
            module = f"model.layers.{block}.self_attn.{name}"
            tensor = stored[f"blk.{block}.attn_{short}.weight"]
            found = quants.dequantize(tensor.data, tensor.tensor_type)
            rows = rows_in_gguf(module, real.model.config)
            own = weights[f"{module}.weight"].numpy()
            np.testing.assert_array_equal(found, own[rows] if len(rows) else own)
            assert (len(rows) > 0) == (short != "v")


def test_the_real_base_is_read_packed_as_plain_transformers_with_peft_read_it_alone(real, states) -> None:
    """Two clients' adapters in one pass, against PEFT, one text at a time."""
    from peft import set_peft_model_state_dict

    tokens = np.array(real.tokenizer.encode(TEXT), dtype=np.int32)
    pieces = [Piece(tokens, 4, "one"), Piece(tokens[3:], 2, "two")]
    found = answer(real, LORA, [Question(state, piece) for state in states for piece in pieces])
    model, expected = under_peft(real.source, LORA, states[0]), []
    for state in states:
        set_peft_model_state_dict(model, state)
        for piece in pieces:
            expected.append(float(plain_losses(model, piece).mean()))
    np.testing.assert_allclose(found.loss, expected, atol=1e-4)
    assert abs(expected[0] - expected[2]) > 1e-2


def test_the_real_base_trains_a_stack_as_peft_and_torch_train_each_client(real, states) -> None:
    """Two clients of unequal texts and steps, trained together, against PEFT modules and torch's AdamW, one by one."""
    tokens = np.array(real.tokenizer.encode(TEXT), dtype=np.int32)
    first = [Piece(tokens, 4, "a"), Piece(tokens[3:17], 2, "b"), Piece(tokens[5:], 6, "c")]
    second = [Piece(tokens[2:14], 3, "d"), Piece(tokens[:10], 1, "e")]
    tasks = [ClientTask("one", first, states[0], 1, 7), ClientTask("two", second, states[1], 1, 8)]
    settings = optimisation(learning_rate=1e-3, accumulation=1)
    for task, result in zip(tasks, train(real, LORA, tasks, settings), strict=True):
        state, losses, _, norms = oracle(real.source, LORA, task, settings)
        np.testing.assert_allclose([row["task_loss"] for row in result.log], losses, rtol=1e-4)
        np.testing.assert_allclose([row["gradient_norm"] for row in result.log], norms, rtol=1e-3)
        # A step of AdamW is about the learning rate, whatever the gradient: its sign is what can part by rounding.
        moved = max(float((result.state[name] - task.start[name]).abs().max()) for name in state)
        apart = torch.cat([(result.state[name] - state[name]).abs().flatten() for name in state])
        assert moved > 5e-4
        assert float((apart > 1e-5).float().mean()) < 1e-3


def test_the_real_base_generates_as_transformers_does(real, states) -> None:
    """Two adapters and the base alone, in one batch, against ``generate`` of PEFT models."""
    from peft import set_peft_model_state_dict

    prompts = [real.tokenizer.encode(TEXT)[:length] for length in (9, 6, 9)]
    given = [*states, None]
    asked = [GenerationRequest(str(row), prompt, given[row]) for row, prompt in enumerate(prompts)]
    found = generate(real, LORA, asked, 16, 1.1)
    model = under_peft(real.source, LORA, states[0])
    for prompt, state, own in zip(prompts, given, found, strict=True):
        set_peft_model_state_dict(model, state or {name: torch.zeros_like(value) for name, value in states[0].items()})
        assert plain_continuation(model, prompt, 16, end=real.end_ids[0]) == own
