"""Figures: the same data give the same bytes, nothing names a date, and missing data are named."""

import math
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from html import unescape
from itertools import product
from types import SimpleNamespace
from typing import get_args

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot
from matplotlib.axes import Axes

from favor.corpora.schemas import ALLOCATION
from favor.figures.data import TABLES, FigureData
from favor.figures.declarations.allocation import draw_allocation
from favor.figures.declarations.generation_map import principal_plane, spread
from favor.figures.drawing import DIVERGING, RISING, drawing, save
from favor.figures.identity import Methods
from favor.figures.overview import draw_pipeline, draw_workflow
from favor.figures.specs import Declared, FigureInput, declared_figure, figures_in_order, load_figure
from favor.foundation.errors import UserError
from favor.foundation.parquet import write_parquet
from favor.foundation.registry import FIGURES, METRIC_FAMILIES
from favor.report.content import Figure, said
from favor.report.svg import inline_svg
from favor.running.jobs.losses import LOSSES
from favor.scores.schemas import SCORES


def scored(rows) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["seed", "method", "encoder", "metric", "variant", "value", "n", "note"])


def with_ends(rows, below, above) -> list[tuple]:
    """Rows of scores of (seed, method, encoder, metric, variant, value), each with the ends of an interval."""
    ends = {"": 0.0, "_low": -below, "_high": above}
    return [
        (*keys, f"{variant}{end}".strip("_"), value + shift, 48, "")
        for *keys, variant, value in rows
        for end, shift in ends.items()
    ]


def draw(name, *paths, scores=None, shown=("favor", "fedavg"), **given) -> None:
    """Draw a figure of scores, or of what ``given`` holds of its tables and logs."""
    methods = shown if isinstance(shown, Methods) else Methods(list(shown))
    data = {"scores": lambda: scores, "shown": methods, "style_encoder": "asce_a", "table": lambda name: given[name]}
    load_figure(name).draw(SimpleNamespace(**data, **given), *paths)


def training_log(rounds=2) -> pd.DataFrame:
    places = product(("shared", "personal"), range(rounds), ("client_001", "client_002"), range(3))
    log = pd.DataFrame(places, columns=["stage", "round", "client", "step"])
    cosine = (0.1 * log["step"]).where(log["stage"] == "personal")
    return log.assign(task_loss=4.0 - 0.1 * log["step"] - 0.2 * log["round"], cosine=cosine)


def embedded(centres, method="", kind="") -> pd.DataFrame:
    """Three texts of every author around a centre in a space of three dimensions."""
    rows = [(client, x + shift, y) for client, (x, y) in centres.items() for shift in (-0.1, 0.0, 0.1)]
    vectors = [np.array([x, y, 1.0], dtype=np.float32) for _, x, y in rows]
    return pd.DataFrame({"client": [row[0] for row in rows], "embedding": vectors}).assign(method=method, kind=kind)


def mapped() -> dict:
    """Three authors, whose centres FAVoR keeps, and FedAvg draws together."""
    centres = {"client_001": (1.0, 0.0), "client_002": (-1.0, 0.0), "client_003": (0.0, 1.0)}
    near = {client: (x / 4, y / 4) for client, (x, y) in centres.items()}
    outputs = pd.concat([embedded(centres, "favor"), embedded(near, "fedavg")], ignore_index=True)
    human = {"source_embeddings": embedded(centres, kind="train"), "gold_embeddings": embedded(centres, kind="gold")}
    return {**human, "surviving_embeddings": lambda: outputs, "shown": ("fedavg", "favor", "ditto")}


def trained(logs, base=None, encoders=None) -> dict:
    losses = LOSSES.empty() if base is None else base
    given = {"training_logs": logs, "pretraining_losses": losses, "encoder_losses": encoders or {}}
    return {name: lambda value=value: value for name, value in given.items()}


def coordinate_table() -> pd.DataFrame:
    author = np.array([0.1, 0.2, 0.4])
    keys = {"coordinate": ["a", "b", "c"], "texts": 1234, "author_effect": author}
    slopes = {"stylometric": 0.75, "style": 0.5}
    spaces = [pd.DataFrame({"space": space, **keys, "topic_effect": s * author}) for space, s in slopes.items()]
    return pd.concat(spaces, ignore_index=True)


