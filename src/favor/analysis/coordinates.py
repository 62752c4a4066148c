"""How much of every single coordinate of a space authors and topics explain: hand-made features beside the encoder."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from favor.analysis.schemas import COORDINATE_EFFECTS
from favor.corpora.style_features import STRUCTURE, VERIFIER_WORDS, function_word_rates, structure_rates
from favor.scores.inputs import unit_embeddings
from favor.statistics.effect_sizes import effect_sizes

NAMES = (*(f"function word {word}" for word in VERIFIER_WORDS), *STRUCTURE)


def hand_made_features(texts: Sequence[str]) -> np.ndarray:
    """Function-word and structure rates of every text [n, features], in the order of ``NAMES``."""
    return np.stack([np.concatenate([function_word_rates(text), structure_rates(text)]) for text in texts])


def coordinate_effects(embeddings: pd.DataFrame, texts: pd.DataFrame, kind: str = "test") -> pd.DataFrame:
    """Return the table ``coordinate_effects`` of the clients' human texts of ``kind``.

    ``embeddings``: table ``source_embeddings`` of the style encoder; ``texts``: table ``client_texts``. Coordinates
    that are the same in every text are left out. Empty where fewer than two topics have three authors.
    """
    human = embeddings[embeddings["kind"] == kind].rename(columns={"item": "document_id"})
    joined = human.merge(texts[["client", "document_id", "text"]], on=["client", "document_id"], validate="one_to_one")
    vectors = unit_embeddings(joined["embedding"])
    spaces = {"style": (vectors, [f"{number:04d}" for number in range(vectors.shape[1])])}
    if len(joined):
        spaces["stylometric"] = (hand_made_features(joined["text"].tolist()), list(NAMES))
    authors, topics = (joined[name].to_numpy(dtype=object).astype(str) for name in ("client", "topic"))
    tables = [COORDINATE_EFFECTS.empty()]
    for space, (values, names) in spaces.items():
        found = effect_sizes(values, authors, topics)
        if found is None:
            continue
        columns = {"author_effect": found.author, "topic_effect": found.topic, "texts": found.texts}
        tables.append(pd.DataFrame({"space": space, "coordinate": np.array(names)[found.coordinates], **columns}))
    return pd.concat(tables, ignore_index=True)
