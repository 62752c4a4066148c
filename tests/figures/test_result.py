"""The figure of the first screen: what every method keeps by three measures, in one order, and what it says without."""

import re

import pandas as pd
import pytest
from tests.figures.test_figures import draw
from tests.reports import make_score

from favor.figures.declarations.result import one_by_one, voice_kept

SHOWN = ("fedavg", "favor", "ditto")
SHARES = {"fedavg": -0.1, "favor": 0.5, "ditto": 0.25, "gold": 1.0}


@pytest.fixture
def scores() -> pd.DataFrame:
    """Shares by unseen encoders and by the own one, half of it; chance of likelihood is 0.2."""
    rows = [
        make_score(name, "kept_author_accuracy_failures_wrong", value * part + shift, encoder, 0, variant=variant)
        for name, value in SHARES.items()
        for encoder, part in (("unseen", 1.0), ("asce_a", 0.5))
        for variant, shift in (("", 0.0), ("low", -0.1), ("high", 0.1))
    ]
    read = [("fedavg", "", 0.2), ("fedavg", "chance", 0.2)]
    read += [("favor", "", 0.6), ("favor", "chance", 0.2), ("favor", "low", 0.4), ("favor", "high", 0.8)]
    rows += [make_score(name, "likelihood_top1", value, "", 0, variant=variant) for name, variant, value in read]
    return pd.DataFrame(rows)


def test_reading_counts_from_chance_to_all_texts(scores) -> None:
    found = voice_kept(scores, "asce_a").set_index(["method", "measure"])
    # (.6 - .2) / (1 - .2), and the ends .4 and .8
    assert found.loc[("favor", "likelihood")].tolist() == pytest.approx([0.5, 0.25, 0.75])
    # One model for all is at chance by construction.
    assert found.loc[("fedavg", "likelihood")].tolist() == [0.0, 0.0, 0.0]
    assert found.loc[("favor", "own")].tolist() == pytest.approx([0.25, 0.15, 0.35])
    assert "gold" not in found.index.get_level_values("method")


def test_methods_stand_by_what_unseen_encoders_find(tmp_path, scores) -> None:
    draw("result", tmp_path / "a.svg", tmp_path / "a.csv", scores=scores, unseen=[], shown=SHOWN)
    assert pd.read_csv(tmp_path / "a.csv")["name"].tolist() == ["FAVoR", "Ditto", "FedAvg"]
    svg = (tmp_path / "a.svg").read_text(encoding="utf-8")
    assert "Voice kept by unseen encoders: 3 methods, from −0.10 to 0.50." in svg
    # Points say their method, value and interval to whoever stays on them, and text is text.
    assert '<g data-encoder="unseen" data-method="FAVoR">\n<title>FAVoR: 0.5 [0.4, 0.6]</title>' in svg
    assert '<g data-method="FAVoR">\n<title>FAVoR: 0.5 [0.25, 0.75]</title>' in svg  # read by the adapters
    assert len(re.findall(r'<g (?:data-encoder="\w+" )?data-method="[^"]*">\n<title>', svg)) == 8
    # On a phone of 390 pixels it is whole, with text of 11 pixels: the page draws a point as 1.5 pixels.
    (width,) = re.findall(r'<svg [^>]*\bwidth="([\d.]+)pt"', svg)
    assert 1.5 * float(width) <= 352
    # Their bars go with them, and no id stands twice.
    assert svg.count("data-method=") == 16
    ids = re.findall(r'\bid="([^"]*)"', svg)
    assert len(ids) == len(set(ids))
    assert ">the authors" in svg


def test_unseen_encoders_that_disagree_are_drawn_one_by_one(tmp_path, scores) -> None:
    shares = scores.query("encoder == 'unseen' and variant == ''")
    apart = {"asce_b": -0.05, "luar": 0.05}
    single = [shares.assign(encoder=name, value=shares["value"] + shift) for name, shift in apart.items()]
    both = pd.concat([scores, *single])
    assert one_by_one(both, ["asce_b"]).empty
    assert one_by_one(both, ["asce_b", "luar"]).loc["favor"].tolist() == pytest.approx([0.45, 0.55])
    draw("result", tmp_path / "a.svg", tmp_path / "a.csv", scores=both, unseen=["asce_b", "luar"], shown=SHOWN)
    data = pd.read_csv(tmp_path / "a.csv").set_index("method")
    assert data.loc["ditto", ["unseen", "unseen_asce_b", "unseen_luar"]].tolist() == pytest.approx([0.25, 0.2, 0.3])
    assert "each unseen encoder" in (tmp_path / "a.svg").read_text(encoding="utf-8")
