"""Numbers of the running text: the paper's own come out of its table values; ours from hand-made cells."""

import pandas as pd
import pytest

from favor.paper.measured_numbers import judged_numbers, measured_numbers
from favor.paper.numbers import NUMBERS, numbers_of
from favor.report.paper_agreement import number_rows
from favor.scores.metric import Score, scores_frame


def cells(values) -> pd.DataFrame:
    """Cells of one of our tables, as far as numbers read them."""
    return pd.DataFrame([(*key, value) for key, value in values.items()], columns=["row", "column", "value"])


def by_key(entries) -> dict[str, dict]:
    return {entry["key"]: entry for entry in entries}


@pytest.fixture(scope="module")
def numbers() -> dict[str, dict]:
    main = {("FedAvg", "Author Acc."): 0.2, ("Ditto", "Author Acc."): 0.4, ("FAVoR", "Author Acc."): 0.5}
    main |= {("FedAvg", "EER"): 0.3, ("Ditto", "EER"): 0.4, ("FAVoR", "EER"): 0.36}
    shares = {"Global ASCE": 0.1, "Ditto + ASCE": 0.2, "FAVoR": 0.5}
    ablation = {(row, "Author Acc."): value for row, value in shares.items()}
    tables = {
        "main_federated_results": cells(main),
        "phase1-main-results": cells(ablation),
        "asce-b-audit": cells({("FedDPA", "Gen→Src AUC"): 0.7}),
    }
    return by_key(numbers_of(tables, "BlogText"))


def test_ours_by_hand(numbers) -> None:
    gain = numbers["author_accuracy_gain"]
    assert gain["value"] == pytest.approx(0.1)
    assert gain["baseline"] == "Ditto"
    assert numbers["author_accuracy_relative_gain"]["value"] == pytest.approx(0.25)
    assert numbers["verification_eer_gain"]["value"] == pytest.approx(-0.06)  # FedAvg's error is lower
    assert numbers["verification_eer_gain"]["baseline"] == "FedAvg"
    assert numbers["ablation_ditto_asce_share"]["value"] == pytest.approx(0.25)


def test_the_papers_by_hand(numbers) -> None:
    # 0.403 - 0.294 (FedDPA); 0.297 - 0.245 (Ditto); 0.815 - 0.819 (FedAvg); (0.318 - 0.161) / (0.403 - 0.161)
    assert numbers["author_accuracy_gain"]["paper"] == pytest.approx(0.109)
    assert numbers["author_accuracy_gain"]["paper_baseline"] == "FedDPA"
    assert numbers["verification_eer_gain"]["paper"] == pytest.approx(0.052)
    assert numbers["bertscore_gain"]["paper"] == pytest.approx(-0.004)
    assert numbers["ablation_ditto_asce_share"]["paper"] == pytest.approx(0.649, abs=5e-4)
    assert numbers["asce_b_ditto_auc"]["paper"] == 0.723


def test_the_paper_beside_another_corpus() -> None:
    mythos = by_key(numbers_of({}, "Mythos-Reddit"))
    assert mythos["author_accuracy_gain"]["paper"] == pytest.approx(0.561 - 0.392)  # Ditto
    assert mythos["asce_b_ditto_auc"]["paper"] is None
    assert all(entry["paper"] is None for entry in numbers_of({}, ""))


def test_what_is_missing_says_why(numbers) -> None:
    assert len(numbers) == len(NUMBERS)
    reason = "table main_federated_results has no value of a collaborative baseline and Macro-F1"
    assert numbers["macro_f1_gain"]["reason"] == reason
    assert numbers["asce_b_favor_accuracy"]["reason"].endswith("no value of FAVoR and Source-prototype Acc.")
    assert numbers["pooled_bertscore_gain"]["reason"].endswith("is not among the experiment's tables")
    assert all((entry["value"] is None) == ("reason" in entry) for entry in numbers.values())


