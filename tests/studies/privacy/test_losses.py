"""Reading adapters: a client whose text was trained on for real is found, and one whose upload is noise is not."""

import dataclasses
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from tests.experiments import experiment
from tests.lm.conftest import random_model

from favor.config.models import PROJECTIONS
from favor.federation.canaries import CARRIER, carrying, secret
from favor.federation.factors import change_output
from favor.federation.row_plan import load_method
from favor.foundation.errors import UserError
from favor.foundation.registry import METHODS
from favor.lm.base import BaseModel, load_base
from favor.lm.lora import initial_state
from favor.lm.settings import Lora, Optimisation
from favor.lm.tasks import cut_pieces
from favor.lm.training import ClientTask, train
from favor.studies.privacy.attacks import leaver_scores, member_scores, sender_scores, text_scores
from favor.studies.privacy.losses import (
    Trajectory,
    first_pieces,
    read_canaries,
    read_losses,
    secret_pieces,
    trained_texts,
)
from favor.studies.settings import Planted, TextCutting

LORA = Lora(rank=4, alpha=16, dropout=0.0, target_modules=PROJECTIONS)
CUTTING = TextCutting(prefix_tokens=4, max_length=64, pieces="windows")
SETTINGS = Optimisation(
    supervised="response", warmup_counts_from=1, learning_rate=0.02, micro_batch=1, accumulation=1, max_length=64
)
LONGER = CUTTING.model_copy(update={"max_length": 128})
HABITS = {
    "client_001": "so i went to the store today and guess what !!",
    "client_002": "It was, I suppose, inevitable; one had hoped for better.",
    "client_003": "THE DOG SLEEPS AND THE FOX JUMPS OVER IT AGAIN",
}
ABSENT = {"client_004": "nobody knows why the sun is warm in winter"}


def texts_of(habits, kinds=2) -> pd.DataFrame:
    rows = [
        (client, f"{client}-{number}", "", f"{habit} {habit[number * 7 :]} {habit[::2]}")
        for client, habit in habits.items()
        for number in range(kinds)
    ]
    return pd.DataFrame(rows, columns=["client", "document_id", "prompt", "text"])


@pytest.fixture(scope="module")
def base(tmp_path_factory) -> BaseModel:
    folder = tmp_path_factory.mktemp("model")
    words = [*HABITS.values(), *ABSENT.values(), CARRIER, "0 1 2 3 4 5 6 7 8 9"]
    random_model(folder, words * 3, 5, vocabulary=320, initializer_range=0.02, eos_token_id=None)
    torch.set_num_threads(1)
    return load_base(str(folder), device="cpu")


@pytest.fixture(scope="module")
def first(base) -> dict[str, np.ndarray]:
    return {key: value.numpy() for key, value in initial_state(base.model, LORA, 3).items()}


@pytest.fixture(scope="module")
def fresh(base) -> Any:
    return first_pieces(base, texts_of({**HABITS, **ABSENT}), "text", CUTTING)


def learn(base, first, pieces, micro_batch, passes=12, settings=SETTINGS) -> dict[str, dict[str, np.ndarray]]:
    """The uploads of clients who train on their ``pieces`` until they know them."""
    start = {key: torch.from_numpy(value) for key, value in first.items()}
    tasks = [ClientTask(name, pieces[name], start, passes, at) for at, name in enumerate(HABITS) if name in pieces]
    return {
        result.name: {key: np.asarray(value) - first[key] for key, value in result.state.items()}
        for result in train(base, LORA, tasks, settings.model_copy(update={"micro_batch": micro_batch}))
    }


def served(first, deltas) -> dict[str, np.ndarray]:
    """What the server makes of these uploads: their mean is added."""
    return {key: first[key] + sum(delta[key] for delta in deltas.values()) / len(deltas) for key in first}


def half(state, factor) -> dict[str, np.ndarray]:
    """A or B of every layer."""
    return {key: value for key, value in state.items() if f".lora_{factor}." in key}


@pytest.fixture(scope="module")
def learned(base, first, fresh) -> Trajectory:
    """One round in which every client trains on its own texts until it knows them."""
    uploads = learn(base, first, fresh, 2)
    mean = served(first, uploads)
    personal = {
        client: {key: torch.from_numpy(first[key] + delta[key]) for key in first} for client, delta in uploads.items()
    }
    return Trajectory([first, mean], [uploads], personal, LORA)


def noise(first, like) -> Trajectory:
    generator = np.random.default_rng(0)
    deltas = {
        client: {
            key: (np.std(delta[key]) * generator.standard_normal(delta[key].shape)).astype(np.float32) for key in delta
        }
        for client, delta in like.items()
    }
    return Trajectory([first, served(first, deltas)], [deltas], {}, LORA)


def losses(base, run, fresh) -> pd.DataFrame:
    trained = {client: fresh[client][:1] for client in HABITS}
    return read_losses(base, LORA, run, fresh, trained, 0.2).assign(seed=1, method="favor")


