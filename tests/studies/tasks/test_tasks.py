"""Content kept and voice gained, from angles by hand; requests refused, chosen and cut into pieces."""

import numpy as np
import pandas as pd
import pytest
from tests.scores.conftest import direction, make_inputs, value

from favor.federation.schemas import REQUESTS
from favor.foundation.errors import UserError
from favor.scores.metric import ALL_SEEDS
from favor.studies.settings import RequestSelection
from favor.studies.tasks.requests import REQUESTS as KINDS
from favor.studies.tasks.selecting import select_requests
from favor.studies.tasks.tasks import task_scores

REWRITE = KINDS["rewrite"]


def cosine(*degrees) -> float:
    return float(np.cos(np.radians(degrees[0] - degrees[1])))


TRAIN = {"a": [0], "b": [90], "c": [180]}
GOLD = {"a": [5], "b": [95], "c": [170]}
MADE = {"a": [20], "b": [60], "c": [None]}
DRAFTS = {"a": 45, "b": 50, "c": 100}


def drafts_at(angles) -> dict[str, pd.DataFrame]:
    """What is asked, by client at an angle in degrees."""
    rows = [(client, f"{client}-1-1", "draft", "Student", direction(angle)) for client, angle in angles.items()]
    return {"e": pd.DataFrame(rows, columns=["client", "item", "kind", "topic", "embedding"])}


@pytest.fixture
def scored() -> dict[str, pd.DataFrame]:
    """The scores by what the one encoder is read as: voice or content."""
    inputs = make_inputs(TRAIN, GOLD, MADE)
    return {kind: task_scores(inputs, drafts_at(DRAFTS), kind, 7, 400) for kind in ("e", "another")}


def test_content_is_the_cosine_to_ones_own_draft_and_chance_that_to_others(scored) -> None:
    table = scored["e"]
    assert value(table, "content_kept") == pytest.approx((cosine(20, 45) + cosine(60, 50)) / 2)
    chance = [cosine(20, 50) + cosine(20, 100), cosine(60, 45) + cosine(60, 100)]
    assert value(table, "content_by_chance") == pytest.approx(sum(chance) / 4)
    own = [cosine(5, 45), cosine(95, 50), cosine(170, 100)]
    assert value(table, "content_kept", method="gold") == pytest.approx(np.mean(own))
    assert set(table["metric"]) == {"content_kept", "content_by_chance"}
    assert set(table["seed"]) == {ALL_SEEDS}
    low, high = (value(table, "content_kept", end, "gold") for end in ("low", "high"))
    assert -1 <= low < np.mean(own) < high <= 1


def test_voice_gained_is_the_margin_of_the_answer_minus_that_of_its_draft(scored) -> None:
    def margin(angle, author) -> float:
        others = [cosine(angle, TRAIN[other][0]) for other in TRAIN if other != author]
        return cosine(angle, TRAIN[author][0]) - float(np.mean(others))

    table = scored["another"]
    gained = [margin(made[0], author) - margin(DRAFTS[author], author) for author, made in MADE.items() if made[0]]
    assert value(table, "voice_gained") == pytest.approx(np.mean(gained))
    own = [margin(angles[0], author) - margin(DRAFTS[author], author) for author, angles in GOLD.items()]
    assert value(table, "voice_gained", method="gold") == pytest.approx(np.mean(own))
    assert set(table["metric"]) == {"voice_gained"}


def test_the_draft_itself_keeps_all_and_gains_nothing() -> None:
    inputs = make_inputs(TRAIN, GOLD, {client: [angle] for client, angle in DRAFTS.items()})
    assert value(task_scores(inputs, drafts_at(DRAFTS), "e", 7, 50), "content_kept") == pytest.approx(1)
    assert value(task_scores(inputs, drafts_at(DRAFTS), "", 7, 50), "voice_gained") == pytest.approx(0)


def test_a_method_without_an_output_says_why() -> None:
    inputs = make_inputs(TRAIN, GOLD, {client: [None] for client in TRAIN})
    table = task_scores(inputs, drafts_at(DRAFTS), "e", 7, 50)
    own = table[table["method"] == "m"]
    assert own["value"].isna().all()
    assert set(own["note"]) == {"under some seed no output passed the filter"}


