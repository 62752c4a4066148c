"""Sentence encoders run as their own files say: pooling, dense layer, prompt, length; and the loader's errors."""

import json

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Dense, Normalize, Pooling, Transformer
from tests.encoders.conftest import roberta_tokenizer

from favor.encoders.backbones import load_backbone, make_small_backbone, resolve_source
from favor.encoders.base import Unread, load_encoder
from favor.encoders.settings import SmallBackbone
from favor.foundation.errors import UserError

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


@pytest.fixture(scope="module")
def plain(tmp_path_factory) -> str:
    """A folder with a small transformer for 40 tokens, and nothing that says how it pools."""
    return save_transformer(tmp_path_factory.mktemp("plain"), model_max_length=40)


def save_transformer(folder, **said) -> str:
    """Save a small transformer for 40 tokens; ``said`` is what its tokenizer's files say beside."""
    torch.manual_seed(4)
    sizes = SmallBackbone(layers=1, hidden=16, heads=2, intermediate=32, vocabulary=300)
    backbone = make_small_backbone(sizes, TEXTS, maximum_tokens=40)
    backbone.model.save_pretrained(folder)
    roberta_tokenizer(backbone.tokenizer, **said).save_pretrained(folder)
    return str(folder)


def states(model, text) -> torch.Tensor:
    """Last hidden states [t, 16] of one text, by transformers alone."""
    ids = model.tokenizer(text, truncation=True, max_length=model.max_seq_length, return_tensors="pt")
    with torch.inference_mode():
        return model[0].model(**ids).last_hidden_state[0]


# How the library's names pool the states [t, d] of a text, written out.
POOLED = {
    "cls": lambda states: states[0],
    "max": lambda states: states.max(dim=0).values,
    "mean": lambda states: states.mean(dim=0),
    "mean_sqrt_len_tokens": lambda states: states.sum(dim=0) / len(states) ** 0.5,
    "lasttoken": lambda states: states[-1],
    "weightedmean": lambda states: (
        (states * torch.arange(1, len(states) + 1)[:, None]).sum(dim=0) / sum(range(1, len(states) + 1))
    ),
}


@pytest.mark.parametrize("mode", POOLED)
@pytest.mark.parametrize("dense", [False, True])
def test_a_model_pools_and_projects_as_its_files_say(plain, tmp_path, mode, dense) -> None:
    torch.manual_seed(5)
    parts = [Transformer(plain), Pooling(16, pooling_mode=mode)]
    parts += [Dense(16, 5, activation_function=torch.nn.Tanh())] if dense else [Normalize()]
    model = SentenceTransformer(modules=parts, device="cpu")
    model.save(str(tmp_path))
    rows = load_encoder({"kind": "sentence", "source": str(tmp_path), "batch_size": 2}).encode(TEXTS)
    for text, row in zip(TEXTS, rows, strict=True):
        pooled = POOLED[mode](states(model, text))
        with torch.inference_mode():
            expected = torch.tanh(model[2].linear(pooled)) if dense else pooled
        np.testing.assert_allclose(row, (expected / expected.norm()).numpy(), atol=1e-5)
    np.testing.assert_allclose(rows, model.encode(TEXTS, normalize_embeddings=True), atol=1e-5)


def test_a_plain_transformer_is_mean_pooled(plain) -> None:
    encoder = load_encoder({"kind": "sentence", "source": plain})
    expected = states(encoder.model, TEXTS[0]).mean(dim=0)
    np.testing.assert_allclose(encoder.encode(TEXTS[:1])[0], (expected / expected.norm()).numpy(), atol=1e-5)


