"""Variance components against hand-computed numbers, the analysis of variance, and simulated known variances."""

from __future__ import annotations

import math

import numpy as np
import pytest

from favor.statistics.variance_components import VarianceComponents, random_effects, variance_components


def labels(rows, columns) -> tuple[np.ndarray, np.ndarray]:
    """Return the labels of a full table with one observation per cell."""
    return np.repeat(np.arange(rows), columns), np.tile(np.arange(columns), rows)


def test_two_by_two_by_hand() -> None:
    # 1 1 / 3 7: row means 1 and 5, column means 2 and 4, mean 3; squares 16 between rows, 4 between columns, 4 left.
    values = np.array([[1.0], [1.0], [3.0], [7.0]])
    found = variance_components(values, *labels(2, 2))
    assert found is not None
    assert (found.rows, found.columns, found.remainder) == pytest.approx(((16 - 4) / 2, (4 - 4) / 2, 4.0))
    assert found.shares == pytest.approx((0.6, 0.0, 0.4))


def test_a_full_table_is_the_analysis_of_variance() -> None:
    generator = np.random.default_rng(1)
    rows, columns, size = 6, 4, 3
    table = generator.normal(size=(rows, columns, size)) + generator.normal(size=(rows, 1, size)) * 2
    mean = table.mean(axis=(0, 1))
    by_row, by_column = table.mean(axis=1), table.mean(axis=0)
    of_rows = columns * ((by_row - mean) ** 2).sum() / (rows - 1)
    of_columns = rows * ((by_column - mean) ** 2).sum() / (columns - 1)
    rest = ((table - by_row[:, None] - by_column[None] + mean) ** 2).sum() / ((rows - 1) * (columns - 1))
    found = variance_components(table.reshape(-1, size), *labels(rows, columns))
    assert found is not None
    expected = ((of_rows - rest) / columns, (of_columns - rest) / rows, rest)
    assert (found.rows, found.columns, found.remainder) == pytest.approx(expected)


def test_known_variances_come_out_of_a_table_with_holes_and_repeats() -> None:
    generator = np.random.default_rng(2)
    rows, columns = (np.concatenate([label, label[::3]]) for label in labels(60, 50))
    kept = generator.random(len(rows)) > 0.2
    rows, columns = rows[kept], columns[kept]
    author, prompt = generator.normal(size=(60, 2)) * 2, generator.normal(size=(50, 2))
    values = author[rows] + prompt[columns] + generator.normal(size=(len(rows), 2)) * 3
    found = variance_components(values, rows, columns)
    assert found is not None
    assert found.rows == pytest.approx(author.var(axis=0, ddof=1).sum(), rel=0.1)
    assert found.columns == pytest.approx(prompt.var(axis=0, ddof=1).sum(), rel=0.2)
    assert found.remainder == pytest.approx(2 * 9, rel=0.05)


def test_equal_rows_have_no_share_and_too_little_has_none() -> None:
    generator = np.random.default_rng(3)
    rows, columns = labels(5, 4)
    same = variance_components(generator.normal(size=(4, 3))[columns], rows, columns)
    assert same is not None
    assert same.shares == pytest.approx((0.0, 1.0, 0.0))
    assert variance_components(np.ones((3, 1)), np.array([0, 1, 2]), np.array([0, 0, 0])) is None
    assert variance_components(np.eye(3), np.array([0, 0, 1]), np.array([0, 1, 0])) is None
    assert all(math.isnan(share) for share in VarianceComponents(0.0, -1.0, 0.0).shares)


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
