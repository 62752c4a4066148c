"""The command ``favor`` over the demo's configuration."""

import json
import os
import re
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

import psutil
import pytest
from snakemake.cli import parse_args as snakemake_arguments
from snakemake.cli import parse_config

from favor import cli
from favor.foundation.errors import UserError
from favor.foundation.screen import harmless
from favor.running import ending


@pytest.fixture(autouse=True)
def default_signals() -> Iterator[None]:
    """Signals are not ignored, as they are below ``nohup``; processes inherit it."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.fixture
def ends(repository, monkeypatch) -> Callable[..., object]:
    """Call the command in the checkout, and return what it ends with: a line, or a status."""
    monkeypatch.chdir(repository)

    def call(*arguments) -> object:
        monkeypatch.setattr(sys, "argv", ["favor", *map(str, arguments)])
        with pytest.raises(SystemExit) as stopped:
            cli.main()
        return stopped.value.code

    return call


@pytest.fixture
def started(monkeypatch) -> list[list[str]]:
    """The command lines of Snakemake that the command starts; each ends with status 3."""
    found = []
    monkeypatch.setattr(cli, "start", lambda command: found.append(command) or 3)
    return found


def test_plan_prints_jobs_and_disk(repository, monkeypatch, capsys) -> None:
    shortest = str(repository / "tests" / "data" / "shortest.yaml")
    monkeypatch.setattr(sys, "argv", ["favor", "plan", shortest, "--json", "--no-probe"])
    cli.main()
    found = json.loads(capsys.readouterr().out)
    assert found["jobs"]["train_shared"] > 0
    assert found["final_gib"] > 0
    assert found["here"] == {}
    assert found["power"]["short"]["tests"] == 1


@pytest.mark.parametrize(
    ("arguments", "targets"),
    [
        (["check"], ["check"]),
        (["run", "--dry-run"], ["all"]),
        (["report", "--results", "elsewhere"], ["elsewhere/report.html"]),
        (
            ["certify", "asce_a", "minilm"],
            [f"results/encoders/{name}/certificate.parquet" for name in ("asce_a", "minilm")]
            + [f"results/demo/clients/embeddings/{name}.parquet" for name in ("asce_a", "minilm")],
        ),
    ],
)
def test_commands_that_run_the_workflow_start_snakemake_in_the_checkout(
    repository, monkeypatch, tmp_path, ends, started, arguments, targets
) -> None:
    monkeypatch.chdir(repository / "docs")
    monkeypatch.setenv("PATH", str(tmp_path))  # no LaTeX, so the report is a page alone
    assert ends(*arguments) == 3
    (command,) = started
    assert command[:5] == [sys.executable, "-m", "snakemake", "--snakefile", str(repository / "Snakefile")]
    assert command[command.index("--") + 1 :] == targets
    assert ("--dry-run" in command) == ("--dry-run" in arguments)


MICRO = ("--configfile", "tests/data/micro.yaml")
LATIN = "{folder}/latin.yaml"


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (
            ["certify", "asce_a", "asce_c", *MICRO],
            "there is no encoder 'asce_c'; the configuration has asce_a, minilm, stylometry, luar",
        ),
        (["certify", "luar", *MICRO], "encoder 'luar' cannot be certified: LUAR-MUD .* is not on this machine"),
        *(
            (arguments, "the name of the file is empty; name a file of the results")
            for arguments in (["why", ""], ["debug", ""])
        ),
        *(([command, "none.yaml"], "none.yaml: cannot be read.*") for command in ("plan", "check", "run")),
        *(([command, LATIN], ".*latin.yaml: not a text file in UTF-8.*") for command in ("plan", "check", "run")),
    ],
)
def test_what_is_not_there_or_cannot_be_read_is_one_line(ends, tmp_path, arguments, line) -> None:
    (tmp_path / "latin.yaml").write_bytes(b"results: caf\xe9\n")
    assert re.fullmatch(f"error: {line}", ends(*(each.format(folder=tmp_path) for each in arguments)))


@pytest.mark.parametrize(
    "folder", ["007", "1e3", "yes", "{x: 1}", "# a", "", " it's", '"q"', "a\\b", "é", "𠮷", "../my runs/1"]
)
def test_any_name_of_a_results_folder_reaches_snakemake_as_it_is(ends, started, folder) -> None:
    """Snakemake reads values of --config as numbers or YAML, in which 007 is the number 7."""
    ends("run", "--results", folder, "--rerun-other-versions", "--accept", "score,report")
    (command,) = started
    values = command[command.index("--config") + 1 : command.index("--")]
    expected = {"results": folder, "rerun_other_versions": True, "accept": ["score", "report"]}
    assert parse_config(values) == expected


def test_a_home_that_cannot_be_written_is_one_line(monkeypatch, ends) -> None:
    """Snakemake itself ends in a traceback there, as in a container of another user."""
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", "/proc/none")
    line = r"error: /proc/none/.cache/snakemake, Snakemake's cache: .* or set XDG"
    assert re.match(line, ends("run", "--dry-run"))


def test_a_working_folder_on_a_full_disk_is_one_line(ends) -> None:
    """Snakemake prints a traceback for every line of its log."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    try:
        line = ends("run", "--dry-run")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert re.match(r"error: .*: cannot write there \(File too large\); free space or fix", line)


