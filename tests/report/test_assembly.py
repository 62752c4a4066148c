"""What the report gathers beside tables and figures."""

import pytest

from favor.report.assembly import _cautions
from favor.report.settings import PrintedExperiment


@pytest.mark.parametrize(
    ("dataset", "measured", "tables", "begin"),
    [
        ("BlogText", ["star"], ["phase1-paired-significance"], ["In the paper's BlogText", "STAR was", "Top-1 cosine"]),
        ("BlogText (small)", ["minilm"], ["main_federated_results"], ["In the paper's BlogText"]),
        ("Demo", ["star"], ["voice-kept"], []),  # STAR was not trained on its texts
    ],
)
def test_cautions_are_of_what_the_run_holds(dataset, measured, tables, begin) -> None:
    values = PrintedExperiment.model_construct(dataset=dataset, measured=measured, tables=tables)
    found = list(_cautions([values]))
    assert [text.startswith(start) for text, start in zip(found, begin, strict=True)] == [True] * len(begin)
