"""Control tokens that a post spells out are text wherever a tokenizer reads it."""

from pathlib import Path

import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.corpora.made import write_documents
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

from favor.corpora.authors import count_tokens
from favor.corpora.prompts import select_prompts
from favor.corpora.settings import PromptCut
from favor.encoders.backbones import make_small_backbone, token_ids
from favor.encoders.settings import SmallBackbone
from favor.foundation.tokenizer import open_tokenizer, token_counter
from favor.lm.tokenizer import load_tokenizer

# A special token, one that Qwen's files do not flag as special, one of white space, as GPT-NeoX has.
SPECIAL, UNFLAGGED, SPACES = "<|endoftext|>", "<tool_call>", "    "
POST = f"the end {SPECIAL} and then {UNFLAGGED} goes on{SPACES}and on and on"


@pytest.fixture
def folder(tmp_path) -> Path:
    tokenizer = trained(BYTES)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([SPECIAL])
    tokenizer.add_tokens([AddedToken(UNFLAGGED, normalized=False), AddedToken(SPACES, normalized=False)])
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    return tmp_path


def test_counts_prompts_and_training_read_control_tokens_as_text(folder, tmp_path) -> None:
    learned = load_tokenizer(str(folder)).encode(POST)
    raw = open_tokenizer(folder)
    control = {raw.token_to_id(SPECIAL), raw.token_to_id(UNFLAGGED)}
    assert not control & set(learned)
    assert raw.encode(POST, add_special_tokens=False).ids == learned
    documents = write_documents(tmp_path / "documents.parquet", [("ann", "ann-00001", "indUnk", "", POST, 12)])
    assert count_tokens(documents, folder)["tokens"].tolist() == [len(learned)]
    text = {"client": "client_001", "document_id": "a", "split": "test", "topic": "indUnk", "prompt": "", "text": POST}
    cut = PromptCut(per_client=1, prefix_tokens=len(learned) - 1, minimum_gold_tokens=1, maximum_gold_tokens=1)
    prompts = select_prompts(pd.DataFrame([text]), folder, cut, 1)
    assert list(prompts["prompt_tokens"][0]) == learned[:-1]
    assert prompts["prompt_text"][0] + prompts["gold_text"][0] == POST


def test_tokens_that_are_no_control_tokens_stay(folder) -> None:
    tokenizer = open_tokenizer(folder)
    ids = tokenizer.encode(POST).ids
    assert tokenizer.token_to_id(SPACES) in ids
    assert tokenizer.decode(ids) == POST


def test_encoders_read_control_tokens_as_text() -> None:
    sizes = SmallBackbone(layers=1, hidden=8, heads=1, intermediate=8, vocabulary=300)
    backbone = make_small_backbone(sizes, [POST], 32)
    (ids,) = token_ids(backbone.tokenizer, ["</s> <mask> a"], 32)
    assert [backbone.tokenizer.id_to_token(token) for token in ids if token < 5] == ["<s>", "</s>"]


def split_by(pattern) -> pre_tokenizers.PreTokenizer:
    split = pre_tokenizers.Split(Regex(pattern), "isolated")
    return pre_tokenizers.Sequence([split, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])


# How tokenizers in use divide a text before they merge within its parts: GPT-2, SmolLM2, Llama 3, Qwen, RoBERTa; and
# two ways in which a token may hold "a b".
LLAMA = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|"
    r"\s*[\r\n]+|\s+(?!\S)|\s+"
)
BYTES = pre_tokenizers.ByteLevel(add_prefix_space=False)
DIVISIONS = {
    "gpt2": BYTES,
    "smollm": pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True), BYTES]),
    "llama": split_by(LLAMA),
    "qwen": split_by(LLAMA.replace("{1,3}", "")),
    "prefixed": pre_tokenizers.ByteLevel(add_prefix_space=True),
    "two words": split_by(r"\p{L}+ \p{L}+"),
    "undivided": pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
}


def trained(division) -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer, tokenizer.normalizer = division, normalizers.NFC()
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    trainer = trainers.BpeTrainer(vocab_size=420, initial_alphabet=alphabet, show_progress=False)
    tokenizer.train_from_iterator(["a b a b  a b.\n a b! \n\n12 34 it's a b e\u0301 a"] * 9, trainer)
    return tokenizer


@pytest.mark.parametrize("division", DIVISIONS)
@settings(max_examples=100)
@example(["a b a b"])
@given(st.lists(st.text(st.sampled_from("ab1 \n!'s\u0301\xa0é")), max_size=4))
def test_tokens_are_counted_as_the_whole_text_is_encoded(division, texts) -> None:
    tokenizer = TRAINED[division]
    count = token_counter(tokenizer)
    whole = [len(tokenizer.encode(text, add_special_tokens=False)) for text in texts]
    assert count(texts) == whole
    assert count(texts) == whole  # of pieces that it remembers


TRAINED = {name: trained(division) for name, division in DIVISIONS.items()}


def test_tokens_of_white_space_may_stand_behind_a_letter(folder) -> None:
    tokenizer = open_tokenizer(folder)
    tokenizer.add_tokens(["d a"])
    assert token_counter(tokenizer)(["and and"]) == [len(tokenizer.encode("and and"))]
