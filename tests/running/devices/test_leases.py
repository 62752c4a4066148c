"""Leases of GPUs: which devices count, one a process, and what happens when a holder is killed."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import pairwise
from types import SimpleNamespace

import pytest

from favor.foundation.errors import UserError
from favor.running.devices import leases

# Leases a device, says which and since when, holds it, and says until when.
HOLDER = """
import sys, time
from types import SimpleNamespace
from favor.running.devices.leases import lease
device = lease(SimpleNamespace(resources={"gpu": 1}, rule="train"))
assert "torch" not in sys.modules
print(device, time.monotonic(), flush=True)
time.sleep(float(sys.argv[1]))
print(time.monotonic(), flush=True)
"""


@pytest.fixture
def start(tmp_path, repository) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    started = []

    def make(seconds, **variables) -> subprocess.Popen[str]:
        kept = {key: value for key, value in os.environ.items() if key not in (leases.VISIBLE, "SLURM_JOB_ID")}
        environment = {**kept, "TMPDIR": str(tmp_path), "PYTHONPATH": str(repository / "src"), **variables}
        command = [sys.executable, "-c", HOLDER, str(seconds)]
        process = subprocess.Popen(command, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        started.append(process)
        return process

    yield make
    for process in started:
        process.kill()
        process.communicate()


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({"FAVOR_GPUS": "4"}, ("0", "1", "2", "3")),
        ({"FAVOR_GPUS": "0"}, ()),
        ({"CUDA_VISIBLE_DEVICES": "2, GPU-5ebe"}, ("2", "GPU-5ebe")),
        ({"CUDA_VISIBLE_DEVICES": "2", "FAVOR_GPUS": "4"}, ("2",)),
        ({"CUDA_VISIBLE_DEVICES": "", "FAVOR_GPUS": "4"}, ()),
        ({"CUDA_VISIBLE_DEVICES": "-1"}, ()),
        ({"CUDA_VISIBLE_DEVICES": "1,-1,0"}, ("1",)),
        ({"SLURM_JOB_ID": "7", "FAVOR_GPUS": "4"}, ()),
        ({"SLURM_JOB_ID": "7", "CUDA_VISIBLE_DEVICES": "0,1"}, ("0", "1")),
    ],
)
def test_devices_that_count(variables, expected) -> None:
    assert leases.visible_devices(variables) == expected


def test_the_driver_is_asked_where_nothing_is_set(monkeypatch, tmp_path) -> None:
    listed = (
        "GPU 0: NVIDIA A100 (UUID: GPU-1)\n  MIG 1g.5gb Device 0: (UUID: MIG-1)\nGPU 1: NVIDIA A100 (UUID: GPU-2)\n"
    )
    program = tmp_path / "nvidia-smi"
    program.write_text(f"#!/bin/sh\ncat <<'end'\n{listed}end\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert leases.visible_devices({}) == ("0", "1")
    # Without a working driver the kernel's list counts, and without that there is none.
    program.write_text("#!/bin/sh\nexit 9\n")
    monkeypatch.setattr(leases, "_KERNEL_LIST", tmp_path / "gpus")
    assert leases.visible_devices({}) == ()
    for name in ("0000:01:00.0", "0000:02:00.0", "0000:03:00.0"):
        (tmp_path / "gpus" / name).mkdir(parents=True)
    assert leases.visible_devices({}) == ("0", "1", "2")


def test_a_wrong_number_is_refused(monkeypatch) -> None:
    monkeypatch.delenv(leases.VISIBLE, raising=False)
    monkeypatch.delenv("SLURM_JOB_ID", raising=False)
    monkeypatch.setenv("FAVOR_GPUS", "four")
    with pytest.raises(UserError, match="FAVOR_GPUS=four: not a number"):
        leases.lease(SimpleNamespace(resources={"gpu": 1}, rule="generate"))


def test_a_job_without_a_gpu_leases_none(monkeypatch) -> None:
    monkeypatch.delenv(leases.VISIBLE, raising=False)
    monkeypatch.setenv("FAVOR_GPUS", "4")
    assert leases.lease(SimpleNamespace(resources={}, rule="score")) is None
    assert leases.lease(SimpleNamespace(resources={"gpu": 0}, rule="judge")) is None
    assert leases.VISIBLE not in os.environ


def test_a_leased_device_s_memory_grows_in_place(monkeypatch, tmp_path) -> None:
    monkeypatch.setattr(leases.tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv(leases.VISIBLE, "0")
    monkeypatch.setenv("PYTORCH_ALLOC_CONF", "backend:native")
    leases._take(("0",), "train")
    assert os.environ["PYTORCH_ALLOC_CONF"] == "backend:native"
    monkeypatch.delenv("PYTORCH_ALLOC_CONF")
    monkeypatch.setenv("PYTORCH_CUDA_ALLOC_CONF", "max_split_size_mb:64")
    leases.grow_in_place()
    assert "PYTORCH_ALLOC_CONF" not in os.environ
    monkeypatch.delenv("PYTORCH_CUDA_ALLOC_CONF")
    leases._take(("1",), "train")
    assert os.environ["PYTORCH_ALLOC_CONF"] == "expandable_segments:True"


@pytest.mark.parametrize(("jobs", "share"), [(1, "1"), (4, "1"), (5, "2"), (8, "2"), (9, "3")])
def test_jobs_that_share_a_device(monkeypatch, jobs, share) -> None:
    monkeypatch.setenv(leases.VISIBLE, "0,1,2,3")
    monkeypatch.setenv(leases.SHARE, "")
    leases.limit_gpu_jobs(SimpleNamespace(global_resources={"gpu": SimpleNamespace(value=jobs)}))
    assert os.environ[leases.SHARE] == share


def test_concurrent_jobs_never_share_a_device(start) -> None:
    spans = []
    for process in [start(1.0, FAVOR_GPUS="4") for _ in range(7)]:
        out, errors = process.communicate(timeout=120)
        assert process.returncode == 0, errors
        device, begin, end = out.split()
        spans.append((device, float(begin), float(end)))
    assert {device for device, _, _ in spans} == {"0", "1", "2", "3"}
    for device in "0123":
        own = sorted((begin, end) for name, begin, end in spans if name == device)
        assert all(after[0] >= before[1] for before, after in pairwise(own))


def test_the_device_of_a_killed_job_is_free_again(start) -> None:
    holder = start(600, FAVOR_GPUS="1")
    assert holder.stdout.readline().split()[0] == "0"
    waiter = start(0, FAVOR_GPUS="1")
    assert waiter.stderr.readline() == "train: waits for one of 1 GPUs\n"
    holder.kill()
    assert waiter.stdout.readline().split()[0] == "0"


def test_visible_devices_are_leased_by_name_and_shared_where_allowed(start) -> None:
    variables = {"CUDA_VISIBLE_DEVICES": "5,GPU-a/b", "FAVOR_JOBS_PER_GPU": "2"}
    found = []
    for _ in range(4):
        found.append(start(600, **variables).stdout.readline().split()[0])
    # Each device once before either of them twice.
    assert found == ["5", "GPU-a/b", "5", "GPU-a/b"]
    waiter = start(0, **variables)
    assert "waits" in waiter.stderr.readline()
    # Another Slurm job numbers its devices itself: its "5" is not this one.
    assert start(0, SLURM_JOB_ID="9", **variables).stdout.readline().split()[0] == "5"
