"""A fingerprint follows the definitions that a script can reach, and what of them can change a result."""

import pytest

from favor.foundation.errors import UserError
from favor.running.invalidation import parts
from favor.running.invalidation.fingerprint import KEPT, source_code

SCRIPT = '"""Script."""\nfrom favor.scores.auc import auc\nprint(auc(1))\n'
FILES = {
    "__init__.py": '"""Package."""\n',
    "foundation/__init__.py": "",
    "foundation/schemas.py": "class Column:\n    pass\n",
    "foundation/section.py": ("class Section:\n    pass\ndef key(default, meaning, **bounds):\n    return default\n"),
    "scores/__init__.py": "",
    "scores/auc.py": "from favor.ground import add\ndef auc(x):\n    'Doc.'\n    return add(x, 1)\n",
    "scores/other.py": "VALUE = 1\ndef score():\n    return 2\n",
    "ground.py": "def add(a, b):\n    return a + b\n\n\ndef unused():\n    return 1\n",
    "again.py": "from favor.ground import add\n",
}
DECLARED = "from favor.foundation.schemas import Column\n"
KEY = (
    "from favor.foundation.section import Section, key\n"
    "class Drawing(Section):\n    draws: Annotated[int, 5] = key(3, 'its words', ge=1)\nprint(Drawing().draws)"
)


class Files:
    """The files of a small project; ``taken`` is the fingerprint of its script as they are now."""

    def __init__(self, folder) -> None:
        self.folder = folder
        for name, text in FILES.items():
            self.write(name, text)
        self.write("script.py", SCRIPT)

    def write(self, name, text) -> None:
        path = self.folder / ("workflow/scripts" if name == "script.py" else "src/favor") / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def taken(self, *modules) -> str:
        return source_code(self.folder / "src").fingerprint("script", modules)

    def reached(self) -> set[str]:
        return set(source_code(self.folder / "src").reached("script"))


@pytest.fixture
def project(tmp_path) -> Files:
    return Files(tmp_path)


def test_definitions_are_followed_transitively(project) -> None:
    assert project.reached() == {"script script", "favor.scores.auc.auc", "favor.ground.add"}


@pytest.mark.parametrize(
    ("file", "text", "changes"),
    [
        ("script.py", SCRIPT.replace("auc(1)", "auc(2)"), True),
        ("script.py", SCRIPT.replace("Script.", "Another docstring."), False),
        ("ground.py", "def add(a, b):\n    return a - b\n", True),
        ("ground.py", "def add(a, b=2):\n    return a + b\n", True),
        ("ground.py", "def add(a: int, b) -> int:  # why\n\n    return (a + b)  # sum\n", False),
        ("ground.py", FILES["ground.py"].replace("return 1", "return 2"), False),
        ("ground.py", FILES["ground.py"] + "import os\nos.environ['X'] = '1'\n", True),
        ("ground.py", FILES["ground.py"] + "import math\nNEW = math.pi\n", False),
        ("scores/auc.py", FILES["scores/auc.py"].replace("'Doc.'", "'Other.'"), False),
        ("scores/other.py", "VALUE = 2\n", False),
        ("scores/__init__.py", "from favor.scores import other\n", False),
        ("scores/__init__.py", "import matplotlib\nmatplotlib.use('Agg')\n", True),
    ],
)
def test_what_changes_a_fingerprint(project, file, text, changes) -> None:
    before = project.taken()
    project.write(file, text)
    assert (project.taken() != before) == changes


