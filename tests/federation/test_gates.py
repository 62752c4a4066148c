"""FedDPA's gate by hand, and what a gated client generates with against PEFT."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
import torch
from tests.lm.conftest import *  # noqa: F403 - the small model's fixtures

from favor.config.models import PROJECTIONS
from favor.federation.client_archive import write_pack
from favor.federation.gates import ClientGate, gate_values
from favor.federation.inference import client_adapter, client_adapters, exported, prompt_gates
from favor.federation.method import Inference, Mixture
from favor.federation.settings import StagePieces
from favor.foundation.errors import UserError
from favor.foundation.tensors import write_safetensors
from favor.inference.generation import last_token_states
from favor.lm.settings import Lora, Training
from favor.lm.tasks import cut_pieces

LORA = Lora(rank=4, alpha=8, dropout=0.0, target_modules=PROJECTIONS)
MIXTURE = Mixture(coefficient=0.5, references=2)
CFG = StagePieces(prefix_tokens=3, training=Training(max_length=12))


def plan(gating="static", **mixture) -> Inference:
    return Inference("personal", gating, mixture=dataclasses.replace(MIXTURE, **mixture))


def test_gate_by_hand() -> None:
    # Cosines of (3, 4) to (1, 0) and (0, 2): 0.6 and 0.8, mean 0.7, half of it 0.35. (-1, 0): -1 and 0: clipped to 0.
    values = gate_values(np.array([[3.0, 4.0], [-1.0, 0.0]]), np.array([[1.0, 0.0], [0.0, 2.0]]), 0.5)
    assert values.tolist() == pytest.approx([0.35, 0.0])
    # A coefficient of 2 would give 1.4: clipped to 1.
    assert gate_values(np.array([[3.0, 4.0]]), np.array([[1.0, 0.0], [0.0, 2.0]]), 2.0).tolist() == [1.0]


@pytest.fixture
def texts() -> pd.DataFrame:
    """Three training texts and two validation texts of one client."""
    words = {"one": "train", "two": "train", "three": "train", "four": "validation", "five": "validation"}
    frame = pd.DataFrame({"split": words.values(), "text": [f"alpha beta gamma delta {w} epsilon" for w in words]})
    trained = frame["split"] == "train"
    frame = frame.assign(client="client_001", document_id=[f"d{n}" for n in range(5)], prompt="")
    return frame.assign(allocated_words=4 * trained, training_text=frame["text"].where(trained, ""))


def test_a_clients_gate_is_the_mean_over_its_validation_texts(base, lora, random_state, texts) -> None:
    shared = random_state(3, lora)
    gate = ClientGate(base, lora, shared, texts, "client_001", MIXTURE, CFG, 2026).kept()
    own = [base.tokenizer.encode(text)[:3] for text in texts[texts["split"] == "validation"]["text"]]
    expected = gate_values(last_token_states(base, lora, shared, own), gate["references"], 0.5).mean()
    assert gate["value"][0] == pytest.approx(expected)
    assert gate["references"].shape == (2, base.hidden_size)
    again = ClientGate(base, lora, shared, texts, "client_001", MIXTURE, CFG, 2026).kept()
    np.testing.assert_array_equal(gate["references"], again["references"])
    with pytest.raises(UserError, match="client_001: no validation text"):
        ClientGate(base, lora, shared, texts[texts["split"] == "train"], "client_001", MIXTURE, CFG, 2026).kept()


def test_a_pieces_gate_sees_its_prefix_only(base, lora, random_state, texts) -> None:
    shared = random_state(3, lora)
    tokens = base.tokenizer.encode(texts["text"][0])
    longer = cut_pieces(tokens, "a", 3, 12)
    other = cut_pieces([*tokens[:3], *reversed(tokens[3:])], "b", 3, 12)
    gates = ClientGate(base, lora, shared, texts, "client_001", MIXTURE, CFG, 1).of_pieces([longer[0], other[0]])
    assert gates[0] == pytest.approx(gates[1], abs=1e-6)
    whole = dataclasses.replace(MIXTURE, states="text")
    gates = ClientGate(base, lora, shared, texts, "client_001", whole, CFG, 1).of_pieces([longer[0], other[0]])
    assert gates[0] != pytest.approx(gates[1], abs=1e-6)


def test_a_piece_is_not_its_own_reference(base, lora, random_state, texts) -> None:
    shared = random_state(3, lora)
    every = dataclasses.replace(MIXTURE, references=5)  # all three training texts are references
    gate = ClientGate(base, lora, shared, texts, "client_001", every, CFG, 1)
    tokens = [base.tokenizer.encode(text)[:3] for text in texts["text"][:3]]
    piece = cut_pieces(base.tokenizer.encode(texts["text"][1]), "d1", 3, 12)[0]
    states = last_token_states(base, lora, shared, tokens)
    expected = gate_values(states[1:2], states[[0, 2]], 0.5)
    assert gate.of_pieces([piece]).tolist() == pytest.approx(expected.tolist(), abs=1e-6)


def parts_of(random_state, lora, value=0.3) -> dict[str, dict[str, np.ndarray]]:
    own, shared = random_state(1, lora), random_state(2, lora)
    gate = {"value": np.array([value], np.float32), "references": np.ones((2, 8), np.float32)}
    return {
        "adapter": {key: tensor.numpy() for key, tensor in own.items()},
        "companion": {key: tensor.numpy() for key, tensor in shared.items()},
        "gate": gate,
    }


def test_averaged_factors_are_another_adapter_than_the_mixture(random_state) -> None:
    parts = parts_of(random_state, LORA)
    averaged = client_adapter(parts, plan(export="factors"))
    assert averaged.companion is None
    assert averaged.gate == pytest.approx(0.3)
    name = next(key for key in averaged.state if ".lora_A." in key)
    expected = 0.3 * parts["companion"][name] + 0.7 * parts["adapter"][name]
    np.testing.assert_allclose(averaged.state[name].numpy(), expected, rtol=1e-6)
    mixed, _ = exported(client_adapter(parts, plan()), LORA)
    second = name.replace("lora_A", "lora_B")
    product = averaged.state[second] @ averaged.state[name]
    assert not torch.allclose(product, mixed[second] @ mixed[name], atol=1e-3)


def test_a_dynamic_gate_follows_the_prompt(base, random_state) -> None:
    parts = parts_of(random_state, LORA)
    shared = {key: torch.from_numpy(value) for key, value in parts["companion"].items()}
    references = last_token_states(base, LORA, shared, [[5, 6], [9, 11]])
    parts["gate"]["references"] = references
    adapter = client_adapter(parts, plan("dynamic"))
    prompts = [("p", "client_001", [5, 6]), ("q", "client_001", [40, 41, 42]), ("r", "client_002", [1])]
    gates = prompt_gates(base, LORA, prompts, {"client_001": adapter, "client_002": None})
    assert set(gates) == {"p", "q"}
    expected = gate_values(last_token_states(base, LORA, shared, [[5, 6], [40, 41, 42]]), references, 0.5)
    assert [gates["p"], gates["q"]] == pytest.approx(expected.tolist())
    static = prompt_gates(base, LORA, prompts, {"client_001": client_adapter(parts, plan()), "client_002": None})
    assert static == pytest.approx({"p": 0.3, "q": 0.3})


def files_of(folder, parts, final) -> list[str]:
    """A pack of ``parts`` of client_001, and a final shared adapter."""
    write_pack(folder / "batch0.safetensors", {"client_001": parts}, {"round": "1"})
    write_safetensors(final, folder / "adapter.safetensors", {})
    return [str(folder / "batch0.safetensors"), str(folder / "adapter.safetensors")]


def test_the_global_half_is_that_of_the_last_participation_or_the_final_one(random_state, lora, tmp_path) -> None:
    parts, final = parts_of(random_state, lora), random_state(9, lora)
    files, name = files_of(tmp_path, parts, final), next(iter(final))
    for half, expected in (("last_round", parts["companion"]), ("final", final)):
        made = client_adapters(files, ["client_001"], dataclasses.replace(plan(), global_half=half))["client_001"]
        assert np.array_equal(made.companion[name], expected[name])
        assert made.gate == parts["gate"]["value"][0]
    with pytest.raises(ValueError, match="final shared adapter"):
        client_adapters(files[:1], ["client_001"], dataclasses.replace(plan(), global_half="final"))


def test_who_generates_with_what(random_state, lora, tmp_path) -> None:
    own, final = random_state(1, lora), random_state(2, lora)
    files, clients = files_of(tmp_path, {"adapter": own}, final), ["client_001", "client_002"]
    kept = client_adapters(files, clients, Inference("personal"))
    name = next(iter(own))
    assert torch.equal(kept["client_001"].state[name], own[name])
    assert torch.equal(kept["client_002"].state[name], final[name])
    assert set(client_adapters(files, clients, Inference("personal", never_sampled="dropped"))) == {"client_001"}
    assert client_adapters([], clients, Inference("personal")) == dict.fromkeys(clients)
