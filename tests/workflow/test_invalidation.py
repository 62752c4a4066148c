"""What an edit reruns: exactly the jobs whose result it can change, read off a dry run after a whole run."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from favor.report.specs import load_spec

ROOT = Path(__file__).resolve().parents[2]
DEMO = yaml.safe_load((ROOT / "config" / "config.yaml").read_text())["experiments"]["demo"]
TABLES, METHODS = DEMO["tables"], DEMO["methods"]
COMPARED = [label for label in TABLES if load_spec(label).comparisons is not None]
EVERYTHING_PER_METHOD = {"train_shared", "train_personal", "generate"}


def showing(*families):
    """How many tables of the demo show scores of some of the families."""
    return sum(bool(set(families) & set(load_spec(label).sources)) for label in TABLES)


@pytest.fixture
def project(stubbed):
    """The stubbed project; every file an edit touched is put back."""
    texts = {}
    original = stubbed.edit

    class Restoring(type(stubbed)):
        def edit(self, name, old, new):
            texts.setdefault(name, (self.folder / name).read_text())
            original(name, old, new)

    yield Restoring(stubbed.folder)
    for name, text in texts.items():
        (stubbed.folder / name).write_text(text)


def test_a_whole_run_leaves_nothing_to_do(project):
    assert project.planned() == {}
    assert "Nothing to be done" in project.snakemake().stdout


def test_the_equal_error_rate_reruns_the_verification_scores_and_what_shows_them(project):
    project.edit("src/favor/scores/verification.py", "def equal_error_rate(", "VERSION = 2\n\n\ndef equal_error_rate(")
    # Source-space scores are verification too: of human texts.
    tables = showing("verification", "source_space") + len(COMPARED)
    expected = {"score": 2, "compare_methods": len(COMPARED), "make_table": tables, "report": 1, "write_numbers": 1}
    assert project.planned() == expected


@pytest.mark.parametrize(
    ("family", "others"),
    [
        ("utility", {"draw_figures": 1, "write_numbers": 1}),
        ("assistant", {}),
        ("mauve", {}),
        ("topics", {}),
    ],
)
def test_a_metric_family_reruns_its_scores_its_tables_and_its_figures(project, family, others):
    project.edit(f"src/favor/scores/{family}.py", "METRICS = (", "VERSION = 2\nMETRICS = (")
    assert showing(family) > 0
    assert project.planned() == {"score": 1, "make_table": showing(family), "report": 1, **others}


def test_prototypes_also_serve_the_source_space(project):
    project.edit("src/favor/scores/prototypes.py", "METRICS = (", "VERSION = 2\nMETRICS = (")
    others = {"draw_figures": 1, "draw_diagnostics": 1, "measure_participation": 1, "report": 1, "write_numbers": 1}
    tables = showing("prototypes", "source_space") + len(COMPARED)
    assert project.planned() == {"score": 2, "compare_methods": len(COMPARED), "make_table": tables, **others}


def test_settings_of_a_family_rerun_that_family(project):
    project.edit(
        "config/config.yaml",
        "assistant: demo\n",
        "assistant: demo\n      scores: { mauve: { kmeans_seeds: [1, 2] } }\n",
    )
    assert project.planned() == {"score": 1, "make_table": showing("mauve"), "record_settings": 1, "report": 1}


def test_a_table_specification_reruns_that_table_and_the_report(project):
    project.edit(
        "src/favor/report/tables/main_federated_results.py", "TABLE = TableSpec(", "VERSION = 2\nTABLE = TableSpec("
    )
    assert project.planned() == {"make_table": 1, "report": 1, "write_numbers": 1}  # the running text quotes this table


def test_a_hyper_parameter_of_one_method_reruns_that_method_alone(project):
    project.edit("config/config.yaml", "favor: {}", "favor: { lambda_align: 0.5 }")
    planned = project.planned()
    # FAVoR's private stage of both seeds, its continuations, and what measures all runs together.
    assert planned["train_personal"] == 2
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
    assert planned["generate"] == 2 * len(METHODS)
    assert not {"train_shared", "train_personal", "aggregate"} & planned.keys()


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("src/favor/lm/training.py", "from __future__ import annotations", "# why\nfrom __future__ import annotations"),
        ("src/favor/foundation/files.py", "def write_text(", "# a comment\n\n\n\ndef write_text("),
        ("src/favor/federation/methods/favor.py", '"""FAVoR: a shared', '"""FAVoR, in other words: a shared'),
        ("workflow/scripts/make_demo_corpus.py", "if False:", "# a comment\nif False:"),
        ("workflow/rules/scores.smk", "# Scores: cheap,", "# Scores: very cheap,"),
        ("config/config.yaml", "# The embedded demo:", "# The embedded demonstration:"),
    ],
)
def test_comments_docstrings_and_formatting_rerun_nothing(project, file, old, new):
    project.edit(file, old, new)
    assert project.planned() == {}


def test_a_module_shared_by_training_retrains(project):
    first = "from __future__ import annotations"
    project.edit("src/favor/lm/training.py", first, f"{first}\nX = 1")
    planned = project.planned()
    assert planned.keys() >= EVERYTHING_PER_METHOD
    assert not {"pretrain_base", "train_asce", "build_documents", "embed_sources"} & planned.keys()


def test_a_new_method_trains_and_generates_alone(project):
    row = "favor_again: { method: favor, lambda_align: 0.9 }"
    project.edit("config/config.yaml", "      favor: {}\n", f"      favor: {{}}\n      {row}\n")
    planned = project.planned()
    assert planned["train_personal"] == 2
    assert planned["generate"] == 2
    assert "train_shared" not in planned  # it shares the track of FAVoR and FedProx


def test_clients_per_job_replans_training_under_other_names(project):
    project.edit("config/config.yaml", "clients_per_job: null", "clients_per_job: 2")
    # Three jobs a round where there was one, for four tracks, three rounds and two seeds.
    assert project.planned()["train_shared"] == 72
