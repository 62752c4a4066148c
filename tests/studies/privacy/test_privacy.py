"""The privacy scores: each attack finds a planted leak, finds nothing where there is none, and is right by hand."""

from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest

from favor.studies.privacy.attacks import leaver_scores, member_scores, sender_scores, text_scores
from favor.studies.privacy.privacy import METRICS, Readings, distinctiveness, privacy_scores
from favor.studies.privacy.schemas import (
    PRIVACY_CANARIES,
    PRIVACY_CANARY_CLIENTS,
    PRIVACY_LINKS,
    PRIVACY_LOSSES,
    PRIVACY_NORMS,
)

MEMBERS = [f"client_{number:03d}" for number in range(1, 9)]
ABSENT = [f"client_{number:03d}" for number in range(9, 17)]
COHORTS = (MEMBERS[:5], MEMBERS[3:])
LAST = {client: number for number, cohort in enumerate(COHORTS) for client in cohort}
TEXTS = 3
LEFT = MEMBERS[:3]


def losses(leak, seed=0) -> pd.DataFrame:
    """Return readings of two rounds in which an adapter lowers the loss of its own clients' texts by ``leak``.

    A text that was trained on falls by twice as much. Every text has a difficulty of its own, every adapter one too.
    """
    generator = np.random.default_rng(seed)
    difficulty = {
        (client, kind, text): generator.normal(4, 0.5)
        for client in [*MEMBERS, *ABSENT]
        for kind in ("fresh", "trained")
        for text in range(TEXTS)
    }
    rows = []

    shifts = {}

    def read(adapter, number, holder, clients, kinds, owners) -> None:
        shift = shifts.setdefault((adapter, number, holder), generator.normal(0, 0.5))
        for client in clients:
            for kind in kinds:
                for text in range(TEXTS):
                    gain = leak * owners.count(client) * (2 if kind == "trained" else 1)
                    loss = difficulty[client, kind, text] + shift - gain + generator.normal(0, 0.1)
                    rows.append((1, "favor", adapter, number, holder, client, kind, text, 20, loss, -loss))

    for number in range(3):
        known = [client for cohort in COHORTS[:number] for client in cohort]
        read("server", number, "", [*MEMBERS, *ABSENT], ("fresh",), known)
        trained = MEMBERS if number in (0, 2) else [client for client in MEMBERS if LAST[client] + 1 == number]
        read("server", number, "", trained, ("trained",), known)
    for number, cohort in enumerate(COHORTS):
        known = [client for cohort in COHORTS[:number] for client in cohort]
        for client in cohort:
            read("upload", number, client, cohort, ("fresh",), [*known, client])
            if LAST[client] == number:
                read("upload", number, client, [client], ("trained",), [*known, client])
    for client in COHORTS[-1]:
        read("personal", 0, client, [*COHORTS[-1], *ABSENT], ("fresh",), [client])
        read("personal", 0, client, [client], ("trained",), [client])
    # Made again without those who left: nothing in it is theirs.
    read("remade", 2, "", [*LEFT, *ABSENT], ("fresh",), [client for client in MEMBERS if client not in LEFT])
    return pd.DataFrame(rows, columns=PRIVACY_LOSSES.names)


def links(leak, seed) -> pd.DataFrame:
    generator = np.random.default_rng(seed)
    rows = [
        (1, "favor", 1, client, 0, other, leak * (client == other) + generator.normal(0, 0.1))
        for client in COHORTS[1]
        for other in COHORTS[0]
    ]
    return pd.DataFrame(rows, columns=PRIVACY_LINKS.names)


def canaries(leak) -> pd.DataFrame:
    """Secrets of rank 1 where they leak, else of every rank alike; the untrained adapter's have rank 1000."""
    generator = np.random.default_rng(2)
    rows = []
    for place, client in enumerate(MEMBERS):
        for adapter, number, holder in (
            ("server", 0, ""),
            ("server", LAST[client] + 1, ""),
            *((("server", 2, ""),) if LAST[client] != 1 else ()),
            ("upload", LAST[client], client),
        ):
            rank = 1000 if number == 0 and adapter == "server" else 1 if leak else int(generator.integers(1, 1001))
            rows.append((1, "favor", adapter, number, holder, client, (1, 4)[place % 2], rank, 999))
    return pd.DataFrame(rows, columns=PRIVACY_CANARIES.names)


