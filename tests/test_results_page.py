"""The figure and the table of docs/results.md agree with the committed scores."""

import re
import runpy
from itertools import product

import numpy as np
import pandas as pd
import pytest
import yaml
from scipy import stats

from favor.foundation.parquet import read_parquet
from favor.scores.schemas import SWEEP_SCORES
from favor.tables.cells import printed

AUTHORS = 12
KEYS = ["point", "method", "metric", "variant"]


@pytest.fixture(scope="module")
def drawing(repository) -> dict:
    return runpy.run_path(str(repository / "docs" / "little_text" / "draw.py"))


@pytest.fixture(scope="module")
def seeds(repository, drawing) -> dict[int, pd.Series]:
    """The scores of every seed."""
    folder = repository / "docs" / "little_text"
    files = drawing["SEEDS"].items()
    return {seed: read_parquet(folder / name, SWEEP_SCORES).set_index(KEYS)["value"] for seed, name in files}


@pytest.fixture(scope="module")
def pooled(drawing) -> pd.DataFrame:
    return drawing["pooled"]().set_index(KEYS).sort_index()


@pytest.fixture(scope="module")
def page(repository) -> str:
    return (repository / "docs" / "results.md").read_text(encoding="utf-8")


def values_of(scores, point, row, gain) -> np.ndarray:
    """Own or voice gain of every author, from what every adapter gains on every author's texts."""
    found = scores.xs("likelihood_gain", level="metric")[point, row]
    matrix = found.set_axis(found.index.str.split("~", expand=True)).unstack().to_numpy()  # reader by writer
    own = np.diag(matrix)
    return own if gain == "own" else own - (matrix.sum(0) - own) / (AUTHORS - 1)


def minus(number) -> str:
    return printed(number, 3).replace("-", "−")


def test_the_figure_is_drawn_from_the_scores(repository, drawing, tmp_path) -> None:
    drawing["draw"](tmp_path / "drawn.svg")
    assert (tmp_path / "drawn.svg").read_bytes() == (repository / "docs" / "figures" / "little_text.svg").read_bytes()


def test_gains_are_means_over_authors(seeds) -> None:
    for scores in seeds.values():
        for point, row in {key[:2] for key in scores.index}:
            for gain in ("own", "voice"):
                mean = scores[point, row, f"likelihood_{gain}_gain", ""]
                assert values_of(scores, point, row, gain).mean() == pytest.approx(mean, abs=1e-9)


def test_pooled_differences_are_student_s_over_authors_and_seeds(seeds, pooled) -> None:
    """By hand: authors' means over seeds, all sign flips, and what seeds do to all authors alike.

    With seeds and authors as crossed effects the means of S seeds vary by s^2 + e^2 / N, and e^2 is what is left of
    the differences of authors and seeds behind both. The bootstrap's part of it is known to a few per cent.
    """
    signs = np.array(list(product((1, -1), repeat=AUTHORS)))
    compared = pooled[pooled.index.get_level_values("variant").str.fullmatch(r"minus:\w+?(?<!_p|ow|gh)")]
    moved = 0
    for point, row, metric, variant in compared.index:
        if metric == "likelihood_others_gain":
            continue
        gain, other = metric.split("_")[1], variant.removeprefix("minus:")
        both = [each for each in seeds.values() if (point, row) in each and (point, other) in each]
        apart = np.stack([values_of(each, point, row, gain) - values_of(each, point, other, gain) for each in both])
        authors = apart.mean(axis=0)
        mean, error = authors.mean(), authors.std(ddof=1) / np.sqrt(AUTHORS)
        half = stats.t.ppf(0.975, AUTHORS - 1) * error
        p = (np.abs(signs @ authors) >= abs(authors.sum()) - 1e-12).mean()
        if len(both) > 2:
            left = (apart - authors).var(axis=1, ddof=1).sum() / (len(both) - 1) / AUTHORS
            of_seeds = max(0.0, apart.mean(axis=1).var(ddof=1) - left) / len(both)
            half = np.hypot(half, stats.t.ppf(0.975, len(both) - 1) * np.sqrt(of_seeds))
            moved += of_seeds > 0
        found = [pooled["value"][point, row, metric, f"{variant}{end}"] for end in ("", "_low", "_high", "_p")]
        assert found[0] == pytest.approx(mean, abs=1e-9)
        assert found[3] >= p - 1e-9
        if p >= 0.05 or len(both) < 3:  # else an end may be moved
            low, high = (min(mean - half, 0), max(mean + half, 0)) if found[3] >= 0.05 else (mean - half, mean + half)
            assert found[1:3] == pytest.approx([low, high], abs=0.1 * half + 1e-9)
    assert moved


