"""How near texts are to one author, between the author's own held-out texts and other authors."""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

import numpy as np

from favor.corpora.near_duplicates import repeats, without_copies
from favor.encoders.base import TextEncoder, Unread
from favor.foundation.errors import UserError
from favor.foundation.seeds import numpy_generator
from favor.scores.assistant_phrases import PHRASES
from favor.scores.author_profiles import ANYBODY, COPIED_WORDS
from favor.scores.copying import word_list
from favor.statistics.copied_spans import KnownTexts
from favor.statistics.kept_share import KeptShare
from favor.voice.habits import HabitRate, compare_habits
from favor.voice.language import check_language
from favor.voice.position import UNITS, percentile, voice_position
from favor.voice.texts import AUTHOR_WORDS, WORDS
from favor.voice.verifiers import AUTHOR, ByEncoder, Verifier, make_verifiers

LENGTHS = (160, 120, 80, 50)  # words of a passage: the longest that every text fills
CONTRAST_WORDS = 600  # of each contrast author at least
FEWEST_AUTHORS = 4  # of contrast
OWN_PASSAGES, OTHERS_PASSAGES = 60, 6  # held out at most, of the author and of each contrast author
FEWEST_TEXTS = 6  # of an author, below which they are cut in pieces
PIECE = 400  # words at most of a piece of a long text
COPIED_SHARE = 0.25  # of a text's words, above which it says nothing of the voice
UNLIKE = 0.01  # share of human passages that lie as far from everybody as a text of another genre
SEED = 2026
_PHRASES = re.compile("|".join(rf"(?<!\w){re.escape(phrase)}" for phrase in PHRASES))


@dataclass(frozen=True)
class Placement:
    """One text under one verifier: its margin, its place between floor 0 and ceiling 1, and percentiles (0 to 1).

    ``among_own``: which share of the author's own held-out passages lies below its passages; ``among_others``: of the
    other authors' passages.
    """

    margin: float
    share: float
    among_own: float
    among_others: float


@dataclass(frozen=True)
class TextScore:
    """One text. ``unscored``: why it has no placements, or "". ``unlike``: it resembles neither author nor contrast."""

    name: str
    words: int
    copied_share: float
    longest_copied: int
    unscored: str
    unlike: bool
    phrases: tuple[str, ...]
    placements: dict[str, Placement] = field(default_factory=dict)


@dataclass(frozen=True)
class VoiceScore:
    """What :func:`score_voice` finds. ``shares``: of all scored texts together, by verifier.

    ``units``: what the intervals are over: "texts" or, of fewer than three texts, "passages"; "documents" where texts
    are parts of them. ``phrases``: phrases of assistants per 1,000 words of the texts, the author and the contrast.
    """

    texts: list[TextScore]
    shares: dict[str, KeptShare]
    habits: list[HabitRate]
    phrases: tuple[float, float, float]
    units: str
    passage_words: int
    author_words: int
    authors: int
    notes: list[str]


@dataclass(frozen=True)
class _Reference:
    """Passages of known authors under one verifier: of each of the author's own texts, and of each contrast author."""

    own: list[np.ndarray]
    others: list[np.ndarray]

    @property
    def ceiling(self) -> float:
        return float(np.mean([passages.mean() for passages in self.own]))

    @property
    def floor(self) -> float:
        return float(np.mean([passages.mean() for passages in self.others]))

    def place(self, margins: np.ndarray) -> Placement:
        own, others = np.concatenate(self.own), np.concatenate(self.others)
        score, reach = float(margins.mean()), self.ceiling - self.floor
        return Placement(
            score,
            (score - self.floor) / reach if reach > 0 else math.nan,
            float(np.mean([percentile(each, own) for each in margins])),
            float(np.mean([percentile(each, others) for each in margins])),
        )


