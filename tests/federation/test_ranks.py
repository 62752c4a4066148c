"""Ranks per client: two by two by hand, whole federations against dense matrices, bytes, and what is refused."""

import json
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import torch
from tests.experiments import experiment
from tests.federation.test_aggregate_script import A, B, run_job
from tests.lm.conftest import *  # noqa: F403 - the small model's fixtures
from tests.lm.conftest import SENTENCES
from tests.oracles.conftest import Result
from tests.plan.conftest import *  # noqa: F403 - planners

from favor.corpora.schemas import CLIENT_TEXTS
from favor.federation.client_archive import write_pack
from favor.federation.communication_record import DOWN, STAYS, UP, run_boundary
from favor.federation.inference import client_adapters, exported, generating
from favor.federation.local import run_stage
from favor.federation.method import Inference, Objective, PersonalStage, SharedStage, plan_values
from favor.federation.ranks import as_received, at_rank, mean_share, rank_of
from favor.federation.row_plan import load_method
from favor.federation.schedule import client_names, cohorts
from favor.federation.schemas import TRAFFIC
from favor.federation.server import delta, update
from favor.federation.server_rule import ServerRule
from favor.federation.settings import RunBoundary
from favor.federation.stages import StageClient, as_arrays, shared_clients, upload
from favor.federation.uploads import rounded
from favor.foundation.parquet import read_parquet
from favor.foundation.tensors import write_safetensors
from favor.lm.lora import export_peft
from favor.lm.settings import Lora
from favor.lm.tasks import ClientResult
from favor.scores.efficiency import trained_parameters

NAMES = client_names(12)
RANKS = (1, 3)
OF = {name: rank_of(RANKS, 1, name) for name in NAMES}
EVEN = {"client_001": 1.0, "client_002": 1.0}


def pair(a, b) -> dict[str, np.ndarray]:
    return {A: np.array(a, np.float32), B: np.array(b, np.float32)}


# Two by two, by hand


def test_the_mean_is_of_adapters_filled_with_zeros() -> None:
    shared = pair([[1, 2], [3, 4]], [[5, 6], [7, 8]])
    one, two = pair([[3, 0]], [[1], [1]]), pair([[5, 4], [2, 6]], [[3, 2], [1, 4]])
    uploads = {"client_001": delta(one, shared), "client_002": delta(two, shared)}
    assert {key: value.tolist() for key, value in uploads["client_001"].items()} == {A: [[2, -2]], B: [[-4], [-6]]}
    after, _ = update(ServerRule(), shared, {}, uploads, EVEN, 1.0)
    # A = 1/2 [3 0; 0 0] + 1/2 [5 4; 2 6], B = 1/2 [1 0; 1 0] + 1/2 [3 2; 1 4].
    assert after[A].tolist() == [[4, 2], [1, 3]]
    assert after[B].tolist() == [[2, 1], [1, 2]]
    # One of rank 1 with three times the words of the other, and half a step towards that mean.
    after, _ = update(ServerRule(), shared, {}, uploads, {"client_001": 3.0, "client_002": 1.0}, 0.5)
    # 1/2 [1 2; 3 4] + 1/2 (3/4 [3 0; 0 0] + 1/4 [5 4; 2 6])
    assert after[A].tolist() == [[2.25, 1.5], [1.75, 2.75]]


def test_a_client_is_sent_the_first_rows_and_columns() -> None:
    shared = pair([[1, 2], [3, 4]], [[5, 6], [7, 8]])
    sent = at_rank(shared, 1)
    assert {key: sent[key].tolist() for key in sent} == {A: [[1, 2]], B: [[5], [7]]}
    filled = at_rank(sent, 2)
    assert {key: filled[key].tolist() for key in filled} == {A: [[1, 2], [0, 0]], B: [[5, 0], [7, 0]]}


def test_flexlora_sends_every_client_the_singular_vectors_of_its_rank() -> None:
    shared = pair([[1, 0], [0, 1]], [[9, 9], [9, 9]])
    # Products [4 0; 0 0] of rank 1 and [2 0; 0 4] of rank 2: their mean [3 0; 0 2] has both as singular values.
    one, two = pair([[2, 0]], [[2], [0]]), pair([[0, 2], [1, 0]], [[0, 2], [2, 0]])
    uploads = {"client_001": delta(one, shared), "client_002": delta(two, shared)}
    after, _ = update(ServerRule("svd"), shared, {}, uploads, EVEN, 1.0)
    np.testing.assert_allclose(after[B], [[3, 0], [0, 2]], atol=1e-6)
    np.testing.assert_allclose(after[A], np.eye(2), atol=1e-6)
    low = at_rank(after, 1)
    np.testing.assert_allclose(low[B] @ low[A], [[3, 0], [0, 0]], atol=1e-6)  # the best product of rank 1