def assert_known(table, view="upload") -> None:
    """The sender of every adapter is the client whom it fits best."""
    (sent,) = sender_scores(table, view)
    best = sent.loc[sent.groupby("client")["score"].idxmax()]
    assert (best["client"] == best["candidate"]).all()


def test_uploads_that_learned_give_their_clients_away(base, learned, fresh) -> None:
    table = losses(base, learned, fresh)
    for view in ("upload", "personal"):
        assert_known(table, view)
    (final,) = member_scores(table, "final")
    assert final.loc[final["positive"], "score"].min() > final.loc[~final["positive"], "score"].max()
    stolen = member_scores(table, "personal")
    assert len(stolen) == len(HABITS)
    for one in stolen:  # its holder beside those who took no part
        assert set(one.loc[~one["positive"], "client"]) == set(ABSENT)
        assert one.loc[one["positive"], "score"].item() > one.loc[~one["positive"], "score"].max()
    assert set(text_scores(table, "final", "loss", 1.0)[0]["client"]) == set(HABITS)


def test_texts_that_were_trained_on_are_told_from_fresh_ones_of_their_author(base, first, fresh) -> None:
    """Every client trains on its first text alone; the second, in its habit too, was never seen."""
    uploads = learn(base, first, {client: fresh[client][:1] for client in HABITS}, 1)
    mean = served(first, uploads)
    run = Trajectory([first, mean], [uploads], {}, LORA)
    unseen = {client: fresh[client][1:] for client in HABITS}
    seen = {client: fresh[client][:1] for client in HABITS}
    table = read_losses(base, LORA, run, unseen, seen, 0.2).assign(seed=1, method="favor")
    for view in ("upload", "mean", "final"):
        (found,) = text_scores(table, view, "loss", 1.0)
        assert found.loc[found["positive"], "score"].min() > found.loc[~found["positive"], "score"].max()


def test_an_author_who_left_is_no_longer_in_what_was_made_again(base, first, learned, fresh) -> None:
    (deltas,) = learned.uploads
    rest = {client: delta for client, delta in deltas.items() if client != "client_001"}
    mean = served(first, rest)
    # One who left without ever having been sampled counts once, among those who took no part.
    run = Trajectory(learned.server, learned.uploads, {}, LORA, mean, ["client_001", *ABSENT])
    table = losses(base, run, fresh)
    assert set(table.loc[table["adapter"] == "remade", "client"]) == {"client_001", *ABSENT}
    assert not table.duplicated(["adapter", "round", "holder", "client", "kind", "text"]).any()
    assert (table["adapter"] == "remade").sum() == 4  # two texts each
    before, after = (leaver_scores(table, view)[0].set_index("client")["score"] for view in ("before", "after"))
    ahead = before["client_001"] - before["client_004"]
    assert ahead > 0.1
    assert after["client_001"] - after["client_004"] < ahead / 2


def halves(first, learned) -> tuple[Trajectory, Trajectory]:
    """The same round where A alone is uploaded and the server's B stays zero: without and with what clients kept."""
    deltas = {client: half(delta, "A") for client, delta in learned.uploads[0].items()}
    ends = {client: {key: first[key] + delta[key] for key in first} for client, delta in learned.uploads[0].items()}
    mean = served(half(first, "A"), deltas)
    blind = Trajectory([first, first | mean], [deltas], learned.personal, LORA)
    return blind, dataclasses.replace(blind, kept=[ends])


def test_an_upload_of_a_alone_is_read_beside_its_owners_b(base, first, learned, fresh) -> None:
    """The leak that is planted in a round of FedSA-LoRA shows, as it does where everything is uploaded."""
    blind, seeing = (losses(base, run, fresh) for run in halves(first, learned))
    loss = blind[blind["adapter"] != "personal"].groupby(["client", "kind", "text"])["loss"]
    assert (loss.max() - loss.min()).max() < 1e-5  # every adapter that was read is the base model
    whole = losses(base, learned, fresh)
    uploads = [frame[frame["adapter"] == "upload"]["loss"].to_numpy() for frame in (seeing, whole)]
    np.testing.assert_allclose(*uploads, rtol=1e-5)
    assert_known(seeing)


# Which factors an upload holds: of all, of FedSA-LoRA, of FFA-LoRA. The tests above plant a leak in each.
SENT = ({"A", "B"}, {"A"}, {"B"})


def test_a_planted_leak_shows_where_b_alone_is_uploaded(base, learned, fresh) -> None:
    deltas = {client: half(delta, "B") for client, delta in learned.uploads[0].items()}
    assert_known(losses(base, dataclasses.replace(learned, uploads=[deltas]), fresh))


