"""Items of the human two-alternative forced-choice audit (paper, Human 2AFC Audit): one candidate, two authors.

An item shows short excerpts of human texts of the candidate's own author and of a distractor author. The table holds
the key (which profile is right, and where the candidate comes from) and quotes texts: it is not for publication.
"""

import re
from typing import Any

import numpy as np
import pandas as pd

from favor.foundation.errors import UserError
from favor.foundation.seeds import numpy_generator
from favor.foundation.words import Words, output_words
from favor.scores.text_quality import quality_columns
from favor.studies.human_audit.schemas import HUMAN_2AFC_ITEMS
from favor.studies.settings import AuditItems, ItemDrawing

HUMAN = "gold"  # the source of held-out continuations by the authors themselves, as the control of that name
CHECK = "attention_check"  # the source of items whose candidate is one of their two excerpts
SIDES = ("A", "B")
_SENTENCE_END = re.compile(r"[.!?…。！？]+[\"'”’)\]]*(?=\s|$)")


def shares(settings: AuditItems) -> dict[str, int]:
    """Return the items by source, human continuations last; sources without any are left out."""
    each = (settings.items - settings.human_items) // len(settings.methods)
    found = {**dict.fromkeys(settings.methods, each), HUMAN: settings.human_items}
    return {source: count for source, count in found.items() if count}


def draw_items(
    generations: pd.DataFrame, prompts: pd.DataFrame, texts: pd.DataFrame, settings: ItemDrawing
) -> pd.DataFrame:
    """Return the table ``human_2afc_items``.

    ``generations``: table of that name, the methods' runs of all training seeds; ``prompts``: table ``prompts`` of
    these seeds with a column seed; ``texts``: table ``client_texts``. Candidates are drawn at random among the texts
    that pass the filter, authors in turn; no held-out document serves twice, so nobody meets a prompt again. Excerpts
    are training texts, candidates continue test texts. Half of each source's items have the right author on side A.
    Raises ``UserError`` where there are too few candidates, authors or training texts.
    """
    rows: list[dict[str, object]] = []
    taken: set[tuple[str, str]] = set()
    topics = texts.groupby("client")["topic"].first()
    words = output_words(settings.words)
    training = texts[texts["split"] == "train"].sort_values(["client", "document_id"])
    for source, count in shares(settings).items():
        chosen = _choose(_candidates(generations, prompts, source, settings), taken, source, count, settings.seed)
        taken |= set(zip(chosen["client"], chosen["document_id"], strict=True))
        for candidate, side in zip(chosen.to_dict("records"), _sides(source, count, settings.seed), strict=True):
            place = (source, int(candidate["seed"]), str(candidate["client"]), str(candidate["prompt_id"]))
            row = _item(place, side, training, topics, settings)
            rows.append({**row, "candidate": whole_sentences(str(candidate["text"]), settings.candidate_words, words)})
    rows += _checks(training, topics, settings)
    # The order says nothing about the source, so a code may count it.
    order = numpy_generator(settings.seed, "2afc codes").permutation(len(rows))
    codes = {int(row): f"item_{place:03d}" for place, row in enumerate(order, start=1)}
    frame = pd.DataFrame([{"item": codes[number], **row} for number, row in enumerate(rows)])
    return frame.astype({"seed": "int32"})[HUMAN_2AFC_ITEMS.names]


def _checks(training: pd.DataFrame, topics: pd.Series, settings: ItemDrawing) -> list[dict[str, object]]:
    """Return the attention checks: authors in turn, half of them on side A; they have no seed and no prompt."""
    rows: list[dict[str, object]] = []
    order = numpy_generator(settings.seed, "2afc attention checks").permutation(sorted(topics.index))
    for number, side in enumerate(_sides(CHECK, settings.attention_checks, settings.seed)):
        place = (CHECK, 0, str(order[number % len(order)]), str(number))
        row = _item(place, side, training, topics, settings)
        own = row[f"profile_{side.lower()}"]
        repeated = own[int(numpy_generator(settings.seed, "2afc repeated excerpt", *place).integers(len(own)))]
        rows.append({**row, "prompt_id": "", "candidate": repeated.removesuffix(" …")})
    return rows


def _item(
    place: tuple[str, int, str, str], side: str, training: pd.DataFrame, topics: pd.Series, settings: ItemDrawing
) -> dict[str, Any]:
    """Return an item without its candidate. ``place``: its source, seed, client and prompt, which its draws are by."""
    other = _distractor(place[2], topics, settings, place)
    own, foreign = (_profile(author, training, settings, place) for author in (place[2], other))
    return {
        **dict(zip(("source", "seed", "client", "prompt_id"), place, strict=True)),
        "distractor": other,
        "right": side,
        "profile_a": own if side == "A" else foreign,
        "profile_b": foreign if side == "A" else own,
    }