# Whole federations against dense matrices


def descent(start, target, steps=6, rate=0.1) -> dict[str, np.ndarray]:
    """Gradient steps on 1/2 ||B A - target||^2 in factors of any rank."""
    a, b = (start[key].astype(np.float64) for key in (A, B))
    for _ in range(steps):
        error = b @ a - target
        a, b = a - rate * b.T @ error, b - rate * error @ a.T
    return {A: a, B: b}


@pytest.mark.parametrize("kind", ["mean", "svd"])
@pytest.mark.parametrize("weighted", [False, True])
def test_six_rounds_are_those_of_dense_matrices(kind, weighted) -> None:
    """The papers' servers, with whole matrices: no upload is a difference, and nothing is filled up."""
    generator = np.random.default_rng(3)
    assert set(OF.values()) == set(RANKS)
    targets = {name: generator.normal(size=(6, 5)) for name in NAMES}
    words = {name: float(n + 1) if weighted else 1.0 for n, name in enumerate(NAMES)}
    shared = pair(generator.normal(size=(3, 5)), generator.normal(size=(6, 3)))
    a, b = (shared[key].astype(np.float64) for key in (A, B))
    stage = SharedStage(server=ServerRule(kind), ranks=RANKS)
    for number, cohort in enumerate(cohorts(5, NAMES, rounds=6, clients_per_round=4)):
        ends = {
            client.name: descent(at_rank(client.start, OF[client.name]), targets[client.name])
            for client in shared_clients(cohort, number, shared, stage)
        }
        results = {name: Result(name, end, end) for name, end in ends.items()}
        uploads = {name: upload(result, shared, stage) for name, result in results.items()}
        assert {name: sent[A].shape for name, sent in uploads.items()} == {name: (OF[name], 5) for name in cohort}
        shared, _ = update(stage.server, shared, {}, uploads, words, 1.0)
        total = sum(words[name] for name in cohort)
        mean_a, mean_b, mean = np.zeros((3, 5)), np.zeros((6, 3)), np.zeros((6, 5))
        for name in cohort:
            rank, share = OF[name], words[name] / total
            end = descent({A: a[:rank], B: b[:, :rank]}, targets[name])
            mean_a[:rank] += share * end[A]
            mean_b[:, :rank] += share * end[B]
            mean += share * end[B] @ end[A]
        a, b = mean_a, mean_b
        if kind == "svd":
            u, s, v = np.linalg.svd(mean)
            signs = np.sign(u[np.abs(u).argmax(axis=0), np.arange(6)])[:3]
            a, b = signs[:, None] * v[:3], signs * u[:, :3] * s[:3]
            best = at_rank(shared, 1)
            np.testing.assert_allclose(best[B] @ best[A], s[0] * np.outer(u[:, 0], v[0]), atol=2e-5)
        np.testing.assert_allclose(shared[A], a, atol=2e-5)
        np.testing.assert_allclose(shared[B], b, atol=2e-5)


# Training


@pytest.fixture
def stage_of(plan, base) -> Callable[..., dict[str, ClientResult]]:
    """Runs a stage of four clients on the small model from random adapters; returns results by client."""
    places = [(name, f"{name} {n}", f"{name[-1]} {SENTENCES[n]}") for name in NAMES[:4] for n in range(3)]
    rows = [(name, document, "train", "t", "", text, 12, 12, text) for name, document, text in places]
    texts = pd.DataFrame(rows, columns=CLIENT_TEXTS.names)
    planned = plan(change=lambda config: config["experiments"]["micro"]["lora"].update(rank=3, alpha=6)).training
    section = planned.project.config.experiments["micro"]

    def run(stage, names, starts, anchor=None, lora=None) -> dict[str, ClientResult]:
        settings = planned.common_settings(section, stage)
        if lora is not None:
            settings = settings.model_copy(update={"lora": lora})
        clients = [StageClient(name, 0, starts[name], 2, anchor) for name in names]
        kind = "shared" if isinstance(stage, SharedStage) else "personal"
        return {result.name: result for result in run_stage(base, clients, texts, stage, settings, kind, 1)}

    return run


