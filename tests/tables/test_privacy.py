"""The tables of the privacy audit from scores: one row per attack and view, intervals, and reasons for dashes."""

from collections.abc import Iterator

import pandas as pd

from favor.scores.metric import Score, scores_frame
from favor.tables.build import build_table
from favor.tables.specs import Context, load_spec

CONTEXT = Context("trial", ("favor",), encoders={"style": "asce_a"}, marks="evidence")


def rows(metric, view, value, note="", n=48, **ends) -> Iterator[Score]:
    yield Score(0, "favor", "", metric, view, value, n, note)
    for end, other in ends.items():
        yield Score(0, "favor", "", metric, f"{view}_{end}", other, n, "")


def cells(label, scores) -> pd.DataFrame:
    return build_table(load_spec(label), scores_frame(scores), CONTEXT).set_index(["row", "column"])


def test_an_attack_has_its_statistics_with_intervals_and_what_chance_gives() -> None:
    found = cells(
        "privacy-audit",
        [
            *rows("sender_top1", "upload", 0.75, low=0.5, high=1.0, shuffled=0.25),
            *rows("sender_auc", "upload", 0.9, low=0.8, high=0.95, shuffled=0.5),
            *rows("member_tpr", "final", 0.125, low=0.0, high=0.3, shuffled=0.01),
            *rows("member_distinctive", "final", -0.25, low=-0.75, high=0.5, shuffled=0.0),
            *rows("sender_top1", "personal", float("nan"), "the clients of this row keep no adapter"),
        ],
    )
    assert len(set(found.index.get_level_values(0))) == 14
    upload = found.loc["FAVoR · Whose is it? · each upload"]
    assert upload["text"].to_dict() == {
        **{"Top-1": "0.75 [0.50, 1.00]", "By chance": "0.25", "AUC": "0.90 [0.80, 0.95]", "AUC, shuffled": "0.50"},
        **{"TPR at 1 % FPR": "–", "TPR, shuffled": "–", "With distinctiveness": "–", "n": "48"},
    }
    final = found.loc["FAVoR · Did the author take part? · final shared adapter"]
    assert final.loc["TPR at 1 % FPR", "text"] == "0.12 [0.00, 0.30]"
    assert final.loc["With distinctiveness", "text"] == "−0.25 [−0.75, 0.50]"
    stolen = found.loc["FAVoR · Whose is it? · stolen personal adapter"]
    assert stolen.loc["Top-1", "reason"] == "the clients of this row keep no adapter"
    assert (found["mark"] == "").all()


def test_canaries_have_a_row_per_view_and_number_of_repeats() -> None:
    scores = [*rows("canary_cosine", "mean", 0.4, low=0.39, high=0.41), *rows("empirical_epsilon", "mean", 9000.0)]
    for view in ("initial", "upload", "mean", "final"):
        for repeats in (1, 16):
            scores += rows("canary_exposure", f"{view}_{repeats}", 2.0 + repeats, shuffled=1.4, most=10.0)
    found = cells("privacy-canaries", scores)
    views = ("each upload", "mean of the round", "final shared adapter")
    planted = [f"FAVoR · {view} · secret planted {repeats} ×" for view in views for repeats in (1, 16)]
    rows_found = list(dict.fromkeys(found.index.get_level_values(0)))
    assert rows_found == [*planted, "FAVoR · mean of the round · canary client"]
    secret = found.loc["FAVoR · final shared adapter · secret planted 16 ×", "text"]
    assert secret[["Exposure (bits)", "Before training", "Most possible"]].tolist() == ["18.00", "18.00", "10.00"]
    client = found.loc["FAVoR · mean of the round · canary client", "text"]
    shown = client[["Exposure (bits)", "Cosine", "Empirical ε, at least"]]
    assert shown.tolist() == ["–", "0.400 [0.390, 0.410]", "9000.0"]


def test_uploads_that_change_nothing_alone_have_rows_beside_their_owners_other_half() -> None:
    silent, half = "it changes nothing alone", "each upload, beside its owner's other half (upper bound)"
    scores = [
        *rows("sender_top1", "upload", float("nan"), silent),
        *rows("sender_auc", "upload", float("nan"), silent),
        *rows("sender_auc", "completed", 0.9, low=0.8, high=0.95, shuffled=0.5),
    ]
    found = cells("privacy-audit", scores)
    assert found.loc[("FAVoR · Whose is it? · each upload", "AUC"), "reason"] == silent
    assert found.loc[(f"FAVoR · Whose is it? · {half}", "AUC"), "text"] == "0.90 [0.80, 0.95]"
    assert not any(half in row and "Whose" not in row for row, _ in found.index)


def test_those_who_left_have_a_row_before_and_one_after() -> None:
    scores = []
    for view, auc, fall in (("before", 0.9, 0.125), ("after", 0.5, -0.01)):
        scores += rows("leaver_auc", view, auc, n=8, low=0.25, high=1.0, shuffled=0.5)
        scores += rows("leaver_fall", view, fall, low=-0.02, high=0.25, shuffled=0.0)
    found = cells("privacy-leaving", scores)["text"]
    assert found.loc["FAVoR · with them"].tolist() == ["0.90 [0.25, 1.00]", "0.50", "0.125 [−0.020, 0.250]", "8"]
    assert found.loc["FAVoR · made again without them"].tolist()[2] == "−0.010 [−0.020, 0.250]"
