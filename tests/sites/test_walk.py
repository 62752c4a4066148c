"""The commands of docs/sites.md, run in their order as they stand there, on a smaller demo."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pandas as pd
import pytest
from tests.scores.copied_voices import written
from tests.sites.walk import blocks, run_blocks, small_demo
from tests.voice.conftest import Trigrams

from favor.corpora.schemas import CLIENT_TEXTS
from favor.encoders.settings import EMBEDDED_MINILM
from favor.federation.schemas import BOUNDARY
from favor.foundation.parquet import read_parquet, write_parquet
from favor.sites import scoring
from favor.voice.contrast import embedded_contrast

pytestmark = pytest.mark.slow(185)

SHARE = re.compile(r"(−?\d\.\d\d) \[(−?\d\.\d\d), (−?\d\.\d\d)\]")


@pytest.fixture(scope="module")
def walked(repository, tmp_path_factory) -> tuple[Path, str]:
    """The folder in which the commands were run, and what they printed."""
    folder = tmp_path_factory.mktemp("walk") / "project"
    small_demo(repository, folder)
    return folder, run_blocks(folder, blocks(repository, "bash")[0])


def test_the_commands_of_the_page_work(walked) -> None:
    folder, printed = walked
    for line in (
        "round 0 of 2 is open: send server/rounds/0 to client_001, client_002",
        "not taken out; a favor run of everybody's texts does both",
        "round 1 is closed; favor server export server ends it",
        "no site needs the adapter",
        "own: the author has ",  # too few words in the smaller demo
        "floor: addresses of 21 presidents",
    ):
        assert line in printed
    crossed = read_parquet(folder / "server" / "boundary.parquet", BOUNDARY)
    assert crossed.groupby(["round", "direction", "client"]).size().to_dict() == {
        (number, direction, client): 1
        for number in (0, 1)
        for direction in ("client_to_server", "server_to_client")
        for client in ("client_001", "client_002")
    }
    for site in ("anna", "bert"):
        assert (folder / site / "adapter" / "adapter_config.json").is_file()


def test_a_site_is_scored_between_public_authors_and_its_own_texts(walked, favor, monkeypatch) -> None:
    folder, _ = walked
    monkeypatch.chdir(folder)
    texts = read_parquet(Path("anna/texts.parquet"), CLIENT_TEXTS)
    rows = [
        texts.iloc[0].to_dict()
        | {"document_id": f"d{number}", "text": written(0, "voice", number, 6)}
        | {"split": "test" if number < 8 else "train"}
        for number in range(60)
    ]
    write_parquet(pd.DataFrame(rows), Path("anna/texts.parquet"), CLIENT_TEXTS)
    strangers = [text for own in embedded_contrast().values() for text in own][::9]

    def continued(models, own, seed) -> pd.DataFrame:
        says = {"base": strangers, "own": [written(0, "scored", number, 6) for number in range(8)]}
        found = [(name, f"d{n}", f"d{n}", "test", "", says[name][n]) for name in models.states for n in range(8)]
        return pd.DataFrame(found, columns=["model", "prompt_id", "document_id", "split", "prompt", "text"])

    monkeypatch.setattr(scoring, "continuations", continued)
    # MiniLM would read 210 addresses for each model.
    assert scoring.style_encoder(EMBEDDED_MINILM).encode(strangers[:2]).shape == (2, 384)
    monkeypatch.setattr(scoring, "style_encoder", lambda name: Trigrams())
    lines = dict(line.split(": ", 1) for line in favor("site", "score", "anna", "anna/adapter").splitlines())
    far, near = (SHARE.search(lines[model]) for model in ("base", "own"))
    assert float(far[1].replace("−", "-")) < 0.3  # presidents lie at the floor
    assert float(near[2]) <= 1 <= float(near[3])  # the author's own texts at the ceiling
    settings = Path("anna/adapter/adapter_config.json")
    settings.write_text(json.dumps(json.loads(settings.read_text()) | {"base_model_name_or_path": "other"}))
    with pytest.raises(SystemExit, match=r"anna/adapter: an adapter of 'other', and the site's base is '"):
        favor("site", "score", "anna", "anna/adapter")
