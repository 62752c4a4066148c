"""``favor voice train``: the adapter is the engine's own and that of the best pass, and nothing bad is trained."""

import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from tests.voice.conftest import command, refusal, training

from favor.corpora.schemas import CLIENT_TEXTS
from favor.federation.schemas import TRAINING_LOG
from favor.foundation.parquet import read_parquet
from favor.foundation.seeds import derive_seed
from favor.foundation.tensors import write_safetensors
from favor.inference.likelihood import Question, answer
from favor.lm.base import load_base
from favor.lm.cohort import Cohort
from favor.lm.lora import export_peft, initial_state
from favor.lm.peft_import import import_peft
from favor.lm.settings import Lora, Optimisation
from favor.lm.tasks import ClientTask, cut_pieces
from favor.lm.training import train
from favor.voice.memorised import Audit, Copying, audit, audit_lines, copying, copying_lines
from favor.voice.own_texts import own_texts
from favor.voice.position import Measured
from favor.voice.training import read_start, validation_lines

pytestmark = pytest.mark.slow(35)

LORA = Lora()
MADE = ["own/adapter_model.safetensors", "training_log.parquet", "continuations.parquet", "losses.parquet"]


def pieces_of(base, texts, split, column) -> list:
    """Training pieces of a split, cut by hand: sixteen tokens of context, the rest learned."""
    own = texts[texts["split"] == split]
    return [
        piece
        for document, text in zip(own["document_id"], own[column], strict=True)
        for piece in cut_pieces(base.tokenizer.encode(text), document, 16, 160)
    ]


def test_the_adapter_is_what_the_engine_makes_of_one_client_alone(toy, trained) -> None:
    """Two passes over jane's training texts from PEFT's initial adapter, with the settings written out here."""
    base = load_base(str(toy / "base"), device="cpu")
    texts = read_parquet(trained / "texts.parquet", CLIENT_TEXTS)
    task = ClientTask(
        name="writer",
        pieces=pieces_of(base, texts, "train", "training_text"),
        start=initial_state(base.model, LORA, 2026),
        epochs=2,
        stage_seed=derive_seed(2026, "personal stage", 0, "writer"),
    )
    settings = Optimisation(
        max_length=160, micro_batch=4, accumulation=2, supervised="response", warmup_counts_from=1, learning_rate=2e-4
    )
    (expected,) = train(base, LORA, [task], settings)
    found = import_peft([trained / "own"])[0]["own"]
    log = read_parquet(trained / "training_log.parquet", TRAINING_LOG)
    losses = log["validation_loss"].dropna()
    assert losses.iloc[1] < losses.iloc[0] < log["validation_loss_before"].iloc[0]  # so the last pass is kept
    assert log["task_loss"].to_numpy() == pytest.approx([row["task_loss"] for row in expected.log], abs=1e-5)
    for name, tensor in expected.state.items():
        torch.testing.assert_close(found[name], tensor, atol=1e-6, rtol=1e-4)


def test_the_adapter_that_is_kept_has_the_validation_loss_that_is_printed(toy, trained) -> None:
    base = load_base(str(toy / "base"), device="cpu")
    texts = read_parquet(trained / "texts.parquet", CLIENT_TEXTS)
    whole = pieces_of(base, texts, "validation", "text")
    pieces = list({piece.document_id: piece for piece in reversed(whole)}.values())  # the first of each text
    own = import_peft([trained / "own"])[0]["own"]
    tokens = np.array([len(piece) - piece.response_start for piece in pieces])
    log = read_parquet(trained / "training_log.parquet", TRAINING_LOG)
    for state, printed in ((None, log["validation_loss_before"].iloc[0]), (own, log["validation_loss"].min())):
        losses = answer(base, LORA, [Question(state, piece) for piece in pieces]).loss
        assert printed == pytest.approx(float((losses * tokens).sum() / tokens.sum()), abs=1e-4)


