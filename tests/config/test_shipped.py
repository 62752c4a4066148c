"""Every configuration that is shipped resolves, and what it resolves to is complete: resolved again, it is the same."""

import json
from pathlib import Path

import pytest
from snakemake.common.configfile import load_configfile
from snakemake.utils import update_config

from favor.config.resolve import resolve

CONFIG = Path(__file__).resolve().parents[2] / "config"


def over(study) -> str:
    return "blogtext_small" if "extends: blogtext_small" in study.read_text() else "blogtext"


RUNS = [
    *([CONFIG / f"{name}.yaml"] for name in ("config", "blogtext", "blogtext_small", "mythos")),
    [CONFIG / "config.yaml", *sorted((CONFIG / "demo").glob("*.yaml"))],
    *([CONFIG / f"{over(study)}.yaml", study] for study in sorted((CONFIG / "studies").glob("*.yaml"))),
]


@pytest.mark.parametrize("files", RUNS, ids=lambda files: "+".join(path.stem for path in files))
def test_a_shipped_configuration_resolves_completely(files, tmp_path) -> None:
    raw: dict = {}
    for path in files:
        update_config(raw, load_configfile(path))
    for corpus in raw["corpora"].values():
        if not {"demo", "extends"} & corpus.keys():
            corpus["path"] = str(tmp_path)
    resolved = resolve(raw)
    dump = resolved.model_dump(mode="json")
    assert json.loads(json.dumps(dump)) == dump
    assert resolve(dump) == resolved
    for experiment in resolved.experiments.values():
        assert experiment.clients
        assert experiment.federation.clients_per_job
        assert experiment.evaluation.semantic_encoder


def test_a_dump_has_numbers_as_they_are_written_and_no_key_that_a_stage_leaves_out() -> None:
    raw = load_configfile(CONFIG / "config.yaml")
    raw["cluster"] = {"stages": {"generate": {"minutes": 5, "partition": None}}, "gpu_teraflops": 80.5}
    dump = resolve(raw).model_dump(mode="json")
    assert json.dumps(dump["experiments"]["demo"]["lora"]["alpha"]) == "16"
    assert json.dumps(dump["experiments"]["demo"]["federation"]["server_learning_rate"]) == "1.0"
    assert dump["cluster"]["stages"] == {"generate": {"minutes": 5, "partition": None}}
    assert dump["cluster"]["gpu_teraflops"] == 80.5
    assert dump["corpora"]["demo"]["columns"] == {}
