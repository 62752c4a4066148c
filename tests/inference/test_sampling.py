"""Sampling: the distribution, the nucleus, streams by name; text that depends on no batch and no order."""

import numpy as np
import pytest
import torch

from favor.inference.sampling import Sampling, draws, sampled


def test_the_inverse_distribution_by_hand() -> None:
    logits = torch.log(torch.tensor([[0.2, 0.5, 0.3]])).repeat(5, 1)
    drawn = torch.tensor([0.0, 0.49, 0.51, 0.79, 0.81], dtype=torch.float64)
    # In falling order: token 1 up to 0.5, token 2 up to 0.8, token 0.
    assert sampled(logits, drawn, Sampling(1.0, 1.0)).tolist() == [1, 1, 2, 2, 0]
    # The nucleus of 0.7 is tokens 1 and 2, 0.5 and 0.3 of 0.8: the boundary lies at 0.625.
    assert sampled(logits, drawn, Sampling(1.0, 0.7)).tolist() == [1, 1, 1, 2, 2]
    # One token reaches 0.5, and with it the nucleus ends.
    assert sampled(logits, drawn, Sampling(1.0, 0.45)).tolist() == [1] * 5
    # Temperature 1/2 squares the probabilities: 25, 9, 4 of 38.
    assert sampled(logits, torch.tensor([0.65, 0.66, 0.89, 0.9, 0.99]), Sampling(0.5, 1.0)).tolist() == [1, 2, 2, 0, 0]


def test_frequencies_are_the_probabilities() -> None:
    generator = np.random.default_rng(0)
    logits = torch.from_numpy(generator.normal(size=12).astype(np.float32) * 2)
    drawn = torch.from_numpy(generator.random(40_000))
    found = torch.bincount(sampled(logits.repeat(len(drawn), 1), drawn, Sampling(0.8, 1.0)), minlength=12) / len(drawn)
    assert found.numpy() == pytest.approx(torch.softmax(logits / 0.8, 0).numpy(), abs=0.01)


def test_a_nucleus_is_that_of_transformers() -> None:
    from transformers import TopPLogitsWarper

    generator = torch.Generator().manual_seed(1)
    for _ in range(50):
        logits = torch.randn(1, 20, generator=generator) * 3
        kept = TopPLogitsWarper(0.8)(None, logits.clone())[0].isfinite().nonzero()[:, 0].tolist()
        drawn = torch.linspace(0, 0.9999, 400, dtype=torch.float64)
        assert sorted(set(sampled(logits.repeat(400, 1), drawn, Sampling(1.0, 0.8)).tolist())) == kept


def test_streams_are_told_by_their_names() -> None:
    one, two = (1, "favor", "p1", 0), (1, "favor", "p1", 1)
    numbers = draws([one, two], 6)
    assert torch.equal(draws([two, one, two], 6)[[1, 0]], numbers)
    assert torch.equal(draws([one], 3)[0], numbers[0, :3])
    others = [(2, "favor", "p1", 0), (1, "ditto", "p1", 0), (1, "favor", "p2", 0)]
    assert len({draws([name], 6).sum().item() for name in (one, two, *others)}) == 5
