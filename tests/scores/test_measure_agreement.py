"""Agreement and power of the measures on texts whose order is known."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from tests.scores.copied_voices import by_method, copied_voices, repeated

from favor.figures.declarations.measure_agreement import draw_measure_agreement
from favor.scores import measure_agreement, prototypes
from favor.scores.inputs import ScoreInputs
from favor.scores.metric import ALL_SEEDS, Score, scores_frame
from favor.scores.settings import MeasureAgreement, Prototypes
from favor.tables.build import build_table
from favor.tables.completion import printed_spec
from favor.tables.specs import Context

CHANCES = (0.0, 0.3, 0.6, 1.0)
CONTEXT = Context("demo", ("favor",), encoders={"style": "e"}, seeds=(1,))
NEEDED = "needs three methods, and three authors with outputs in each"


def two_spaces(noise) -> ScoreInputs:
    """The same experiment in a second space: the first one's vectors with noise."""
    inputs = copied_voices(CHANCES)
    generator = np.random.default_rng(4)

    def blurred(table) -> pd.DataFrame:
        vectors = [np.asarray(row) + generator.normal(0, noise, len(row)) for row in table["embedding"]]
        return table.assign(embedding=vectors)

    tables = {name: getattr(inputs, name)["e"] for name in ("generation_embeddings", "source_embeddings")}
    return replace(inputs, **{name: {"e": table, "f": blurred(table)} for name, table in tables.items()})


def cell(scores, metric, encoder, variant) -> float:
    rows = scores[(scores["metric"] == metric) & (scores["encoder"] == encoder) & (scores["variant"] == variant)]
    assert len(rows) == 1
    return float(rows["value"].iloc[0])


@pytest.fixture(scope="module")
def scores() -> pd.DataFrame:
    return measure_agreement.score(two_spaces(0.02), MeasureAgreement(draws=200))


def test_measures_of_one_truth_agree(scores) -> None:
    for measure in measure_agreement.MEASURES:
        assert cell(scores, "agreement_over_methods", "e", measure) == pytest.approx(1.0)
        assert cell(scores, "agreement_over_authors", "f", measure) > 0.4
        low, high = (cell(scores, "agreement_over_authors", "f", f"{measure}_{end}") for end in ("low", "high"))
        assert low < high
    assert cell(scores, "rank_correlation", "e", "author_accuracy~f.author_accuracy") == pytest.approx(1.0)


def test_a_blurred_space_sees_less() -> None:
    blurred = measure_agreement.score(two_spaces(0.5), MeasureAgreement(draws=100))
    for measure in measure_agreement.MEASURES:
        sharp = cell(blurred, "detectable_share", "e", measure)
        assert not sharp > cell(blurred, "detectable_share", "f", measure)  # larger, or nothing to see at all


def test_a_text_that_two_seeds_drew_makes_no_difference_easier_to_find() -> None:
    inputs = copied_voices(CHANCES)
    twice = repeated(inputs, "seed")
    tables = [measure_agreement.score(each, MeasureAgreement(draws=50)) for each in (inputs, twice)]
    for measure in measure_agreement.MEASURES:
        once, again = (cell(table, "detectable_difference", "e", measure) for table in tables)
        assert once == pytest.approx(again)


def test_human_text_scores_as_in_the_other_families(scores) -> None:
    accuracy = by_method(prototypes.score(copied_voices(CHANCES), Prototypes()), "author_accuracy")
    assert cell(scores, "human_own", "e", "author_accuracy") == pytest.approx(accuracy["gold"])
    assert cell(scores, "human_shuffled", "e", "author_accuracy") == pytest.approx(accuracy["shuffled"])


def measures(inputs_maker, generated) -> dict[str, np.ndarray]:
    human = {"a": [0.0, 40.0], "b": [30.0, 90.0]}
    inputs = inputs_maker(train=human, gold=human, generated=generated)
    return measure_agreement.output_measures(inputs, "e", inputs.runs[0])


def test_the_auc_of_an_output_by_hand(inputs_maker) -> None:
    found = measures(inputs_maker, {"a": [0.0, 0.0], "b": [90.0, 90.0]})["output_auc"]
    # a's first output (at 0): own other text at 40, b's at 30 and 90: nearer than one of two. Its second: own at 0.
    # b's first (at 90): own other at 90, a's at 0 and 40. Its second: own at 30, a's at 40 is nearer, at 0 is not.
    assert found.tolist() == [0.5, 1.0, 1.0, 0.5]


def test_the_margin_of_an_output_by_hand(inputs_maker) -> None:
    # Prototypes at 20 and 60 degrees. At 0: cos 20 - cos 60; at 40, between both: 0; at 90: cos 30 - cos 70.
    found = measures(inputs_maker, {"a": [0.0, 40.0], "b": [90.0, 40.0]})
    assert found["author_margin"] == pytest.approx([0.439693, 0.0, 0.524005, 0.0], abs=1e-6)
    assert found["target_similarity"][1] == pytest.approx(0.939693, abs=1e-6)  # of a voice that is both authors'


def test_the_margin_is_ranked_and_is_in_no_reference(scores, monkeypatch) -> None:
    own = prototypes.margins
    monkeypatch.setattr(prototypes, "margins", lambda similarity, place: -own(similarity, place))
    turned = measure_agreement.score(two_spaces(0.02), MeasureAgreement(draws=200))
    for found, agreement in ((scores, 1.0), (turned, -1.0)):
        assert cell(found, "agreement_over_methods", "e", "author_margin") == pytest.approx(agreement)
    paper, same = (table[~table["variant"].str.contains("author_margin")] for table in (scores, turned))
    assert len(paper) < len(scores)
    pd.testing.assert_frame_equal(paper, same)


