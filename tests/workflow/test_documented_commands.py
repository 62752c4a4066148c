"""Every command of the documentation, as a dry run or with ``--help``."""

import os
import re
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import yaml

from favor.tuning.choice import FIRST_LINE
from tests.lm.test_gguf import written
from tests.test_extending import put_examples
from tests.workflow.conftest import COPIED, Project, copy_project, run_forked
from tests.workflow.test_containers import APPTAINER

pytestmark = pytest.mark.slow(147)

STARTS = re.compile(r"(?:\.venv/bin/)?(?:snakemake|python|make|favor)\s")
CLUSTER = "python tests/slurm/cluster.py "  # starts a cluster for the command that follows it

# What the documentation leaves to the reader, and one way to fill it in.
FILLED = {
    "COMMAND": "python benchmarks/replay.py",
    "FILE": "results/demo/word_counts.csv",
    "STUDY": "base_7b",
    "EXPERIMENT": "base_7b",
    "LABEL": "phase1-7b-base-sensitivity",
    "{experiment}": "demo",
    "{s}": "2026",
    "{method}": "favor",
}


def pages(root) -> list[Path]:
    return [root / "README.md", root / "config" / "README.md", *sorted((root / "docs").glob("*.md"))]


def commands(page) -> list[str]:
    """Commands of a page: lines of its fenced blocks, continued ones joined, and code within its sentences.

    A comment is cut off; variables that a block sets stand before its command.
    """
    found = []
    for number, part in enumerate(re.split(r"^```.*$", page, flags=re.MULTILINE)):
        if number % 2:
            lines = [line.split(" #")[0].strip() for line in part.replace("\\\n", " ").splitlines()]
            settings = "".join(f"{line}; " for line in lines if line.startswith("export "))
            found += [settings + line for line in lines if STARTS.match(f"{line} ")]
        else:
            found += [code for code in re.findall(r"`([^`]+)`", part) if STARTS.match(code)]
    return [" ".join(command.split()) for command in found]


def dry(command) -> str:
    for name, value in FILLED.items():
        command = command.replace(name, value)
    command = command.replace(".venv/bin/", "").removeprefix(CLUSTER)
    python = shlex.quote(sys.executable)
    if re.search(r"\bsnakemake\b", command) and "python" not in command:
        return re.sub(r"\bsnakemake\b", f"{python} -m snakemake -n", command, count=1)
    if command.startswith("favor "):
        rest = command.removeprefix("favor ")
        if rest.startswith(("init", "score", "compare")):  # texts and results are the reader's
            rest = rest.split()[0]
        if rest.startswith(("voice", "site", "server")):
            rest = " ".join(rest.split()[:2])
        # There is no finished run to be like, or to debug a job of; the demo has no authors left to tune on.
        helped = rest.replace(" ", "").isalpha() or "--like" in rest or rest.startswith(("debug", "tune --"))
        option = "--help" if helped else "" if rest.startswith(("plan", "why")) else "-n"
        return f"{python} -m favor.cli {rest} {option}"
    if command.startswith("make "):
        return command.replace("make", "make -n", 1)
    assert command.startswith("python "), f"no way to try: {command}"
    return f"{command.replace('python', python, 1)} --help"


@pytest.fixture(scope="module")
def project(repository, tmp_path_factory) -> Project:
    """A copy with the examples of docs/extending.md in place, and stubs of what users have.

    These are corpora, a base, an image and a queue. The paper's experiments are cut to one seed and few jobs, so that
    planning them takes seconds.
    """
    project = copy_project(
        repository,
        tmp_path_factory.mktemp("documented") / "project",
        only=(*COPIED, ".test", "Makefile", "pyproject.toml", "benchmarks", "docs"),
    )
    (project.folder / "blogtext.csv").write_text("id,gender,age,topic,sign,date,text\n")
    (project.folder / "posts.csv").write_text("author,text\n")
    (project.folder / "favor.sif").touch()
    tutorial = (repository / "config" / "tutorial.yaml").read_text()
    (project.folder / "my.yaml").write_text(tutorial)
    # "favor init" writes the path of the posts into posts.yaml.
    (project.folder / "posts.yaml").write_text(tutorial.replace("reader: table", "reader: table\n    path: posts.csv"))
    for tuned in ("tuned", "words_250"):  # what "favor tune" writes
        (project.folder / f"{tuned}.yaml").write_text(f"# {FIRST_LINE}\nresults: results\n")
    (project.folder / "mythos.jsonl").write_text("{}\n")
    real_base = project.folder / "resources" / "SmolLM2-135M-Instruct.Q4_1.gguf"
    real_base.parent.mkdir(exist_ok=True)
    written(real_base)
    for name, program in {"squeue": "#!/bin/sh\n", "apptainer": APPTAINER}.items():
        path = project.folder / "bin" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(program)
        path.chmod(0o755)
    put_examples((repository / "docs" / "extending.md").read_text(), project.folder)
    for name in ("blogtext", "mythos", "config"):
        path = project.folder / "config" / f"{name}.yaml"
        config = yaml.safe_load(path.read_text())
        for experiment in config["experiments"].values():
            experiment["seeds"] = [2026]
            experiment.setdefault("federation", {}).update(rounds=2, clients_per_job=None)
        path.write_text(yaml.safe_dump(config))
    return project


def words_of(program, project) -> list[str]:
    """A program and its arguments, as a shell in the project hands them over."""
    command = ["bash", "-c", f"printf '%s\\0' {program}".replace("/data/", f"{project.folder}/")]
    listed = subprocess.run(command, cwd=project.folder, capture_output=True, text=True, check=True)
    return listed.stdout.split("\0")[:-1]


def failure(program, project) -> str:
    path = f"{project.folder}/bin{os.pathsep}{os.environ['PATH']}"
    environment = os.environ | {"PYTHONPATH": str(project.folder / "src"), "PATH": path}
    words = [] if set(";|") & set(program) else words_of(program, project)
    if words[1:2] == ["-m"]:  # in a process that has the libraries already
        lines = f"import runpy, sys\nsys.argv = {words[2:]!r}\nrunpy.run_module({words[2]!r}, run_name='__main__')\n"
        done = run_forked(lines, project.folder, environment)
    else:
        done = subprocess.run(
            ["bash", "-c", program.replace("/data/", f"{project.folder}/")],
            cwd=project.folder,
            env=environment,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
    # What does not know "--help" would do what it is for.
    works = done.returncode == 0 and ("--help" not in program or "usage:" in done.stdout.lower())
    return "" if works else f"{program}:\n{done.stdout[-800:]}"


def test_every_command_works(repository, project) -> None:
    written = sorted({command for page in pages(repository) for command in commands(page.read_text())})
    # A dry run of the same files is one command, however many cores it names.
    found = list(
        {re.sub(r" --cores (\d+|all)| --dry-run| -n(?= -n)", "", dry(command)): command for command in written}.values()
    )
    assert len(found) > 15
    (alone,) = [command for command in found if "resume.py" in command]  # it refuses to work beside another Snakemake
    failed = [failure(dry(alone), project)]
    programs = [dry(command) for command in found if command != alone]
    with ThreadPoolExecutor(2) as pool:
        failed += pool.map(lambda program: failure(program, project), programs)
    assert not any(failed), "\n\n".join(filter(None, failed))
