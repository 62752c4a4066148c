"""A client leaves: files with its texts, adapters or continuations are deleted, and its rows removed from tables.

Training jobs read ``clients/texts``, ``clients/allocation`` and ``clients/embeddings`` by client, so these tables lose
rows and keep their time: nothing of the others is made again because of it. Every other file that names the client
follows from its participation, and is made again without it. The schedule stays, which names who was drawn.
"""

import json
import os
import shutil
from collections.abc import Collection, Iterator
from pathlib import Path, PurePosixPath

from favor.running.folder.output_record import made_outputs

KEPT = ("texts", "allocation", "embeddings")
NOT_ITS_OWN = {"schedule", "transfer"}  # who was drawn; the authors of another corpus
QUOTING = {"clients", "exports", "studies"}  # folders whose other files quote texts by client


def erase(
    results: Path, experiment: str, clients: Collection[str], quoting: Collection[str], planning: bool
) -> Iterator[str]:
    """Erase ``clients`` from the files of ``experiment`` that are on record, and yield a line about each.

    Files that match one of ``quoting`` quote texts without naming whose. They go first, where another file that goes
    names a client: so a run that had them is told from one that never did. ``planning``: the lines say what a real run
    does, and nothing is touched.
    """
    outputs = list(made_outputs(results)) if clients else []
    found = [named for path in outputs for named in _of_clients(results / experiment, path, clients)]
    if any(not stays for _, _, stays in found):
        known = {path for path, _, _ in found}
        others = {path: PurePosixPath("/", path.relative_to(results)) for path in outputs if path not in known}
        quotes = [path for path, place in others.items() if any(map(place.match, quoting))]
        found = [*((path, sorted(clients), False) for path in quotes), *found]
    for path, names, stays in found:
        does = "rows removed from" if stays else "deleted"
        yield f"withdrawn from '{experiment}' ({', '.join(names)}): {'to be ' if planning else ''}{does} {path}"
        if planning:
            continue
        if stays:
            _remove_rows(path, clients)
        elif path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()


def _of_clients(folder: Path, path: Path, clients: Collection[str]) -> Iterator[tuple[Path, list[str], bool]]:
    """Yield what is of ``clients`` at an output: (file or folder, their names, whether it stays and loses rows)."""
    place = path.relative_to(folder).parts if path.is_relative_to(folder) else ()
    if not place or NOT_ITS_OWN & set(place):
        return
    if not path.is_file():
        yield from ((path / client, [client], False) for client in clients if (path / client).exists())
    elif _names(path, clients, bool(QUOTING & set(place))):
        yield path, sorted(clients), place[0] == "clients" and place[1].removesuffix(".parquet") in KEPT


def _names(path: Path, clients: Collection[str], quoting: bool) -> bool:
    """Return whether a file has rows or adapters of one of the clients, or, ``quoting``, its name in a text."""
    if path.suffix == ".parquet":
        import pyarrow.parquet as pq  # here, because the workflow reads this module whenever it is parsed

        if "client" not in pq.read_schema(path).names:
            return False
        return bool(set(pq.read_table(path, columns=["client"])["client"].to_pylist()) & set(clients))
    if path.suffix == ".safetensors":
        from favor.foundation.tensors import safetensors_header

        return bool(set(json.loads(safetensors_header(path).get("clients", "[]"))) & set(clients))
    content = path.read_bytes() if quoting else b""
    return any(client.encode() in content for client in clients)


def _remove_rows(path: Path, clients: Collection[str]) -> None:
    from favor.corpora.schemas import ALLOCATION, CLIENT_TEXTS
    from favor.encoders.schemas import SOURCE_EMBEDDINGS
    from favor.foundation.parquet import read_parquet, write_parquet, write_row_groups

    times = os.stat(path)
    table = {"texts": CLIENT_TEXTS, "allocation": ALLOCATION}.get(path.stem, SOURCE_EMBEDDINGS)
    rows = read_parquet(path, table)
    rows = rows[~rows["client"].isin(list(clients))]
    if table is ALLOCATION:
        write_parquet(rows, path, table)
    else:
        write_row_groups(rows, path, table, "client")
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
