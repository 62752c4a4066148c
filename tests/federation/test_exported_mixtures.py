"""What clients of mixtures and of personal factors generate with, exported to PEFT: the merged weights' logits."""

import numpy as np
import pytest
import torch
from tests.lm.conftest import *  # noqa: F403 - the small model's fixtures
from tests.lm.conftest import merged, plain_continuation, with_peft
from tests.oracles.conftest import plan_of

from favor.config.models import PROJECTIONS
from favor.federation.client_archive import write_pack
from favor.federation.factors import Factors
from favor.federation.inference import client_adapter, client_adapters, exported, prompt_gates, requests
from favor.federation.method import Inference, Mixture
from favor.foundation.tensors import write_safetensors
from favor.inference.generation import GenerationRequest, generate
from favor.lm.lora import export_peft, target_layers
from favor.lm.mixture import gate_layout
from favor.lm.settings import Lora

LORA = Lora(rank=4, alpha=8, dropout=0.0, target_modules=PROJECTIONS)
PROMPT = [7, 9, 30, 12]
CASES = {
    # (how, weight of the client's own adapter, of the other): outputs are own * B A + other * B' A'.
    "sum": (Inference("personal", mixture=Mixture("sum")), 1.0, 1.0),
    "sum with the final adapter": (Inference("personal", mixture=Mixture("sum"), global_half="final"), 1.0, 1.0),
    "learned": (Inference("personal", mixture=Mixture("learned")), 0.3, 0.7),
    "similarity": (Inference("personal", mixture=Mixture()), 0.3, 0.7),
    "personal B": (Inference("endpoint", global_half="final", uploads=Factors("A")), None, None),
    "own": (Inference("personal"), 1.0, 0.0),
    "final": (Inference("server"), 0.0, 1.0),
}
OF_METHOD = {
    **dict.fromkeys(("fedavgm", "fedadam", "fedyogi", "flexlora", "ffa_lora"), "final"),
    **{"fedavg_finetuned": "own", "fedsa_lora": "personal B", "fedrod_lora": "sum", "apfl": "learned"},
}


def test_a_gate_per_token_generates_beside_the_mean_of_the_others_and_is_no_export(
    base, random_state, tmp_path
) -> None:
    own, mean = random_state(1, LORA), random_state(2, LORA)
    gate = gate_layout(target_layers(base.model, LORA)).unflatten(torch.linspace(-1, 1, 480))
    how = Inference("endpoint", mixture=Mixture("token"), global_half="final")
    write_pack(tmp_path / "batch0.safetensors", {"client_001": {"endpoint": own, "gate": gate}}, {"round": "1"})
    write_safetensors(mean, tmp_path / "adapter.safetensors", {"members": "3"})
    files = [str(tmp_path / "batch0.safetensors"), str(tmp_path / "adapter.safetensors")]
    found = client_adapters(files, ["client_001", "client_002"], how)
    for name, tensor in found["client_001"].companion.items():
        torch.testing.assert_close(tensor, (3 * mean[name] - own[name]) / 2)
    others = {name: tensor.clone() for name, tensor in found["client_001"].companion.items()}
    asked = requests([("p", "client_001", PROMPT), ("q", "client_002", PROMPT)], found, {})
    assert prompt_gates(base, LORA, [("p", "client_001", PROMPT)], found) == {}
    pair = GenerationRequest("p", PROMPT, own, others, token_gate=gate)
    assert generate(base, LORA, asked, 12) == generate(base, LORA, [pair, GenerationRequest("q", PROMPT, mean)], 12)
    with pytest.raises(ValueError, match="cannot be exported"):
        exported(found["client_001"], LORA)


@pytest.mark.parametrize("method", OF_METHOD)
def test_every_method_is_exported_as_one_of_the_cases(method) -> None:
    how, case = plan_of(method).generates, CASES[OF_METHOD[method]][0]
    assert how.inference == case.inference
    assert (how.mixture and how.mixture.kind) == (case.mixture and case.mixture.kind)
    if case.inference == "endpoint":
        assert (how.global_half, how.uploads) == (case.global_half, case.uploads)


@pytest.mark.parametrize("case", CASES)
def test_the_export_has_the_logits_of_the_merged_model(case, base, random_state, model_folder, tmp_path) -> None:
    how, *weights = CASES[case]
    own, other = random_state(1, LORA), random_state(2, LORA)
    arrays = {name: np.asarray(tensor) for name, tensor in own.items()}
    companion = {name: np.asarray(tensor) for name, tensor in other.items()}
    parts = {"adapter": arrays, "companion": companion, "gate": {"value": np.array([0.7])}}
    if case == "personal B":
        parts = {"endpoint": arrays}
        expected = merged(model_folder, LORA, ({n: (other if "lora_A." in n else own)[n] for n in own}, 1.0))
    else:
        expected = merged(model_folder, LORA, *zip((own, other), weights, strict=True))
    if case == "final":
        write_safetensors(other, tmp_path / "adapter.safetensors", {})
        adapter = client_adapters([str(tmp_path / "adapter.safetensors")], ["client_001"], how)["client_001"]
    else:
        adapter = client_adapter(parts, how, companion)
    state, settings = exported(adapter, LORA)
    export_peft(state, settings, str(model_folder), tmp_path)
    model = with_peft(model_folder, tmp_path)
    with torch.no_grad():
        tokens = torch.tensor([PROMPT])
        torch.testing.assert_close(model(tokens).logits, expected(tokens).logits, rtol=1e-4, atol=1e-4)
    gates = {} if adapter.companion is None else {"p": adapter.gate}
    ours = generate(base, LORA, requests([("p", "client_001", PROMPT)], {"client_001": adapter}, gates), 12)[0]
    assert plain_continuation(expected, PROMPT) == plain_continuation(model, PROMPT) == ours
    assert settings.rank == LORA.rank * (1 if adapter.companion is None else 2)
    assert settings.alpha / settings.rank == LORA.alpha / LORA.rank
