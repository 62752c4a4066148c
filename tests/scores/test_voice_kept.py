"""Voice kept: its two ends, its agreement with the families it is made of, and texts whose share is known."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr
from tests.scores.copied_voices import AUTHORS, CLIENTS, as_common, by_method, copied_voices, inputs_of

from favor.foundation.vectors import unit_rows
from favor.scores import prototypes, verification, voice_kept
from favor.scores.settings import Prototypes, Resampled, Verification

FEW = Resampled(draws=200)
THREE = {"a": [0.0, 5.0], "b": [90.0, 95.0], "c": [180.0, 185.0]}
FOUR = {"a": [0.0, 0.0], "b": [10.0, 10.0], "c": [60.0, 60.0], "d": [150.0, 150.0]}
DIRECTIONS = [np.exp(1j * np.radians(angles[0])) for angles in FOUR.values()]
MEAN = float(np.degrees(np.angle(np.mean(DIRECTIONS))))


@pytest.fixture(scope="module")
def copied() -> pd.DataFrame:
    return voice_kept.score(copied_voices(one_voice=True), FEW)


def test_nobodys_voice_keeps_nothing_and_half_a_voice_a_half() -> None:
    """Ten authors around one centre.

    "nobody" writes at the centre, as people scatter or without any scatter; "half"
    writes every other output so, and the others in the author's voice; "own" writes as the author does.
    """
    generator = np.random.default_rng(3)
    size, each = 24, 40
    centres = 2 * generator.normal(size=size) + generator.normal(size=(AUTHORS, size))
    places = {"nobody": np.zeros(each), "half": np.tile([0.0, 1.0], each // 2), "own": np.ones(each)}
    rows: list[tuple[str, str, str, np.ndarray]] = []
    for author, client in enumerate(CLIENTS):
        for source, own in ("train", np.ones(each)), ("gold", np.ones(each)), *places.items():
            texts = centres.mean(axis=0) + own[:, None] * (centres[author] - centres.mean(axis=0))
            texts = texts + 2 * generator.normal(size=texts.shape)
            rows += [
                (source, client, f"{client}-{source * (source == 'train')}{n:02d}", v) for n, v in enumerate(texts)
            ]
        rows += [("mean", client, f"{client}-{n:02d}", centres.mean(axis=0)) for n in range(each)]
    vectors = unit_rows(np.array([vector for *_, vector in rows]))
    texts = pd.DataFrame([row[:3] for row in rows], columns=["source", "client", "item"])
    inputs = inputs_of(texts.assign(text=" ".join(f"word{number}" for number in range(30))), vectors)
    scores = voice_kept.score(inputs, FEW)
    for measure in voice_kept.OWN_PROMPTS:
        found = by_method(scores, f"kept_{measure}")
        assert found["nobody"] == pytest.approx(0.0, abs=0.12), (measure, found)
        assert found["half"] == pytest.approx(0.5, abs=0.12), (measure, found)
        assert found["own"] == pytest.approx(1.0, abs=0.12), (measure, found)
    # The mean of all voices is nearer to every author than the author's own scattered texts are: no share can be read
    # from the similarity alone.
    assert by_method(scores, "kept_author_margin")["mean"] == pytest.approx(0.0, abs=0.05)
    similarity = by_method(prototypes.score(inputs, Prototypes()), "target_similarity")
    assert similarity["mean"] > similarity["gold"]


def test_shares_rise_with_the_chance_of_the_own_voice_up_to_all_of_own_text(copied) -> None:
    for measure in voice_kept.OWN_PROMPTS:
        low, shares, high = (by_method(copied, f"kept_{measure}", end) for end in ("low", "", "high"))
        assert shares["0.0"] < 0.0 < shares["0.5"] < 0.85 < shares["1.0"], (measure, shares)
        assert low["1.0"] < shares["1.0"] < high["1.0"]
        assert low["gold"] == shares["gold"] == high["gold"] == 1.0
        assert shares["shuffled"] < 0.0  # an author of the experiment, but never the right one


def test_one_text_for_all_is_nobodys_and_a_wrong_voice_is_distinct_without_being_faithful(copied) -> None:
    assert by_method(copied, "kept_author_accuracy", "score")["same"] == 1 / 10
    share, distinct = by_method(copied, "kept_author_accuracy"), by_method(copied, "distinct_auc")
    assert share["0.0"] < share["same"] == 0.0
    assert by_method(copied, "kept_author_margin")["same"] == pytest.approx(0.0, abs=1e-9)
    assert distinct["same"] == 0.5
    assert distinct["0.0"] - 0.5 > 0.7 * (distinct["gold"] - 0.5)


def test_scores_and_ends_are_those_of_the_other_families(copied) -> None:
    inputs = copied_voices(one_voice=True)
    others = {
        **{name: prototypes.score(inputs, Prototypes()) for name in ("author_accuracy", "author_margin")},
        "generated_source_auc": verification.score(inputs, Verification()),
    }
    nothing = {"author_accuracy": 0.1, "author_margin": 0.0, "generated_source_auc": 0.5}
    for name, scores in others.items():
        values = by_method(scores, name)
        assert by_method(copied, f"kept_{name}", "score") == pytest.approx(values)
        assert list(by_method(copied, f"kept_{name}", "ceiling").values()) == pytest.approx([values["gold"]] * 6)
        assert list(by_method(copied, f"kept_{name}", "floor").values()) == [nothing[name]] * 6
        share = (values["0.5"] - nothing[name]) / (values["gold"] - nothing[name])
        assert by_method(copied, f"kept_{name}")["0.5"] == pytest.approx(share)
    distinct = by_method(verification.score(inputs, Verification()), "generated_auc")
    assert by_method(copied, "distinct_auc") == pytest.approx(distinct)


def test_a_base_model_is_a_second_floor() -> None:
    inputs = copied_voices()
    named = {"method": {"0.5": "base_only"}}
    spaces = {"e": inputs.generation_embeddings["e"].replace(named)}
    made = inputs.generations.replace(named)
    scores = voice_kept.score(replace(inputs, generations=made, generation_embeddings=spaces), FEW)
    share = by_method(scores, "kept_author_margin", "over_base")
    assert (share["base_only"], share["gold"]) == (0.0, 1.0)
    plain = by_method(scores, "kept_author_margin")
    # the same three numbers on another scale
    assert share["1.0"] == pytest.approx((plain["1.0"] - plain["base_only"]) / (1 - plain["base_only"]))


def test_a_share_of_an_auc_without_pairs_says_which_are_missing(inputs_maker) -> None:
    topics = {"a": "Arts", "b": "Student", "c": "Science"}
    apart = inputs_maker(train=THREE, gold=THREE, generated=THREE, topics=topics)
    alone = inputs_maker(train=THREE, gold={client: angles[:1] for client, angles in THREE.items()}, generated=THREE)
    for inputs, why in ((apart, "in some seed no two authors share a topic"), (alone, "no author has two human")):
        scores = voice_kept.score(inputs, FEW)
        rows = scores[(scores["metric"] == "kept_generated_source_auc") & (scores["variant"] == "")]
        assert rows["value"].isna().all()
        assert rows["note"].str.contains(why).all(), set(rows["note"])


def test_a_method_without_surviving_outputs_has_no_share(inputs_maker) -> None:
    inputs = inputs_maker(train=THREE, gold=THREE, generated={client: [None, None] for client in "abc"})
    scores = voice_kept.score(inputs, FEW)
    rows = scores[(scores["method"] == "m") & (scores["variant"] == "")]
    rows = rows[rows["metric"].str.startswith("kept_") & (rows["metric"] != f"kept_{voice_kept.FAILURES_WRONG}")]
    assert rows["value"].isna().all()
    assert set(rows["note"]) == {"no value of the score"}
    # Outputs that failed the filter are wrong ones.
    assert by_method(scores, f"kept_{voice_kept.FAILURES_WRONG}", "score")["m"] == 0.0
    assert by_method(scores, "kept_author_margin")["gold"] == 1.0
    # Three authors who are all right: Wilson's limit, 1 / (1 + 4.303^2 / 3) = .139, is not above the chance of 1/3.
    rows = scores[(scores["metric"] == "kept_author_accuracy") & (scores["method"] == "gold")].set_index("variant")
    note = "own continuations and nothing are not apart: +0.667, 95 % interval [-0.194, 0.667]"
    assert (np.isnan(rows.loc["", "value"]), rows.loc["", "note"]) == (True, note)


def test_common_prompts_lie_between_the_ends_of_own_ones(copied) -> None:
    inputs = as_common(copied_voices(one_voice=True))
    common = inputs.common_generations
    scores = voice_kept.score(inputs, FEW)
    for measure, own in voice_kept.COMMON_PROMPTS.items():
        shares, wanted = by_method(scores, f"kept_{measure}"), by_method(copied, f"kept_{own}")
        for method in ("0.0", "0.5", "1.0", "same"):
            assert shares[method] == pytest.approx(wanted[method])
        notes = scores.loc[(scores["metric"] == f"kept_{measure}") & (scores["method"] == "gold"), "note"]
        assert notes.str.startswith("people wrote no continuations").any()
    assert not copied["metric"].str.startswith("kept_common").any()
    common.loc[(common["method"] == "0.5") & (common["client"] == common["client"].min()), "passed"] = False
    fewer = voice_kept.score(replace(inputs, common_generations=common), FEW)
    counted = fewer[(fewer["metric"] == "kept_common_accuracy") & (fewer["variant"] == "authors")].set_index("method")
    assert counted.loc[["0.5", "1.0", "gold"], "value"].tolist() == [9, 10, 0]
    assert counted.loc["0.5", "n"] == 0.9 * counted.loc["1.0", "n"] > 0


def test_what_authors_lose_by_hand(three_authors) -> None:
    losses = voice_kept.author_losses(three_authors, "e").set_index("client")
    cos = {angle: np.cos(np.radians(angle)) for angle in (0, 5, 20, 60)}
    # Prototypes at 0, 90 and 180 degrees. A text at x degrees has the margin cos x - (cos(90 - x) + cos(180 - x)) / 2
    # of a, and so on; for a and c, which are opposite, that is 1.5 cos - .5 sin, and cos alone for b.
    at = {angle: 1.5 * np.cos(np.radians(angle)) - 0.5 * np.sin(np.radians(angle)) for angle in (0, 5, -5, 20)}
    # a wrote at 0 and 5 degrees from its prototype, its outputs lie at 0 and 20; b's second one 60 away, not 5; c wrote
    # at 0 and 5 degrees beyond its prototype, seen from b, and its output lies at 0
    wanted = [(at[5] - at[20]) / 2, (cos[5] - cos[60]) / 2, (at[0] + at[-5]) / 2 - at[0]]
    assert losses["m"].tolist() == pytest.approx(wanted)
    # prototypes at 0, 90 and 180 degrees: their mean points to 90
    assert losses["distance"].tolist() == pytest.approx([1.0, 0.0, 1.0])
    assert losses["words"].isna().all()
    scores = voice_kept.score(three_authors, FEW)
    rows = scores[(scores["metric"] == "margin_lost") & (scores["method"] == "m")].set_index("variant")["value"]
    assert rows.to_dict() == pytest.approx(losses["m"].to_dict())
    assert scores.loc[scores["metric"] == "margin_lost", "n"].tolist() == [2, 2, 1]
    notes = scores.loc[scores["metric"] == "loss_with_volume", "note"]
    assert set(notes) == {"an author has no output or no words, or all are alike"}


def test_writing_like_the_mean_costs_the_distant_authors_most(inputs_maker) -> None:
    inputs = inputs_maker(train=FOUR, gold=FOUR, generated={key: [MEAN, MEAN] for key in FOUR})
    losses = voice_kept.author_losses(inputs, "e")
    # S, the sum of the four prototypes, points to the mean. Of an author at cos x = 1 - distance to it, a text at the
    # mean has the margin cos x - (|S| - cos x) / 3, an own one 1 - (|S| cos x - 1) / 3: (1 - cos x)(4 + |S|) / 3 more.
    scale = (4 + abs(sum(DIRECTIONS))) / 3
    assert losses["m"].tolist() == pytest.approx((scale * losses["distance"]).tolist())
    # and yet no author loses more than the same share of the voice: all of it.
    assert voice_kept.unequal_losses(inputs, "e")["m"].to_numpy() == pytest.approx(0.0, abs=1e-12)
    scores = voice_kept.score(inputs, FEW)
    assert by_method(scores, "loss_with_distance")["m"] == 0.0
    # who wrote nothing has no loss, and the others keep theirs
    silent = inputs_maker(train=FOUR, gold=FOUR, generated={key: [None if key == "d" else MEAN] * 2 for key in FOUR})
    assert voice_kept.unequal_losses(silent, "e")["m"].isna().tolist() == [key == "d" for key in FOUR]


@pytest.mark.filterwarnings("error")
def test_one_author_loses_no_more_than_others(inputs_maker) -> None:
    inputs = inputs_maker(train={"a": [0, 0]}, gold={"a": [0]}, generated={"a": [40]})
    assert voice_kept.unequal_losses(inputs, "e")["m"].isna().all()


def test_half_of_every_voice_is_no_more_lost_by_the_distant(inputs_maker) -> None:
    """One of two outputs is in the author's own voice, the other the mean's: everyone keeps the same share.

    Then an author at 150 degrees, the most distant, loses its own output as well, and the correlation is that of the
    ranks of who loses more than k h.
    """
    half = {client: [own[0], MEAN] for client, own in FOUR.items()}
    inputs = inputs_maker(train=FOUR, gold=FOUR, generated=half)
    assert voice_kept.unequal_losses(inputs, "e")["m"].to_numpy() == pytest.approx(0.0, abs=1e-12)
    inputs = inputs_maker(train=FOUR, gold=FOUR, generated=half | {"d": [MEAN, MEAN]})
    found = voice_kept.unequal_losses(inputs, "e")["m"]
    # By hand, from the matrix of mean cosines: v = (own - others) - mean of the others' same, k = sum v / sum h.
    at = np.radians([0.0, 10.0, 60.0, 150.0])

    def voice(outputs) -> np.ndarray:
        cosines = np.array([[np.cos(np.radians(own) - angle).mean() for angle in at] for own in outputs])
        margin = [[row[a] - np.delete(row, a).mean() for a in range(4)] for row in cosines]
        return np.array([margin[a][a] - np.mean([margin[c][a] for c in range(4) if c != a]) for a in range(4)])

    v = voice([[0.0, MEAN], [10.0, MEAN], [60.0, MEAN], [MEAN, MEAN]])
    h = voice([[angle, angle] for angle in np.degrees(at)])
    assert found.tolist() == pytest.approx((v.sum() / h.sum() * h - v).tolist())
    assert found.argmax() == 3
    assert by_method(voice_kept.score(inputs, FEW), "loss_with_distance")["m"] == pytest.approx(
        spearmanr(found, voice_kept.author_losses(inputs, "e")["distance"]).statistic
    )


def test_turning_away_from_others_wins_a_margin_and_nothing_that_findings_are_made_of(inputs_maker) -> None:
    """Two authors at 0 and 60 degrees: own texts have the margin 1 - cos 60 = .5.

    Outputs at -40 and 100 are further from their author (cos 40 = .766) and further still from the other (cos 100).
    """
    human = {"a": [0.0, 0.0], "b": [60.0, 60.0]}
    inputs = inputs_maker(train=human, gold=human, generated={"a": [-40.0, -40.0], "b": [100.0, 100.0]})
    scores = voice_kept.score(inputs, FEW)
    assert by_method(scores, "kept_author_margin", "score")["m"] == pytest.approx(0.766 + 0.1736, abs=1e-3)
    assert by_method(scores, "kept_author_margin")["m"] == pytest.approx((0.766 + 0.1736) / 0.5, abs=2e-3)
    # at most by what the cosine to the other has fallen
    assert by_method(scores, "kept_author_margin", "score")["m"] < 0.5 + (0.5 + 0.1736)
    shares = by_method(scores, "kept_author_accuracy_failures_wrong", "score")
    assert shares["m"] == shares["gold"] == 1.0


def test_failures_are_wrong_and_unseen_encoders_stand_by_their_mean(inputs_maker) -> None:
    human = {client: [90.0 * place, 90.0 * place + 5] for place, client in enumerate("abcd")}
    # Of eight outputs two failed the filter, one lies with another author: 5 of 6 survivors, 5 of 8 outputs are right.
    generated = {"a": [0.0, None], "b": [90.0, 90.0], "c": [180.0, None], "d": [270.0, 0.0]}
    inputs = replace(inputs_maker(train=human, gold=human, generated=generated), unseen=["e"])
    scores = voice_kept.score(inputs, FEW)
    for encoder in ("e", "unseen"):
        own = scores[(scores["encoder"] == encoder) & (scores["method"] == "m") & (scores["variant"] == "score")]
        values = own.set_index("metric")["value"]
        assert values["kept_author_accuracy"] == pytest.approx(5 / 6)
        assert values[f"kept_{voice_kept.FAILURES_WRONG}"] == pytest.approx(5 / 8)
        counted = own.set_index("metric")["n"]
        assert (counted["kept_author_accuracy"], counted[f"kept_{voice_kept.FAILURES_WRONG}"]) == (6, 8)


def test_intervals_count_the_authors_who_have_outputs(inputs_maker) -> None:
    """Of ten authors two answer, one output each: a at 10 degrees from itself and b at 5, which both are right.

    Wilson's lower limit of 2 of 2 is 1 / (1 + t^2 / 2), with t = 12.706 of one degree of freedom. Failed outputs are
    outputs: the other measure has ten authors, t = 2.262, and 2 of 10 right.
    """
    own = {name: [place * 36.0] for place, name in enumerate("abcdefghij")}
    made = {name: [own[name][0] + 5] if name in "ab" else [None] for name in own}
    scores = voice_kept.score(inputs_maker(train=own, gold=own, generated=made), FEW)
    low = by_method(scores, "kept_author_accuracy", "score_low")["m"]
    assert low == pytest.approx(1 / (1 + 12.706**2 / 2), rel=1e-3)
    assert 0.03 < by_method(scores, f"kept_{voice_kept.FAILURES_WRONG}", "score_low")["m"] < 0.1
    alone = voice_kept.score(inputs_maker(train=own, gold=own, generated=made | {"b": [None]}), FEW)
    rows = alone[(alone["method"] == "m") & (alone["metric"] == "kept_author_accuracy")].set_index("variant")
    assert rows.loc[["", "score_low", "low"], "value"].isna().all()
    assert rows.loc["", "note"] == "needs outputs of two authors"


def test_intervals_of_an_auc_count_the_authors_who_share_a_topic(inputs_maker) -> None:
    """Two who share theirs with nobody else count as one. Where every pair is won the limit is Wilson's, as above."""
    far = {name: [place * 60.0, place * 60.0 + 1] for place, name in enumerate("abcdef")}
    for topics, t, number in (("ssssss", 2.571, 6), ("ssttuv", 12.706, 2), ("ssstuv", 4.303, 3), ("sstttt", 2.776, 5)):
        inputs = inputs_maker(train=far, gold=far, generated=far, topics=dict(zip(far, topics, strict=True)))
        low = by_method(voice_kept.score(inputs, FEW), "kept_generated_source_auc", "score_low")
        assert low["m"] == low["gold"] == pytest.approx(1 / (1 + t**2 / number), rel=1e-3), topics
    alone = far | {name: [None, None] for name in "bcdef"}
    inputs = inputs_maker(train=far, gold=far, generated=alone)
    assert np.isnan(by_method(voice_kept.score(inputs, FEW), "kept_generated_source_auc", "score_low")["m"])
