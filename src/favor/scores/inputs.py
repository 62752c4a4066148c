"""What every metric family reads: all runs of one experiment, aligned and checked, with the two control methods."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from favor.corpora.schemas import CLIENT_TEXTS, PROMPTS
from favor.encoders.schemas import GENERATION_EMBEDDINGS, SOURCE_EMBEDDINGS
from favor.federation.schemas import GENERATIONS
from favor.foundation.errors import UserError
from favor.foundation.parquet import read_parquet, read_tables
from favor.foundation.schemas import Table
from favor.foundation.seeds import numpy_generator
from favor.foundation.vectors import unit_rows
from favor.foundation.words import output_words
from favor.lm.settings import OutputFilter
from favor.scores.metric import CONTROLS
from favor.scores.schemas import ASSISTANT, SCORES, UTILITY
from favor.scores.settings import BertScoreModel
from favor.scores.text_quality import quality_columns

OUTPUT_KEYS = ["client", "prompt_id", "sample"]  # of an output within its run
RUN_KEYS = ["seed", "method", *OUTPUT_KEYS]


@dataclass(frozen=True)
class Run:
    """The outputs of one method under one seed, or of a control.

    ``items`` has one row per output, sorted by client, prompt and sample: client (the author the output is attributed
    to), prompt_id, sample, topic, passed, and text_item: the prompt whose human continuation the text is, "" for
    generated text. ``common``: they continue the prompts that every client has.
    """

    seed: int
    method: str
    items: pd.DataFrame
    common: bool = False

    @property
    def survivors(self) -> pd.DataFrame:
        """Rows of ``items`` that pass the quality filter."""
        return self.items[self.items["passed"]]


@dataclass(frozen=True)
class Sources:
    """Human texts of one kind in one encoder's space: frame (client, item, topic) and unit rows [n, d], aligned."""

    frame: pd.DataFrame
    vectors: np.ndarray