# Every way to write a use of favor.ground.add.
USES = {
    "from import": "from favor.ground import add\nadd(1, 2)",
    "as": "from favor.ground import add as plus\nplus(1, 2)",
    "module": "from favor import ground\nground.add(1, 2)",
    "module as": "import favor.ground as below\nbelow.add(1, 2)",
    "exported again": "from favor.again import add\nadd(1, 2)",
    "exported again, by a module": "from favor import again\nagain.add(1, 2)",
    "in a function": "def f():\n    from favor.ground import add\n    return add(1, 2)\nf()",
    "module as a value": "from favor import ground\ngetattr(ground, 'ad' + 'd')(1, 2)",
    "module as a value, of another": "from favor import again\ngetattr(again, 'ad' + 'd')(1, 2)",
    "default": "from favor.ground import add\ndef f(x=add): pass\nf()",
    "decorator": "from favor.ground import add\n@add\ndef f(): pass",
    "annotation that a decorator may read": "from favor.ground import add\n@op\ndef f(x: add): pass",
    "base class": "from favor.ground import add\nclass A(add): pass\nA()",
    "class body": "from favor.ground import add\nclass A:\n    x = add(1, 2)\nA()",
    "method": "from favor.ground import add\nclass A:\n    def m(self): return [add(x, 1) for x in ()]\nA()",
    "constant": "from favor.ground import add\nX = {'a': add}\nX",
    "changed constant": "from favor.ground import add\nX = 1\nX += add(1, 2)\nX",
    "condition": "try:\n    from favor.ground import add\nexcept ImportError:\n    add = None\nadd",
    "shadowed inside": "from favor.ground import add\ndef f():\n    def g(add): return add\n    add(g, 1)\nf()",
    "printed": "import sys\nfrom favor.ground import add\nprint(f'{add(1, 2)} sums', file=sys.stderr)",
    "global": "from favor.ground import add\ndef f():\n    global add\n    add = add\nf()",
    "run as a program": "from favor.ground import add\nif __name__ == '__main__':\n    add(1, 2)",
    "a value nobody reads": "from favor.ground import add\ndone = add(1, 2)",
    "in a closure": "from favor.ground import add\ndef f():\n    plus = add\n    def g():\n        return plus(1, 2)\n"
    "    return g()\nf()",
}


@pytest.mark.parametrize("use", USES)
def test_every_way_to_use_a_definition_is_followed(project, use) -> None:
    project.write("script.py", USES[use] + "\n")
    before = project.taken()
    project.write("ground.py", FILES["ground.py"].replace("a + b", "a - b"))
    assert project.taken() != before


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("def f(x, y): return x - y", "def f(y, x): return x - y"),
        ("def f(x, unused=1, y=2): return x - y", "def f(x, y=2): return x - y"),  # a place before another one
        ("_A = 3\n_B = 4\ndef f(x): return x + _A", "_A = 3\n_B = 4\ndef f(x): return x + _B"),
        ("@custom_op('a')\ndef f(x: int): return x", "@custom_op('a')\ndef f(x: float): return x"),
        (
            "def f(x):\n    words = 'a'\n    print(words)\n    raise UserError(words)",
            "def f(x):\n    words = 'b'\n    print(words)\n    raise UserError(words)",
        ),
        (  # two private definitions change places
            "def _a(x): return x + 1\ndef _b(x): return x + 2\ndef f(x): return _a(x) - _b(x)",
            "def _a(x): return x + 2\ndef _b(x): return x + 1\ndef f(x): return _a(x) - _b(x)",
        ),
        (  # which library a name is of
            "import numpy as np\ndef f(x): return np.mean(x)",
            "import cupy as np\ndef f(x): return np.mean(x)",
        ),
        ("def f(x): return x", "import readline\ndef f(x): return x"),  # imported for its effect
        ("import os\ndef f(x): return os.sep", "import os\nimport os.path\ndef f(x): return os.sep"),
    ],
)
def test_what_means_something_else_is_another(project, one, other) -> None:
    found = set()
    for text in (one, other):
        project.write("made.py", f"from favor.foundation.errors import UserError\n{text}\n")
        project.write("script.py", "from favor.made import f\nf(1)\n")
        found.add(project.taken())
    assert len(found) == 2


def test_what_importing_a_file_runs_counts(project) -> None:
    """Registration by a decorator, a call or a private function; a changed attribute; a library's effect."""
    project.write("script.py", "from favor.made import f\nf()\n")
    head = "def go(x):\n    return x\nclass Go(list):\n    pass\ndef _go(x):\n    return x\ndef f():\n    return 1\n"
    found = set()
    for text in (
        "",
        *(
            text.replace("VALUE", value)
            for value in "12"
            for text in (
                "@go\ndef g():\n    return VALUE\n",
                "class A:\n    @go\n    def g(self):\n        return VALUE\n",
                "@Go\ndef g():\n    return VALUE\n",
                "if not TYPE_CHECKING:\n    go(VALUE)\n",
                "import atexit\n@atexit.register\ndef g():\n    return VALUE\n",
                "def g():\n    return VALUE\nX = go(g)\n",
                "def g():\n    return VALUE\nX = _go(g)\n",
                "go.x = VALUE\n",
                "X[0] = VALUE\n",
            )
        ),
        "if go:\n    import atexit\n    atexit.register(f)\n",
        "for each in (1, 2): go(each)\n",
        "import readline\n",
    ):
        project.write("made.py", head + text)
        found.add(project.taken())
    assert len(found) == 22