def energy_table() -> pd.DataFrame:
    modules = {"up_proj": 0.75, "q_proj": 0.25}
    rows = [("personal", at, at + 5, module, share, 50) for at in (0, 6) for module, share in modules.items()]
    return pd.DataFrame(rows, columns=["part", "first_layer", "last_layer", "module", "share", "adapters"])


def participation_table() -> pd.DataFrame:
    """Two seeds: two clients that were never there, and one in each of two rounds."""
    clients = (("client_001", -1, 5, 1), ("client_002", -1, 5, 0), ("client_003", 0, 10, 2), ("client_004", 2, 10, 4))
    rows = [(seed, "favor", *client) for seed in (1, 2) for client in clients]
    return pd.DataFrame(rows, columns=["seed", "method", "client", "last_round", "outputs", "correct"])


def voice_table(method="favor") -> pd.DataFrame:
    names, kept = (method, "gold", "shuffled"), "kept_author_accuracy_failures_wrong"
    rows = [(0, name, "asce_a", *key, 0.6) for name in names for key in (("distinct_auc", ""), (kept, "score"))]
    rows += [(1, name, "", "semantic_similarity", "", 0.7) for name in names]
    floors = [(0, name, "asce_a", kept, "floor", 0.25, 48, "") for name in names]
    return scored([*with_ends(rows, 0.05, 0.05), *floors])


def drift_table() -> pd.DataFrame:
    levels = {"fedavg": 0.3, "favor": 0.6, "gold": 1.0, "shuffled": 0.0}
    rows = with_ends([(0, name, "asce_a", "spread_left", "", value) for name, value in levels.items()], 0.1, 0.2)
    habits = {"": 0.0, "contractions": 0.1, "contractions_low": 0.0, "digits": 0.02}
    for name, value in levels.items():
        rows += [(0, name, "", "habit_slope", habit, value + shift, 48, "") for habit, shift in habits.items()]
    return scored(rows)


SAMPLING = {"favor": (0.0, 1.0), "favor_05": (0.5, 1.0), "hot": (1.0, 1.0), "nucleus": (1.0, 0.9), "ditto": (0.0, 1.0)}
RATES = {0.001: 3.0, 0.002: 2.0, 0.004: 2.5}
KEPT = {"stage": "shared", "passes": 1.0, "authors": 3}
TUNED = [
    {**KEPT, "row": row, "learning_rate": rate, "loss": loss, "chosen": loss == 2.0}
    for row in ("fedavg", "favor")
    for rate, loss in RATES.items()
]
SAMPLED = {
    "shown": Methods(list(SAMPLING), bases=dict.fromkeys(("favor_05", "hot", "nucleus"), "favor")),
    "sampling": SAMPLING,
}


def sampled_table() -> pd.DataFrame:
    """Accuracy falls by half of the temperature, on two seeds 0.02 apart; greedy rows have no Distinct-k."""
    rows = []
    for (row, (temperature, _)), seed in product(SAMPLING.items(), (1, 2)):
        fallen = 0.8 - temperature / 2 + 0.02 * seed
        rows += [
            (seed, row, "asce_a", "author_accuracy", "", fallen, 10, ""),
            (seed, row, "minilm", "author_accuracy", "", 0.1, 10, ""),
            (seed, row, "asce_a", "target_similarity", "", fallen / 2, 10, ""),
            (seed, row, "asce_a", "generated_auc", "", math.nan, 0, "no pairs"),
            (seed, row, "", "distinct_samples", "", 1 + temperature if temperature else math.nan, 10, ""),
        ]
    return scored(rows)


def privacy_table() -> pd.DataFrame:
    rows = [("sender_auc", "upload", 0.85), ("member_auc", "final", 0.6)]
    rows += [("canary_exposure", f"{view}_{repeats}", 2.0) for view in ("upload", "final") for repeats in (1, 16)]
    most = (0, "favor", "", "canary_exposure", "final_1_most", 9.97, 48, "")
    return scored([*with_ends([(0, "favor", "", *row) for row in rows], 0.1, 0.1), most])