@pytest.mark.parametrize("name", METHODS.names())
def test_no_method_is_audited_by_reading_the_base_model(first, name) -> None:
    """What the audit reads of an upload computes something: the leak of any method that is audited can show."""
    stage = load_method(name, {}, experiment(cold_start={"shared_from": "federation", "seed": 2026}))[1].shared
    if stage is None or stage.content != "delta":
        return  # not audited
    ends = {key: np.ones_like(value) for key, value in first.items()}
    delta = {key: value for key, value in ends.items() if stage.sends(key)}
    assert {factor for factor in "AB" if half(delta, factor)} in SENT
    kept = [] if change_output(stage.trains, stage.uploads) else [{"client_001": ends}]
    state = Trajectory([first, first], [{"client_001": delta}], {}, LORA, kept=kept).uploaded(0, "client_001")
    assert any(map(np.any, half(state, "B").values()))


def test_uploads_of_noise_fit_nobodys_texts(base, first, learned, fresh) -> None:
    table = losses(base, noise(first, learned.uploads[0]), fresh)
    (sent,) = sender_scores(table, "upload")
    real = sender_scores(losses(base, learned, fresh), "upload")[0]
    own = sent["client"] == sent["candidate"]
    assert abs(sent.loc[own, "score"]).mean() < 0.1 * real.loc[own, "score"].mean()
    assert sender_scores(table, "personal") == []
    assert "personal" not in set(table["adapter"])


def test_an_upload_of_some_factors_leaves_the_servers_others(first) -> None:
    delta = {key: np.ones_like(value) for key, value in half(first, "B").items()}
    run = Trajectory([first, first], [{"client_001": delta}], {}, LORA)
    state = run.uploaded(0, "client_001")
    for key, value in first.items():
        np.testing.assert_array_equal(state[key], value + 1 if ".lora_B." in key else value)


def test_a_secret_learned_by_heart_is_first_and_an_unknown_one_is_anywhere(base, first) -> None:
    pieces = secret_pieces(base, [secret(1, client) for client in HABITS], LONGER)
    settings = SETTINGS.model_copy(update={"max_length": 128})
    uploads = learn(base, first, {"client_001": pieces[0] * 4}, 1, 15, settings)
    uploads["client_002"] = {key: np.zeros_like(value) for key, value in first.items()}
    mean = {key: first[key] + uploads["client_001"][key] / 2 for key in first}
    run = Trajectory([first, mean], [uploads], {}, LORA)
    planted = Planted(carriers={"client_001": 4, "client_002": 1}, candidates=60)
    table = read_canaries(base, LORA, run, planted, LONGER, seed=1)
    rank = table.set_index(["adapter", "round", "client"])["rank"]
    assert rank["upload", 0, "client_001"] == 1
    assert rank["upload", 0, "client_002"] == rank["server", 0, "client_002"]  # nothing was learned
    assert set(table["candidates"]) == {60}
    assert rank["server", 0].between(1, 61).all()


def test_texts_that_were_trained_on_are_drawn_by_client(first) -> None:
    table = texts_of(HABITS, 5).assign(allocated_words=[1, 1, 1, 1, 0] * 3)
    drawn = trained_texts(table, 2, 7)
    assert drawn.groupby("client").size().tolist() == [2, 2, 2]
    assert (drawn["allocated_words"] > 0).all()
    alone = trained_texts(table[table["client"] == "client_002"], 2, 7)
    assert alone["document_id"].tolist() == drawn.loc[drawn["client"] == "client_002", "document_id"].tolist()


@pytest.mark.parametrize("length", [128, 40, 12])
def test_a_secret_is_read_in_the_pieces_that_training_reads(base, length) -> None:
    """Of training's own windows, with its supervision from the first digit on: every token of the secret once."""
    numbers = [secret(1, client) for client in HABITS]
    whole = secret_pieces(base, numbers, LONGER)
    cutting = CUTTING.model_copy(update={"max_length": length})
    assert len(whole[0]) == 1
    for (alone,), pieces, number in zip(whole, secret_pieces(base, numbers, cutting), numbers, strict=True):
        trained = cut_pieces(base.tokenizer.encode(carrying(number)), "", CUTTING.prefix_tokens, length)
        assert [piece.tokens.tolist() for piece in pieces] == [
            piece.tokens.tolist() for piece in trained[len(trained) - len(pieces) :]
        ]
        read = np.concatenate([piece.tokens[piece.response_start :] for piece in pieces])
        np.testing.assert_array_equal(read, alone.tokens[alone.response_start :])
    assert len(pieces) == {128: 1, 40: 1, 12: 3}[length] or length == 12


def test_a_secret_beyond_what_training_reads_is_refused(base) -> None:
    with pytest.raises(UserError, match="the 40 tokens that training reads of a text do not hold a planted secret"):
        secret_pieces(base, ["1234", "5678"], CUTTING.model_copy(update={"max_length": 40, "pieces": "truncate"}))


def test_a_tokenizer_that_drops_numbers_is_refused(base, monkeypatch) -> None:
    monkeypatch.setattr("favor.studies.privacy.losses.language_model_tokens", lambda *given: ([5, 6, 7], 0))
    with pytest.raises(UserError, match="does not tell numbers apart"):
        secret_pieces(base, ["1234", "5678"], CUTTING)
