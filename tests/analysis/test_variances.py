"""Variance components of differences: planted ones come out, and those of a run give back its authors' scatter."""

import json
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score
from tests.scores.copied_voices import copied_voices

from favor.analysis import variances
from favor.analysis.variances import KEYS, SHIPPED, STYLE, auc_by_output, components_of, main, measure
from favor.foundation.errors import UserError
from favor.foundation.seeds import numpy_generator
from favor.statistics.bootstrap import auc_draws, resample_counts
from favor.statistics.power import Component, variance_of_author


def table(authors, seeds, texts, samples=1) -> pd.DataFrame:
    """The keys of every output of a full design."""
    index = pd.MultiIndex.from_product([range(seeds), range(authors), range(texts), range(samples)], names=KEYS)
    frame = index.to_frame(index=False)
    return frame.assign(client=frame["client"].map("a{:04d}".format), text=frame["text"].astype(str))


def by_kind(components) -> dict[str, float]:
    return {part["kind"]: part["variance"] for part in components}


def effect(rows, keys, deviation, generator) -> np.ndarray:
    """A normal effect of every distinct combination of keys."""
    place = rows.groupby(keys).ngroup().to_numpy()
    return generator.normal(0, deviation, place.max() + 1)[place]


# By whether all seeds read the same texts: a design, and the deviations of its effects.
PLANTED = {
    False: ((500, 3, 4, 2), {"authors": 1.0, "seeds": 2.0, "prompts": 3.0, "samples": 1.5}),
    True: ((800, 3, 4), {"authors": 1.0, "seeds": 1.0, "texts": 2.0, "texts by seed": 1.5}),
}
EFFECTS = {
    "authors": (["client"], []),
    "seeds": (["client", "seed"], ["seeds"]),
    "prompts": (["client", "seed", "text"], ["seeds", "prompts"]),
    "samples": (KEYS, ["seeds", "prompts", "samples"]),
    "texts": (["client", "text"], ["texts"]),
    "texts by seed": (KEYS, ["seeds", "texts"]),
}


@pytest.mark.parametrize("same_texts", PLANTED)
def test_planted_components_come_out(same_texts) -> None:
    """Of prompts, which every seed draws, and of texts that all seeds read."""
    design, planted = PLANTED[same_texts]
    generator, rows = numpy_generator(1 + same_texts, "planted"), table(*design)
    parts = [effect(rows, EFFECTS[kind][0], deviation, generator) for kind, deviation in planted.items()]
    rows = rows.assign(value=sum(parts))
    found = components_of(rows, same_texts)
    assert by_kind(found) == pytest.approx({kind: deviation**2 for kind, deviation in planted.items()}, rel=0.2)
    assert [part["averaged_over"] for part in found] == [EFFECTS[kind][1] for kind in planted]
    # A half of the outputs is matched: a design that asks for so many prompts has half of them.
    half, texts = by_kind(components_of(rows, same_texts, kept=0.5)), "texts" if same_texts else "prompts"
    assert half[texts] == pytest.approx(2 * by_kind(found)[texts], rel=1e-4)
    assert half["seeds"] == by_kind(found)["seeds"]


def test_a_run_of_one_seed_and_one_sample_says_nothing_of_either() -> None:
    generator, rows = numpy_generator(3, "planted"), table(400, 1, 4)
    value = effect(rows, ["client"], 1.0, generator) + effect(rows, KEYS, 2.0, generator)
    assert by_kind(components_of(rows.assign(value=value), same_texts=False)) == pytest.approx(
        {"authors": 1, "prompts": 4}, rel=0.2
    )
    assert [part["kind"] for part in components_of(rows.assign(value=value), same_texts=True)] == ["authors", "texts"]


