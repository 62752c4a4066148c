"""The data-locality boundary as evidence: what crossed it, in which direction, and what stayed, in bytes.

A client's part counts as the adapter file it would be alone (:func:`favor.foundation.files.safetensors_bytes`), because
a file may hold the clients of one job. What a server sees of a run is the rows that do not say "stays_on_client".
"""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from favor.federation.client_archive import pack_shapes
from favor.federation.method import SharedStage
from favor.federation.ranks import rank_of, shape_at
from favor.federation.schemas import TRAFFIC
from favor.federation.settings import RunBoundary
from favor.federation.state_rule import STATE
from favor.foundation.parquet import read_parquet
from favor.foundation.tensors import safetensors_bytes, safetensors_header, safetensors_shapes, safetensors_types

UP, DOWN, STAYS = "client_to_server", "server_to_client", "stays_on_client"
_NUMBER_BYTES = 8


def pack_bytes(path: str | Path) -> dict[tuple[str, str], int]:
    """Return the size of every (client, part) of a pack, also of those stored elsewhere, from headers alone."""
    # Only a rounded upload holds whole numbers; all others count as an adapter file holds them.
    whole = {name: kind for name, kind in safetensors_types(path).items() if kind.startswith("I")}
    return {
        (client, part): safetensors_bytes(
            tensors, {name: whole.get(f"{client}/{part}/{name}", "F32") for name in tensors}
        )
        for (client, part), tensors in pack_shapes(path).items()
    }


def round_traffic(
    round_number: int, adapter: str, uploads: Sequence[str], results: str, stage: SharedStage
) -> pd.DataFrame:
    """Return the ``traffic`` table of one round: the adapter sent to its clients, the deltas sent back.

    Where the stage weights by words, each upload also says how many its client has, one number. A tensor that is not
    uploaded is A_0's, or a client's own, so that it is not broadcast either. A client is sent the shared adapter at the
    rank of its upload.
    """
    whole = _sent_shapes(adapter, stage)
    rows = []
    for path in uploads:
        shapes = pack_shapes(path)
        for (client, part), size in pack_bytes(path).items():
            own = shapes[client, part]
            broadcast = safetensors_bytes({name: own.get(name, shape) for name, shape in whole.items()})
            rows.append((round_number, UP, part, client, _relative(path, results), size))
            rows.append((round_number, DOWN, "shared adapter", client, _relative(adapter, results), broadcast))
            if stage.weighting == "words":
                rows.append((round_number, UP, "word count", client, _relative(path, results), _NUMBER_BYTES))
    return pd.DataFrame(rows, columns=TRAFFIC.names)


def run_boundary(run: RunBoundary, texts: pd.DataFrame, results: str) -> pd.DataFrame:
    """Return the ``boundary`` rows of one run. The round of the final adapter is one more than the last."""
    frames = [read_parquet(path, TRAFFIC) for path in run.traffic]
    rows: list[tuple[int, str, str, str, str, int]] = []
    if run.final:
        stage = SharedStage.of(run.stage) if run.stage else None
        # Who only generates needs no state of the server.
        whole = {name: shape for name, shape in _sent_shapes(run.final, stage).items() if not name.startswith(STATE)}
        path = _relative(run.final, results)
        for client in run.recipients:
            own = whole
            if stage is not None and stage.ranks is not None:
                rank = rank_of(stage.ranks, run.seed, client)
                own = {name: shape_at(name, shape, rank) for name, shape in whole.items()}
            rows.append((len(frames), DOWN, "final adapter", client, path, safetensors_bytes(own)))
    if run.pooled:
        trained = texts[texts["training_text"] != ""]
        lengths = (trained["prompt"] + trained["training_text"]).map(lambda text: len(text.encode("utf-8")))
        sizes = lengths.groupby(trained["client"]).sum()
        rows += [(0, UP, "text", str(client), "clients/texts.parquet", int(size)) for client, size in sizes.items()]
        (pooled,) = (size for path in run.packs for size in pack_bytes(path).values())
        path = _relative(run.packs[0], results)
        rows += [(1, DOWN, "final adapter", str(client), path, pooled) for client in sizes.index]
    stays: dict[tuple[str, str], tuple[str, int]] = {}
    by_round = sorted(run.packs, key=lambda path: int(safetensors_header(path).get("round", 0)))
    for path in [] if run.pooled else by_round:
        # Of a client with several packs that of the last round stays.
        stays |= {owner: (_relative(path, results), size) for owner, size in pack_bytes(path).items()}
    rows += [(len(frames), STAYS, part, client, path, size) for (client, part), (path, size) in stays.items()]
    frames.append(pd.DataFrame(rows, columns=TRAFFIC.names))
    return pd.concat(frames, ignore_index=True).assign(seed=run.seed, method=run.method)


def _sent_shapes(path: str, stage: SharedStage | None) -> dict[str, tuple[int, ...]]:
    return {name: shape for name, shape in safetensors_shapes(path).items() if stage is None or stage.sends(name)}


def _relative(path: str | Path, results: str) -> str:
    return Path(path).relative_to(results).as_posix() if Path(path).is_relative_to(results) else Path(path).name
