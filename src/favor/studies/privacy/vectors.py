"""What the vectors of a federation give away without a model: uploads of one client alike, and canary clients.

Sums run over tensors, each read once for all uploads, so that memory holds no more than one tensor of each.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from favor.federation.client_archive import State
from favor.foundation.seeds import numpy_generator
from favor.studies.settings import CanaryClients

Uploads = Sequence[Mapping[str, State]]  # of every round the delta of each client


def link_cosines(uploads: Uploads) -> pd.DataFrame:
    """Return the ``privacy_links`` table, without its seed and method: cosines between uploads of different rounds.

    The mean of a round's uploads is taken from each of them first, because it is what all its clients learned alike; a
    round of one client has nothing left.
    """
    owners = [(number, client) for number, deltas in enumerate(uploads) for client in sorted(deltas)]
    rounds = np.array([number for number, _ in owners])
    products = np.zeros((len(owners), len(owners)))
    for key in _keys(uploads):
        deltas = (uploads[number][client][key] for number, client in owners)
        rows = np.stack([np.asarray(delta, dtype=np.float64).ravel() for delta in deltas])
        for number in set(rounds):
            rows[rounds == number] -= rows[rounds == number].mean(axis=0)
        products += rows @ rows.T
    norms = np.sqrt(np.diag(products))
    found = []
    for one, (later, client) in enumerate(owners):
        for other, (earlier, candidate) in enumerate(owners):
            if earlier < later and norms[one] > 0 and norms[other] > 0:
                cosine = products[one, other] / (norms[one] * norms[other])
                found.append((later, client, earlier, candidate, cosine))
    return pd.DataFrame(found, columns=["round", "client", "earlier", "candidate", "cosine"])


def upload_norms(uploads: Uploads) -> pd.DataFrame:
    """Return the ``privacy_norms`` table, without its seed and method."""
    found = [
        (number, client, float(np.sqrt(sum(np.square(delta[key], dtype=np.float64).sum() for key in delta))))
        for number, deltas in enumerate(uploads)
        for client, delta in sorted(deltas.items())
    ]
    return pd.DataFrame(found, columns=["round", "client", "norm"])


def canary_cosines(server: Sequence[State], uploads: Uploads, canaries: CanaryClients, seed: int) -> pd.DataFrame:
    """Return the ``privacy_canary_clients`` table, without its seed and method (Andrew et al. 2024).

    A canary client uploads a vector c whose direction is any with equal likelihood, as long as the clip,
    or as the median upload of its round where nothing is clipped. It takes part in the rounds of a client of the
    schedule, in turn. The server moves by its rate times the sum of the uploads over their number (or a fixed
    cohort), which neighbours leave as it is (a client's upload is replaced by zeros), and the other uploads of a
    round do not depend on the canary: so the movement with it is known exactly, without training again. The attacker
    sees the adapter of every round. It takes the cosine of c with the sum of the movements of the canary's rounds, with
    its uploads in them (``present``) and without (``absent``, which follows N(0, 1 / d)). One canary at a time, so that
    none hides another.

    ``server``: A_0 to A_R. Only for servers that take the mean.
    """
    owners = [sorted(deltas) for deltas in uploads]
    rounds: dict[str, list[int]] = {}
    for number, clients in enumerate(owners):
        for client in clients:
            rounds.setdefault(client, []).append(number)
    along, sizes = np.zeros((canaries.count, len(uploads))), np.zeros(canaries.count)
    moved, squares = np.zeros((len(uploads), len(uploads))), [np.zeros(len(clients)) for clients in owners]
    dimensions = 0
    for key in _keys(uploads):
        steps = np.stack([(server[number + 1][key] - server[number][key]).ravel() for number in range(len(uploads))])
        steps = steps.astype(np.float64)
        moved += steps @ steps.T
        dimensions += steps.shape[1]
        for number, clients in enumerate(owners):
            deltas = (uploads[number][client][key].astype(np.float64) for client in clients)
            squares[number] += [float(np.square(delta).sum()) for delta in deltas]
        for canary in range(canaries.count):
            generator = numpy_generator(seed, "canary client", canary, key)
            direction = generator.standard_normal((steps.shape[1],), dtype=np.float32).astype(np.float64)
            along[canary] += steps @ direction
            sizes[canary] += direction @ direction
    lengths = [canaries.clip if canaries.clip is not None else float(np.median(np.sqrt(own))) for own in squares]
    members = [canaries.cohort or len(clients) for clients in owners]
    found = []
    for canary in range(canaries.count):
        own = rounds[sorted(rounds)[canary % len(rounds)]]
        towards = float(along[canary, own].sum() / np.sqrt(sizes[canary]))
        size = float(np.sqrt(moved[np.ix_(own, own)].sum()))
        added = sum(canaries.rate * lengths[number] / members[number] for number in own)
        present = (towards + added) / np.sqrt(size**2 + 2 * added * towards + added**2)
        found.append((canary, len(own), dimensions, present, towards / size))
    return pd.DataFrame(found, columns=["canary", "participations", "dimensions", "present", "absent"])


def _keys(uploads: Uploads) -> list[str]:
    return sorted(next(iter(uploads[0].values())))
