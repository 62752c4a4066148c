"""Any bytes as a configuration file: the workflow can be planned, or one line says what is wrong and where."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.properties.test_readers import SETTINGS, damaged

from favor.config.files import read_files
from favor.config.resolve import resolve
from favor.foundation.errors import UserError
from favor.plan import Planner

ROOT = Path(__file__).resolve().parents[2]
DEMO = (ROOT / "config" / "config.yaml").read_bytes()
PIECES = [b":", b"\t", b"- ", b"{", b"]", b"&a ", b"*a", b"<<: ", b"~", b"---\n", b"%", b"\0", b"\xff", b"0o17"]
PIECES += [b"1e400", b"!!python/name:os.system ", b"\xe2\x80\xa8", b"'", b"| ", b"? ", b"null: "]


def refusal(content) -> str:
    """What is said of a file; nothing where its jobs can be planned."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "config.yaml"
        path.write_bytes(content)
        try:
            Planner(resolve(read_files([path])), ROOT).targets.everything()
        except UserError as error:
            return str(error)
    return ""


@pytest.mark.slow(3)
@settings(SETTINGS, max_examples=150)
@example(b"a: &a\n  b: *a\n")
@example(b"a: &a [*a]\n")
@example(b"a: " + b"[" * 3000)
@example(b"experiments: {x: {<<: {corpus: a}}}\n")
@given(damaged(DEMO, PIECES, longest=30) | st.binary(max_size=40))
def test_a_file_is_planned_or_one_line_says_why_not(content) -> None:
    assert "\n" not in refusal(content)


def test_the_demo_is_planned() -> None:
    assert refusal(DEMO) == ""


@pytest.mark.parametrize("content", [b"", b"null\n", b"[]\n", b"text\n", b"\xff\xfe\0"])
def test_a_file_without_keys_is_one_line(content) -> None:
    assert refusal(content)
