"""Experiments of known truth: the demo's writer writes in an author's own voice with a chance, or else in another's.

Every method of these experiments is such a chance, so what it keeps of a voice is known before it is measured.
"""

import random
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd

from favor.corpora.style_features import function_word_rates, standardise, structure_rates
from favor.demo.habits import Habits
from favor.demo.sentences import Voice
from favor.demo.vocabulary import SUBJECTS
from favor.foundation.seeds import derive_seed
from favor.foundation.vectors import unit_rows
from favor.scores.inputs import ScoreInputs
from favor.scores.text_quality import quality_columns

AUTHORS, TRAIN, PROMPTS, SENTENCES = 10, 12, 6, 10
CLIENTS = tuple(f"author_{number:02d}" for number in range(AUTHORS))
SUBJECT = sorted(SUBJECTS)[0]  # everybody writes about one thing


def written(author, purpose, number, sentences=SENTENCES) -> str:
    """A text in the voice of ``author``."""
    habits = Habits(random.Random(derive_seed(5, "author", author)))
    voice = Voice(habits, SUBJECTS[SUBJECT], random.Random(derive_seed(5, purpose, author, number)))
    return " ".join(voice.sentence() for _ in range(sentences))


@cache
def copied_voices(chances=(0.0, 0.5, 1.0), one_voice=False) -> ScoreInputs:
    """Ten authors with six prompts: method "0.5" writes half of its outputs in the voice of the author.

    The other half it writes in that of the next author but one. ``one_voice``: a further method "same" gives every
    author one and the same text. Vectors are hand-made style features.
    """
    rows: list[tuple[str, str, str, str]] = []  # kind or method, client, item, text
    for author, client in enumerate(CLIENTS):
        rows += [("train", client, f"{client}-{n:02d}", written(author, "train", n)) for n in range(TRAIN)]
        rows += [("gold", client, f"{client}-p{n}", written(author, "gold", n)) for n in range(PROMPTS)]
        for chance in chances:
            for n in range(PROMPTS):
                copies = random.Random(derive_seed(5, "copies", chance, author, n)).random() < chance
                voice = author if copies else (author + 2) % AUTHORS
                rows.append((str(chance), client, f"{client}-p{n}", written(voice, f"output {chance}", n)))
        if one_voice:
            rows += [("same", client, f"{client}-p{n}", written(AUTHORS, "same", 0)) for n in range(PROMPTS)]
    return inputs_of(pd.DataFrame(rows, columns=["source", "client", "item", "text"]))


def inputs_of(texts, vectors=None) -> ScoreInputs:
    """Build inputs from texts (source, client, item, text): sources "train" and "gold", the others are methods.

    ``vectors``: unit rows of the texts; None takes hand-made style features.
    """
    if vectors is None:
        features = np.stack([np.concatenate([function_word_rates(t), structure_rates(t)]) for t in texts["text"]])
        vectors = unit_rows(standardise(features))
    texts = texts.assign(embedding=list(vectors), topic="Student")
    human = texts[texts["source"].isin(["train", "gold"])].rename(columns={"source": "kind"})
    made = texts[~texts["source"].isin(["train", "gold"])].assign(seed=1, sample=0).reset_index(drop=True)
    made = made.rename(columns={"source": "method", "item": "prompt_id"})
    gold, train = human[human["kind"] == "gold"], human[human["kind"] == "train"]
    prompts = pd.DataFrame(
        {
            "seed": 1, "client": gold["client"], "prompt_id": gold["item"], "document_id": gold["item"],
            "topic": "Student", "prompt_text": "a prompt", "gold_text": gold["text"],
        }
    )  # fmt: skip
    known = train.rename(columns={"item": "document_id"}).assign(kind="train", training_text=train["text"])
    return ScoreInputs(
        pd.concat([made.drop(columns=["embedding", "topic"]), quality_columns(made["text"].tolist())], axis=1),
        prompts.reset_index(drop=True),
        {"e": made[["seed", "method", "client", "prompt_id", "sample", "embedding"]]},
        {"e": human[["client", "item", "kind", "topic", "embedding"]]},
        client_texts=known[["client", "document_id", "kind", "text", "training_text", "topic"]],
    )


def repeated(inputs, again) -> ScoreInputs:
    """The same outputs under a second "seed" that drew the same posts, or as a second "sample" of every prompt."""

    def twice(table) -> pd.DataFrame:
        if again == "sample":
            return pd.concat([table, table.assign(sample=1)], ignore_index=True)
        return pd.concat([table, table.assign(seed=2, prompt_id=table["prompt_id"] + "-2")], ignore_index=True)

    human = inputs.source_embeddings["e"]
    gold = human[human["kind"] == "gold"]
    human = pd.concat([human, gold.assign(item=gold["item"] + "-2")], ignore_index=True)
    changed = {"generations": twice(inputs.generations), "source_embeddings": {"e": human}}
    prompts = inputs.prompts if again == "sample" else twice(inputs.prompts)
    embedded = {"e": twice(inputs.generation_embeddings["e"])}
    return replace(inputs, prompts=prompts, generation_embeddings=embedded, **changed)


def as_common(inputs, prompts=PROMPTS) -> ScoreInputs:
    """The inputs, with the outputs of every author's first prompts as continuations of common prompts, too."""

    def shared(table) -> pd.DataFrame:
        number = table["prompt_id"].str[-1:]
        return table.assign(prompt_id=number)[number.astype(int) < prompts]

    embedded = {"e": shared(inputs.generation_embeddings["e"])}
    return replace(inputs, common_generations=shared(inputs.generations), common_embeddings=embedded)


def by_method(scores, metric, variant="") -> dict[str, float]:
    """Values of a metric by method."""
    rows = scores[(scores["metric"] == metric) & (scores["variant"] == variant)]
    return {str(method): float(value) for method, value in zip(rows["method"], rows["value"], strict=True)}
