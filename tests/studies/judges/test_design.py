"""The matched design: one common prompt an author and seed, everything judged twice, blind and in random order."""

import pandas as pd
import pytest
from tests.studies.judges.judge_server import outputs

from favor.foundation.errors import UserError
from favor.studies.judges.design import choose_prompts, design_requests
from favor.studies.judges.prompts import QUALITY, VOICE
from favor.studies.settings import JudgementDesign

METHODS = ("fedavg", "ditto", "favor")
DESIGN = JudgementDesign(methods=list(METHODS), voice=["favor", "ditto"])


def test_counts_follow_the_design() -> None:
    requests, key = design_requests(DESIGN, *outputs(METHODS))
    # 2 seeds x 3 authors = 6 groups; 3 methods, 2 judgements each; one pair, 2 judgements.
    assert requests["kind"].value_counts().to_dict() == {QUALITY: 36, VOICE: 12}
    assert sorted(requests["position"]) == list(range(48))
    assert set(zip(requests["kind"], requests["item"], requests["judgement"], strict=True)) == set(
        zip(key["kind"], key["item"], key["judgement"], strict=True)
    )
    quality = key[key["kind"] == QUALITY]
    # One prompt a group, common to all methods, and each output twice.
    assert (quality.groupby(["seed", "client"])["prompt_id"].nunique() == 1).all()
    assert (quality.groupby(["seed", "client", "first"]).size() == 2).all()


def test_of_several_samples_the_first_is_judged() -> None:
    generations, prompts, texts = outputs(METHODS)
    more = generations.assign(sample=1, text="another sample")
    made = design_requests(DESIGN, pd.concat([more, generations]), prompts, texts)
    for found, of_one in zip(made, design_requests(DESIGN, generations, prompts, texts), strict=True):
        pd.testing.assert_frame_equal(found, of_one)


def test_requests_name_no_method_and_no_client_and_show_what_the_key_says() -> None:
    generations, prompts, texts = outputs(METHODS)
    requests, key = design_requests(DESIGN, generations, prompts, texts)
    for row in requests.merge(key, on=["kind", "item", "judgement"]).itertuples():
        blind = " ".join((row.kind, row.item, row.system, row.user))
        # The made-up texts name the client in their words; what the requests add must not.
        added = blind.replace(row.prompt_id, "")
        assert not any(word in added for word in (*METHODS, row.client))
        places = [METHODS.index(method) for method in (row.first, row.second) if method]
        shown = [row.user.index(f"words by m{place} on {row.prompt_id}") for place in places]
        assert shown == sorted(shown)
        assert f"prefix of {row.prompt_id}" in row.user
        assert "gold" not in row.user
        assert ("own" in row.user) == (row.kind == VOICE)  # only comparisons of voices show the author's texts


def test_a_pair_is_shown_in_both_orders_and_the_first_order_is_random() -> None:
    _, key = design_requests(DESIGN, *outputs(METHODS, seeds=(1, 2, 3), clients=8))
    voice = key[key["kind"] == VOICE]
    assert (voice.groupby("item")["first"].nunique() == 2).all()
    first = voice.loc[voice["judgement"] == 1, "first"]
    assert set(first) == {"favor", "ditto"}


def test_blind_names_and_order_do_not_follow_the_methods() -> None:
    requests, key = design_requests(DESIGN, *outputs(METHODS, seeds=(1, 2, 3), clients=8))
    merged = requests.sort_values("position").merge(key, on=["kind", "item", "judgement"])
    quality = merged[merged["kind"] == QUALITY]
    by_name = quality[quality["judgement"] == 1].sort_values("item")["first"].tolist()
    for sequence in (quality["first"].tolist(), by_name):
        assert sequence != list(METHODS) * (len(sequence) // 3)
        assert set(sequence[: len(sequence) // 3]) == set(METHODS)


def test_a_profile_holds_training_texts_cut_to_length() -> None:
    generations, prompts, texts = outputs(METHODS)
    design = JudgementDesign(methods=list(METHODS), voice=["favor", "ditto"], profile_texts=2, profile_words=11)
    requests, _ = design_requests(design, generations, prompts, texts)
    for user in requests.loc[requests["kind"] == VOICE, "user"]:
        own = [word for word in user.split() if word.startswith("own")]
        assert len(own) == 22
        assert not any(word.endswith("x4") for word in own)  # the test text


def test_prompts_that_pass_everywhere_come_first_and_failed_groups_are_kept_and_marked() -> None:
    generations, _, _ = outputs(METHODS, seeds=(1,), clients=2)
    only = "client_001-1-2"
    fails = (generations["client"] == "client_001") & (generations["prompt_id"] != only)
    generations.loc[fails & (generations["method"] == "ditto"), "passed"] = False
    generations.loc[(generations["client"] == "client_002") & (generations["method"] == "favor"), "passed"] = False
    first, second = choose_prompts(generations, METHODS, 2026)
    assert (first.prompt_id, first.passed) == (only, True)
    assert second.client == "client_002"
    assert not second.passed


def test_the_design_follows_from_its_seed_not_from_row_order() -> None:
    generations, prompts, texts = outputs(METHODS)
    once = design_requests(DESIGN, generations, prompts, texts)
    again = design_requests(DESIGN, generations.sample(frac=1, random_state=1), prompts, texts[::-1])
    for left, right in zip(once, again, strict=True):
        assert left.equals(right)
    other = design_requests(JudgementDesign(methods=list(METHODS), seed=7), generations, prompts, texts)
    assert not other[0].equals(once[0])


def test_a_method_that_was_not_run_is_named() -> None:
    generations, prompts, texts = outputs(("favor", "fedavg"))
    with pytest.raises(UserError, match="'ditto' is not run"):
        design_requests(DESIGN, generations, prompts, texts)
