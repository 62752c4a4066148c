"""The subcommands of ``favor voice``: their options, and the module that runs each."""

import argparse
from importlib import import_module
from pathlib import Path

from favor.encoders.settings import EMBEDDED_MINILM
from favor.running.jobs.environment import quiet_libraries

REAL_BASE = "resources/SmolLM2-135M-Instruct.Q4_1.gguf"  # of `make real-base`


def add_voice(command: argparse.ArgumentParser) -> None:
    """Add the subcommands. One is a function that adds its options, and a module of this package with ``run``."""
    actions = command.add_subparsers(
        dest="action", required=True, metavar="{collect,train,write,rewrite,report,page,export}"
    )
    for name, (module, options, about) in _ACTIONS.items():
        action = actions.add_parser(name, help=about, description=about)
        options(action)
        if name != "collect":
            action.add_argument("--voice", type=Path, default=Path("voice"), help="folder of the voice (%(default)s)")
        action.set_defaults(module=module)


def run(arguments: argparse.Namespace) -> None:
    """Run a subcommand. Raises ``UserError`` in one line where it cannot be done."""
    quiet_libraries()
    import_module(f"favor.voice.{arguments.module}").run(arguments)  # Here, because most of them load torch.


def add_judge(command: argparse.ArgumentParser) -> None:
    """Add the options that say what texts are compared with, and by which encoder."""
    command.add_argument("--contrast", type=Path, help="other authors: a table, or a folder of folders (presidents)")
    command.add_argument("--encoder", default=EMBEDDED_MINILM, help="folder or name of a style encoder (%(default)s)")


def _collect(command: argparse.ArgumentParser) -> None:
    command.add_argument("exports", nargs="+", type=Path, metavar="EXPORT", help="exports: files, zips or folders")
    command.add_argument(
        "--me", required=True, action="append", metavar="NAME", help="the writer's name, address or id; repeat for more"
    )
    command.add_argument("--until", metavar="DATE", help="last day to take, such as 2022-11-30 (before assistants)")
    command.add_argument("--mask", action="store_true", help="mask addresses, accounts, long numbers and known names")
    command.add_argument("--date-order", choices=("dmy", "mdy", "ymd"), help="order of the dates of WhatsApp")
    command.add_argument("--out", type=Path, default=Path("voice.parquet"), help="the table (%(default)s)")


def _train(command: argparse.ArgumentParser) -> None:
    add = command.add_argument
    add("texts", type=Path, help="the writer's texts: a folder or a table")
    add("--author", required=True, help="the writer's name, as table, folder or front matter has it")
    add("--consent", help="'mine': the texts are your own, and you want this; required")
    add("--base", default=REAL_BASE, help="GGUF file, folder or Hugging Face id (%(default)s)")
    start = "shared adapter to start from: PEFT folder, or server/roundN of a run"
    add("--from", dest="start", type=Path, help=start)
    tasks = ("continue", "rewrite", "instruct")
    add("--task", choices=tasks, default="continue", help="what the voice does (%(default)s)")
    add("--epochs", type=count, default=6, help="most passes over the texts (%(default)s)")
    columns = "names of columns, such as text=email prompt=subject"
    add("--columns", nargs="+", type=_column, default=[], help=columns)
    add("--quantisation", choices=("none", "nf4"), default="none", help="quantisation of the base (%(default)s)")
    add("--dtype", choices=("auto", "float32", "bfloat16"), default="auto", help="computation type (%(default)s)")


def _write(command: argparse.ArgumentParser) -> None:
    command.add_argument("prompt", help="the first words of the text, or what to write (--task instruct)")
    command.add_argument("--about", default="", help="what the text answers, such as the subject of a mail")
    command.add_argument("--tokens", type=count, default=160, help="longest continuation (%(default)s)")
    command.add_argument("--temperature", type=_temperature, default=0.0, help="0 takes the likeliest words (0)")
    command.add_argument("--seed", type=count, default=1, help="another number draws other words (%(default)s)")
    command.add_argument("--json", action="store_true", help="print JSON")


def _rewrite(command: argparse.ArgumentParser) -> None:
    command.add_argument("draft", type=Path, help="the draft: a text file")
    command.add_argument("--json", action="store_true", help="print JSON")


def _report(command: argparse.ArgumentParser) -> None:
    add_judge(command)
    command.add_argument("--page", type=Path, help="where the page goes (report.html in the folder of the voice)")


def _export(command: argparse.ArgumentParser) -> None:
    command.add_argument("folder", type=Path, help="where the adapter goes")
    command.add_argument("--consent", help="'mine': it is your voice, and you agree to take it elsewhere; required")
    command.add_argument("--base-licence", help="licence of the base, where its files do not name it")


def _page(command: argparse.ArgumentParser) -> None:
    command.add_argument("--author", type=Path, help="an author's texts to score against (those of the voice)")
    add_judge(command)
    command.add_argument("--port", type=count, default=0, help="port on this machine (any that is free)")


def _temperature(value: str) -> float:
    try:
        number = float(value)
    except ValueError:
        number = -1.0
    if not 0 <= number <= 10:
        raise argparse.ArgumentTypeError(f"'{value}' is not a number from 0 to 10")
    return number


def count(value: str) -> int:
    """Return an option's whole number from 1."""
    if not (value.isascii() and value.isdigit() and int(value)):
        raise argparse.ArgumentTypeError(f"'{value}' is not a number from 1")
    return int(value)


def _column(value: str) -> tuple[str, str]:
    role, sign, name = value.partition("=")
    if role not in ("author", "text", "prompt", "date") or not sign or not name:
        raise argparse.ArgumentTypeError(f"'{value}' is not author=, text=, prompt= or date= with a column's name")
    return role, name


_ACTIONS = {
    "collect": ("collect", _collect, "make a table of one writer's own texts from exports of mail, chats and posts"),
    "train": ("training", _train, "train an adapter on one writer's texts, and say what it has memorised"),
    "write": ("writing", _write, "continue a text with the base model and with the voice, side by side"),
    "rewrite": ("rewriting", _rewrite, "rewrite a draft with the base model and with the voice, side by side"),
    "report": ("report", _report, "write a page on how near the voice comes to its writer and what it has memorised"),
    "page": ("web_app", _page, "open a page on this machine that scores texts against the voice, and writes in it"),
    "export": ("export", _export, "write the adapter for PEFT, llama.cpp and Ollama, with a model card"),
}