def canary_clients(mean) -> pd.DataFrame:
    generator = np.random.default_rng(3)
    present, absent = mean + generator.normal(0, 0.01, size=200), generator.normal(0, 0.01, size=200)
    frame = pd.DataFrame({"canary": range(200), "present": present, "absent": absent})
    return frame.assign(seed=1, method="favor", participations=1, dimensions=10_000)[PRIVACY_CANARY_CLIENTS.names]


def norms() -> pd.DataFrame:
    rows = [(1, "favor", number, client, float(place)) for number in (0, 1) for place, client in enumerate("abcde")]
    return pd.DataFrame(rows, columns=PRIVACY_NORMS.names)


@cache
def scored(leak, seed=0) -> pd.Series:
    readings = Readings(
        losses(leak, seed), links(leak, seed), canaries(leak > 0), canary_clients(leak / 10), norms(), {}, 8**-1.1, {}
    )
    scores = privacy_scores({"favor": readings}, seed=5, draws=300)
    return scores[scores["note"] == ""].set_index(["metric", "variant"])["value"]


def test_every_attack_finds_a_planted_leak() -> None:
    found = scored(2.0)
    for view in ("upload", "personal"):
        assert found["sender_top1", view] == 1.0
        assert found["sender_auc", view] == 1.0
    for view in ("final", "personal"):
        assert found["member_auc", view] > 0.95
    assert found["member_auc", "mean"] > 0.95
    # Nobody is accused wrongly, and everybody is found: at most one in a hundred of fewer negatives is none.
    for metric, views in (("member_tpr", ("mean", "final", "personal")), ("text_tpr", ("upload", "mean", "final"))):
        assert [found[metric, view] for view in views] == [1.0] * 3
    for view in ("upload", "mean", "final", "personal"):
        assert found["text_auc", view] > 0.9
        assert found["text_least_auc", view] > 0.9
        assert found["text_auc", f"{view}_low"] <= found["text_auc", view] <= found["text_auc", f"{view}_high"]
    assert found["link_top1", "upload"] == found["link_auc", "upload"] == 1.0
    for view in ("upload", "mean", "final"):
        for repeats in (1, 4):
            assert found["canary_exposure", f"{view}_{repeats}"] == pytest.approx(np.log2(1000))
    assert found["canary_exposure", "initial_1"] == 0.0
    # N(0.2, 0.01^2) and N(0, 0.01^2): 20 deviations apart, so about 20^2 / 2 and what delta adds.
    assert 180 < found["empirical_epsilon", "mean"] < 260
    assert found["upload_norm", "upload"] == 2.0  # of 0, 1, 2, 3, 4 twice


def test_uploads_that_change_nothing_alone_have_numbers_only_beside_their_owners_other_half() -> None:
    rest = (links(1.0, 0), canaries(True), canary_clients(0.2), norms(), {}, 8**-1.1, {})
    scores = privacy_scores({"fedsa_lora": Readings(losses(2.0), *rest, silent=True)}, seed=5, draws=20)
    scores = scores.set_index(["metric", "variant"])
    for metric, view in (
        ("sender_top1", "upload"), ("text_auc", "upload"), ("text_auc", "mean"), ("text_least_auc", "final"),
        ("member_auc", "mean"), ("member_auc", "final"), ("leaver_auc", "after"), ("canary_exposure", "upload_4"),
        ("canary_exposure", "final_1"),
    ):  # fmt: skip
        assert scores.loc[(metric, view), "note"].startswith("what is uploaded changes nothing alone"), (metric, view)
    whole = scored(2.0)
    for metric, view in (("sender_top1", ""), ("text_auc", ""), ("canary_exposure", "_4")):
        found = scores.loc[(metric, f"completed{view}"), "value"]
        assert found == whole[metric, f"upload{view}"]
    for metric, view in (
        ("link_auc", "upload"), ("upload_norm", "upload"), ("text_auc", "personal"), ("canary_exposure", "initial_1"),
    ):  # fmt: skip
        assert scores.loc[(metric, view), "value"] == whole[metric, view]