@pytest.mark.parametrize("cores", ["0", "-1", "two", "1.5", ""])
def test_no_cores_are_refused_in_one_line(ends, capsys, cores) -> None:
    assert ends("run", f"--cores={cores}") == 2
    assert f"'{cores}' is not a number from 1, or 'all'" in capsys.readouterr().err


BELOW = """
import pathlib, signal, subprocess, sys, time
def end(*_): time.sleep(1); pathlib.Path(sys.argv[1]).touch(); sys.exit(1)
signal.signal(signal.SIGINT, end)
signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
if sys.argv[2:]: job = subprocess.Popen([sys.executable, "-c", *sys.argv[2:]])
else: print("ready", flush=True)
time.sleep(60)
"""
ABOVE = """
import sys
from favor.running import ending
ending.end_on_signals()
try: ending.start([sys.executable, "-c", *sys.argv[1:]])
except KeyboardInterrupt as stopped: print(type(stopped).__name__, *stopped.args)
"""


@pytest.mark.parametrize("send", [os.kill, os.killpg])
@pytest.mark.parametrize("ignored", [False, True])
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_waits_until_snakemake_has_ended_its_jobs(tmp_path, sent, ignored, send) -> None:
    """A signal reaches one process, or its group as on a terminal. Those below take a second to end.

    What a script starts in the background ignores Ctrl-C, and ends by the other signals all the same.
    """
    snakemake, job = tmp_path / "snakemake", tmp_path / "job"
    command = [sys.executable, "-c", ABOVE, BELOW, str(snakemake), BELOW, str(job)]
    background = ["env", "--ignore-signal=INT"] if ignored else []
    process = subprocess.Popen([*background, *command], stdout=subprocess.PIPE, text=True, start_new_session=True)
    assert process.stdout.readline() == "ready\n"
    send(process.pid, sent)
    if ignored and sent == signal.SIGINT:
        time.sleep(0.5)
        assert process.poll() is None
        os.kill(process.pid, sent := signal.SIGTERM)
    said = "KeyboardInterrupt\n" if sent == signal.SIGINT else f"Ended {sent.value}\n"
    assert process.communicate(timeout=30)[0] == said
    assert snakemake.exists()
    assert job.exists()


def test_a_snakemake_that_is_killed_is_one_line() -> None:
    killed = [sys.executable, "-c", "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"]
    with pytest.raises(UserError, match="ended by signal 9, perhaps for lack of memory; the same command goes on"):
        ending.start(killed)


IMPORTS = """
import os, signal, sys
from favor import __main__
class Interrupts:
    def find_spec(name, *_): name == "favor.cli" and os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Interrupts)
__main__.main()
"""


def test_ctrl_c_while_the_command_is_imported_prints_nothing() -> None:
    done = subprocess.run([sys.executable, "-c", IMPORTS], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGINT, "", "")


@pytest.mark.slow(30)
def test_ctrl_c_while_snakemake_imports_and_plans_is_one_line(repository, tmp_path) -> None:
    """Whenever it comes after the start of Snakemake, up to the first job."""
    command = [sys.executable, "-m", "favor", "run", str(repository / "tests/data/shortest.yaml"), "--cores", "1"]
    for seconds in (0, 0.3, 0.7, 1.2, 2, 3.5):
        process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True, start_new_session=True)
        while not psutil.Process(process.pid).children():
            time.sleep(0.01)
        time.sleep(seconds)
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=60)[1]
        assert process.returncode == 130
        assert said.endswith("favor: interrupted; the same command goes on\n")
        assert "Traceback" not in said


