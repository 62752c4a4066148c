"""Paired comparisons of methods on matched survivors."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import permutation_test

from favor.analysis.comparisons import compare_methods, compare_outputs, compare_verification
from favor.analysis.evidence import all_pairs
from favor.corpora.schemas import PROMPTS
from favor.federation.schemas import GENERATIONS
from favor.foundation.errors import UserError
from favor.scores.inputs import RUN_KEYS as KEYS
from favor.scores.inputs import ScoreInputs
from favor.scores.verification import source_pairs
from favor.statistics.bootstrap import auc
from favor.statistics.paired import holm
from favor.statistics.roc import Roc

GOLD = " ".join(f"word{index}" for index in range(25))


@pytest.fixture(scope="module")
def inputs() -> ScoreInputs:
    """Two seeds, six authors of two topics, three prompts; "near" outputs lie closer to their author than "far" ones.

    One output of "far" failed the filter.
    """
    generator = np.random.default_rng(1)
    clients = [f"c{index}" for index in range(6)]
    centres = generator.normal(size=(6, 8))
    topics = dict(zip(clients, ["s", "s", "s", "t", "t", "t"], strict=True))
    prompts, generations, made, human = [], [], [], []
    for index, client in enumerate(clients):
        human += [
            (client, f"{client}-d{d}", "train", topics[client], centres[index] + generator.normal(size=8) * 0.3)
            for d in range(5)
        ]
        for seed in (1, 2):
            for number in range(3):
                prompt = f"{client}-{seed}-{number}"
                prompts.append((seed, client, prompt, prompt + "d", topics[client], "p", [1], GOLD, 25))
                human.append((client, prompt, "gold", topics[client], centres[index] + generator.normal(size=8) * 0.5))
                for method, noise in (("near", 0.6), ("far", 2.5)):
                    passed = not (method == "far" and prompt == "c0-1-0")
                    generations.append((seed, method, client, prompt, 0, "text", 5, 30, 0.9, passed))
                    made.append((seed, method, client, prompt, 0, centres[index] + generator.normal(size=8) * noise))
    generated = pd.DataFrame(generations, columns=GENERATIONS.names)
    utility = generated[KEYS].assign(
        bertscore_f1=generator.normal(0.8, 0.02, len(generated)), semantic_similarity=generator.random(len(generated))
    )
    return ScoreInputs(
        generated,
        pd.DataFrame(prompts, columns=["seed", *PROMPTS.names]),
        {"e": pd.DataFrame(made, columns=[*KEYS, "embedding"])},
        {"e": pd.DataFrame(human, columns=["client", "item", "kind", "topic", "embedding"])},
        utility,
    )


def test_outputs_are_matched(inputs) -> None:
    table = compare_outputs(inputs, "near", "far", "e", seed=3, draws=500).set_index("metric")
    assert (table["n"] == 35).all()  # 36 prompts, one of which failed for "far"
    both = inputs.utility.pivot_table(index=["seed", "prompt_id"], columns="method", values="bertscore_f1")
    both = both.drop(index=(1, "c0-1-0"))
    row = table.loc["bertscore_f1"]
    assert row["left"] == pytest.approx(both["near"].mean())
    assert row["right"] == pytest.approx(both["far"].mean())
    assert row["delta"] == pytest.approx((both["near"] - both["far"]).mean())
    assert row["low"] < row["delta"] < row["high"]
    accuracy = table.loc["author_accuracy"]
    assert accuracy["delta"] > 0.2
    assert accuracy["p"] < 0.05
    assert accuracy["p_exact"] < 0.05


def test_verification_uses_matched_outputs(inputs) -> None:
    table = compare_verification(inputs, "near", "far", ["e"], seed=3, draws=300).set_index("metric")
    scores, positive = [], []
    for run in inputs.runs:
        if run.method == "near":
            pairs = source_pairs(inputs.vectors("e", run), run, inputs.sources("e", "gold", run.seed))
            # c0's first output of seed 1 is the first survivor: its pairs are 2 positives and 6 negatives
            keep = slice(8, None) if run.seed == 1 else slice(None)
            scores.append(pairs.scores[keep])
            positive.append(pairs.positive[keep])
    value, flags = np.concatenate(scores), np.concatenate(positive)
    assert table.loc["generated_source_auc", "left"] == pytest.approx(auc(value, flags))
    assert table.loc["generated_source_eer", "left"] == pytest.approx(Roc.of(value, flags).equal_error_rate())
    assert (table["pairs"] == 35 * 8).all()
    assert table.loc["generated_source_auc", "delta"] > 0
    assert table.loc["generated_source_eer", "delta"] > 0  # lower error favours the left: still positive
    assert table["p_exact"].isna().all()


def test_author_clusters_hold_all_seeds(inputs) -> None:
    printed = compare_outputs(inputs, "near", "far", "e", seed=3, draws=400)
    coarse = compare_outputs(inputs, "near", "far", "e", seed=3, draws=400, clusters="author")
    np.testing.assert_allclose(printed["delta"], coarse["delta"])
    assert (printed["low"] != coarse["low"]).any()
    swapped = compare_outputs(inputs, "far", "near", "e", seed=3, draws=400)
    np.testing.assert_allclose(swapped["delta"], -printed["delta"])
    np.testing.assert_allclose(swapped["low"], -printed["high"])
    np.testing.assert_allclose(swapped["p"], printed["p"])


def exact_p(differences) -> float:
    """The p of all patterns of signs of the authors' differences."""
    given = {"permutation_type": "samples", "n_resamples": np.inf, "vectorized": False}
    return permutation_test((np.asarray(differences),), np.sum, **given).pvalue


