"""Variance components against hand-computed numbers, the analysis of variance, and simulated known variances."""

import numpy as np
import pytest
from scipy.stats import f

from favor.statistics.variance_components import random_effects, row_share_limits, shares


def labels(rows, columns) -> tuple[np.ndarray, np.ndarray]:
    """Return the labels of a full table with one observation per cell."""
    return np.repeat(np.arange(rows), columns), np.tile(np.arange(columns), rows)


def test_two_by_two_by_hand() -> None:
    # 1 1 / 3 7: row means 1 and 5, column means 2 and 4, mean 3; squares 16 between rows, 4 between columns, 4 left.
    values = np.array([[1.0], [1.0], [3.0], [7.0]])
    found = random_effects(values, labels(2, 2))
    assert found == pytest.approx([(16 - 4) / 2, (4 - 4) / 2, 4.0])
    assert shares(found) == pytest.approx([0.6, 0.0, 0.4])


def test_a_full_table_is_the_analysis_of_variance() -> None:
    generator = np.random.default_rng(1)
    rows, columns, size = 6, 4, 3
    table = generator.normal(size=(rows, columns, size)) + generator.normal(size=(rows, 1, size)) * 2
    mean = table.mean(axis=(0, 1))
    by_row, by_column = table.mean(axis=1), table.mean(axis=0)
    of_rows = columns * ((by_row - mean) ** 2).sum() / (rows - 1)
    of_columns = rows * ((by_column - mean) ** 2).sum() / (columns - 1)
    rest = ((table - by_row[:, None] - by_column[None] + mean) ** 2).sum() / ((rows - 1) * (columns - 1))
    found = random_effects(table.reshape(-1, size), labels(rows, columns))
    assert found == pytest.approx([(of_rows - rest) / columns, (of_columns - rest) / rows, rest])


def test_known_variances_come_out_of_a_table_with_holes_and_repeats() -> None:
    generator = np.random.default_rng(2)
    rows, columns = (np.concatenate([label, label[::3]]) for label in labels(60, 50))
    kept = generator.random(len(rows)) > 0.2
    rows, columns = rows[kept], columns[kept]
    author, prompt = generator.normal(size=(60, 2)) * 2, generator.normal(size=(50, 2))
    values = author[rows] + prompt[columns] + generator.normal(size=(len(rows), 2)) * 3
    of_authors, of_prompts, remainder = random_effects(values, (rows, columns))
    assert of_authors == pytest.approx(author.var(axis=0, ddof=1).sum(), rel=0.1)
    assert of_prompts == pytest.approx(prompt.var(axis=0, ddof=1).sum(), rel=0.2)
    assert remainder == pytest.approx(2 * 9, rel=0.05)


def test_equal_rows_have_no_share_and_too_little_has_none() -> None:
    generator = np.random.default_rng(3)
    rows, columns = labels(5, 4)
    same = generator.normal(size=(4, 3))[columns]
    assert shares(random_effects(same, (rows, columns))) == pytest.approx([0.0, 1.0, 0.0])
    assert np.isnan(row_share_limits(same, rows, columns)).all()
    assert random_effects(np.ones((3, 1)), (np.array([0, 1, 2]), np.array([0, 0, 0]))) is None
    assert random_effects(np.eye(3), (np.array([0, 0, 1]), np.array([0, 1, 0]))) is None
    assert np.isnan(shares([0.0, -1.0, 0.0])).all()


def test_nested_effects_are_the_analysis_of_variance() -> None:
    """Two authors of two seeds of two outputs, by hand."""
    values = np.array([[0.0], [2.0], [4.0], [6.0], [8.0], [8.0], [1.0], [3.0]])
    authors, seeds = np.repeat([0, 1], 4), np.repeat([0, 1, 2, 3], 2)
    # Means of seeds 1 5 8 2, of authors 3 5. Within seeds 2 + 2 + 0 + 2 = 6 on 4 degrees: 1.5. Seeds within authors
    # 2 * (4 + 4 + 9 + 9) = 52 on 2: 26 = 1.5 + 2 s, s = 12.25. Authors 4 * (1 + 1) = 8 on 1: 8 = 26 + 4 a, a = -4.5.
    assert random_effects(values, (authors, seeds)) == pytest.approx([-4.5, 12.25, 1.5])


def test_known_variances_of_three_nested_effects_come_out_of_uneven_numbers() -> None:
    generator = np.random.default_rng(4)
    authors = np.repeat(np.arange(1000), 24)
    seeds, prompts = (np.repeat(np.arange(1000 * 24 // size), size) for size in (8, 2))
    kept = generator.random(len(authors)) > 0.2
    effects = [generator.normal(0, deviation, size) for deviation, size in ((2, 1000), (2, 3000), (3, 12000))]
    values = sum(effect[label] for effect, label in zip(effects, (authors, seeds, prompts), strict=True))
    values = (values + generator.normal(0, 1.5, len(authors)))[kept, None]
    found = random_effects(values, (authors[kept], seeds[kept], prompts[kept]))
    assert found == pytest.approx([4, 4, 9, 2.25], rel=0.15)


def test_limits_of_one_dimension_are_those_of_an_f_ratio_by_hand() -> None:
    # 0 2 / 4 6 / 11 13 with rests of +-.5: mean squares 60.75 of rows (2 degrees), .75 left (2), twice per row.
    values = np.array([[0.0], [2.0], [4.5], [5.5], [11.0], [13.0]])
    row_means = np.array([1.0, 5.0, 12.0])
    of_rows = 2 * ((row_means - 6) ** 2).sum() / 2
    rest = 2 * 2 * ((np.array([1.0, 0.5, 1.0]) - 5 / 6) ** 2).sum() / 2 / 2
    columns = 3 * 2 * (5 / 6) ** 2
    ends = of_rows / rest / f.ppf([0.975, 0.025], 2, 2)
    beside = 1 + (columns - rest) / 3 / rest
    low, high = np.maximum(0, ends - 1) / 2
    assert row_share_limits(values, *labels(3, 2)) == pytest.approx((low / (low + beside), high / (high + beside)))


@pytest.mark.parametrize("share", [0.0, 0.2, 0.5])
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_limits_hold_the_share_of_rows(share, missing) -> None:
    generator = np.random.default_rng(7)
    scale = 1 / np.arange(1, 21) ** 0.5
    holds, runs = 0, 300
    for _ in range(runs):
        author = generator.normal(size=(12, 20)) * share**0.5
        rest = generator.normal(size=(48, 20)) * (0.8 - share) ** 0.5
        prompt = generator.normal(size=(4, 20)) * 0.2**0.5 * scale
        rows, columns = labels(12, 4)
        values = (author[rows] + rest) * scale + prompt[columns]
        kept = generator.random(48) >= missing
        low, high = row_share_limits(values[kept], rows[kept], columns[kept])
        truth = share * (scale**2).sum() / (0.8 * (scale**2).sum() + prompt.var(axis=0, ddof=1).sum())
        holds += low <= truth <= high
    assert holds / runs >= 0.92
