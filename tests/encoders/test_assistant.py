"""The assistant classifier: its sigmoid against the definition, and a small one from training to probabilities."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from favor.corpora.assistant_texts import classifier_texts, read_assistant
from favor.corpora.settings import DemoAssistant
from favor.demo.assistant import write_assistant
from favor.encoders.assistant import fit_sigmoid, load_assistant, train_assistant
from favor.encoders.settings import EncoderTraining, SmallBackbone


def test_sigmoid_against_weighted_logistic_regression() -> None:
    generator = np.random.default_rng(0)
    values = generator.normal(size=200)
    positive = generator.random(200) < 1 / (1 + np.exp(-(3 * values - 1)))
    slope, intercept = fit_sigmoid(values, positive)
    # a soft target t is a positive of weight t beside a negative of weight 1 - t; both classes weigh one half
    above, below = positive.sum(), (~positive).sum()
    target = np.where(positive, (above + 1) / (above + 2), 1 / (below + 2))
    weight = np.where(positive, 0.5 / above, 0.5 / below)
    oracle = LogisticRegression(C=1e10, tol=1e-10, max_iter=1000).fit(
        np.concatenate([values, values])[:, None],
        np.repeat([1, 0], 200),
        sample_weight=np.concatenate([weight * target, weight * (1 - target)]) * 200,
    )
    assert slope == pytest.approx(oracle.coef_[0, 0], rel=1e-4)
    assert intercept == pytest.approx(oracle.intercept_[0], rel=1e-4)


def test_separable_classes_keep_platts_targets() -> None:
    # two values only: the fit meets the targets (3 + 1) / (3 + 2) = 0.8 and 1 / (2 + 2) = 0.25 exactly
    slope, intercept = fit_sigmoid(np.array([1.0, 1, 1, -1, -1]), np.array([True, True, True, False, False]))
    assert 1 / (1 + np.exp(-(slope + intercept))) == pytest.approx(0.8, abs=1e-4)
    assert 1 / (1 + np.exp(-(-slope + intercept))) == pytest.approx(0.25, abs=1e-4)


def test_from_texts_to_probabilities(tmp_path) -> None:
    write_assistant(tmp_path / "texts.csv", DemoAssistant(texts=80, minimum_sentences=8))
    generator = np.random.default_rng(1)
    sentence = "i was out with mike today lol and we had a game then rain came so no luck haha see u later guys"
    words = sentence.split()
    human = pd.DataFrame(
        [(f"p{number % 20:02d}", f"d{number:03d}", " ".join(generator.choice(words, 100))) for number in range(80)],
        columns=["author", "document_id", "text"],
    )
    texts = classifier_texts(read_assistant(tmp_path / "texts.csv", "text"), human, 80, seed=5)
    small = SmallBackbone(layers=1, hidden=32, heads=2, intermediate=64, vocabulary=500)
    settings = EncoderTraining(small=small, learning_rate=2e-3, epochs=3, maximum_tokens=64)
    manifest = train_assistant(texts, settings, None, 5, tmp_path / "made", {"client"})
    assert manifest["people_kept_out"] == 1
    assert manifest["test_accuracy"] > 0.9
    assert manifest["test_brier"] < 0.1
    classifier = load_assistant(tmp_path / "made")
    probability = classifier.probabilities(["In conclusion, the game offers a valuable opportunity.", "lol see u mike"])
    assert 0 <= probability[1] < 0.5 < probability[0] <= 1
    tested = texts[texts["split"] == "test"]
    again = classifier.probabilities(tested["text"].tolist())
    assert np.mean((again - (tested["author"] == "assistant")) ** 2) == pytest.approx(manifest["test_brier"], abs=1e-6)
