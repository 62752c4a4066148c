"""Leaks planted in rounds that were trained for real: canary clients of several lengths, and clients with a direction.

Six clients train a small model over four rounds. Their texts are new in every round, so nothing but what is planted
makes two uploads of one client alike.
"""

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.metrics import roc_auc_score
from tests.lm.conftest import *  # noqa: F403 - the small model's fixtures

from favor.config.models import PROJECTIONS
from favor.federation.server import update
from favor.federation.server_rule import ServerRule
from favor.foundation.seeds import numpy_generator
from favor.lm.lora import initial_state
from favor.lm.settings import Lora, Optimisation
from favor.lm.tasks import ClientTask
from favor.lm.training import train
from favor.studies.privacy.privacy import Readings, privacy_scores
from favor.studies.privacy.schemas import PRIVACY_CANARIES, PRIVACY_CANARY_CLIENTS, PRIVACY_LINKS, PRIVACY_LOSSES
from favor.studies.privacy.vectors import canary_cosines, link_cosines, upload_norms
from favor.studies.settings import CanaryClients

CLIENTS = [f"client_{number:03d}" for number in range(1, 7)]
LORA = Lora(rank=3, alpha=6, dropout=0.0, target_modules=PROJECTIONS)
SETTINGS = Optimisation(
    supervised="response", warmup_counts_from=1, learning_rate=5e-3, micro_batch=2, accumulation=1, max_length=32
)
CANARIES, SEED = 150, 9


def arrays(state) -> dict[str, np.ndarray]:
    return {key: np.asarray(value) for key, value in state.items()}


def one_round(base, pieces, shared, number) -> dict[str, dict[str, np.ndarray]]:
    """The deltas of a round in which every client trains one pass from ``shared`` on texts of its own."""
    start = {key: torch.from_numpy(value) for key, value in shared.items()}
    texts = [pieces(100 * number + place, 8) for place in range(len(CLIENTS))]
    tasks = [ClientTask(client, texts[place], start, 1, place) for place, client in enumerate(CLIENTS)]
    return {
        result.name: {key: np.asarray(value) - shared[key] for key, value in result.state.items()}
        for result in train(base, LORA, tasks, SETTINGS)
    }


def served(shared, deltas) -> dict[str, np.ndarray]:
    return update(ServerRule(), shared, {}, deltas, dict.fromkeys(deltas, 1.0), 1.0)[0]


@pytest.fixture(scope="module")
def rounds(base, random_pieces) -> tuple[list[dict[str, np.ndarray]], list[dict[str, dict[str, np.ndarray]]]]:
    """Server adapters A_0 to A_4 and the uploads between them."""
    server, uploads = [arrays(initial_state(base.model, LORA, 3))], []
    for number in range(4):
        uploads.append(one_round(base, random_pieces, server[-1], number))
        server.append(served(server[-1], uploads[-1]))
    return server, uploads


def scored(uploads=None, canaries=None) -> pd.Series:
    """The privacy scores of these readings: value by metric and variant."""
    links = PRIVACY_LINKS.empty() if uploads is None else link_cosines(uploads).assign(seed=1, method="m")
    losses = pd.DataFrame({"client": CLIENTS}).reindex(columns=PRIVACY_LOSSES.names)
    canaries = PRIVACY_CANARY_CLIENTS.empty() if canaries is None else canaries.assign(seed=1, method="m")
    norms = pd.DataFrame({"norm": [1.0]})
    readings = Readings(losses, links, PRIVACY_CANARIES.empty(), canaries, norms, {}, len(CLIENTS) ** -1.1, {})
    return privacy_scores({"m": readings}, seed=1, draws=100).set_index(["metric", "variant"])["value"]


