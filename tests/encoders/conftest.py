"""Small encoders and texts shared by the encoder tests."""

import numpy as np
import pandas as pd
import pytest
import torch
from transformers import PreTrainedTokenizerFast


def roberta_tokenizer(tokenizer, **said) -> PreTrainedTokenizerFast:
    """A trained tokenizer with RoBERTa's special tokens; ``said`` is what its files say beside."""
    names = {"bos_token": "<s>", "cls_token": "<s>", "eos_token": "</s>", "sep_token": "</s>", "pad_token": "<pad>"}
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="<unk>", **names, **said)


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def styled_texts() -> pd.DataFrame:
    """Four authors with plain habits (case, punctuation, filler), 14 training and 6 validation texts each."""
    text = "the day was long and we went to see a film about food work rain and music with old friends"
    words = text.split()
    habits = {
        "ann": lambda text: text.upper() + "!!!",
        "bob": lambda text: text.replace(" and ", " & ") + " lol...",
        "cat": lambda text: "Well, " + text.replace(" the ", " teh ") + ", indeed.",
        "dan": lambda text: text.title().replace(" ", "  ") + " :-)",
    }
    generator = np.random.default_rng(3)
    rows = []
    for author, habit in habits.items():
        for index in range(20):
            text = " ".join(habit(" ".join(generator.permutation(words)[:12])) for _ in range(2))
            split = "train" if index < 14 else "validation"
            rows.append((author, f"{author}-{index:02d}", split, text))
    return pd.DataFrame(rows, columns=["author", "document_id", "split", "text"])