@dataclass(frozen=True)
class ScoreInputs:
    """Everything the metric families need about one experiment.

    generations: table ``generations``, all runs. prompts: table ``prompts`` of all seeds with a column seed.
    generation_embeddings and source_embeddings: encoder name -> the table of that name; every output that passes the
    filter needs its vector, every client training vectors and every prompt the vector of its gold continuation.
    utility, client_texts, assistant: the tables of these names, or None. filter: of outputs, which the human controls
    pass through too; words: what counts as one. bertscore: the model behind the utility table.
    common_generations: table ``generations`` for the prompts that every client continues; empty without them;
    common_embeddings: their table ``generation_embeddings`` by encoder. scores: of the families that the family to be
    scored names under ``READS``. unseen: encoders that no method was trained with.
    Rows may come in any order. Missing rows raise ``UserError``.
    """

    generations: pd.DataFrame
    prompts: pd.DataFrame
    generation_embeddings: Mapping[str, pd.DataFrame]
    source_embeddings: Mapping[str, pd.DataFrame]
    utility: pd.DataFrame | None = None
    client_texts: pd.DataFrame | None = None
    assistant: pd.DataFrame | None = None
    filter: OutputFilter = field(default_factory=OutputFilter)
    words: str = "paper"
    common_generations: pd.DataFrame = field(default_factory=GENERATIONS.empty)
    common_embeddings: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    scores: pd.DataFrame = field(default_factory=SCORES.empty)
    bertscore: BertScoreModel | None = None
    unseen: Sequence[str] = ()
    _cache: dict[Any, Any] = field(default_factory=dict, init=False, repr=False, compare=False)  # no copy takes it over

    def __post_init__(self) -> None:
        known = self.prompts[["seed", "client", "prompt_id"]]
        _require(self.generations[["seed", "client", "prompt_id"]], known, "generations", "the prompts")
        if set(self.generation_embeddings) != set(self.source_embeddings):
            raise UserError(
                f"encoders of the generations ({', '.join(sorted(self.generation_embeddings))}) and of the human texts "
                f"({', '.join(sorted(self.source_embeddings))}) differ; embed both with the same encoders"
            )
        passed = self.generations.loc[self.generations["passed"], RUN_KEYS]
        for encoder in self.encoders:
            where = f"embeddings of encoder '{encoder}'"
            _require(passed, self.generation_embeddings[encoder][RUN_KEYS], "generations", where)
            source = self.source_embeddings[encoder]
            gold = source.loc[source["kind"] == "gold", ["client", "item"]].rename(columns={"item": "prompt_id"})
            _require(self.prompts[["client", "prompt_id"]], gold, "gold continuations", where)
            train = source.loc[source["kind"] == "train", ["client"]]
            _require(self.prompts[["client"]], train, "clients' training texts", where)
        shared = self.common_generations.loc[self.common_generations["passed"], RUN_KEYS]
        for encoder, embedded in self.common_embeddings.items():
            where = f"embeddings of encoder '{encoder}'"
            _require(shared, embedded[RUN_KEYS], "continuations of common prompts", where)
        if self.utility is not None:
            _require(passed, self.utility[RUN_KEYS], "generations", "the utility table")
        if self.assistant is not None:
            _require(self.generations[RUN_KEYS], self.assistant[RUN_KEYS], "generations", "the assistant scores")
        if self.client_texts is not None:
            _require(self.prompts[["client"]], self.client_texts[["client"]], "clients", "the clients' texts")

    @staticmethod
    def load(files: Any, seeds: Sequence[int], encoders: Sequence[str], **settings: Any) -> ScoreInputs:
        """Read Parquet files by their names in the rules of jobs, as far as ``files`` has them.

        Prompts stand in the order of ``seeds``; embeddings, sources and golds in that of ``encoders``. ``settings``:
        filter, words, bertscore and unseen.
        """

        def paths(name: str) -> list[Path]:
            found = files.get(name, [])
            return [Path(path) for path in ([found] if isinstance(found, str) else found)]

        def one(name: str, table: Table) -> pd.DataFrame | None:
            return next((read_parquet(path, table) for path in paths(name)), None)

        def embedded(name: str) -> dict[str, pd.DataFrame]:
            known = zip(encoders, paths(name), strict=False)
            return {encoder: read_parquet(path, GENERATION_EMBEDDINGS) for encoder, path in known}

        sources = zip(encoders, paths("sources"), paths("golds"), strict=True)
        return ScoreInputs(
            read_tables(paths("generations"), GENERATIONS),
            load_prompts(seeds, paths("prompts")),
            embedded("embeddings"),
            {encoder: read_tables(own, SOURCE_EMBEDDINGS) for encoder, *own in sources},
            one("utility", UTILITY),
            one("texts", CLIENT_TEXTS),
            one("assistant", ASSISTANT),
            common_generations=read_tables(paths("common_generations"), GENERATIONS),
            common_embeddings=embedded("common_embeddings"),
            scores=read_tables(paths("scores"), SCORES),
            **settings,
        )

    @property
    def encoders(self) -> list[str]:
        """Encoder names, sorted."""
        return sorted(self.generation_embeddings)

    @cached_property
    def clients(self) -> list[str]:
        """Every client of the roster (of the prompts), sorted."""
        return sorted(self.prompts["client"].unique())

    @cached_property
    def runs(self) -> list[Run]:
        """Every run, sorted by seed and method, then the controls ``gold`` and ``shuffled`` of every seed."""
        topics = self.prompts[["seed", "prompt_id", "topic"]]
        frame = self.generations.merge(topics, on=["seed", "prompt_id"], validate="many_to_one").assign(text_item="")
        runs = list(self._runs(frame))
        for seed in sorted({run.seed for run in runs}):
            runs += list(self._controls(seed))
        return runs

    @cached_property
    def common_runs(self) -> list[Run]:
        """Every run's continuations of the common prompts, sorted by seed and method; topic and text_item are ""."""
        return list(self._runs(self.common_generations.assign(topic="", text_item=""), common=True))

    @property
    def known_texts(self) -> pd.DataFrame:
        """The table ``client_texts``. Raises ``UserError`` where it was not given."""
        if self.client_texts is None:
            raise UserError("scores: this family reads the clients' texts; give the client_texts table")
        return self.client_texts

    def gold_quality(self, prompts: pd.DataFrame) -> pd.DataFrame:
        """Return the quality columns of human continuations, under the limits that the outputs were filtered by."""
        return quality_columns(prompts["gold_text"].tolist(), self.filter, self.words).set_index(prompts.index)

    @cached_property
    def common_length(self) -> int:
        """Words of the shortest human continuation that passes the filter, of all seeds; 1 where none does.

        Measures that depend on length cut every text to it.
        """
        kept = self.prompts["gold_text"][self.gold_quality(self.prompts)["passed"]]
        return min(map(output_words(self.words).count, kept), default=1)

    @staticmethod
    def _runs(frame: pd.DataFrame, common: bool = False) -> Iterator[Run]:
        for seed, method in sorted(set(zip(frame["seed"].tolist(), frame["method"].tolist(), strict=True))):
            yield Run(seed, method, _items(frame[(frame["seed"] == seed) & (frame["method"] == method)]), common)

    def _controls(self, seed: int) -> Iterator[Run]:
        gold = self.prompts[self.prompts["seed"] == seed].assign(sample=0)
        gold = gold.assign(text_item=gold["prompt_id"], passed=self.gold_quality(gold)["passed"])
        yield Run(seed, "gold", _items(gold))
        kept, given = shuffled_prompts(gold, seed)
        taken = {name: given[name].to_numpy() for name in ("text_item", "passed")}
        yield Run(seed, "shuffled", _items(kept.assign(**taken)))

    def sources(self, encoder: str, kind: str, seed: int | None = None) -> Sources:
        """Human texts of ``kind`` (train, validation, test, gold); gold ones of ``seed`` only, if it is given."""
        key = ("sources", encoder, kind, seed)
        if key not in self._cache:
            frame = self.source_embeddings[encoder]
            frame = frame[frame["kind"] == kind]
            if seed is not None:
                wanted = self.prompts.loc[self.prompts["seed"] == seed, "prompt_id"]
                frame = frame[frame["item"].isin(wanted)]
            frame = frame.sort_values(["client", "item"], ignore_index=True)
            self._cache[key] = Sources(frame[["client", "item", "topic"]], unit_embeddings(frame["embedding"]))
        return self._cache[key]

    def vectors(self, encoder: str, run: Run) -> np.ndarray:
        """Unit rows [n, d] of the surviving outputs of ``run``, in the order of ``run.survivors``."""
        key = ("vectors", encoder, run.seed, run.method, run.common)
        if key not in self._cache:
            if run.method in CONTROLS:
                self._cache[key] = self._gold(encoder, run.survivors["text_item"])
            else:
                tables = self.common_embeddings if run.common else self.generation_embeddings
                self._cache[key] = self._embedded(tables[encoder], encoder, run)
        return self._cache[key]

    def texts(self, run: Run) -> list[str]:
        """Texts of the surviving outputs of ``run``, in the order of ``run.survivors``."""
        if run.method in CONTROLS:
            known = self.prompts.set_index("prompt_id")["gold_text"]
            return [str(known[item]) for item in run.survivors["text_item"]]
        frame = self.common_generations if run.common else self.generations
        frame = frame[(frame["seed"] == run.seed) & (frame["method"] == run.method)]
        return list(run.survivors[OUTPUT_KEYS].merge(frame, on=OUTPUT_KEYS, validate="one_to_one")["text"])

    def places(self, authors: pd.Series | np.ndarray) -> np.ndarray:
        """Return the place of each author among ``clients`` [n]."""
        return np.searchsorted(self.clients, np.asarray(authors, dtype=object).astype(str))

    def posts(self, frame: pd.DataFrame) -> np.ndarray:
        """Document id of the post behind every row of a run's items [n]: the prompt's, or in a control the text's.

        Seeds may draw one post, and a prompt may have several samples.
        """
        known = self.prompts.set_index("prompt_id")["document_id"]
        return known[frame["text_item"].where(frame["text_item"] != "", frame["prompt_id"])].to_numpy()

    def _embedded(self, table: pd.DataFrame, encoder: str, run: Run) -> np.ndarray:
        frame = table[(table["seed"] == run.seed) & (table["method"] == run.method)]
        frame = run.survivors[OUTPUT_KEYS].merge(frame, on=OUTPUT_KEYS, how="left", validate="one_to_one")
        if frame.empty:  # every output failed the filter: no rows, in the space's own dimension
            return np.zeros((0, len(self.source_embeddings[encoder]["embedding"].iloc[0])))
        return unit_embeddings(frame["embedding"])

    def gold_vectors(self, encoder: str, run: Run) -> np.ndarray:
        """Unit rows of the gold continuations of the surviving outputs' prompts, in the order of ``run.survivors``."""
        return self._gold(encoder, run.survivors["prompt_id"])

    def _gold(self, encoder: str, prompts: pd.Series) -> np.ndarray:
        gold = self.sources(encoder, "gold")
        position = {item: index for index, item in enumerate(gold.frame["item"])}
        return gold.vectors[[position[item] for item in prompts]]


