"""Gains by hand, and whether their intervals and attribution say what is true."""

import math

import numpy as np
import pandas as pd
import pytest

from favor.voice.memorised import gain_lines, gains
from favor.voice.position import told_apart


def losses(held_out, contrast, neutral) -> pd.DataFrame:
    """Losses of texts as (tokens, base, own); ``contrast``: by author."""
    rows = []
    groups = [("held_out", "writer", held_out), ("neutral", "", neutral)]
    groups += [("contrast", author, texts) for author, texts in contrast.items()]
    for kind, writer, texts in groups:
        for number, (tokens, base, own) in enumerate(texts):
            rows += [(model, kind, writer, number, tokens, loss) for model, loss in (("base", base), ("own", own))]
    return pd.DataFrame(rows, columns=["model", "kind", "writer", "text", "tokens", "loss"])


@pytest.mark.parametrize(("change", "said"), [(-0.1, "(chance .50)."), (0.1, "it is no sign of your voice here.")])
def test_what_forgetting_gives_too_is_said(change, said) -> None:
    """Others' texts lose 1 nat in both: the attribution is 1, whether own texts gain or lose."""
    own = [(10, 3.0, 3.0 + change + jitter) for jitter in (-0.01, 0.0, 0.01)]
    forgotten = {author: [(10, 3.0, 4.0)] * 3 for author in "abc"}
    found = gains(losses(own, forgotten, [(10, 3.0, 3.0)]), "own", 1)
    assert found.voice.low > 0.5
    assert found.attribution.value == 1.0
    assert gain_lines(found)[1].endswith(said)


def test_gains_by_hand() -> None:
    """Texts weigh by tokens, contrast authors alike; the attribution counts pairs.

    Held out: gains 1.0 of 30 tokens and .4 of 10, so (30 + 4) / 40 = .85. Contrast: author a gains .2 of 10 and .6 of
    30 tokens, so (2 + 18) / 40 = .5; b gains -.1; their mean is .2. Voice .65. Of the six pairs of a held-out and a
    contrast gain (.2, .6, -.1), 1.0 wins three and .4 wins two: AUC 5/6.
    """
    contrast = {"a": [(10, 3.0, 2.8), (30, 3.0, 2.4)], "b": [(20, 3.0, 3.1)]}
    table = losses([(30, 4.0, 3.0), (10, 3.0, 2.6)], contrast, [(5, 2.0, 2.3), (5, 2.0, 2.1)])
    found = gains(table, "own", 1)
    values = [found.own.value, found.others.value, found.voice.value, found.neutral.value, found.attribution.value]
    assert values == pytest.approx([0.85, 0.2, 0.65, -0.2, 5 / 6])
    for each in (found.own, found.others, found.voice, found.neutral, found.attribution):
        assert each.low < each.value < each.high


@pytest.mark.slow(10)
def test_intervals_of_gains_cover() -> None:
    """12 held-out texts with a mean gain of .3, contrast authors of .1: intervals of own and voice gain cover."""
    generator = np.random.default_rng(3)
    own = voice = 0
    for _ in range(200):
        held = [(20, 3.0, 3.0 - gain) for gain in generator.normal(0.3, 0.2, 12)]
        contrast = {
            str(author): [(20, 3.0, 3.0 - gain) for gain in generator.normal(mean, 0.1, 3)]
            for author, mean in enumerate(generator.normal(0.1, 0.1, 12))
        }
        found = gains(losses(held, contrast, [(20, 3.0, 3.0)] * 3), "own", 1)
        own += found.own.low <= 0.3 <= found.own.high
        voice += found.voice.low <= 0.2 <= found.voice.high
    assert 0.90 <= own / 200 <= 0.99
    assert 0.90 <= voice / 200 <= 1.0


def test_without_a_held_out_text_there_is_no_number() -> None:
    found = gains(losses([], {"a": [(10, 3.0, 2.8)], "b": [(10, 3.0, 2.8)]}, [(5, 2.0, 2.0)]), "own", 1)
    assert math.isnan(found.own.value)
    assert math.isnan(found.voice.value)
    assert found.attribution.text() == "– [–, –]"
    assert found.others.text(1) == "0.2 [0.2, 0.2]"


def test_scores_of_one_group_are_drawn_together() -> None:
    """Twenty scores that are one group say less than twenty groups of one."""
    higher, others = np.linspace(0.4, 1.4, 20), np.linspace(0, 1, 20)
    apart = told_apart(higher, list(others[:, None]), 1)
    together = told_apart(higher, np.split(others, [10]), 1)
    assert apart.value == together.value == np.mean(higher[:, None] > others[None, :])
    assert together.high - together.low > apart.high - apart.low
