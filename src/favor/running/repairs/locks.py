"""A repair of Snakemake's locks (9.27), applied while the workflow is parsed: a finished run removes only its own.

Snakemake removes the whole folder of locks when one run ends; another that is still planning then ends in a traceback.
"""

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from snakemake.exceptions import WorkflowError
from snakemake.persistence.file import FilePersistence

from favor.foundation.files import REMEDY


def keep_to_own_locks() -> None:
    """Let a run remove its own locks alone; ``--unlock`` still removes all.

    A Snakemake without the methods to repair is left as it is.
    """
    found = vars(FilePersistence)
    if {"_write_locks", "_delete_locks"} <= found.keys() and found["_delete_locks"] is not _delete_locks:
        FilePersistence.cleanup_locks = found["_delete_locks"]
        FilePersistence._write_locks = _write_locks
        FilePersistence._delete_locks = _delete_locks


def _write_locks(self: Any, lock_type: str, keys: Iterable[str]) -> None:
    """Write ``keys`` into the first free lock; no two runs take the same one.

    Raises ``WorkflowError``, of which Snakemake prints one line, where the disk is full.
    """
    lines, number = "".join(f"{key}\n" for key in keys), 0
    while lines:
        os.makedirs(self._lockdir, exist_ok=True)
        path = Path(self._lockdir, f"{number}.{lock_type}.lock")
        try:
            with path.open("x") as lock:
                self._lockfile[lock_type] = str(path)
                lock.write(lines)
            return
        except FileExistsError:
            number += 1
        except FileNotFoundError:  # another run has just removed the folder
            continue
        except OSError as error:
            _delete_locks(self)
            raise WorkflowError(f"{path}: cannot be written ({error.strerror}); {REMEDY}") from None


def _delete_locks(self: Any) -> None:
    """Remove the run's own locks, and the folder where no other is left."""
    for path in self._lockfile.values():
        Path(path).unlink(missing_ok=True)
    self._lockfile.clear()
    with suppress(OSError):
        os.rmdir(self._lockdir)