def authors_of(runs: Sequence[Run]) -> dict[str, int]:
    """Return by method how many authors have an output that passed the filter, under any seed."""
    found: dict[str, set[str]] = {}
    for run in runs:
        found.setdefault(run.method, set()).update(run.survivors["client"])
    return {method: len(authors) for method, authors in found.items()}


def load_prompts(seeds: Iterable[int], paths: Iterable[str | Path]) -> pd.DataFrame:
    """Read the prompts of every seed, one file each, into one frame with a column seed."""
    files = sorted(zip(seeds, paths, strict=True))
    parts = [read_parquet(path, PROMPTS).assign(seed=seed) for seed, path in files]
    return pd.concat(parts, ignore_index=True)


def shuffled_attribution(clients: np.ndarray, seed: int) -> np.ndarray:
    """For each text [n] (sorted by client), the index of the text of another client that takes its place.

    Texts are dealt by their rank within the client; within a rank the clients form one random cycle, so nobody keeps
    an own text and an author's new texts come from several authors. -1 where no other client has such a rank.
    """
    rank = pd.Series(clients).groupby(clients).cumcount().to_numpy()
    giver = np.full(len(clients), -1, dtype=np.int64)
    for level in np.unique(rank):
        members = np.flatnonzero(rank == level)
        if len(members) > 1:
            cycle = numpy_generator(seed, "shuffled control", int(level)).permutation(members)
            giver[cycle] = np.roll(cycle, 1)
    return giver


