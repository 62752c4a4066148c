"""What an edit reruns: exactly the jobs whose result it can change, read off a dry run after a whole run."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import yaml

from favor.report.specs import load_spec

ROOT = Path(__file__).resolve().parents[2]
CONFIGURATION = yaml.safe_load((ROOT / "tests" / "data" / "planned.yaml").read_text())
SPECS = [load_spec(label) for label in CONFIGURATION["experiments"]["demo"]["tables"]]
PAIRED = sum(spec.comparisons is not None for spec in SPECS)
# What any change of scores ends in.
END = {"write_numbers": 1, "report": 1}
EVERYTHING_PER_METHOD = {"train_shared", "train_personal", "generate"}


def showing(*families):
    """How many tables show scores of some of the families."""
    return sum(bool(set(families) & set(spec.sources)) for spec in SPECS)


@pytest.fixture
def project(stubbed):
    """The stubbed project; every file an edit touched is put back."""
    yield stubbed
    stubbed.restore()


def test_a_whole_run_leaves_nothing_to_do(project):
    assert project.planned() == {}
    assert "Nothing to be done" in project.snakemake().stdout


def test_the_equal_error_rate_reruns_the_verification_scores_and_what_shows_them(project):
    project.edit("src/favor/scores/verification.py", "interpolated: bool = False) -> float:", "interpolated=True):")
    # Source-space scores are verification too, of human texts.
    assert project.planned() == {"score": 2, "make_table": showing("verification", "source_space"), **END}


def test_a_metric_family_reruns_its_scores_its_tables_and_its_figures(project):
    project.edit("src/favor/scores/utility.py", "def score(", "def score(*new, ")
    figures = {"draw_figure": 1, "write_numbers": 1}
    assert project.planned() == {"score": 1, "make_table": showing("utility"), "report": 1, **figures}


def test_settings_of_a_family_rerun_that_family(project):
    project.edit(
        "config/config.yaml",
        "assistant: demo\n",
        "assistant: demo\n      scores: { mauve: { kmeans_seeds: [1, 2] } }\n",
    )
    tables = showing("mauve")
    assert project.planned() == {"score": 1, "make_table": tables, "report": 1, "record_settings": 1}


TABLES = "src/favor/report/tables"
FIGURES = "src/favor/report/figures"


@pytest.mark.parametrize(
    ("file", "old", "new", "planned"),
    [
        # What a table of comparisons says of itself reruns no test; which methods it compares does.
        (
            f"{TABLES}/phase1_ablation_paired_tests.py",
            'title="Paired component-ablation tests"',
            'title="Paired tests of the components"',
            {"make_table": 1, **END},
        ),
        (
            f"{TABLES}/phase1_ablation_paired_tests.py",
            'pairs=(("favor", "favor_without_asce"),',
            'pairs=(("favor", "fedavg"),',
            {"compare_methods": 1, "make_table": 1, **END},
        ),
        (
            "src/favor/statistics/bootstrap.py",
            "DRAWS = 10_000",
            "DRAWS = 20_000",
            {"compare_methods": PAIRED, "make_table": PAIRED, **END},
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
def test_an_edit_of_statistics_figures_or_numbers(project, file, old, new, planned):
    project.edit(file, old, new)
    assert project.planned() == planned


def test_the_draws_of_the_bootstrap_rerun_the_paired_tests(project):
    project.edit(
        "config/config.yaml", "semantic_encoder: minilm", "semantic_encoder: minilm\n      bootstrap: { draws: 500 }"
    )
    planned = project.planned()
    assert planned == {"compare_methods": PAIRED, "make_table": PAIRED, "record_settings": 1, **END}


def test_a_hyper_parameter_of_one_method_reruns_that_method_alone(project):
    project.edit("config/config.yaml", "favor: {}", "favor: { lambda_align: 0.5 }")
    planned = project.planned()
    # FAVoR's private stage of both seeds, its continuations, and what measures all runs together.
    assert planned["train_personal"] == 2
    assert planned["generate"] == 2
    assert not {"train_shared", "aggregate", "train_asce", "pretrain_base", "embed_sources"} & planned.keys()


def test_the_file_of_one_method_reruns_that_method_alone(project):
    project.edit("src/favor/federation/methods/ditto.py", "lambda_ditto: float = 0.01", "lambda_ditto: float = 0.02")
    planned = project.planned()
    # A carried adapter is trained at every participation: three rounds of both seeds.
    assert planned["train_personal"] == 6
    assert planned["generate"] == 2
    assert not {"train_shared", "aggregate", "train_asce", "pretrain_base", "embed_sources"} & planned.keys()


def test_a_hyper_parameter_of_a_shared_stage_reruns_its_track(project):
    project.edit("config/config.yaml", "fedprox: {}", "fedprox: { lambda_prox: 0.1 }")
    planned = project.planned()
    # A new track of three rounds for both seeds; FAVoR keeps the old one, Ditto and FedAvg theirs.
    assert planned["train_shared"] == planned["aggregate"] == 6
    assert "train_personal" not in planned
    assert planned["generate"] == 2


def planned_contains(project, *rules):
    return set(rules) <= project.planned().keys()


def test_swapped_values_of_two_keys_are_seen(project):
    project.edit("config/config.yaml", "lora: { rank: 8, alpha: 16 }", "lora: { rank: 16, alpha: 8 }")
    assert planned_contains(project, "initialise_server", "train_shared", "generate")


def test_generation_settings_retrain_nothing(project):
    project.edit("config/config.yaml", "max_new_tokens: 64", "max_new_tokens: 60")
    planned = project.planned()
    assert planned.get("generate") == 8, planned
    assert not {"train_shared", "train_personal", "aggregate"} & planned.keys()


def test_words_comments_and_new_functions_rerun_nothing(project):
    for file, old, new in (
        ("src/favor/foundation/files.py", "def write_text(", "def new() -> int:\n    return 1\n\n\ndef write_text("),
        ("src/favor/foundation/files.py", "not whole JSON", "broken JSON"),
        ("src/favor/foundation/columns.py", '"training seed"', '"seed of the training"'),
        ("src/favor/running/job.py", "the job goes on without its log", "the job goes on"),
        ("src/favor/federation/methods/favor.py", '"""FAVoR: a shared', '"""FAVoR, in other words: a shared'),
        ("workflow/scripts/make_demo_corpus.py", "if False:", "# a comment\nif False:"),
        ("workflow/rules/scores.smk", "# Scores: cheap,", "# Scores: very cheap,"),
        ("config/config.yaml", "# The embedded demo:", "# The embedded demonstration:"),
    ):
        project.edit(file, old, new)
    assert project.planned() == {}


def test_a_definition_shared_by_training_retrains(project):
    project.edit("src/favor/lm/training.py", "_MEASURED_STEPS = ", "_MEASURED_STEPS = 1 + ")
    planned = project.planned()
    assert planned.keys() >= EVERYTHING_PER_METHOD
    assert not {"pretrain_base", "train_asce", "build_documents", "embed_sources"} & planned.keys()


def test_a_new_method_trains_and_generates_alone(project):
    row = "favor_strong: { method: favor, lambda_align: 0.7 }"
    project.edit("config/config.yaml", "      favor: {}\n", f"      favor: {{}}\n      {row}\n")
    planned = project.planned()
    assert planned["train_personal"] == 2
    assert planned["generate"] == 2
    assert "train_shared" not in planned  # it shares the track of FAVoR and FedProx


def test_clients_per_job_replans_training_under_other_names(project):
    project.edit("config/config.yaml", "clients_per_job: null", "clients_per_job: 2")
    # Three jobs a round where there was one, for two tracks, three rounds and two seeds.
    assert project.planned()["train_shared"] == 36


def test_results_without_records_of_what_made_them_are_refused(project):
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


def test_what_changed_is_said_and_kept_where_the_user_accepts_it(project):
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


def test_a_changed_configuration_key_is_named(project):
    project.edit("config/config.yaml", "max_new_tokens: 64", "max_new_tokens: 60")
    said = project.snakemake("-n").stdout
    assert "generate: configuration `generation.max_new_tokens` changed: 8 jobs" in said
