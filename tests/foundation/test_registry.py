"""Plug-ins are listed without being imported, and what is wrong with one is said in one line."""

import ast
import sys

import pytest

from favor.foundation import registry
from favor.foundation.declarations import declared, declared_value
from favor.foundation.errors import UserError
from favor.foundation.registry import Registry


@pytest.fixture
def tools(tmp_path, monkeypatch) -> Registry:
    folder = tmp_path / "shed_of_tests" / "tools"
    folder.mkdir(parents=True)
    texts = {"hammer": "WEIGHT = 2\n", "saw": "import nothing_of_this_name\nWEIGHT: int = 1\n"}
    for name, text in {**texts, "bench": "weight = 3\n", "_hidden": "WEIGHT = 4\n"}.items():
        (folder / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    return Registry("tool", ("shed_of_tests.tools",), "WEIGHT", tmp_path)


def test_files_that_declare_the_name_are_listed_without_being_imported(tools) -> None:
    assert tools.modules() == {"hammer": "shed_of_tests.tools.hammer", "saw": "shed_of_tests.tools.saw"}
    assert "shed_of_tests.tools.saw" not in sys.modules
    assert tools.load("hammer").WEIGHT == 2
    assert tools.path("saw").is_file()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("hamer", "tool 'hamer' is unknown; did you mean 'hammer'?"),
        ("_hidden", "tool '_hidden' is unknown"),
        ("../tools/hammer", "is unknown"),
        ("bench", "bench.py declares no 'WEIGHT'; add it"),
        ("saw", "tool file 'saw.py' cannot be used (No module named 'nothing_of_this_name'); fix it"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(tools, name, message) -> None:
    with pytest.raises(UserError) as caught:
        tools.load(name)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_two_files_of_one_name_are_refused_by_both_paths(tools) -> None:
    other = tools.root / "shed_of_tests" / "tools" / "heavy" / "hammer.py"
    other.parent.mkdir()
    other.write_text("WEIGHT = 9\n")
    first = other.parents[1] / "hammer.py"
    with pytest.raises(UserError, match=f"^{first} and {other} are both the tool 'hammer'; rename one$"):
        tools.names()


@pytest.fixture
def boxes(tools) -> Registry:
    (tools.root / "shed_of_tests" / "boxes").mkdir()
    return Registry("box", ("shed_of_tests.boxes",), "", tools.root, label="label")


def test_a_file_holds_several_plug_ins_that_are_named_by_their_label(boxes) -> None:
    path = boxes.root / "shed_of_tests" / "boxes" / "wood.py"
    path.write_text("OTHER = dict(size=3)\nBIG = dict(label='big-box', size=2)\nSMALL: dict = dict(label='small-box')")
    assert boxes.modules() == dict.fromkeys(("big-box", "small-box"), "shed_of_tests.boxes.wood")
    assert boxes.entry("small-box") == "shed_of_tests.boxes.wood:SMALL"
    assert boxes.declared("big-box") == {"label": "big-box", "size": 2}
    with pytest.raises(UserError, match="box 'wood' is unknown"):
        boxes.module("wood")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("NAME = 'x'\nA = dict(label=NAME)\n", "the label of 'A' is not written out; give it as a plain text"),
        ("A = dict(label='x')\nB = dict(label='x')\n", "'A' and 'B' have one label, 'x'; rename one"),
        ("A = dict(label='x'\n", "correct the syntax"),
    ],
)
def test_a_label_that_cannot_be_read_is_refused_by_the_file(boxes, text, message) -> None:
    path = boxes.root / "shed_of_tests" / "boxes" / "wood.py"
    path.write_text(text)
    with pytest.raises(UserError, match=f"^{path}") as caught:
        boxes.names()
    assert message in str(caught.value)


def test_every_kind_has_plug_ins() -> None:
    kinds = [value for value in vars(registry).values() if isinstance(value, Registry)]
    assert all(kind.names() for kind in kinds)


FILE = """
import nothing_of_this_name

METRICS = (1, 2)
DEFAULTS: dict = {"encoders": None, "source": "org/model", "share": 0.5}
MADE = {"seeds": list(range(3))}


def inside():
    HIDDEN = 1
"""


def test_top_level_assignments_are_read_without_running_the_file(tmp_path) -> None:
    path = tmp_path / "plugin.py"
    path.write_text(FILE)
    assert ast.literal_eval(declared(path, "METRICS")) == (1, 2)
    assert declared(path, "HIDDEN") is None
    assert declared_value(path, "DEFAULTS", {}) == {"encoders": None, "source": "org/model", "share": 0.5}
    assert declared_value(path, "OPTIONS", {}) == {}
    with pytest.raises(UserError, match="'MADE' is not written out"):
        declared_value(path, "MADE", {})
