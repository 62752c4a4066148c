"""A fingerprint follows the definitions that a script can reach, and what of them can change a result."""

from __future__ import annotations

import pytest

from favor.foundation.errors import UserError
from favor.running.invalidation.fingerprint import SourceCode

SCRIPT = '"""Script."""\nfrom favor.scores.auc import auc\nprint(auc(1))\n'
FILES = {
    "favor/__init__.py": '"""Package."""\n',
    "favor/foundation/__init__.py": "",
    "favor/foundation/schemas.py": "class Column:\n    pass\n",
    "favor/foundation/section.py": (
        "class Section:\n    pass\ndef key(default, meaning, **bounds):\n    return default\n"
    ),
    "favor/scores/__init__.py": "",
    "favor/scores/auc.py": "from favor.ground import add\ndef auc(x):\n    'Doc.'\n    return add(x, 1)\n",
    "favor/scores/other.py": "VALUE = 1\ndef score():\n    return 2\n",
    "favor/ground.py": "def add(a, b):\n    return a + b\n\n\ndef unused():\n    return 1\n",
    "favor/again.py": "from favor.ground import add\n",
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
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def taken(self, *modules) -> str:
        return SourceCode(self.folder).fingerprint(self.folder / "script.py", modules)

    def reached(self, *modules) -> set[str]:
        return set(SourceCode(self.folder).reached(self.folder / "script.py", modules))


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
        ("favor/ground.py", "def add(a, b):\n    return a - b\n", True),
        ("favor/ground.py", "def add(a, b=2):\n    return a + b\n", True),
        ("favor/ground.py", "def add(a: int, b) -> int:  # why\n\n    return (a + b)  # sum\n", False),
        ("favor/ground.py", FILES["favor/ground.py"].replace("return 1", "return 2"), False),
        ("favor/ground.py", FILES["favor/ground.py"] + "import os\nos.environ['X'] = '1'\n", True),
        ("favor/ground.py", FILES["favor/ground.py"] + "NEW = 1\n", False),
        ("favor/scores/auc.py", FILES["favor/scores/auc.py"].replace("'Doc.'", "'Other.'"), False),
        ("favor/scores/other.py", "VALUE = 2\n", False),
        ("favor/scores/__init__.py", "import favor.scores.other\n", False),
        ("favor/scores/__init__.py", "import matplotlib\nmatplotlib.use('Agg')\n", True),
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
    "dotted": "import favor.ground\nfavor.ground.add(1, 2)",
    "exported again": "from favor.again import add\nadd(1, 2)",
    "in a function": "def f():\n    from favor.ground import add\n    return add(1, 2)\nf()",
    "star": "from favor.ground import *\nadd(1, 2)",
    "module as a value": "from favor import ground\ngetattr(ground, 'ad' + 'd')(1, 2)",
    "literal name": "import importlib\nimportlib.import_module('favor.ground').add(1, 2)",
    "default": "from favor.ground import add\ndef f(x=add): pass\nf()",
    "decorator": "from favor.ground import add\n@add\ndef f(): pass",
    "base class": "from favor.ground import add\nclass A(add): pass\nA()",
    "class body": "from favor.ground import add\nclass A:\n    x = add(1, 2)\nA()",
    "method": "from favor.ground import add\nclass A:\n    def m(self): return [add(x, 1) for x in ()]\nA()",
    "constant": "from favor.ground import add\nX = {'a': add}\nX",
    "changed constant": "from favor.ground import add\nX = 1\nX += add(1, 2)\nX",
    "condition": "try:\n    from favor.ground import add\nexcept ImportError:\n    add = None\nadd",
    "shadowed inside": "from favor.ground import add\ndef f():\n    def g(add): return add\n    add(g, 1)\nf()",
    "printed": "import sys\nfrom favor.ground import add\nprint(f'{add(1, 2)} sums', file=sys.stderr)",
    "global": "from favor.ground import add\ndef f():\n    global add\n    add = add\nf()",
    "imported or bound inside": "def f():\n    try:\n        from favor.ground import add\n    except ImportError:\n"
    "        add = None\n    return add(1, 2)\nf()",
    "bound again inside": "def f():\n    from favor.ground import add\n    x = add(1, 2)\n    for add in ():\n"
    "        pass\n"
    "    return x\nf()",
    "run as a program": "from favor.ground import add\nif __name__ == '__main__':\n    add(1, 2)",
    "a value nobody reads": "from favor.ground import add\ndone = add(1, 2)",
    "registered by an assignment": "from favor.ground import add\ndef go(f): add(1, 2)\nX = go(1)",
    "registered by a method": "from favor.ground import add\ndef go(f): add(1, 2)\nclass A:\n    @go\n"
    "    def f(self): pass",
    "registered by a library": "import atexit\nfrom favor.ground import add\n@atexit.register\ndef f(): add(1, 2)",
    "in a closure": "from favor.ground import add\ndef f():\n    plus = add\n    def g():\n        return plus(1, 2)\n"
    "    return g()\nf()",
}


