"""Files cut short behind the workflow's back: named at the next start, set aside, made again with the same bytes."""

import random

import pytest

from tests.faults.conftest import completes, ended, in_jobs, start
from tests.shortest import ARGUMENTS, TABLES, contents

pytestmark = pytest.mark.slow(24)

SEED = "short/seed1"
CUT = {
    "adapter": f"{SEED}/favor/clients/last/batch0.safetensors",
    "server's adapter": f"{SEED}/shared/{{track}}/server/round1/adapter.safetensors",
    "Parquet": f"{SEED}/favor/generations.parquet",
    "base model": "models/short/base/model.safetensors",
    "style encoder": "encoders/asce_a/encoder.safetensors",
    "table": "short/tables/main_federated_results.parquet",
}


def cut(path, draw) -> None:
    """Cut a file at a drawn place that is no end of a line."""
    content = path.read_bytes()
    size = draw.randrange(len(content) - 20)
    while size and content[size - 1 : size] == b"\n":
        size -= 1
    path.write_bytes(content[:size])


def test_every_kind_of_result_is_found_and_made_again(finished, project) -> None:
    results = project.folder / "results"
    track = next((results / SEED / "shared").iterdir()).name
    draw = random.Random(1)
    names = [name.format(track=track) for name in CUT.values()]
    for name in names:
        cut(results / name, draw)
    # A plan tells, and changes nothing.
    planned = project.snakemake("-n", *ARGUMENTS, *TABLES).stdout
    assert all(f"results/{name}: truncated; a real run sets it aside" in planned for name in names)
    assert all((results / name).exists() for name in names)
    output = completes(project, *TABLES, *(f"results/{name}" for name in names))
    assert all(f"results/{name}: truncated; set aside as" in output for name in names)
    assert "Traceback" not in output
    assert contents(project) == contents(finished)


def test_a_file_cut_while_the_run_goes_on_stops_the_job_that_reads_it(finished, project, tmp_path) -> None:
    """The start finds what is cut then; a job that meets a half file later must not compute from it."""
    name, cut_name = f"{SEED}/favor/generations.parquet", CUT["adapter"]
    path = project.folder / "results" / cut_name
    hook = in_jobs(tmp_path / "hook", "generate", f"import os\nos.truncate({str(path)!r}, {path.stat().st_size - 9})")
    (project.folder / "results" / name).unlink()
    process = start(project, f"results/{name}", environment=hook, warm=True)
    output = ended(process)
    assert process.returncode == 1
    (line,) = [line for line in output.splitlines() if line.startswith("error in generate: ")]
    assert f"results/{cut_name}: not a complete safetensors file" in line
    assert "delete it and run again" in line
    assert "Traceback" not in output
    # Running again is enough: the start finds the file.
    completes(project, f"results/{name}")
    assert contents(project) == contents(finished)
