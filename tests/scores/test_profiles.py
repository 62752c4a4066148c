"""Author profiles: truths of planted voices, copies, and what stands for a text that cannot be read."""

from dataclasses import replace
from functools import cache

import pandas as pd
import pytest
from tests.scores.copied_voices import CLIENTS, by_method, copied_voices, repeated, written

from favor.scores.author_profiles import make_profiles
from favor.scores.inputs import ScoreInputs
from favor.scores.profiles import score
from favor.scores.settings import ProfileVerification
from favor.statistics.sign_flips import sign_flip_p

SETTINGS = ProfileVerification(words=800, minimum_words=200, draws=50, order=4)


@cache
def voices() -> ScoreInputs:
    """Ten authors; a method writes in the author's voice by chance.

    With 8 posts of every author that nothing was trained on; they have vectors of training texts.
    """
    inputs = copied_voices()
    posts = [
        {"client": client, "document_id": f"{client}-fresh-{n}", "text": written(author, "fresh", n)}
        for author, client in enumerate(CLIENTS)
        for n in range(8)
    ]
    posts = pd.DataFrame(posts).assign(kind="validation", training_text="", topic="Student")
    human = inputs.source_embeddings["e"]
    train = human[human["kind"] == "train"]
    number = train["item"].str[-2:].astype(int)
    fresh = train[number < 8].assign(kind="validation", item=train["client"] + "-fresh-" + number.astype(str))
    embeddings = {"e": pd.concat([human, fresh], ignore_index=True)}
    texts = pd.concat([inputs.client_texts, posts], ignore_index=True)
    return replace(inputs, client_texts=texts, source_embeddings=embeddings)


@cache
def scored() -> pd.DataFrame:
    return score(voices(), SETTINGS)


def of(rows, metric, verifier, variant="") -> dict[str, float]:
    return by_method(rows[rows["encoder"] == verifier], metric, variant)


@pytest.mark.parametrize("verifier", ["lambdag", "e"])
@pytest.mark.parametrize("metric", ["profile_accuracy", "profile_macro_f1", "profile_auc", "profile_ratio"])
def test_measures_rise_with_the_chance_of_the_own_voice(verifier, metric) -> None:
    found = of(scored(), metric, verifier)
    assert found["0.0"] < found["0.5"] < found["1.0"]
    assert found["shuffled"] < found["gold"]


def test_own_text_is_near_the_top_and_anothers_at_the_floor() -> None:
    accuracy, area = (of(scored(), metric, "lambdag") for metric in ("profile_accuracy", "profile_auc"))
    assert accuracy["gold"] > 0.4
    assert accuracy["shuffled"] < 0.1  # what guessing gives
    assert area["gold"] > 0.85
    assert area["shuffled"] < 0.5
    ratio, cost = (of(scored(), metric, "lambdag") for metric in ("profile_ratio", "profile_cost"))
    assert ratio["gold"] > 0 > ratio["0.0"]
    assert cost["gold"] < 1 < cost["0.0"]


def test_permuted_authors_permute_the_scores() -> None:
    inputs = voices()
    turned = dict(zip(CLIENTS, (*CLIENTS[2:], *CLIENTS[:2]), strict=True))  # 0.0 writes in the next author's but one

    def moved(table) -> pd.DataFrame:
        written = table.get("kind", pd.Series("output", table.index)).isin(["output", "gold"])
        return table.assign(client=table["client"].where(~written, table["client"].map(turned)))

    tables = {name: moved(getattr(inputs, name)) for name in ("generations", "prompts")}
    spaces = {name: {"e": moved(getattr(inputs, name)["e"])} for name in ("generation_embeddings", "source_embeddings")}
    found = of(score(replace(inputs, **tables, **spaces), SETTINGS), "profile_accuracy", "lambdag")
    assert found["0.0"] == pytest.approx(of(scored(), "profile_accuracy", "lambdag")["1.0"], abs=0.15)
    assert found["1.0"] < 0.15


