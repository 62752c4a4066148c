"""What plug-in files declare, read from their text."""

from __future__ import annotations

import ast
from pathlib import Path

from favor.foundation.declarations import declared, declared_keys, declared_texts

FILE = """
import nothing_of_this_name

METRICS = (1, 2)
DEFAULTS: dict = {"encoders": None, "source": "org/model", "seeds": list(range(3)), 4: "four"}


def inside():
    HIDDEN = 1
"""


def test_top_level_assignments_are_read_without_running_the_file(tmp_path: Path) -> None:
    path = tmp_path / "plugin.py"
    path.write_text(FILE)
    assert ast.literal_eval(declared(path, "METRICS")) == (1, 2)
    assert declared(path, "HIDDEN") is None
    assert declared_keys(path, "DEFAULTS") == ["encoders", "source", "seeds"]
    assert declared_texts(path, "DEFAULTS") == {"source": "org/model"}
    assert declared_keys(path, "METRICS") == []
