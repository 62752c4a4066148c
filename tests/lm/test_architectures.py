"""Decoders of eight families, tiny and random, through adapters, 4 bits, training, generation and PEFT's format."""

from typing import Any

import numpy as np
import pytest
import torch
import transformers
from peft import PeftModel
from tests.lm.conftest import (
    SENTENCES,
    TINY,
    benchmark,
    drawn_state,
    optimisation,
    plain_continuation,
    random_model,
    stacked_logits,
)

from favor.foundation.errors import UserError
from favor.inference.generation import GenerationRequest, generate
from favor.lm.attention import Packing, packed_attention
from favor.lm.base import load_base
from favor.lm.lora import export_peft, initial_state, target_layers
from favor.lm.settings import Lora
from favor.lm.tasks import Piece
from favor.lm.training import ClientTask, train

pytestmark = pytest.mark.slow(35)

ATTENTION, GATED = ("q_proj", "k_proj", "v_proj", "o_proj"), ("gate_proj", "up_proj", "down_proj")
TARGETS = {
    **dict.fromkeys(("Llama", "Mistral", "Qwen2", "Qwen3", "Gemma", "Gemma3"), (*ATTENTION, *GATED)),
    "Phi": ("q_proj", "k_proj", "v_proj", "dense", "fc1", "fc2"),
    "Phi3": ("qkv_proj", "o_proj", "gate_up_proj", "down_proj"),
}
HEADS = {
    "Qwen3": {"head_dim": 8},
    "Gemma": {"head_dim": 8},
    "Gemma3": {"head_dim": 8, "sliding_window": 8, "layer_types": ["sliding_attention", "full_attention"]},
}


def saved(family, folder, **sizes) -> Any:
    return random_model(folder, SENTENCES * 3, 3, family, {"Gemma3": "Gemma3TextConfig"}.get(family), **sizes)


@pytest.fixture(scope="module", params=list(TARGETS))
def decoder(request, tmp_path_factory) -> tuple[str, str, Lora, dict[str, torch.Tensor]]:
    """(family, folder of the model, adapter settings, a random adapter)."""
    folder = tmp_path_factory.mktemp(request.param)
    model = saved(request.param, folder, **HEADS.get(request.param, {}))
    lora = Lora(rank=3, alpha=6, dropout=0.0, target_modules=None)
    return request.param, str(folder), lora, drawn_state(model, lora, 9, 0.3)


@pytest.mark.parametrize("quantisation", ["none", "nf4"])
def test_logits_and_continuations_are_those_of_peft_and_transformers(decoder, quantisation, tmp_path) -> None:
    family, source, lora, state = decoder
    assert {name.split(".")[-3] for name in state} == set(TARGETS[family])
    export_peft(state, lora, source, tmp_path)
    base, other = (load_base(source, quantisation, "cpu", "float32", lora) for _ in range(2))
    theirs = PeftModel.from_pretrained(other.model, tmp_path).eval()
    tokens = torch.tensor([[5, 6, 7, 8, 9, 10], [20, 30, 40, 50, 60, 70]])
    ours = stacked_logits(base, lora, state, tokens)
    with torch.no_grad():
        torch.testing.assert_close(ours, theirs(input_ids=tokens).logits, rtol=1e-4, atol=1e-4)
        assert (ours - base.model(input_ids=tokens).logits).abs().max() > 0.01
    prompts = [[5, 9, 14, 20], [7, 8, 9, 10, 11, 12]]
    requests = [GenerationRequest(str(row), prompt, state) for row, prompt in enumerate(prompts)]
    assert generate(base, lora, requests, 12) == [plain_continuation(theirs, prompt) for prompt in prompts]


training_benchmark = benchmark("training")


