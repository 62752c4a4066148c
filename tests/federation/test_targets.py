"""The style target of Eq. author_target, by hand."""

import numpy as np
import pandas as pd
import pytest

from favor.federation.local import style_targets
from favor.foundation.errors import UserError


def tables() -> tuple[pd.DataFrame, pd.DataFrame]:
    texts = pd.DataFrame({"document_id": ["x1", "x2", "x3", "y1"], "allocated_words": [10, 5, 0, 0]})
    vectors = [[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [-1.0, -1.0]]
    sources = pd.DataFrame({"client": "x", "item": ["x1", "x2", "x3", "x1"], "embedding": vectors})
    return sources.assign(kind=["train", "train", "train", "gold"]), texts.assign(client=list("xxxy"))


def test_the_target_is_the_normalised_mean_of_what_the_client_trains_on() -> None:
    # x trains on x1 = (1, 0) and x2 = (0, 1), not on x3: mean (.5, .5), norm 1 / sqrt 2.
    target = style_targets(*tables(), ["x"])["x"]
    np.testing.assert_allclose(target, [2**-0.5, 2**-0.5], rtol=1e-6)
    assert target.dtype == np.float32


def test_a_client_without_references_is_named() -> None:
    with pytest.raises(UserError, match="y: no reference text"):
        style_targets(*tables(), ["x", "y"])
