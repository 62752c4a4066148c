"""BERTScore and semantic similarity against the library and by hand."""

import os
from dataclasses import replace
from types import SimpleNamespace

import bert_score
import numpy as np
import pandas as pd
import pytest
import torch
from bert_score import utils as library
from tokenizers import ByteLevelBPETokenizer
from transformers import RobertaConfig, RobertaModel, RobertaTokenizer

from favor.encoders.base import load_encoder
from favor.foundation.errors import UserError
from favor.scores import utility as family
from favor.scores.bertscore import BertScorer, bertscores, check_canary, encode_text
from favor.scores.inputs import RUN_KEYS
from favor.scores.settings import BertScore, BertScoreModel, Utility
from favor.scores.utility import published_baseline
from favor.scores.utility_table import utility

MAT, RAIN = "the cat sat on the mat", "rain again, and again"
CANDIDATES = [MAT, "A dog barked!  ", RAIN, "word " * 90, MAT]
REFERENCES = ["a cat was on the mat", "dogs bark loudly", RAIN, "some other text", RAIN]


@pytest.fixture(scope="module")
def roberta(tmp_path_factory) -> str:
    """A random three-layer RoBERTa with a byte-level BPE tokenizer, in a folder."""
    folder = tmp_path_factory.mktemp("models") / "roberta-tiny"
    bpe = ByteLevelBPETokenizer()
    specials = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    bpe.train_from_iterator([*CANDIDATES, *REFERENCES] * 3, vocab_size=360, min_frequency=1, special_tokens=specials)
    folder.mkdir()
    bpe.save_model(str(folder))
    tokenizer = RobertaTokenizer.from_pretrained(str(folder), model_max_length=64)
    tokenizer.save_pretrained(folder)
    torch.manual_seed(0)
    shape = {"hidden_size": 32, "num_hidden_layers": 3, "num_attention_heads": 2, "intermediate_size": 64}
    ids = {"vocab_size": len(tokenizer), "pad_token_id": tokenizer.pad_token_id}
    RobertaModel(RobertaConfig(**shape, **ids, max_position_embeddings=66)).save_pretrained(folder)
    return str(folder)


def test_against_the_library(roberta, monkeypatch) -> None:
    scorer = BertScorer(roberta, layer=2, batch_size=2)

    def truncated(tokenizer, text) -> list[int]:
        return encode_text(scorer.backbone, text, 64)

    # the library's whole path, its encoding of one text replaced as the module's docstring says
    monkeypatch.setattr(library, "sent_encode", truncated)
    _, _, f1 = bert_score.score(CANDIDATES, REFERENCES, model_type=roberta, num_layers=2, nthreads=0, batch_size=5)
    np.testing.assert_allclose(scorer.f1(CANDIDATES, REFERENCES), f1.numpy(), atol=1e-6)


def test_leading_space_is_kept(roberta) -> None:
    backbone = BertScorer(roberta, layer=1).backbone
    tokens = [backbone.tokenizer.id_to_token(index) for index in encode_text(backbone, "  the cat", 64)]
    assert tokens[0] == "<s>"
    assert tokens[1].startswith("Ġ")  # as transformers 4 did with add_prefix_space
    assert len(encode_text(backbone, "word " * 500, 64)) == 64


def test_greedy_matching_by_hand(roberta) -> None:
    scorer = BertScorer(roberta, layer=3)
    states = {}
    scorer._embed(["the cat", "a dog sat"], states)
    unit = {text: row / row.norm(dim=1, keepdim=True) for text, (row, _) in states.items()}
    cosines = unit["the cat"] @ unit["a dog sat"].T
    # [CLS] and [SEP], the first and the last, can be matched but are not averaged over
    precision, recall = cosines.max(dim=1).values[1:-1].mean(), cosines.max(dim=0).values[1:-1].mean()
    expected = (2 * precision * recall / (precision + recall)).item()
    assert scorer.f1(["the cat"], ["a dog sat"])[0] == pytest.approx(expected, abs=1e-5)


def test_edges(roberta) -> None:
    scorer = BertScorer(roberta, layer=2, batch_size=2)
    assert scorer.f1(["", "  ", "same text"], ["a", "b", "same text"])[:2] == [0.0, 0.0]
    assert scorer.f1(["same text"], ["same text"])[0] == pytest.approx(1.0, abs=1e-5)
    forwards = scorer.f1(CANDIDATES, REFERENCES)
    backwards = scorer.f1(CANDIDATES[::-1], REFERENCES[::-1])[::-1]
    np.testing.assert_allclose(forwards, backwards, atol=1e-6)
    assert scorer.f1([], []) == []
    with pytest.raises(UserError, match=r"layer 4 is not in 0\.\.3"):
        BertScorer(roberta, layer=4)


def test_published_values_pass_and_a_shift_is_refused() -> None:
    def check(values, model="roberta-large", layer=17) -> bool:
        return check_canary(SimpleNamespace(f1=lambda candidates, references: values), model, layer)

    published = [0.9833561182022095, 0.9782299995422363, 0.916214644908905]  # F of bert-score's test_scorer
    assert check(published)
    assert check(published, "/models/roberta-large")
    with pytest.raises(UserError, match=r"differs by 0.0012 from the values that bert-score publishes"):
        check([*published[:2], published[2] - 0.0012])
    with pytest.raises(UserError, match="differs by nan"):
        check([*published[:2], float("nan")])
    # Models without published values are not compared.
    assert not check([], "embedded-minilm", 5)
    assert not check([], layer=16)


