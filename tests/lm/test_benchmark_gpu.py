"""The benchmark of a GPU, in small on a processor: what it checks, writes and refuses."""

import json
import math

import pytest
import torch
from tests.lm.conftest import benchmark

pytestmark = pytest.mark.slow(20)


gpu = benchmark("gpu")


def test_checks_figures_and_table(gpu, tmp_path, capsys) -> None:
    gpu.main(["--device", "cpu", "--tiny", "--folder", str(tmp_path)])
    figures = json.loads((tmp_path / "cpu.json").read_text())
    assert all(check["figure"] <= check["bound"] for check in figures["checks"])
    assert {"steps that memory narrowed (1: none was)", "dropout masks against a processor's"} <= {
        check["name"] for check in figures["checks"]
    }
    assert figures["texts_identical"] == 1
    assert figures["training"]["stacked"]["tokens"] == figures["training"]["trainer"]["tokens"] > 0
    shown = capsys.readouterr().out
    assert f"| generation, stacked | {figures['generation']['stacked']['tokens_per_second']:,.0f} |" in shown


def test_a_failed_check_stops_before_anything_is_timed(gpu, tmp_path, monkeypatch, capsys) -> None:
    outcomes = [gpu.Check("one", 0.5, 1), gpu.Check("other", math.nan, 1)]
    monkeypatch.setattr(gpu, "checks", lambda device: outcomes)
    with pytest.raises(SystemExit, match=r"A check failed, so nothing was measured\."):
        gpu.main(["--device", "cpu", "--tiny", "--folder", str(tmp_path)])
    assert "passed: one: 0.5 (at most 1)\nFAILED: other: nan" in capsys.readouterr().out
    assert not list(tmp_path.iterdir())


def test_projection_by_hand(gpu, monkeypatch) -> None:
    """A corpus of 1,000 tokens: 12 of 50 clients in 6 rounds are 1,440 tokens, and two private epochs 2,000."""
    monkeypatch.setattr(gpu.assumed_seed, "corpus", lambda: [[400, 100], [500]])
    minutes = gpu.projection(trained=3440 / 60, generated=44000 / 120)
    assert minutes == pytest.approx({"training_minutes": 1.0, "generation_minutes": 2.0, "start_minutes_assumed": 1.5})


@pytest.mark.parametrize("device", ["cpu", "cuda"])
@pytest.mark.parametrize(("aligned", "together"), [(False, 1), (False, 12), (True, 1), (True, 50)])
def test_padding_at_the_papers_size(gpu, device, aligned, together) -> None:
    seed = gpu.assumed_seed
    settings = seed.SETTINGS.model_copy(update={"group_by_length": not aligned})
    assert 1 <= seed.padding(seed.plans(seed.corpus(), settings), together, torch.device(device)) <= 1.05
