"""What crossed the boundary, counted: by hand on small files, and at Qwen2.5-3B's shape against the paper's totals."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import safetensors.numpy
from tests.experiments import experiment

from favor.federation.client_archive import write_pack
from favor.federation.communication_record import DOWN, STAYS, UP, pack_bytes, round_traffic, run_boundary
from favor.federation.factors import Factors
from favor.federation.method import SharedStage, plan_values
from favor.federation.row_plan import load_method
from favor.federation.schemas import TRAFFIC
from favor.federation.settings import RunBoundary
from favor.federation.state_rule import StateRule
from favor.foundation.parquet import write_parquet
from favor.foundation.tensors import safetensors_bytes, write_safetensors
from favor.scores.efficiency import efficiency_scores

STATE = {"m.lora_A.weight": np.ones((2, 3), np.float32), "m.lora_B.weight": np.ones((4, 2), np.float32)}


def scored(frame) -> pd.Series:
    """The efficiency scores of a run with this boundary record, by metric."""
    (run,) = frame[["seed", "method"]].drop_duplicates().itertuples(index=False, name=None)
    log = pd.DataFrame({"supervised_tokens": []})
    return efficiency_scores(frame, {run: log}, {run: 0}, {run: 0.0}).set_index("metric")["value"]


def test_a_part_counts_as_the_file_it_would_be_alone(tmp_path) -> None:
    clients = ("client_001", "client_002")
    write_pack(tmp_path / "pack.safetensors", {client: {"delta": STATE} for client in clients}, {})
    write_safetensors(STATE, tmp_path / "alone.safetensors", {"format": "pt"})
    alone = (tmp_path / "alone.safetensors").stat().st_size
    assert pack_bytes(tmp_path / "pack.safetensors") == {(client, "delta"): alone for client in clients}


@pytest.fixture
def run(tmp_path) -> tuple[RunBoundary, str]:
    """One method, two rounds with two clients and one; a residual stays; a third client fetches the last adapter."""
    results = tmp_path / "results"
    traffic = []
    for number, cohort in enumerate((["client_001", "client_002"], ["client_001"])):
        folder = results / "x" / f"round{number}"
        adapter = folder / "server" / "adapter.safetensors"
        write_safetensors(STATE, adapter, {"round": str(number)})
        uploads = folder / "uploads" / "batch0.safetensors"
        write_pack(uploads, {name: {"delta": STATE} for name in cohort}, {})
        frame = round_traffic(number, str(adapter), [str(uploads)], str(results), SharedStage())
        traffic.append(str(folder / "server" / "traffic.parquet"))
        write_parquet(frame, traffic[-1], TRAFFIC)
    packs = results / "x" / "clients" / "batch0.safetensors"
    write_pack(packs, {"client_001": {"endpoint": STATE, "residual": STATE}}, {"round": "1"})
    made = {"seed": 7, "method": "favor", "recipients": ["client_003"], "pooled": False, "stage": None}
    final = str(results / "x" / "round1" / "server" / "adapter.safetensors")
    return RunBoundary(**made, traffic=traffic, packs=[str(packs)], final=final), str(results)


def recorded(run, texts=(), **changes) -> pd.DataFrame:
    """The record of a run with these changes, whose clients wrote ``texts``: (client, prompt, text trained on)."""
    made, results = run
    written = pd.DataFrame(list(texts), columns=["client", "prompt", "training_text"])
    return run_boundary(made.model_copy(update=changes), written, results)


def test_every_file_is_listed_in_its_direction(run) -> None:
    frame = recorded(run, [("client_001", "", "hällo")])
    size = safetensors_bytes({key: value.shape for key, value in STATE.items()})
    assert sorted(frame[["round", "direction", "content", "client"]].itertuples(index=False, name=None)) == [
        (0, UP, "delta", "client_001"),
        (0, UP, "delta", "client_002"),
        (0, DOWN, "shared adapter", "client_001"),
        (0, DOWN, "shared adapter", "client_002"),
        (1, UP, "delta", "client_001"),
        (1, DOWN, "shared adapter", "client_001"),
        (2, DOWN, "final adapter", "client_003"),
        (2, STAYS, "endpoint", "client_001"),
        (2, STAYS, "residual", "client_001"),
    ]
    assert set(frame["bytes"]) == {size}
    assert not frame["file"].str.startswith("/").any()
    totals = scored(frame)
    assert totals["upload_bytes"] == 3 * size
    assert totals["traffic_bytes"] == 6 * size
    assert totals["final_broadcast_bytes"] == totals["residual_bytes"] == size
    assert totals["upload_round_bytes"] == 1.5 * size


def crossed(run, folder, stage, shared, sent, **changes) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The traffic of a round in which client_001 is sent ``shared`` and uploads ``sent``, and the record after it."""
    (traffic, *_), results = run[0].traffic, run[1]
    adapter, uploads = folder / "results" / "adapter.safetensors", folder / "results" / "uploads.safetensors"
    write_safetensors(shared, adapter, {})
    write_pack(uploads, {"client_001": {stage.content: sent}}, {})
    frame = round_traffic(0, str(adapter), [str(uploads)], results, stage)
    write_parquet(frame, traffic, TRAFFIC)
    return frame, recorded(run, traffic=[traffic], final=str(adapter), stage=plan_values(stage), **changes)


