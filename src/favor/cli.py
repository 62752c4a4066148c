"""The command ``favor``: it measures how much of authors' voices federated fine-tuning keeps.

It starts Snakemake with the options that everybody needs, and prints jobs, warnings and errors in a line each. What
Snakemake says besides is in its log. For all other options, call ``snakemake`` itself.
"""

import argparse
import json
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from importlib.metadata import version
from pathlib import Path

from favor.config.files import check_files, read_files
from favor.config.resolve import resolve
from favor.corpora.shortage import OBSTACLE
from favor.federation.row_plan import rate_caution
from favor.foundation.errors import UserError
from favor.foundation.files import check_writable
from favor.foundation.registry import PACKAGE_ROOT
from favor.foundation.screen import harmless, screened
from favor.plan import Planner
from favor.running.ending import Ended, end_on_signals, refused, start
from favor.sites import commands as sites
from favor.tuning import command as tuning
from favor.voice import commands as voice

# The checkout, or in an installed package what stands for it.
CHECKOUT = (
    PACKAGE_ROOT.parent if (PACKAGE_ROOT.parent / "Snakefile").is_file() else PACKAGE_ROOT / "favor" / "_workflow"
)
HELP = {
    "init": "look at your posts (a table, a folder or exports) and write a configuration for them",
    "plan": "print what a run costs (jobs, hours, memory, disk, traffic) and what differences it can find",
    "check": "read and split the corpus, and say whether the experiments can be run",
    "certify": "say what encoders know of style, and whether they find the authors of your texts",
    "tune": "choose learning rates and passes of every row by validation loss, on authors outside the report",
    "run": "run the workflow",
    "report": "make the report, and what it needs",
    "debug": "run the job behind one file alone, in this process; the results stay as they are",
    "why": "say why the job behind one file would run again",
    "compare": "put the results of two groups into one table, paired where prompts are equal",
    "score": "say how near texts are to an author's voice, without a run",
    "voice": "collect one writer's texts; train, use and measure an adapter of that voice",
    "site": "take part in a federation between real sites as one client",
    "server": "coordinate a federation between real sites",
}

# The modules that run commands without Snakemake; loaded when they are called, because they read tables and texts.
RUN_BY = {"compare": "favor.report.comparison.command", "score": "favor.voice.command", "voice": "favor.voice.commands"}


def planner_of(arguments: argparse.Namespace) -> Planner:
    """Return the planner of the configuration that a command line names."""
    return Planner(resolve({**read_files(_files(arguments)), **_values(arguments)}), CHECKOUT)


def _files(arguments: argparse.Namespace) -> list[str]:
    files = arguments.configfile or [str(CHECKOUT / "config" / "config.yaml")]
    check_files(files)  # Snakemake itself ends in a traceback where one is missing
    return list(files)


def _values(arguments: argparse.Namespace) -> dict[str, str | bool | list[str]]:
    named = {key: getattr(arguments, key, None) for key in ("corpus_path", "results", "accept", "rerun_other_versions")}
    return {key: value for key, value in named.items() if value not in (None, False)}


def _as_argument(value: str | bool | list[str]) -> str:
    """Return ``value`` so that Snakemake's ``--config`` reads it as it is: a folder may be named 007 or 1e3.

    Snakemake takes quotes off the ends; the space at the end keeps them on.
    """
    if isinstance(value, str):
        # YAML knows no halves of characters, as which JSON writes those beyond 16 bits.
        return f'!!str "{"".join(each if ord(each) > 0xFFFF else json.dumps(each)[1:-1] for each in value)}" '
    return json.dumps(value) if isinstance(value, list) else str(value)


def _cores(value: str) -> str:
    if value != "all" and not (value.isascii() and value.isdigit() and int(value)):
        raise argparse.ArgumentTypeError(f"'{value}' is not a number from 1, or 'all'")
    return value


def snakemake_command(arguments: argparse.Namespace, targets: Sequence[str] | None = None) -> list[str]:
    """Return the command line of Snakemake for a subcommand that runs the workflow, for its own targets or these."""
    check_writable(Path(), str(Path.cwd()))  # Snakemake's logs and records
    cache = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "snakemake"
    check_writable(cache, f"{cache}, Snakemake's cache", "free space, or set XDG_CACHE_HOME to another folder")
    files, values = _files(arguments), _values(arguments)
    if targets is None:
        targets = {"check": ["check"], "run": ["all"]}.get(arguments.command)
    if arguments.command == "certify":
        targets = certificate_targets(planner_of(arguments), arguments.encoders)
    elif targets is None:
        targets = planner_of(arguments).publication.report()
    command = [
        sys.executable,
        "-m",
        "snakemake",
        "--snakefile",
        str(CHECKOUT / "Snakefile"),
        "--cores",
        arguments.cores,
    ]
    command += [] if arguments.verbose else ["--logger", "favor", *_profile(CHECKOUT / "profiles" / "default")]
    command += ["--configfile", *files]
    if values:
        command += ["--config", *(f"{key}={_as_argument(value)}" for key, value in values.items())]
    return [*command, *(["--dry-run"] if arguments.dry_run else []), "--", *targets]


