"""The subcommands of ``favor site`` and ``favor server``: their options, and the function that runs each."""

import argparse
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from favor.foundation.extras import require
from favor.plan import Planner
from favor.running.folder.leftovers import remove_partial
from favor.running.jobs.environment import quiet_libraries
from favor.sites.signing import FEDERATION, LOG
from favor.voice.commands import add_judge, count


def add_actions(command: str, parser: argparse.ArgumentParser) -> None:
    """Add the subcommands of ``command``: name, function of :mod:`favor.sites`, options, and what it does."""
    found = _ACTIONS[command]
    actions = parser.add_subparsers(dest="action", required=True, metavar=f"{{{','.join(found)}}}")
    for name, (function, options, about) in found.items():
        action = actions.add_parser(name, help=about, description=about)
        whose = "coordinator" if command == "server" else "site, which nobody else reads"
        action.add_argument(command, type=Path, help=f"folder of the {whose}")
        options(action)
        action.set_defaults(function=function)


def run(arguments: argparse.Namespace, planner_of: Callable[[argparse.Namespace], Planner]) -> None:
    """Run a subcommand. Raises ``UserError`` in one line where it cannot be done."""
    require("sites", FEDERATION)
    quiet_libraries()
    folder = arguments.server if arguments.command == "server" else arguments.site
    if (folder / LOG).is_file():  # what a command that was killed was writing
        remove_partial(folder)
    module, name = arguments.function.split(".")
    function = getattr(import_module(f"favor.sites.{module}"), name)
    if name in ("init", "open_round"):
        function(arguments, planner_of)
    else:
        function(arguments)


def _configured(action: argparse.ArgumentParser) -> None:
    action.add_argument("configfile", nargs="*", help="configuration files; later ones go over earlier ones (the demo)")
    action.add_argument("--corpus-path", help="the raw corpus")
    action.add_argument("--results", help="the results folder, if base model and encoder were made in one")


def _init(action: argparse.ArgumentParser) -> None:
    _configured(action)
    action.add_argument("--invitation", required=True, type=Path, help="the coordinator's invitation.json")
    action.add_argument("--client", required=True, help="the site's name in the federation, such as client_001")
    action.add_argument("--author", help="author of the texts, if the corpus holds several")
    action.add_argument("--words", type=count, help="train on at most this many words (all training texts)")


def _train(action: argparse.ArgumentParser) -> None:
    action.add_argument("round", type=Path, help="folder of the round, as the coordinator sent it")


def _site_export(action: argparse.ArgumentParser) -> None:
    action.add_argument("final", type=Path, help="the folder 'final', as the coordinator sent it")
    action.add_argument("out", type=Path, help="where the adapter goes")


def _score(action: argparse.ArgumentParser) -> None:
    action.add_argument("adapter", type=Path, help="folder that favor site export wrote")
    add_judge(action)


def _open(action: argparse.ArgumentParser) -> None:
    _configured(action)
    action.add_argument("--experiment", help="experiment of the configuration (its only one)")
    action.add_argument("--method", help="row of the experiment (favor)")
    action.add_argument("--seed", type=int, help="seed (the experiment's first)")
    _days(action)


def _days(action: argparse.ArgumentParser) -> None:
    action.add_argument("--days", type=count, default=30, help="for how many days sites accept it (30)")


def _close(action: argparse.ArgumentParser) -> None:
    action.add_argument("uploads", nargs="*", type=Path, help="uploads of the round: files, or folders of them")
    action.add_argument("--without", nargs="+", default=[], metavar="CLIENT", help="clients that do not answer")


def _revoke(action: argparse.ArgumentParser) -> None:
    action.add_argument("client", help="client whose key it is, such as client_001")


_ACTIONS: dict[str, dict[str, tuple[str, Callable[[argparse.ArgumentParser], None], str]]] = {
    "site": {
        "init": ("site.init", _init, "check that this site can take part, and cut its texts"),
        "train": ("site.train", _train, "train a round, and write the one file that is sent"),
        "key": ("site.new_key", lambda _: None, "replace the site's key by a new one, which the old one signs"),
        "export": ("site.export", _site_export, "write what the site generates with, in PEFT's format"),
        "score": (
            "scoring.score",
            _score,
            "say how near to the site's author it writes, without the texts of other sites",
        ),
    },
    "server": {
        "open": ("server.open_round", _open, "begin a federation, or open its next round"),
        "close": ("server.close", _close, "take the uploads of the open round, and make the next shared adapter"),
        "revoke": ("server.revoke_key", _revoke, "take nothing more that is signed by a site's key"),
        "export": ("server.export", _days, "write the final shared adapter, and the record of all files that crossed"),
    },
}