def score_voice(
    texts: Mapping[str, str],
    author: Sequence[str],
    contrast: Mapping[str, Sequence[str]],
    encoder: TextEncoder,
    seed: int = SEED,
    documents: Mapping[str, str] | None = None,
) -> VoiceScore:
    """Return how near each of ``texts`` and all together are to ``author``.

    Half of the author's texts, drawn by ``seed``, make the profile, and so of every contrast author; the other halves
    are ceiling and floor. Texts that are there twice are left out first, with a note. All are read in passages of one
    length. A text that shares a quarter of its words with the author's texts, in sequences of ten words or more, is
    copied and not scored. ``documents``: which document each text is of, by name, where several may be of one, as of a
    model's outputs: those may be alike or copied; intervals are over documents then. Raises ``UserError`` where there
    is less text than a number needs, and where author and contrast differ in language.
    """
    drafts = [] if documents else list(texts.values())
    own, apart, notes = _set_apart(drafts, author, contrast)
    others = _checked(own, apart, notes)
    language = check_language(own, others)
    copied = KnownTexts({ANYBODY: [word_list(text, "unicode") for text in own]}, COPIED_WORDS)
    read = {name: _first_look(name, text, copied) for name, text in texts.items()}
    names = list(texts)
    for place, other in ({} if documents else repeats(list(texts.values()))).items():
        first = read[names[place]]
        read[names[place]] = replace(first, unscored=first.unscored or f"repeats {names[other]}")
    scored = {name: text for name, text in texts.items() if not read[name].unscored}
    if not scored:
        first, more = next(iter(read.values())), f" (and {len(read) - 1} more)" if len(read) > 1 else ""
        raise UserError(f"no text can be scored: {first.name} has {first.unscored}{more}")
    length = passage_length([WORDS.count(text) for text in scored.values()])

    unread = encoder.unread
    parted = {name: _halves(group, seed, name) for name, group in others.items()}
    others = {name: group for name, group in others.items() if passages(parted[name][1], length)}
    if len(others) < len(parted):
        notes.append(
            f"{len(parted) - len(others)} contrast authors have no passage of {length} words in their held-out half "
            "and are left out."
        )
    halves = [_halves(own, seed, ""), *(parted[name] for name in others)]
    if len(others) < FEWEST_AUTHORS or not passages(halves[AUTHOR][1], length):
        who = "the author's" if len(others) >= FEWEST_AUTHORS else "a contrast author's"
        raise UserError(
            f"{who} held-out half has no passage of {length} words, since one text holds most of them; divide that "
            "text, or add texts"
        )
    verifiers = make_verifiers(encoder, [profile for profile, _ in halves], seed)
    if "grammar" not in verifiers:
        notes.append("Grammar (LambdaG) is left out: its list of function words is English, and these texts are not.")
    own_texts = _spread(passages_by_text(halves[AUTHOR][1], length))
    held = [[*chain(*own_texts)], *(passages(rest, length)[:OTHERS_PASSAGES] for _, rest in halves[1:])]
    ends = np.cumsum([len(text) for text in own_texts])[:-1]
    parts = {name: passages([text], length) for name, text in scored.items()}
    references = {
        name: _Reference(
            np.split(verifier.margins(held[AUTHOR]), ends),
            [verifier.margins(own, writer) for writer, own in enumerate(held[1:], start=1)],
        )
        for name, verifier in verifiers.items()
    }
    margins = {name: _by_text(verifier, parts) for name, verifier in verifiers.items()}
    far = _unlike(verifiers["encoder"], held, parts)
    found = [
        replace(
            each,
            unlike=far.get(name, False),
            placements={kind: references[kind].place(own[name]) for kind, own in margins.items() if name in own},
        )
        for name, each in read.items()
    ]
    units = "documents" if documents else "texts" if len(scored) >= UNITS else "passages"
    by_document: dict[str, list[str]] = {}
    for name in scored:
        by_document.setdefault((documents or {}).get(name, name), []).append(name)
    why = {"few": few_documents(len(by_document))} if documents else {}
    shares = {}
    for name, by_text in margins.items():
        scores = [np.array([by_text[text].mean() for text in inside]) for inside in by_document.values()]
        if units == "passages":
            scores = [*np.concatenate([*by_text.values()])[:, None]]
        shares[name] = voice_position(scores, references[name].own, references[name].others, seed, **why)
    cut = Unread(*(now - then for now, then in zip(encoder.unread, unread, strict=True)))
    if cut.cut:
        notes.append(f"By the style encoder: {cut.line('passages and texts')}")
    if len(own) < FEWEST_TEXTS:
        notes.append(
            f"Intervals take pieces of the author's {len(own)} texts for texts: how texts differ is not in them. Give "
            f"{FEWEST_TEXTS} texts or more."
        )
    if any(far.values()):
        notes.append(_far_note("genre, topic or language", [name for name, is_far in far.items() if is_far]))
    if few := [name for name, text in scored.items() if language.few(text)]:
        notes.append(_far_note("language (few function words)", few))
    whole = ["\n\n".join(scored[text] for text in inside) for inside in by_document.values()]
    return VoiceScore(
        found,
        shares,
        compare_habits(whole, _as_texts(own), list(others.values())),
        (_rate([*scored.values()]), _rate(own), _rate([*chain(*others.values())])),
        units,
        length,
        sum(map(WORDS.count, own)),
        len(others),
        notes,
    )