def test_authors_without_an_output_do_not_narrow_an_interval() -> None:
    """Of four authors, at right angles, a and b answer: margins are 4/3 of cosines, and gains .158 and .173.

    Their mean has the standard error .015 / 2, and one degree of freedom, t = 12.7. Of one author nothing is known.
    """
    angles = {"a": 0, "b": 90, "c": 180, "d": 270}
    single = {name: [angle] for name, angle in angles.items()}
    drafts = drafts_at({name: angle + 30 for name, angle in angles.items()})

    def ends(a, b) -> list[float]:
        inputs = make_inputs(single, single, {"a": [a], "b": [b], "c": [None], "d": [None]})
        table = task_scores(inputs, drafts, "", 7, 2000)
        return [value(table, "voice_gained", end) for end in ("low", "high")]

    low, high = ends(10, 95)
    apart = 4 / 3 * (cosine(95, 90) - cosine(10, 0))
    assert high - low == pytest.approx(2 * 12.706 * apart / 2, rel=0.1)
    assert np.isnan(ends(10, None)).all()


def requests(**changes) -> pd.DataFrame:
    """Two clients with three test documents of two passages and one training document; answers of 30 tokens."""
    rows = [
        (client, f"{client}{document}", number, "train" if document == 3 else "test", "t")
        for client in "ab"
        for document in range(4)
        for number in range(2)
    ]
    frame = pd.DataFrame(rows, columns=REQUESTS.names[:5])
    names = frame["document_id"] + "-" + frame["passage"].astype(str)
    frame = frame.assign(text="text of " + names, draft="draft of " + names, refused="")
    frame = frame.assign(prompt_tokens=[[5, 6]] * len(frame), answer_tokens=[list(range(31))] * len(frame))
    return frame.assign(**changes)


CUT = RequestSelection(
    task="rewrite", shared_passages="keep", per_client=2, minimum_gold_tokens=20, maximum_gold_tokens=30
)


def test_a_held_out_document_gives_its_first_passage_that_serves() -> None:
    frame = requests()
    frame.loc[(frame["document_id"] == "a0") & (frame["passage"] == 0), "refused"] = "copied"
    found = select_requests(frame, REWRITE, CUT, 3, left_out=("b1",))
    assert found.groupby("client").size().to_dict() == {"a": 2, "b": 2}
    assert not found["document_id"].duplicated().any()
    assert not found["document_id"].isin(["a3", "b3", "b1"]).any()  # trained on, or a near duplicate
    for row in found.itertuples():
        passage = 1 if row.document_id == "a0" else 0
        assert row.prompt_text == f"draft of {row.document_id}-{passage}"
        assert row.gold_text == f"text of {row.document_id}-{passage}"
        assert (row.gold_tokens, list(row.prompt_tokens)) == (30, [5, 6])
    seeds = [select_requests(frame, REWRITE, CUT, seed)["document_id"].tolist() for seed in range(8)]
    assert len(set(map(tuple, seeds))) > 1
    again = select_requests(frame.sample(frac=1, random_state=1), REWRITE, CUT, 3, left_out=("b1",))
    pd.testing.assert_frame_equal(found, again)


@pytest.mark.parametrize(("tokens", "ok"), [(20, False), (21, True), (31, True), (32, False)])
def test_passages_are_neither_shorter_nor_longer_than_answers_may_be(tokens, ok) -> None:
    frame = requests()
    frame = frame.assign(answer_tokens=[list(range(tokens))] * len(frame))
    if ok:
        assert len(select_requests(frame, REWRITE, CUT, 1)) == 4
        return
    with pytest.raises(UserError, match=r"prompts: a \(of 2 such clients\) has no held-out draft that serves"):
        select_requests(frame, REWRITE, CUT, 1)


def test_a_client_all_of_whose_drafts_are_refused_is_named_with_the_reason() -> None:
    frame = requests()
    frame.loc[(frame["client"] == "b") & (frame["split"] == "test"), "refused"] = "copied"
    with pytest.raises(UserError, match=r"b \(of 1 such.*refused: 6 repeat 5 words in a row\); take a base model"):
        select_requests(frame, REWRITE, CUT, 1)
