"""Continuations that were made elsewhere: a file of answers to the prompts, checked row by row."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from favor.corpora.posts import ReaderSettings
from favor.corpora.tabular import Row, read_rows
from favor.foundation.errors import UserError
from favor.foundation.text import storable
from favor.foundation.words import compared_words

COLUMNS = {name: name for name in ("prompt", "author", "text", "seed", "sample")}
_EXPECTED = "columns prompt, author and text, and seed and sample if you like"
_SETTINGS = ReaderSettings(has_keys=False, filled=("text",), numbers=("seed", "sample"))
_NUMBER = re.compile(r"([0-9]{1,10})(?:\.0+)?")
_LARGEST = 2**31 - 1  # a column of 32 bits holds it
_ECHO = 3  # words of a prompt from which a text that begins with it repeats it
KEYS = ["client", "prompt_id", "sample"]


@dataclass(frozen=True)
class Asked:
    """A prompt that a client is to answer: its id and text; ``seed`` None for a common prompt, which every seed has."""

    client: str
    prompt_id: str
    text: str
    seed: int | None

    @property
    def line(self) -> str:
        """The prompt as an object of JSON, which becomes an answer by a key ``text``."""
        named = {"prompt": self.prompt_id, "author": self.client, "prompt_text": self.text}
        return json.dumps(named if self.seed is None else {**named, "seed": self.seed}, ensure_ascii=False)


def prompts_to_answer(own: pd.DataFrame, common: pd.DataFrame) -> list[Asked]:
    """Return every prompt that a row of the experiment answers.

    own: table ``prompts`` of all seeds with a column seed. common: table ``common_prompts``.
    """
    columns = ("client", "prompt_id", "prompt_text", "seed")
    asked = [
        Asked(client, prompt, text, int(seed))
        for client, prompt, text, seed in zip(*(own[name] for name in columns), strict=True)
    ]
    shared = list(zip(common["prompt_id"], common["prompt_text"], strict=True))
    return asked + [
        Asked(client, prompt, text, None) for client in sorted(set(own["client"])) for prompt, text in shared
    ]


def given_outputs(path: Path, asked: list[Asked], seed: int) -> pd.DataFrame:
    """Return client, prompt_id, sample, text and common (bool) of the answers in the table at ``path`` under ``seed``.

    A row's prompt is the id or the text of a prompt, its author the client. A row without a seed answers under every
    seed that asks its prompt. Raises ``UserError`` with the row, for a prompt that nobody asks, an author or seed whose
    prompt it is not, a text that two prompts have, an answer that is null or begins with its prompt, a sample that is
    not a number or there twice, samples that do not count from 0, and where a prompt has no answer.
    """
    known: dict[str, dict[str, list[Asked]]] = {}
    for each in asked:
        for name in {each.prompt_id, each.text}:
            known.setdefault(name, {}).setdefault(each.client, []).append(each)
    seeds = {each.seed for each in asked} - {None}
    found: dict[tuple[str, str, int], tuple[str, str, bool]] = {}
    for row in read_rows(path, _SETTINGS, COLUMNS, ["prompt", "author", "text"], _EXPECTED):
        where = f"{path}: {row.label}"
        said = _number(where, row, "seed")
        candidates = [each for each in _asked(where, row, known) if said is None or each.seed in (None, said)]
        if not candidates or said not in (None, *seeds):
            raise UserError(f"{where}: seed {said} does not ask this prompt; correct or remove it")
        candidates = [each for each in candidates if (said if each.seed is None else each.seed) in (seed, None)]
        if not candidates:
            continue
        if len(candidates) > 1:
            names = " and ".join(repr(each.prompt_id) for each in candidates)
            raise UserError(f"{where}: prompts {names} have this text; name the one that is answered by its id")
        (each,) = candidates
        if _repeats(row.values["text"], each.text):
            raise UserError(f"{where}: the text begins with its prompt; give what follows the prompt alone")
        key = each.client, each.prompt_id, _number(where, row, "sample") or 0
        if key in found:
            first = found[key][1]
            raise UserError(f"{where} answers what {first} answers; number them under 'sample', or remove one")
        # An API that cuts at a limit of tokens may leave half of an emoji.
        found[key] = storable(row.values["text"]), row.label, each.seed is None
    _check_samples(path, found)
    _check_whole(path, asked, {key[:2] for key in found}, seed)
    rows = [(*key, text, common) for key, (text, _, common) in found.items()]
    return pd.DataFrame(rows, columns=[*KEYS, "text", "common"]).sort_values(KEYS, ignore_index=True)


def _asked(where: str, row: Row, known: Mapping[str, Mapping[str, list[Asked]]]) -> list[Asked]:
    prompt, author = row.values["prompt"], row.values["author"]
    if prompt not in known:
        raise UserError(f"{where}: no prompt has the id or the text {prompt[:60]!r}; 'snakemake prompts' lists them")
    if author not in known[prompt]:
        asks = ", ".join(sorted(known[prompt])[:3])
        raise UserError(f"{where}: the prompt is not one of author {author!r} but of {asks}; correct the author")
    return known[prompt][author]


def _repeats(text: str, prompt: str) -> bool:
    """Whether ``text`` begins with the words of ``prompt``, in any script, case, white space and punctuation."""
    words = compared_words(prompt)
    # The prompt may end within a word, which the text completes.
    return len(words) >= _ECHO and "".join(compared_words(text)).startswith("".join(words))


def _number(where: str, row: Row, name: str) -> int | None:
    value = row.values.get(name, "").strip()
    if not value:
        return None
    written = _NUMBER.fullmatch(value)
    if not written or int(written[1]) > _LARGEST:
        raise UserError(f"{where}: {name} {value[:30]!r} is not a whole number from 0 to {_LARGEST}; correct it")
    return int(written[1])


def _check_samples(path: Path, found: Mapping[tuple[str, str, int], tuple[str, str, bool]]) -> None:
    """Raise ``UserError`` unless the samples of every prompt are 0, 1, 2...: some measures read sample 0 alone."""
    samples: dict[tuple[str, str], set[int]] = {}
    for client, prompt, sample in found:
        samples.setdefault((client, prompt), set()).add(sample)
    for (client, prompt), numbers in samples.items():
        missing = next(number for number in range(len(numbers) + 1) if number not in numbers)
        if missing < len(numbers):
            row = found[client, prompt, min(number for number in numbers if number > missing)][1]
            raise UserError(
                f"{path}: {row}: prompt '{prompt}' of {client} has a sample {max(numbers)} and no sample {missing}; "
                "number the samples of every prompt from 0, without a gap"
            )


def _check_whole(path: Path, asked: list[Asked], answered: set[tuple[str, str]], seed: int) -> None:
    wanted = [each for each in asked if each.seed in (seed, None)]
    missing = [each for each in wanted if (each.client, each.prompt_id) not in answered]
    if missing:
        first = missing[0]
        raise UserError(
            f"{path}: {len(missing)} of {len(wanted)} prompts of seed {seed} have no row, first '{first.prompt_id}' of "
            f"{first.client}; add them ('snakemake prompts' lists them all)"
        )
