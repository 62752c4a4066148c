"""Which file a job is given as what, and by which libraries results were made."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest
from snakemake.iocontainers import InputFiles

from favor.running.invalidation import input_identity
from favor.running.invalidation.changes import Difference
from favor.running.invalidation.input_identity import Libraries, handed_otherwise, handed_over, installed, library_notes


def files(**named) -> InputFiles:
    """Snakemake's list of files; a name with several of them holds a list."""
    found = InputFiles()
    for name, value in named.items():
        parts = value if isinstance(value, list) else [value]
        start = len(found)
        found.extend(parts)
        found._set_name(name, start, end=start + len(parts) if isinstance(value, list) else None)
    return found


INPUTS = {"generations": "a.parquet", "prompts": "b.parquet", "embeddings": ["c.parquet", "d.parquet", "e.parquet"]}
OUTPUTS = {"scores": "f.parquet", "other": "g.parquet"}


def handed(inputs, outputs) -> tuple[str, str]:
    return handed_over(SimpleNamespace(input=inputs, output=outputs))(None)


def test_the_same_files_under_the_same_names_are_the_same() -> None:
    kind, digits = handed(files(**INPUTS), files(**OUTPUTS))
    assert kind == "handed_over"
    assert (kind, digits) == handed(files(**INPUTS), files(**OUTPUTS))


@pytest.mark.parametrize(
    "change",
    [
        {"generations": "b.parquet", "prompts": "a.parquet"},  # two inputs change places
        {"embeddings": ["e.parquet", "d.parquet", "c.parquet"]},  # a list is reversed
        {"embeddings": ["d.parquet", "c.parquet", "e.parquet"]},
        {"prompts": ["b.parquet"]},  # a list of one is not a file
        {"prompts": lambda wildcards: "c.parquet"},  # a function is asked
        {"prompts": [], "embeddings": ["b.parquet", "c.parquet", "d.parquet", "e.parquet"]},
        {"generations": [], "prompts": "a.parquet", "embeddings": ["b.parquet", "c.parquet", "d.parquet", "e.parquet"]},
    ],
)
def test_files_that_are_handed_over_otherwise_are_seen(change) -> None:
    same = {*INPUTS.keys()}
    changed = INPUTS | change
    assert changed.keys() == same
    assert handed(files(**changed), files(**OUTPUTS)) != handed(files(**INPUTS), files(**OUTPUTS))


def test_outputs_that_change_places_are_seen() -> None:
    swapped = {"scores": "g.parquet", "other": "f.parquet"}
    assert handed(files(**INPUTS), files(**swapped)) != handed(files(**INPUTS), files(**OUTPUTS))


def test_what_is_handed_over_otherwise_is_said() -> None:
    page, both, other = (
        handed(files(), files(**outputs))[1]
        for outputs in ({"html": "report.html"}, {"html": "report.html", "pdf": "report.pdf"}, {"html": "page.html"})
    )
    assert handed_otherwise(page, both) == "LaTeX is there now: .pdf is added"
    assert handed_otherwise(both, page) == "LaTeX is not there any more: .pdf is left out"
    assert handed_otherwise(page, other).startswith("it reads or writes other files")


HERE = ("libraries", "numpy 2.4.0, torch 2.14.0, transformers 5.23.0")
BEFORE = repr(("libraries", "numpy 2.4.0, torch 2.13.0, transformers 5.23.0"))


@pytest.fixture
def libraries(tmp_path, monkeypatch) -> Libraries:
    monkeypatch.setattr(input_identity, "installed", lambda: HERE)
    (tmp_path / ".code").mkdir()
    return Libraries(tmp_path, ".code", rerun=False)


def seen(libraries, *jobs) -> None:
    difference = Difference("train_shared", frozenset({BEFORE}), frozenset({repr(HERE)}))
    assert not difference.beside_libraries
    for number in jobs:
        libraries.see("train_shared", (f"{number}.safetensors",), difference)


def test_results_of_other_versions_are_counted_by_version(libraries) -> None:
    assert libraries.lines() == []
    seen(libraries, 1, 2, 2)
    (line,) = libraries.lines()
    assert line == (
        "Made by torch 2.13.0: 2 jobs; you have torch 2.14.0: they are kept (favor run --rerun-other-versions)."
    )


def test_the_report_names_what_stays_of_other_versions(libraries, tmp_path) -> None:
    assert library_notes(tmp_path, ".code") == []
    seen(libraries, 1, 2, 3)
    libraries.write([("3.safetensors",)])  # is made again
    (note,) = library_notes(tmp_path, ".code")
    assert note.startswith("Results of train_shared (2 jobs) were made with numpy 2.4.0, torch 2.13.0")
    assert json.loads((tmp_path / ".code/libraries.json").read_text()) == {BEFORE[15:-2]: {"train_shared": 2}}


def test_versions_are_those_of_the_libraries_that_compute() -> None:
    import torch

    kind, versions = installed()
    assert kind == "libraries"
    assert f"torch {torch.__version__}" in versions or f"torch {torch.__version__.split('+')[0]}" in versions
    names = [pair.split()[0] for pair in versions.split(", ")]
    assert names == sorted(names)


def test_a_library_that_is_not_there_is_a_dash(monkeypatch) -> None:
    def missing(name) -> str:
        raise input_identity.PackageNotFoundError(name)

    monkeypatch.setattr(input_identity, "version", missing)
    assert installed.__wrapped__()[1].startswith("numpy -, peft -")


def test_a_difference_of_versions_changes_no_key_of_what_was_accepted() -> None:
    code = frozenset({"'0123456789abcdef'"})
    plain = Difference("score", code, frozenset({"'fedcba9876543210'"}))
    mixed = Difference("score", code | {BEFORE}, plain.new | {repr(HERE)})
    assert mixed.key == plain.key
    assert mixed.beside_libraries
