"""What several test files begin with, made once for all workers of a test run."""

import fcntl
import os
from pathlib import Path


def made_once(tmp_path_factory, name, make) -> Path:
    """The folder ``name``, which ``make(folder)`` fills where no worker has yet; not to be changed."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    with (shared / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (shared / f"{name}.done").exists():
            make(shared / name)
            (shared / f"{name}.done").touch()
    return shared / name
