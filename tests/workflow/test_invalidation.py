"""What an edit reruns: exactly the jobs whose result it can change, after a whole run.

Edits of the configuration are read off a dry run; edits of the code off the records that Snakemake plans by, which
three dry runs confirm.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from favor.tables.specs import load_spec
from tests.workflow.conftest import Project, planned_jobs
from tests.workflow.reruns import rerun_by_code

pytestmark = pytest.mark.slow(40)

ROOT = Path(__file__).resolve().parents[2]
CONFIGURATION = yaml.safe_load((ROOT / "tests" / "data" / "planned.yaml").read_text())
SPECS = [load_spec(label) for label in CONFIGURATION["experiments"]["demo"]["tables"]]
PAIRED = sum(spec.comparisons is not None for spec in SPECS)
# What any change of scores ends in.
END = {"write_numbers": 1, "report": 1}
# What any change of the bootstrap reruns: every table but the topic audit, in which no cell is better than another.
MARKED = sum(spec.label != "phase1-topic-audit" for spec in SPECS)
COMPARED = {"compare_all": 1, "compare_methods": PAIRED, "score_likelihood": 1}
EVIDENCE = {**COMPARED, "make_table": MARKED, "draw_figure": 2, **END}
EVERYTHING_PER_METHOD = {"train_shared", "train_personal", "generate"}


def showing(*families) -> int:
    """How many tables show scores of some of the families."""
    return sum(bool(set(families) & set(spec.sources)) for spec in SPECS)


@pytest.fixture
def project(stubbed) -> Iterator[Project]:
    """The stubbed project; every file an edit touched is put back."""
    yield stubbed
    stubbed.restore()


def test_a_whole_run_leaves_nothing_to_do(project) -> None:
    assert "Nothing to be done" in project.snakemake().stdout
    assert rerun_by_code(project) == {}


def test_the_equal_error_rate_reruns_the_verification_scores_and_what_shows_them(project) -> None:
    project.edit("src/favor/statistics/roc.py", "interpolated: bool = False) -> float:", "interpolated=True):")
    # Source-space scores are verification too, of human texts.
    expected = {"score": 2, "make_table": showing("verification", "source_space"), **END}
    assert project.planned() == rerun_by_code(project) == expected


def test_a_metric_family_reruns_its_scores_its_tables_and_its_figures(project) -> None:
    project.edit("src/favor/scores/utility.py", "def score(", "def score(*new, ")
    figures = {"draw_figure": 1, "write_numbers": 1}
    assert rerun_by_code(project) == {"score": 1, "make_table": showing("utility"), "report": 1, **figures}


def test_settings_of_a_family_rerun_that_family(project) -> None:
    project.edit(
        "config/config.yaml",
        "assistant: demo\n",
        "assistant: demo\n      scores: { mauve: { kmeans_seeds: [1, 2] } }\n",
    )
    tables = showing("mauve")
    assert project.planned() == {"score": 1, "make_table": tables, "report": 1, "record_settings": 1}


TABLES = "src/favor/tables/declarations"
FIGURES = "src/favor/figures/declarations"


@pytest.mark.parametrize(
    ("file", "old", "new", "planned"),
    [
        # What a table of comparisons says of itself reruns no test.
        (
            f"{TABLES}/statistical_testing.py",
            'title="Paired component-ablation tests"',
            'title="Paired tests of the components"',
            {"make_table": 1, **END},
        ),
        (
            "src/favor/statistics/bootstrap.py",
            "DRAWS = 10_000",
            "DRAWS = 20_000",
            # Seven families draw too, one of them the test of encoders before every table of style.
            {**EVIDENCE, "make_table": len(SPECS), "score": 7, "draw_figure": 10},
        ),
        (
            "src/favor/statistics/rank_agreement.py",
            "power: float = 0.8",
            "power: float = 0.9",
            {"score": 1, "draw_figure": 1, "report": 1},
        ),
        (f"{FIGURES}/generation_map.py", "COLUMNS = 4", "COLUMNS = 5", {"draw_figure": 1, "report": 1}),
        (
            "src/favor/analysis/adapter_energy.py",
            "BLOCK_LAYERS = 6",
            "BLOCK_LAYERS = 2",
            {"measure_allocation": 1, "draw_figure": 1, "report": 1},
        ),
    ],
)
def test_an_edit_of_statistics_figures_or_numbers(project, file, old, new, planned) -> None:
    project.edit(file, old, new)
    assert rerun_by_code(project) == planned


def test_the_draws_of_the_bootstrap_rerun_the_paired_tests(project) -> None:
    project.edit(
        "config/config.yaml", "semantic_encoder: minilm", "semantic_encoder: minilm\n      bootstrap: { draws: 500 }"
    )
    # measure_agreement draws as often, and has a figure.
    agreement = {"score": 1, "draw_figure": EVIDENCE["draw_figure"] + 1}
    assert project.planned() == {**EVIDENCE, **agreement, "record_settings": 1}


def test_the_methods_that_a_table_compares_rerun_its_tests(project) -> None:
    project.edit(
        f"{TABLES}/statistical_testing.py",
        "_ABLATED = Comparisons(_ABLATIONS,",
        '_ABLATED = Comparisons((("favor", "fedavg"), *_ABLATIONS[1:]),',
    )
    assert project.planned() == {"compare_methods": 1, "make_table": 1, **END}


CONFIG = "config/config.yaml"
BEFORE_IT = {"train_shared", "aggregate", "train_asce", "pretrain_base", "embed_sources"}  # a private stage


@pytest.mark.parametrize(
    ("file", "old", "new", "jobs", "none"),
    [
        # FAVoR's private stage of both seeds, its continuations, and what measures all runs together.
        (CONFIG, "favor: {}", "favor: { lambda_align: 0.5 }", {"train_personal": 2, "generate": 2}, BEFORE_IT),
        # A carried adapter is trained at every participation: three rounds of both seeds.
        (
            "src/favor/federation/methods/ditto.py",
            "proximal=values.lambda",
            "proximal=2 * values.lambda",
            {"train_personal": 6, "generate": 2},
            BEFORE_IT,
        ),
        # A new track of three rounds for both seeds; FAVoR keeps the old one, Ditto and FedAvg theirs.
        (
            CONFIG,
            "fedprox: {}",
            "fedprox: { lambda_prox: 0.1 }",
            {"train_shared": 6, "aggregate": 6, "generate": 2},
            {"train_personal"},
        ),
        # A new row, which shares the track of FAVoR and FedProx.
        (
            CONFIG,
            "      favor: {}\n",
            "      favor: {}\n      favor_strong: { method: favor, lambda_align: 0.7 }\n",
            {"train_personal": 2, "generate": 2},
            {"train_shared"},
        ),
        # Three jobs a round where there was one, under other names: two tracks, three rounds and two seeds.
        (CONFIG, "clients_per_job: null", "clients_per_job: 2", {"train_shared": 36}, set()),
    ],
)
def test_an_edit_trains_what_it_changes_and_nothing_beside_it(project, file, old, new, jobs, none) -> None:
    project.edit(file, old, new)
    planned = project.planned()
    assert {rule: planned.get(rule) for rule in jobs} == jobs
    assert not none & planned.keys()


@pytest.mark.parametrize(
    ("file", "old", "new", "rule"),
    [
        # Inputs that are named in the reverse order: embeddings under the names of other encoders.
        (
            "src/favor/plan/evaluation.py",
            "return self.measures_in(key, encoders) | {",
            "return self.measures_in(key, encoders[::-1]) | {",
            "score",
        ),
        # Rules that swap two inputs, and two outputs.
        (
            "workflow/rules/generation.smk",
            "        generations=evaluation.generations,\n        common_generations=evaluation.common_generations,\n",
            "        generations=evaluation.common_generations,\n        common_generations=evaluation.generations,\n",
            "embed_generations",
        ),
        (
            "workflow/rules/generation.smk",
            "        golds=paths.gold_embeddings,\n        common=paths.common_embeddings,\n",
            "        golds=paths.common_embeddings,\n        common=paths.gold_embeddings,\n",
            "embed_generations",
        ),
    ],
)
def test_files_that_are_handed_over_otherwise_rerun_the_job(project, file, old, new, rule) -> None:
    project.edit(file, old, new)
    planned = project.planned()
    assert planned[rule] > 0
    assert planned["make_table"] > 0
    assert not EVERYTHING_PER_METHOD & planned.keys()


def test_no_job_overlooks_two_files_that_change_places_or_a_list_that_is_reversed(project) -> None:
    """Every pair of named inputs and outputs of every job, every list: each changes a parameter of the job."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "src")])}
    command = [sys.executable, "-m", "tests.workflow.handing_over"]
    done = subprocess.run(command, cwd=project.folder, env=environment, check=True, stdout=subprocess.PIPE, text=True)
    found = json.loads(done.stdout)
    assert found["overlooked"] == []
    assert found["mutations"] > 1000
    assert len(found["rules"]) > 35, found["rules"]