@pytest.mark.parametrize(
    "way",
    [
        "def f():\n    return eval('add(1, 2)')",
        "def f():\n    return __import__('favor.ground')",
        "class A:\n    def __init_subclass__(cls):\n        pass\ndef f():\n    return A()",
        "import pkgutil\ndef f():\n    return pkgutil.resolve_name('favor.ground:add')",
        "import runpy\ndef f():\n    return runpy.run_path('x.py')",
        "from runpy import run_module as go\ndef f():\n    return go('favor.ground')",
        "import builtins\ndef f():\n    return builtins.eval('add(1, 2)')",
        "import sys\ndef f():\n    return sys.modules[__name__].add",
        "import importlib\ndef f():\n    return importlib.import_module('favor.ground')",
        "from importlib import import_module as go\ndef f():\n    return go('favor.ground')",
        "from importlib import resources\ndef f():\n    return resources.files('favor').joinpath('d.csv').read_text()",
        "import importlib as il\ndef f():\n    return il.import_module('favor.ground')",
        "import sys as s\ndef f():\n    return s.modules[__name__].add",
        "def f():\n    return add.__doc__",
        "def f():\n    return [].__class__.__subclasses__()",
        "from typing import get_type_hints\ndef f():\n    return get_type_hints(add)",
        "def f():\n    return globals()['add']",
        "def f():\n    return vars()['add']",
    ],
)
def test_code_that_cannot_be_followed_is_refused_where_a_job_reaches_it(project, way) -> None:
    project.write("made.py", f"from favor.ground import add\n{way}\n")
    assert project.taken()  # nobody reaches it
    project.write("script.py", "from favor.made import f\nf()\n")
    with pytest.raises(UserError, match="finds code that no fingerprint can follow"):
        project.taken()


@pytest.mark.parametrize(
    ("way", "read", "unread"),
    [
        ("(Path(__file__).parent / 'd.csv').read_text()", "d.csv", "unread.csv"),
        ("Path(__file__).with_name('d.csv').read_text()", "d.csv", "unread.csv"),
        ("[p for p in (Path(__file__).parent / 'data').iterdir()]", "data/e.csv", "unread.csv"),
        ("Path(__file__).with_name(f'{n}.csv').read_text()", "unread.csv", ""),  # made up at run time
    ],
)
def test_a_file_beside_the_code_that_it_reads_counts(project, way, read, unread) -> None:
    project.write("made.py", f"from pathlib import Path\ndef f(n):\n    return {way}\n")
    for file in ("d.csv", "data/e.csv", "unread.csv"):
        project.write(file, "1\n")
    project.write("script.py", "from favor.made import f\nf(1)\n")
    before = project.taken()
    if unread:
        project.write(unread, "2\n")
        assert project.taken() == before
    project.write(read, "2\n")
    assert project.taken() != before


@pytest.mark.parametrize(
    "text",
    [
        "from favor.ground import add\ndef f(x: add) -> add: pass\nf(1)",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from favor.ground import add",
        "from favor.foundation.errors import UserError\nfrom favor.ground import add\nraise UserError(f'{add} is bad')",
    ],
)
def test_what_no_result_depends_on_is_not_followed(project, text) -> None:
    project.write("script.py", text + "\n")
    assert "favor.ground.add" not in project.reached()


@pytest.mark.parametrize(
    ("text", "old", "new", "changes"),
    [
        ("raise UserError(f'{x}: no file; make it')", "make", "write", False),
        ("raise UserError('one ' + x)", "one", "two", False),
        ("raise ValueError(3)", "3", "4", True),
        ("raise Refused('too long')", "too", "very", True),  # another error's words may be kept
        ("assert x, 'message'", "message", "other", True),
        ("import sys\nprint('done', x, file=sys.stderr)", "done", "made", False),
        ("print('done', x)", "done", "made", True),
        ("Progress('texts', 3)", "texts", "words", False),
        ("Progress('texts', total)", "total", "other", True),
        ("print({'note': 'too few texts'})", "few", "many", True),
        (f"{DECLARED}Column('a', 'int64', 'its words', 'words')", "its", "the", False),
        (f"{DECLARED}Column('a', 'int64', 'its words', 'words')", "'words'", "''", False),
        (f"{DECLARED}Column('a', 'int64', meaning='x')", "'x'", "'y'", False),
        (f"{DECLARED}Column('a', 'int64', 'its words', 'words')", "'a'", "'b'", True),
        (f"{DECLARED}print(Column('a', 'b', 'x').meaning)", "'x'", "'y'", True),
        ("Column('a', 'b', 'c', 'd')", "'d'", "'e'", True),  # another class
        (f"{DECLARED}getattr(Column('a', 'b', 'x'), 'meaning')", "'x'", "'y'", True),
        ("import sys\nd = {}\nprint(d.pop('a'), file=sys.stderr)", "'a'", "'b'", True),  # an effect
        (KEY, "its words", "its meaning", False),
        (KEY, "ge=1", "ge=2", True),
        (KEY, "Annotated[int, 5]", "Annotated[int, 6]", True),
        (KEY, "key(3", "key(4", True),
        (KEY, "draws: ", "samples: ", True),
    ],
)
def test_words_count_only_where_a_result_may_hold_them(project, text, old, new, changes) -> None:
    project.write("script.py", text + "\n")
    before = project.taken()
    assert text.count(old) == 1
    project.write("script.py", text.replace(old, new) + "\n")
    assert (project.taken() != before) == changes