def test_a_copy_of_what_was_trained_on_gains_nothing() -> None:
    inputs = voices()
    posts = inputs.client_texts[inputs.client_texts["training_text"] != ""].groupby("client")["training_text"].first()
    copied = inputs.generations["method"] == "1.0"
    texts = inputs.generations["text"].where(~copied, inputs.generations["client"].map(posts))
    found = score(replace(inputs, generations=inputs.generations.assign(text=texts)), SETTINGS)
    for verifier in ("lambdag", "e"):
        assert of(found, "profile_accuracy", verifier, "failures_wrong")["1.0"] == 0.0
        assert pd.isna(of(found, "profile_auc", verifier)["1.0"])
    note = found[(found["method"] == "1.0") & (found["metric"] == "profile_auc") & (found["variant"] == "")]["note"]
    assert set(note) == {"every output is copied"}


def test_one_text_for_all_authors_is_at_chance() -> None:
    found = score(copied_voices(one_voice=True), SETTINGS)
    assert of(found, "profile_accuracy", "lambdag")["same"] == pytest.approx(0.1, abs=0.05)
    assert of(found, "profile_auc", "lambdag")["same"] == pytest.approx(0.5, abs=0.05)


def test_failures_count_as_wrong() -> None:
    inputs = voices()
    failed = inputs.generations["method"].eq("1.0") & inputs.generations["prompt_id"].str.endswith(("p0", "p1", "p2"))
    found = score(replace(inputs, generations=inputs.generations.assign(passed=~failed)), SETTINGS)
    left, whole = (of(found, "profile_accuracy", "lambdag", variant)["1.0"] for variant in ("", "failures_wrong"))
    assert whole == pytest.approx(left / 2)


def test_profiles_are_of_text_that_was_not_trained_on_and_other_text_fills_up() -> None:
    profiles = make_profiles(voices(), 400, 200, seed=1)
    assert all("fresh" in document for own in profiles.documents for document in own)
    assert profiles.trained.sum() == 0
    assert set(profiles.words) == {400}
    assert of(scored(), "profile_trained", "")["source"] == 0.0
    filled = make_profiles(copied_voices(), 400, 200, seed=1)
    assert set(filled.words) == set(filled.trained) == {200}
    assert of(score(copied_voices(), SETTINGS), "profile_trained", "")["source"] == 1.0


def test_whole_posts_keep_their_last_mark() -> None:
    inputs = voices()
    profiles = make_profiles(inputs, 10_000, 200, seed=1)
    posts = dict(zip(inputs.client_texts["document_id"], inputs.client_texts["text"], strict=True))
    assert not all(text[-1].isalpha() for text in posts.values())
    for documents, texts in zip(profiles.documents, profiles.texts, strict=True):
        whole = [text == posts[document] for document, text in zip(documents, texts, strict=True)]
        assert all(whole[:-1])
        assert len(whole) > 2


def test_posts_of_prompts_are_in_no_profile() -> None:
    inputs = voices()
    held = inputs.prompts.assign(document_id=[f"{client}-fresh-0" for client in inputs.prompts["client"]])
    profiles = make_profiles(replace(inputs, prompts=held), 10_000, 200, seed=1)
    assert not any(document.endswith("fresh-0") for own in profiles.documents for document in own)
    assert len(set(profiles.words)) == 1


def test_another_language_has_a_note_and_no_value() -> None:
    inputs = voices()
    foreign = inputs.client_texts.assign(text="der Hund und die Katze laufen durch den Garten. " * 20)
    rows = score(replace(inputs, client_texts=foreign), SETTINGS)
    rows = rows[(rows["encoder"] == "lambdag") & (rows["metric"] != "profile_words")]
    assert rows["value"].isna().all()
    assert rows["note"].str.contains("English").any()


