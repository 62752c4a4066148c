"""Which format an export is of."""

from pathlib import Path

from favor.exports.conversations import service
from favor.exports.files import Files
from favor.exports.items import Export
from favor.foundation.errors import UserError
from favor.foundation.names import printable
from favor.foundation.registry import EXPORTS

_SHOWN, _LOOKED_AT = 5, 100  # names of files in a message, and files that are looked at


def open_export(path: Path) -> tuple[str, Export, Files]:
    """Return an export's format by name, the format itself, and the files; a folder of texts is the last resort.

    Raises ``UserError`` that says which formats are read and what was found.
    """
    files = Files(path)
    formats: dict[str, Export] = {name: EXPORTS.load(name).EXPORT for name in EXPORTS.names()}
    for name in sorted(formats, key=lambda each: each == "text_folder"):
        if formats[name].matches(files):
            return name, formats[name], files
    for name in files.names[:_LOOKED_AT]:
        if what := service(files.head(name).decode("utf-8", "ignore")):
            raise UserError(f"{printable(str(path))}: {printable(name)} is {what}")
    found = ", ".join(printable(name) for name in files.names[:_SHOWN]) or "nothing"
    more = f" and {len(files.names) - _SHOWN:,} more files" if len(files.names) > _SHOWN else ""
    packed = [name for name in files.names if name.lower().endswith((".zip", ".mbox")) and files.path.is_dir()]
    remedy = f"Give {printable(packed[0])} by itself, or" if packed else "Unpack what is packed, and give"
    raise UserError(
        f"{printable(str(path))}: not an export that is read; it holds {found}{more}. {remedy} one of: "
        + "; ".join(each.title for each in formats.values())
    )
