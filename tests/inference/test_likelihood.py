"""Likelihoods under many adapters in one pass, against each adapter merged into the plain model of transformers."""

import copy

import numpy as np
import pytest
import torch
from tests.lm.conftest import merged

from favor.inference import likelihood
from favor.inference.likelihood import Question, answer
from favor.lm.tasks import Piece


def by_hand(model, piece, share) -> tuple[float, float]:
    """Return mean -ln p of the supervised tokens and Min-K%++, from the logits of one plain forward pass."""
    with torch.no_grad():
        logits = model(torch.tensor([piece.tokens.tolist()])).logits[0].double().numpy()
    logs = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
    p = np.exp(logs)
    loss, scores = [], []
    for place in range(piece.response_start, len(piece)):
        row, own = logs[place - 1], logs[place - 1, piece.tokens[place]]
        mean = (p[place - 1] * row).sum()
        deviation = np.sqrt((p[place - 1] * row**2).sum() - mean**2)
        loss.append(-own)
        scores.append((own - mean) / deviation)
    return np.mean(loss), np.mean(sorted(scores)[: max(1, round(share * len(scores)))])


@pytest.mark.parametrize("tokens_per_pass", [1, 60, 4096])
def test_each_answer_is_that_of_the_merged_model(
    base, lora, random_state, random_pieces, monkeypatch, tokens_per_pass
) -> None:
    monkeypatch.setitem(likelihood._TOKENS_PER_PASS, "cpu", tokens_per_pass)
    states = [random_state(1, lora), None, random_state(2, lora)]
    pieces = random_pieces(7, 5)
    questions = [Question(states[row % 3], piece) for row, piece in enumerate(pieces * 3)]
    models = [merged(base.source, lora, *([(state, 1.0)] if state else [])) for state in states]
    found = answer(base, lora, questions, share=0.3)
    expected = [by_hand(models[row % 3], piece, 0.3) for row, piece in enumerate(pieces * 3)]
    np.testing.assert_allclose(np.transpose(found), expected, rtol=2e-4, atol=2e-4)


def test_where_the_model_knows_nothing_the_loss_is_the_entropy(base, lora) -> None:
    assert answer(base, lora, []).loss.tolist() == []
    flat = copy.copy(base)
    flat.model = copy.deepcopy(base.model)
    torch.nn.init.zeros_(flat.model.get_output_embeddings().weight)
    piece = Piece(np.arange(2, 12, dtype=np.int32), 4, "one")
    found = answer(flat, lora, [Question(None, piece)])
    assert found.loss[0] == pytest.approx(np.log(base.head.weight.shape[0]), rel=1e-6)
    # No token surprises more than another; a quotient of rounding errors.
    assert found.least[0] == pytest.approx(0.0, abs=0.5)


def test_a_first_token_has_nothing_before_it(base, lora) -> None:
    """It would be read off the row before, another person's text."""
    with pytest.raises(ValueError, match="first token cannot be supervised"):
        answer(base, lora, [Question(None, Piece(np.arange(4, dtype=np.int32), 0, "one"))])