def test_notes_of_human_text_name_what_is_missing() -> None:
    """One human continuation per author: nothing can be halved, and no author has another text for the AUC."""
    inputs = copied_voices(CHANCES)
    first = {name: getattr(inputs, name) for name in ("generations", "prompts")}
    first = {name: table[table["prompt_id"].str.endswith("p0")] for name, table in first.items()}
    found = measure_agreement.score(replace(inputs, **first), MeasureAgreement(draws=50))
    human = found[found["metric"].str.startswith(("human", "detectable"))]
    missing = human[human["value"].isna()].groupby("variant")["metric"].agg(set)
    halves = {"detectable_difference", "detectable_share"}
    assert missing["author_accuracy"] == halves
    assert missing["output_auc"] == {"human_own", "human_shuffled", *halves}
    assert set(human.loc[human["value"].isna(), "note"]) == {"too few human continuations"}


def test_one_space_and_two_methods_agree_with_nobody() -> None:
    alone = measure_agreement.score(copied_voices(CHANCES), MeasureAgreement(draws=100))
    rows = alone[alone["metric"] == "agreement_over_methods"]
    assert rows["value"].isna().all()
    assert set(rows["note"]) == {"no measure of another encoder, or ranks that do not differ"}
    few = measure_agreement.score(copied_voices((0.0, 1.0)), MeasureAgreement(draws=100))
    assert set(few.loc[few["metric"] == "agreement_over_methods", "note"]) == {NEEDED}
    cells = build_table(printed_spec("measure-agreement"), few, CONTEXT)
    assert cells.loc[cells["column"] == "Agreement over methods", "reason"].str.startswith("needs three").all()
    assert (cells.loc[cells["column"] == "Own text", "text"].str.len() == 5).all()


def with_scores(values) -> ScoreInputs:
    """Two spaces, and scores of other families: (metric, encoder) -> method -> the value of every author."""
    inputs = two_spaces(0.02)
    rows = [
        Score(ALL_SEEDS, method, encoder, metric, client, value, 4)
        for (metric, encoder), by_method in values.items()
        for method, value in by_method.items()
        for client in inputs.clients
    ]
    own = ("lambdag", "profile_accuracy", "failures_wrong")
    rows += [Score(1, control, *own, value, 60) for control, value in (("gold", 0.8), ("shuffled", 0.1))]
    return replace(inputs, scores=scores_frame(rows))


def test_profiles_and_likelihoods_are_ranked_beside_the_papers_measures(scores) -> None:
    """The chance of the own voice is the truth: a measure equal to it agrees, one against it disagrees."""
    truth = {str(chance): chance for chance in CHANCES}
    known = ("likelihood_author_voice_gain", ""), ("profile_author_accuracy", "lambdag")
    inputs = with_scores({known[0]: truth, known[1]: {method: -value for method, value in truth.items()}})
    found = measure_agreement.score(inputs, MeasureAgreement(draws=200))
    assert cell(found, "agreement_over_methods", "", known[0][0]) == pytest.approx(1.0)
    assert cell(found, "agreement_over_methods", "lambdag", known[1][0]) == pytest.approx(-1.0)
    pair = f"{known[0][0]}~e.author_accuracy"
    assert cell(found, "rank_correlation", "", pair) == pytest.approx(1.0)
    assert cell(found, "human_own", "lambdag", known[1][0]) == 0.8
    assert cell(found, "human_shuffled", "lambdag", known[1][0]) == 0.1
    # They are in no reference: what the paper's measures say of one another is the same to the bit.
    old = found[found["encoder"].isin(["e", "f"]) & ~found["variant"].str.contains("profile|likelihood")]
    old = old.reset_index(drop=True)
    pd.testing.assert_frame_equal(old, scores.reset_index(drop=True))


def test_a_row_without_an_adapter_is_left_out_of_what_adapters_know() -> None:
    gain = ("likelihood_author_voice_gain", "")
    three = {str(chance): chance for chance in CHANCES[1:]}
    found = measure_agreement.score(with_scores({gain: three}), MeasureAgreement(draws=50))
    assert cell(found, "agreement_over_methods", "", gain[0]) == pytest.approx(1.0)
    found = measure_agreement.score(with_scores({gain: {"0.3": 0.3}}), MeasureAgreement(draws=50))
    note = found[(found["encoder"] == "") & (found["metric"] == "agreement_over_methods")]["note"]
    assert set(note) == {NEEDED}


def test_the_table_and_the_figure_name_them(tmp_path) -> None:
    truth = {str(chance): chance for chance in CHANCES}
    known = with_scores({("likelihood_author_voice_gain", ""): truth})
    found = measure_agreement.score(known, MeasureAgreement(draws=50))
    cells = build_table(printed_spec("measure-agreement"), found, CONTEXT)
    last = cells[cells["row"] == cells["row"].iloc[-1]]
    assert "Adapters" in last["row"].iloc[0]
    assert last["text"].iloc[0].startswith("1.00 [")
    assert last.set_index("column")["reason"]["Own text"].startswith("the authors' own texts")
    draw_measure_agreement(found, tmp_path / "agreement.csv")
    assert "Adapters: Voice gain" in (tmp_path / "agreement.csv").read_text()
