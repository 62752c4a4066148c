"""A site's side. All that it keeps lies in the site's folder: what Flower keeps is lost with a node's memory.

A SuperNode is started with ``--node-config 'site="FOLDER" favor="COMMAND"'``.
"""

import fcntl
import json
import shutil
import subprocess
import sys
from pathlib import Path

from flwr.app import ConfigRecord, Context, Message, RecordDict
from flwr.clientapp import ClientApp

from favor_flower.files import SENT, packed, unpack

app = ClientApp()


@app.query()
def name(message: Message, context: Context) -> Message:
    """Say which client of the federation this site is."""
    return Message(RecordDict({"site": ConfigRecord({"client": _client(context)})}), reply_to=message)


@app.train()
def train(message: Message, context: Context) -> Message:
    """Train a round, and reply with its one upload file. A round that was trained before is not trained again."""
    number = int(message.content["about"]["round"])
    refused = _favor(message, context, "train", f"round{number}")
    upload = Path(str(context.node_config["site"])) / "uploads" / f"round{number}_{_client(context)}.safetensors"
    return _reply(message, refused, upload)


@app.train("end")
def end(message: Message, context: Context) -> Message:
    """Write what the site generates with into ``adapter`` of its folder."""
    out = Path(str(context.node_config["site"])) / "adapter"
    return _reply(message, _favor(message, context, "export", "final", str(out)))


def _client(context: Context) -> str:
    settings = Path(str(context.node_config["site"])) / "settings.json"
    return str(json.loads(settings.read_text())["client"])


def _reply(message: Message, refused: str, *files: Path) -> Message:
    """Return the answer: ``files``, or why the site refuses."""
    content = {"refused": ConfigRecord({"line": refused})} if refused else {"files": packed(files)}
    return Message(RecordDict(content), reply_to=message)


def _favor(message: Message, context: Context, action: str, folder: str, *more: str) -> str:
    """Run ``favor site ACTION`` on the files of a message; return why the site refuses them, or nothing.

    One command at a time works in a folder: the lock is inherited by a command that outlives its node.
    """
    site = Path(str(context.node_config["site"]))
    received = site / "received" / folder
    with (site / "flower.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        shutil.rmtree(received, ignore_errors=True)
        for file in SENT:
            if file in message.content["files"]:
                unpack(message.content["files"], file, received / file)
        command = [str(context.node_config["favor"]), "site", action, str(site), str(received), *more]
        done = subprocess.run(command, stderr=subprocess.PIPE, text=True, pass_fds=[lock.fileno()])
    sys.stderr.write(done.stderr)
    if done.returncode == 0:
        return ""
    # Only what it says about the files that it was sent leaves the site: another line might name its own.
    line = done.stderr.strip().rpartition("\n")[2].removeprefix("error: ")
    about = line.startswith(str(received))
    return line.removeprefix(f"{received}/") if about else f"favor site {action} failed; the site's own log says why"