def test_every_pass_is_said_and_the_best_is_named() -> None:
    log = pd.DataFrame(
        {"validation_loss_before": [3.0, np.nan, np.nan, np.nan], "validation_loss": [np.nan, 2.5, 2.25, 2.75]}
    )
    before, *passes, kept = validation_lines(log)
    assert before == "validation loss before training: 3.000 nats per token"
    assert passes == [f"validation loss after pass {each}" for each in ("1: 2.500", "2: 2.250", "3: 2.750")]
    assert kept == "kept: the adapter of pass 2"
    log["validation_loss"] += 1
    assert list(validation_lines(log))[-1].startswith("warning: training did not lower the validation loss")


def test_the_newest_texts_are_held_out(toy) -> None:
    """Of 60 posts the six newest are held out; of the 54 others six, drawn at random, validate."""
    found = own_texts(toy / "posts.csv", "jane", {})
    posts = pd.read_csv(toy / "posts.csv").query("author == 'jane'").sort_values("date", kind="stable")
    splits = found.texts["split"]
    assert splits.value_counts().to_dict() == {"train": 48, "validation": 6, "test": 6}
    assert splits.tolist()[54:] == ["test"] * 6
    assert 0.2 < np.flatnonzero(splits == "validation").mean() / 54 < 0.8  # not the newest of them
    assert found.texts["text"].tolist() == posts["text"].tolist()
    trained = np.where(splits == "train", found.texts["text"], "")
    assert found.texts["training_text"].tolist() == trained.tolist()
    (remark,) = found.remarks
    assert remark == "split by date: the newest 10 % are held out; of the older ones as many, drawn at random, validate"


def test_drift_is_not_taken_for_memory(toy) -> None:
    """A base that a text's date alone makes likelier, the older the more, says nothing of what was trained on."""
    posts = pd.read_csv(toy / "posts.csv").query("author == 'jane'")
    texts, generator = own_texts(toy / "posts.csv", "jane", {}).texts, np.random.default_rng(1)
    age = texts["text"].map({text: place for place, text in enumerate(posts.sort_values("date")["text"])})
    kinds = texts["split"].map({"train": "trained", "validation": "validation", "test": "held_out"})
    said, newest = [], []
    for _ in range(20):
        own = 4 - 0.3 * (1 - age / len(posts)) - generator.normal(0, 0.1, len(posts))
        rows = pd.DataFrame({"kind": kinds, "text": range(len(posts)), "base": 4.0, "own": own})
        losses = rows.melt(["kind", "text"], var_name="model", value_name="loss")
        said.append(audit(losses, 1).above_chance)
        newest.append(audit(losses.replace({"kind": {"validation": "", "held_out": "validation"}}), 1))
    assert np.mean(said) <= 0.15
    assert np.mean([each.above_chance for each in newest]) > 0.5  # had they been compared with the newest


def test_texts_without_a_date_are_split_at_random_and_repeated_ones_left_out(toy, tmp_path) -> None:
    posts = pd.read_csv(toy / "posts.csv").query("author == 'jane'")
    posts.loc[posts.index[0], "date"] = "one day"
    pd.concat([posts, posts[:3]]).rename(columns={"text": "email"}).to_csv(tmp_path / "mine.csv", index=False)
    found = own_texts(tmp_path / "mine.csv", "jane", {"text": "email"})
    assert found.texts["split"].value_counts().to_dict() == {"train": 48, "validation": 6, "test": 6}
    assert found.texts["split"].tolist() != sorted(found.texts["split"], reverse=True)
    assert found.remarks == [
        "3 of 63 texts are empty or repeat another and are left out",
        "split at random, because 1 texts have no date that can be read",
    ]


