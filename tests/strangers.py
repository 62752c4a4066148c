"""Files in a results folder that the workflow did not make."""

import os

from favor.foundation.files import PARTIAL

STRANGERS = {
    "budget.csv": "a,b\n1,2",
    "logs.json": '{"a": 1}\n{"b": 2}\n',
    "notes.tex": "half a line",
    "page.html": "<p>a fragment",
    "tables.parquet": "PAR1",
    "weights.safetensors": "[1, 2]",
    ".cache/.movie.partial": "x",
    ".old.parquet.x1.partial": "x",
    ".jobs/mine": "x",
    "demo/tables/mine.tex": "half",
    "logs/mine.log": "x",
    "demo/scores.parquet.truncated": "x",
    "readme.future": "x",
}


def leave_files(results, outside) -> None:
    """Fill ``results`` with a stranger's files, folders named like ours, and links; ``outside`` is where these lead."""
    for name, text in STRANGERS.items():
        (results / name).parent.mkdir(parents=True, exist_ok=True)
        (results / name).write_text(text)
    (outside / f".x{PARTIAL}").mkdir(parents=True)
    (outside / "cut.json").write_text("{")
    (results / "drafts").symlink_to(outside)
    (results / f".linked{PARTIAL}").symlink_to(outside)
    (results / "old.pdf").symlink_to("/nowhere")
    (results / "page2.html").symlink_to("page.html")
    os.utime(results / "readme.future", (4e9, 4e9))


Photograph = dict[str, tuple[str | bytes | None, int | None]]


def photograph(folder) -> Photograph:
    """Everything below a folder: the bytes and time of a file, where a link leads."""
    found: Photograph = {}
    for path in sorted(folder.rglob("*")):
        content = os.readlink(path) if path.is_symlink() else path.read_bytes() if path.is_file() else None
        found[str(path.relative_to(folder))] = (content, None if content is None else path.lstat().st_mtime_ns)
    return found
