"""The commands of docs/sites.md, and a demo on which they take little time."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from contextlib import chdir, redirect_stdout
from io import StringIO

import pytest
import yaml
from tests.workflow.conftest import Project, copy_project

from favor import cli

FLOWER = "## The same rounds over Flower"
SMALLER = {
    "corpora": {"demo": {"demo": {"authors": 24, "minimum_posts": 14, "maximum_posts": 20, "topics": 3}}},
    "base_models": {"tiny": {"pretrain": {"tokens": 20000, "hidden_size": 32, "layers": 1, "intermediate_size": 64}}},
}


def laid_over(config, other) -> None:
    for key, value in other.items():
        if isinstance(value, dict):
            laid_over(config.setdefault(key, {}), value)
        else:
            config[key] = value


def blocks(repository, language) -> tuple[list[str], list[str]]:
    """The blocks of the page in a language: those of the walk by files, and those of the walk over Flower."""
    before, _, rest = (repository / "docs" / "sites.md").read_text().partition(FLOWER)
    flower, after, rest = rest.partition("\n## ")
    return tuple(re.findall(rf"```{language}\n(.*?)```", part, re.DOTALL) for part in (before + after + rest, flower))


def small_demo(repository, folder) -> None:
    """A copy of the project whose demo is smaller, with the page's configuration of two sites."""
    copy_project(repository, folder)
    config = yaml.safe_load((folder / "config" / "config.yaml").read_text())
    laid_over(config, SMALLER)
    roles = {"clients": 4, "asce_a": 4, "asce_b": 4, "background": 8}
    config["corpora"]["demo"] |= {"minimum_tokens": 400, "roles": roles}
    for encoder in ("asce_a", "asce_b"):
        small = {"layers": 1, "hidden": 32, "heads": 2, "intermediate": 64, "vocabulary": 600}
        config["encoders"][encoder]["training"] |= {"small": small, "epochs": 1, "training_texts_per_author": 8}
        config["encoders"][encoder]["training"]["validation_texts_per_author"] = 2
    config["experiments"]["demo"]["training"]["max_length"] = 48
    config["experiments"]["demo"]["federation"]["clients_per_round"] = 2
    (folder / "config" / "config.yaml").write_text(yaml.safe_dump(config))
    ((block,), _) = blocks(repository, "yaml")
    (folder / "two.yaml").write_text(block)


def run_blocks(folder, commands) -> str:
    """Run commands of the page in a folder, those of favor in this process; what these print. Fails where one does."""
    printed = StringIO()
    for line in "".join(commands).splitlines():
        program, *arguments = words = shlex.split(line)
        if program == "snakemake":
            Project(folder).snakemake(*arguments)
        elif program == "favor":
            with chdir(folder), redirect_stdout(printed), pytest.MonkeyPatch.context() as patch:
                patch.setattr(sys, "argv", words)
                cli.main()
        else:
            subprocess.run(words, cwd=folder, check=True)
    return printed.getvalue()