def test_limits_of_top1_and_exposure_by_hand() -> None:
    found = scored(2.0)
    # All 10 decisions of 8 authors are right: Wilson's limit of 8 of 8, however often one decides. t(.975, 7) = 2.3646
    assert found["sender_top1", "upload_low"] == pytest.approx(8 / (8 + 2.3646**2), rel=1e-4)
    assert found["sender_top1", "upload_high"] == 1.0
    # The two clients of both rounds are linked: t(.975, 1) = 12.7062.
    assert found["link_auc", "upload_low"] == pytest.approx(2 / (2 + 12.7062**2), rel=1e-4)
    # Four secrets of log2(1000) bits each: 2 n x over the quantile of chi-square with 8 degrees of freedom, 17.53.
    assert found["canary_exposure", "upload_1_low"] == pytest.approx(8 * np.log2(1000) / 17.5345, rel=1e-4)
    assert found["canary_exposure", "upload_1_high"] == pytest.approx(np.log2(1000))  # no more than possible


def test_the_empirical_epsilon_is_a_bound_beside_that_of_canaries_that_took_no_part() -> None:
    found, leaking = scored(0.0), scored(2.0)
    assert found["empirical_epsilon", "mean"] == found["empirical_epsilon", "mean_shuffled"] == 0.0
    assert leaking["empirical_epsilon", "mean_shuffled"] == 0.0
    assert ("empirical_epsilon", "mean_low") not in leaking.index


@pytest.mark.slow(10)
def test_those_who_left_are_found_before_and_not_after() -> None:
    several = [scored(2.0, seed) for seed in range(6)]
    found = pd.concat(several, axis=1).mean(axis=1)
    assert found["leaver_auc", "before"] > 0.95
    assert found["leaver_fall", "before"] == pytest.approx(2.0, abs=0.3)  # each took part once
    assert found["leaver_auc", "after"] == pytest.approx(0.5, abs=0.25)  # three authors against eight, six times
    assert found["leaver_auc", "after_low"] < 0.5 < found["leaver_auc", "after_high"]
    assert found["leaver_fall", "after"] == pytest.approx(0.0, abs=0.1)
    assert found["leaver_fall", "after_low"] < 0.0 < found["leaver_fall", "after_high"]


@pytest.mark.slow(10)
def test_no_attack_finds_anything_where_nothing_leaks() -> None:
    several = [scored(0.0, seed) for seed in range(6)]
    found = pd.concat(several, axis=1).mean(axis=1)
    views = {"sender_auc": ("upload", "personal"), "member_auc": ("mean", "final", "personal")}
    views |= {"text_auc": ("upload", "final"), "text_least_auc": ("final",)}
    for metric, view in ((name, view) for name, seen in views.items() for view in seen):
        assert found[metric, view] == pytest.approx(0.5, abs=0.1), (metric, view)
        assert found[metric, f"{view}_shuffled"] == pytest.approx(0.5, abs=0.03)
        assert found[metric, f"{view}_low"] < 0.5 < found[metric, f"{view}_high"], (metric, view)
    # At no false alarm chance finds those above the best negative: 1 in 9 beside 8 authors, 1 in 25 beside 24 texts.
    for metric, chance in (("member_tpr", 1 / 9), ("text_tpr", 1 / 25)):
        assert found[metric, "final_shuffled"] == pytest.approx(chance, abs=0.03)
        # The threshold is one text: it has no interval.
        assert (metric, "final_low") not in found.index
        assert found[metric, "final"] < 0.35
    assert found["sender_top1", "upload"] == pytest.approx(0.2, abs=0.1)  # five candidates each
    assert found["sender_top1", "upload_shuffled"] == pytest.approx(0.2)
    assert found["link_auc", "upload_low"] < 0.5 < found["link_auc", "upload_high"]
    assert found["canary_exposure", "final_1"] < 4
    assert found["empirical_epsilon", "mean"] < 1


@pytest.mark.slow(10)
def test_intervals_are_over_authors_and_not_over_their_texts() -> None:
    """Every text twice says nothing new about anybody."""
    once = losses(0.3)
    found = []
    for table in (once, pd.concat([once, once.assign(text=once["text"] + TEXTS)])):
        rest = (links(0.3, 0), canaries(True), canary_clients(0.03), norms(), {}, 8**-1.1, {})
        scores = privacy_scores({"favor": Readings(table, *rest)}, seed=5, draws=300)
        scores = scores[~scores["variant"].str.endswith("_shuffled")].set_index(["metric", "variant"])["value"]
        found.append(scores.loc[["text_auc", "text_tpr", "member_auc", "sender_auc", "sender_top1"]])
    assert found[1].to_numpy() == pytest.approx(found[0].to_numpy(), nan_ok=True)
    assert found[0]["text_auc", "final_low"] < found[0]["text_auc", "final"] < found[0]["text_auc", "final_high"]