def passage_length(words: Sequence[int]) -> int:
    """Return the words of a passage for texts of so many ``words``, each as long as the shortest length at least.

    It is the longest that every text fills, of those that give ``UNITS`` passages, or as many as there can be.
    """
    fitting = [length for length in LENGTHS if length <= min(words)]
    return max(fitting, key=lambda length: (min(UNITS, sum(each // length for each in words)), length))


def passages(texts: Sequence[str], words: int) -> list[str]:
    """Cut ``texts`` into passages of exactly ``words`` words; what a text has beyond its last whole one is left out.

    Texts shorter than a passage are joined with those after them.
    """
    return [*chain(*passages_by_text(texts, words))]


def passages_by_text(texts: Sequence[str], words: int) -> list[list[str]]:
    """Return :func:`passages` of each text apart, or of short ones that are joined; of no whole passage nothing."""
    found: list[list[str]] = []
    waiting = ""
    for text in texts:
        rest = f"{waiting}\n{text}" if waiting else text
        starts = [start for start, _ in WORDS.spans(rest)]
        whole = len(starts) // words
        waiting = "" if whole else rest
        if whole:
            ends = [*starts[::words], len(rest)]
            found.append([rest[ends[number] : ends[number + 1]].rstrip() for number in range(whole)])
    return found


def _spread(texts: Sequence[list[str]]) -> list[list[str]]:
    """Return ``OWN_PASSAGES`` of all passages at most, the first ones of as many texts as there are."""
    places = sorted((place, number) for number, text in enumerate(texts) for place in range(len(text)))[:OWN_PASSAGES]
    kept = Counter(number for _, number in places)
    return [text[: kept[number]] for number, text in enumerate(texts) if kept[number]]


def few_documents(documents: int) -> str:
    """Return why passages of so many documents have no interval."""
    return f"they are of {documents} document{'s' * (documents > 1)}, and an interval needs {UNITS}"


def _set_apart(
    drafts: Sequence[str], author: Sequence[str], contrast: Mapping[str, Sequence[str]]
) -> tuple[list[str], dict[str, list[str]], list[str]]:
    """Return texts of author and contrast that repeat none, nearly or in whole, and what was left out in sentences.

    A draft that is among the author's texts is taken out of them; what is the author's or a draft, out of the contrast.
    """
    notes = []

    def left_out(before: Sequence[str], after: Sequence[str], why: str) -> None:
        if many := len(before) - len(after):
            notes.append(f"{many:,} of {why} and {'is' if many == 1 else 'are'} left out.")

    once = _once(author)
    left_out(author, once, f"the author's {len(author):,} texts repeat{'s' * (len(author) - len(once) == 1)} another")
    own = without_copies(once, drafts)
    left_out(once, own, "the author's texts stand among the texts to score")
    others = {name: without_copies(_once(texts), [*once, *drafts]) for name, texts in contrast.items()}
    before, after = ([text for texts in group.values() for text in texts] for group in (contrast, others))
    left_out(before, after, "the contrast's texts repeat another, or are the author's or to be scored,")
    return own, others, notes


def _once(texts: Sequence[str]) -> list[str]:
    left_out = repeats(texts)
    return [text for place, text in enumerate(texts) if place not in left_out]


def _checked(
    author: Sequence[str], contrast: Mapping[str, Sequence[str]], notes: list[str]
) -> dict[str, Sequence[str]]:
    total = sum(map(WORDS.count, author))
    if total < AUTHOR_WORDS:
        raise UserError(
            f"the author has {total:,} words, and {AUTHOR_WORDS:,} are needed (half for the profile, half for the "
            f"ceiling); add {AUTHOR_WORDS - total:,} words of the author's own{': ' * bool(notes)}{' '.join(notes)}"
        )
    sizes = {name: sum(map(WORDS.count, texts)) for name, texts in contrast.items()}
    kept = {name: texts for name, texts in contrast.items() if sizes[name] >= CONTRAST_WORDS}
    if len(kept) < len(sizes):
        notes.append(f"{len(sizes) - len(kept)} contrast authors have under {CONTRAST_WORDS} words and are left out.")
    if len(kept) < FEWEST_AUTHORS:
        raise UserError(
            f"{len(kept)} contrast authors have {CONTRAST_WORDS} words or more, and {FEWEST_AUTHORS} are needed; "
            "add authors, or leave --contrast out"
        )
    return kept


def _first_look(name: str, text: str, known: KnownTexts) -> TextScore:
    words = word_list(text, "unicode")
    share = float(known.copied(ANYBODY, words).mean()) if words else 0.0
    unscored = ""
    if len(words) < LENGTHS[-1]:
        unscored = f"{len(words)} words, and {LENGTHS[-1]} are needed"
    elif share > COPIED_SHARE:
        unscored = f"{100 * share:.0f} % of its words copied from the author's texts"
    phrases = tuple(found[0] for found in _PHRASES.finditer(text.lower().replace("’", "'")))
    longest = known.overlap(ANYBODY, words).longest_own
    return TextScore(name, len(words), share, longest, unscored, False, phrases)


def _halves(texts: Sequence[str], seed: int, author: str) -> tuple[list[str], list[str]]:
    """Part an author's texts, or pieces of few, in two halves of about as many words: profile and held-out text."""
    pieces = _as_texts(texts)
    halves: tuple[list[str], list[str]] = [], []
    sizes = [0, 0]
    for place in numpy_generator(seed, "voice halves", author).permutation(len(pieces)):
        half = int(sizes[1] < sizes[0])
        halves[half].append(pieces[place])
        sizes[half] += WORDS.count(pieces[place])
    return halves


def _as_texts(texts: Sequence[str]) -> list[str]:
    return list(texts) if len(texts) >= FEWEST_TEXTS else [piece for text in texts for piece in _pieces(text)]


def _pieces(text: str) -> list[str]:
    spans = list(WORDS.spans(text))
    starts = [spans[number][0] for number in range(0, len(spans), PIECE)]
    return [text[start:end] for start, end in zip(starts, [*starts[1:], len(text)], strict=True)]


def _by_text(verifier: Verifier, parts: Mapping[str, list[str]]) -> dict[str, np.ndarray]:
    margins = verifier.margins([part for own in parts.values() for part in own])
    ends = np.cumsum([len(own) for own in parts.values()])[:-1]
    return dict(zip(parts, np.split(margins, ends), strict=True))


def _unlike(verifier: Verifier, held: Sequence[Sequence[str]], parts: Mapping[str, list[str]]) -> dict[str, bool]:
    """Which texts are farther from every prototype than 99 % of all authors' held-out passages are from theirs."""
    assert isinstance(verifier, ByEncoder)
    human = verifier.similarity([part for own in held for part in own]).max(axis=1)
    bound = float(np.quantile(human, UNLIKE))
    return {name: float(verifier.similarity(own).max(axis=1).mean()) < bound for name, own in parts.items()}


def _far_note(what: str, names: Sequence[str]) -> str:
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return (
        f"Of another {what} than the author and the contrast: {', '.join(names[:3])}{more}. "
        "Their numbers say little of the voice."
    )


def _rate(texts: Sequence[str]) -> float:
    words = sum(map(WORDS.count, texts))
    return 1000 * sum(len(_PHRASES.findall(text.lower().replace("’", "'"))) for text in texts) / max(words, 1)
