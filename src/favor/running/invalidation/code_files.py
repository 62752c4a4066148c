"""Which files the code is, and when each was changed."""

from pathlib import Path

_FOLDERS = ("src/favor", "workflow/scripts")


def code_files(root: Path) -> dict[str, list[int]]:
    """Return size and time of change, in nanoseconds, of every file of the code below ``root``, by path."""
    found = {}
    for folder in _FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.is_file() and path.parent.name != "__pycache__":
                status = path.stat()
                found[str(path.relative_to(root))] = [status.st_size, status.st_mtime_ns]
    return found