def test_the_table_prints_the_scores(page, seeds, pooled) -> None:
    rows = re.findall(r"^\| ([\d,]+) \| `(\w+)` \|(.*)$", page, re.MULTILINE)
    assert len(rows) == 24  # six of each amount
    for point, row, cells in rows:
        of = pooled["value"][point, row]

        def gain(name, of=of) -> str:
            return minus(of[f"likelihood_{name}", ""])

        def limits(name, of=of) -> str:
            return f"{gain(name, of)} [{', '.join(minus(of[f'likelihood_{name}', end]) for end in ('low', 'high'))}]"

        key = (point, row, "likelihood_neutral_gain", "")
        neutral = minus(float(np.mean([each[key] for each in seeds.values() if key in each])))
        voice = "0 (one model)" if row == "fedavg" else limits("voice_gain")
        assert cells.endswith(f"| {limits('own_gain')} | {gain('others_gain')} | {voice} | {neutral} |")


def test_the_differences_are_those_of_the_scores(page, pooled) -> None:
    amounts = re.search(r"^\| gain \| rows \| (.*) \|$", page, re.MULTILINE)[1].split(" | ")
    rows = re.findall(r"^\| (own|voice) \| `(\w+)` − `(\w+)` \| (.*) \|$", page, re.MULTILINE)
    assert len(rows) == 9
    for gain, first, second, cells in rows:
        for amount, cell in zip(amounts, cells.split(" | "), strict=True):
            of = pooled["value"][amount.removesuffix(" words")].xs(f"likelihood_{gain}_gain", level="metric")
            turned = (first, f"minus:{second}") not in of
            row, other = (second, first) if turned else (first, second)
            value, low, high, p = (of[row, f"minus:{other}{end}"] for end in ("", "_low", "_high", "_p"))
            if turned:
                value, low, high = -value, -high, -low
            numbers = "{} [{}, {}]".format(*map(minus, (value, low, high)))
            assert cell == f"{numbers}, p {p:#.2g}".replace("p 0.", "p .")


def test_the_seeds_are_what_their_scores_give(page, seeds) -> None:
    rows = re.findall(r"^\| ([\d,]+) \| (own|voice) \| `(\w+)` − `(\w+)` \| (.*) \|$", page, re.MULTILINE)
    assert len(rows) == 20
    for point, gain, first, second, cells in rows:
        for cell, scores in zip(cells.split(" | "), seeds.values(), strict=True):
            there = (point, first) in scores and (point, second) in scores
            expected = "–"
            if there:
                apart = values_of(scores, point, first, gain) - values_of(scores, point, second, gain)
                expected = minus(apart.mean())
            assert cell == expected


@pytest.mark.parametrize(
    ("file", "label"), [("studies/little_text/words_250.yaml", ""), ("blogtext_small.yaml", ", 1,000 words")]
)
def test_the_losses_of_the_page_are_those_of_the_choice(repository, page, file, label) -> None:
    page = page[page.index(f"| row{label} |") :]
    (experiment,) = yaml.safe_load((repository / "config" / file).read_text())["experiments"].values()
    losses = pd.DataFrame(experiment["tuned"]["points"])
    personal = losses[losses["stage"] == "personal"].sort_values("learning_rate")
    for row, tried in personal.groupby("row"):
        # More numbers of passes were tried at one rate alone.
        _, own = max(tried.groupby("passes"), key=lambda passes: len(passes[1]))
        best = own["loss"] == own["loss"].min()
        cells = [f"**{loss:.3f}**" if lowest else f"{loss:.3f}" for loss, lowest in zip(own["loss"], best, strict=True)]
        assert f"| `{row}` | {' | '.join(cells)} |" in page


def test_the_passes_of_the_page_are_those_of_the_choice(repository, page) -> None:
    header, rows = re.search(r"^\| planned passes \| (.*) \|\n.*\n((?:\|.*\n)+)", page, re.MULTILINE).groups()
    config = yaml.safe_load((repository / "config" / "blogtext_small.yaml").read_text())
    losses = pd.DataFrame(config["experiments"]["blogtext_small"]["tuned"]["points"])
    personal = losses[losses["stage"] == "personal"]
    points = personal.set_index(["row", "learning_rate", "passes"]).sort_index()["loss"]
    found = 0
    for row, rate, cells in re.findall(r"^\| `(\w+)` at (\S+) \| (.*) \|$", rows, re.MULTILINE):
        of = points[row, float(rate)]
        assert cells.split(" | ") == [f"{of[float(n)]:.4f}" if float(n) in of else "–" for n in header.split(" | ")]
        found += len(of)
    assert found == 11
