"""GPUs of this machine: how many there are, and one for each job, without importing torch.

Snakemake counts how many GPU jobs run at once; which device each of them takes is settled here, by file locks that the
kernel releases when a job ends, however it ends.
"""

import fcntl
import math
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from favor.foundation.errors import UserError

VISIBLE, COUNT, SHARE = "CUDA_VISIBLE_DEVICES", "FAVOR_GPUS", "FAVOR_JOBS_PER_GPU"
# Names the folder where jobs note how much a device holds at once (favor.lm.batch_limits).
WIDTHS = "FAVOR_WIDTHS"
_KERNEL_LIST = Path("/proc/driver/nvidia/gpus")
_WAIT_SECONDS = 0.5

# Files whose locks this process holds: closing one would give its device back.
_held: list[int] = []


def visible_devices(environment: Mapping[str, str] = os.environ) -> tuple[str, ...]:
    """Return the names of the GPUs that this process may use, as CUDA_VISIBLE_DEVICES names them.

    A set CUDA_VISIBLE_DEVICES counts, even an empty one; within a Slurm allocation nothing else does, for Slurm sets it
    where GPUs are allocated. Elsewhere FAVOR_GPUS says how many there are, or the NVIDIA driver does.
    """
    if VISIBLE in environment:
        names = [name.strip() for name in environment[VISIBLE].split(",")]
        # CUDA ignores what follows the first invalid entry, which is how "-1" hides all devices.
        valid = names.index("-1") if "-1" in names else len(names)
        return tuple(name for name in names[:valid] if name)
    if "SLURM_JOB_ID" in environment:
        return ()
    return tuple(map(str, range(_whole(environment, COUNT) if environment.get(COUNT) else _installed())))


def _whole(environment: Mapping[str, str], name: str) -> int:
    if not environment[name].isdecimal():
        raise UserError(f"{name}={environment[name]}: not a number of GPUs; set a whole number or unset it")
    return int(environment[name])


def _installed() -> int:
    """Return how many GPUs the NVIDIA driver knows; 0 where there is none."""
    try:
        listed = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, timeout=60, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return len(list(_KERNEL_LIST.iterdir())) if _KERNEL_LIST.is_dir() else 0
    return sum(line.startswith("GPU ") for line in listed.splitlines())


def lease(snakemake: Any) -> str | None:
    """Take one free GPU for the rest of this process, where its rule may use one, and make it the only visible one.

    Waits until one is free. Call it before CUDA is asked for anything, since a process keeps the devices that it saw
    then. Returns the device's name, or None where the rule asks for no GPU or there is none. Raises ``UserError`` where
    a variable or the folder of locks is at fault.
    """
    devices = visible_devices() if snakemake.resources.get("gpu", 0) else ()
    return _take(devices, str(snakemake.rule)) if devices else None


def grow_in_place() -> None:
    """Let a GPU's memory blocks grow in place, unless the user says how PyTorch allocates. To be called before CUDA.

    Passes differ in size: such blocks leave no gaps that no later pass fits in.
    """
    if "PYTORCH_CUDA_ALLOC_CONF" not in os.environ:  # the older name of the same setting
        os.environ.setdefault("PYTORCH_ALLOC_CONF", "expandable_segments:True")


def _take(devices: tuple[str, ...], rule: str) -> str:
    share = _whole(os.environ, SHARE) if os.environ.get(SHARE) else 1
    folder = _lock_folder()
    waiting = False
    while True:
        # Every device once before any of them twice.
        for slot in range(share):
            for device in devices:
                if _lock(folder / f"{re.sub(r'[^A-Za-z0-9-]', '_', device)}.{slot}.lock"):
                    os.environ[VISIBLE] = device
                    grow_in_place()
                    return device
        if not waiting:
            print(f"{rule}: waits for one of {len(devices)} GPUs", file=sys.stderr, flush=True)
            waiting = True
        time.sleep(_WAIT_SECONDS)


def _lock_folder() -> Path:
    """Return the folder of the locks: one a user and machine; within Slurm one a job, which numbers its own devices."""
    root = Path(tempfile.gettempdir()) / f"favor-gpus-{os.getuid()}"
    folder = root / os.environ.get("SLURM_JOB_ID", "local")
    try:
        root.mkdir(mode=0o700, exist_ok=True)
        if root.stat().st_uid != os.getuid():
            raise UserError(f"{root}: belongs to another user; set TMPDIR to a folder of your own")
        folder.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise UserError(f"{folder}: cannot be made ({error.strerror}); set TMPDIR to a folder of your own") from None
    return folder


def _lock(path: Path) -> bool:
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        return False
    _held.append(handle)
    return True


def limit_gpu_jobs(workflow: Any) -> None:
    """Let as many jobs with the resource "gpu" run here as there are GPUs; ``--resources gpu=N`` goes before.

    A profile is a static file, so the number is set here. Raises ``UserError`` for a FAVOR_GPUS that is not a number.
    """
    devices = visible_devices()
    if not devices:
        return
    if "gpu" not in workflow.global_resources:
        workflow.register_resource("gpu", len(devices))
        # The limit is this machine's: it does not hold for jobs that are sent to a cluster.
        workflow.resource_scopes.update({"gpu": "local"})
    jobs = int(workflow.global_resources["gpu"].value)
    # How many jobs share a device: more than one only where the user allows more jobs.
    os.environ[SHARE] = str(max(1, math.ceil(jobs / len(devices))))