def test_a_client_of_a_lower_rank_trains_as_if_alone_at_that_rank(stage_of, random_state) -> None:
    """The engine knows one rank: a client trained by it at its own, with the same scaling, is the oracle."""
    names = NAMES[:4]
    assert {OF[name] for name in names} == {1, 3}
    lora = Lora(rank=3, alpha=6)
    start, anchor = (as_arrays(random_state(seed, lora)) for seed in (1, 2))
    objective = Objective(proximal=0.3)
    for stage in (
        SharedStage(objective, ranks=RANKS),
        SharedStage(objective, inner_steps=2, upload_scale=0.5, ranks=RANKS),
        PersonalStage("own", objective, ranks=RANKS),
        PersonalStage("endpoint", objective, residual=True, ranks=RANKS),
    ):
        found = stage_of(stage, names, dict.fromkeys(names, start), anchor)
        for name in names:
            rank = OF[name]
            alone = Lora(rank=rank, alpha=2 * rank)
            own = {name: at_rank(start, rank)}
            expected = stage_of(replace(stage, ranks=None), [name], own, at_rank(anchor, rank), alone)[name]
            for part in ("state", "residual", "displacement"):
                theirs, made = getattr(expected, part), getattr(found[name], part)
                assert (theirs is None) == (made is None)
                for key in theirs or {}:
                    assert made[key].shape == theirs[key].shape
                    torch.testing.assert_close(made[key], theirs[key], rtol=1e-4, atol=1e-5)
                    moved = np.abs(theirs[key].numpy() - (0 if part != "state" else at_rank(start, rank)[key])).max()
                    assert moved > 1e-4


def test_one_rank_for_all_sends_the_same_bytes(stage_of, random_state) -> None:
    start = as_arrays(random_state(1, Lora(rank=3, alpha=6)))
    sent = []
    for ranks in (None, (3,), (3, 3)):
        made = stage_of(SharedStage(ranks=ranks), NAMES[:4], dict.fromkeys(NAMES[:4], start))
        uploads = {name: upload(result, start, SharedStage()) for name, result in made.items()}
        sent.append({(name, key): own[key].tobytes() for name, own in uploads.items() for key in own})
    assert sent[0] == sent[1] == sent[2]


# Bytes


@pytest.mark.parametrize("bits", [32, 8])
def test_bytes_follow_the_rank(bits, repository, tmp_path) -> None:
    shared = pair(np.ones((3, 4)), np.ones((5, 3)))
    stage, names = SharedStage(ranks=RANKS, upload_bits=bits), NAMES[:4]
    ends = {name: {key: 2 * value for key, value in at_rank(shared, OF[name]).items()} for name in names}
    sent = {name: rounded(delta(end, shared), bits, 1, 0, name) for name, end in ends.items()}
    write_safetensors(shared, tmp_path / "round0.safetensors", {})
    write_pack(tmp_path / "upload.safetensors", {name: {"delta": own} for name, own in sent.items()}, {"round": "0"})
    run_job(repository, tmp_path, 0, stage, [str(tmp_path / "upload.safetensors")], rate=1.0)
    traffic = read_parquet(tmp_path / "traffic0.parquet", TRAFFIC)

    def alone(state) -> int:
        """The size of a file as PEFT writes it."""
        write_safetensors(state, tmp_path / "alone", {"format": "pt"})
        return (tmp_path / "alone").stat().st_size

    up, down = (traffic[traffic["direction"] == way].set_index("client")["bytes"].to_dict() for way in (UP, DOWN))
    assert up == {name: alone(own) for name, own in sent.items()}
    received = {name: alone(at_rank(shared, OF[name])) for name in names}
    assert down == received
    assert len(set(up.values())) == len(set(down.values())) == 2

    write_pack(tmp_path / "kept.safetensors", {name: {"endpoint": end} for name, end in ends.items()}, {"round": "0"})
    files = {"traffic": [str(tmp_path / "traffic0.parquet")], "packs": [str(tmp_path / "kept.safetensors")]}
    files["final"] = str(tmp_path / "round1.safetensors")
    run = RunBoundary(seed=1, method="fedavg", recipients=names, stage=plan_values(stage), pooled=False, **files)
    texts = pd.DataFrame({"client": [], "prompt": [], "training_text": []})
    boundary = run_boundary(run, texts, str(tmp_path))
    final = boundary[boundary["content"] == "final adapter"].set_index("client")["bytes"].to_dict()
    assert final == received
    kept = boundary[boundary["direction"] == STAYS].set_index("client")["bytes"].to_dict()
    assert kept == {name: alone(end) for name, end in ends.items()}
    whole = trained_parameters({key: value.shape for key, value in shared.items()}, stage.trains)
    mean = np.mean([sum(value.size for value in ends[name].values()) for name in names])
    assert whole * mean_share(RANKS, 1, names) == pytest.approx(mean)
    assert mean_share([], 1, names) == 1.0


# What clients generate with


