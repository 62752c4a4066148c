"""The record of what the workflow makes in a results folder: whatever is not on it belongs to the user.

The main process writes it before the first job starts, so that it also holds after a SIGKILL; jobs write nothing to it.
"""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from favor.foundation.errors import UserError
from favor.foundation.files import write_text

RECORD = ".favor-outputs"
_HEADER = "# Outputs of FAVoR Workflow in this folder. It renames, deletes or touches nothing else here."


def read_record(results: Path) -> set[str]:
    """Return the recorded outputs as paths relative to ``results``; none where there is no record.

    Raises ``UserError`` where the file is something else.
    """
    path = results / RECORD
    if not os.path.lexists(path):
        return set()
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        lines = []
    inside = all(not Path(line).is_absolute() and ".." not in Path(line).parts for line in lines[1:])
    if lines[:1] != [_HEADER] or not inside:
        raise UserError(
            f"{path} is not a record of this workflow, or cannot be read. Move it away, or choose another folder with "
            "the key 'results'."
        )
    return set(lines[1:])


def write_record(results: Path, names: Iterable[str]) -> None:
    """Write the record; ``names`` are paths relative to ``results``."""
    write_text("".join(f"{line}\n" for line in (_HEADER, *sorted(names))), results / RECORD)


def made_outputs(results: Path) -> Iterator[Path]:
    """Yield the recorded outputs that are there, files and folders. Links, and what lies behind one, are the user's."""
    root = results.resolve()
    linked: dict[Path, bool] = {}
    for name in sorted(read_record(results)):
        path = results / name
        folder = path.parent
        if folder not in linked:
            linked[folder] = folder.resolve() != root / Path(name).parent
        if not linked[folder] and not path.is_symlink() and path.exists():
            yield path