def agreement_table() -> pd.DataFrame:
    values = {"output_auc": 0.84, "target_similarity": -0.26}
    keys = (0, "source", "asce_a", "rank_correlation")
    rows = [(*keys, f"author_accuracy~minilm.{measure}", value) for measure, value in values.items()]
    return scored(with_ends(rows, 0.0, 0.0))


def traffic_table(**values) -> pd.DataFrame:
    """What every method sends in bytes, and the voice that it keeps."""
    values = values or {"fedavg": (4e6, 0.6), "favor": (2e6, 0.6)}
    kept = [(0, name, "asce_a", "kept_author_accuracy", "", share) for name, (_, share) in values.items()]
    sent = [(1, name, "", "upload_bytes", "", number, 4, "") for name, (number, _) in values.items()]
    return scored([*with_ends(kept, 0.1, 0.05), *sent])


def growth_table() -> pd.DataFrame:
    rows = [
        (seed, name, "asce_a", "style_vendi", f"authors_{authors}", factor * authors, 20, "")
        for seed, last in ((1, 4), (2, 3))
        for name, factor, most in (("favor", 0.6, last), ("gold", 0.9, 4))
        for authors in (1, 2, most)
    ]
    return scored(rows)


def map_table() -> pd.DataFrame:
    """Gains of four clients: a and b hold one adapter, which is best on the texts of both, and d holds none."""
    same, own = {"a": 0.5, "b": 0.1, "c": 0.0, "d": 0.0}, {"a": 0.0, "b": 0.0, "c": 0.3, "d": 0.0}
    gains = [("a", same), ("b", same), ("c", own), ("d", dict.fromkeys("abcd", math.nan))]
    cells = [(f"{reader}~{writer}", value) for reader, found in gains for writer, value in found.items()]
    rows = [(0, "favor", "", "likelihood_gain", *cell, 2, "none" if math.isnan(cell[1]) else "") for cell in cells]
    return scored([*rows, *((0, "favor", "", "likelihood_topic", client, 0.0, 2, "") for client in "abcd")])


def loss_table() -> pd.DataFrame:
    rows = []
    for client, near in (("client_001", 0.1), ("client_002", 0.4)):
        rows.append((0, "source", "asce_a", "distance_from_mean", client, near, 1, ""))
        lost = {"fedavg": near / 2, "favor": 0.0}
        rows += [(0, method, "asce_a", "margin_lost", client, value, 1, "") for method, value in lost.items()]
    return scored(rows)


# What figures may ask for that is no table of every experiment: settings, manifests, a log.
NO_TABLES = ("tuned", "sampling", "encoder_manifests", "pretraining")
# Every drawing of made-up data: what it is given, and a sentence that it says of them.
DRAWN = {
    "measure_agreement": ({"scores": agreement_table()}, "Rank correlation of two measures: "),
    "privacy": ({"scores": privacy_table()}, "AUC of 2 attacks on FAVoR: from "),
    "temperature": ({"scores": sampled_table(), **SAMPLED}, "Author accuracy: 4 methods, from 0.33 to 0.83."),
    "tuning": ({"tuned": TUNED}, ""),
    "voice_by_author": ({"scores": loss_table()}, ""),
    "diversity_growth": ({"scores": growth_table()}, "Vendi score of 2 authors: one method, 1.20."),
    # Half of a and of b, and c: d has no adapter of its own.
    "likelihood_map": (
        {"scores": map_table()},
        "Share of authors whose own adapter has the largest centred gain: one method, 0.67.",
    ),
    "distinct_faithful": ({"scores": voice_table()}, ""),
    "voice_traffic": ({"scores": traffic_table()}, ""),
    "allocation": ({}, "word units each, 1 of them fewer than their target."),
    "training_curves": (
        trained(
            {"favor": training_log(), "fedavg": training_log(1)},
            pd.DataFrame({"done": range(1, 251), "loss": 1.0}),
            {"ASCE-A": [3.0, 2.0]},
        ),
        "Shared stage, last mean task loss: ",
    ),
    "retention_utility": ({"scores": voice_table()}, ""),
    "generation_map": (mapped(), "Spread of the authors' centres: 2 methods, from 0."),
    "homogenisation": ({"scores": drift_table()}, ""),
    "signature_space_discriminability": (
        {"coordinate_effects": coordinate_table()},
        "Hand-made stylometric features: slope 0.75; Style encoder: slope 0.50.",
    ),
    "favor_lora_allocation": (
        {"adapter_energy": energy_table()},
        "up_proj (75%), and it is the same in every block to two points.",
    ),
    "last_participation": (
        {"participation": participation_table()},
        "All methods together, by the last round: never 0.10, round 1 0.20, round 3 0.40.",
    ),
}
OVERVIEW = {"workflow": draw_workflow, "pipeline": draw_pipeline}


