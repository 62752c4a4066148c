"""The gallery: one prompt per author, the author's own continuation, and what every row of the experiment made of it.

It quotes texts, so it is made of generated authors, and of real ones where the configuration asks for it. No release
holds it.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import numpy as np
from markupsafe import Markup

from favor.foundation.html import html_text, render
from favor.paper.names import method_name, unmarked
from favor.report.facts import subject
from favor.scores.inputs import Run, ScoreInputs
from favor.scores.prototypes import predict, prototypes
from favor.tables.cells import printed
from favor.tables.escape import minus
from favor.tables.html import page
from favor.tables.quoted_examples import shortened

OWN = "gold"
SAMPLE_WORDS = 32  # three lines of the first screen
GRAM = 5  # words in a row that two authors do not both write by chance
Gram = tuple[str, ...]
# Habits that one sees without counting, as (name, expression).
HABITS = (
    ("lower-case i", r"\bi\b(?!\.)"),
    ("!!", r"!{2,}"),
    ("ellipses", r"\.{3,}|…"),
    ("contractions", r"\b\w+['’](?:s|t|re|ve|ll|d|m)\b"),
)


@dataclass(frozen=True)
class Continuation:
    """A continuation of a prompt.

    similarity: cosine to the author's prototype in the style space; None where the text did not pass the filter.
    right: whether the author's prototype is the nearest one.
    """

    text: str
    similarity: float | None = None
    right: bool = False


@dataclass(frozen=True)
class Exhibit:
    """One author's prompt and its continuations by row, the author's own under `OWN`."""

    prompt: str
    continuations: Mapping[str, Continuation] = field(default_factory=dict)

    def lost(self, row: str) -> float | None:
        """Return the similarity of the own continuation minus that of a row's; None where either has none."""
        own, other = (self.continuations.get(name, Continuation("")).similarity for name in (OWN, row))
        return None if own is None or other is None else own - other


def exhibits(inputs: ScoreInputs, encoder: str, rows: Sequence[str]) -> list[Exhibit]:
    """Return an exhibit per author, sorted by author: of the first seed, the first prompt and the first sample.

    It is the first of the prompts whose own continuation passes the filter. Authors without one are left out.
    """
    seed = min(run.seed for run in inputs.runs)
    prototype = prototypes(inputs.sources(encoder, "train"), inputs.clients)
    runs = {run.method: run for run in inputs.runs if run.seed == seed}
    own = runs[OWN].survivors.drop_duplicates("client").set_index("client")["prompt_id"]
    written = inputs.generations[(inputs.generations["seed"] == seed) & (inputs.generations["sample"] == 0)]
    texts = written.set_index(["method", "prompt_id"])["text"]
    asked = inputs.prompts[inputs.prompts["seed"] == seed].set_index("prompt_id")
    judged = {name: _judged(inputs, encoder, runs[name], prototype) for name in (OWN, *rows) if name in runs}
    found = []
    for prompt in own:
        continuations = {}
        for name, known in judged.items():
            text = asked.loc[prompt, "gold_text"] if name == OWN else texts.get((name, prompt))
            if text is not None:
                continuations[name] = Continuation(str(text), *known.get(prompt, (None, False)))
        found.append(Exhibit(str(asked.loc[prompt, "prompt_text"]), continuations))
    return found