@pytest.mark.parametrize("use", USES)
def test_every_way_to_use_a_definition_is_followed(project, use) -> None:
    project.write("script.py", USES[use] + "\n")
    before = project.taken()
    project.write("favor/ground.py", FILES["favor/ground.py"].replace("a + b", "a - b"))
    assert project.taken() != before


SAME = [
    ("def f(x):\n    y: int = x\n    return y", "def f(x):\n    y = x\n    return y"),
    ("def f(x): return x", "import math\ndef g(x): return math.pi\ndef f(x): return x"),
]
OTHER = [
    ("def f(x):\n    a = 1\n    b = 2\n    return a", "def f(x):\n    a = 1\n    b = 2\n    return b"),
    ("def f(x, y): return x - y", "def f(y, x): return x - y"),
    ("def f(x, y=1): return x - y", "def f(x, y=2): return x - y"),
    ("def f(x, unused=1, y=2): return x - y", "def f(x, y=2): return x - y"),  # a place before another one
    ("def f(x, **rest): return rest", "def f(x, y=1, **rest): return rest"),  # y would have been in rest
    ("def f(x, y=1): return locals()", "def f(x): return locals()"),
    ("def f(x):\n    a = x\n    return locals()", "def f(x):\n    b = x\n    return locals()"),
    ("def f(x):\n    a = 1\n    return f'{a=}'", "def f(x):\n    b = 1\n    return f'{b=}'"),
    (
        "def f(x):\n    def g(): return 1\n    def h(): return 2\n    return g()",
        "def f(x):\n    def g(): return 1\n    def h(): return 2\n    return h()",
    ),
    (
        "def f(x):\n    a = b = 0\n    def g():\n        nonlocal a\n        a = 1\n    g()\n    return a",
        "def f(x):\n    a = b = 0\n    def g():\n        nonlocal b\n        a = 1\n    g()\n    return a",
    ),
    ("def f(x):\n    class A:\n        y = 1\n    return A", "def f(x):\n    class A:\n        z = 1\n    return A"),
    (
        "def _a(x): return x + 1\ndef _b(x): return x + 2\ndef f(x): return _a(x) - _b(x)",
        "def _a(x): return x + 1\ndef _b(x): return x + 2\ndef f(x): return _b(x) - _a(x)",
    ),
    ("_A = 3\n_B = 4\ndef f(x): return x + _A", "_A = 3\n_B = 4\ndef f(x): return x + _B"),
    (
        "def f(x):\n    words = 'a'\n    print(words)\n    raise UserError(words)",
        "def f(x):\n    words = 'b'\n    print(words)\n    raise UserError(words)",
    ),
    ("@custom_op('a')\ndef f(x: int): return x", "@custom_op('a')\ndef f(x: float): return x"),
    ("def f(x): return [y + z for y in x for z in y]", "def f(x): return [z + y for y in x for z in y]"),
    (
        "def f(x):\n    a, b = x\n    g = lambda: a\n    return b, g",
        "def f(x):\n    a, b = x\n    g = lambda: b\n    return a, g",
    ),
    # Which of two bindings of one name comes last, and what is imported for its effect.
    (
        "from favor.ground import add\ndef add(a, b): return a\ndef f(x): return add(x, 1)",
        "def add(a, b): return a\nfrom favor.ground import add\ndef f(x): return add(x, 1)",
    ),
    (
        "from favor.scores.auc import auc as add\nfrom favor.ground import add\ndef f(x): return add(x, 1)",
        "from favor.ground import add\nfrom favor.scores.auc import auc as add\ndef f(x): return add(x, 1)",
    ),
    ("def f(x): return x", "import readline\ndef f(x): return x"),
    ("import os\ndef f(x): return os.sep", "import os\nimport os.path\ndef f(x): return os.sep"),
]

