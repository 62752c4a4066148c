"""From an empty folder and a git address: the package, the deployed workflow, and commands outside any checkout.

The address is a repository on this machine, filled with the source distribution; git reads https://github.com as its
folder. Nothing is left behind.
"""

import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.config.test_starting import posts
from tests.workflow.conftest import planned_jobs

pytestmark = pytest.mark.slow(70)

ADDRESS = "https://github.com/favor/favor-workflow"
TAG = f"v{version('favor-workflow')}"
BIN = Path(sys.executable).parent


@dataclass
class Place:
    """A folder with a git address, and an environment with nothing but the package and the libraries."""

    folder: Path
    environment: dict[str, str]

    def run(self, *command, where="deployed") -> str:
        (self.folder / where).mkdir(exist_ok=True)
        done = subprocess.run(
            list(map(str, command)),
            cwd=self.folder / where,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert done.returncode == 0, f"{command}:\n{done.stdout[-4000:]}"
        return done.stdout

    def favor(self, *arguments, where="posts") -> str:
        return self.run(self.folder / "env" / "bin" / "favor", *arguments, where=where)

    def snakemake(self, *arguments) -> str:
        """Run Snakemake in the deployed folder, on the configuration of .test."""
        python = self.folder / "env" / "bin" / "python"
        return self.run(python, "-m", "snakemake", "--cores", "2", "--directory", ".test", *arguments)


@pytest.fixture(scope="module")
def place(repository) -> Iterator[Place]:
    """An address at github/favor/favor-workflow, and the package installed from it; all gone at the end."""
    if shutil.which("git") is None:
        pytest.skip("without git")
    if not (BIN / "snakedeploy").exists():
        pytest.skip("without snakedeploy, which has no release for this Python")
    with TemporaryDirectory() as name:
        folder = Path(name)
        given = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHONPATH", "FAVOR"))}
        git = {
            "GIT_CONFIG_COUNT": "3",
            "GIT_CONFIG_KEY_0": f"url.{(folder / 'github').as_uri()}/.insteadOf",
            "GIT_CONFIG_VALUE_0": "https://github.com/",
            "GIT_CONFIG_KEY_1": "user.name",
            "GIT_CONFIG_VALUE_1": "a test",
            "GIT_CONFIG_KEY_2": "user.email",
            "GIT_CONFIG_VALUE_2": "test@localhost",
        }
        place = Place(folder, {**given, **git, "XDG_CACHE_HOME": str(folder / "cache")})
        python, pip = BIN / "python", [BIN / "python", "-m", "pip", "--quiet"]
        subprocess.run([python, "-m", "hatchling", "build", "-t", "sdist", "-d", folder], cwd=repository, check=True)
        source = "github/favor/favor-workflow"
        (folder / source).mkdir(parents=True)
        place.run("tar", "-xf", next(folder.glob("*.tar.gz")), "--strip-components", "1", "-C", folder / source)
        for arguments in (["init", "--quiet"], ["add", "--all"], ["commit", "--quiet", "-m", "all"], ["tag", TAG]):
            place.run("git", *arguments, where=source)
        # The libraries of these tests, but not the checkout that is installed beside them: no .pth file there is read.
        venv.create(folder / "env")
        (site,) = folder.glob("env/lib/python*/site-packages")
        (site / "libraries.pth").write_text("".join(f"{path}\n" for path in sys.path if path.endswith("-packages")))
        wheel = ["wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", folder, f"git+{ADDRESS}@{TAG}"]
        place.run(*pip, *wheel)
        place.run(*pip, "--python", folder / "env/bin/python", "install", "--no-deps", next(folder.glob("*.whl")))
        place.run(BIN / "snakedeploy", "deploy-workflow", ADDRESS, ".", "--tag", TAG)
        config = folder / "deployed" / ".test" / "config"
        config.mkdir(parents=True)
        (config / "config.yaml").write_bytes((folder / source / ".test/config/config.yaml").read_bytes())
        yield place
    assert not folder.exists()


def test_commands_work_outside_any_checkout(place) -> None:
    posts(authors=40, each=12).to_csv(place.folder / "letters.csv", index=False)
    assert place.favor("--version") == f"{version('favor-workflow')}\n"
    assert "letters.yaml is written" in place.favor("init", "../letters.csv")
    assert "can be run" in place.favor("check", "letters.yaml")


def test_a_deployed_workflow_runs_and_the_command_goes_on(place) -> None:
    """What the address started fits what the package starts: the same code, settings and files."""
    made = ("results/models/tiny/base/model.safetensors", "results/tiny/clients/texts.parquet")
    snakefile = place.folder / "deployed" / "workflow" / "Snakefile"
    assert f'github("favor/favor-workflow", path="workflow/Snakefile", tag="{TAG}")' in snakefile.read_text()
    done = planned_jobs(place.snakemake("--", *made))
    assert done.keys() >= {"pretrain_base", "allocate_texts"}
    assert all((place.folder / "deployed/.test" / name).is_file() for name in made)
    left = planned_jobs(place.favor("run", "config/config.yaml", "--verbose", "-n", where="deployed/.test"))
    assert left["train_personal"] == 1
    assert not left.keys() & done.keys()