def _profile(folder: Path) -> list[str]:
    """Return a profile as options: Snakemake prints a line about one that it reads itself."""
    options = ["--workflow-profile", "none"]
    for name, value in read_files([folder / "config.yaml"]).items():
        if value is True:
            options.append(f"--{name}")
        elif value is not False:
            options += [f"--{name}", *(value if isinstance(value, list) else [value])]
    return options


def certificate_targets(planner: Planner, encoders: Sequence[str]) -> list[str]:
    """Return the files behind the certificates of encoders."""
    found = planner.evaluation.certified(encoders)
    files = [planner.paths.certificate.of(encoder=name) for name in encoders]
    return [*files, *(file for texts in found.values() for file in texts.values() if file)]


def print_certificates(arguments: argparse.Namespace) -> None:
    """Print what the workflow made for ``favor certify``, a table per experiment whose texts were read."""
    # Here, because the other commands need neither pandas nor torch's libraries.
    from favor.report.certificates import certificate_lines
    from favor.scores.settings import Resampled
    from favor.tables.specs import Context

    planner = planner_of(arguments)
    titles = {name: encoder.title for name, encoder in planner.config.encoders.items() if encoder.title}
    for experiment, texts in planner.evaluation.certified(arguments.encoders).items():
        certificates = {name: Path(planner.paths.certificate.of(encoder=name)) for name in texts}
        own = {name: Path(path) for name, path in texts.items() if path}
        context, settings = Context("", [], encoder_titles=titles), Resampled()
        if experiment:
            context = planner.tables.context(experiment)
            settings = planner.config.experiments[experiment].evaluation.scores.author_retrieval
            print(f"Human texts: the clients' of experiment '{experiment}'.")
        print(*certificate_lines(certificates, own, context, settings), sep="\n")


def print_check(file: Path) -> None:
    """Print the page of ``favor check``. Raises ``UserError`` where it says that an experiment cannot be run."""
    page = file.read_text(encoding="utf-8")
    print(page, end="", flush=True)
    if short := sum(line.startswith(OBSTACLE) for line in page.splitlines()):
        raise UserError(f"it cannot be run, for {short} reason{'s' * (short > 1)}; {file} says which keys help")


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    found = argparse.ArgumentParser(
        prog="favor", description="Measure how much of authors' voices federated fine-tuning keeps."
    )
    found.add_argument("--version", action="version", version=version("favor-workflow"))
    added = found.add_subparsers(dest="command", required=True)
    commands = {name: added.add_parser(name, help=about, description=about) for name, about in HELP.items()}
    init = commands["init"]
    init.add_argument("data", type=Path, help="a table (CSV, JSON Lines, Parquet), a folder of authors, or exports")
    init.add_argument("--output", type=Path, help="the configuration to write (named after the data)")
    form = "format of the dates, such as %%d.%%m.%%Y (found where only one is possible)"
    init.add_argument("--date-format", help=form)
    init.add_argument("--encoding", help="encoding of text that is not UTF-8, such as cp1252")
    _add_plan(commands["plan"])
    _add_compare(commands["compare"])
    _add_score(commands["score"])
    voice.add_voice(commands["voice"])
    for name in ("site", "server"):
        sites.add_actions(name, commands[name])
    for name in ("debug", "why"):
        command = commands[name]
        command.add_argument("file", help="a file in the results folder")
        _add_configuration(command)
        if name == "debug":
            command.add_argument("--pdb", action="store_true", help="open the debugger where an exception is raised")
    for name in ("check", "certify", "tune", "run", "report"):
        command = commands[name]
        if name == "certify":
            command.add_argument("encoders", nargs="+", help="encoders, by their names in the configuration")
        _add_configuration(command, "--configfile" if name == "certify" else "configfile")
        command.add_argument("--cores", type=_cores, default="all", help="cores to use (all)")
        command.add_argument("--dry-run", "-n", action="store_true", help="only print what would be done")
        command.add_argument("--verbose", action="store_true", help="print all of Snakemake's messages")
        kept = "keep the results of these stages although code or settings changed (names, comma-separated)"
        command.add_argument("--accept", metavar="STAGES", type=lambda names: names.split(","), help=kept)
        if name == "tune":
            tuning.add_tune(command)
        if name == "run":
            other = "rerun jobs whose results were made with other library versions"
            command.add_argument("--rerun-other-versions", action="store_true", help=other)
    return found


def _add_configuration(command: argparse.ArgumentParser, configfile: str = "configfile") -> None:
    command.add_argument(configfile, nargs="*", help="configuration files; later ones go over earlier ones (the demo)")
    command.add_argument("--corpus-path", help="the raw corpus")
    command.add_argument("--results", help="the results folder")


