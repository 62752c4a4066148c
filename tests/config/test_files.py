"""What a YAML loader lets pass in silence is refused with file and line."""

import pytest
from tests.exports.conftest import refusal
from tests.plan.conftest import ROOT

from favor.config.files import check_files, read_files
from favor.foundation.errors import UserError


def said(folder, content) -> str:
    path = folder / "c.yaml"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return refusal(check_files, [path]).replace(str(path), "c.yaml")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a: 1\nb: 2\na: 3\n", "c.yaml, lines 1 and 3: config key 'a' is given twice; remove one"),
        ("e:\n  d:\n    r: 1\n    r: 1\n", "c.yaml, lines 3 and 4: config key 'e.d.r' is given twice; remove one"),
        ("x: &x {s: 5}\nd:\n  <<: *x\n  <<: *x\n", "c.yaml, lines 3 and 4: config key 'd.<<' is given twice; write"),
        ("p: [{l: 1}, {l: 2, l: 3}]\n", "c.yaml, lines 1 and 1: config key 'p[1].l' is given twice; remove one"),
        ('{"a": 1,\n\t"a": 2}', "c.yaml, lines 1 and 2: config key 'a' is given twice; remove one"),
        ("t: !!python/name:os.system\n", "c.yaml, line 1: config key 't': the tag '!!python/name:os.system' is not"),
        ("t: !own 3\n", "the tag '!own' is not supported; remove it"),
        ("m:\n  no: {}\n", "c.yaml, line 2: config key 'm.no': YAML does not read no as text; put it in quotes"),
        ("m: {2024-01-01: {}}\n", "config key 'm.2024-01-01': YAML does not read 2024-01-01 as text; put it in quotes"),
        ("m: {012: {}}\n", "config key 'm.012': YAML does not read 012 as text; put it in quotes"),
        ("s: 010\n", "c.yaml, line 1: config key 's': YAML reads 010 as the number 8; write 8, or '010' in quotes"),
        ("s: 1:30\n", "YAML reads 1:30 as the number 90"),
        ("a:\n  b: 2026-02-30\n", "c.yaml, line 2: config key 'a.b': cannot be read (day is out of range for month)"),
        (f"a: {'9' * 5000}\n", "c.yaml, line 1: config key 'a': cannot be read (Exceeds the limit"),
        ("- a\n- b\n", "c.yaml: holds no keys"),
        ("null\n", "c.yaml: holds no keys"),
        ("", "c.yaml: holds no keys"),
        ("a: [1\nb: 2\n", "c.yaml, line 2: not YAML"),
        ("a: 1\n---\nb: 2\n", "c.yaml, line 2: not YAML"),
        ("a: \0\n", "c.yaml: not YAML"),
        ("? [a]\n: 1\n", "c.yaml, line 1: a key of '' is not text"),
        ('a: "x\\0y"\n', "c.yaml, line 1: config key 'a': holds a NUL character; remove it"),
        ("a: *b\n", "c.yaml, line 1: not YAML"),
        ("a:\n\tb: 1\n", "c.yaml, line 2: not YAML (found character that cannot start any token); correct it"),
        (b"\x89PNG\r\n", "c.yaml: not a text file in UTF-8"),
        (b"t: caf\xe9\n", "c.yaml: not a text file in UTF-8"),
    ],
)
def test_one_line_names_the_file_and_the_line(tmp_path, content, message) -> None:
    assert message in said(tmp_path, content)


def test_a_missing_file_is_named(tmp_path) -> None:
    assert "no.yaml: cannot be read" in refusal(check_files, [tmp_path / "no.yaml"])


@pytest.mark.parametrize("posts", ["posts.csv", ""])
def test_posts_in_the_place_of_a_configuration_lead_to_init(tmp_path, posts) -> None:
    (tmp_path / "posts.csv").write_text("author,text\n")
    with pytest.raises(UserError, match=f"holds no configuration.*'favor init {tmp_path / posts}' writes one"):
        check_files([tmp_path / posts])


def test_what_only_the_values_show_is_one_line_too(tmp_path) -> None:
    path = tmp_path / "c.yaml"
    path.write_text("a: 1\nb: { <<: 3 }\n")
    with pytest.raises(UserError, match=r"line 2: not YAML \(expected a mapping or list of mappings for merging"):
        read_files([path])


def test_json_may_hold_tabs(tmp_path) -> None:
    path = tmp_path / "c.json"
    path.write_text('{"a":\t1}')
    assert read_files([path]) == {"a": 1}


def test_anchors_merges_and_the_files_of_the_project_pass(tmp_path) -> None:
    path = tmp_path / "c.yaml"
    path.write_text("a: &a { x: 0, y: 0x10, z: 1_000 }\nb: { <<: *a, x: 2 }\nc: *a\nd: '010'\ne: 2026-01-02\n")
    check_files([path, *(ROOT / "config").rglob("*.yaml"), *(ROOT / "tests" / "data").glob("*.yaml")])