SECTION = "from favor.foundation.section import Section, key\n"
P, Q = "class P(Section):\n    x: int = key(1, 'w')\n", "class Q(Section):\n    y: int = key(2, 'w')\n"
OWN, METHOD = "class A(Section):\n    x: int = key(1, 'w')\n    y: int = key(2, 'w')\n", "    def x(self): return 3\n"
# What a section inherits counts: the order of its bases, what they hold, another root.
INHERITED = [
    (f"{P}{Q}class A(Q, P):\n    pass\n", f"{P}{Q.replace('2', '3')}class A(Q, P):\n    pass\n"),
    (
        f"{P}{P.replace('P', 'Q').replace('1', '2')}class A(P, Q):\n    pass\n",
        f"{P}{P.replace('P', 'Q').replace('1', '2')}class A(Q, P):\n    pass\n",
    ),
    (
        f"{P}class M(Section):\n{METHOD}class A(P, M):\n    pass\n",
        f"{P}class M(Section):\n{METHOD}class A(M, P):\n    pass\n",
    ),
    (OWN, f"class M(Section):\n{METHOD}{OWN.replace('Section', 'M')}"),
    (OWN, f"import pydantic\n{OWN.replace('Section', 'pydantic.BaseModel')}"),
]


USING = "def f():\n    one = A()\n    return one.x, one.y"
# A file that finds its own names by no name counts whole.
WHOLE = [
    tuple(f"X = {way}\ndef f():\n    return X\ndef g():\n    return {value}" for value in (1, 2))
    for way in ("globals()['g']", "locals()['g']", "vars()['g']", "[dir(), 0]")
]
DIFFERENT = [*OTHER, *WHOLE, *(tuple(f"{SECTION}{each}{USING}" for each in pair) for pair in INHERITED)]


@pytest.mark.parametrize(("pair", "same"), [*((pair, True) for pair in SAME), *((pair, False) for pair in DIFFERENT)])
def test_what_is_written_otherwise_and_means_the_same_is_the_same(project, pair, same) -> None:
    found = []
    for text in pair:
        project.write("favor/made.py", f"from favor.foundation.errors import UserError\n{text}\n")
        project.write("script.py", "from favor.made import f\nf(1)\n")
        found.append(project.taken())
    assert (found[0] == found[1]) == same


def test_every_file_beside_the_code_counts_where_its_name_is_made_up(project) -> None:
    made = "from pathlib import Path\ndef f(n):\n    return Path(__file__).with_name(f'{n}.csv').read_text()"
    project.write("favor/made.py", made)
    project.write("favor/d.csv", "1\n")
    project.write("script.py", "from favor.made import f\nf('d')\n")
    before = project.taken()
    project.write("favor/d.csv", "2\n")
    assert project.taken() != before


def test_where_subclasses_are_looked_for_every_file_counts_whole(project) -> None:
    project.write("favor/made.py", "class A:\n    pass\ndef f():\n    return A.__subclasses__()\n")
    project.write("favor/more.py", "from favor.made import A\nclass B(A):\n    X = 1\n")
    project.write("script.py", "import favor.more\nfrom favor.made import f\nf()\n")
    before = project.taken()
    project.write("favor/more.py", "from favor.made import A\nclass B(A):\n    X = 2\n")
    assert project.taken() != before


def test_what_importing_a_file_runs_counts(project) -> None:
    """Registration by a decorator, a call or a private function; a changed attribute; a library's effect."""
    project.write("script.py", "from favor.made import f\nf()\n")
    found = set()
    for text in (
        "",
        "@go\ndef g():\n    return 1\n",
        "@go\ndef g():\n    return 2\n",
        "def g():\n    return 1\nX = go(g)\n",
        "def g():\n    return 2\nX = go(g)\n",
        "def g():\n    return 1\nX = _go(g)\n",
        "def g():\n    return 2\nX = _go(g)\n",
        "go.x = 1\n",
        "go.x = 2\n",
        "if go:\n    import atexit\n    atexit.register(f)\n",
        "for each in (1, 2): go(each)\n",
        "import readline\n",
    ):
        project.write(
            "favor/made.py", f"def go(x):\n    return x\ndef _go(x):\n    return x\ndef f():\n    return 1\n{text}"
        )
        found.add(project.taken())
    assert len(found) == 12


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
        "import importlib\ndef f(name='favor.ground'):\n    return importlib.import_module(name)",
        "def f():\n    return add.__doc__",
        "from typing import get_type_hints\ndef f():\n    return get_type_hints(add)",
    ],
)
def test_code_that_cannot_be_followed_is_refused_where_a_job_reaches_it(project, way) -> None:
    project.write("favor/made.py", f"from favor.ground import add\n{way}\n")
    assert project.taken()  # nobody reaches it
    project.write("script.py", "from favor.made import f\nf()\n")
    with pytest.raises(UserError, match="finds code that no fingerprint can follow"):
        project.taken()