def test_a_job_of_a_cluster_records_what_the_next_plan_compares(project) -> None:
    """The Snakemake that submitted it may be gone when it ends; its own record must hold all that a plan looks at."""
    output = sorted(project.folder.glob("results/*/seed*/favor/generations.parquet"))[0]
    made = [(path, path.stat()) for path in output.parent.glob("*.parquet")]
    alone = ("--mode", "remote", "--force", "--nolock", "--allowed-rules", "generate", "--")
    project.snakemake(*alone, str(output.relative_to(project.folder)))
    assert output.stat().st_mtime_ns != dict(made)[output].st_mtime_ns
    for path, before in made:
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert project.planned() == {}


def test_swapped_values_of_two_keys_are_seen(project) -> None:
    project.edit("config/config.yaml", "lora: { rank: 8, alpha: 16 }", "lora: { rank: 16, alpha: 8 }")
    assert project.planned().keys() >= {"initialise_server", "train_shared", "generate"}


def test_generation_settings_are_named_and_retrain_nothing(project) -> None:
    project.edit("config/config.yaml", "max_new_tokens: 64", "max_new_tokens: 60")
    said = project.snakemake("-n").stdout
    assert "generate: configuration `generation.max_new_tokens` changed: 8 jobs" in said
    planned = planned_jobs(said)
    assert planned.get("generate") == 8, planned
    assert not {"train_shared", "train_personal", "aggregate"} & planned.keys()