def test_ctrl_c_while_an_object_is_let_go_of_is_not_lost() -> None:
    code = (
        "import os, signal, time\n"
        "from favor.running.ending import end_with_jobs\n"
        "class Held:\n"
        "    def __del__(self):\n"
        "        os.kill(os.getpid(), signal.SIGINT)\n"
        "        time.sleep(1)\n"
        "end_with_jobs()\n"
        "try:\n"
        "    Held()\n"
        "    time.sleep(60)\n"
        "except KeyboardInterrupt:\n"
        "    print('interrupted')\n"
    )
    environment = os.environ | {"FAVOR_STARTED": "1"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, timeout=50)
    assert (done.returncode, done.stdout, done.stderr) == (0, "interrupted\n", "")


def test_what_nohup_starts_outlives_the_terminal() -> None:
    above = (
        "import os, signal\nfrom favor.running import ending\nending.end_on_signals()\n"
        "os.kill(os.getpid(), signal.SIGHUP)\nprint('goes on')"
    )
    done = subprocess.run(["nohup", sys.executable, "-c", above], capture_output=True, text=True, timeout=60)
    assert done.stdout == "goes on\n"


@pytest.mark.parametrize(("sent", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_signal_is_one_line_that_says_how_to_go_on(monkeypatch, capsys, ends, sent, status) -> None:
    monkeypatch.setattr(cli, "start", lambda command: os.kill(os.getpid(), sent))
    assert ends("run") == status
    assert capsys.readouterr().err == "favor: interrupted; the same command goes on\n"


LONG = "n" * 5000


@pytest.mark.parametrize(
    "arguments",
    [
        ("init", LONG),
        ("plan", LONG),
        ("score", LONG, "--author", LONG),
        ("compare", LONG, "b"),
        ("site", "train", LONG, LONG),
        ("server", "open", LONG),
    ],
)
def test_a_name_that_is_too_long_is_one_line(ends, arguments) -> None:
    line = ends(*arguments)
    assert re.match(r"error: n{30}[^\n]{0,450}(?:too long; give a shorter name|not found)", line)


def deep(path) -> None:
    assert path.name
    deep(path)


def too_large(path) -> None:
    assert path.name
    raise MemoryError


@pytest.mark.parametrize(
    ("fails", "line"), [(deep, "nested too deeply to be read; check"), (too_large, "does not fit into memory; give")]
)
def test_what_does_not_fit_is_one_line_with_the_file_at_work(monkeypatch, tmp_path, ends, fails, line) -> None:
    file = tmp_path / "posts\x1b.csv"
    file.touch()
    monkeypatch.setattr("favor.config.starting.command.run", lambda *_: fails(file))
    assert re.fullmatch(rf"error: .*/posts\\u001b\.csv: {line} [^\n]*", ends("init", "posts.csv"))


def test_control_characters_of_others_do_not_reach_the_terminal(monkeypatch, capsys, ends) -> None:
    hostile = "\x1b]0;owned\x07\x9b2J\u202eA is above B\r\tend\n"
    seen = "\\u001b]0;owned\\u0007\\u009b2J\\u202eA is above B\\u000d\tend\n"

    def compare(_) -> None:
        print(hostile, end="")
        print(hostile, end="", file=sys.stderr)
        raise UserError(hostile)

    monkeypatch.setattr("favor.report.comparison.command.run", compare)
    assert ends("compare", "a", "b") == f"error: {seen}"
    assert tuple(capsys.readouterr()) == (seen, seen)
    assert json.loads(f'"{harmless(hostile[:-1])}"'.replace("\t", "\\t")) == hostile[:-1]


def test_a_reader_that_has_seen_enough_ends_the_command_quietly() -> None:
    script = "from favor import cli; cli._run = lambda _: print('line\\n' * 100000); cli.main()"
    command = f'{sys.executable} -c "{script}" compare a b | head -n 1; echo ${{PIPESTATUS[0]}}'
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ("line\n141\n", "")


def test_the_profile_reaches_snakemake_as_options(repository, monkeypatch) -> None:
    """Snakemake prints a line about a profile that it reads itself."""
    monkeypatch.chdir(repository)
    command = cli.snakemake_command(cli.parser().parse_args(["run"]))
    verbose = cli.snakemake_command(cli.parser().parse_args(["run", "--verbose"]))
    _, own = snakemake_arguments(command[3:])
    _, profile = snakemake_arguments(verbose[3:])
    for name in ("rerun_triggers", "rerun_incomplete", "printshellcmds", "show_failed_logs", "scheduler", "cores"):
        assert getattr(own, name) == getattr(profile, name), name
    assert (own.workflow_profile, own.logger) == ("none", ["favor"])
    assert (profile.workflow_profile, profile.logger) == (None, [])
