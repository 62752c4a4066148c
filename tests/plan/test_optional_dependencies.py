"""A configuration that needs packages of an extra says so before anything runs."""

import re
from importlib import util

import pytest

from favor.foundation import extras as packages
from favor.foundation.errors import UserError


def segmented(config) -> None:
    for corpus in config["corpora"].values():
        corpus["words"] = "segmented"


@pytest.mark.parametrize(
    ("files", "change", "wanted"),
    [
        ("tests/data/slurm.yaml", None, set()),
        ("tests/data/slurm.yaml", segmented, {"words"}),
        (["tests/data/micro.yaml", "tests/data/studies.yaml"], None, {"mauve", "retrieval"}),
        ("config/config.yaml", None, {"mauve"}),
    ],
)
def test_what_a_configuration_needs(plan, files, change, wanted) -> None:
    assert {extra for extra, _ in plan(files, change).targets.extras()} == wanted


def test_what_is_missing_is_one_line_with_the_command(plan, monkeypatch) -> None:
    monkeypatch.setattr(packages, "find_spec", lambda name: None if name == "mauve" else util.find_spec(name))
    with pytest.raises(UserError, match=r"prints MAUVE, which needs .* \(mauve\); pip install '\.\[mauve\]'"):
        plan("config/config.yaml").targets.check_software([])
    plan("config/config.yaml").targets.check_software(["conda"])  # its environments hold what rules need


@pytest.mark.parametrize(
    ("image", "message"),
    [
        (None, "--sdm apptainer needs config key 'image'; build one with"),
        ("favor.sif", "config key 'image': there is no file 'favor.sif'; build one with"),
    ],
)
def test_jobs_in_containers_need_an_image(plan, tmp_path, monkeypatch, image, message) -> None:
    planner = plan(change=lambda config: config.update(image=image))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match=f"^{re.escape(message)}"):
        planner.targets.check_software(["apptainer"])
    (tmp_path / "favor.sif").touch()
    if image:
        planner.targets.check_software(["apptainer"])


def test_every_extra_names_its_modules(repository) -> None:
    """All but the plugins that Snakemake itself asks for, and what only a GPU, a developer or the site needs."""
    import tomllib

    project = tomllib.loads((repository / "pyproject.toml").read_text())["project"]
    others = {"slurm", "cluster", "gpu", "dev", "docs"}
    assert set(project["optional-dependencies"]) - others == set(packages.MODULES)
    assert len(project["dependencies"]) <= 32