def test_words_comments_and_new_functions_rerun_nothing(project) -> None:
    for file, old, new in (
        ("src/favor/foundation/files.py", "def write_text(", "def new() -> int:\n    return 1\n\n\ndef write_text("),
        ("src/favor/foundation/files.py", "not complete JSON", "broken JSON"),
        ("src/favor/foundation/schemas.py", '"training seed"', '"seed of the training"'),
        ("src/favor/running/jobs/job_log.py", "the job goes on without its log", "the job goes on"),
        ("src/favor/federation/methods/favor.py", '"""FAVoR: a shared', '"""FAVoR, in other words: a shared'),
        ("workflow/scripts/make_demo_corpus.py", "if False:", "# a comment\nif False:"),
        ("workflow/rules/scores.smk", "# Scores: cheap,", "# Scores: very cheap,"),
        ("config/config.yaml", "# The embedded demo:", "# The embedded demonstration:"),
    ):
        project.edit(file, old, new)
    assert rerun_by_code(project) == project.planned() == {}


def test_a_definition_shared_by_training_retrains(project) -> None:
    project.edit("src/favor/lm/training.py", "def _alike(", "def _alike(*new, ")
    planned = project.planned()
    assert planned == rerun_by_code(project)
    assert planned.keys() >= EVERYTHING_PER_METHOD
    assert not {"pretrain_base", "train_asce", "build_documents", "embed_sources"} & planned.keys()