@pytest.mark.slow(14)
@pytest.mark.parametrize("name", [*DRAWN, *OVERVIEW])
def test_same_data_same_bytes_and_a_sentence_of_them(tmp_path, allocation, name) -> None:
    given, sentence = DRAWN.get(name, ({}, ""))
    kinds = ("svg", "pdf") if name in OVERVIEW else ("svg", "pdf", "csv")
    for copy in ("one", "two"):
        paths = [tmp_path / f"{copy}.{kind}" for kind in kinds]
        OVERVIEW[name](*paths) if name in OVERVIEW else draw(name, *paths, **given, allocation=allocation)
    for kind in kinds:
        assert (tmp_path / f"one.{kind}").read_bytes() == (tmp_path / f"two.{kind}").read_bytes()
    assert "csv" not in kinds or len(pd.read_csv(tmp_path / "one.csv"))
    text = (tmp_path / "one.svg").read_text(encoding="utf-8")
    assert ElementTree.fromstring(text).tag.endswith("svg")
    assert not re.search(r"20\d\d-\d\d-\d\d|mathdefault", text)  # no dates, and no formula as text
    assert b"CreationDate" not in (tmp_path / "one.pdf").read_bytes()
    assert sentence in unescape(inline_svg(tmp_path / "one.svg", "a", "Title"))


@pytest.fixture
def drawn(tmp_path) -> Callable[..., tuple[str, pd.DataFrame]]:
    """A function of a figure's name and data, which returns the SVG and the numbers."""

    def drawn(name, **given) -> tuple[str, pd.DataFrame]:
        draw(name, tmp_path / "drawn.svg", tmp_path / "drawn.csv", **given)
        return (tmp_path / "drawn.svg").read_text(encoding="utf-8"), pd.read_csv(tmp_path / "drawn.csv")

    return drawn


def csv_of(path) -> pd.DataFrame:
    return pd.read_csv(path, keep_default_na=False)


def prompts_table() -> pd.DataFrame:
    values = {"common_similarity": 0.8, "author_share": 0.2, "prompt_share": 0.5, "remainder_share": 0.3}
    rows = [("", method, metric, value) for method in ("favor", "fedavg") for metric, value in values.items()]
    rows += [("other_prompt", method, "common_similarity", 0.4) for method in ("favor", "fedavg")]
    rows += [("", "gold", "own_prompt_similarity", 0.3), ("", "sora", "common_similarity", 0.6)]
    rows += [("low", "sora", "common_similarity", 0.5), ("high", "sora", "common_similarity", 0.75)]
    return pd.DataFrame(rows, columns=["variant", "method", "metric", "value"]).assign(encoder="asce_a")


def copies_table() -> pd.DataFrame:
    rows = [
        (method, metric, variant, value + (variant == "others") * more)
        for method, more in (("favor", 0.1), ("fedavg", 0.3), ("gold", 0.0))
        for metric, value in (("copy5_rate", 0.02), ("longest_copy", 6.5))
        for variant in ("", "others")
    ]
    rows += [("favor", "copy5_rate", "others_low", 0.1), ("favor", "copy5_rate", "others_high", 0.15)]
    return pd.DataFrame(rows, columns=["method", "metric", "variant", "value"])


def judged_twice() -> pd.DataFrame:
    """Unseen encoders judge too: by them the accuracy's interval holds chance, 0.25."""
    other = voice_table().assign(encoder="unseen")
    right = other["metric"].eq("kept_author_accuracy_failures_wrong") & other["variant"].eq("score_low")
    return pd.concat([voice_table(), other.assign(value=other["value"].mask(right, 0.2))], ignore_index=True)


