"""What plug-in files declare, read from their text."""

from __future__ import annotations

import ast

from favor.foundation.declarations import declared, declared_kinds, declared_texts

FILE = """
import nothing_of_this_name

METRICS = (1, 2)
DEFAULTS: dict = {"encoders": None, "source": "org/model", "seeds": list(range(3)), "share": 0.5, 4: "four"}


def inside():
    HIDDEN = 1
"""


def test_top_level_assignments_are_read_without_running_the_file(tmp_path) -> None:
    path = tmp_path / "plugin.py"
    path.write_text(FILE)
    assert ast.literal_eval(declared(path, "METRICS")) == (1, 2)
    assert declared(path, "HIDDEN") is None
    assert declared_kinds(path, "DEFAULTS") == {"encoders": None, "source": str, "seeds": list, "share": float}
    assert declared_texts(path, "DEFAULTS") == {"source": "org/model"}
    assert declared_kinds(path, "METRICS") == {}
