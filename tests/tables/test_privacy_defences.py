"""The table of defences over points, from hand-made scores."""

from __future__ import annotations

import pandas as pd

from favor.tables.completion import printed_spec
from favor.tables.settings import Point
from favor.tables.specs import Context
from favor.tables.sweeps import build_sweep

ATTACKS = (("sender_top1", "upload"), ("link_top1", "upload"), ("text_auc", "upload"), ("text_auc", "mean"))
ATTACKS += (("member_auc", "final"), ("empirical_epsilon", "mean"))


def test_a_row_per_defence_and_a_dash_for_a_method_that_one_does_not_run(score) -> None:
    points = [Point(label="none", experiment="plain"), Point(label="A frozen", experiment="frozen")]
    rows = []
    for point, methods in (("none", ("fedavg", "favor")), ("A frozen", ("fedavg",))):
        rows.append({**score("fedavg", "upload_norm", 0.75, "", 0), "variant": "upload", "point": point})
        for metric, variant in ATTACKS:
            for end, value in (("", 0.75), ("_low", 0.5), ("_high", 1.0)):
                rows.append({**score("fedavg", metric, value, "", 0), "variant": variant + end, "point": point})
        for method in methods:
            for metric in ("kept_author_margin", "kept_generated_source_auc"):
                for variant, value in (("", 0.4), ("low", 0.3), ("high", 0.5)):
                    rows.append({**score(method, metric, value, "asce_a", 0), "variant": variant, "point": point})
    contexts = {
        name: Context(name, methods, "Blogs", "", {"style": "asce_a"}, seeds=(1,), marks="paper")
        for name, methods in (("plain", ("fedavg", "favor")), ("frozen", ("fedavg",)))
    }
    scores = pd.DataFrame(rows).assign(experiment="")
    cells = build_sweep(printed_spec("privacy-defences"), points, scores, contexts)
    found = cells.set_index(["row", "column"])
    assert found.loc[("none", "Whose is it? Top-1, each upload"), "text"] == "0.75 [0.50, 1.00]"
    assert found.loc[("none", "Norm of uploads"), "text"] == "0.75"
    assert found.loc[("none", "Canary client ε, at least"), "text"] == "0.8"
    assert found.loc[("none", "FAVoR margin"), "text"] == "0.40 [0.30, 0.50]"
    assert found.loc[("A frozen", "FedAvg margin"), "text"] == "0.40 [0.30, 0.50]"
    assert "not run" in found.loc[("A frozen", "FAVoR margin"), "reason"]
