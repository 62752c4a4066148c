"""A wrong configuration or a broken input ends in one clear line, early, and without a Python traceback."""

import pytest

from tests.shortest import jobs_begun
from tests.workflow.conftest import Project, copy_project

pytestmark = pytest.mark.slow(15)


@pytest.fixture
def project(repository, tmp_path) -> Project:
    return copy_project(repository, tmp_path / "project", "micro.yaml")


def refused(project, *arguments) -> str:
    done = project.snakemake("--configfile", "micro.yaml", *arguments, check=False)
    assert done.returncode == 1
    assert "Traceback" not in done.stdout
    return done.stdout


def test_a_wrong_configuration_stops_before_any_job(project) -> None:
    project.edit("micro.yaml", "rounds: 2", "rounds: 2, rounds: 3")
    output = refused(project)
    assert "'experiments.micro.federation.rounds' is given twice; remove one" in output
    assert not jobs_begun(output)
    assert not (project.folder / "results").exists()


def test_a_dry_run_reads_the_default_profile_and_changes_no_file(project) -> None:
    assert "Using workflow specific profile" in project.snakemake("-n", "--configfile", "micro.yaml").stdout
    assert not (project.folder / "results").exists()
    (project.folder / "results").mkdir()
    (project.folder / "results" / "mine.parquet").write_bytes(b"PAR1")
    project.snakemake("-n", "--configfile", "micro.yaml")
    assert [path.name for path in (project.folder / "results").iterdir()] == ["mine.parquet"]


def test_code_that_changes_while_a_run_is_on_ends_the_job_and_keeps_nothing_of_it(project) -> None:
    """The job itself edits what it reaches, as a hand would do while it runs."""
    edit = (
        "    from pathlib import Path\n\n"
        "    code = Path('src/favor/foundation/files.py')\n"
        "    code.write_text(code.read_text().replace('prefix=f\".{', 'prefix=f\"..{'))\n"
    )
    script = "workflow/scripts/make_demo_corpus.py"
    start = "with job(snakemake, DemoCorpus) as settings:\n"
    project.edit(script, start, f"{start}{edit}")
    target = "results/corpora/micro/raw.csv"
    output = refused(project, "--cores", "1", "--", target)
    assert "error in make_demo_corpus: its code changed after the run had started" in output
    assert not (project.folder / target).exists()
    # The edit is there to stay: the next run plans it, and goes on.
    project.edit(script, edit, "")
    project.snakemake("--configfile", "micro.yaml", "--cores", "1", "--", target)
    assert (project.folder / target).is_file()