def failing(inputs, lost) -> ScoreInputs:
    """The inputs, of which the ``lost`` outputs failed the filter."""
    passed = inputs.generations["passed"] & ~lost
    return replace(inputs, generations=inputs.generations.assign(passed=passed))


def test_p_is_that_of_the_outputs_changing_places_by_author(inputs) -> None:
    table = compare_outputs(inputs, "near", "far", "e", seed=3, draws=100, clusters="author").set_index("metric")
    both = inputs.utility.pivot_table(index=["seed", "client", "prompt_id"], columns="method")
    both = both.drop(index=(1, "c0", "c0-1-0"))
    for metric in ("bertscore_f1", "semantic_similarity"):
        sums = (both[metric]["near"] - both[metric]["far"]).groupby("client").sum()
        assert table.loc[metric, "p"] == pytest.approx(exact_p(sums))


def test_one_family_of_tests_is_corrected_together(inputs) -> None:
    metrics = {"author_accuracy": ["e"], "bertscore_f1": ["e"], "generated_source_auc": ["e"], "assistant_score": ["e"]}
    pairs = [("near", "far"), ("far", "near")]
    table = compare_methods(inputs, pairs, metrics, ["author_accuracy"], seed=3, draws=300)
    assert len(table) == 2 * 3 * 2  # pairs x metrics that can be computed x kinds of clusters
    for clusters, number in (("seed-author", 12), ("author", 6)):
        assert (table.loc[table["clusters"] == clusters, "cluster_count"] == number).all()
    # Authors alone: seeds of an author, and outputs behind an exact test, are not independent.
    assert table.loc[table["clusters"] == "seed-author", "p_holm"].isna().all()
    rows = table[table["clusters"] == "author"]
    np.testing.assert_allclose(rows["p_holm"], holm(rows["p"]))
    assert (rows["p"] >= 2 / 2**6).all()
    single = compare_verification(inputs, "near", "far", ["e"], seed=3, draws=300).set_index("metric")
    chosen = table.query("left_method == 'near' and clusters == 'seed-author'").set_index("metric")
    for name in ("left", "right", "delta", "low", "high", "p", "pairs"):
        assert chosen.loc["generated_source_auc", name] == single.loc["generated_source_auc", name]


def test_a_pair_without_common_survivors_is_kept_with_a_note(inputs) -> None:
    empty = failing(inputs, inputs.generations["method"] == "far")
    metrics = {"author_accuracy": ["e"], "generated_source_eer": ["e"]}
    table = compare_methods(empty, [("near", "far")], metrics, [], seed=3, draws=100)
    assert len(table) == 4
    assert table["left"].isna().all()
    assert table["p_holm"].isna().all()
    assert set(table["note"]) == {"no output survives in both methods"}


def test_nothing_to_compare_is_an_empty_table_and_what_cannot_be_compared_is_refused(inputs) -> None:
    assert compare_methods(inputs, [], {"author_accuracy": ["e"]}, [], seed=1).empty
    assert compare_methods(inputs, [("near", "far")], {"generated_source_auc": []}, [], seed=1).empty
    with pytest.raises(UserError, match="metric 'mauve' cannot be paired"):
        compare_methods(inputs, [("near", "far")], {"mauve": ["e"]}, [], seed=1)
    with pytest.raises(UserError, match="no seed has runs of both 'near' and 'favor'"):
        compare_outputs(inputs, "near", "favor", "e", seed=3)


def test_a_lower_assistant_score_favours_its_method(inputs) -> None:
    level = {"near": 0.1, "far": 0.6}
    scored = inputs.generations[KEYS].assign(assistant_score=inputs.generations["method"].map(level))
    changed, metrics = replace(inputs, assistant=scored), {"assistant_score": ["e"]}
    table = compare_methods(changed, [("near", "far")], metrics, [], seed=3, draws=100)
    row = table[table["clusters"] == "seed-author"].iloc[0]
    assert (row["left"], row["right"], row["n"]) == (pytest.approx(0.1), pytest.approx(0.6), 35)
    # The same difference in every output, so in every resample: what the number of clusters leaves open.
    assert row["delta"] == pytest.approx(0.5)
    assert 0 < row["low"] < row["delta"] < row["high"] < 1


