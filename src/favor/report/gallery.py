"""The gallery: one prompt per author, the author's own continuation, and what every row of the experiment made of it.

It quotes texts, so it is made of generated authors, and of real ones where the configuration asks for it. No release
holds it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from favor.paper.names import method_name, unmarked
from favor.scores.inputs import Run, ScoreInputs
from favor.scores.prototypes import predict, prototypes
from favor.tables.cells import DASH, printed
from favor.tables.escape import html_text, minus
from favor.tables.style import page

OWN = "gold"
PRIVATE = (
    "This page quotes the authors of your corpus, and models trained on their texts. Keep it to yourself: do not "
    "publish it or pass it on."
)
GENERATED = "The authors of this page are generated; nobody is quoted."


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
    rows = list(dict.fromkeys(name for exhibit in shown for name in exhibit.continuations if name != OWN))
    names = {OWN: "Own continuation", **{row: unmarked(method_name(row, display)) for row in rows}}
    choice = "".join(f'<option value="{html_text(row)}">voice lost by {html_text(names[row])}</option>' for row in rows)
    heading = html_text(f"{title}: gallery")
    parts = [
        f"<h1>{heading}</h1>",
        f'<p class="statement">{html_text(GENERATED if generated else PRIVATE)}</p>',
        "<p>One prompt per author, of the first seed. Similarity is the cosine to the author's training texts in the "
        "style space; what is lost is the similarity of the author's own continuation minus that of the text. A "
        "single text says little: the tables say what holds over all of them.</p>",
        f'<p class="order" hidden><label>Sort authors by <select><option value="">number</option>{choice}</select>'
        "</label></p>",
    ]
    parts += [_exhibit(number, exhibit, names) for number, exhibit in enumerate(shown, start=1)]
    if not shown:
        parts.append("<p>No author has a continuation of their own that passes the filter.</p>")
    return page(f"{title}: gallery", "\n".join(parts), _SCRIPT, _STYLE)


def _exhibit(number: int, exhibit: Exhibit, names: Mapping[str, str]) -> str:
    lost = {row: round(value, 6) for row in exhibit.continuations if (value := exhibit.lost(row)) is not None}
    lines = []
    for row, one in exhibit.continuations.items():
        values = [printed(value, 2) if value is not None else DASH for value in (one.similarity, exhibit.lost(row))]
        values[1] = "" if row == OWN else values[1]
        told = "did not pass the filter" if one.similarity is None else ("the author" if one.right else "another")
        labelled = zip(("Similarity", "Lost"), values, strict=True)
        cells = "".join(f'<td data-label="{label}">{html_text(minus(value))}</td>' for label, value in labelled)
        cells += f'<td class="told" data-label="Nearest">{told}</td><td class="wide">{html_text(one.text)}</td>'
        style = ' class="control"' if row == OWN else ""
        lines.append(f'<tr{style}><th scope="row">{html_text(names[row])}</th>{cells}</tr>')
    head = "".join(f'<th scope="col">{name}</th>' for name in ("Similarity", "Lost", "Nearest", "Text"))
    return (
        f'<article data-lost="{html_text(json.dumps(lost))}"><h2 id="author-{number}">Author {number}</h2>'
        f'<blockquote>{html_text(exhibit.prompt)}</blockquote><div class="scroll" role="region" tabindex="0" '
        f'aria-labelledby="author-{number}"><table><thead><tr><th scope="col" class="stub">Row</th>{head}</tr></thead>'
        f"<tbody>{''.join(lines)}</tbody></table></div></article>"
    )


_SCRIPT = r"""
(() => {
  const order = document.querySelector('.order'), choice = order.querySelector('select');
  const articles = [...document.querySelectorAll('article')];
  order.hidden = false;
  choice.addEventListener('change', () => {
    const lost = article => JSON.parse(article.dataset.lost)[choice.value] ?? -Infinity;
    const sorted = choice.value ? [...articles].sort((a, b) => lost(b) - lost(a)) : articles;
    document.querySelector('main').append(...sorted);
  });
})();
"""
_STYLE = """
blockquote { margin: .5rem 0; padding-left: 1rem; border-left: 3px solid var(--line); max-width: 60rem; }
article h2 { font-size: 1.15rem; margin: 1.6rem 0 .4rem; padding-top: .6rem; border-top-width: 1px; }
td { vertical-align: top; } td.wide { min-width: 22rem; max-width: 60rem; }
td.told, thead th:nth-child(n+4) { text-align: left; }
tr.control { background: var(--card); } tr.control > * { font-style: normal; color: var(--ink); background: none; }
@media (max-width: 40rem) { thead { display: none; } tbody tr { display: flex; flex-wrap: wrap; gap: 0 .8rem;
  border-top: 1px solid var(--line); padding: .4rem 0; } tbody tr > * { border: 0 !important; padding: 0; }
  th[scope=row] { flex: 1 0 100%; max-width: none; position: static; } td.wide { min-width: 0; flex-basis: 100%; }
  td:not(.wide):not(:empty)::before { content: attr(data-label) " "; color: var(--soft); } }
.order select { font: inherit; max-width: 100%; }
[hidden] { display: none; }
@media print { .order { display: none; } }
"""