def test_the_fall_of_a_loss_by_hand() -> None:
    def row(adapter, number, holder, client, loss, kind="fresh", text=0) -> tuple[Any, ...]:
        return (1, "favor", adapter, number, holder, client, kind, text, 20, loss, -loss)

    table = pd.DataFrame(
        [
            *(row("server", 0, "", client, loss) for client, loss in zip("abz", (4.0, 5.0, 6.0), strict=True)),
            *(row("server", 1, "", client, loss) for client, loss in zip("abz", (3.0, 4.5, 5.9), strict=True)),
            row("server", 0, "", "a", 2.0, "trained"),
            row("server", 1, "", "a", 1.5, "trained"),
            row("upload", 0, "a", "a", 2.0),
            row("upload", 0, "a", "b", 4.0),
            row("upload", 0, "b", "a", 3.0),
            row("upload", 0, "b", "b", 4.0),
            row("upload", 0, "a", "a", 0.5, "trained"),
            row("remade", 1, "", "a", 3.8),
            row("remade", 1, "", "z", 5.8),
        ],
        columns=PRIVACY_LOSSES.names,
    )
    (sent,) = sender_scores(table, "upload")
    # Upload a lowers the loss of a by 2 and of b by 1; upload b both by 1. Less the other author's fall:
    scores = sent.set_index(["client", "candidate"])["score"].to_dict()
    assert scores == {("a", "a"): 1.0, ("b", "a"): -1.0, ("a", "b"): 0.0, ("b", "b"): 0.0}
    (final,) = member_scores(table, "final")
    assert final["score"].tolist() == pytest.approx([1.0, 0.5, 0.1])
    assert final["positive"].tolist() == [True, True, False]
    # Author a left, z was never there: 4.0 to 3.0 and 6.0 to 5.9 before, 4.0 to 3.8 and 6.0 to 5.8 after.
    for view, falls in (("before", [1.0, 0.1]), ("after", [0.2, 0.2])):
        (left,) = leaver_scores(table, view)
        assert left["score"].tolist() == pytest.approx(falls)
        assert left["positive"].tolist() == [True, False]
    (text,) = text_scores(table, "upload", "loss", 1.0)
    assert text.sort_values("positive")["score"].tolist() == [0.25, -0.25]  # b has no trained text
    (least,) = text_scores(table, "upload", "least", -1.0)
    assert least.sort_values("positive")["score"].tolist() == [0.25, -0.25]


def test_what_was_not_read_has_a_note_and_no_number() -> None:
    one = losses(1.0)
    readings = Readings(
        one[~one["adapter"].isin(["personal", "remade"])],
        PRIVACY_LINKS.empty(),
        PRIVACY_CANARIES.empty(),
        PRIVACY_CANARY_CLIENTS.empty(),
        norms(),
        {},
        0.1,
        {"personal": "the clients of this row keep no adapter", "empirical_epsilon": "the server takes no mean"},
    )
    scores = privacy_scores({"fedavg": readings}, 0, 20).set_index(["metric", "variant"])
    assert scores.loc[("sender_top1", "personal"), "note"] == "the clients of this row keep no adapter"
    assert scores.loc[("empirical_epsilon", "mean"), "note"] == "the server takes no mean"
    assert scores.loc[("leaver_auc", "after"), "note"].startswith("nothing to compare")
    assert scores.loc[("link_auc", "upload"), "note"].startswith("nothing to compare")
    assert set(scores.index.get_level_values(0)) == {metric.name for metric in METRICS}


def test_authors_who_leak_most_are_compared_with_how_distinctive_they_are() -> None:
    unit = np.eye(4)
    vectors = [unit[0], unit[0], unit[0] + unit[1], unit[3]]
    table = pd.DataFrame({"kind": "train", "client": list("abcd"), "embedding": vectors})
    found = distinctiveness(table)
    assert max(found, key=found.get) == "d"
    assert found["d"] == pytest.approx(1.0)  # at a right angle to all others
    # a: the others' sum is (1 + 1/sqrt2, 1/sqrt2, 0, 1)
    others = np.array([1 + 2**-0.5, 2**-0.5, 0, 1])
    assert found["a"] == pytest.approx(1 - others[0] / np.linalg.norm(others))
