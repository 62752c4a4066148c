"""A wrong configuration or a broken input ends in one clear line, early, and without a Python traceback."""

from __future__ import annotations

import shutil

import pytest

from tests.workflow.conftest import copy_project


@pytest.fixture
def project(repository, tmp_path):
    """A fresh copy with the micro configuration."""
    made = copy_project(repository, tmp_path / "project")
    shutil.copy(repository / "tests" / "data" / "micro.yaml", made.folder / "micro.yaml")
    return made


def refused(project, *arguments):
    """The output of a run that must fail without a traceback."""
    done = project.snakemake("--configfile", "micro.yaml", *arguments, check=False)
    assert done.returncode == 1
    assert "Traceback" not in done.stdout
    return done.stdout


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "{ learning_rate: 0.002, accumulation",
            "{ learning_rat: 0.002, accumulation",
            "did you mean 'learning_rate'?",
        ),
        ("rounds: 2", "rounds: 2, rounds: 3", "'experiments.micro.federation.rounds' is given twice; remove one"),
        ("rounds: 2", "rounds: two", "'experiments.micro.federation.rounds': expected integer, found 'two'"),
        ("clients_per_round: 2", "clients_per_round: 9", "9 clients a round, but only 4 clients"),
        ("prefix_tokens: 16", "prefix_tokens: 500", "does not fit the model's context of 128"),
        (
            "      favor: {}\n",
            "      favor: { lambda_aling: 1 }\n",
            "'experiments.micro.methods.favor.lambda_aling'; did you mean 'lambda_align'?",
        ),
        (
            "      favor: {}\n",
            "      favor: { lambda_align: 1e-3 }\n",
            "expected float, found '1e-3'; YAML reads 2e-4 as text, write 2.0e-4",
        ),
        (
            "    evaluation:\n",
            "    evaluation:\n      scores: { verification: { variants: abc } }\n",
            "'experiments.micro.evaluation.scores.verification.variants': expected list, found 'abc'",
        ),
        (
            "model: embedded-minilm, layer",
            "model: ./no/such/folder, layer",
            "'experiments.micro.evaluation.bertscore.model': there is no folder './no/such/folder'",
        ),
        ("lora: { rank", "lora: { target_modules: [q_prj], rank", "did you mean 'q_proj'?"),
        ("lora: { rank", "lora: { target_modules: [q_proj, q_proj], rank", "names something twice"),
    ],
)
def test_a_wrong_configuration_stops_before_any_job(project, old, new, message):
    project.edit("micro.yaml", old, new)
    output = refused(project)
    assert message in output
    assert "rule " not in output
    assert not (project.folder / "results").exists()


def test_a_missing_corpus_is_named(project):
    project.edit("micro.yaml", "demo: { authors:", "path: missing.csv\n    demo: null # { authors:")
    assert "missing.csv does not exist" in refused(project)


def test_a_configuration_without_a_corpus_path_says_how_to_give_one(repository, project):
    shutil.copy(repository / "config" / "blogtext.yaml", project.folder / "micro.yaml")
    assert "--config corpus_path=" in refused(project)


def test_a_corpus_with_a_missing_column_is_named(project):
    (project.folder / "raw.csv").write_text("id,date,text\n1,x,hello\n")
    project.edit("micro.yaml", "demo: { authors:", "path: raw.csv\n    demo: null # { authors:")
    output = refused(project)
    assert "error in build_documents:" in output
    assert "topic" in output


def test_too_few_authors_say_how_many_there_are(project):
    project.edit("micro.yaml", "clients: 4, asce_a: 4", "clients: 40, asce_a: 4")
    output = refused(project)
    assert "error in assign_roles: roster:" in output
    assert "lower 'roles.clients'" in output


def test_a_file_in_the_place_of_the_results_folder_is_named(project):
    (project.folder / "results").write_text("a file where the folder should be")
    done = project.snakemake("--configfile", "micro.yaml", check=False)
    assert done.returncode == 1
    assert "error: results folder 'results': 'results' is a file, not a folder" in done.stdout
    assert "Traceback" not in done.stdout


def test_a_missing_model_folder_is_named(project):
    project.edit(
        "micro.yaml",
        "    pretrain:\n      corpus: micro",
        "    source: ./no-such-model\n    pretrain: null\n  unused:\n    pretrain:\n      corpus: micro",
    )
    assert "no-such-model" in refused(project)


def test_a_dry_run_changes_no_file(project):
    project.snakemake("-n", "--configfile", "micro.yaml")
    assert not (project.folder / "results").exists()
    (project.folder / "results").mkdir()
    (project.folder / "results" / "half.parquet").write_bytes(b"PAR1")
    output = project.snakemake("-n", "--configfile", "micro.yaml").stdout
    assert "a real run sets it aside" in output
    assert (project.folder / "results" / "half.parquet").exists()


def test_the_default_profile_is_in_force(project):
    assert "Using workflow specific profile" in project.snakemake("-n", "--configfile", "micro.yaml").stdout


def test_the_demo_is_found_from_another_folder(project, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    assert project.planned("--directory", str(elsewhere))["pretrain_base"] == 1