def test_training_is_that_of_trainer_and_peft(decoder, training_benchmark) -> None:
    """Three steps on pieces of unequal lengths: packed here, padded there; the last perceptron whole there."""
    family, folder, _, _ = decoder
    base = load_base(folder, device="cpu")
    tokens = np.array(base.tokenizer.encode(" ".join(SENTENCES)), dtype=np.int32)
    pieces = [Piece(tokens[:length], start, str(length)) for length, start in ((41, 4), (7, 3), (23, 9), (12, 1))]
    lora = Lora(rank=3, alpha=6, dropout=0.0, target_modules=TARGETS[family])
    assert training_benchmark.sides_apart(base, pieces, lora) < 1e-3


ALTERED, LEAKS = "it alters its logits after the output layer", "carry what they read of one piece of a packed row"
EXPERTS = {
    "num_experts": 2, "num_experts_per_tok": 1, "moe_intermediate_size": 16, "shared_expert_intermediate_size": 16,
}  # fmt: skip
CAPPED = {"head_dim": 8, "attn_logit_softcapping": None, "final_logit_softcapping": 30.0}
REFUSED: list[tuple[str, dict[str, object], str]] = [
    ("Granite", {"logits_scaling": 8.0}, ALTERED),
    ("Gemma2", CAPPED, ALTERED),  # small logits by less than the tolerance that bfloat16 needs
    ("Gemma2", {"head_dim": 8}, "Gemma2Attention: attention with softcap is not supported; take a decoder"),
    ("Lfm2", {"layer_types": ["conv", "full_attention"], "block_ff_dim": 48}, LEAKS),  # a convolution
    ("RecurrentGemma", {"lru_width": 32, "head_dim": 8, "block_types": ["recurrent", "attention"]}, LEAKS),
    ("GPTNeo", {"attention_types": [[["global", "local"], 1]], "num_heads": 4, "num_layers": 2}, LEAKS),
    ("XGLM", {"d_model": 32, "ffn_dim": 48, "num_layers": 2, "attention_heads": 4, "init_std": 0.15}, LEAKS),
    # Experts, whose windows are in their masks alone.
    ("Qwen2Moe", {**EXPERTS, "use_sliding_window": True, "sliding_window": 8, "max_window_layers": 1}, LEAKS),
    ("Phimoe", {"num_local_experts": 2, "sliding_window": 8}, LEAKS),
    ("StableLm", {}, "StableLmAttention: it is not told which pieces a row has; take a decoder"),
    ("Falcon", {"alibi": True}, r"it does not read packed rows \(unsupported operand.*; take a decoder"),
]


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize(("family", "options", "message"), REFUSED)
def test_a_model_that_would_be_trained_wrongly_is_refused(family, options, message, dtype, tmp_path) -> None:
    """Most of all one whose layers see across the pieces of a row: its losses would look as good as any."""
    saved(family, tmp_path, **options)
    with pytest.raises(UserError, match=message):
        load_base(str(tmp_path), device="cpu", dtype=dtype)


@pytest.mark.parametrize("window", [None, 8, 128])
@pytest.mark.parametrize("family", ["Mistral", "Qwen2", "Qwen2Moe"])
def test_windows_are_kept_or_refused(family, window, tmp_path) -> None:
    """One as long as the context is none, whoever keeps it; the model's own windows are left as they were."""
    switched = {"use_sliding_window": window is not None, "max_window_layers": 1} if "Qwen" in family else {}
    experts = EXPERTS if family == "Qwen2Moe" else {}
    saved(family, tmp_path, **switched, **experts, sliding_window=window)
    if family == "Qwen2Moe" and window == 8:
        with pytest.raises(UserError, match="sliding window by their masks alone"):
            load_base(str(tmp_path), device="cpu")
        return
    model = load_base(str(tmp_path), device="cpu").model
    own = transformers.AutoModelForCausalLM.from_pretrained(tmp_path)
    assert model.config.sliding_window == own.config.sliding_window
    held = [[getattr(layer.self_attn, "sliding_window", None) for layer in one.model.layers] for one in (model, own)]
    assert held[0] == held[1]