def test_a_module_loaded_by_name_counts_whole_or_by_the_name_that_is_read(project) -> None:
    assert project.taken() != project.taken("favor.scores.other") != project.taken("favor.scores.other:score")
    both, one = project.taken("favor.scores.other"), project.taken("favor.scores.other:score")
    project.write("scores/other.py", FILES["scores/other.py"].replace("VALUE = 1", "VALUE = 2"))
    assert project.taken("favor.scores.other") != both
    assert project.taken("favor.scores.other:score") == one


def test_a_definition_that_moves_is_the_same_and_another_of_its_name_is_not(project) -> None:
    before = project.taken()
    project.write("below.py", FILES["ground.py"])
    project.write("ground.py", "")
    project.write("scores/auc.py", FILES["scores/auc.py"].replace("favor.ground", "favor.below"))
    assert project.taken() == before
    project.write("below.py", FILES["ground.py"].replace("a + b", "a * b"))
    assert project.taken() != before


def test_two_definitions_of_one_name_that_change_places_are_seen(project) -> None:
    project.write("below.py", "def add(a, b):\n    return a * b\n")
    text = "from favor.ground import add as one\nfrom favor.below import add as two\none(two(1, 2), 3)\n"
    project.write("script.py", text)
    before = project.taken()
    project.write("script.py", text.replace("one\n", "x\n").replace("two\n", "one\n").replace("x\n", "two\n"))
    assert project.taken() != before


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("from . import scores\n", r"ground\.py: write its imports as"),
        ("from favor.scores import *\n", r"ground\.py: write its imports as"),
        ("import favor.scores.other\n", r"ground\.py: write its imports as"),
        ("def (:\n", r"ground\.py:1: .*; correct the syntax"),
    ],
)
def test_a_file_that_cannot_be_read_stops_who_reaches_it_alone(project, text, message) -> None:
    project.write("draft.py", text)
    assert project.taken()
    project.write("ground.py", text)
    with pytest.raises(UserError, match=message):
        project.taken()


def test_an_unknown_module_is_named(project) -> None:
    with pytest.raises(UserError, match=r"no module 'favor\.scores\.missing'"):
        project.taken("favor.scores.missing")


def test_an_installed_package_holds_its_scripts(project) -> None:
    before = project.taken()
    (project.folder / "src/favor/_workflow").mkdir()
    (project.folder / "workflow").rename(project.folder / "src/favor/_workflow/workflow")
    assert project.taken() == before


def test_what_was_read_is_kept_and_a_changed_a_new_and_a_lost_file_are_seen(project, monkeypatch) -> None:
    before, kept = project.taken(), project.folder / "src" / KEPT
    with monkeypatch.context() as patch:
        patch.setattr(parts, "read_module", lambda name, path: pytest.fail(f"{path} is read again"))
        assert project.taken() == before
    project.write("more.py", "VALUE = 1\n")
    (project.folder / "src/favor/again.py").unlink()
    assert {"favor.more", "script script"} <= source_code(project.folder / "src").modules.keys()
    assert "favor.again" not in source_code(project.folder / "src").modules
    for damaged in (b"", b"x", kept.read_bytes()[:-9]):
        kept.write_bytes(damaged)
        assert project.taken() == before


def test_a_folder_that_cannot_be_written_keeps_nothing(project) -> None:
    project.write("__pycache__", "a file in the place of the folder")
    assert project.reached() == {"script script", "favor.scores.auc.auc", "favor.ground.add"}
