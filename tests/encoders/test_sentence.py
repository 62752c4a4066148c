"""Mean-pooled sentence encoders against sentence-transformers, and the loader's errors."""

from __future__ import annotations

import numpy as np
import pytest
from sentence_transformers import SentenceTransformer

from favor.encoders.backbones import resolve_source
from favor.encoders.base import load_encoder
from favor.foundation.errors import UserError
from favor.foundation.registry import ENCODER_KINDS

TEXTS = ["A short one.", "", "Cats, dogs & birds!", "long words " * 300, "naïve café — “quoted” 😀", "A short one."]


def test_embedded_minilm_equals_sentence_transformers() -> None:
    encoder = load_encoder({"kind": "sentence", "source": "embedded-minilm", "batch_size": 3})
    oracle = SentenceTransformer(resolve_source("embedded-minilm"), device="cpu")
    assert oracle.max_seq_length == 256
    rows = encoder.encode(TEXTS)
    assert rows.shape == (6, encoder.dimension) == (6, 384)
    np.testing.assert_allclose(rows, oracle.encode(TEXTS, normalize_embeddings=True), atol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1.0, atol=1e-5)
    np.testing.assert_allclose(encoder.encode(TEXTS[::-1])[::-1], rows, atol=1e-6)


def test_bad_specifications() -> None:
    with pytest.raises(UserError, match="kind 'sentense' is unknown; did you mean 'sentence'"):
        load_encoder({"kind": "sentense"})
    with pytest.raises(UserError, match="has no 'kind'"):
        load_encoder({"source": "x"})
    with pytest.raises(UserError, match="no option 'sorce'"):
        load_encoder({"kind": "sentence", "sorce": "embedded-minilm"})
    with pytest.raises(UserError, match="use float32 or bfloat16"):
        load_encoder({"kind": "sentence", "precision": "half"})
    with pytest.raises(UserError, match=r"encoder source '\./no/such/folder': cannot be loaded"):
        load_encoder({"kind": "sentence", "source": "./no/such/folder"})


def test_a_kind_is_its_file() -> None:
    assert ENCODER_KINDS.module("sentence") == "favor.encoders.kinds.sentence"
