"""What was read of the package before is used again where it is the same, and only there."""

from __future__ import annotations

from pathlib import Path

import pytest

from favor.foundation.errors import UserError
from favor.running.invalidation import parts
from favor.running.invalidation.fingerprint import SourceCode
from favor.running.invalidation.parts import KEPT, modules_below


@pytest.fixture
def root(tmp_path) -> Path:
    """A package of two modules and the script that runs them."""
    for name, text in (
        ("src/favor/__init__.py", '"""Package."""\n'),
        ("src/favor/ground.py", "from favor.names import NAMES\ndef add(a, b=1):\n    return [*NAMES, a + b]\n"),
        ("src/favor/names.py", 'NAMES = ["one", "two words", "\\udc80"]\n'),
        ("workflow/scripts/script.py", "from favor.ground import add\nprint(add(1))\n"),
    ):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path / "src"


def fresh(root) -> str:
    return SourceCode(root).fingerprint(root.parent / "workflow/scripts/script.py")


def taken(root) -> str:
    return SourceCode(root, modules_below(root)).fingerprint(root.parent / "workflow/scripts/script.py")


def test_what_is_kept_gives_the_fingerprint_of_the_files(root, monkeypatch) -> None:
    assert taken(root) == fresh(root)
    assert (root / KEPT).is_file()
    monkeypatch.setattr(parts, "read_module", lambda name, path: pytest.fail(f"{path} is read again"))
    assert modules_below(root)["favor.ground"].parts["add"].names == {("NAMES",)}


def test_a_changed_a_new_and_a_lost_file_are_seen(root) -> None:
    before = taken(root)
    (root / "favor/ground.py").write_text("def add(a, b=2):\n    return a + b\n")
    assert taken(root) != before
    (root / "favor/names.py").unlink()
    (root / "favor/more.py").write_text("VALUE = 1\n")
    assert set(modules_below(root)) == {"favor", "favor.ground", "favor.more", "script script"}
    script = root.parent / "workflow/scripts/script.py"
    before = taken(root)
    script.write_text(script.read_text().replace("add(1)", "add(2)"))
    assert taken(root) == fresh(root) != before


@pytest.mark.parametrize("content", ["", "{", '{"favor": {"digest": 1}}'])
def test_a_damaged_index_is_made_again(root, content) -> None:
    before = taken(root)
    (root / KEPT).write_text(content)
    assert taken(root) == before
    assert "favor.ground" in (root / KEPT).read_text()


def test_broken_syntax_stops_only_who_reaches_it(root) -> None:
    (root / "favor/draft.py").write_text("def (\n")
    assert taken(root) == fresh(root)
    (root / "favor/names.py").write_text("NAMES = [\n")
    with pytest.raises(UserError, match=r"names\.py:1: .*; correct the syntax"):
        taken(root)


def test_a_folder_that_cannot_be_written_keeps_nothing(root) -> None:
    (root / "favor/__pycache__").write_text("a file in the place of the folder")
    with pytest.raises(NotADirectoryError):
        (root / KEPT).read_bytes()
    assert taken(root) == fresh(root)