def test_every_client_generates_with_its_own_rank_and_the_scaling_of_all(base, random_state, tmp_path) -> None:
    lora, names = Lora(rank=3, alpha=6), NAMES[:4]
    shared = as_arrays(random_state(1, lora))
    final = tmp_path / "adapter.safetensors"
    write_safetensors(shared, final, {"seed": "1", "round": "2"})
    endpoints = {name: as_arrays(at_rank(as_arrays(random_state(5, lora)), OF[name])) for name in names[:2]}
    pack = tmp_path / "pack.safetensors"
    write_pack(pack, {name: {"endpoint": state} for name, state in endpoints.items()}, {"round": "1"})
    own = {name: endpoints.get(name, at_rank(shared, OF[name])) for name in names}
    cases = {
        "server": ([final], {name: at_rank(shared, OF[name]) for name in names}),
        "endpoint": ([pack, final], own),
    }
    for inference, (files, expected) in cases.items():
        how = Inference(inference, ranks=RANKS)
        found = client_adapters([str(file) for file in files], names, how)
        assert generating(found, lora) == lora
        for name in names:
            assert as_arrays(found[name].state).keys() == shared.keys()
            state, settings = exported(found[name], lora)
            assert (settings.rank, settings.scaling) == (OF[name], lora.scaling)
            for key in state:
                assert np.array_equal(state[key].numpy(), expected[name][key])
                filled = at_rank(expected[name], 3)[key]
                assert np.array_equal(found[name].state[key].numpy(), filled)
            export_peft(state, settings, "base", tmp_path / name)
            configuration = json.loads((tmp_path / name / "adapter_config.json").read_text())
            assert (configuration["r"], configuration["lora_alpha"]) == (OF[name], 2 * OF[name])
    # Clients that are sent one adapter continue a common prompt once.
    found = client_adapters([str(final)], names, Inference("server", ranks=RANKS))
    assert len({id(found[name].state) for name in names}) == 2


def test_the_shared_half_beside_an_own_one_has_the_clients_rank(tmp_path) -> None:
    """FedSA-LoRA: the final A beside the client's own B."""
    shared = pair(np.arange(12).reshape(3, 4), np.zeros((5, 3)))
    write_safetensors(shared, tmp_path / "adapter.safetensors", {"seed": "1"})
    ends = {name: as_arrays(at_rank(pair(np.zeros((3, 4)), np.ones((5, 3))), OF[name])) for name in NAMES[:4]}
    write_pack(tmp_path / "pack", {name: {"endpoint": end} for name, end in ends.items()}, {"round": "0"})
    how = load_method("fedsa_lora", {}, experiment(federation={"ranks": list(RANKS)}, lora={"rank": 3}))[1].generates
    found = client_adapters([str(tmp_path / "pack"), str(tmp_path / "adapter.safetensors")], NAMES[:4], how)
    for name in NAMES[:4]:
        state, _ = exported(found[name], Lora(rank=3))
        assert np.array_equal(state[A].numpy(), shared[A][: OF[name]])
        assert np.array_equal(state[B].numpy(), np.ones((5, OF[name])))


# Who has which rank


def test_ranks_are_drawn_by_seed_and_client_alone() -> None:
    many = client_names(4000)
    drawn = [rank_of((4, 4, 8, 16), 7, name) for name in many]
    shares = {rank: drawn.count(rank) / len(drawn) for rank in (4, 8, 16)}
    assert shares == pytest.approx({4: 0.5, 8: 0.25, 16: 0.25}, abs=0.03)  # four standard deviations
    assert drawn != [rank_of((4, 4, 8, 16), 8, name) for name in many]
    assert drawn[:9] == [rank_of([4, 4, 8, 16], 7, name) for name in many[:9]]
    same = as_received({}, RANKS, 1, NAMES)
    assert len({id(state) for state in same.values()}) == 2


def test_ranks_name_the_track_and_reach_every_stage_but_the_pooled_one() -> None:
    plain, ranked = experiment(), experiment(federation={"ranks": [4, 16], "upload_bits": 8})
    for name in ("fedavg", "fedadam", "favor", "ditto", "pfedme", "flexlora", "ffa_lora", "fedsa_lora", "local_only"):
        one, other = (load_method(name, {}, made)[1] for made in (plain, ranked))
        assert other.generates.ranks == (4, 16)
        for stage in (other.shared, other.personal):
            assert stage is None or stage.ranks == (4, 16)
        if one.shared is not None:
            assert other.shared.upload_bits == 8
            assert one.shared.track != other.shared.track
            values = json.loads(json.dumps(plan_values(other.shared)))
            assert SharedStage.of(values).track == other.shared.track
    pooled = load_method("pooled", {}, ranked)[1]
    assert pooled.personal.ranks is pooled.generates.ranks is None
