"""The pages that the documentation site makes from the code: messages with what is filled in by name."""

from __future__ import annotations

import importlib.util
from types import ModuleType

import pytest

SOURCE = """
REMEDY = "choose another folder"
FILE = "lock.json"


def check(folder, names, row):
    if not names:
        raise UserError(f"{folder / FILE}: {len(names):,} of {', '.join(sorted(names))}; {REMEDY}")
    refuse(f"{row['key']}.path", f"{folder!r} is not a {type(names).__name__} *file*; correct it")
    raise UserError("short")
"""


@pytest.fixture(scope="module")
def hooks(repository) -> ModuleType:
    spec = importlib.util.spec_from_file_location("hooks", repository / "docs" / "_site" / "hooks.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_message_names_what_is_filled_in(hooks, tmp_path) -> None:
    (tmp_path / "part.py").write_text(SOURCE)
    assert sorted(hooks.messages(tmp_path / "part.py")) == [
        r"config key '{key}.path': {folder} is not a {names} \*file\*; correct it",
        "{folder}/lock.json: {names} of {names}; choose another folder",
    ]


def test_every_part_of_the_package_that_refuses_something_has_a_section(hooks) -> None:
    page = hooks.messages_page()
    for part in ("config", "corpora", "federation", "running", "studies"):
        assert f"\n## {part}\n" in page
    assert "{_}" not in page
