"""What an adapter knows of its writer: spans of texts in what it writes, texts told by their loss, and gains."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from favor.corpora.copies import SHARED_WORDS, shares_a_run, word_runs
from favor.corpora.prompts import cut_post
from favor.corpora.schemas import CLIENT_TEXTS
from favor.corpora.settings import PromptCut
from favor.foundation.parquet import read_parquet
from favor.foundation.seeds import derive_seed, numpy_generator
from favor.foundation.tokenizer import open_tokenizer
from favor.inference.generation import GenerationRequest, generate
from favor.inference.likelihood import Question, answer
from favor.lm.tasks import Piece
from favor.lm.tokenizer import language_model_tokens
from favor.running.jobs.progress import Progress
from favor.scores.copying import word_list
from favor.statistics.bootstrap import mean_draws, observed_and_resampled
from favor.statistics.copied_spans import KnownTexts
from favor.studies.privacy.losses import first_pieces, trained_texts
from favor.studies.settings import TextCutting
from favor.voice.folder import BASE, OWN, PREFIX_TOKENS, SHARED, VoiceFolder, VoiceModels
from favor.voice.own_texts import WRITER
from favor.voice.position import DRAWS, Measured, measured, told_apart
from favor.voice.schemas import VOICE_CONTINUATIONS, VOICE_LOSSES

PROMPTS = 12  # continued of the held-out texts, and as many of those trained on
NEW_TOKENS = 160
LEAST_TOKENS = 16  # that a text has behind its prompt
TEXTS = 60  # read at most of those trained on, of those that validate, and of those held out
READ_TOKENS = 256  # of a text at most
TRAINED, VALIDATION, HELD_OUT = "trained", "validation", "held_out"
CONTRAST, NEUTRAL = "contrast", "neutral"


@dataclass(frozen=True)
class Copying:
    """Of how many ``texts`` a run of ten words or more stands in the training texts (``copied``); the longest run."""

    texts: int
    copied: int
    longest: int


@dataclass(frozen=True)
class Audit:
    """Whether the adapter tells its training texts from those that validated: AUC with its 95 % interval over texts.

    The score of a text is how far the loss falls from where training began. Held-out texts take no part: they may be
    newer, and be told by what is new in them. ``trained``, ``validation``: texts read.
    """

    auc: Measured
    trained: int
    validation: int

    @property
    def above_chance(self) -> bool:
        """Whether the interval lies above one half."""
        return self.auc.low > 0.5


def unseen(texts: pd.DataFrame, split: str = "test") -> pd.DataFrame:
    """Return the texts of ``split`` that share no ten words in a row with a training text."""
    known = word_runs(texts.loc[texts["split"] == "train", "training_text"])
    own = texts[texts["split"] == split]
    return own[[not shares_a_run(text, known) for text in own["text"]]]


def memorised_lines(folder: VoiceFolder, seed: int) -> Iterator[str]:
    """Yield what both tables say, with a warning above chance."""
    texts = read_parquet(folder.texts, CLIENT_TEXTS)
    yield from copying_lines(copying(read_parquet(folder.continuations, VOICE_CONTINUATIONS), texts))
    yield from audit_lines(audit(read_parquet(folder.losses, VOICE_LOSSES), seed))


def continuations(models: VoiceModels, texts: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Return the table ``voice_continuations``: every model continues the same beginnings, greedily."""
    base = models.base
    tokenizer, new = open_tokenizer(base.source), min(NEW_TOKENS, base.context // 2)
    prompts = []
    for split, own in (("test", unseen(texts)), ("train", texts[texts["split"] == "train"])):
        made = 0
        for place in numpy_generator(seed, "voice prompts", split).permutation(len(own)):
            post = own.iloc[place]
            given = language_model_tokens(base.tokenizer, post["prompt"], post["text"])[1]
            limits = PromptCut(
                prefix_tokens=given + PREFIX_TOKENS, minimum_gold_tokens=LEAST_TOKENS, maximum_gold_tokens=new
            )
            cut = cut_post(post["text"], tokenizer, limits, post["prompt"])
            if cut is not None and len(cut.prompt_tokens) + len(base.opening) + new <= base.context:
                prompts.append((post["document_id"], split, cut))
                made += 1
            if made == PROMPTS:
                break
    rows = []
    progress = Progress("continuations", len(prompts) * len(models.states), "texts")
    for name, state in models.states.items():
        asked = [
            GenerationRequest(document, [*base.opening, *cut.prompt_tokens], state) for document, _, cut in prompts
        ]
        found = generate(base, models.lora, asked, new, progress=progress)
        rows += [
            (name, document, document, split, cut.prompt_text, base.tokenizer.decode(tokens))
            for (document, split, cut), tokens in zip(prompts, found, strict=True)
        ]
    progress.close()
    return pd.DataFrame(rows, columns=VOICE_CONTINUATIONS.names)


def own_pieces(models: VoiceModels, texts: pd.DataFrame, seed: int) -> dict[tuple[str, str], list[Piece]]:
    """Return by (kind, writer) the beginnings of texts that were trained on, drawn by ``seed``, and of unseen ones."""
    found = {TRAINED: pieces_of(models, trained_texts(texts, TEXTS, seed), "training_text")}
    for kind, split in ((VALIDATION, "validation"), (HELD_OUT, "test")):
        found[kind] = pieces_of(models, unseen(texts, split)[:TEXTS], "text")
    return {(kind, WRITER): own.get(WRITER, []) for kind, own in found.items()}


def pieces_of(models: VoiceModels, texts: pd.DataFrame, column: str) -> dict[str, list[Piece]]:
    """Return by client the beginning of every text in ``column``, cut as training cuts it."""
    length = min(READ_TOKENS, models.base.context)
    cutting = TextCutting(prefix_tokens=PREFIX_TOKENS, max_length=length, pieces="windows")
    return first_pieces(models.base, texts, column, cutting)


def read_losses(models: VoiceModels, pieces: Mapping[tuple[str, str], Sequence[Piece]], title: str) -> pd.DataFrame:
    """Return the table ``voice_losses``: every model reads the pieces of every (kind, writer)."""
    rows = [
        (name, kind, writer, number, piece)
        for name in models.states
        for (kind, writer), own in pieces.items()
        for number, piece in enumerate(own)
    ]
    progress = Progress(title, len(rows), "texts")
    questions = [Question(models.states[name], piece) for name, *_, piece in rows]
    losses = answer(models.base, models.lora, questions, progress=progress).loss
    progress.close()
    found = [
        (*keys, len(piece) - piece.response_start, loss) for (*keys, piece), loss in zip(rows, losses, strict=True)
    ]
    return pd.DataFrame(found, columns=VOICE_LOSSES.names).astype({"text": "int32", "tokens": "int32"})


def copying(made: pd.DataFrame, texts: pd.DataFrame) -> dict[tuple[str, str], Copying]:
    """Return the copying of every (model, split) of the table ``voice_continuations``, and of ("writer", "test").

    The writer's are the held-out texts themselves: how often somebody repeats ten words without copying.
    """
    trained = [word_list(text, "unicode") for text in texts.loc[texts["split"] == "train", "training_text"]]
    known = KnownTexts({WRITER: trained}, SHARED_WORDS)
    groups = {(str(model), str(split)): own["text"] for (model, split), own in made.groupby(["model", "split"])}
    groups[WRITER, "test"] = texts.loc[texts["split"] == "test", "text"]
    found = {}
    for key, own in groups.items():
        longest = [known.overlap(WRITER, word_list(text, "unicode")).longest_own for text in own]
        found[key] = Copying(len(longest), sum(map(bool, longest)), max(longest, default=0))
    return found


def audit(losses: pd.DataFrame, seed: int) -> Audit:
    """Return whether training texts can be told; ``losses``: the table ``voice_losses`` of the writer's own texts."""
    wide = losses.pivot(index=["kind", "text"], columns="model", values="loss")
    fall = wide[SHARED if SHARED in wide else BASE] - wide[OWN]
    trained, fresh = (fall[fall.index.get_level_values("kind") == kind].to_numpy() for kind in (TRAINED, VALIDATION))
    return Audit(told_apart(trained, list(fresh[:, None]), seed), len(trained), len(fresh))


def copying_lines(found: Mapping[tuple[str, str], Copying]) -> Iterator[str]:
    """Yield what is copied, in words."""
    own, base = found.get((OWN, "train")), found.get((BASE, "train"))
    for (model, split), what in (((OWN, "train"), "beginnings of training texts"), ((OWN, "test"), "held-out ones")):
        one = found.get((model, split))
        if one is not None:
            yield (
                f"Copied: {one.copied} of {one.texts} continuations of {what} repeat ten or more words in a row of the "
                f"training texts (the longest {one.longest}); the base model's {found[BASE, split].copied}"
            )
    writer = found[WRITER, "test"]
    yield f"The held-out texts themselves: {writer.copied} of {writer.texts}"
    if own is not None and base is not None and own.copied > base.copied:
        yield "warning: the adapter writes passages of the training texts; show nobody what they must not read"


def audit_lines(found: Audit) -> Iterator[str]:
    """Yield whether a text can be told to have been trained on, in words."""
    if math.isnan(found.auc.value):
        yield (
            "Was a text trained on? Not known: no validation text was read that shares no ten words in a row with "
            "those trained on"
        )
        return
    yield (
        f"Was a text trained on? The adapter gives it away with AUC {found.auc.text()} (chance .50), by "
        f"{found.trained} texts that were and {found.validation} that only chose the pass"
    )
    if found.above_chance:
        yield "warning: above chance: who has the adapter can tell which texts it was trained on; keep it to yourself"


@dataclass(frozen=True)
class Gains:
    """Gains of one adapter, in nats per token: the fall of the mean loss of texts from the base to the adapter.

    ``own``: of the writer's held-out texts. ``others``: of the contrast authors' texts, the mean over authors.
    ``voice``: own minus others. ``neutral``: of neutral sentences; below 0 they are forgotten. ``attribution``: how
    often a held-out text gains more than one of another author (AUC; chance .50).
    """

    own: Measured
    others: Measured
    voice: Measured
    neutral: Measured
    attribution: Measured


def gains(losses: pd.DataFrame, model: str, seed: int) -> Gains:
    """Return the gains of ``model``; ``losses``: the table ``voice_losses`` with texts of all kinds.

    Texts weigh by their tokens within a writer. Held-out texts and contrast authors are drawn independently.
    """
    wide = losses.pivot(index=["kind", "writer", "text", "tokens"], columns="model", values="loss").reset_index()
    wide["gain"] = wide[BASE] - wide[model]
    held, contrast, neutral = (wide[wide["kind"] == kind] for kind in (HELD_OUT, CONTRAST, NEUTRAL))
    by_author = [own for _, own in contrast.groupby("writer")]
    own = _weighted(held, seed, HELD_OUT)
    means = np.array([np.average(texts["gain"], weights=texts["tokens"]) for texts in by_author])
    counts = observed_and_resampled(len(means), derive_seed(seed, "voice gains", CONTRAST), DRAWS)
    others = mean_draws(means, np.arange(len(means)), counts)
    return Gains(
        measured(own, len(held)),
        measured(others, len(means)),
        measured(own - others, min(len(held), len(means))),
        measured(_weighted(neutral, seed, NEUTRAL), len(neutral)),
        told_apart(held["gain"].to_numpy(), [texts["gain"].to_numpy() for texts in by_author], seed),
    )


def gain_lines(found: Gains) -> list[str]:
    """Return the gains of the writer's adapter in sentences. What forgetting gives too is no sign of a voice alone."""
    forgets = ", which forgetting other texts gives too: it is no sign of your voice here."
    return [
        f"Your held-out texts are likelier under your adapter than under the base model by {found.own.text(3)} nats "
        f"per token; those of other authors by {found.others.text(3)}; neutral sentences by {found.neutral.text(3)}.",
        f"The gain tells a text of yours from one of another author with AUC {found.attribution.text()} (chance .50)"
        + ("." if found.own.low > 0 else forgets),
    ]


def _weighted(texts: pd.DataFrame, seed: int, name: str) -> np.ndarray:
    """Return the gain of all tokens together in every draw of texts; NaN without a text."""
    if not len(texts):
        return np.full(1 + DRAWS, np.nan)
    counts = observed_and_resampled(len(texts), derive_seed(seed, "voice gains", name), DRAWS)
    tokens = texts["tokens"].to_numpy(dtype=np.float64)
    found: np.ndarray = (counts @ (texts["gain"].to_numpy() * tokens)) / (counts @ tokens)
    return found