def test_what_is_below_0_is_0_and_the_rest_keeps_the_scatter_of_authors() -> None:
    # Seeds are mirror images: authors' means are equal but for their first digit, so seeds take all of it.
    rows = table(6, 2, 2)
    value = np.where(rows["seed"] == 0, 1.0, -1.0) * (1 + rows["client"].str[-1].astype(float))
    found = by_kind(components_of(rows.assign(value=value), same_texts=False))
    assert found["authors"] == 0.0
    # Means of seeds +-1 .. +-6 around 0: 2 * 91 / 12 with no within, since outputs of a seed are equal.
    assert found["seeds"] == pytest.approx(2 * 91 / 11, rel=0.1)
    assert found["prompts"] == pytest.approx(0.0, abs=1e-9)


def test_what_an_output_adds_to_the_area() -> None:
    generator = np.random.default_rng(4)
    scores = generator.normal(size=(60, 12)).round(1)
    own = np.repeat(np.arange(12), 5)
    positive = own[:, None] == np.arange(12)
    scores += positive
    found = auc_by_output(scores, positive)
    assert found.mean() == pytest.approx(roc_auc_score(positive.ravel(), scores.ravel()), abs=1e-12)
    # By hand: positives 3 and 1, negatives 2 and 0: 3 is above both, 1 above one; 2 is below one, 0 below both.
    assert auc_by_output(np.array([[3.0, 2.0], [0.0, 1.0]]), np.eye(2, dtype=bool)).tolist() == [
        1.0 + 0.5 - 0.75, 0.5 + 1.0 - 0.75,
    ]  # fmt: skip
    # The scatter of authors' means is that of the bootstrap over authors, which does not linearise.
    means = found.reshape(12, 5).mean(axis=1)
    cluster = np.repeat(own, 12)
    draws = auc_draws(scores.ravel(), positive.ravel(), cluster, resample_counts(12, 1, 4000))
    assert draws.std() == pytest.approx(means.std() / 12**0.5, rel=0.1)


def test_accuracy_of_a_run_as_the_paper_counts_it() -> None:
    inputs = copied_voices()
    (encoder,) = inputs.encoders
    spaces = {name: {STYLE: getattr(inputs, name)[encoder]} for name in ("generation_embeddings", "source_embeddings")}
    renamed = replace(inputs, **spaces)
    rows = variances._accuracy(renamed)["author_accuracy", STYLE]
    means = rows.groupby("method")["value"].mean()
    assert means["1.0"] > means["0.5"] > means["0.0"]
    (pair,) = variances._pairs(rows, "1.0", ["0.5"], same_texts=False)
    assert (pair["left"], pair["right"], pair["authors"]) == ("1.0", "0.5", 10)
    both = rows[rows["method"] == "1.0"].merge(rows[rows["method"] == "0.5"], on=KEYS)
    scatter = (both["value_x"] - both["value_y"]).groupby(both["client"]).mean().var(ddof=1)
    parts = tuple(Component(p["kind"], p["variance"], tuple(p["averaged_over"])) for p in pair["components"])
    assert variance_of_author(parts, {"seeds": 1, "prompts": 6}) == pytest.approx(scatter, rel=0.5)
    # A row against itself never differs.
    assert list(variances._pairs(rows, "1.0", ["1.0"], same_texts=False)) == []


def test_a_folder_without_a_finished_experiment_is_one_line(tmp_path, monkeypatch) -> None:
    with pytest.raises(UserError, match=r"settings\.json is missing"):
        measure(tmp_path)
    monkeypatch.setattr(sys, "argv", ["variances", str(tmp_path), "--called", "nothing"])
    with pytest.raises(SystemExit, match=r"^error: .*no finished experiment"):
        main()


def test_what_ships_says_what_it_was_measured_on() -> None:
    shipped = json.loads(SHIPPED.read_text())
    assert shipped["run"]["called"]
    assert {(entry["metric"], entry["reader"]) for entry in shipped["measures"]} == {
        (metric, reader) for metric, reader, _ in variances.MEASURES
    }
    for entry in shipped["measures"]:
        assert bool(entry.get("pairs")) != bool(entry.get("why_not"))
        for pair in entry.get("pairs", []):
            assert all(part["variance"] >= 0 for part in pair["components"])