def test_what_the_paper_says_of_its_own_tables() -> None:
    paper = {entry["key"]: entry["paper"] for entry in numbers_of({}, "BlogText")}
    # L1564: second on prototypes and AUC, best on EER; L1565: F1 and AUC second, accuracy and EER first, silhouette 3rd
    view = [paper[f"rank_gensource_{name}"] for name in ("proto_acc", "proto_f1", "gen_src_auc", "gen_src_eer")]
    assert view == [2, 2, 2, 1]
    names = ("author_acc", "macro_f1", "silhouette", "gen_gen_auc", "gen_gen_eer")
    assert [paper[f"rank_pairwise_{name}"] for name in names] == [1, 2, 3, 2, 1]
    # L1937: both residual variants win all twelve against Global ASCE; against its own ablation FAVoR loses stylometry
    assert paper["ablation_external_residual_share"] == 1
    assert paper["ablation_external_alignment_share"] == pytest.approx(4 / 6)
    assert paper["external_agreement"] == 1
    assert paper["judge_smallest_p"] == 1
    assert paper["ablation_alignment_gain"] == 0.026
    assert all(value is not None for value in paper.values())


def test_ranks_shares_and_units_by_hand() -> None:
    errors = {"FAVoR": 0.3, "Ditto": 0.2, "FedDPA†": 0.3, "Reference: own continuations": 0.1}
    tables = {
        "asce-leakage-free-gensource": cells({(row, "Gen→Src EER"): error for row, error in errors.items()}),
        "phase1-ablation-external-paired": cells(
            {
                ("FAVoR vs. w/o ASCE · MiniLM · AUC", "Directional Δ"): 0.1,
                ("FAVoR vs. w/o ASCE · MiniLM · EER", "Directional Δ"): -0.1,
                ("FAVoR vs. Global ASCE · MiniLM · AUC", "Directional Δ"): 0.2,
                ("FAVoR vs. w/o ASCE · MiniLM · AUC", "Left"): 0.9,
            }
        ),
        "efficiency_communication": cells(
            {("Aggregate upload per seed", "Value"): 3 * 2.0**30, ("Upload per client round", "Value"): 2.0**29}
        ),
        "human_2afc_audit": cells({("FAVoR", "Vote acc."): 0.75}),
        "qwen-generic-quality": cells(
            {("Ditto", "Holm-adjusted p"): 0.2, ("FedAvg", "Holm-adjusted p"): 0.1, ("FAVoR", "Mean quality"): 2.0}
        ),
    }
    found = by_key(numbers_of(tables, "BlogText"))
    assert found["rank_gensource_gen_src_eer"]["value"] == 2  # Ditto is before it; no bound takes part
    assert found["ablation_external_alignment_share"]["value"] == 0.5
    assert found["ablation_external_residual_share"]["value"] == 1
    assert (found["cost_upload"]["value"], found["cost_updates"]["value"]) == (3, 6)
    assert (found["audit_favor_votes"]["value"], found["audit_favor_votes"]["paper"]) == (75, 91.7)
    assert (found["judge_smallest_p"]["value"], found["judge_smallest_p"]["baseline"]) == (0.1, "FedAvg")


def test_rows_of_the_report(numbers) -> None:
    shown, absent = number_rows([*numbers.values()])
    row = shown[shown["Number"].str.startswith("Author Acc. of survivors only: FAVoR minus")].iloc[0]
    assert row[["Ours", "Paper", "Difference"]].tolist() == ["0.100 (Ditto)", "0.109 (FedDPA)", "−0.009"]
    missing = sum(entry["value"] is None for entry in numbers.values())
    assert len(shown) == len(numbers) - missing
    assert absent.startswith(f"{missing} further numbers have no value")
    assert number_rows([numbers["author_accuracy_gain"]])[1] == ""


def test_large_and_tiny_numbers_can_be_read() -> None:
    size = {"what": "Adapter, bytes", "where": "Efficiency", "value": 318376.0, "paper": 119801528.0, "decimals": 0}
    tiny = {**size, "value": 0.000217, "paper": 8.03, "decimals": 2}
    shown = number_rows([size, tiny, {**tiny, "value": 8.0301}])[0][["Ours", "Paper", "Difference"]]
    assert shown.to_numpy().tolist() == [
        ["318,376", "119,801,528", "−119,483,152"],
        ["0.00022", "8.03", "−8.03"],
        ["8.03", "8.03", "+0.00"],
    ]