def test_a_folder_gives_the_texts_of_its_author_with_their_dates(toy, tmp_path) -> None:
    posts = pd.read_csv(toy / "posts.csv").query("author == 'jane'")
    for place in ("jane", "jane/2021", "joe"):
        (tmp_path / place).mkdir(parents=True)
    for row in posts.itertuples():
        (tmp_path / "jane" / ("2021" if row.Index % 2 else "") / f"{row.date}.md").write_text(row.text)
    (tmp_path / "joe" / "a.txt").write_text("Another person's words.")
    expected = own_texts(toy / "posts.csv", "jane", {}).texts
    for folder in (tmp_path, tmp_path / "jane"):
        pd.testing.assert_frame_equal(own_texts(folder, "jane", {}).texts, expected)


def test_what_is_missing_is_made_again_and_nothing_of_other_settings(trained, voice, train_again) -> None:
    made = (voice / "own" / "adapter_model.safetensors").stat().st_mtime_ns
    (voice / "losses.parquet").unlink()
    train_again()
    assert (voice / "losses.parquet").read_bytes() == (trained / "losses.parquet").read_bytes()
    assert (voice / "own" / "adapter_model.safetensors").stat().st_mtime_ns == made
    with pytest.raises(SystemExit, match="was trained from other texts or settings"):
        train_again("--epochs", 3)


def test_a_killed_training_goes_on_behind_its_last_whole_pass(toy, trained, tmp_path, monkeypatch, capfd) -> None:
    """Killed once the first of two passes is saved: the other alone is trained, and every file is that of one go."""
    given = [*map(str, training(toy, tmp_path / "jane", "--epochs", 2))]
    saved = tmp_path / "jane" / "pass.safetensors"
    with subprocess.Popen([sys.executable, "-m", "favor.cli", "voice", *given]) as process:
        while process.poll() is None and not saved.is_file():
            time.sleep(0.002)
        process.kill()
    assert process.returncode == -signal.SIGKILL
    assert saved.is_file()
    assert not (tmp_path / "jane" / "own").exists()
    printed = capfd.readouterr().err
    assert re.search(r"jane, writer: 0/\d+ steps .* validation loss \d", printed)  # live, before and after each pass
    assert "kernels" not in printed
    done: list[float] = []
    step = Cohort.step
    monkeypatch.setattr(Cohort, "step", lambda *given: (done.append(given[2]), step(*given))[1])
    command(*given)
    rates = read_parquet(trained / "training_log.parquet", TRAINING_LOG)["learning_rate"].tolist()
    assert done == rates[len(rates) // 2 :]
    for name in MADE:
        assert (tmp_path / "jane" / name).read_bytes() == (trained / name).read_bytes()
    assert not saved.exists()


@pytest.fixture
def shared(toy, tmp_path) -> Path:
    """A results folder with the shared adapter after ten rounds; ``peft`` beside it holds it in PEFT's format."""
    lora = Lora(rank=4, alpha=4, dropout=0.0)
    generator = torch.Generator().manual_seed(3)
    state = initial_state(load_base(str(toy / "base"), device="cpu").model, lora, 7)
    state = {name: tensor + 0.05 * torch.randn(tensor.shape, generator=generator) for name, tensor in state.items()}
    export_peft(state, lora, "base", tmp_path / "peft")
    results = tmp_path / "results"
    for number in (1, 9, 10):
        path = results / f"study/seed2026/shared/task-abc/server/round{number}/adapter.safetensors"
        write_safetensors(state, path, {"kind": "shared adapter"})
    settings = {"experiment": {"lora": {"rank": 4, "alpha": 4, "dropout": 0.0, "target_modules": None}}}
    (results / "study" / "settings.json").write_text(json.dumps(settings))
    return results


def test_training_begins_at_the_shared_adapter_of_a_folder_or_a_run(toy, shared, tmp_path) -> None:
    server, voice = shared / "study/seed2026/shared/task-abc/server", tmp_path / "voice"
    (state, lora), (same, settings) = read_start(tmp_path / "peft"), read_start(server / "round10")
    assert (lora.rank, lora.alpha) == (settings.rank, settings.alpha) == (4, 4)
    command(*training(toy, voice, "--epochs", 1, "--from", server / "round10"))
    states, _ = import_peft([voice / "shared", voice / "own"])
    for key, tensor in state.items():
        assert torch.equal(tensor, same[key])
        assert torch.equal(tensor, states["shared"][key])
        assert 0 < (states["own"][key] - tensor).abs().max() < 0.02  # a dozen steps of AdamW at 2e-4
    assert set(pd.read_parquet(voice / "losses.parquet")["model"]) == {"base", "shared", "own"}
    with pytest.raises(SystemExit, match=r"give one of its shared adapters: \S*server/round10$"):
        command(*training(toy, tmp_path / "x", "--from", shared))
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["posts.csv", "--consent", "theirs"], "add --consent mine"),
        (["posts.csv", "--author", "jan"], "nobody there is named 'jan'; did you mean 'jane'?"),
        (["posts.csv", "--author", "joe"], "add 2,998 words and 19 texts"),
        (["none.csv"], "none.csv: file not found; check the name"),
        (["base"], "holds no text file"),
        (["posts.csv", "--base", "./none"], "no such folder"),
        (["posts.csv", "--base", "none.gguf"], "make real-base"),
        (["posts.csv", "--from", "base"], "holds no adapter_config.json"),
        (["posts.csv", "--columns", "text=body"], "column 'body'"),
    ],
)
def test_what_cannot_be_trained_is_one_line_and_writes_nothing(toy, tmp_path, monkeypatch, options, message) -> None:
    monkeypatch.chdir(toy)
    given = ("--author", "jane", "--consent", "mine", "--voice", tmp_path / "new")
    assert message in refusal("train", *given, *options)
    assert not (tmp_path / "new").exists()


