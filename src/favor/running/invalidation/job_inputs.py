"""Parameters of every job beside its settings and code: names and order of its files, the user's files, and libraries.

Each is a parameter of every rule, told from others by being (kind, value):

- ``handed_over``: Snakemake compares the set of input files, not their names or order, so that two inputs that change
  places, or a list that is reversed, would be the same.
- ``local_files``: digests of what a job reads beside the workflow's own files: inputs from outside the results folder,
  and folders that its configuration names (base models, encoders, adapters). Other bytes under the same name run again,
  whatever their time. So these inputs are ``ancient``.
- ``libraries``: versions of those that can change numbers.
"""

import hashlib
import json
import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Set
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from favor.foundation.errors import UserError
from favor.foundation.file_identity import FileIdentities, appearance, content
from favor.foundation.files import read_json, write_json

FOLDER = ".code"  # of a results folder: what is recorded beside Snakemake's own records
CODE = "FAVOR_CODE"  # names that folder of the run that a job belongs to
STARTED = ".files.json"  # [the checkout, how its files looked]; no result, since times differ between equal runs
HANDED_OVER, LOCAL_FILES, LIBRARIES = "handed_over", "local_files", "libraries"
RECORD, _CORPORA, _LINKS = "local_files.json", "corpora.json", "links"
_COMPUTE = ("numpy", "peft", "scikit-learn", "sentence-transformers", "torch", "transformers")


def job_parameters(results: str, named: Set[str], identities: FileIdentities, rule: Any) -> dict[str, Any]:
    """Return these parameters of a rule by name: functions of wildcards alone, since Snakemake records no others.

    ``results``: the results folder, whose files are the workflow's own. ``named``: the paths that the configuration
    names, with their content.
    """
    items, cfg = list(rule.input), getattr(rule.params, "cfg", None)

    def local_files(wildcards: Any) -> tuple[str, dict[str, str]]:
        if not named:
            return LOCAL_FILES, {}
        read = {text for item in items for text in _texts(_value_of(item, wildcards))}
        # But for links to what is given.
        paths = {path for path in read if not path.startswith(f"{results}/") or f"/{_LINKS}/" in path}
        paths |= named & {*_texts(_value_of(cfg, wildcards))}
        return LOCAL_FILES, {path: identities.of(path) for path in sorted(paths)}

    return {LOCAL_FILES: local_files, HANDED_OVER: input_output_digest(rule), LIBRARIES: installed()}


def input_output_digest(rule: Any) -> Callable[[Any], tuple[str, str]]:
    """Return the function of wildcards that gives digits of what is read and written under which names, in order."""
    from snakemake.io import strip_wildcard_constraints

    def digits(wildcards: Any) -> tuple[str, str]:
        outputs = [strip_wildcard_constraints(str(each)) for each in rule.output]
        names = [
            [(name, len(one) if isinstance(one, list) else None) for name, one in each.items()]
            for each in (rule.input, rule.output)
        ]
        inputs = [_value_of(each, wildcards) for each in rule.input]
        text = json.dumps([names, inputs, outputs], sort_keys=True)
        return HANDED_OVER, hashlib.sha256(text.encode()).hexdigest()[:16]

    return digits


@cache
def installed() -> tuple[str, str]:
    """Return (LIBRARIES, versions): the libraries of this environment that compute, as "name version, ..."."""
    found = []
    for name in _COMPUTE:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:  # an environment that plans need not hold them
            found.append(f"{name} -")
    return LIBRARIES, ", ".join(found)


def given_input(path: str, folder: Path) -> str:
    """Return a path of the user as an input of a rule: its time is ignored, and it may contain any character.

    Snakemake takes words in braces for wildcards and has no way to quote them, so that a link in ``folder`` stands for
    such a path.
    """
    from snakemake.io import ancient, contains_wildcard

    if contains_wildcard(path):
        target = os.path.abspath(path)
        link = folder / _LINKS / hashlib.sha256(target.encode()).hexdigest()[:16] / re.sub("[{}]", "_", Path(path).name)
        if not os.path.lexists(link):
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(target)
        path = str(link)
    marked: str = ancient(path)
    return marked


def check_local_files(planned: Mapping[str, str], record: Path) -> None:
    """Raise ``UserError`` where a file or folder that a job reads is not what it was when the run was planned."""
    looked = read_json(record) if planned and record.is_file() else {}
    for path, digest in planned.items():
        if looked.get(path) != [appearance(path), digest] and content(path) != digest:
            raise UserError(
                f"{path} changed after the run had started, so that nothing made of it is kept; start the run again"
            )


def refuse_other_corpora(results: Path, corpora: Mapping[str, tuple[str, str]], planning: bool) -> None:
    """Refuse another file under the name of a corpus that has results. Raises ``UserError`` that says how to go on.

    ``corpora``: by name the path of the corpus, and a file of ``results`` that is made of it. Unless ``planning``, the
    paths are written down. A folder that holds both moves as one.
    """
    record = results / FOLDER / _CORPORA
    before: dict[str, list[str]] = read_json(record) if record.is_file() else {}
    now = {name: [os.path.abspath(path), os.path.relpath(path, results)] for name, (path, _) in corpora.items()}
    for name, (path, made) in corpora.items():
        if name in before and os.path.exists(made) and not {*before[name]} & {*now[name]}:
            raise UserError(
                f"config key 'corpora.{name}.path': {path} is another path than {before[name][0]}, of which the "
                f"results in {results} are made. Go on with that one (a link there will do), give the other corpus a "
                f"name or results of its own (the key 'results'), or delete {Path(made).parent} to replace it"
            )
    if not planning and {**before, **now} != before:
        write_json({**before, **now}, record)


def _value_of(item: Any, wildcards: Any) -> Any:
    """Return an input or parameter of a rule for one job; a function is called."""
    item = getattr(item, "_file", item)  # what Snakemake wraps, such as unpack(function)
    function = getattr(item, "callable", None) or item
    return function(wildcards) if callable(function) else item


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield str(value)
    elif isinstance(value, Collection):
        for each in value.values() if isinstance(value, Mapping) else value:
            yield from _texts(each)