def _candidates(generations: pd.DataFrame, prompts: pd.DataFrame, source: str, settings: ItemDrawing) -> pd.DataFrame:
    """Return seed, client, prompt_id, document_id and text of every text of ``source`` that passes the filter."""
    if source == HUMAN:
        passed = quality_columns(prompts["gold_text"].tolist(), settings, settings.words)["passed"].to_numpy()
        found = prompts[passed].rename(columns={"gold_text": "text"})
    else:
        found = generations[(generations["method"] == source) & generations["passed"]]
        documents = prompts[["seed", "client", "prompt_id", "document_id", "prompt_text"]]
        found = found.merge(documents, on=["seed", "client", "prompt_id"], validate="many_to_one")
    found = found.assign(text=list(map(from_a_word, found["prompt_text"], found["text"])))
    columns = ["seed", "client", "prompt_id", "document_id", "text"]
    return found[columns].sort_values(columns[:3], ignore_index=True)


def _choose(candidates: pd.DataFrame, taken: set[tuple[str, str]], source: str, count: int, seed: int) -> pd.DataFrame:
    shuffled = candidates.iloc[numpy_generator(seed, "2afc candidates", source).permutation(len(candidates))]
    keys = zip(shuffled["client"], shuffled["document_id"], strict=True)
    free = shuffled[np.array([key not in taken for key in keys], dtype=bool)].drop_duplicates(["client", "document_id"])
    if len(free) < count:
        raise UserError(
            f"human audit: source '{source}' has {len(free)} texts that pass the filter and whose prompt no other item "
            f"has, {count} are wanted; lower 'studies.human_2afc.items' or add seeds"
        )
    turn = free.groupby("client").cumcount().to_numpy()
    return free.iloc[np.argsort(turn, kind="stable")[:count]]


def _sides(source: str, count: int, seed: int) -> list[str]:
    generator = numpy_generator(seed, "2afc sides", source)
    halves = np.resize(generator.permutation(SIDES), count)
    return [str(side) for side in generator.permutation(halves)]


def _distractor(client: str, topics: pd.Series, settings: ItemDrawing, place: tuple[str, int, str, str]) -> str:
    others = sorted(set(topics.index) - {client})
    if not others:
        raise UserError("human audit: the experiment has one client; a second author is needed as distractor")
    if settings.distractor == "same_topic":
        others = [other for other in others if topics[other] == topics[client]] or others
    return others[int(numpy_generator(settings.seed, "2afc distractor", *place).integers(len(others)))]


def _profile(author: str, training: pd.DataFrame, settings: ItemDrawing, place: tuple[str, int, str, str]) -> list[str]:
    texts = training.loc[training["client"] == author, "text"].tolist()
    if len(texts) < settings.excerpts:
        raise UserError(
            f"human audit: {author} has {len(texts)} training texts, a profile takes {settings.excerpts}; lower "
            "'studies.human_2afc.excerpts'"
        )
    order = numpy_generator(settings.seed, "2afc profile", author, *place).permutation(len(texts))
    # Texts that fill an excerpt come first.
    words = output_words(settings.words)
    drawn = sorted((str(texts[index]) for index in order), key=lambda text: words.count(text) < settings.excerpt_words)
    return [excerpt(text, settings.excerpt_words, words) for text in drawn[: settings.excerpts]]


def from_a_word(prompt: str, text: str) -> str:
    """Return ``text`` without the rest of a word that the prompt begins; scripts without spaces keep all of theirs."""
    glued = prompt[-1:].isalnum() and re.match(r"\S{1,20}\s", text)
    return text[glued.end() :] if glued else text


def whole_sentences(text: str, number: int | None, words: Words) -> str:
    """Return ``text`` up to the end of the last sentence within ``number`` words, at a word where none ends there.

    All of it where ``number`` is None. A shorter text loses its broken end too, and no ellipsis says what was left
    out: either would tell sources apart.
    """
    if number is None:
        return text.strip()
    ends = [place.end() for place in _SENTENCE_END.finditer(text) if words.count(text[: place.end()]) <= number]
    return text[: ends[-1]].strip() if ends else words.cut(text, number).strip()


def excerpt(text: str, number: int, words: Words) -> str:
    """Return the first ``number`` words of ``text``, line breaks kept, with an ellipsis where some are left out."""
    return text.strip() if words.count(text) <= number else words.cut(text, number).strip() + " …"