def without_intervals(table) -> pd.DataFrame:
    """With six or seven authors."""
    return table.assign(value=table["value"].mask(table["variant"].isin(["low", "high"])))


# What is drawn: a figure's data, some of its rows, their numbers, and what the drawing says; "!" is not said.
CASES = [
    # 0.8 less half of the temperature, on two seeds 0.02 and 0.04 above it: deviation 0.02 / sqrt(2).
    (
        *("temperature", {"scores": sampled_table(), **SAMPLED}, "metric == 'author_accuracy'"),
        {"method": ["favor", "favor_05", "hot", "nucleus"], "mean": [0.83, 0.58, 0.33, 0.33], "std": [0.0141421] * 4}
        | {"temperature": [0, 0.5, 1, 1], "nucleus": [False, False, False, True]},
        [">No row has a value of Verif. AUC.<"],  # Ditto has one temperature, and no line
    ),
    ("temperature", {"scores": sampled_table(), **SAMPLED}, "metric == 'distinct_samples'", {"mean": [1.5, 2, 2]}, []),
    # 2, 4 and 8 of 20, 14 of 60.
    (
        *("last_participation", {"participation": participation_table()}, "name == 'FAVoR'"),
        *({"last_round": ["never", "1", "3", "all"], "accuracy": [0.1, 0.2, 0.4, 0.233333]}, []),
    ),
    ("voice_by_author", {"scores": loss_table()}, "", {"margin_lost": [0.05, 0.2, 0.0, 0.0]}, ["!client_00"]),
    ("diversity_growth", {"scores": growth_table()}, "", {"authors": [1, 2, 1, 2, 4]}, [">own continuations<"]),
    (
        *("homogenisation", {"scores": without_intervals(drift_table())}, "method == 'favor'"),
        *({"spread_left": [0.6], "spread_low": [math.nan]}, []),
    ),
    (
        *("common_prompts", {"scores": prompts_table(), "shown": ("favor", "fedavg", "ditto", "sora")}),
        *("method == 'sora'", {"one_prompt": [0.6], "low": [0.5], "high": [0.75]}),
        [">FAVoR<", ">FedAvg<", ">one prompt<", ">remainder<", "!>Ditto<"],
    ),
    (
        *("copying", {"scores": copies_table(), "shown": ("favor", "fedavg", "ditto")}, "metric == 'copy5_rate'"),
        {"method": ["fedavg", "favor", "gold"], "other_clients_texts_high": [math.nan, 0.15, math.nan]},
        [">FedAvg<", ">other clients' texts<", "!>Ditto<", "5-grams in the own text: 2 methods, 0.02."],
    ),
    (
        *("distinct_faithful", {"scores": judged_twice()}, ""),
        {"encoder": ["unseen"] * 3 + ["asce_a"] * 3},
        ["<dc:title>Verification AUC among outputs: one method, ", " Right author: one method, "],
    ),
    (
        *("privacy", {"scores": privacy_table()}, "panel == 'auc'", {"value": [0.85, 0.6]}),
        [">Did the author take part?", ">final shared adapter", ">Exposure (bits)", ">16", "!>stolen personal adapter"],
    ),
]


@pytest.mark.parametrize(("name", "given", "rows", "numbers", "words"), CASES)
def test_what_is_drawn_and_the_numbers_beside_it(drawn, name, given, rows, numbers, words) -> None:
    drawing, data = drawn(name, **given)
    found = data.query(rows) if rows else data
    for column, values in numbers.items():
        assert found[column].tolist() == (values if isinstance(values[0], str) else pytest.approx(values, nan_ok=True))
    for word in words:
        assert (word.removeprefix("!") in unescape(drawing)) != word.startswith("!"), word
    assert "client_00" not in data.to_csv()


def test_a_figure_that_cannot_be_drawn_says_why(tmp_path) -> None:
    with pytest.raises(UserError, match=r"own\.csv: the figure does not say what it draws"):
        draw_pipeline(tmp_path / "own.csv")
    with pytest.raises(UserError, match="every training log is empty"):
        draw("training_curves", tmp_path / "curves.svg", **trained({"favor": training_log().iloc[:0]}))