@pytest.mark.parametrize(
    "way",
    [
        "from pathlib import Path\ndef f():\n    return (Path(__file__).parent / 'd.csv').read_text()",
        "from pathlib import Path\ndef f():\n    return Path(__file__).with_name('d.csv').read_text()",
        "from importlib import resources\ndef f():\n    return resources.files('favor').joinpath('d.csv').read_text()",
        "from pathlib import Path\ndef f():\n    return [p for p in (Path(__file__).parent / 'data').iterdir()]",
    ],
)
def test_a_file_beside_the_code_that_it_reads_counts(project, way) -> None:
    project.write("favor/made.py", way + "\n")
    project.write("favor/d.csv", "1\n")
    project.write("favor/data/e.csv", "1\n")
    project.write("favor/unread.csv", "1\n")
    project.write("script.py", "from favor.made import f\nf()\n")
    before = project.taken()
    project.write("favor/unread.csv", "2\n")
    assert project.taken() == before
    project.write("favor/d.csv" if "d.csv" in way else "favor/data/e.csv", "2\n")
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
        ("raise Refused('too long')", "too", "very", True),  # another error's words may be kept
        ("assert x, 'message'", "message", "other", True),
        ("assert x == 'a', 'message'", "'a'", "'b'", True),
        ("import sys\nprint('done', x, file=sys.stderr)", "done", "made", False),
        ("print('done', x)", "done", "made", True),
        ("Progress('texts', 3)", "texts", "words", False),
        ("Progress('texts', 3)", "3", "4", True),
        ("print({'note': 'too few texts'})", "few", "many", True),
        (f"{DECLARED}Column('a', 'int64', 'its words', 'words')", "its", "the", False),
        (f"{DECLARED}Column('a', 'int64', 'its words', 'words')", "'words'", "''", False),
        (f"{DECLARED}Column('a', 'int64', meaning='x')", "'x'", "'y'", False),
        (f"{DECLARED}Column('a', 'int64', 'its words', 'words')", "'a'", "'b'", True),
        (f"{DECLARED}print(Column('a', 'b', 'x').meaning)", "'x'", "'y'", True),
        ("Column('a', 'b', 'c', 'd')", "'d'", "'e'", True),  # another class
        (f"{DECLARED}getattr(Column('a', 'b', 'x'), 'meaning')", "'x'", "'y'", True),
        ("import sys\nd = {}\nprint(d.pop('a'), file=sys.stderr)", "'a'", "'b'", True),  # an effect
        ("import sys\nd = {}\nprint('with', d['a'], file=sys.stderr)", "'with'", "'of'", False),
        (KEY, "its words", "its meaning", False),
        (KEY, "ge=1", "ge=2", True),
        (KEY, "Annotated[int, 5]", "Annotated[int, 6]", True),
        (KEY, "key(3", "key(4", True),
        (KEY, "draws: ", "samples: ", True),
        (KEY, "print", "    other: int = key(5, 'nobody reads it')\nprint", True),
        ("import numpy as np\nnp.mean(x)", "numpy as np", "cupy as np", True),
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
    project.write("favor/scores/other.py", FILES["favor/scores/other.py"].replace("VALUE = 1", "VALUE = 2"))
    assert project.taken("favor.scores.other") != both
    assert project.taken("favor.scores.other:score") == one


def test_a_definition_that_moves_is_the_same_and_another_of_its_name_is_not(project) -> None:
    before = project.taken()
    project.write("favor/below.py", FILES["favor/ground.py"])
    project.write("favor/ground.py", "")
    project.write("favor/scores/auc.py", FILES["favor/scores/auc.py"].replace("favor.ground", "favor.below"))
    assert project.taken() == before
    project.write("favor/below.py", FILES["favor/ground.py"].replace("a + b", "a * b"))
    assert project.taken() != before


def test_two_definitions_of_one_name_that_change_places_are_seen(project) -> None:
    project.write("favor/below.py", "def add(a, b):\n    return a * b\n")
    text = "from favor.ground import add as one\nfrom favor.below import add as two\none(two(1, 2), 3)\n"
    project.write("script.py", text)
    before = project.taken()
    project.write("script.py", text.replace("one\n", "x\n").replace("two\n", "one\n").replace("x\n", "two\n"))
    assert project.taken() != before


def test_unknown_modules_relative_imports_and_broken_syntax_are_named(project) -> None:
    with pytest.raises(UserError, match=r"no module 'favor\.scores\.missing'"):
        project.taken("favor.scores.missing")
    project.write("favor/ground.py", "from . import scores\n")
    with pytest.raises(UserError, match="relative import"):
        project.taken()
    project.write("favor/ground.py", "def (:\n")
    with pytest.raises(UserError, match=r"ground\.py:1"):
        project.taken()
