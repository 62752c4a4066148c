"""Authors' profiles: text of their own that stands for them, and what of an output may count as theirs beside it."""

from dataclasses import dataclass

import numpy as np

from favor.foundation.errors import UserError
from favor.foundation.seeds import numpy_generator
from favor.foundation.words import document_words, output_words
from favor.scores.copying import word_list
from favor.scores.inputs import Run, ScoreInputs
from favor.statistics.copied_spans import KnownTexts

# Shorter sequences are common to many writers (in copying they are counted, beside what people share by chance).
COPIED_WORDS = 10
ANYBODY = ""


@dataclass(frozen=True)
class Profiles:
    """``documents``, ``texts``: the posts of every author's profile, in the order of the clients; a last text is cut.

    ``words`` [authors]: words of each; ``trained`` [authors]: those of posts that the author's client trained on.
    """

    documents: list[list[str]]
    texts: list[list[str]]
    words: np.ndarray
    trained: np.ndarray


def make_profiles(inputs: ScoreInputs, most_words: int, minimum_words: int, seed: int) -> Profiles:
    """Return profiles of one size: what every author has of text that was not trained on, up to ``most_words`` words.

    Posts come in an order drawn by (``seed``, author), those that nothing was trained on first; posts behind a prompt
    of any seed give nothing. Where an author has less than ``minimum_words`` of such text, profiles have that size,
    and posts trained on fill up. An author with less text than that has a smaller profile.
    """
    kind, table = document_words(inputs.words), inputs.known_texts
    table = table[~table["document_id"].isin(inputs.prompts["document_id"])]
    table = table.assign(size=table["text"].map(kind.count), fresh=table["training_text"] == "")
    unseen = table[table["fresh"]].groupby("client")["size"].sum().reindex(inputs.clients, fill_value=0)
    size = min(most_words, max(minimum_words, int(unseen.min())))
    documents, texts, words, trained = [], [], [], []
    for client in inputs.clients:
        own = table[table["client"] == client].sort_values("document_id", ignore_index=True)
        order = numpy_generator(seed, "author profile", client).permutation(len(own))
        order = order[np.argsort(~own["fresh"].to_numpy()[order], kind="stable")]
        own = own.iloc[order]
        before = own["size"].cumsum() - own["size"]
        own, before = own[before < size], before[before < size]
        taken = np.minimum(own["size"], size - before)
        if not taken.sum():
            raise UserError(f"author profiles: {client} has no text beside the posts of its prompts; leave it out")
        documents.append(own["document_id"].tolist())
        parts = zip(own["text"], own["size"], taken, strict=True)
        # Behind the last word of a whole post stands its last mark.
        texts.append([text if part == whole else kind.cut(text, int(part)) for text, whole, part in parts])
        words.append(int(taken.sum()))
        trained.append(int(taken[~own["fresh"]].sum()))
    return Profiles(documents, texts, np.array(words), np.array(trained))


@dataclass(frozen=True)
class Excerpt:
    """The part of an output that verifiers read. ``copied``: (start, end) of what it shares with known texts.

    ``copied_share``: of its words.
    """

    text: str
    copied: list[tuple[int, int]]
    copied_share: float

    def is_copied(self, place: int) -> bool:
        """Whether the character at ``place`` is copied."""
        return any(start <= place < end for start, end in self.copied)


class Excerpts:
    """Cuts outputs to the length of the human continuation of their prompt, and finds what is copied in them.

    Copied are the words of every sequence of ``COPIED_WORDS`` words that stands in what any client trained on, or in an
    author's prompt. Whose it is does not matter, so that one text loses the same for all authors it is attributed to:
    if its own author's phrases alone went, chance would not be 1 / authors. People's texts are treated alike.
    """

    def __init__(self, inputs: ScoreInputs) -> None:
        self._inputs = inputs
        known = [*inputs.known_texts["training_text"], *inputs.prompts["prompt_text"]]
        self._known = KnownTexts({ANYBODY: [word_list(text, inputs.words) for text in known]}, COPIED_WORDS)
        lengths = inputs.prompts.set_index("prompt_id")["gold_text"].map(output_words(inputs.words).count)
        self._lengths = dict(lengths[~lengths.index.duplicated()])
        self._common_length = int(lengths.median())

    def of(self, run: Run, texts: list[str]) -> list[Excerpt]:
        """Return the excerpts of the surviving outputs of ``run``, whose ``texts`` they are cut from.

        Nobody wrote continuations of common prompts: the median length of the others is theirs.
        """
        prompts = zip(run.survivors["prompt_id"], texts, strict=True)
        return [self._excerpt(self._lengths.get(prompt, self._common_length), text) for prompt, text in prompts]

    def _excerpt(self, length: int, text: str) -> Excerpt:
        text = output_words(self._inputs.words).cut(text, length).replace("’", "'")
        spans = list(document_words(self._inputs.words).spans(text))
        held = self._known.copied(ANYBODY, [text[start:end].lower() for start, end in spans])
        edges = np.flatnonzero(np.diff(np.concatenate([[0], held.astype(np.int8), [0]])))
        # Marks go with the copied word before them, those at the start of a text with its first.
        begins = [0, *(start for start, _ in spans[1:]), len(text)]
        copied = [(begins[start], begins[end]) for start, end in edges.reshape(-1, 2)]
        return Excerpt(text, copied, float(held.mean()) if len(held) else 0.0)