def test_a_name_with_a_formula_is_drawn_as_text(tmp_path) -> None:
    name = r"A $\frac$ b ($5 vs $10)"
    shown = Methods(["own"], {"own": name})
    draw("training_curves", tmp_path / "a.svg", tmp_path / "a.pdf", shown=shown, **trained({"own": training_log()}))
    assert (tmp_path / "a.svg").stat().st_size > 1000
    with drawing(2, 2) as (_, (axis,)):
        assert not axis.set_title(name).get_parse_math()
        assert not axis.legend([axis.plot([0], [0])[0]], [name]).get_texts()[0].get_parse_math()


def test_what_was_trained_before_is_drawn_where_it_is_known(tmp_path) -> None:
    logs, path = {"favor": training_log()}, tmp_path / "curves.csv"
    draw("training_curves", path, **trained(logs))
    assert set(csv_of(path)["panel"]) == {"Shared stage", "Personal stage", "Style alignment"}
    steps = pd.DataFrame({"done": [10 * step for step in range(1, 251)], "loss": [float(step) for step in range(250)]})
    draw("training_curves", path, tmp_path / "a.svg", **trained(logs, steps, {"ASCE-A": [3.0, 2.0]}))
    drawn = csv_of(path).groupby("panel")
    # 250 steps make 84 points of three, the last of one: 0, 1, 2 end at the third step, 249 stands alone.
    base = drawn.get_group("Base model")
    assert base[["place", "value"]].iloc[[0, -1]].to_numpy().tolist() == [[30.0, 1.0], [2500.0, 249.0]]
    assert len(base) == 84
    assert drawn.get_group("Style encoder ASCE-A")[["place", "value"]].to_numpy().tolist() == [[1.0, 3.0], [2.0, 2.0]]


@pytest.mark.parametrize(
    ("name", "given", "said"),
    [
        ("result", {"scores": SCORES.empty(), "unseen": ["a", "b"]}, ["No share of a voice can be read"]),
        ("retention_utility", {"scores": voice_table().assign(encoder="another")}, ["No method has both values"]),
        ("common_prompts", {"scores": SCORES.empty()}, ["No two authors have outputs"] * 2),
        ("copying", {"scores": SCORES.empty()}, ["No output passed the filter."] * 2),
        ("voice_traffic", {"scores": traffic_table().query("metric != 'upload_bytes'")}, ["No method has both values"]),
        ("distinct_faithful", {"scores": voice_table().assign(value=np.nan)}, ["No method has both values"]),
        ("voice_by_author", {"scores": loss_table().assign(value=np.nan)}, ["No method has an output"]),
        ("measure_agreement", {"scores": agreement_table().assign(value=np.nan)}, ["Nothing to correlate"]),
        ("homogenisation", {"scores": drift_table().assign(value=np.nan)}, ["Authors' own", "No habit in which"]),
        ("signature_space_discriminability", {"coordinate_effects": coordinate_table()[:0]}, ["Needs at least"] * 2),
        ("favor_lora_allocation", {"adapter_energy": energy_table()[:0]}, ["No private residual"] * 2),
        ("last_participation", {"participation": participation_table()[:0]}, ["No method of this experiment"]),
        ("privacy", {"scores": privacy_table().iloc[:0]}, ["No attack was measured.", "No secrets were planted."]),
    ],
)
def test_a_figure_without_data_says_so(tmp_path, written, name, given, said) -> None:
    draw(name, tmp_path / "none.svg", **given)
    assert [text.startswith(begin) for text, begin in zip(written, said, strict=True)] == [True] * len(said)


def test_a_drawing_of_one_value_is_a_sentence(tmp_path, allocation) -> None:
    table = traffic_table(fedavg=(3.0 * 2**20, 0.6), favor=(3.0 * 2**20, 0.6))
    one, two = tmp_path / "one.svg", tmp_path / "two.svg"
    draw("voice_traffic", one, scores=table)
    draw_allocation(allocation.assign(allocated_words=allocation["target_words"]), two)
    assert said(Figure("Traffic", "", one, one)) == ("Every federated method uploads 3.0 MiB per seed.", True)
    words = "4 clients learn from 100 to 400 word units each, all as many as their target."
    assert said(Figure("Words", "", two, two)) == (words, True)
    draw_allocation(allocation, two)
    assert not said(Figure("Words", "", two, two))[1]


