"""The same tables however a run is scheduled and cut into jobs. docs/reruns.md states each equality.

Runs that were interrupted are in tests/faults.
"""

import numpy as np
import pytest

from favor.federation.client_archive import read_pack
from favor.federation.schemas import GENERATIONS
from favor.federation.stages import compose
from favor.foundation.parquet import read_parquet
from favor.foundation.tensors import read_safetensors
from tests.shortest import ARGUMENTS, TABLES, contents, finished_run, fresh_project, jobs_begun  # noqa: F401 - a fixture

pytestmark = pytest.mark.slow(40)

ADAPTERS = 1e-4  # largest difference of a weight, where float32 sums were taken in another order
SEED = "results/short/seed1"


def test_the_number_of_cores_changes_no_byte(finished, repository, tmp_path) -> None:
    """The finished run had two; its encoder is trained on two threads, which one core has to do as well."""
    project = fresh_project(repository, tmp_path / "project")
    project.snakemake("--cores", "1", *ARGUMENTS, *TABLES)
    assert contents(project) == contents(finished)


@pytest.mark.parametrize("how", ["clients_per_job: 3", "clients_per_job: null, engine: sequential"])
def test_how_clients_are_cut_into_jobs_changes_no_printed_number(finished, tmp_path, how) -> None:
    project = finished.copy(tmp_path / "project")
    project.edit("shortest.yaml", "clients_per_job: null", how)
    parted = how == "clients_per_job: 3"
    if parted:
        project.edit("shortest.yaml", "max_new_tokens: 24,", "max_new_tokens: 24, clients_per_job: 2,")
    output = project.snakemake(*ARGUMENTS, *TABLES).stdout
    assert {"train_shared", "train_personal"} <= set(jobs_begun(output))
    assert parted == ("join_generations" in jobs_begun(output))
    for name in TABLES:
        assert (project.folder / name).read_bytes() == (finished.folder / name).read_bytes()
    texts = [
        read_parquet(folder / SEED / "favor/generations.parquet", GENERATIONS).set_index("prompt_id")["text"]
        for folder in (project.folder, finished.folder)
    ]
    assert texts[0].equals(texts[1])
    assert difference(*(personal(folder.folder) for folder in (project, finished))) < ADAPTERS
    assert difference(*(shared(folder.folder) for folder in (project, finished))) < ADAPTERS


def personal(folder) -> dict[tuple[str, str], np.ndarray]:
    """Every client's composed adapter, whichever job made it."""
    packs = sorted((folder / SEED / "favor/clients/last").glob("batch?.safetensors"))
    return {
        (client, key): value
        for path in packs
        for client, parts in read_pack(path)[0].items()
        for key, value in compose(parts).items()
    }


def shared(folder) -> dict[str, np.ndarray]:
    (path,) = (folder / SEED / "shared").glob("*/server/round2/adapter.safetensors")
    return read_safetensors(path)[0]


def difference(first, second) -> float:
    assert first.keys() == second.keys()
    return max(float(np.abs(np.asarray(first[key]) - np.asarray(second[key])).max()) for key in first)
