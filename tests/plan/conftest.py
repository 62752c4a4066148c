"""Planners of the configurations in the repository, and of changed copies of them."""

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from snakemake.utils import update_config

from favor.config.resolve import resolve
from favor.plan import Planner

ROOT = Path(__file__).resolve().parents[2]

Planning = Callable[..., Planner]


def read(*files) -> dict[str, Any]:
    """Read configuration files, later ones over earlier ones, as Snakemake does."""
    config: dict[str, Any] = {}
    for name in files:
        update_config(config, yaml.safe_load((ROOT / name).read_text()))
    return config


@pytest.fixture
def plan(tmp_path) -> Planning:
    """Plan files of the repository; ``change`` edits the raw configuration, or is laid over it."""
    corpus = tmp_path / "corpus.csv"
    corpus.write_text("id,gender,age,topic,sign,date,text\n")

    def planned(files="tests/data/micro.yaml", change=None) -> Planner:
        config = read(*([files] if isinstance(files, str) else files))
        if any(not (entry or {}).get("path") and not (entry or {}).get("demo") for entry in config["corpora"].values()):
            config["corpus_path"] = str(corpus)
        if callable(change):
            change(config)
        elif change:
            update_config(config, change)
        return Planner(resolve(copy.deepcopy(config)), ROOT)

    return planned
