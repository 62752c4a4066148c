"""Bases that are prepared once: quantised to NF4, then trained through and generated with on a CPU; a GGUF file."""

import pytest

from favor.federation.schemas import GENERATIONS
from favor.foundation.parquet import read_parquet
from favor.lm.base import load_base
from tests.lm.test_gguf import written
from tests.shortest import ARGUMENTS, finished_run  # noqa: F401 - a fixture
from tests.workflow.conftest import planned_jobs
from tests.workflow.traced import unforeseen

pytestmark = pytest.mark.slow(29)


def test_a_base_is_quantised_once_and_used_by_every_job(finished, tmp_path) -> None:
    project = finished.copy(tmp_path / "project", traced=True)
    project.edit("shortest.yaml", "  short:\n    pretrain:", "  short:\n    quantisation: nf4\n    pretrain:")
    target = "results/short/seed1/favor/generations.parquet"
    jobs = planned_jobs(project.snakemake(*ARGUMENTS, target).stdout)
    assert jobs.pop("quantise_base") == 1
    assert jobs == {"initialise_server": 1, "train_shared": 2, "aggregate": 2, "train_personal": 1, "generate": 1}
    folder = project.folder / "results" / "models" / "short"
    sizes = [(folder / name / "model.safetensors").stat().st_size for name in ("quantised", "base")]
    assert sizes[0] < sizes[1]
    before = read_parquet(finished.folder / target, GENERATIONS)
    assert read_parquet(project.folder / target, GENERATIONS)["prompt_id"].equals(before["prompt_id"])
    assert project.planned(*ARGUMENTS, target) == {}
    assert unforeseen(project.folder) == set()


def test_a_gguf_file_is_dequantised_once(finished, tmp_path) -> None:
    project = finished.copy(tmp_path / "project", traced=True)
    file = written(tmp_path / "base.gguf")
    project.edit("shortest.yaml", "base_models:\n", f"base_models:\n  real: {{ source: {file} }}\n")
    target = "results/models/real/base/model.safetensors"
    assert planned_jobs(project.snakemake(*ARGUMENTS, target).stdout) == {"dequantise_base": 1}
    tokenizer = "results/models/real/tokenizer/tokenizer.json"
    assert planned_jobs(project.snakemake(*ARGUMENTS, tokenizer).stdout) == {"read_tokenizer": 1}
    read = [(project.folder / path).read_bytes() for path in (tokenizer, "results/models/real/base/tokenizer.json")]
    assert read[0] == read[1]
    assert load_base(str((project.folder / target).parent), device="cpu").context == 512
    assert project.planned(*ARGUMENTS, target) == {}
    assert unforeseen(project.folder) == set()
    file.touch()  # the same bytes
    assert project.planned(*ARGUMENTS, target) == {}
    with file.open("ab") as end:
        end.write(bytes(32))
    assert project.planned(*ARGUMENTS, target) == {"dequantise_base": 1}
    file.unlink()
    said = project.snakemake("-n", *ARGUMENTS, target, check=False).stdout
    assert "file not found; correct the path ('make real-base'" in said