def test_voice_against_traffic_gives_every_row_its_own_height(drawn, monkeypatch) -> None:
    table = traffic_table(favor=(4e6, 0.6), fedavg=(4e6, 0.2), ditto=(4e6, 0.4), local_only=(0.0, 0.1))
    heights: list[tuple[float, float]] = []
    original = Axes.errorbar
    monkeypatch.setattr(
        Axes, "errorbar", lambda axis, x, y, **style: heights.append((x, y)) or original(axis, x, y, **style)
    )
    _, numbers = drawn("voice_traffic", scores=table, shown=("fedavg", "local_only", "favor", "ditto"))
    # From below: the most bytes first, and the least voice first among equals.
    assert heights == [(0.2, 0), (0.4, 1), (0.6, 2), (0.1, 3)]
    assert list(numbers["method"]) == ["fedavg", "local_only", "favor", "ditto"]


@pytest.fixture
def written(monkeypatch) -> list[str]:
    """Every text that a figure's axes are given (the files hold letters as outlines)."""
    texts: list[str] = []
    original = Axes.text

    def record(axis, x, y, text, *others, **style) -> object:
        texts.append(text)
        return original(axis, x, y, text, *others, **style)

    monkeypatch.setattr(Axes, "text", record)
    return texts


@pytest.mark.parametrize(
    ("name", "texts"),
    [
        # Shuffled, FedAvg, FAVoR upwards; contractions before digits.
        ("homogenisation", ["0.1", "0.0", "0.4", "0.3", "0.7", "0.6"]),
        # On both sides of the diagonal, a row at a time.
        ("measure_agreement", ["0.8", "−0.3", "0.8", "−0.3"]),
        # Lines through the origin.
        (
            "signature_space_discriminability",
            [f"slope {slope}\n3 coordinates\n1,234 texts" for slope in ("0.75", "0.50")],
        ),
        # Percentages; attention stands before the other modules.
        ("favor_lora_allocation", ["25", "75", "25", "75", "No private residual\nin this experiment."]),
        ("privacy", []),
    ],
)
def test_a_figure_prints_its_numbers(drawn, written, name, texts) -> None:
    drawn(name, **DRAWN[name][0])
    assert written == texts


def test_the_map_shows_how_far_authors_move_together(drawn, written) -> None:
    drawing, _ = drawn("generation_map", **mapped())
    numbers = [float(text.removeprefix("spread ")) for text in written if text.startswith("spread")]
    assert numbers[0] == 1.0  # the authors' own
    assert 0 < numbers[1] < 0.5 < numbers[2] == 1.0  # FedAvg's centres lie together, FAVoR's where the authors' lie
    assert written[-1] == "no output passed the filter"  # Ditto has none
    assert "client_00" not in drawing


def test_the_principal_plane_by_hand() -> None:
    # Variance 8/4 along x, 2/4 along y, none along z.
    rows = np.array([[2.0, 0, 5], [-2, 0, 5], [0, 1, 5], [0, -1, 5]])
    mean, plane, share = principal_plane(rows)
    np.testing.assert_allclose(mean, [0, 0, 5])
    np.testing.assert_allclose(plane, [[1, 0, 0], [0, 1, 0]], atol=1e-12)
    assert share == pytest.approx(1.0)
    # Squared distances from the mean (0, 0, 5): 4, 4, 1, 1.
    assert spread(rows) == pytest.approx(np.sqrt(2.5))


def test_what_a_figure_asks_for_is_read_off_its_file() -> None:
    for name in FIGURES.names():
        spec = load_figure(name)
        assert declared_figure(name) == Declared(
            title=spec.title, inputs=spec.inputs, scores=spec.scores, optional=spec.optional
        )
        assert set(spec.inputs) <= set(get_args(FigureInput)) == {*TABLES, *NO_TABLES}
        assert set(spec.scores) <= set(METRIC_FAMILIES.names())
    assert figures_in_order()[0] == "result"


