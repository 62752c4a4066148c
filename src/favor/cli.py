"""The command ``favor``: what a configuration costs, whether its corpus suffices, the run, and the report.

It starts Snakemake with the options that everybody needs. For all the others, call ``snakemake`` itself.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

from favor.config.files import check_files, read_files
from favor.config.resolve import resolve
from favor.foundation.errors import UserError
from favor.plan import Planner
from favor.plan.__main__ import CHECKOUT, add_arguments, print_estimate

HELP = {
    "plan": "print jobs, GPU-hours, memory, disk and traffic before anything is started",
    "check": "read and divide the corpus, without a model, and say whether the experiments can be run",
    "run": "run the workflow",
    "report": "make the report, and what it needs",
}


def checkout() -> Path:
    """Return the checkout around the working directory, or the one that this package was installed from.

    Raises ``UserError`` where there is neither: the rules of the workflow are not part of the package.
    """
    for folder in (Path.cwd(), *Path.cwd().parents, CHECKOUT):
        if (folder / "Snakefile").is_file() and (folder / "workflow" / "rules").is_dir():
            return folder
    raise UserError("no Snakefile here; change to your clone of FAVoR Workflow and start favor again")


def snakemake_command(arguments: argparse.Namespace) -> list[str]:
    """Return the command line of Snakemake for a subcommand that runs the workflow."""
    folder = checkout()
    files = arguments.configfile or [str(folder / "config" / "config.yaml")]
    check_files(files)  # Snakemake itself ends in a traceback where one is missing
    named = {"corpus_path": arguments.corpus_path, "results": arguments.results}
    values = {key: value for key, value in named.items() if value}
    targets = {"check": ["check"], "run": ["all"]}.get(arguments.command)
    if targets is None:
        targets = Planner(resolve({**read_files(files), **values}), folder).publication.report()
    command = [sys.executable, "-m", "snakemake", "--snakefile", str(folder / "Snakefile"), "--cores", arguments.cores]
    command += ["--configfile", *files]
    if values:
        command += ["--config", *(f"{key}={value}" for key, value in values.items())]
    return [*command, *(["--dry-run"] if arguments.dry_run else []), "--", *targets]


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    found = argparse.ArgumentParser(prog="favor", description=(__doc__ or "").partition("\n")[0])
    found.add_argument("--version", action="version", version=version("favor-workflow"))
    commands = found.add_subparsers(dest="command", required=True, metavar="{plan,check,run,report}")
    add_arguments(commands.add_parser("plan", help=HELP["plan"], description=HELP["plan"]))
    for name in ("check", "run", "report"):
        command = commands.add_parser(name, help=HELP[name], description=HELP[name])
        command.add_argument("configfile", nargs="*", help="configuration; later files go over earlier ones (the demo)")
        command.add_argument("--corpus-path", help="the raw corpus")
        command.add_argument("--results", help="the results folder")
        command.add_argument("--cores", default="all", help="cores to use (all)")
        command.add_argument("--dry-run", "-n", action="store_true", help="only say what would be done")
    return found


def main() -> None:
    """Run the command; the exit status is Snakemake's, or 1 after one line that says what is wrong."""
    arguments = parser().parse_args()
    try:
        if arguments.command == "plan":
            print_estimate(arguments)
            return
        command = snakemake_command(arguments)
    except UserError as error:
        sys.exit(f"error: {error}")
    sys.exit(subprocess.run(command, check=False).returncode)


if __name__ == "__main__":
    main()
