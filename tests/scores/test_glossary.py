"""docs/metrics.md is what the metrics declare."""

from favor.foundation.registry import METRIC_FAMILIES
from favor.scores.glossary import PAGE, glossary
from favor.scores.metric import families_of, label_of, metrics_of


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == glossary(), "run python -m favor.scores.glossary --write"


def test_a_metrics_family_is_found_without_importing_it() -> None:
    assert families_of(["author_accuracy", "bertscore_f1"]) == ["prototypes", "utility"]
    for family in METRIC_FAMILIES.names():
        for metric in metrics_of(family):
            assert family in families_of([metric.name])
            assert label_of(metric.name) == metric.label
    assert families_of(["no_such_metric"]) == []