@pytest.mark.skipif("FAVOR_ROBERTA_LARGE" not in os.environ, reason="without roberta-large (FAVOR_ROBERTA_LARGE)")
def test_the_real_model_gives_the_published_values() -> None:
    assert check_canary(BertScorer(os.environ["FAVOR_ROBERTA_LARGE"], layer=17), "roberta-large", 17)


def test_utility_table(roberta) -> None:
    texts = {"a": "the cat sat on a mat", "b": "we drove to the sea in the rain"}
    prompts = pd.DataFrame([(1, client, f"{client}-1-1", text) for client, text in texts.items()])
    made = (("m", "a", texts["a"]), ("m", "b", ""), ("n", "a", "a big dog"))
    generations = pd.DataFrame([(1, method, client, f"{client}-1-1", 0, text) for method, client, text in made])
    prompts.columns, generations.columns = ["seed", "client", "prompt_id", "gold_text"], [*RUN_KEYS, "text"]
    settings = BertScore(model=roberta, layer=2)
    scores = bertscores(generations, prompts, settings)
    encoder = load_encoder({"kind": "sentence"})
    rows = encoder.encode(["a big dog", "the cat sat on a mat", "we drove to the sea in the rain"])
    made = generations[RUN_KEYS].assign(embedding=list(encoder.encode(generations["text"].tolist())))
    gold = pd.DataFrame(
        {"client": prompts["client"], "item": prompts["prompt_id"], "kind": "gold", "topic": "t"}
    ).assign(embedding=list(rows[1:]))
    shuffled = scores.sample(frac=1, random_state=0)  # rows meet by their keys
    table = utility(generations, prompts, shuffled, made, gold).set_index(["method", "prompt_id"])
    found = [f"{method} {prompt}" for method, prompt in sorted(table.index)]
    assert found == ["m a-1-1", "m b-1-1", "n a-1-1", "shuffled a-1-1", "shuffled b-1-1"]
    assert table.loc[("m", "a-1-1"), "bertscore_f1"] == pytest.approx(1.0, abs=1e-5)
    assert table.loc[("m", "a-1-1"), "semantic_similarity"] == pytest.approx(1.0, abs=1e-5)
    assert table.loc[("m", "b-1-1"), ["bertscore_f1", "semantic_similarity"]].tolist() == [0.0, 0.0]
    assert table.loc[("n", "a-1-1"), "semantic_similarity"] == pytest.approx(float(rows[0] @ rows[1]), abs=1e-6)
    assert table.loc[("shuffled", "a-1-1"), "semantic_similarity"] == pytest.approx(float(rows[1] @ rows[2]), abs=1e-6)
    with pytest.raises(UserError, match="none for prompt 'a-1-1'"):
        utility(generations, prompts, scores, made.iloc[1:], gold)
    with pytest.raises(UserError, match="has no prompt"):
        bertscores(generations, prompts.iloc[:1], settings)


def test_family(three_authors, score_value) -> None:
    table = three_authors.generations[RUN_KEYS].assign(
        bertscore_f1=[0.1, 0.2, 0.3, 0.4, 0.5, 0.0], semantic_similarity=0.5
    )
    shuffled = table.assign(method="shuffled", bertscore_f1=0.05)
    scores = family.score(replace(three_authors, utility=pd.concat([table, shuffled])), Utility())
    assert score_value(scores, "bertscore_f1") == pytest.approx(0.3)  # the five survivors
    assert score_value(scores, "bertscore_f1", "all_outputs") == pytest.approx(0.25)
    assert score_value(scores, "bertscore_f1", method="gold") == 1.0
    assert score_value(scores, "bertscore_f1", method="shuffled") == pytest.approx(0.05)
    low, high = (score_value(scores, "bertscore_f1", end) for end in ("low", "high"))
    # Authors' sums of distances from .3 are -.3, .1 and .2: an error of sqrt(1.5 * .14) / 5, times Student's 4.303.
    half = 4.303 * (1.5 * 0.14) ** 0.5 / 5
    assert 0.3 - 2 * half <= low < 0.3 < high <= 0.3 + 2 * half
    assert high - low == pytest.approx(2 * half, rel=0.35)  # skewness moves both ends
    assert scores[(scores["method"] == "gold") & (scores["variant"] == "low")].empty
    with pytest.raises(UserError, match="needs the utility table"):
        family.score(three_authors, Utility())


def test_rescaled_bertscore_by_hand(three_authors, score_value) -> None:
    assert published_baseline("roberta-large", 17) == 0.83122575  # the library's own file
    assert published_baseline("/models/roberta-large", 17) == 0.83122575
    assert published_baseline("roberta-large", 99) is None
    assert published_baseline("nobody/model", 1) is None
    rows = three_authors.generations[RUN_KEYS]
    shuffled = rows.assign(method="shuffled")
    table = pd.concat([rows, shuffled]).assign(bertscore_f1=0.9, semantic_similarity=0.5)
    inputs = replace(three_authors, utility=table)
    scores = family.score(replace(inputs, bertscore=BertScoreModel()), Utility())
    # (0.9 - 0.83122575) / (1 - 0.83122575)
    assert score_value(scores, "bertscore_f1", "rescaled") == pytest.approx(0.06877425 / 0.16877425)
    assert score_value(scores, "bertscore_f1", "rescaled", method="gold") == 1.0
    embedded = BertScoreModel(model="embedded-minilm", layer=5)
    without = family.score(replace(inputs, bertscore=embedded), Utility())
    row = without[(without["variant"] == "rescaled") & (without["method"] == "m")].iloc[0]
    assert np.isnan(row["value"])
    assert row["note"] == "bert-score ships no baseline for embedded-minilm"