def renamed(uploads, times) -> np.ndarray:
    """AUCs of linking, with the clients of every round in random order."""
    generator, cosines, found = np.random.default_rng(0), link_cosines(uploads), []
    for _ in range(times):
        names = [dict(zip(CLIENTS, generator.permutation(CLIENTS), strict=True)) for _ in uploads]
        rows = cosines[["round", "client", "earlier", "candidate"]].itertuples(index=False)
        same = [names[later][client] == names[before][other] for later, client, before, other in rows]
        pairs = cosines.assign(same=same).groupby(["round", "earlier"])
        found.append([roc_auc_score(part["same"], part["cosine"]) for _, part in pairs])
    return np.mean(found, axis=1)


def flat(state) -> np.ndarray:
    return np.concatenate([np.ravel(np.asarray(state[key], dtype=np.float64)) for key in sorted(state)])


def direction(shared, canary) -> dict[str, np.ndarray]:
    """The unit vector that canary client number ``canary`` uploads, by tensor."""
    drawn = {
        key: numpy_generator(SEED, "canary client", canary, key).standard_normal(value.size, dtype=np.float32)
        for key, value in shared.items()
    }
    length = np.linalg.norm(flat(drawn))
    return {key: (value.reshape(shared[key].shape) / length).astype(np.float64) for key, value in drawn.items()}


def canaries(length) -> CanaryClients:
    return CanaryClients(count=CANARIES, rate=1.0, clip=float(length), cohort=len(CLIENTS))


def test_the_empirical_epsilon_grows_with_a_canarys_upload_and_is_nothing_where_none_was_planted(rounds) -> None:
    server, uploads = rounds
    norm = upload_norms(uploads)["norm"].median()
    found = {times: canary_cosines(server, uploads, canaries(times * norm), SEED) for times in (0.01, 1.0, 20.0)}
    none = found[1.0].assign(present=found[1.0]["absent"])
    assert scored(canaries=none)["empirical_epsilon", "mean"] < 0.5
    assert abs(scored(canaries=none)["canary_cosine", "mean"]) < 0.02
    quiet, usual, loud = (scored(canaries=table)["empirical_epsilon", "mean"] for table in found.values())
    assert quiet < 1
    assert usual > 20
    assert loud > 3 * usual
    assert scored(canaries=found[20.0])["canary_cosine", "mean"] > 0.9


def test_clients_whose_uploads_share_a_direction_are_linked_and_others_are_not(rounds) -> None:
    server, uploads = rounds
    own = {client: direction(server[0], place) for place, client in enumerate(CLIENTS)}
    plain = scored(uploads=uploads)
    planted = [
        {
            name: {key: delta[key] + np.linalg.norm(flat(delta)) * own[name][key].astype(np.float32) for key in delta}
            for name, delta in deltas.items()
        }
        for deltas in uploads
    ]
    found = scored(uploads=planted)
    assert found["link_top1", "upload"] == found["link_auc", "upload"] == 1.0
    # Wilson's limit where all of six clients are found: 1 / (1 + t^2 / 6), with t = 2.5706 of five degrees of freedom.
    assert found["link_auc", "upload_low"] == pytest.approx(1 / (1 + 2.5706**2 / 6), abs=1e-4)
    assert found["link_top1", "upload_shuffled"] == pytest.approx(1 / len(CLIENTS))
    assert found["link_auc", "upload_shuffled"] == pytest.approx(0.5, abs=0.03)
    # Nothing was planted: what other names of the uploads give as well.
    others = renamed(uploads, 60)
    assert others.min() < plain["link_auc", "upload"] < others.max()
    assert others.mean() == pytest.approx(0.5, abs=0.03)
    assert others.max() < 0.8
    # In the second round everybody has the direction of the next client, who is found in their place.
    moved = dict(zip(CLIENTS, [planted[1][client] for client in (*CLIENTS[1:], CLIENTS[0])], strict=True))
    swapped = scored(uploads=[planted[0], moved])
    assert swapped["link_top1", "upload"] == 0.0
    assert swapped["link_auc", "upload"] < 0.5
