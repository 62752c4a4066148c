"""Which file a job is given as what, and by which libraries results were made."""

from types import SimpleNamespace

import pytest
from snakemake.iocontainers import InputFiles

from favor.foundation.errors import UserError
from favor.running.invalidation import job_inputs
from favor.running.invalidation.job_inputs import input_output_digest, installed


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


def handed(changed) -> tuple[str, str]:
    """The parameter of a rule with these inputs and outputs, some of them changed."""
    inputs, outputs = ({name: changed.get(name, file) for name, file in each.items()} for each in (INPUTS, OUTPUTS))
    return input_output_digest(SimpleNamespace(input=files(**inputs), output=files(**outputs)))(None)


@pytest.mark.parametrize(
    "change",
    [
        {"generations": "b.parquet", "prompts": "a.parquet"},  # two inputs change places
        {"embeddings": ["e.parquet", "d.parquet", "c.parquet"]},  # a list is reversed
        {"embeddings": ["d.parquet", "c.parquet", "e.parquet"]},
        {"prompts": ["b.parquet"]},  # a list of one is not a file
        {"prompts": lambda wildcards: "c.parquet"},  # a function is asked
        {"prompts": [], "embeddings": ["b.parquet", "c.parquet", "d.parquet", "e.parquet"]},
        {"scores": "g.parquet", "other": "f.parquet"},  # two outputs change places
        {"generations": [], "prompts": "a.parquet", "embeddings": ["b.parquet", "c.parquet", "d.parquet", "e.parquet"]},
    ],
)
def test_files_that_are_handed_over_otherwise_are_seen(change) -> None:
    kind, digits = handed({})
    assert kind == "handed_over"
    assert (kind, digits) == handed({})
    assert (kind, digits) != handed(change)


def test_versions_are_those_of_the_libraries_that_compute() -> None:
    import torch

    kind, versions = installed()
    assert kind == "libraries"
    assert f"torch {torch.__version__}" in versions or f"torch {torch.__version__.split('+')[0]}" in versions
    names = [pair.split()[0] for pair in versions.split(", ")]
    assert names == sorted(names)


def test_a_library_that_is_not_there_is_a_dash(monkeypatch) -> None:
    def missing(name) -> str:
        raise job_inputs.PackageNotFoundError(name)

    monkeypatch.setattr(job_inputs, "version", missing)
    assert installed.__wrapped__()[1].startswith("numpy -, peft -")


def test_a_cut_record_of_own_files_is_named(tmp_path) -> None:
    (tmp_path / "record.json").write_text('{"posts.csv": [')
    with pytest.raises(UserError, match=r"record\.json: not complete JSON .*; delete it and run again"):
        job_inputs.check_local_files({"posts.csv": "0"}, tmp_path / "record.json")
