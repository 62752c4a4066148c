"""A GPU that is too small, through the whole workflow: jobs go on narrower, results stay, the next job knows."""

from __future__ import annotations

import json
import shutil

import pytest

from favor.federation.client_archive import read_pack
from favor.federation.schemas import GENERATIONS
from favor.federation.stages import compose
from favor.foundation.parquet import read_parquet
from tests.shortest import finished_run, fresh_project  # noqa: F401 - a fixture

pytestmark = pytest.mark.slow(15)

TARGET = "results/short/seed1/favor/generations.parquet"
# There is no GPU here: the decoder raises CUDA's error for more than three rows, wherever it is called.
WHOLE = "    check_head(source, model, base.final_states)\n    return base\n"
SMALL = """    check_head(source, model, base.final_states)

    def refuse(module, arguments, options):
        rows = options["input_ids"]
        if "packing" in options:  # pieces in one row, and padding of zeros
            rows = [piece for piece in rows[0].split(options["packing"].lengths) if piece.any()]
        if len(rows) > 3:
            raise torch.cuda.OutOfMemoryError("no room")

    base.decoder.register_forward_pre_hook(refuse, with_kwargs=True)
    return base
"""


def test_a_small_gpu_gives_the_same_results(finished, repository, tmp_path) -> None:
    """Float32 sums in another order: adapters agree to 1e-4, and greedy texts are the same."""
    assert not (finished.folder / "results" / ".widths").exists()
    small = fresh_project(repository, tmp_path / "small")
    small.edit("src/favor/lm/base.py", WHOLE, SMALL)
    for made in ("corpora", "models", "encoders"):
        shutil.copytree(finished.folder / "results" / made, small.folder / "results" / made)
    output = small.snakemake("--configfile", "shortest.yaml", "--rerun-triggers", "mtime", "--", TARGET).stdout
    assert "pretrain_base" not in output

    one, other = (
        read_parquet(project.folder / TARGET, GENERATIONS).set_index("prompt_id")["text"]
        for project in (finished, small)
    )
    assert one.equals(other[one.index])
    pack = "results/short/seed1/favor/clients/last/batch0.safetensors"
    expected, found = (read_pack(project.folder / pack)[0] for project in (finished, small))
    assert found.keys() == expected.keys()
    for client, parts in found.items():
        for key, value in compose(parts).items():
            assert abs(value - compose(expected[client])[key]).max() < 1e-4

    kept = [json.loads(path.read_text()) for path in (small.folder / "results" / ".widths").glob("*.json")]
    assert {entry["job"]["stage"] for entry in kept} == {"shared", "personal", "generation"}
    assert all(entry["widths"]["divisor"] > 1 for entry in kept)
    # A stack of three: what one client alone could hold is found anew.
    assert {entry["job"]["clients"] for entry in kept if entry["job"]["stage"] == "shared"} == {3}
    # Both rounds train a stack of three: the first finds out what fits, the second begins there.
    first, second = (
        next((small.folder / "results/logs/train_shared").glob(f"*round{number}-batch0.log")).read_text()
        for number in (0, 1)
    )
    assert "GPU memory is short" in first
    assert "batch limits as in" in second
    assert "GPU memory is short" not in second