def test_what_is_not_uploaded_is_not_broadcast_either(run, tmp_path) -> None:
    sent = {name: value for name, value in STATE.items() if ".lora_B." in name}
    frame, record = crossed(run, tmp_path, SharedStage(trains=Factors("B")), STATE, sent)
    # B alone: 4 bytes for each of its 4 x 2 numbers, and a safetensors header.
    header = len(safetensors.numpy.save(sent, {"format": "pt"})) - 4 * 8
    assert frame["bytes"].tolist() == [4 * 8 + header] * 2
    assert record.loc[record["content"] == "final adapter", "bytes"].tolist() == [4 * 8 + header]


def test_a_state_crosses_both_ways_and_not_to_who_generates_alone(run, tmp_path) -> None:
    stage = SharedStage(state=StateRule("favor.federation.methods.scaffold", 3))
    both = {**STATE, **{f"state/{name}": value for name, value in STATE.items()}}
    own = tmp_path / "results" / "own.safetensors"
    write_pack(own, {"client_001": {"state": STATE}}, {"round": "0"})
    frame, record = crossed(run, tmp_path, stage, both, both, packs=[str(own)])
    once, twice = (len(safetensors.numpy.save(part, {"format": "pt"})) for part in (STATE, both))
    assert frame[["content", "bytes"]].to_numpy().tolist() == [[stage.content, twice], ["shared adapter", twice]]
    assert record.loc[record["content"] == "final adapter", "bytes"].tolist() == [once]
    assert record.loc[record["direction"] == STAYS, ["content", "bytes"]].to_numpy().tolist() == [["state", once]]


def test_pooling_hands_over_the_texts_and_gives_everyone_the_adapter(run, tmp_path) -> None:
    rows = [("client_001", "", "hällo"), ("client_001", "on x: ", "ab"), ("client_002", "", "c")]
    rows.append(("client_002", "on y: ", ""))
    pack = tmp_path / "results" / "pooled.safetensors"
    write_pack(pack, {"pooled": {"adapter": STATE}}, {"round": "0"})
    frame = recorded(run, rows, traffic=[], packs=[str(pack)], final=None, recipients=[], pooled=True)
    sent = frame.loc[frame["direction"] == UP, ["content", "client", "bytes"]]
    assert sent.to_numpy().tolist() == [["text", "client_001", 14], ["text", "client_002", 1]]
    back = frame[frame["direction"] == DOWN]
    assert back["client"].tolist() == ["client_001", "client_002"]
    assert scored(frame)["final_broadcast_bytes"] == back["bytes"].sum()


def test_of_two_packs_that_of_the_last_round_stays(run) -> None:
    folder = Path(run[1]) / "x" / "clients"
    # Named so that the later round comes first.
    for name, number in (("a", "5"), ("b", "0")):
        write_pack(folder / f"{name}.safetensors", {"client_001": {"adapter": STATE}}, {"round": number})
    frame = recorded(run, packs=[str(folder / "a.safetensors"), str(folder / "b.safetensors")])
    assert frame.loc[frame["direction"] == STAYS, "file"].tolist() == ["x/clients/a.safetensors"]


def test_weights_are_a_number_that_crosses(run) -> None:
    folder = Path(run[1]) / "x" / "round0"
    adapter, uploads = str(folder / "server/adapter.safetensors"), [str(folder / "uploads/batch0.safetensors")]
    frame = round_traffic(0, adapter, uploads, run[1], SharedStage(weighting="words"))
    counts = frame.loc[frame["content"] == "word count", ["direction", "client", "bytes"]]
    assert counts.to_numpy().tolist() == [[UP, "client_001", 8], [UP, "client_002", 8]]


def qwen_shapes() -> dict[str, tuple[int, ...]]:
    """The tensors of a rank-16 adapter of Qwen2.5-3B."""
    shapes = {}
    for layer in range(36):
        sizes = {"q": (2048, 2048), "k": (2048, 256), "v": (2048, 256), "o": (2048, 2048)}
        modules = {f"self_attn.{key}_proj": size for key, size in sizes.items()}
        modules |= {"mlp.gate_proj": (2048, 11008), "mlp.up_proj": (2048, 11008), "mlp.down_proj": (11008, 2048)}
        for module, (inputs, outputs) in modules.items():
            name = f"base_model.model.model.layers.{layer}.{module}"
            shapes[f"{name}.lora_A.weight"] = (16, inputs)
            shapes[f"{name}.lora_B.weight"] = (outputs, 16)
    return shapes


# Numbers of a layer's factors at rank 16: seven projections' inputs, and their outputs.
NUMBERS = {"A": 16 * (6 * 2048 + 11008), "B": 16 * (3 * 2048 + 2 * 256 + 2 * 11008)}
SENDS = {
    **dict.fromkeys(("fedavg", "fedavgm", "fedadam", "fedyogi", "flexlora", "fedavg_finetuned"), "AB"),
    **{"fedrod_lora": "AB", "apfl": "AB", "fedalt": "AB", "ffa_lora": "B", "fedsa_lora": "A"},
}


@pytest.mark.parametrize("method", SENDS)
def test_what_every_method_sends_by_formula(method) -> None:
    stage = load_method(method, {}, experiment())[1].shared
    shapes = qwen_shapes()
    sent = {name: shape for name, shape in shapes.items() if stage.sends(name)}
    header = len(safetensors.numpy.save({name: np.empty((0,), np.float32) for name in sent}))
    numbers = 36 * sum(NUMBERS[factor] for factor in SENDS[method])
    assert 0 <= safetensors_bytes(sent) - 4 * numbers < 2 * header
    whole = safetensors_bytes(shapes)
    assert whole == 119_801_528  # the paper's appendix
    assert round(safetensors_bytes(sent) / whole, 2) == {"AB": 1.0, "A": 0.45, "B": 0.55}[SENDS[method]]