def sample(shown: Sequence[Exhibit], rows: Sequence[str], display: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return one prompt of the first screen and its texts by name: the author's, a shared adapter's, FAVoR's.

    Of the exhibits in which the author's own text is told to be the author's, it is the one that loses most with FedAvg
    (or else the first row that is not the subject). [] where no exhibit has all three texts.
    """
    first = subject(rows)
    shared = "fedavg" if "fedavg" in rows else next((row for row in rows if row != first), first)
    whole = [
        each
        for each in shown
        if each.lost(shared) is not None and each.lost(first) is not None and each.continuations[OWN].right
    ]
    if not whole:
        return []
    chosen = max(whole, key=lambda each: each.lost(shared) or 0.0)
    texts = {"The author": OWN} | {unmarked(method_name(row, display)): row for row in (shared, first)}
    lines = [(name, shortened(chosen.continuations[row].text, SAMPLE_WORDS)) for name, row in texts.items()]
    return [("Prompt", shortened(chosen.prompt, SAMPLE_WORDS)), *lines]


def _judged(inputs: ScoreInputs, encoder: str, run: Run, prototype: np.ndarray) -> dict[str, tuple[float, bool]]:
    """Return (similarity to the author's prototype, whether it is the nearest) of surviving outputs, by prompt."""
    vectors, survivors = inputs.vectors(encoder, run), run.survivors
    nearest = predict(vectors, prototype, inputs.clients)
    found = {}
    lines = zip(survivors["prompt_id"], survivors["client"], survivors["sample"], vectors, nearest, strict=True)
    for prompt, client, sample, vector, guess in lines:
        if sample == 0:
            found[prompt] = float(vector @ prototype[inputs.clients.index(client)]), guess == client
    return found


def gallery_page(title: str, shown: Sequence[Exhibit], display: Mapping[str, str], generated: bool) -> str:
    """Return the page; ``display``: printed names that the paper does not know, ``generated``: nobody is quoted."""
    rows = list(dict.fromkeys(name for exhibit in shown for name in exhibit.continuations))
    names = {row: "The author" if row == OWN else unmarked(method_name(row, display)) for row in rows}
    # How many authors a row writes the same words for.
    written: dict[str, Counter[Gram]] = {row: Counter() for row in rows}
    for exhibit in shown:
        for row, one in exhibit.continuations.items():
            written[row].update({gram for gram, *_ in grams(one.text)})
    folder = Path(__file__).parent / "templates/gallery"
    body = render(
        folder,
        "gallery.html",
        title=title,
        generated=generated,
        rows=[row for row in rows if row != OWN],
        names=names,
        exhibits=[_shown(exhibit, names, written) for exhibit in shown],
    )
    script, style = ((folder / f"gallery.{kind}").read_text(encoding="utf-8") for kind in ("js", "css"))
    return page(f"{title}: gallery", body, script, style)


def _shown(exhibit: Exhibit, names: Mapping[str, str], written: Mapping[str, Counter[Gram]]) -> dict[str, object]:
    """What the page says of an exhibit, as texts; authors whose own text is taken for another's come last."""
    certain = exhibit.continuations[OWN].right
    lost = {row: exhibit.lost(row) for row in exhibit.continuations}
    order = {row: round(value, 6) - (not certain) for row, value in lost.items() if value is not None}
    lines = []
    for row, one in exhibit.continuations.items():
        similarity = "did not pass the filter"
        if one.similarity is not None:
            whose = "the author" if one.right else "another"
            similarity = f"similarity {minus(printed(one.similarity, 2))}, nearest to {whose}"
        text, habits = with_habits(one.text, common(one.text, written[row]))
        said = "; ".join(filter(None, (similarity, habits)))
        lines.append({"row": row, "name": names[row], "text": text, "said": said})
    return {"prompt": exhibit.prompt, "lost": json.dumps(order), "lines": lines}


def grams(text: str) -> Iterator[tuple[Gram, int, int]]:
    """Yield every `GRAM` words in a row, lower-cased, with where they begin and end."""
    words = [(found[0].lower(), found.start(), found.end()) for found in re.finditer(r"\w+(?:['’]\w+)*", text)]
    for place in range(len(words) - GRAM + 1):
        part = words[place : place + GRAM]
        yield tuple(word for word, *_ in part), part[0][1], part[-1][2]


def common(text: str, written: Counter[Gram]) -> list[tuple[int, int]]:
    """Return the spans of a text that the same row also wrote for another author, in order and apart."""
    spans: list[tuple[int, int]] = []
    for gram, start, end in grams(text):
        if written[gram] > 1:
            joined = spans.pop()[0] if spans and start <= spans[-1][1] else start
            spans.append((joined, end))
    return spans


def with_habits(text: str, shaded: Sequence[tuple[int, int]] = ()) -> tuple[Markup, str]:
    """Return a text with habits marked and spans shaded, and how often it has each habit: "!! 2, contractions 1"."""
    counts: Counter[str] = Counter()
    edges = [0, *(edge for span in shaded for edge in span), len(text)]
    parts = [_marked(text[start:end], counts) for start, end in pairwise(edges)]
    parts[1::2] = [Markup('<span class="shared">{}</span>').format(part) for part in parts[1::2]]
    return Markup("").join(parts), ", ".join(f"{name} {counts[name]}" for name, _ in HABITS if counts[name])


def _marked(text: str, counts: Counter[str]) -> Markup:
    found = sorted((match.span(), name) for name, pattern in HABITS for match in re.finditer(pattern, text))
    counts.update(name for _, name in found)
    parts, at = [], 0
    joined: list[tuple[int, int, str]] = []  # "i'll" has two habits and one mark
    for (start, end), name in found:
        if joined and start < joined[-1][1]:
            start, last, before = joined.pop()
            end, name = max(last, end), f"{before}, {name}"
        joined.append((start, end, name))
    for start, end, name in joined:
        parts += [html_text(text[at:start]), Markup('<mark title="{}">{}</mark>').format(name, text[start:end])]
        at = end
    return Markup("").join([*parts, html_text(text[at:])])