def _add_plan(command: argparse.ArgumentParser) -> None:
    command.add_argument("configfile", nargs="+", help="configuration files; later ones go over earlier ones")
    command.add_argument("--corpus-path", help="the raw corpus; any existing file will do, as it is not read")
    like = "take the variances of this finished run: RESULTS or RESULTS/EXPERIMENT"
    command.add_argument("--like", metavar="FOLDER", help=like)
    command.add_argument("--no-probe", action="store_true", help="do not measure this machine, and leave out its hours")
    command.add_argument("--json", action="store_true", help="print JSON")


def _add_compare(command: argparse.ArgumentParser) -> None:
    results = "RESULTS, RESULTS/EXPERIMENT, or a folder that --share wrote"
    command.add_argument("first", metavar="A", type=Path, help=results)
    command.add_argument("second", metavar="B", nargs="?", type=Path, help="the same for the other group")
    command.add_argument("--encoders", nargs="+", help="encoders to compare by (all)")
    command.add_argument("--output", type=Path, default=Path("comparison"), help="folder to write (%(default)s)")
    command.add_argument("--share", type=Path, help="write A's numbers and digests, without texts, to this folder")


def _add_score(command: argparse.ArgumentParser) -> None:
    command.add_argument("texts", nargs="+", type=Path, help="texts to score: files, folders or tables")
    command.add_argument("--author", required=True, type=Path, help="the author's own texts: file, folder or table")
    voice.add_judge(command)
    command.add_argument("--json", action="store_true", help="print JSON")
    command.add_argument("--page", type=Path, help="write an HTML page to this file")


def run_workflow(arguments: argparse.Namespace) -> int:
    """Run Snakemake for a subcommand, print what that one is asked for, and return Snakemake's exit status."""
    status = start(snakemake_command(arguments))
    if not status and not arguments.dry_run:
        if arguments.command == "certify":
            print_certificates(arguments)
        if arguments.command == "check":
            planner = planner_of(arguments)
            for name, experiment in planner.config.experiments.items():
                if caution := rate_caution(experiment, planner.project.plans(name)):
                    print(f"{name}: {caution}")
            print_check(Path(planner.paths.check.of()))
    return status


def main() -> None:
    """Run the command; the exit status is Snakemake's, or 1 after one line that says what is wrong."""
    end_on_signals()
    try:
        with screened():
            try:
                run(parser().parse_args())
            finally:
                sys.stdout.flush()
    except BrokenPipeError:  # the reader has seen enough, as "| head" has
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # Python flushes once more at its end
        sys.exit(128 + signal.SIGPIPE)


def run(arguments: argparse.Namespace) -> None:
    """Run a subcommand. Whatever can go wrong without a defect ends it with one line."""
    try:
        _run(arguments)
    except UserError as error:
        line = str(error)
        if arguments.command in ("compare", "score", "site", "server"):  # read files of the reader's, and of others
            line = line.replace("delete it and run again", "get it again")
        sys.exit(harmless(f"error: {line}"))
    except BrokenPipeError:
        raise
    except (OSError, RecursionError, MemoryError) as error:
        sys.exit(harmless(f"error: {refused(error)}"))
    except KeyboardInterrupt as stopped:
        with suppress(OSError):  # the terminal may be gone
            print("favor: interrupted; the same command goes on", file=sys.stderr)
        sys.exit(128 + (stopped.args[0] if isinstance(stopped, Ended) else signal.SIGINT))


def _run(arguments: argparse.Namespace) -> None:
    if arguments.command == "init":
        from favor.config.starting import command  # Here, because it loads what reads texts.

        command.run(arguments.data, arguments.output, CHECKOUT, arguments.date_format, arguments.encoding)
    elif arguments.command == "plan":
        from favor.forecast.printing import print_estimate  # Here, because it loads what computes variances.

        print_estimate(planner_of(arguments), arguments)
    elif arguments.command == "tune":
        arguments.configfile = _files(arguments)
        sys.exit(tuning.run(arguments, planner_of, lambda own, files: start(snakemake_command(own, files))))
    elif arguments.command in ("debug", "why"):
        if not arguments.file:
            raise UserError("the name of the file is empty; name a file of the results")
        from favor.running import one_job  # Here, because it loads Snakemake.

        results = planner_of(arguments).paths.results
        inside = os.path.relpath(arguments.file, results)  # an absolute name is the same file
        file = arguments.file if inside.startswith("..") else os.path.normpath(os.path.join(results, inside))
        job = (file, CHECKOUT / "Snakefile", _files(arguments), _values(arguments))
        if arguments.command == "why":
            print(*one_job.why(*job), sep="\n")
        else:
            one_job.debug(*job, arguments.pdb)
    elif arguments.command in RUN_BY:
        import_module(RUN_BY[arguments.command]).run(arguments)
    elif arguments.command in ("site", "server"):
        sites.run(arguments, planner_of)
    else:
        sys.exit(run_workflow(arguments))


if __name__ == "__main__":
    main()
