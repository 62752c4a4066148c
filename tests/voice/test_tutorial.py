"""The commands of docs/your-voice.md about an adapter, run in their order on a small base and one writer's folder."""

from __future__ import annotations

import re
import shlex

import pandas as pd
import pytest
from tests.voice.conftest import command
from tests.voice.test_score import Trigrams

from favor.statistics.kept_share import KeptShare
from favor.voice import command as score_command
from favor.voice import commands
from favor.voice.gains import Gains
from favor.voice.memorised import Audit, Copying
from favor.voice.report import VoiceReport, advice
from favor.voice.score import VoiceScore
from favor.voice.share import Measured


def test_the_commands_of_the_page_work(repository, toy, tmp_path, monkeypatch, capsys) -> None:
    page = (repository / "docs" / "your-voice.md").read_text()
    given = [
        shlex.split(line)[2:]
        for block in re.findall(r"```bash\n(.*?)```", page, re.DOTALL)
        for line in block.splitlines()
        if line.startswith("favor voice") and not line.startswith("favor voice collect")
    ]
    assert [arguments[0] for arguments in given] == ["train", "write", "report", "export"]
    (tmp_path / "my-posts").mkdir()
    for row in pd.read_csv(toy / "posts.csv").query("author == 'jane'").itertuples():
        (tmp_path / "my-posts" / f"{row.date}.md").write_text(row.text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(commands, "REAL_BASE", str(toy / "base"))
    monkeypatch.setattr(score_command, "style_encoder", lambda name: Trigrams())
    for arguments in given:
        # The small base reads 160 tokens.
        command(*arguments, *(["--tokens", 30] if arguments[0] == "write" else []))
    printed = capsys.readouterr().out
    assert "Was a text trained on?" in printed
    assert "--- own\nDear all," in printed
    assert (tmp_path / "voice" / "report.html").is_file()
    assert "# The voice of Jane Doe" in (tmp_path / "jane" / "README.md").read_text()
    assert (tmp_path / "jane" / "adapter.gguf").is_file()


@pytest.mark.parametrize(("low", "said"), [(1.02, True), (0.9, False)])
def test_a_caricature_is_said_to_be_one(low, said) -> None:
    gain = Measured(0.5, 0.4, 0.6)
    share = KeptShare(1.2, low, 1.4, 1.2, low, 1.4, 0.0, 1.0)
    score = VoiceScore([], {"grammar": share}, [], (0.0, 0.0, 0.0), "texts", 80, 5000, 6, [])
    found = VoiceReport(
        ["validation loss after pass 1: 2.0", "validation loss after pass 2: 2.1", "kept: the adapter of pass 1"],
        {"own": score},
        {"own": Gains(gain, Measured(0.0, -0.1, 0.1), gain, Measured(0.0, -0.1, 0.1), gain)},
        {("writer", "test"): Copying(20, 0, 0)},
        Audit(Measured(0.5, 0.4, 0.6), 40, 20),
    )
    assert any("caricature" in step for step in advice(found, embedded=False)) == said
    assert len(advice(found, embedded=False)) == said
