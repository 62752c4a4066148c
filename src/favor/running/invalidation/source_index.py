"""The package and the scripts as parts, kept beside Python's own compiled files: a start reads what changed alone."""

import hashlib
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from favor.foundation.errors import UserError
from favor.foundation.files import write_text
from favor.running.invalidation import parts
from favor.running.invalidation.parts import PACKAGE, Module, script_name

KEPT = f"{PACKAGE}/__pycache__/parts.json"
_FOLDERS = ("src/favor", "workflow/scripts")


@dataclass
class _Entry:
    """A module, and the digest of the file that it was read from and of the code that read it."""

    digest: str
    module: Module


def modules_below(root: Path) -> dict[str, Module]:
    """Return the modules of the package below ``root``, and the scripts of the checkout that it is in, by name.

    A file of broken syntax is left out, so that only who reaches it is stopped by it. Nothing is kept in a folder that
    cannot be written.
    """
    entries = TypeAdapter(dict[str, _Entry])
    path = root / KEPT
    try:
        kept = entries.validate_json(path.read_bytes())
    except (OSError, ValidationError):
        kept = {}
    read_by = Path(str(parts.__file__)).read_bytes()
    found = {}
    modules = sorted((root / PACKAGE).rglob("*.py"))
    names = [".".join(file.relative_to(root).with_suffix("").parts).removesuffix(".__init__") for file in modules]
    scripts = sorted((root.parent / "workflow" / "scripts").glob("*.py"))
    for name, file in zip([*names, *map(script_name, scripts)], [*modules, *scripts], strict=True):
        digest = hashlib.sha256(b"\0".join((sys.version.encode(), read_by, file.read_bytes()))).hexdigest()
        if name in kept and kept[name].digest == digest:
            found[name] = kept[name]
        else:
            with suppress(UserError):
                found[name] = _Entry(digest, parts.read_module(name, file))
    if found != kept:
        with suppress(UserError):
            write_text(entries.dump_json(found).decode(), path)
    return {name: entry.module for name, entry in found.items()}


def code_files(root: Path) -> dict[str, list[int]]:
    """Return size and time of change, in nanoseconds, of every file of the code below ``root``, by path."""
    found = {}
    for folder in _FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.is_file() and path.parent.name != "__pycache__":
                status = path.stat()
                found[str(path.relative_to(root))] = [status.st_size, status.st_mtime_ns]
    return found
