"""Certificates on the terminal, from the tables of two encoders."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from favor.encoders.schemas import CERTIFICATE, SOURCE_EMBEDDINGS
from favor.encoders.stel import certify, read_items
from favor.foundation.parquet import write_parquet
from favor.report.certificates import NO_TEXTS, certificate_lines
from favor.scores.settings import Resampled
from favor.tables.specs import Context

SETTINGS = Resampled(draws=200, seed=1)


def blind(texts) -> np.ndarray:
    return np.ones((len(texts), 2))


@pytest.fixture
def certificate(tmp_path) -> Path:
    write_parquet(certify(blind, read_items(10)), tmp_path / "certificate.parquet", CERTIFICATE)
    return tmp_path / "certificate.parquet"


def embeddings(path, separated) -> None:
    """Six training and six held-out texts of eight authors; without a centre of their own they are random."""
    generator = np.random.default_rng(3)
    rows = []
    for kind in ("train", "test"):
        for author in range(8):
            for text in range(6):
                vector = generator.normal(size=12) + separated * 9 * np.eye(12)[author]
                rows.append((f"client_{author:03d}", f"{kind}{text}", kind, "Student", vector.astype(np.float32)))
    write_parquet(pd.DataFrame(rows, columns=SOURCE_EMBEDDINGS.names), path, SOURCE_EMBEDDINGS)


def test_two_encoders_and_the_one_that_fails_first(certificate, tmp_path) -> None:
    paths = {name: tmp_path / f"{name}.parquet" for name in ("asce_a", "minilm")}
    for name, path in paths.items():
        embeddings(path, separated=name == "asce_a")
    context = Context("trial", [], encoder_titles={"minilm": "My MiniLM"})
    lines = certificate_lines(dict.fromkeys(paths, certificate), paths, context, SETTINGS)
    assert lines[0].startswith("Caution: My MiniLM is not shown to separate the writers' own texts")
    assert sum(line.startswith("Caution") for line in lines) == 1
    stel = lines[lines.index("STEL") + 1 :]
    assert stel[1].split() == ["ASCE-A", "0.500", "0.500", "0.500", "0.500", "0.500", "40"]
    human = lines[lines.index("Human texts") + 1 :]
    assert human[1].split()[1:5] == ["1.000", "[0.589,", "1.000]", "1.000"]
    assert len({len(line) for line in human[:3]}) == 1


def test_without_human_texts_there_are_dashes_with_the_reason(certificate) -> None:
    lines = certificate_lines({"letters": certificate}, {}, Context("", []), SETTINGS)
    assert lines[-1] == f"a: {NO_TEXTS}"
    assert lines[lines.index("Human texts") + 2].split()[:2] == ["letters", "–"]
