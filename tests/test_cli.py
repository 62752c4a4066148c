"""The command ``favor`` over the demo's configuration."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

import pytest
from snakemake.cli import parse_args as snakemake_arguments
from snakemake.cli import parse_config

from favor import cli


def run(monkeypatch, capsys, *arguments) -> str:
    monkeypatch.setattr(sys, "argv", ["favor", *arguments])
    cli.main()
    return capsys.readouterr().out


def test_plan_prints_jobs_and_disk(repository, monkeypatch, capsys) -> None:
    found = json.loads(
        run(monkeypatch, capsys, "plan", str(repository / "config" / "config.yaml"), "--json", "--no-probe")
    )
    assert found["jobs"]["train_shared"] > 0
    assert found["final_gib"] > 0
    assert found["here"] == {}
    assert found["power"]["demo"]["tests"] == 13


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
    repository, monkeypatch, tmp_path, arguments, targets
) -> None:
    started = []
    monkeypatch.chdir(repository / "docs")
    monkeypatch.setenv("PATH", str(tmp_path))  # no LaTeX, so the report is a page alone
    monkeypatch.setattr(sys, "argv", ["favor", *arguments])
    monkeypatch.setattr(cli, "start", lambda command: started.append(command) or 3)
    with pytest.raises(SystemExit) as stopped:
        cli.main()
    (command,) = started
    assert command[:5] == [sys.executable, "-m", "snakemake", "--snakefile", str(repository / "Snakefile")]
    assert command[command.index("--") + 1 :] == targets
    assert ("--dry-run" in command) == ("--dry-run" in arguments)
    assert stopped.value.code == 3


def test_an_encoder_that_is_not_there_is_one_line_with_those_that_are(repository, monkeypatch) -> None:
    for name, problem in (
        ("asce_c", "there is no encoder 'asce_c'; the configuration has asce_a, minilm, stylometry, luar"),
        ("luar", "encoder 'luar' cannot be certified: LUAR-MUD .* is not on this machine"),
    ):
        micro = str(repository / "tests" / "data" / "micro.yaml")
        monkeypatch.setattr(sys, "argv", ["favor", "certify", "asce_a", name, "--configfile", micro])
        with pytest.raises(SystemExit, match=rf"^error: {problem}$"):
            cli.main()


def test_a_wrong_file_is_one_line(monkeypatch, tmp_path) -> None:
    (tmp_path / "latin.yaml").write_bytes(b"results: caf\xe9\n")
    for command in ("plan", "check", "run"):
        for name, problem in (("none.yaml", "cannot be read"), ("latin.yaml", "not a text file in UTF-8")):
            monkeypatch.setattr(sys, "argv", ["favor", command, str(tmp_path / name)])
            with pytest.raises(SystemExit, match=rf"^error: .*{name}: {problem}"):
                cli.main()


@pytest.mark.parametrize(
    "folder",
    [
        *(
            "007",
            "123",
            "1e3",
            "1_000",
            "nan",
            "True",
            "~",
            "null",
            "yes",
            "[a]",
            "{x: 1}",
            "a: b",
            "# a",
            " x",
            "it's",
        ),
        *(" x", "it's", "'q'", '"q"', "a\\b", "é", "results", "../my runs/1", "/tmp/1.5"),
    ],
)
def test_any_name_of_a_results_folder_reaches_snakemake_as_it_is(repository, monkeypatch, folder) -> None:
    """Snakemake reads values of --config as numbers or YAML, in which 007 is the number 7."""
    started = []
    monkeypatch.chdir(repository)
    monkeypatch.setattr(sys, "argv", ["favor", "run", "--results", folder, "--rerun-other-versions"])
    monkeypatch.setattr(cli, "start", lambda command: started.append(command) or 0)
    with pytest.raises(SystemExit):
        cli.main()
    (command,) = started
    values = command[command.index("--config") + 1 : command.index("--")]
    assert parse_config(values) == {"results": folder, "rerun_other_versions": True}


@pytest.mark.parametrize("cores", ["0", "-1", "two", "1.5", ""])
def test_no_cores_are_refused_in_one_line(monkeypatch, capsys, cores) -> None:
    monkeypatch.setattr(sys, "argv", ["favor", "run", f"--cores={cores}"])
    with pytest.raises(SystemExit, match="2"):
        cli.main()
    assert f"'{cores}' is not a number from 1, or 'all'" in capsys.readouterr().err


def test_an_interrupt_is_one_line_that_says_how_to_go_on(repository, monkeypatch, capsys) -> None:
    def interrupted(command) -> None:
        raise KeyboardInterrupt

    monkeypatch.chdir(repository)
    monkeypatch.setattr(sys, "argv", ["favor", "run"])
    monkeypatch.setattr(cli, "start", interrupted)
    with pytest.raises(SystemExit) as stopped:
        cli.main()
    assert stopped.value.code == 130
    assert capsys.readouterr().err == "favor: interrupted; the same command goes on\n"


def test_ctrl_c_waits_until_snakemake_has_ended_its_jobs(tmp_path) -> None:
    """Both processes get the signal, as on a terminal; the one below takes a second to end."""
    ended = tmp_path / "ended"
    below = (
        "import pathlib, signal, sys, time\n"
        "def end(*_): time.sleep(1); pathlib.Path(sys.argv[1]).touch(); sys.exit(1)\n"
        "signal.signal(signal.SIGINT, end)\n"
        "print('ready', flush=True)\n"
        "time.sleep(60)\n"
    )
    above = (
        "import sys\nfrom favor import cli\n"
        "try: cli.start([sys.executable, '-c', *sys.argv[1:]])\n"
        "except KeyboardInterrupt: print('interrupted')"
    )
    command = [sys.executable, "-c", above, below, str(ended)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    os.killpg(process.pid, signal.SIGINT)
    assert process.communicate(timeout=30)[0] == "interrupted\n"
    assert ended.exists()


def test_the_profile_reaches_snakemake_as_options(repository, monkeypatch) -> None:
    """Snakemake prints a line about a profile that it reads itself."""
    monkeypatch.chdir(repository)
    command = cli.snakemake_command(cli.parser().parse_args(["run"]))
    verbose = cli.snakemake_command(cli.parser().parse_args(["run", "--verbose"]))
    _, own = snakemake_arguments(command[3:])
    _, profile = snakemake_arguments(verbose[3:])
    names = (
        "rerun_triggers",
        "rerun_incomplete",
        "printshellcmds",
        "show_failed_logs",
        "scheduler",
        "cores",
        "targets",
    )
    assert [getattr(own, name) for name in names] == [getattr(profile, name) for name in names]
    assert (own.workflow_profile, own.logger) == ("none", ["favor"])
    assert (profile.workflow_profile, profile.logger) == (None, [])
