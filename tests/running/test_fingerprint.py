"""A fingerprint follows what the code does: not its comments, and not code that the script does not import."""

import pytest

from favor.foundation.errors import UserError
from favor.running import fingerprint as module
from favor.running.fingerprint import fingerprint, first_party_modules

SCRIPT = '"""Script."""\nfrom favor.scores.auc import auc\nprint(auc(1))\n'
FILES = {
    "favor/__init__.py": '"""Package."""\n',
    "favor/scores/__init__.py": "",
    "favor/scores/auc.py": "from favor.ground import add\ndef auc(x):\n    'Doc.'\n    return add(x, 1)\n",
    "favor/scores/other.py": "VALUE = 1\n",
    "favor/ground.py": "def add(a, b):\n    return a + b\n",
}


@pytest.fixture
def project(tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "script.py").write_text(SCRIPT)
    return tmp_path


def taken(project, *modules):
    module._tree.cache_clear()
    module._reachable.cache_clear()
    return fingerprint(project / "script.py", project, modules)


def test_modules_are_followed_transitively(project):
    taken(project)
    assert first_party_modules(project / "script.py", project) == [
        "favor",
        "favor.ground",
        "favor.scores",
        "favor.scores.auc",
    ]


@pytest.mark.parametrize(
    ("file", "text", "changes"),
    [
        ("script.py", SCRIPT.replace("auc(1)", "auc(2)"), True),
        ("script.py", SCRIPT.replace("Script.", "Another docstring."), False),
        ("favor/ground.py", "def add(a, b):\n    return a - b\n", True),
        ("favor/ground.py", "# why\ndef add(a,  b):\n\n    return (a + b)  # sum\n", False),
        ("favor/scores/auc.py", FILES["favor/scores/auc.py"].replace("'Doc.'", "'Other.'"), False),
        ("favor/scores/other.py", "VALUE = 2\n", False),
        ("favor/scores/__init__.py", "import favor.scores.other\n", True),
    ],
)
def test_what_changes_a_fingerprint(project, file, text, changes):
    before = taken(project)
    (project / file).write_text(text)
    assert (taken(project) != before) == changes


def test_a_module_loaded_by_name_counts(project):
    before = taken(project, "favor.scores.other")
    assert before != taken(project)
    (project / "favor/scores/other.py").write_text("VALUE = 2\n")
    assert taken(project, "favor.scores.other") != before


def test_a_docstring_alone_in_a_function_keeps_the_function(project):
    (project / "favor/ground.py").write_text("def add(a, b):\n    'Only this.'\n")
    first = taken(project)
    (project / "favor/ground.py").write_text("def add(a, b):\n    'Only that.'\n")
    assert taken(project) == first


def test_unknown_modules_relative_imports_and_broken_syntax_are_named(project):
    with pytest.raises(UserError, match=r"no module 'favor\.scores\.missing'"):
        taken(project, "favor.scores.missing")
    (project / "favor/ground.py").write_text("from . import scores\n")
    with pytest.raises(UserError, match="relative import"):
        taken(project)
    (project / "favor/ground.py").write_text("def (:\n")
    with pytest.raises(UserError, match=r"ground\.py:1"):
        taken(project)