@pytest.mark.parametrize(("kind", "context"), [("dynamic", 64), ("longrope", 16)])
def test_positions_that_change_with_the_longest_text_of_a_row(kind, context, tmp_path) -> None:
    """A model reads no text with which it would read its neighbours otherwise."""
    factors = {"short_factor": [1.0] * 4, "long_factor": [8.0] * 4} if kind == "longrope" else {"factor": 4.0}
    rotation = {"rope_type": kind, "rope_theta": 10000.0, "original_max_position_embeddings": 16, **factors}
    lengths = {"max_position_embeddings": 64, "original_max_position_embeddings": 16}
    family = {"dynamic": "Llama", "longrope": "Phi3"}[kind]
    vocabulary = saved(family, tmp_path, **lengths, rope_parameters=rotation).config.vocab_size
    base = load_base(str(tmp_path), device="cpu")
    assert base.context == context
    with pytest.raises(UserError, match=f"need {context + 1} tokens, its context holds {context}"):
        load_base(str(tmp_path), device="cpu", context_needed=context + 1)

    def states(neighbour) -> torch.Tensor:
        packing = Packing((8, neighbour), base.device)
        tokens = torch.arange(8 + neighbour)[None] % vocabulary
        return base.final_states(tokens, position_ids=packing.positions, packing=packing)[0, :8]

    with torch.no_grad(), packed_attention(base.model):
        torch.testing.assert_close(states(context), states(4))
        assert (states(context + 1) - states(4)).abs().max() > 1e-4


def test_padding_stays_within_the_context(tmp_path) -> None:
    """A model without rotary positions has none beyond it; a pass of 1,080 tokens is filled up with 72 more."""
    saved("OPT", tmp_path, max_position_embeddings=64, ffn_dim=48, word_embed_proj_dim=32)
    base, lora = load_base(str(tmp_path), device="cpu"), Lora(rank=3, alpha=6, dropout=0.0, target_modules=None)
    draw = np.random.default_rng(0)
    pieces = [Piece(draw.integers(2, 200, 60).astype(np.int32), 30, str(number)) for number in range(18)]
    task = ClientTask(name="a", pieces=pieces, start=initial_state(base.model, lora, 1), epochs=1, stage_seed=1)
    losses = []
    for micro_batch in (18, 1):
        sizes = {"micro_batch": micro_batch, "accumulation": 18 // micro_batch, "max_length": 60}
        (result,) = train(base, lora, [task], optimisation(**sizes))
        losses.append(float(result.log[0]["task_loss"]))
    assert losses[0] == pytest.approx(losses[1], rel=1e-5)


def test_layers_that_are_no_linear_ones_are_refused_with_those_that_are() -> None:
    from transformers import GPT2Config, GPT2LMHeadModel, MixtralConfig, MixtralForCausalLM

    with torch.device("meta"):
        gpt = GPT2LMHeadModel(GPT2Config(n_embd=32, n_layer=1, n_head=2, vocab_size=40))
        sizes = {key: value for key, value in TINY.items() if "token" not in key}
        experts = MixtralForCausalLM(MixtralConfig(**sizes, vocab_size=40, num_local_experts=2))
    for model, names, said in (
        (gpt, None, r"c_attn, c_fc, c_proj: Conv1D .*you can name: none"),
        (experts, None, r"fused expert.*you can name: (gate, )?k_proj, o_proj, q_proj, v_proj"),
        (gpt, ("c_attn",), r"named c_attn .* \(c_attn, c_fc, c_proj: Conv1D .*nearest names are: none"),
        (experts, ("q_proj", "lm_head"), r"target_modules: .* named lm_head beside the output layer"),
        (experts, ("gate_up_proj",), r"gate_up_proj .* \(down_proj, .*fused expert.*names are: .*_proj"),
    ):
        with pytest.raises(UserError, match=said):
            target_layers(model, Lora(target_modules=names))
