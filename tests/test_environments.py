"""The conda environments and the lock file pin the same versions, torch first."""

import ast
import re
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

LOCK = "requirements.lock"


def test_the_environments_are_made_from_the_lock(repository) -> None:
    done = subprocess.run([sys.executable, "envs/write.py", "--check"], cwd=repository, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_the_lock_pins_every_package_by_version_and_hash_and_what_the_project_asks_for(repository) -> None:
    text = (repository / LOCK).read_text()
    pins = dict(re.findall(r"^([a-z0-9._-]+)==([^\s;]+)", text, re.MULTILINE))
    assert "torch" not in pins, "its build is the machine's affair"
    torch = Requirement((repository / "envs/torch.txt").read_text())
    assert text.count("\n    --hash=sha256:") >= len(pins) > 100
    for entry in re.split(r"\n(?=[a-z0-9])", text)[1:]:
        assert "--hash=sha256:" in entry, entry.partition("\n")[0]
    project = tomllib.loads((repository / "pyproject.toml").read_text())["project"]
    wanted = [
        *project["dependencies"],
        # Not the extra gpu: its kernels run on the Triton that comes with torch's CUDA build.
        *(line for extra, lines in project["optional-dependencies"].items() if extra != "gpu" for line in lines),
    ]
    for requirement in map(Requirement, wanted):
        name = canonicalize_name(requirement.name)
        assert (str(torch.specifier)[2:] if name == "torch" else pins[name]) in requirement.specifier, name


@pytest.mark.slow(4)
def test_what_the_code_imports_is_a_declared_dependency(repository) -> None:
    project = tomllib.loads((repository / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    lines = [*project["dependencies"], *(line for extra in {*extras} - {"dev", "docs"} for line in extras[extra])]
    declared = {canonicalize_name(Requirement(line).name) for line in lines}
    owners = packages_distributions()
    # Triton comes with torch's CUDA build; Liger's kernels are not installed without a GPU.
    ours = {*sys.stdlib_module_names, "favor", "snakemake_logger_plugin_favor", "triton", "liger_kernel"}
    for path in [*(repository / "src").rglob("*.py"), *(repository / "workflow").rglob("*.py")]:
        for name in imported(path) - ours:
            assert declared & set(map(canonicalize_name, owners[name])), f"{path.name} imports {name}"


def imported(path) -> set[str]:
    """Return the top-level modules that a file imports anywhere."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.partition(".")[0])
    return found


def test_one_version_everywhere(repository) -> None:
    version = tomllib.loads((repository / "pyproject.toml").read_text())["project"]["version"]
    assert yaml.safe_load((repository / "CITATION.cff").read_text())["version"] == version
    assert re.search(r"^## (\S+)", (repository / "CHANGELOG.md").read_text(), re.MULTILINE)[1] in (
        version,
        "Unreleased",
    )


def test_one_address_everywhere(repository) -> None:
    """The public address is in no file until there is one, and then in all that take it (CONTRIBUTING.md)."""
    urls = tomllib.loads((repository / "pyproject.toml").read_text())["project"].get("urls", {})
    cited = yaml.safe_load((repository / "CITATION.cff").read_text()).get("repository-code")
    cloned = re.search(r"^git clone (\S+) favor-workflow", (repository / "README.md").read_text(), re.MULTILINE)[1]
    assert urls.get("Repository") == cited
    assert cloned == (cited or "ADDRESS")