def test_a_prompt_stands_before_every_text(plain, tmp_path) -> None:
    """The model's default prompt, whose tokens its pooling leaves out; one of the configuration; none."""
    modules = [Transformer(plain), Pooling(16, pooling_mode="mean", include_prompt=False)]
    model = SentenceTransformer(modules=modules, device="cpu", prompts={"style": "cats: "}, default_prompt_name="style")
    model.save(str(tmp_path))
    found = []
    for options, said in (({}, {"prompt_name": "style"}), *(({"prompt": text},) * 2 for text in ("dogs: ", ""))):
        found.append(load_encoder({"kind": "sentence", "source": str(tmp_path), **options}).encode(TEXTS))
        np.testing.assert_allclose(found[-1], model.encode(TEXTS, **said, normalize_embeddings=True), atol=1e-5)
    own, other, none = found
    assert abs(own - other).max() > 1e-3 < abs(own - none).max()


def test_no_text_is_longer_than_the_model_takes(plain, tmp_path) -> None:
    model = SentenceTransformer(modules=[Transformer(plain, max_seq_length=12), Pooling(16)], device="cpu")
    model.save(str(tmp_path))
    silent = save_transformer(tmp_path / "silent")  # RoBERTa counts its 40 tokens from position 2 of 42
    for source, limit, longest in ((str(tmp_path), 256, 12), (str(tmp_path), 8, 8), (silent, 256, 40)):
        encoder = load_encoder({"kind": "sentence", "source": source, "maximum_tokens": limit})
        assert encoder.model.max_seq_length == longest
        assert encoder.encode(["long words " * 300]).shape == (1, 16)


def test_code_of_a_model_never_runs(plain, tmp_path) -> None:
    SentenceTransformer(modules=[Transformer(plain), Pooling(16)], device="cpu").save(str(tmp_path))
    modules = json.loads((tmp_path / "modules.json").read_text())
    modules[1]["type"] = "own_pooling.OwnPooling"
    (tmp_path / "modules.json").write_text(json.dumps(modules))
    (tmp_path / "own_pooling.py").write_text("raise SystemExit('the code of a model ran')")
    with pytest.raises(UserError, match="cannot be loaded"):
        load_encoder({"kind": "sentence", "source": str(tmp_path)})


@pytest.mark.parametrize(
    ("specification", "problem"),
    [
        ({"kind": "sentense"}, "kind 'sentense' is unknown; did you mean 'sentence'"),
        ({"kind": "sentence", "sorce": "embedded-minilm"}, "no option 'sorce'"),
        ({"kind": "sentence", "precision": "half"}, "use float32 or bfloat16"),
        ({"kind": "sentence", "source": "./no/such/folder"}, r"encoder source '\./no/such/folder': cannot be loaded"),
    ],
)
def test_bad_specifications(specification, problem) -> None:
    with pytest.raises(UserError, match=problem):
        load_encoder(specification)


@pytest.mark.parametrize("part", ["", "2_Dense"])
def test_weights_that_are_a_pickle_are_never_read(plain, tmp_path, part) -> None:
    parts = [Transformer(plain), Pooling(16), Dense(16, 5)]
    SentenceTransformer(modules=parts, device="cpu").save(str(tmp_path))
    weights = tmp_path / part / "model.safetensors"
    torch.save(load_file(weights), weights.with_name("pytorch_model.bin"))
    assert load_encoder({"kind": "sentence", "source": str(tmp_path)}).dimension == 5  # beside it, it is not read
    weights.unlink()
    with pytest.raises(UserError, match=r"pytorch_model\.bin: a pickle, which is never read"):
        load_encoder({"kind": "sentence", "source": str(tmp_path)})
    if not part:
        with pytest.raises(UserError, match=r"cannot be loaded .*model\.safetensors"):
            load_backbone(str(tmp_path))


def test_what_is_cut_off_is_counted_and_said_once(capsys) -> None:
    encoder = load_encoder({"kind": "sentence", "maximum_tokens": 10})
    encoder.encode(["one two three"])
    assert (encoder.unread.cut, capsys.readouterr().err) == (0, "")
    words = " ".join(["word"] * 32)  # of which two special tokens leave room for eight
    for _ in range(2):
        encoder.encode([words, "short"])
    assert encoder.unread == Unread(texts=5, cut=2, tokens=64, unread=48)
    said = "1 of 2 texts are longer than the encoder reads: the last 75 % of their tokens are cut off.\n"
    assert capsys.readouterr().err == said
