"""Made-up scores and a made-up report: small, fixed numbers, no run behind them."""

from collections.abc import Callable

import pandas as pd
import pytest

from favor.figures.declarations.allocation import draw_allocation
from favor.figures.overview import draw_workflow
from favor.paper.numbers import numbers_of
from favor.paper.values import load_paper_values
from favor.report.content import ExperimentReport, Figure, Preparation, Report, ReportTable
from favor.tables.build import build_table
from favor.tables.completion import printed_spec
from favor.tables.specs import Context

ENCODERS = ("asce_a", "asce_b", "minilm", "stylometry")
METHODS = ("fedavg", "fedprox", "ditto", "feddpa", "favor_without_asce", "favor", "local_only_asce", "pooled")
SEEDS = (2026, 2027, 2028)
SPACE_METRICS = (
    "author_accuracy",
    "author_macro_f1",
    "generated_auc",
    "generated_eer",
    "generated_source_auc",
    "generated_source_eer",
    "silhouette",
    "centroid_distance",
)
# What an author name, a title or a reason may hold at worst.
HOSTILE = r"""<script>alert("x")</script> & 100% \input{x} $a_b^c$ #1 ~ {curly} é ß 中 "quoted" 'single'"""


def make_score(method, metric, value, encoder="", seed=1, note="", variant="") -> dict:
    """Return one row of the table ``scores``."""
    keys = {"seed": seed, "method": method, "encoder": encoder, "metric": metric, "variant": variant}
    return {**keys, "value": value, "n": 10, "note": note}


def make_scores(methods=METHODS, seeds=SEEDS) -> pd.DataFrame:
    """Return scores of ``methods`` and of both controls.

    The methods' levels are 0.20, 0.24, 0.28, ... in their order; the middle seed has the level, the first 0.01 less,
    the last 0.01 more, so a mean is the level and a deviation is 0.010. An EER is (1 - level) / 2, deviation 0.005.
    """
    rows = []
    for seed in seeds:
        for number, method in enumerate([*methods, "gold", "shuffled"]):
            level = {"gold": 0.8, "shuffled": 0.05}.get(method, 0.2 + 0.04 * number) + 0.01 * (seed - 2027)
            for encoder in ENCODERS:
                for metric in SPACE_METRICS:
                    value = (1 - level) / 2 if metric.endswith("eer") else level
                    rows.append(make_score(method, metric, value, encoder, seed))
            rows.append(make_score(method, "bertscore_f1", 0.8 + level / 100, "", seed))
            rows.append(make_score(method, "semantic_similarity", 0.4 - level / 10, "", seed))
    return pd.DataFrame(rows)


def make_comparisons() -> pd.DataFrame:
    """Return the comparison of FAVoR with Ditto in accuracy, under both kinds of clusters; the others are missing."""
    row = {"left_method": "favor", "right_method": "ditto", "encoder": "asce_a", "metric": "author_accuracy"}
    row |= {"left": 0.4, "right": 0.28, "delta": 0.12, "low": -0.05, "high": 0.25, "p": 0.04, "p_exact": 0.0004}
    row |= {"test": "exact", "p_holm": 0.0016, "n": 578, "pairs": 0, "draws": 100, "cluster_count": 12, "note": ""}
    return pd.DataFrame([{**row, "clusters": clusters} for clusters in ("seed-author", "author")])


@pytest.fixture(scope="session")
def score() -> Callable[..., dict]:
    """The maker of one score row: (method, metric, value, encoder="", seed=1, note="", variant="")."""
    return make_score


@pytest.fixture(scope="session")
def scores() -> pd.DataFrame:
    """Scores of eight methods and both controls over three seeds and four encoders."""
    return make_scores()


@pytest.fixture(scope="session")
def context() -> Context:
    """The experiment behind ``scores``."""
    roles = {"style": "asce_a", "independent": "asce_b"}
    return Context("demo", METHODS, "Demo blogs", "BlogText", roles, seeds=SEEDS, marks="paper")


@pytest.fixture(scope="session")
def hostile() -> str:
    """A text that breaks careless HTML and LaTeX."""
    return HOSTILE


@pytest.fixture(scope="session")
def allocation() -> pd.DataFrame:
    """An allocation of four clients: targets 100, 200, 300, 400 words, the last author short of text."""
    return pd.DataFrame(
        {
            "client": [f"client_{number:03d}" for number in range(1, 5)],
            "available_words": [500, 500, 500, 300],
            "target_words": [100, 200, 300, 400],
            "allocated_words": [100, 200, 300, 300],
        }
    )


@pytest.fixture(scope="session")
def report(tmp_path_factory, scores, context, allocation) -> Report:
    """A whole report with hostile text in every place a user can write to."""
    figures = tmp_path_factory.mktemp("figures")
    workflow = Figure("Workflow", HOSTILE, figures / "workflow.svg", figures / "workflow.pdf")
    chart = Figure(HOSTILE, "Caption", figures / "allocation.svg", figures / "allocation.pdf")
    draw_workflow(workflow.svg, workflow.pdf)
    draw_allocation(allocation, chart.svg, chart.pdf)
    tables = []
    for label in ("main_federated_results", "phase1-ablation-full-meanstd", "phase1-external-evaluator-details"):
        spec = printed_spec(label)
        cells = build_table(spec, scores, context, load_paper_values(label))
        tables.append(ReportTable(spec, cells, "scores " + ", ".join(spec.sources)))
    paired = printed_spec("phase1-paired-significance")
    cells = build_table(paired, scores, context, load_paper_values(paired.label), make_comparisons())
    tables.insert(0, ReportTable(paired, cells, "demo/statistics/phase1-paired-significance.parquet"))
    preparation = Preparation(
        dropped=pd.DataFrame({"reason": ["kept", "duplicate_post"], "rows": [9000, 1000]}),
        roster=pd.DataFrame(
            {
                "author": ["secret-author-1", "secret-author-2"],
                "role": ["client", "asce_a"],
                "documents": [10, 20],
                "words": [100, 200],
            }
        ),
        splits=pd.DataFrame({"split": ["train", "train", "test"]}),
        overlap=pd.DataFrame({"shared_authors": [0], "shared_documents": [0], "near_copies": [2]}),
        allocation=allocation,
    )
    experiment = ExperimentReport(
        "demo",
        HOSTILE,
        "Demo blogs",
        METHODS,
        SEEDS,
        facts={"Base model": HOSTILE},
        settings={"protocol": "paper", "training": {"learning_rate": 2e-4, "note": HOSTILE}},
        preparation=preparation,
        tables=tables,
        figures=[chart],
        is_demo=True,
        numbers=numbers_of({table.spec.label: table.cells for table in tables}, "BlogText"),
    )
    return Report("FAVoR Workflow", [experiment], [workflow], ["make demo", HOSTILE], notes=[HOSTILE])
