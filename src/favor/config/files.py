"""Configuration files, read once more for what Snakemake's own loader lets pass.

That loader takes the last of two equal keys, runs Python tags, and reads 010 as 8 and 1:30 as 90, all in silence.
"""

import json
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from favor.config.extension import merged
from favor.foundation.errors import UserError

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_PLAIN = "tag:yaml.org,2002:"
_KNOWN_TAGS = {
    f"{_PLAIN}{name}" for name in ("map", "seq", "str", "int", "float", "bool", "null", "timestamp", "merge")
}
_OTHER_BASE = re.compile(r"[-+]?0[0-7_]+$|.*:")  # octal, sexagesimal


def check_files(paths: Iterable[str | Path]) -> None:
    """Check the text of configuration files, YAML or JSON.

    Raises ``UserError`` with one line that names the file and its line: a key that is given twice, a tag, a number in
    base 8 or 60, or a file that is not YAML or holds no mapping.
    """
    for path in paths:
        _check_file(Path(path))


def read_files(paths: Iterable[str | Path]) -> dict[str, object]:
    """Return what configuration files hold together, later ones laid over earlier ones, as Snakemake does.

    Raises ``UserError`` as :func:`check_files`.
    """
    config: dict[str, object] = {}
    for path in map(Path, paths):
        _check_file(path)
        config = merged(config, _loaded(path))
    return config


def _loaded(path: Path) -> Any:
    with _one_line(path):
        text = path.read_text(encoding="utf-8-sig")
        return json.loads(text) if _is_json(text) else yaml.load(text, Loader=_Loader)


def _check_file(path: Path) -> None:
    with _one_line(path):
        text = path.read_text(encoding="utf-8-sig")
        # In JSON a tab may stand where YAML has none.
        root = yaml.compose(text.replace("\t", " ") if _is_json(text) else text, Loader=_Loader)
    if not isinstance(root, yaml.MappingNode):
        raise UserError(f"{path}: holds no keys; a configuration file is a mapping such as 'experiments: ...'")
    _check_node(root, path, "", set())


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


@contextmanager
def _one_line(path: Path) -> Iterator[None]:
    """Raise what reading YAML of ``path`` raises as a ``UserError``."""
    if path.is_dir() or path.suffix in (".csv", ".tsv", ".jsonl", ".parquet"):
        raise UserError(f"{path}: holds no configuration; if it holds posts, 'favor init {path}' writes one for them")
    try:
        yield
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror}); correct the path") from None
    except UnicodeDecodeError:
        raise UserError(f"{path}: not a text file in UTF-8; save it as UTF-8") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f", line {mark.line + 1}" if mark else ""
        problem = getattr(error, "problem", None) or getattr(error, "reason", "unreadable")
        raise UserError(f"{path}{line}: not YAML ({problem}); correct it") from None


def _check_node(node: yaml.Node, path: Path, where: str, seen: set[int]) -> None:
    if id(node) in seen:  # an alias
        return
    seen.add(id(node))
    place = f"{path}, line {node.start_mark.line + 1}: config key '{where}'"
    if node.tag not in _KNOWN_TAGS:
        raise UserError(f"{place}: the tag '{node.tag.replace(_PLAIN, '!!')}' is not supported; remove it")
    if isinstance(node, yaml.MappingNode):
        lines: dict[str, int] = {}
        for key, value in node.value:
            line = key.start_mark.line + 1
            if not isinstance(key, yaml.ScalarNode):
                raise UserError(f"{path}, line {line}: a key of '{where}' is not text; correct it")
            inner = f"{where}.{key.value}" if where else f"{key.value}"
            if key.tag not in (f"{_PLAIN}str", f"{_PLAIN}merge"):
                raise UserError(
                    f"{path}, line {line}: config key '{inner}': YAML does not read {key.value or 'an empty name'} as "
                    "text; put it in quotes"
                )
            if key.value in lines:
                remedy = "write one '<<: [*first, *second]'" if key.tag.endswith(":merge") else "remove one"
                raise UserError(
                    f"{path}, lines {lines[key.value]} and {line}: config key '{inner}' is given twice; {remedy}"
                )
            lines[key.value] = line
            _check_node(value, path, inner, seen)
    elif isinstance(node, yaml.SequenceNode):
        for position, item in enumerate(node.value):
            _check_node(item, path, f"{where}[{position}]", seen)
    elif "\0" in node.value:
        raise UserError(f"{place}: holds a NUL character; remove it")
    elif node.tag in (f"{_PLAIN}int", f"{_PLAIN}timestamp"):
        try:
            found = yaml.load(node.value, Loader=_Loader)
        except ValueError as error:
            raise UserError(f"{place}: cannot be read ({error}); correct it, or put it in quotes") from None
        if node.tag == f"{_PLAIN}int" and _OTHER_BASE.match(node.value):
            raise UserError(
                f"{place}: YAML reads {node.value} as the number {found}; write {found}, or '{node.value}' in quotes"
            )