def test_a_figure_gets_what_it_asked_for(tmp_path, scores, allocation) -> None:
    write_parquet(allocation, tmp_path / "allocation.parquet", ALLOCATION)
    half = len(scores) // 2
    for number, part in enumerate((scores.iloc[:half], scores.iloc[half:])):
        write_parquet(part, tmp_path / f"{number}.parquet", SCORES)
    files = {"allocation": ["allocation.parquet"], "scores": ["0.parquet", "1.parquet"]}
    files = {name: [str(tmp_path / part) for part in parts] for name, parts in files.items()}
    data = FigureData(files, ["favor"], {}, [], "asce_a", {"favor": []})
    assert len(data.scores()) == len(scores)
    assert data.training_logs() == {}
    load_figure("allocation").draw(data, tmp_path / "spec.svg")
    draw_allocation(allocation, tmp_path / "direct.svg")
    assert (tmp_path / "spec.svg").read_bytes() == (tmp_path / "direct.svg").read_bytes()


def test_losses_that_no_run_kept_are_none(tmp_path) -> None:
    """Snakemake makes an empty file of a log that a job did not write."""
    path = tmp_path / "losses.parquet"
    data = FigureData({}, ["favor"], {}, [], "asce_a", {}, pretraining=str(path))
    assert data.pretraining_losses().empty
    path.touch()
    assert data.pretraining_losses().empty
    write_parquet(pd.DataFrame({"done": [100], "loss": [3.0]}), path, LOSSES)
    assert data.pretraining_losses()["loss"].tolist() == [3.0]


@pytest.mark.parametrize(("name", "drawing"), OVERVIEW.items())
def test_the_documentation_shows_the_drawings_as_they_are(repository, tmp_path, name, drawing) -> None:
    drawing(tmp_path / "drawn.svg", tmp_path / "drawn.pdf")
    assert (tmp_path / "drawn.svg").read_bytes() == (repository / "docs" / "figures" / f"{name}.svg").read_bytes()


def test_a_figure_says_what_it_shows(tmp_path) -> None:
    shown = Methods(["favor", "fedavg"])
    draw("homogenisation", tmp_path / "ladder.svg", scores=drift_table())
    element = inline_svg(tmp_path / "ladder.svg", "a", "Homogenisation")
    said = "Spread between authors, relative to their real texts: 2 methods, from 0.30 to 0.60."
    assert f'aria-label="Homogenisation {said}"' in element
    assert "dc:title" not in element
    draw("homogenisation", tmp_path / "silent.svg", scores=drift_table().assign(value=np.nan))
    assert 'aria-label="Homogenisation"' in inline_svg(tmp_path / "silent.svg", "a", "Homogenisation")
    # What is drawn is said, and no method is called the best: that takes a test.
    assert shown.span("Loss", {"favor": 1.0, "fedavg": float("nan")}) == "Loss: one method, 1.00."
    assert shown.span("Loss", {"favor": float("nan")}) == ""
    assert shown.span("Kept", {"favor": -0.304, "fedavg": 0.2}) == "Kept: 2 methods, from −0.30 to 0.20."


@pytest.mark.parametrize("shades", [RISING, DIVERGING])
def test_black_numbers_are_read_on_every_shade(shades) -> None:
    """WCAG 2.1: relative luminance of sRGB, and a contrast of 4.5 or more."""
    channels = shades(np.linspace(0, 1, 256))[:, :3]
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    assert (((linear @ [0.2126, 0.7152, 0.0722]) + 0.05) / 0.05).min() >= 4.5


def test_no_name_is_a_formula_of_a_spreadsheet(tmp_path) -> None:
    data = pd.DataFrame({"name": ["=1+1", "@x", "-x", "+.5", "-1", "one"], "value": [-1.5] * 6})
    save(pyplot.figure(), tmp_path / "drawn.csv", data=data)
    assert csv_of(tmp_path / "drawn.csv")["name"].tolist() == ["'=1+1", "'@x", "'-x", "+.5", "-1", "one"]
    assert "-1.5\n" in (tmp_path / "drawn.csv").read_text()
