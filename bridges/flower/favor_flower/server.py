"""The coordinator's side: it sends every round that is left to its clients, closes it with their uploads, and ends.

All that it keeps lies in the coordinator's folder, so a run that was killed goes on where the next one is started.
"""

import fcntl
import json
import logging
import subprocess
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path

from flwr.app import ArrayRecord, ConfigRecord, Context, Message, MessageType, RecordDict
from flwr.serverapp import Grid, ServerApp

from favor_flower.files import SENT, packed, unpack

app = ServerApp()
LOST = (3, 4, 5, 8)  # Flower's codes of errors for a node or a message that is gone, or a client's killed process
PAUSE = 3  # seconds


@app.main()
def main(grid: Grid, context: Context) -> None:
    """Carry all rounds that are not closed. Raises ``RuntimeError`` with what a site refuses, and why."""
    server, favor = Path(str(context.run_config["server"])), str(context.run_config["favor"])
    lock = (server / "flower.lock").open("w")
    fcntl.flock(lock, fcntl.LOCK_EX)  # a run that outlived its SuperLink ends first
    clients: dict[int, str] = {}  # by node
    agreed = json.loads((server / "server.json").read_text())["agreement"]
    while (number := _closed(server)) < len(agreed["cohorts"]):
        _favor(favor, "open", server)
        received = server / "received" / str(number)
        files = packed(server / "rounds" / str(number) / file for file in SENT)
        sent = dict.fromkeys(agreed["cohorts"][number], files)
        for client, reply in _answers(grid, clients, "train", sent, number):
            unpack(reply["files"], next(iter(reply["files"])), received / f"{client}.safetensors")
        _favor(favor, "close", server, received)
    _favor(favor, "export", server)
    final = server / "final"
    recipients = json.loads((final / "manifest.json").read_text())["signed"]["cohort"]
    sent = {
        client: packed(final / file for file in (SENT if client in recipients else SENT[:1]))
        for client in agreed["clients"]
    }
    for client, _ in _answers(grid, clients, "train.end", sent, len(agreed["cohorts"])):
        _say(f"{client} has its adapter")


def _closed(server: Path) -> int:
    return next(number for number in count() if not (server / "traffic" / f"{number}.parquet").is_file())


def _favor(favor: str, action: str, server: Path, *more: Path) -> None:
    done = subprocess.run([favor, "server", action, server, *more], capture_output=True, text=True)
    for line in (done.stdout + done.stderr).splitlines():
        _say(line)
    if done.returncode:
        raise RuntimeError(done.stderr.strip().rpartition("\n")[2])


def _say(line: str) -> None:
    logging.getLogger("flwr").info(line)


def _answers(
    grid: Grid, clients: dict[int, str], kind: str, files: dict[str, ArrayRecord], number: int
) -> Iterator[tuple[str, RecordDict]]:
    """Send every client its files, and again where its node was lost; yield its answer. Ends when all have answered.

    ``clients``: the client of every node, to which new ones are added: a node that is started again is another one.
    """
    waiting, about = set(files), ConfigRecord({"round": number})
    while waiting:
        there = set(grid.get_node_ids())
        new = [Message(RecordDict(), node, MessageType.QUERY) for node in there - {*clients}]
        clients.update({node: str(answer["site"]["client"]) for node, answer in _replies(grid, new)})
        nodes = {client: node for node, client in clients.items() if node in there and client in waiting}
        if away := sorted(waiting - {*nodes}):
            _say(f"waiting for {', '.join(away)}")
        sent = [
            Message(RecordDict({"files": files[client], "about": about}), node, kind) for client, node in nodes.items()
        ]
        for node, answer in _replies(grid, sent):
            client = clients[node]
            if "refused" in answer:
                raise RuntimeError(f"{client}: {answer['refused']['line']}")
            waiting.remove(client)
            yield client, answer
        time.sleep(PAUSE if waiting else 0)


def _replies(grid: Grid, messages: list[Message]) -> Iterator[tuple[int, RecordDict]]:
    """Yield (node, content) of the replies, and nothing of a node that was lost. Raises ``RuntimeError`` for others."""
    for reply in grid.send_and_receive(messages):
        if not reply.has_error():
            yield reply.metadata.src_node_id, reply.content
        elif reply.error.code in LOST:
            _say(f"lost: {reply.error.reason}")
        else:
            raise RuntimeError(f"node {reply.metadata.src_node_id}: {reply.error.reason}")
