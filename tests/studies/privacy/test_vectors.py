"""Cosines of uploads, and canary clients beside uploads that hold them for real."""

import numpy as np
import pytest

from favor.federation.privacy import Privacy, noise
from favor.foundation.parquet import read_parquet, write_parquet
from favor.foundation.seeds import numpy_generator
from favor.statistics.attacks import privacy_loss
from favor.studies.privacy.schemas import PRIVACY_CANARIES, PRIVACY_CANARY_CLIENTS, PRIVACY_LINKS, PRIVACY_NORMS
from favor.studies.privacy.vectors import canary_cosines, link_cosines, upload_norms
from favor.studies.settings import CanaryClients

SHAPES = {"a.lora_A.weight": (4, 30), "a.lora_B.weight": (50, 4)}


def state(generator, scale=1.0) -> dict[str, np.ndarray]:
    return {key: (scale * generator.normal(size=shape)).astype(np.float32) for key, shape in SHAPES.items()}


def test_cosines_are_those_of_what_the_round_did_not_learn_alike() -> None:
    # Round 0: (2, 0), (0, 2), mean (1, 1), so (1, -1) and (-1, 1). Round 1: (5, 1) and (1, 3), mean (3, 2): (2, -1).
    rounds = [{"x": [2.0, 0.0], "y": [0.0, 2.0]}, {"x": [5.0, 1.0], "z": [1.0, 3.0]}]
    uploads = [{client: {"k": np.array([value], np.float32)} for client, value in one.items()} for one in rounds]
    found = link_cosines(uploads).set_index(["round", "client", "earlier", "candidate"])["cosine"]
    assert found[1, "x", 0, "x"] == pytest.approx(3 / np.sqrt(10))
    assert found[1, "x", 0, "y"] == pytest.approx(-3 / np.sqrt(10))
    assert len(found) == 4


def test_the_norm_of_an_upload_is_over_all_its_tensors(tmp_path) -> None:
    rounds = [{"y": {"A": np.array([3.0], np.float32), "B": np.array([[0.0, 4.0]], np.float32)}}]
    found = upload_norms([*rounds, {"x": {"A": np.zeros(1, np.float32), "B": np.full((1, 4), 0.5, np.float32)}}])
    assert found.to_numpy().tolist() == [[0, "y", 5.0], [1, "x", 1.0]]
    write_parquet(found.assign(seed=1, method="favor"), tmp_path / "norms.parquet", PRIVACY_NORMS)
    assert len(read_parquet(tmp_path / "norms.parquet", PRIVACY_NORMS)) == 2


def test_one_round_has_no_links_and_its_table_is_a_file(tmp_path) -> None:
    found = link_cosines([{"x": {"k": np.ones(2, np.float32)}, "y": {"k": np.zeros(2, np.float32)}}])
    write_parquet(found.assign(seed=1, method="favor"), tmp_path / "links.parquet", PRIVACY_LINKS)
    assert read_parquet(tmp_path / "links.parquet", PRIVACY_LINKS).empty
    for table in (PRIVACY_CANARIES, PRIVACY_CANARY_CLIENTS):  # where none are wanted
        nothing = table.empty().drop(columns=["seed", "method"]).assign(seed=1, method="favor")
        write_parquet(nothing, tmp_path / "nothing.parquet", table)
        assert read_parquet(tmp_path / "nothing.parquet", table).empty


def test_a_client_with_a_direction_of_its_own_is_found_again_and_one_without_is_not() -> None:
    generator = np.random.default_rng(0)
    own = {client: state(generator) for client in "abcdef"}
    for planted in (1.0, 0.0):
        rounds = [{c: {k: v + planted * own[c][k] for k, v in state(generator).items()} for c in own} for _ in range(2)]
        found = link_cosines(rounds)
        same = found.loc[found["client"] == found["candidate"], "cosine"].mean()
        other = found.loc[found["client"] != found["candidate"], "cosine"].mean()
        assert (same - other > 0.3) == bool(planted)


def flat(tensors) -> np.ndarray:
    return np.concatenate([np.asarray(tensors[key], dtype=np.float64).ravel() for key in sorted(tensors)])


def test_a_canary_has_the_cosine_that_aggregating_it_gives() -> None:
    generator = np.random.default_rng(4)
    uploads = [{client: state(generator) for client in cohort} for cohort in ("ab", "bc")]
    rate, clip = 0.5, 3.0
    server = [state(generator)]
    for deltas in uploads:
        mean = {key: sum(delta[key] for delta in deltas.values()) / len(deltas) for key in SHAPES}
        server.append({key: server[-1][key] + rate * mean[key] for key in SHAPES})
    found = canary_cosines(server, uploads, CanaryClients(count=3, rate=rate, clip=clip, cohort=2), seed=9)
    assert found["participations"].tolist() == [1, 2, 1]  # as a, b, c
    assert found["dimensions"].tolist() == [320] * 3
    for canary, rounds in enumerate([[0], [0, 1], [1]]):
        draws = {
            key: numpy_generator(9, "canary client", canary, key).standard_normal(np.prod(shape), dtype=np.float32)
            for key, shape in SHAPES.items()
        }
        direction = flat(draws) / np.linalg.norm(flat(draws))
        # The server again, with one more upload in the sum over as many.
        moved = sum(
            rate * (sum(flat(delta) for delta in uploads[number].values()) + clip * direction) / len(uploads[number])
            for number in rounds
        )
        assert found["present"][canary] == pytest.approx(moved @ direction / np.linalg.norm(moved), rel=1e-4)


def test_canaries_that_took_no_part_have_a_cosine_of_chance() -> None:
    generator = np.random.default_rng(5)
    uploads = [{client: state(generator) for client in "abcd"}]
    server = [state(generator)]
    server.append({key: server[0][key] + sum(d[key] for d in uploads[0].values()) / 4 for key in SHAPES})
    found = canary_cosines(server, uploads, CanaryClients(count=400, rate=1.0, clip=None, cohort=None), seed=1)
    assert found["absent"].mean() == pytest.approx(0, abs=4 / np.sqrt(320 * 400))
    assert found["absent"].std() == pytest.approx(1 / np.sqrt(320), rel=0.15)
    # As long as the median of four uploads whose sum it joins: 1 / sqrt(5) of the sum's length.
    assert found["present"].mean() == pytest.approx(1 / np.sqrt(5), abs=0.03)


def test_canaries_see_the_noise_that_the_server_adds() -> None:
    # With noise of sigma clips on a sum of nothing else, a canary's cosine is 1 / sigma standard deviations from
    # chance: the Gaussian mechanism, whose epsilon at mu = 1 and delta = 1e-2 is 2.32 (Balle and Wang 2018).
    private, generator = Privacy(2.0, 1.0, 4), np.random.default_rng(6)
    uploads = [{client: {key: np.zeros(shape, np.float32) for key, shape in SHAPES.items()} for client in "abcd"}]
    server = [state(generator)]
    drawn = {key: noise(shape, private, 1, "track", 0, key) for key, shape in SHAPES.items()}
    server.append({key: (server[0][key] + drawn[key] / private.cohort).astype(np.float32) for key in SHAPES})
    found = canary_cosines(server, uploads, CanaryClients(count=2000, rate=1.0, clip=2.0, cohort=4), seed=2)
    units = found["present"].to_numpy() * np.sqrt(found["dimensions"][0])
    assert units.mean() == pytest.approx(1.0, abs=0.12)
    (epsilon,) = privacy_loss(np.array([units.mean()]), np.array([units.std()]), 1e-2)
    assert epsilon == pytest.approx(2.32, rel=0.25)
