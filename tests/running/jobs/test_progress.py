"""Progress lines say how far the work is, how fast, and how long it still takes."""

from favor.running.jobs import progress as module
from favor.running.jobs.progress import Progress


def test_a_line_holds_count_rate_tokens_time_left_and_figures(monkeypatch, capsys) -> None:
    now = [0.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    progress = Progress("shared stage, round 2", 10, every=5)
    now[0] = 4.0
    progress.update(1, tokens=100, loss=2.5)
    assert capsys.readouterr().err == ""  # too soon
    now[0] = 8.0
    progress.update(3, tokens=300, loss=2.0)
    # 4 of 10 in 8 s: 0.5 a second, 400 tokens in 8 s, 6 left at 0.5: 12 s.
    line = "shared stage, round 2: 4/10 steps | 0.5 steps/s | 50 supervised tokens/s | 0:12 left | loss 2\n"
    assert capsys.readouterr().err == line
    now[0] = 3700.0
    progress.update(6)
    progress.close()
    assert "10/10 steps" in (closing := capsys.readouterr().err)
    assert "1:01:40 taken" in closing


def test_work_that_takes_less_than_a_second_more_is_called_so(monkeypatch, capsys) -> None:
    now = [0.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    progress = Progress("BERTScore", 12, "texts")
    now[0] = 6.0
    progress.update(8)
    assert "0:03 left" in capsys.readouterr().err
    now[0] = 6.1
    progress.update(3)
    progress.show()
    # 11 of 12 in 6.1 s.
    line = capsys.readouterr().err
    assert "working" not in line
    assert "0:01 left" in line
    progress = Progress("BERTScore", 1_000, "texts")
    now[0] = 12.1
    progress.update(990)
    assert capsys.readouterr().err == "BERTScore: 990/1,000 texts | 165.0 texts/s | working\n"


def test_an_unknown_length_shows_no_total(capsys) -> None:
    progress = Progress("documents", 0, "posts")
    progress.update(3)
    progress.close()
    assert "documents: 3 posts" in capsys.readouterr().err