def test_measured_numbers_by_hand() -> None:
    allocation = pd.DataFrame({"target_words": [1, 2, 3, 4], "allocated_words": [5, 5, 5, 5]})
    effects = pd.DataFrame({"space": ["style"], "author_effect": [0.4], "topic_effect": [0.1]})
    gates = pd.DataFrame(
        [(1, method, "a", prompt, gate) for method, values in (("feddpa", (0.5, 0.5)), ("feddpa_dynamic", (0.3, 0.6)))
         for prompt, gate in zip("xy", values, strict=True)],
        columns=["seed", "method", "client", "prompt_id", "gate"],
    )  # fmt: skip
    encoders = {"style": {"authors": 3, "training_texts": 40, "validation_accuracy": 0.5}}
    found = by_key(measured_numbers(allocation, 1.5, effects, gates, encoders, "BlogText"))
    assert (found["style_training_texts"]["value"], found["style_training_texts"]["paper"]) == (40, 4959)
    assert found["style_validation_accuracy"]["value"] == 0.5
    assert found["independent_authors"]["reason"] == "ASCE-B was not trained in this experiment"
    expected = {"target_gini": 0.25, "realised_gini": 0, "allocated_words": 20, "slope_style_encoder": 0.25}
    expected |= {"gate_dynamic_mean": 0.45, "gate_mean_difference": 0.15, "gate_maximum_difference": 0.2}
    assert {key: found[key]["value"] for key in expected} == pytest.approx(expected)
    assert found["slope_features"]["reason"].startswith("needs figures: true, and at least two topics")
    without = measured_numbers(allocation, 1.5, effects, gates[gates["method"] == "feddpa"], {}, "")
    assert all(entry["paper"] is None for entry in without)
    assert {entry["key"] for entry in without if entry["value"] is None} >= {"gate_dynamic_mean", "gate_summary_mean"}


def test_the_gap_that_favor_recovers_among_100_authors() -> None:
    shares = {"FedAvg shared": 0.1, "FAVoR": 0.4, "Local-only (ref.)": 0.5}
    ours = cells({(row, "Sep. Acc."): value for row, value in shares.items()})
    found = by_key(numbers_of({"k100-scale-stress": ours}, "BlogText", whole=False))
    assert len(found) == 4  # a study has the numbers of its own tables only
    assert found["k100_accuracy_recovered"]["value"] == pytest.approx(0.75)
    worse = ours.assign(value=ours["value"].where(ours["row"] != "Local-only (ref.)", 0.05))
    found_worse = by_key(numbers_of({"k100-scale-stress": worse}, "BlogText", whole=False))
    assert found_worse["k100_accuracy_recovered"]["value"] is None  # there is no gap
    # The paper's text: roughly 70 %, 74 %, 81 % and 72 %.
    keys = ("accuracy", "macro_f1", "auc", "silhouette")
    assert [round(100 * found[f"k100_{key}_recovered"]["paper"]) for key in keys] == [70, 74, 81, 72]


def test_what_the_judge_says_beside_the_paper() -> None:
    ends = {"": 0.6, "low": 0.4, "high": 0.8, "p": 0.3}
    rows = [
        *(Score(0, "favor", "", "voice_preference", end, value, 10) for end, value in ends.items()),
        Score(0, "source", "", "judge_repeated", "", float("nan"), 0, "no output was judged twice"),
    ]
    entries = by_key(judged_numbers(scores_frame(rows), "BlogText"))
    assert [entries[f"voice_preference{end}"]["value"] for end in ("", "_low", "_high", "_p")] == [0.6, 0.4, 0.8, 0.3]
    assert entries["voice_preference"]["paper"] == 0.612
    assert entries["judge_repeated"]["value"] is None
    assert entries["judge_repeated"]["reason"] == "no output was judged twice"
    undecided = Score(0, "favor", "", "voice_preference", "", float("nan"), 0, "every comparison is a tie")
    entries = by_key(judged_numbers(scores_frame([undecided]), ""))
    assert entries["voice_preference_p"]["reason"] == "every comparison is a tie"
    assert entries["judge_repeated"]["reason"] == "Equal repeated ratings was not scored"
    assert all(made["paper"] is None for made in entries.values())


def test_a_baseline_of_zero_has_no_relative_gain() -> None:
    main = {("FedAvg", "Author Acc."): 0.0, ("FAVoR", "Author Acc."): 0.5}
    found = by_key(numbers_of({"main_federated_results": cells(main)}, ""))
    assert found["author_accuracy_gain"]["value"] == 0.5
    assert found["author_accuracy_relative_gain"]["value"] is None
    assert found["author_accuracy_relative_gain"]["reason"] == "undefined"