def test_copied_passages_are_counted_and_warned_of() -> None:
    """Ten words in a row of a training text are copied, nine are not; the held-out text repeats nothing."""
    words = "one two three four five six seven eight nine ten eleven twelve"
    texts = pd.DataFrame(
        {"split": ["train", "test"], "training_text": [words, ""], "text": [words, "Something else entirely."]}
    )
    nine, ten = " ".join(words.split()[:9]), " ".join(words.split()[1:11])
    rows = [("own", "train", f"He said: {ten.upper()}."), ("own", "train", nine), ("base", "train", nine)]
    rows += [("own", "test", "x"), ("base", "test", "x")]
    made = pd.DataFrame(rows, columns=["model", "split", "text"])
    found = copying(made, texts)
    assert found["own", "train"] == Copying(2, 1, 10)
    assert found["base", "train"] == Copying(1, 0, 0)
    assert found["writer", "test"] == Copying(1, 0, 0)
    assert any(line.startswith("warning: the adapter writes passages") for line in copying_lines(found))
    found["base", "train"] = Copying(1, 1, 10)
    assert not any(line.startswith("warning") for line in copying_lines(found))


def test_the_audit_warns_above_chance_and_not_at_it() -> None:
    """The loss of every training text falls by 1 + its number / 100; of others by less, or by as much."""

    def losses(others) -> pd.DataFrame:
        levels = {"trained": 1, "validation": others}
        falls = {(kind, n): level + n / 100 for kind, level in levels.items() for n in range(20)}
        rows = [("base", kind, n, 4.0) for kind, n in falls] + [("own", *key, 4 - fall) for key, fall in falls.items()]
        return pd.DataFrame(rows, columns=["model", "kind", "text", "loss"])

    told, chance = audit(losses(0.0), 1), audit(losses(1.0), 1)
    assert (told.auc.value, told.trained, told.validation) == (1.0, 20, 20)
    assert told.above_chance
    assert list(audit_lines(told))[-1].startswith("warning: above chance")
    assert chance.auc.value == pytest.approx(0.5)
    assert chance.auc.low < 0.5 < chance.auc.high
    assert len(list(audit_lines(chance))) == 1
    assert "Not known" in next(iter(audit_lines(Audit(Measured(float("nan"), float("nan"), float("nan")), 20, 0))))
