"""Writing files atomically, with the same bytes for the same content; text and JSON.

A write goes to a temporary name beside the target and is moved over it, so a killed job leaves no half file under
a final name.
"""

import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from favor.foundation.errors import UserError

# The end of temporary names, which only this workflow gives: whatever has it can be removed once no job is at work.
PARTIAL = ".favor-partial"
REMEDY = "free space or fix the folder's permissions, then run again"


@contextmanager
def atomic_path(path: str | Path) -> Iterator[Path]:
    """Yield a temporary path in the folder of ``path``; on success it is moved to ``path``, on failure removed."""
    target = Path(path)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=PARTIAL, dir=target.parent)
    except OSError as error:
        raise UserError(f"{target}: cannot write there ({error.strerror}); {REMEDY}") from None
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        os.chmod(temporary, 0o666 & ~_umask())
        to_disk(temporary)
        os.replace(temporary, target)
    except OSError as error:
        raise UserError(f"{target}: cannot be written ({error.strerror or error}); {REMEDY}") from None
    finally:
        temporary.unlink(missing_ok=True)


def check_writable(folder: Path, name: str, remedy: str = REMEDY) -> None:
    """Make a folder. Raises ``UserError`` with ``name`` and ``remedy`` where a small file cannot be written in it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(bytes(2**16))
    except OSError as error:
        raise UserError(f"{name}: cannot write there ({error.strerror}); {remedy}") from None


def to_disk(path: Path) -> None:
    """Wait until a file's content is on the disk.

    Without it, a power loss may leave a file of full length under its final name that was never filled.
    """
    descriptor = os.open(path, os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current


def write_text(text: str, path: str | Path) -> None:
    """Write ``text`` as UTF-8."""
    with atomic_path(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_json(content: Any, path: str | Path) -> None:
    """Write ``content`` as indented JSON with sorted keys; NaN is refused."""
    write_text(json.dumps(content, indent=1, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n", path)


def read_json(path: str | Path) -> Any:
    """Read a JSON file. Raises ``UserError`` where it is missing or broken."""
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UserError(f"{path}: file not found; run the workflow so that it is made") from None
    except (ValueError, OSError, RecursionError) as error:
        raise UserError(f"{path}: not complete JSON ({error}); delete it and run again") from None


def is_local(source: str) -> bool:
    """Return whether ``source`` is a folder rather than a Hugging Face id ("owner/name")."""
    return Path(source).expanduser().is_dir() or source.startswith((".", "/", "~")) or source.count("/") != 1
