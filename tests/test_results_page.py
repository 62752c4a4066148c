"""The figure and the table of docs/results.md agree with the committed scores."""

from __future__ import annotations

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


@pytest.fixture(scope="module")
def scores(repository) -> pd.Series:
    found = read_parquet(repository / "docs" / "little_text" / "scores.parquet", SWEEP_SCORES)
    return found.set_index(["point", "method", "metric", "variant"])["value"]


def test_the_figure_is_drawn_from_the_scores(repository, tmp_path) -> None:
    draw = runpy.run_path(str(repository / "docs" / "little_text" / "draw.py"))["draw"]
    draw(tmp_path / "drawn.svg")
    assert (tmp_path / "drawn.svg").read_bytes() == (repository / "docs" / "figures" / "little_text.svg").read_bytes()


def test_gains_are_means_over_authors(scores) -> None:
    """Recomputed from what every adapter gains on every author's texts."""
    gains = scores.xs("likelihood_gain", level="metric").reset_index()
    gains[["reader", "writer"]] = gains["variant"].str.split("~", expand=True)
    assert gains["reader"].str.fullmatch(r"client_\d{3}").all()
    own = gains[gains["reader"] == gains["writer"]]
    means = own.groupby(["point", "method"])["value"].mean()
    for (point, method), value in means.items():
        assert scores[point, method, "likelihood_own_gain", ""] == pytest.approx(value)
    paired = own.pivot(index=["point", "writer"], columns="method", values="value")
    for (point, left, variant), difference in scores.xs("likelihood_own_gain", level="metric").items():
        right = variant.removeprefix("minus:")
        if right in paired:
            assert difference == pytest.approx((paired.loc[point, left] - paired.loc[point, right]).mean())


def test_the_table_prints_the_scores(repository, scores) -> None:
    page = (repository / "docs" / "results.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([\d,]+) \| `(\w+)` \|(.*)$", page, re.MULTILINE)
    assert len(rows) == 24  # six of each amount
    for point, method, cells in rows:
        of = scores.loc[point, method]

        def gain(name, own=of) -> str:
            return printed(own[f"likelihood_{name}", ""], 3).replace("-", "−")

        def limits(name, own=of) -> str:
            ends = (printed(own[f"likelihood_{name}", end], 3) for end in ("low", "high"))
            return f"{gain(name, own)} [{', '.join(ends)}]".replace("-", "−")

        voice = "0 (one model)" if method == "fedavg" else limits("voice_gain")
        wanted = (limits("own_gain"), gain("others_gain"), voice, gain("neutral_gain"))
        assert cells.endswith(f"| {' | '.join(wanted)} |")


def test_the_differences_are_those_of_the_scores(repository, scores) -> None:
    page = (repository / "docs" / "results.md").read_text(encoding="utf-8")
    amounts = re.search(r"^\| gain \| rows \| (.*) \|$", page, re.MULTILINE)[1].split(" | ")
    rows = re.findall(r"^\| (own|voice) \| `(\w+)` − `(\w+)` \| (.*) \|$", page, re.MULTILINE)
    assert len(rows) == 9
    for gain, first, second, cells in rows:
        for amount, cell in zip(amounts, cells.split(" | "), strict=True):
            of = scores[amount.removesuffix(" words")].xs(f"likelihood_{gain}_gain", level="metric")
            turned = (first, f"minus:{second}") not in of
            row, other = (second, first) if turned else (first, second)
            value, low, high, p = (of[row, f"minus:{other}{end}"] for end in ("", "_low", "_high", "_p"))
            if turned:
                value, low, high = -value, -high, -low
            numbers = "{} [{}, {}]".format(*(printed(number, 3) for number in (value, low, high))).replace("-", "−")
            assert cell == f"{numbers}, p {p:#.2g}".replace("p 0.", "p .")


def test_the_second_seed_is_what_its_scores_give(repository, scores) -> None:
    """Means, Student's intervals and p of all sign flips over authors: of each seed, and of authors' means of both."""
    second = read_parquet(repository / "docs" / "little_text" / "scores_2027.parquet", SWEEP_SCORES)
    both = {"2026": scores, "2027": second.set_index(["point", "method", "metric", "variant"])["value"]}
    page = (repository / "docs" / "results.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([\d,]+) \| (own|voice) \| `(\w+)` − `(\w+)` \| (.*) \|$", page, re.MULTILINE)
    assert len(rows) == 20
    signs = np.array(list(product((1, -1), repeat=12)))
    for amount, gain, first, second_row, cells in rows:
        apart = []
        for found in both.values():
            gains = found.xs("likelihood_gain", level="metric")[amount]
            table = [gains[row].set_axis(gains[row].index.str.split("~", expand=True)) for row in (first, second_row)]
            squares = [each.unstack().to_numpy() for each in table]  # reader by writer
            own, of_others = (
                [np.diag(each) for each in squares],
                [(each.sum(0) - np.diag(each)) / 11 for each in squares],
            )
            values = own if gain == "own" else [mine - theirs for mine, theirs in zip(own, of_others, strict=True)]
            apart.append(values[0] - values[1])
        for cell, values in zip(cells.split(" | "), (*apart, np.mean(apart, axis=0)), strict=True):
            mean, half = values.mean(), stats.t.ppf(0.975, 11) * values.std(ddof=1) / np.sqrt(12)
            p = (np.abs(signs @ values) >= abs(values.sum()) - 1e-12).mean()
            numbers = "{} [{}, {}]".format(*(printed(number, 3) for number in (mean, mean - half, mean + half)))
            assert cell == f"{numbers}, p {p:#.2g}".replace("-", "−").replace("p 0.", "p .")


@pytest.mark.parametrize(
    ("file", "label"), [("studies/little_text/words_250.yaml", ""), ("blogtext_small.yaml", ", 1,000 words")]
)
def test_the_losses_of_the_page_are_those_of_the_choice(repository, file, label) -> None:
    page = (repository / "docs" / "results.md").read_text(encoding="utf-8")
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


def test_the_passes_of_the_page_are_those_of_the_choice(repository) -> None:
    page = (repository / "docs" / "results.md").read_text(encoding="utf-8")
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
