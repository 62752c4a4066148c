"""The commands of the two pages on one author's voice, in their order, on a small base, a mail box and folders."""

import mailbox
import re
import shlex
from email.message import EmailMessage

import pandas as pd
import pytest
from tests.scores.copied_voices import written
from tests.voice.conftest import command

from favor.statistics.kept_share import KeptShare
from favor.voice import commands, web_app
from favor.voice.memorised import Audit, Copying, Gains
from favor.voice.position import Measured
from favor.voice.report import VoiceReport, advice
from favor.voice.score import VoiceScore


@pytest.mark.slow(53)
def test_the_commands_of_the_pages_work(
    repository, toy, chatting, by_hand, light, tmp_path, monkeypatch, capsys
) -> None:
    page = "".join((repository / "docs" / name).read_text() for name in ("your-voice.md", "voice-adapter.md"))
    lines = "".join(re.findall(r"```bash\n(.*?)```", page, re.DOTALL)).splitlines()
    given = [shlex.split(line)[1:] for line in lines if line.startswith("favor ")]
    names = [arguments[arguments[0] == "voice"] for arguments in given]
    trained = ["train", "write", "train", "rewrite", "train", "write"]
    assert names == ["collect", "score", *trained, "report", "page", "export"]
    posts = pd.read_csv(toy / "posts.csv").query("author == 'jane'")
    sent = mailbox.mbox(tmp_path / "Sent.mbox")
    for folder in ("my-posts", "drafts", "notes"):
        (tmp_path / folder).mkdir()
    for row in posts.itertuples():
        (tmp_path / "my-posts" / f"{row.date}.md").write_text(row.text)
        message = EmailMessage()
        message["From"] = "Ann Lee <ann@example.org>"
        message["Date"] = pd.Timestamp(row.date).strftime("%d %b %Y 10:00:00 +0000")
        message.set_content(row.text)
        sent.add(message)
    sent.close()
    (tmp_path / "notes" / "2021-01-01.md").write_text(written(0, "voice", 100, 6))
    (tmp_path / "drafts" / "draft.md").write_text(written(0, "scored", 1))
    served: list[str] = []
    monkeypatch.setattr(web_app, "serve", lambda page, policy, answers, port: served.append(page))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(commands, "REAL_BASE", str(chatting))
    for arguments in given:
        program, *more = arguments
        command(*more, *(["--tokens", "30"] if "write" in arguments else []), program=program)
    printed = capsys.readouterr().out
    collected = pd.read_parquet(tmp_path / "ann.parquet")
    assert set(collected["author"]) == {"Ann Lee"}
    assert len(collected) == len(posts) + 1
    assert "Contrast: 21 authors" in printed
    assert "<h1>How near the texts are to the author</h1>" in (tmp_path / "score.html").read_text()
    assert "<h1>The voice of Jane Doe</h1>" in served[0]
    assert "Was a text trained on?" in printed
    assert "--- own\nDear all," in printed
    assert printed.count("--- own\n") == 3  # two that write, one that rewrites
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
        held_out=20,
    )
    assert any("caricature" in step for step in advice(found, embedded=False)) == said
    assert len(advice(found, embedded=False)) == said
