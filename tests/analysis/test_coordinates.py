"""Effects of single coordinates: hand-made features beside embeddings, against the effect sizes of one coordinate."""

import numpy as np
import pandas as pd
import pytest

from favor.analysis.coordinates import NAMES, coordinate_effects, hand_made_features
from favor.statistics.effect_sizes import omega_squared


@pytest.fixture(scope="module")
def human() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Six authors of two topics, four test texts each; author k ends every sentence with k exclamation marks."""
    generator = np.random.default_rng(3)
    embeddings, texts = [], []
    for author in range(6):
        for number in range(4):
            keys = {"client": f"c{author}", "topic": "s" if author < 3 else "t"}
            item = f"c{author}-{number}"
            vector = generator.normal(size=3).astype(np.float32) + author
            embeddings.append({**keys, "item": item, "kind": "test", "embedding": vector})
            text = " ".join(f"it is word{generator.integers(9)}" + "!" * author for _ in range(5))
            texts.append({"client": f"c{author}", "document_id": item, "text": text})
    return pd.DataFrame(embeddings), pd.DataFrame(texts)


def test_every_coordinate_has_its_own_effects(human) -> None:
    embeddings, texts = human
    table = coordinate_effects(embeddings, texts).set_index(["space", "coordinate"])
    assert len(table.loc["style"]) == 3
    assert (table["texts"] == 24).all()
    feature = hand_made_features(texts["text"].tolist())[:, [NAMES.index("rate of !")]]
    authors, topics = embeddings["client"].to_numpy(), embeddings["topic"].to_numpy()
    found = table.loc[("stylometric", "rate of !")]
    assert found["author_effect"] == pytest.approx(omega_squared(feature, authors, topics)[0])
    assert found["topic_effect"] == pytest.approx(omega_squared(feature, topics)[0])
    assert found["author_effect"] > 0.9  # who writes, not what about
    # No text holds a semicolon: a constant coordinate has no effect to show.
    assert ("stylometric", "rate of ;") not in table.index


def test_too_few_topics_give_an_empty_table(human) -> None:
    embeddings, texts = human
    assert coordinate_effects(embeddings.assign(topic="s"), texts).empty
    assert coordinate_effects(embeddings, texts, kind="validation").empty