def shuffled_prompts(prompts: pd.DataFrame, seed: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the prompts of ``seed`` that get another client's continuation, and row by row those it is taken from."""
    ordered = prompts[prompts["seed"] == seed].sort_values(["client", "prompt_id"], ignore_index=True)
    giver = shuffled_attribution(ordered["client"].to_numpy(), seed)
    return ordered[giver >= 0], ordered.iloc[giver[giver >= 0]]


def unit_embeddings(embeddings: pd.Series) -> np.ndarray:
    """Stack a column of vectors into float64 [n, d] and scale every row to unit length (zero rows stay zero)."""
    if embeddings.empty:
        return np.zeros((0, 1))
    return unit_rows(np.stack(list(embeddings)).astype(np.float64))


def read_encoders(inputs: ScoreInputs, chosen: Sequence[str] | None) -> list[str]:
    """Return the encoders a family scores in: ``chosen``, or all of the experiment when None."""
    for name in chosen or ():
        if name not in inputs.encoders:
            raise UserError(f"scores: encoder '{name}' has no embeddings; embed it or use {', '.join(inputs.encoders)}")
    return list(chosen) if chosen is not None else inputs.encoders


def _items(frame: pd.DataFrame) -> pd.DataFrame:
    columns = [*OUTPUT_KEYS, "topic", "passed", "text_item"]
    return frame[columns].sort_values(OUTPUT_KEYS, ignore_index=True)


def _require(wanted: pd.DataFrame, available: pd.DataFrame, what: str, where: str) -> None:
    columns = list(wanted.columns)
    merged = wanted.drop_duplicates().merge(available.drop_duplicates(), on=columns, how="left", indicator=True)
    missing = merged[merged["_merge"] == "left_only"]
    if len(missing):
        row = ", ".join(f"{name} {missing.iloc[0][name]}" for name in columns)
        raise UserError(f"{where}: {len(missing)} of the {what} have no row, first {row}; delete it and run again")
