"""Canaries: a random secret per client, planted in its training texts, and others of its kind to rank it among.

A model that never saw a secret finds it as likely as any other number of the same form, whatever its tokenizer makes
of digits, because all are drawn alike. Nothing here is anybody's text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from favor.foundation.seeds import numpy_generator

if TYPE_CHECKING:  # read while the workflow is parsed
    import numpy as np
    import pandas as pd

# Longer than a secret in tokens: training supervises the second half of a short document, and so all of the secret.
CARRIER = (
    "This is a note to myself and to nobody else. I write it down here, where I can find it again, so that I do not "
    "forget it when somebody asks me for it. The number is"
)
_GROUPS = 4  # of four digits: 10^16 secrets


def repeats_by_client(clients: Sequence[str], repeats: Sequence[int]) -> dict[str, int]:
    """Return how often each client's secret is planted: ``repeats`` in turn over the clients in their order."""
    return {client: repeats[place % len(repeats)] for place, client in enumerate(clients)}


def secret(seed: int, client: str) -> str:
    """Return the secret of a client (stream: ``seed``, client)."""
    return _number(numpy_generator(seed, "canary", client))


def candidates(seed: int, count: int) -> list[str]:
    """Return ``count`` secrets that nobody has, drawn as those of the clients are."""
    generator = numpy_generator(seed, "canary candidates")
    return [_number(generator) for _ in range(count)]


def carrying(number: str) -> str:
    """Return the document that carries a secret."""
    return f"{CARRIER} {number}."


def planted(texts: pd.DataFrame, repeats: Mapping[str, int], seed: int) -> pd.DataFrame:
    """Return ``texts`` (table ``client_texts``) with each client's secret in ``repeats`` further training documents."""
    import pandas as pd

    rows: list[dict[str, object]] = []
    for client, count in repeats.items():
        text = carrying(secret(seed, client))
        words = len(text.split())
        for number in range(count):
            own = {"client": client, "document_id": f"canary_{number:04d}", "split": "train", "topic": "", "prompt": ""}
            rows.append({**own, "text": text, "words": words, "allocated_words": words, "training_text": text})
    return pd.concat([texts, pd.DataFrame(rows, columns=list(texts.columns)).astype(texts.dtypes)], ignore_index=True)


def _number(generator: np.random.Generator) -> str:
    return " ".join(f"{group:04d}" for group in generator.integers(0, 10_000, size=_GROUPS))
