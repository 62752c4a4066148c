"""Judges and the publication bundle: planned only when asked for, blind, and rerun by what concerns them alone."""

from __future__ import annotations

import re

import pytest

JUDGING = {"prepare_judgements", "judge", "score_judges"}
CONFIG = "config/config.yaml"
END = {"write_numbers": 1, "report": 1}  # the numbers of the running text quote the judge
WITH_JUDGES = ("    tables: [main", "    studies: { judges: {} }\n    tables: [main")


def files_of(output, rule, field):
    """The files of a rule's one job, as a dry run prints them."""
    (block,) = re.findall(rf"^rule {rule}:\n((?:    .*\n)+)", output, flags=re.MULTILINE)
    return re.search(rf"^    {field}: (.*)$", block, flags=re.MULTILINE)[1].split(", ")


@pytest.fixture
def project(stubbed):
    """The stubbed project; the files an edit touched are put back, what judging left is taken away."""
    yield stubbed
    stubbed.restore()
    if stubbed.planned():  # a run with judges wrote down its settings
        stubbed.snakemake()
    for path in ("studies/judges/key.parquet", "studies/judges/judgements.parquet", "scores/judges.parquet"):
        (stubbed.folder / "results" / "demo" / path).unlink(missing_ok=True)
    (stubbed.folder / "results" / "demo" / "clients" / "judge_requests.parquet").unlink(missing_ok=True)


def test_a_configured_judge_is_part_of_a_whole_run_and_reads_no_key(project):
    project.edit(CONFIG, *WITH_JUDGES)
    assert project.planned().keys() >= JUDGING
    output = project.snakemake("-n").stdout
    assert files_of(output, "judge", "input") == ["results/demo/clients/judge_requests.parquet"]
    assert "results/demo/studies/judges/key.parquet" in files_of(output, "score_judges", "input")


def test_what_concerns_judging_reruns_judging(project):
    project.edit(CONFIG, *WITH_JUDGES)
    project.snakemake()
    assert project.planned() == {}
    studies = "src/favor/studies"
    for name, function, planned in (
        ("judges", "judge_scores", {"score_judges": 1, **END}),
        ("judges_endpoint", "open_judge", {"judge": 1, "score_judges": 1, **END}),
        ("judges_local", "open_judge", {}),
        ("judges_design", "design_requests", {"prepare_judgements": 1, "judge": 1, "score_judges": 1, **END}),
    ):
        before, after = f"def {function}(", f"def {function}(new=0, *, "
        project.edit(f"{studies}/{name}.py", before, after)
        assert project.planned() == planned, name
        project.edit(f"{studies}/{name}.py", after, before)
