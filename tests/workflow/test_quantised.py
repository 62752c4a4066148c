"""The NF4 path: quantised once, then trained through and generated with, on a CPU."""

from __future__ import annotations

from favor.federation.tables import GENERATIONS
from favor.foundation.parquet import read_parquet
from tests.workflow.conftest import copy_project
from tests.workflow.traced import unforeseen, untraced


def test_a_base_is_quantised_once_and_used_by_every_job(repository, tmp_path):
    project = copy_project(repository, tmp_path / "project", traced=True)
    text = (repository / "tests" / "data" / "micro.yaml").read_text()
    text = text.replace("  micro:\n    pretrain:", "  micro:\n    quantisation: nf4\n    pretrain:")
    (project.folder / "micro.yaml").write_text(text)
    target = "results/micro/seed1/favor/generations.parquet"
    output = project.snakemake("--configfile", "micro.yaml", "--", target).stdout
    assert output.count("rule quantise_base:") == 1
    folder = project.folder / "results" / "models" / "micro"
    sizes = [(folder / name / "model.safetensors").stat().st_size for name in ("quantised", "base")]
    assert sizes[0] < sizes[1]
    assert len(read_parquet(project.folder / target, GENERATIONS)) == 4
    assert project.planned("--configfile", "micro.yaml", "--", target) == {}
    assert unforeseen(project.folder) == set()
    assert untraced(project.folder, "quantised") == set()
