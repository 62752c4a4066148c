"""ASCE: architecture, training, saving, encoding."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

from favor.encoders.asce_training import _epoch_batches, choose_texts, train_asce
from favor.encoders.backbones import make_small_backbone, mean_pool
from favor.encoders.base import load_encoder
from favor.encoders.kinds.asce import StyleNetwork, load_asce
from favor.encoders.settings import AsceTraining, SmallBackbone
from favor.foundation.errors import UserError

SMALL = AsceTraining(
    small=SmallBackbone(layers=1, hidden=32, heads=2, intermediate=64, vocabulary=400),
    learning_rate=5e-3,
    epochs=6,
    batch_size=8,
    maximum_tokens=64,
    schedule="linear",
    warm_up=2,
)


@pytest.fixture(scope="module")
def trained(styled_texts, tmp_path_factory) -> tuple[Path, dict]:
    folder = tmp_path_factory.mktemp("encoder")
    return folder, train_asce(styled_texts, SMALL, None, 7, folder, excluded_authors={"eve", "flo"})


def test_mean_pool_ignores_padding() -> None:
    # rows (1,2),(3,4),(100,100 padding): mean of the first two = (2,3)
    hidden = torch.tensor([[[1.0, 2.0], [3.0, 4.0], [100.0, 100.0]]])
    assert mean_pool(hidden, torch.tensor([[1, 1, 0]])).tolist() == [[2.0, 3.0]]


def test_network_is_the_papers(styled_texts) -> None:
    backbone = make_small_backbone(SMALL.small, styled_texts["text"], 64)
    network = StyleNetwork(backbone)
    assert (network.projection.in_features, network.projection.out_features) == (32, 256)
    assert network.norm.normalized_shape == (256,)
    assert network.dropout.p == 0.1
    # head parameters by hand: 32*256 + 256 (linear) + 2*256 (LayerNorm) = 8,960
    head = sum(p.numel() for name, p in network.named_parameters() if not name.startswith("backbone"))
    assert head == 8960
    settings = AsceTraining()
    assert (settings.scale, settings.margin, settings.learning_rate) == (30.0, 0.35, 2e-5)


def test_training_learns_and_records(trained) -> None:
    folder, manifest = trained
    expected = {"authors": 4, "training_texts": 56, "validation_texts": 24}
    expected |= {"overlap_with_other_roles": 0, "excluded_authors_checked": 2}
    assert {name: manifest[name] for name in expected} == expected
    assert manifest["validation_accuracy"] > 0.9
    best = max(epoch["validation_macro_f1"] for epoch in manifest["epochs"])
    assert manifest["validation_macro_f1"] == best
    assert sorted(path.name for path in folder.iterdir()) == ["encoder.json", "encoder.safetensors"]
    saved = json.loads((folder / "encoder.json").read_text())
    assert saved["manifest"] == manifest
    assert saved["settings"]["margin"] == 0.35
    assert "_name_or_path" not in saved["backbone"]["config"]
    # The head is discarded.
    assert not any(tuple(p.shape) == (4, 256) for p in load_asce(folder).model.parameters())


def test_same_seed_same_bytes(trained, styled_texts, tmp_path) -> None:
    shuffled = styled_texts.sample(frac=1.0, random_state=0)
    before = torch.random.get_rng_state()
    train_asce(shuffled, SMALL, None, 7, tmp_path, excluded_authors={"eve", "flo"})
    assert torch.equal(before, torch.random.get_rng_state())
    for name in ("encoder.safetensors", "encoder.json"):
        assert (tmp_path / name).read_bytes() == (trained[0] / name).read_bytes()


def test_encoding_is_unit_groups_by_author_and_is_independent_of_order(trained, styled_texts) -> None:
    encoder = load_encoder({"kind": "asce", "batch_size": 7}, trained[0])
    texts = [*styled_texts["text"], "short", ""]
    rows = encoder.encode(texts)
    assert rows.dtype == np.float32
    assert rows.shape == (len(texts), encoder.dimension) == (82, 256)
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1.0, atol=1e-5)
    order = np.random.default_rng(0).permutation(len(texts))
    np.testing.assert_allclose(encoder.encode([texts[i] for i in order]), rows[order], atol=1e-6)
    np.testing.assert_allclose(encoder.encode(texts[-1:]), rows[-1:], atol=1e-6)
    assert encoder.encode([]).shape == (0, 256)
    same = np.equal.outer(*[styled_texts["author"].to_numpy()] * 2)
    cosines = rows[:80] @ rows[:80].T
    assert cosines[same].mean() > cosines[~same].mean() + 0.3


def test_text_choice_respects_limits() -> None:
    texts = pd.DataFrame(
        {
            "author": ["a"] * 6 + ["b"] * 3,
            "document_id": [f"d{i}" for i in range(9)],
            "split": ["train"] * 4 + ["validation"] * 2 + ["train", "train", "test"],
            "text": ["x" * 60, "y" * 2000, "z" * 49, "w" * 50, "v" * 60, "u" * 60, " " * 80, "t" * 70, "s" * 70],
        }
    )
    chosen = choose_texts(texts, AsceTraining(training_texts_per_author=2, validation_texts_per_author=1), 1)
    counts = chosen.groupby(["author", "split"]).size().to_dict()
    # a: three of four training texts are long enough, two are drawn; b: one training text (the other is blank), no test
    assert counts == {("a", "train"): 2, ("a", "validation"): 1, ("b", "train"): 1}
    assert chosen["text"].str.len().max() <= 1500


def test_epoch_batches_cover_every_text_once() -> None:
    lengths = np.random.default_rng(0).integers(5, 200, size=150)
    batches = _epoch_batches(lengths, 8, seed=1, epoch=2)
    assert sorted(np.concatenate(batches).tolist()) == list(range(150))
    again = _epoch_batches(lengths, 8, seed=1, epoch=2)
    assert all((a == b).all() for a, b in zip(batches, again, strict=True))
    other = _epoch_batches(lengths, 8, seed=1, epoch=3)
    assert np.concatenate(other).tolist() != np.concatenate(batches).tolist()


def test_pretrained_backbone_in_bfloat16_keeps_the_head_in_float32(styled_texts, tmp_path) -> None:
    settings = SMALL.model_copy(update={"precision": "bfloat16", "epochs": 1})
    manifest = train_asce(styled_texts, settings, None, 7, tmp_path)
    assert np.isfinite(manifest["epochs"][0]["training_loss"])


def test_bad_input(styled_texts, trained, tmp_path) -> None:
    for texts, problem in (
        (styled_texts, "1 ASCE training authors also have another role"),
        (styled_texts[styled_texts["author"] == "ann"], "at least 2 authors"),
        (styled_texts[styled_texts["split"] == "train"], "no ASCE author has a validation text"),
    ):
        with pytest.raises(UserError, match=problem):
            train_asce(texts, SMALL, None, 7, tmp_path, {"bob"} if texts is styled_texts else ())
    for folder, problem in ((tmp_path / "absent", "file not found"), (None, "needs the folder")):
        with pytest.raises(UserError, match=problem):
            load_encoder({"kind": "asce"}, folder)
    for name in ("encoder.json", "encoder.safetensors"):
        (tmp_path / name).write_bytes((trained[0] / name).read_bytes())
    half = (tmp_path / "encoder.safetensors").read_bytes()
    (tmp_path / "encoder.safetensors").write_bytes(half[: len(half) // 2])
    with pytest.raises(UserError, match="not a complete safetensors file"):
        load_asce(tmp_path)


def test_what_characters_and_tokens_cut_off_is_counted(trained) -> None:
    encoder = load_asce(trained[0])
    encoder.maximum_characters, encoder.maximum_tokens = 8, 100
    encoder.encode(["a b c d e f g h", "a b"])
    assert (encoder.unread.texts, encoder.unread.cut) == (2, 1)
    assert encoder.unread.tokens > encoder.unread.unread > 0
    encoder.maximum_tokens = 3  # room for one token of the text
    before = encoder.unread
    encoder.encode(["a b c d e f g h"])
    assert encoder.unread.cut == before.cut + 1
    assert encoder.unread.tokens - before.tokens == encoder.unread.unread - before.unread + 1
