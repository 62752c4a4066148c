"""LUAR and STAR from tiny random weights, against the library's own forward pass."""

import numpy as np
import pytest
import torch
from tests.encoders.conftest import roberta_tokenizer
from transformers import PreTrainedTokenizerFast, RobertaConfig, RobertaModel

from favor.encoders.backbones import train_tokenizer
from favor.encoders.base import load_encoder
from favor.foundation.errors import UserError
from favor.foundation.tensors import write_safetensors

TEXTS = ["A first text, rather short.", "Another one that goes on for a while longer than the first.", "x"]


def tiny_roberta(vocabulary, pooler) -> RobertaModel:
    torch.manual_seed(3)
    sizes = {"hidden_size": 128, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 96}
    sizes |= {"max_position_embeddings": 66, "type_vocab_size": 1, "layer_norm_eps": 1e-5}
    return RobertaModel(RobertaConfig(vocab_size=vocabulary, pad_token_id=1, **sizes), add_pooling_layer=pooler).eval()


@pytest.fixture(scope="module")
def tokenizer() -> PreTrainedTokenizerFast:
    return roberta_tokenizer(train_tokenizer(TEXTS * 5, 300), mask_token="<mask>", model_max_length=64)


def unit(rows) -> np.ndarray:
    return torch.nn.functional.normalize(rows, dim=-1).detach().numpy()


def test_luar_is_a_linear_map_of_the_mean(tokenizer, tmp_path) -> None:
    model, linear = tiny_roberta(len(tokenizer), pooler=True), torch.nn.Linear(128, 512)
    tensors = {f"transformer.{name}": tensor for name, tensor in model.state_dict().items()}
    tensors |= {f"linear.{name}": tensor for name, tensor in linear.state_dict().items()}
    write_safetensors(tensors, tmp_path / "model.safetensors", {"format": "pt"})
    tokenizer.backend_tokenizer.save(str(tmp_path / "tokenizer.json"))
    encoder = load_encoder({"kind": "luar", "source": str(tmp_path), "batch_size": 2})
    expected = []
    for text in TEXTS:  # one document an episode, alone in its batch: attention over one document is the identity
        ids = torch.tensor([tokenizer(text)["input_ids"]])
        document = model(input_ids=ids).last_hidden_state.mean(dim=1, keepdim=True)
        weights = torch.softmax(document @ document.transpose(1, 2) / 128**0.5, dim=-1)
        expected.append(unit(linear((weights @ document).max(dim=1).values))[0])
    rows = encoder.encode(TEXTS)
    assert rows.shape == (3, encoder.dimension) == (3, 512)
    np.testing.assert_allclose(rows, np.stack(expected), atol=1e-5)
    tensors.pop("transformer.embeddings.word_embeddings.weight")
    for held, problem in (({"linear.weight": linear.weight}, "not a LUAR model"), (tensors, "weights are not LUAR's")):
        write_safetensors(held, tmp_path / "model.safetensors", {})
        with pytest.raises(UserError, match=problem):
            load_encoder({"kind": "luar", "source": str(tmp_path)})
    with pytest.raises(UserError, match=r"absent': cannot be loaded .*model\.safetensors"):
        load_encoder({"kind": "luar", "source": str(tmp_path / "absent")})


def test_star_is_the_poolers_output(tokenizer, tmp_path) -> None:
    model = tiny_roberta(len(tokenizer), pooler=True)
    model.save_pretrained(tmp_path / "star")
    tokenizer.save_pretrained(tmp_path / "words")
    spec = {"kind": "star", "source": str(tmp_path / "star"), "tokenizer": str(tmp_path / "words")}
    expected = [unit(model(input_ids=torch.tensor([tokenizer(text)["input_ids"]])).pooler_output)[0] for text in TEXTS]
    rows = load_encoder(spec).encode(TEXTS)
    assert rows.shape == (3, 128)
    np.testing.assert_allclose(rows, np.stack(expected), atol=1e-5)


@pytest.mark.parametrize("kind", ["luar", "sentence"])
@pytest.mark.parametrize("name", ["model.safetensors", "tokenizer.json"])
def test_a_truncated_file_is_named(tokenizer, tmp_path, kind, name) -> None:
    tiny_roberta(len(tokenizer), pooler=False).save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    whole = (tmp_path / name).read_bytes()
    (tmp_path / name).write_bytes(whole[: len(whole) // 2])
    with pytest.raises(UserError, match=str(tmp_path)) as refused:
        load_encoder({"kind": kind, "source": str(tmp_path)})
    assert "\n" not in str(refused.value)
