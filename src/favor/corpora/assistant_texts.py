"""Texts by assistants and texts by people: what an assistant classifier is trained on."""

from pathlib import Path

import numpy as np
import pandas as pd

from favor.corpora.posts import ReaderSettings, clean_text
from favor.corpora.tabular import read_rows
from favor.foundation.errors import UserError
from favor.foundation.seeds import numpy_generator
from favor.foundation.words import output_words

MINIMUM_WORDS = 40
# shares of the groups (a human author, or one assistant text) that train, calibrate and test the classifier
SHARES = (("train", 0.8), ("validation", 0.9), ("test", 1.0))


def read_assistant(path: Path, column: str) -> list[str]:
    """Return the distinct texts of ``column`` of a CSV, JSON Lines or Parquet table, in its order.

    They are cleaned as documents are, so that no classifier tells the classes by blank lines or entities.
    Raises ``UserError`` where the table or the column is missing or broken.
    """
    settings = ReaderSettings(columns={"text": column})
    rows = read_rows(path, settings, {"text": "text"}, ("text",), f"a column '{column}' with one assistant text a row")
    return list(dict.fromkeys(clean_text(row.values["text"]) for row in rows))


def classifier_texts(
    assistant: list[str], human: pd.DataFrame, number: int, seed: int, words: str = "paper"
) -> pd.DataFrame:
    """Return at most ``number`` texts of each class: author (the class), document_id, split, text.

    Human authors are not split, so the classifier is calibrated and tested on people it has not seen. A text starts at
    a random place in its first half, as continuations start in the middle of one, and has at least 40 words;
    ``words``: what counts as one (:func:`favor.foundation.words.output_words`).
    """
    frames = []
    own = pd.DataFrame({"document_id": [f"assistant-{at:06d}" for at in range(len(assistant))], "text": assistant})
    classes = {"assistant": own.assign(group=own["document_id"]), "human": human.assign(group=human["author"])}
    for name, frame in classes.items():
        generator = numpy_generator(seed, "classifier texts", name)
        long_enough = [output_words(words).count(text) >= 2 * MINIMUM_WORDS for text in frame["text"]]
        chosen = frame[np.array(long_enough, dtype=bool)].sort_values("document_id")
        chosen = chosen.iloc[np.sort(generator.permutation(len(chosen))[:number])]
        if len(chosen) < 10 or chosen["group"].nunique() < 10:
            raise UserError(
                f"assistant classifier: {len(chosen)} {name} texts of {2 * MINIMUM_WORDS} words or more "
                f"from {chosen['group'].nunique()} sources; at least 10 from 10 are needed"
            )
        groups = np.array(sorted(chosen["group"].unique()))
        place = dict(zip(groups[generator.permutation(len(groups))], np.linspace(0, 1, len(groups)), strict=True))
        split = [next(part for part, end in SHARES if place[group] <= end) for group in chosen["group"]]
        text = [_from_the_middle(each, generator, words) for each in chosen["text"]]
        made = {"author": name, "document_id": chosen["document_id"].to_numpy(), "split": split, "text": text}
        frames.append(pd.DataFrame(made))
    return pd.concat(frames, ignore_index=True)


def _from_the_middle(text: str, generator: np.random.Generator, words: str) -> str:
    if words == "paper":  # only spaces end a word here, line breaks do not
        starts = [0, *(at + 1 for at, character in enumerate(text) if character == " ")]
    else:
        starts = [start for start, _ in output_words(words).spans(text)]
    return text[starts[int(generator.integers(0, len(starts) // 2 + 1))] :]