def test_rows_are_compared_over_the_same_draws_of_authors() -> None:
    """A voice kept always against one never kept is told apart by every verifier; half-way stands between."""
    for verifier in ("lambdag", "e"):
        area = of(scored(), "profile_auc", verifier)
        delta = of(scored(), "profile_auc", verifier, "minus:1.0")
        assert delta["0.0"] == pytest.approx(area["0.0"] - area["1.0"])
        assert delta["0.5"] == pytest.approx(area["0.5"] - area["1.0"])
        assert "1.0" not in delta  # every pair once
        ends = ("minus:1.0_low", "minus:1.0_high", "minus:1.0_p")
        low, high, p = (of(scored(), "profile_auc", verifier, end)["0.0"] for end in ends)
        assert low < delta["0.0"] < high < 0
        assert p < 0.05
    assert not set(of(scored(), "profile_auc", "lambdag", "minus:gold"))


def test_equal_rows_differ_by_nothing() -> None:
    def copied(table) -> pd.DataFrame:
        return pd.concat([table, table[table["method"] == "0.5"].assign(method="z")], ignore_index=True)

    inputs = voices()
    vectors = {"e": copied(inputs.generation_embeddings["e"])}
    twice = replace(inputs, generations=copied(inputs.generations), generation_embeddings=vectors)
    found = score(twice, SETTINGS)
    for metric in ("profile_accuracy", "profile_auc", "profile_ratio"):
        keys = ("minus:z", "minus:z_p", "minus:z_low", "minus:z_high")
        value, p, low, high = (of(found, metric, "lambdag", key)["0.5"] for key in keys)
        assert (value, p) == (0.0, 1.0)
        assert not low > 0  # as few authors leave open; missing where the measure has no bounds
        assert not high < 0


def test_failed_outputs_weigh_in_a_difference_as_those_that_were_read() -> None:
    """Three authors have one output that passed and four none: p is that of the authors' mean differences over all.

    Seven authors are behind what was read of that row, and ten behind what counts failures as wrong.
    """
    inputs = voices()
    made = inputs.generations
    first = made.groupby(["method", "client"]).cumcount() == 0
    few, none = made["client"].isin(CLIENTS[:3]) & ~first, made["client"].isin(CLIENTS[3:7])
    failed = made["method"].eq("0.5") & (few | none)
    changed = replace(inputs, generations=made.assign(passed=made["passed"] & ~failed))
    found = score(changed, SETTINGS.model_copy(update={"draws": 3000}))
    rows = found[(found["encoder"] == "lambdag") & (found["metric"] == "profile_author_accuracy")]
    accuracy = rows.pivot(index="variant", columns="method", values="value")
    expected = sign_flip_p((accuracy["0.5"] - accuracy["0.0"]).to_numpy(), SETTINGS.seed)
    p = of(found, "profile_accuracy", "lambdag", "minus:0.5_p")["0.0"]
    assert p == pytest.approx(expected, rel=0.05)
    rows = found[found["encoder"] == "lambdag"]
    counted = rows[rows["variant"] == "minus:0.5"].set_index("metric")["n"]
    assert counted[["profile_accuracy", "profile_ratio"]].tolist() == [10, 6]
    ratio = rows[(rows["metric"] == "profile_author_ratio") & (rows["method"] == "0.5")]
    assert ratio.sort_values("variant")["n"].tolist() == [1] * 3 + [0] * 4 + [6] * 3


def test_a_difference_is_over_the_seeds_of_both_rows() -> None:
    """Two seeds with the same outputs; method 0.0 has none left of the first and half of the second, 1.0 the rest."""
    inputs = repeated(voices(), "seed")
    made = inputs.generations
    first, late = made["seed"] == 1, made["prompt_id"].str.contains("p[345]")
    failed = (made["method"] == "0.0") & (first | late) | (made["method"] == "1.0") & ~first & ~late
    found = score(replace(inputs, generations=made.assign(passed=~failed)), SETTINGS)
    rows = found[(found["encoder"] == "e") & (found["metric"] == "profile_auc")]
    areas = rows[(rows["variant"] == "") & (rows["seed"] == 2)].set_index("method")["value"]
    for right in ("0.5", "1.0"):
        delta = rows[(rows["method"] == "0.0") & (rows["variant"] == f"minus:{right}")]["value"]
        assert delta.tolist() == pytest.approx([areas["0.0"] - areas[right]])