def test_results_without_records_of_what_made_them_are_refused(project) -> None:
    records, elsewhere = (project.folder / ".snakemake" / name for name in ("metadata", "elsewhere"))
    records.rename(elsewhere)
    try:
        for arguments in (["-n"], ["--cores", "1"]):
            done = project.snakemake(*arguments, check=False)
            assert done.returncode == 1
            assert "has no Snakemake record, so its settings cannot be checked" in done.stdout
            assert "Traceback" not in done.stdout
        assert project.planned("--rerun-triggers", "mtime") == {}
    finally:
        shutil.rmtree(records, ignore_errors=True)
        elsewhere.rename(records)
    assert project.planned() == {}


def test_what_changed_is_said_and_kept_where_the_user_accepts_it(project) -> None:
    project.edit("src/favor/lm/optimiser.py", "class AdamW", "class AdamW(object)")
    said = project.snakemake("-n").stdout
    assert "train_shared: `favor.lm.optimiser.AdamW` changed: 12 jobs" in said
    assert "train_personal: `favor.lm.optimiser.AdamW` changed: 8 jobs" in said
    refused = project.snakemake("-n", "--config", "accept=train_sharde", check=False)
    assert refused.returncode == 1
    assert "there is no stage 'train_sharde'; did you mean 'train_shared'?" in refused.stdout

    accept = ("--config", "accept=[pretrain_base,train_shared,train_personal]")
    assert project.planned(*accept) == {"report": 1}
    record = project.folder / "results" / ".code" / "accepted.json"
    assert not record.exists()
    try:
        said = project.snakemake("--cores", "4", *accept).stdout
        assert "train_shared: `favor.lm.optimiser.AdamW` changed: kept as they are (accept)" in said
        assert record.is_file()
        assert project.planned() == {}
    finally:
        record.unlink(missing_ok=True)
        project.restore()
        project.snakemake("--cores", "4")


JUDGING = {"prepare_judgements", "judge", "score_judges"}
WITH_JUDGES = ("    tables: [main", "    studies: { judges: {} }\n    tables: [main")


def files_of(output, rule, field) -> list[str]:
    """The files of a rule's one job, as a dry run prints them."""
    (block,) = re.findall(rf"^rule {rule}:\n((?:    .*\n)+)", output, flags=re.MULTILINE)
    return re.search(rf"^    {field}: (.*)$", block, flags=re.MULTILINE)[1].split(", ")


@pytest.fixture
def judging(stubbed) -> Iterator[Project]:
    """The stubbed project; the files an edit touched are put back, what judging left is taken away."""
    yield stubbed
    stubbed.restore()
    if stubbed.planned():  # a run with judges wrote down its settings
        stubbed.snakemake()
    for path in ("studies/judges/key.parquet", "studies/judges/judgements.parquet", "scores/judges.parquet"):
        (stubbed.folder / "results" / "demo" / path).unlink(missing_ok=True)
    (stubbed.folder / "results" / "demo" / "clients" / "judge_requests.parquet").unlink(missing_ok=True)


def test_a_configured_judge_is_part_of_a_whole_run_and_reads_no_key(judging) -> None:
    judging.edit("config/config.yaml", *WITH_JUDGES)
    assert judging.planned().keys() >= JUDGING
    output = judging.snakemake("-n").stdout
    assert files_of(output, "judge", "input") == ["results/demo/clients/judge_requests.parquet"]
    assert "results/demo/studies/judges/key.parquet" in files_of(output, "score_judges", "input")


def test_what_concerns_judging_reruns_judging(judging) -> None:
    judging.edit("config/config.yaml", *WITH_JUDGES)
    judging.snakemake()
    assert judging.planned() == {}
    judges = "src/favor/studies/judges"
    for name, function, planned in (
        ("judges", "judge_scores", {"score_judges": 1, **END}),
        ("endpoint", "open_judge", {"judge": 1, "score_judges": 1, **END}),
        ("local", "open_judge", {}),
        ("design", "design_requests", {"prepare_judgements": 1, "judge": 1, "score_judges": 1, **END}),
    ):
        before, after = f"def {function}(", f"def {function}(new=0, *, "
        judging.edit(f"{judges}/{name}.py", before, after)
        assert rerun_by_code(judging) == planned, name
        judging.edit(f"{judges}/{name}.py", after, before)
