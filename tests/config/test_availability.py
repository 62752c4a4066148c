"""Which optional encoders are on this machine, told from folders alone."""

from pathlib import Path

import pytest
from huggingface_hub import constants

from favor.config.availability import absent_encoders, hub_cache, is_here, sources
from favor.encoders.settings import Encoder


def encoder(kind, source=None, optional=True, **options) -> Encoder:
    return Encoder(kind=kind, source=source, options=options, optional=optional)


@pytest.fixture
def cache(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    return tmp_path


def test_the_cache_is_where_the_libraries_have_it(monkeypatch) -> None:
    for name in ("HF_HUB_CACHE", "HF_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    assert hub_cache() == Path("~/.cache/huggingface/hub").expanduser()
    assert Path(constants.default_cache_path).name == "hub"
    monkeypatch.setenv("HF_HOME", "/models")
    assert hub_cache() == Path("/models/hub")


def test_an_id_is_here_once_a_snapshot_has_files(cache) -> None:
    assert not is_here("org/model")
    snapshot = cache / "models--org--model" / "snapshots" / "abc"
    snapshot.mkdir(parents=True)
    assert not is_here("org/model")
    (snapshot / "config.json").write_text("{}")
    assert is_here("org/model")
    assert is_here("embedded-minilm")
    assert is_here(str(snapshot))
    assert not is_here("/no/such/folder")


def test_kinds_bring_sources_of_their_own() -> None:
    assert sources(encoder("luar")) == ["rrivera1849/LUAR-MUD"]
    assert sources(encoder("star", "my/star")) == ["my/star", "roberta-large"]
    assert sources(encoder("star", tokenizer="/t")) == ["AIDA-UPM/star", "/t"]
    assert sources(encoder("asce", folder="results/encoders/asce_a")) == ["results/encoders/asce_a"]


def test_only_optional_encoders_can_be_absent(cache) -> None:
    named = {
        "luar": encoder("luar"),
        "star": encoder("star", optional=False),
        "minilm": encoder("sentence", "embedded-minilm"),
        "stylometry": encoder("stylometry"),
    }
    assert absent_encoders(named) == {"luar": "luar (rrivera1849/LUAR-MUD) is not on this machine"}