def test_fixed_prototypes_are_compared_where_texts_were_set_aside(inputs) -> None:
    metrics = {"author_accuracy": ["e"], "fixed_accuracy": ["e"], "fixed_margin": ["e"]}
    without = compare_methods(inputs, [("near", "far")], metrics, [], 7, 200)
    assert set(without["metric"]) == {"author_accuracy"}
    train = inputs.source_embeddings["e"].query("kind == 'train'")
    aside = train.assign(kind="reference", item=train["item"] + "r")
    sources = {"e": pd.concat([inputs.source_embeddings["e"], aside], ignore_index=True)}
    changed = replace(inputs, source_embeddings=sources)
    table = compare_methods(changed, [("near", "far")], metrics, [], 7, 200)
    rows = table[table["clusters"] == "author"].set_index("metric")
    # The texts set aside are the training texts again, so fixed prototypes are the usual ones.
    shared = ["left", "right", "delta", "low", "high", "p", "n", "cluster_count"]
    assert rows.loc["fixed_accuracy", shared].tolist() == rows.loc["author_accuracy", shared].tolist()
    assert rows.loc["fixed_margin", "delta"] > 0
    assert rows.loc["fixed_margin", "low"] <= rows.loc["fixed_margin", "delta"] <= rows.loc["fixed_margin", "high"]


def test_a_seed_whose_outputs_all_failed_leaves_the_others(inputs) -> None:
    changed = failing(inputs, (inputs.generations["method"] == "near") & (inputs.generations["seed"] == 1))
    metrics = {"bertscore_f1": ["e"], "generated_source_auc": ["e"]}
    table = compare_methods(changed, [("near", "far")], metrics, [], seed=3, draws=100)
    second = inputs.utility[inputs.utility["seed"] == 2]
    both = second.pivot_table(index="prompt_id", columns="method", values="bertscore_f1")
    rows = table[table["metric"] == "bertscore_f1"]
    assert rows["delta"].tolist() == pytest.approx([(both["near"] - both["far"]).mean()] * 2)
    assert (table["n"] == 18).all()


def test_outputs_without_a_pair_have_a_note(inputs) -> None:
    """One prompt per author, of unknown topics: an output has no other text of its author, and no negative."""
    kept = {name: getattr(inputs, name) for name in ("generations", "prompts")}
    kept = {name: table[table["prompt_id"].str.endswith("-2-0")] for name, table in kept.items()}
    alone = replace(inputs, **kept)
    alone = replace(alone, prompts=alone.prompts.assign(topic="indUnk"))
    metrics = {"bertscore_f1": ["e"], "generated_source_auc": ["e"]}
    table = compare_methods(alone, [("near", "far")], metrics, [], seed=3, draws=100).set_index("metric")
    assert set(table.loc["generated_source_auc", "note"]) == {"no pairs of both classes among the matched outputs"}
    assert (table.loc["bertscore_f1", "note"] == "").all()


def of_topics(inputs, topics) -> ScoreInputs:
    """The inputs with another topic of each author."""
    of = dict(zip(inputs.clients, topics, strict=True))
    prompts, human = (
        table.assign(topic=table["client"].map(of)) for table in (inputs.prompts, inputs.source_embeddings["e"])
    )
    return replace(inputs, prompts=prompts, source_embeddings={"e": human})


def test_a_pair_of_texts_does_not_weigh(inputs) -> None:
    """Four authors share a topic and two another: three times the pairs, and 6 outputs each but the one that failed.

    The shares are the influences, which sum to 0, and a part of the difference by outputs. The p of an author's
    clusters is that of the table of evidence where every output passed.
    """
    passed = inputs.generations.assign(passed=True)
    apart = replace(of_topics(inputs, "sssstt"), generations=passed[passed["seed"] == 1])
    found = compare_verification(apart, "near", "far", ["e"], 3, "author", 500).set_index("metric")
    table = all_pairs(apart, 3, 500)
    both = table[table[["left_method", "right_method"]].isin(["near", "far"]).all(axis=1)].set_index("metric")
    for metric in ("generated_source_auc", "generated_source_eer"):
        for name in ("p", "low", "high"):
            one, other = found.loc[metric, name], both.loc[metric, name]
            turned = {"low": -both.loc[metric, "high"], "high": -both.loc[metric, "low"]}
            assert one == pytest.approx(other if name == "p" else turned[name])


def test_p_of_few_authors_with_rivals_is_not_below_that_of_their_number(inputs) -> None:
    """Two of six authors share a topic: p is .5 or more. All six share it: p of their AUC is below .25."""
    metrics = ["generated_source_auc", "generated_source_eer"]
    for own, least in ((of_topics(inputs, "sstuvw"), 0.5), (inputs, 0.0)):
        table = compare_methods(own, [("near", "far")], {metric: ["e"] for metric in metrics}, [], 3, 500)
        evidence = all_pairs(own, 3, 500).query(f"metric in {metrics}")
        for found in (table, evidence):
            assert (found["p"] >= least).all()
            assert (found["p"].min() < 0.25) == (not least)
            assert ((found["low"] <= 0) & (found["high"] >= 0)).equals(found["p"] >= 0.05)
