"""What an edit reruns, as a dry run says it after a whole run: exactly the jobs whose result it can change.

What an edit of the code changes is tested in tests/running/invalidation.
"""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from favor.tables.specs import load_spec
from tests.workflow.conftest import Project

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


def showing(*families) -> int:
    """How many tables show scores of some of the families."""
    return sum(bool(set(families) & set(spec.sources)) for spec in SPECS)


@pytest.fixture
def project(stubbed) -> Iterator[Project]:
    """The stubbed project; every file an edit touched is put back."""
    yield stubbed
    stubbed.restore()


CONFIG = "config/config.yaml"
TABLES = "src/favor/tables/declarations/statistical_testing.py"
# measure_agreement draws as often as the tests, and has a figure.
AGREEMENT = {"score": 1, "draw_figure": EVIDENCE["draw_figure"] + 1, "record_settings": 1}
MINILM = "semantic_encoder: minilm"


@pytest.mark.parametrize(
    ("file", "old", "new", "planned"),
    [
        # The equal error rate; source-space scores are verification too, of human texts.
        (
            "src/favor/statistics/roc.py",
            "interpolated: bool = False) -> float:",
            "interpolated=True):",
            {"score": 2, "make_table": showing("verification", "source_space"), **END},
        ),
        # Settings of a family of metrics.
        (
            CONFIG,
            "assistant: demo\n",
            "assistant: demo\n      scores: { mauve: { kmeans_seeds: [1, 2] } }\n",
            {"score": 1, "make_table": showing("mauve"), "report": 1, "record_settings": 1},
        ),
        # What a table of comparisons says of itself reruns no test; what it compares does.
        (TABLES, '"Paired component-ablation tests"', '"Paired tests of components"', {"make_table": 1, **END}),
        (
            TABLES,
            "_ABLATED = Comparisons(_ABLATIONS,",
            '_ABLATED = Comparisons((("favor", "fedavg"), *_ABLATIONS[1:]),',
            {"compare_methods": 1, "make_table": 1, **END},
        ),
        # Draws of the bootstrap: for the tests alone, and for all. Seven families draw too, one of them the test of
        # encoders before every table of style.
        (CONFIG, MINILM, f"{MINILM}\n      bootstrap: {{ draws: 500 }}", EVIDENCE | AGREEMENT),
        (
            "src/favor/statistics/bootstrap.py",
            "DRAWS = 10_000",
            "DRAWS = 20_000",
            {**EVIDENCE, "make_table": len(SPECS), "score": 7, "draw_figure": 10},
        ),
        (
            "src/favor/figures/declarations/generation_map.py",
            "COLUMNS = 4",
            "COLUMNS = 5",
            {"draw_figure": 1, "report": 1},
        ),
    ],
)
def test_an_edit_reruns_this_and_nothing_else(project, file, old, new, planned) -> None:
    project.edit(file, old, new)
    assert project.planned() == planned


BEFORE_IT = {"train_shared", "aggregate", "train_asce", "pretrain_base", "embed_sources"}  # a private stage
ALL_TRAINING = {"train_shared", "train_personal", "generate"}


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
        # Values of two keys that change places.
        (
            CONFIG,
            "lora: { rank: 8, alpha: 16 }",
            "lora: { rank: 16, alpha: 8 }",
            {"initialise_server": 2, "train_shared": 12, "generate": 8},
            set(),
        ),
        (CONFIG, "max_new_tokens: 64", "max_new_tokens: 60", {"generate": 8}, {*BEFORE_IT, "train_personal"}),
        # A definition that all training shares.
        (
            "src/favor/lm/training.py",
            "def _alike(",
            "def _alike(*new, ",
            {"train_shared": 12, "train_personal": 8, "generate": 8},
            {"pretrain_base", "train_asce", "build_documents", "embed_sources"},
        ),
        # Inputs that are named in the reverse order: embeddings under the names of other encoders.
        (
            "src/favor/plan/evaluation.py",
            "return self.measures_in(key, encoders) | {",
            "return self.measures_in(key, encoders[::-1]) | {",
            {"make_table": MARKED},
            ALL_TRAINING,
        ),
        # Rules that swap two inputs, and two outputs.
        (
            "workflow/rules/generation.smk",
            "        generations=evaluation.generations,\n        common_generations=evaluation.common_generations,\n",
            "        generations=evaluation.common_generations,\n        common_generations=evaluation.generations,\n",
            {"embed_generations": 4},
            ALL_TRAINING,
        ),
        (
            "workflow/rules/generation.smk",
            "        golds=paths.gold_embeddings,\n        common=paths.common_embeddings,\n",
            "        golds=paths.common_embeddings,\n        common=paths.gold_embeddings,\n",
            {"embed_generations": 4},
            ALL_TRAINING,
        ),
    ],
)
def test_an_edit_makes_again_what_it_changes_and_nothing_beside_it(project, file, old, new, jobs, none) -> None:
    project.edit(file, old, new)
    planned = project.planned()
    assert {rule: planned.get(rule) for rule in jobs} == jobs
    assert not none & planned.keys()


def test_words_and_comments_rerun_nothing(project) -> None:
    for file, old, new in (
        ("src/favor/federation/methods/favor.py", '"""FAVoR: a shared', '"""FAVoR, in other words: a shared'),
        ("workflow/scripts/make_demo_corpus.py", "if False:", "# a comment\nif False:"),
        ("workflow/rules/scores.smk", "# Scores: cheap,", "# Scores: very cheap,"),
        (CONFIG, "# The embedded demo:", "# The embedded demonstration:"),
    ):
        project.edit(file, old, new)
    assert project.planned() == {}


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


def test_results_without_records_of_what_made_them_are_refused(stubbed, tmp_path) -> None:
    project = stubbed.copy(tmp_path / "project")
    shutil.rmtree(project.folder / ".snakemake" / "metadata")
    for arguments in (["-n"], ["--cores", "1"]):
        done = project.snakemake(*arguments, check=False)
        assert done.returncode == 1
        assert "has no Snakemake record, so its settings cannot be checked" in done.stdout
        assert "Traceback" not in done.stdout
    assert project.planned("--rerun-triggers", "mtime") == {}


def test_what_changed_is_said_and_kept_where_the_user_accepts_it(stubbed, tmp_path) -> None:
    project = stubbed.copy(tmp_path / "project")
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
    said = project.snakemake("--cores", "4", *accept).stdout
    assert "train_shared: `favor.lm.optimiser.AdamW` changed: kept as they are (accept)" in said
    assert record.is_file()
    assert project.planned() == {}
