"""The annotator's page of the human audit: one HTML file that works offline, in any current browser.

It holds what :func:`favor.studies.human_audit.responses.page_items` shows and nothing else: no source, author, client
or key stands in it, not even in its source. It quotes texts: it is for the annotators, not for publication.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from favor.studies.human_audit.items import CHECK
from favor.studies.human_audit.responses import CONFIDENCES, FORMAT, page_digest, page_items
from favor.studies.human_audit.script import SCRIPT
from favor.studies.human_audit.storage import STORAGE

BREAK = 20  # items until the page reminds of a break
STYLE = """
:root { color-scheme: light dark; --ink: #1b1f24; --soft: #57606a; --line: #d0d7de; --page: #f6f7f9; --card: #ffffff;
  --a: #0b5cad; --b: #a8430b; --go: #0b5cad; --on-go: #ffffff; --warn: #fff8e1; --warnline: #b07d00; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --soft: #a0a9b4; --line: #3a424c; --page: #10151b;
  --card: #171e26; --a: #79b8ff; --b: #ffab70; --go: #79b8ff; --on-go: #10151b; --warn: #2b2412;
  --warnline: #d9a520; } }
* { box-sizing: border-box; }
[hidden] { display: none !important; }
body { margin: 0; background: var(--page); color: var(--ink); font: 16px/1.6 system-ui, -apple-system, "Segoe UI",
  Roboto, "Helvetica Neue", Arial, sans-serif; -webkit-text-size-adjust: 100%; }
main { max-width: 66rem; margin: 0 auto; padding: 1rem 1.25rem 4rem; }
header { display: flex; flex-wrap: wrap; align-items: center; gap: .4rem 1.5rem; justify-content: space-between; }
h1 { font-size: 1.15rem; margin: .3rem 0; }
h2 { font-size: 1.3rem; margin: 1rem 0 .6rem; }
h2:focus { outline: none; }
h3 { font-size: 1rem; margin: 0 0 .5rem; display: flex; align-items: center; gap: .5rem; }
p, li { max-width: 44rem; }
.card > :first-child { margin-top: 0; } .card > :last-child { margin-bottom: 0; }
.progress { display: flex; align-items: center; gap: .75rem; color: var(--soft); font-size: .9rem; flex: 0 1 24rem; }
progress { flex: 1 1 8rem; min-width: 5rem; height: .6rem; accent-color: var(--go); }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 1rem 1.15rem; }
.authors { display: grid; grid-template-columns: 1fr 1fr; gap: 1rem; }
.author { border-top: 4px solid var(--side); }
.letter { display: inline-grid; place-items: center; width: 1.6rem; height: 1.6rem; border-radius: 50%;
  background: var(--side); color: var(--card); font-size: .9rem; }
.side-a { --side: var(--a); } .side-b { --side: var(--b); }
blockquote { margin: 0; white-space: pre-wrap; overflow-wrap: anywhere; font-family: Georgia, "Times New Roman", serif;
  font-size: 1.02rem; }
blockquote + blockquote { margin-top: .8rem; padding-top: .8rem; border-top: 1px dashed var(--line); }
/* The candidate stays above the authors' texts and the answers below them, however long these are. */
.candidate { margin: 0 0 1rem; border-left: 4px solid var(--ink); position: sticky; top: 0; z-index: 1;
  max-height: 32vh; overflow-y: auto; }
#answer { position: sticky; bottom: 0; z-index: 1; margin-top: 1rem; box-shadow: 0 -4px 12px rgb(0 0 0 / .12); }
fieldset { border: 0; margin: 0; padding: 0; min-width: 0; }
legend { padding: 0; font-weight: 600; margin-bottom: .4rem; }
#answer { display: grid; grid-template-columns: 1fr 1fr; gap: 1rem 2rem; }
.options { display: flex; gap: .5rem; }
.options label { flex: 1 1 0; display: grid; place-items: center; min-height: 3rem; padding: .3rem; cursor: pointer;
  border: 2px solid var(--line); border-radius: 8px; font-weight: 600; position: relative; user-select: none; }
.options input { position: absolute; opacity: 0; inset: 0; margin: 0; cursor: pointer; }
.options label:hover { border-color: var(--side, var(--go)); }
.options label:has(:checked) { background: var(--side, var(--go)); border-color: var(--side, var(--go));
  color: var(--card); }
.options label:has(:focus-visible) { outline: 3px solid var(--ink); outline-offset: 2px; }
.ends { display: flex; justify-content: space-between; color: var(--soft); font-size: .85rem; margin-top: .2rem; }
.wide { grid-column: 1 / -1; }
textarea { width: 100%; font: inherit; padding: .5rem .6rem; color: inherit; background: var(--card);
  border: 1px solid var(--line); border-radius: 8px; resize: vertical; }
#practice .moves { margin-top: 1rem; }
.moves { display: flex; gap: .75rem; align-items: center; flex-wrap: wrap; }
button { font: inherit; font-weight: 600; padding: .6rem 1.3rem; border-radius: 8px; border: 1px solid var(--line);
  background: var(--card); color: inherit; cursor: pointer; }
button:disabled { opacity: .45; cursor: default; }
button.main { background: var(--go); border-color: var(--go); color: var(--on-go); }
button:focus-visible, summary:focus-visible, textarea:focus-visible { outline: 3px solid var(--ink);
  outline-offset: 2px; }
#hint { color: var(--b); font-weight: 600; margin: 0; }
details { margin-top: 1rem; } #more { margin-top: 0; } summary { cursor: pointer; color: var(--soft); }
#map { list-style: none; display: flex; flex-wrap: wrap; gap: .35rem; padding: 0; margin: .6rem 0; }
#map button { padding: .15rem 0; width: 2.4rem; font-weight: 500; font-variant-numeric: tabular-nums; }
#map .done { border-color: var(--go); text-decoration: underline; text-decoration-thickness: 3px;
  text-decoration-color: var(--go); text-underline-offset: .25em; }
#map [aria-current] { background: var(--ink); color: var(--card); }
kbd { font: .85em ui-monospace, Menlo, Consolas, monospace; border: 1px solid var(--line); border-bottom-width: 2px;
  border-radius: 4px; padding: .05rem .35rem; background: var(--card); color: var(--ink); }
.keys { color: var(--soft); font-size: .9rem; max-width: none; }
.warning { background: var(--warn); border-left: 4px solid var(--warnline); padding: .6rem .9rem; }
@media (max-width: 44rem) { .authors, #answer { grid-template-columns: 1fr; } main { padding: .75rem .8rem 3rem; }
  .moves .main { flex: 1; } .pointer-only { display: none; } #answer { padding: .5rem .75rem; gap: .35rem; }
  #answer .options label { min-height: 2.2rem; } #answer legend { margin-bottom: .1rem; font-size: .92rem; }
  .candidate { max-height: 26vh; padding: .6rem .8rem; } }
"""

INSTRUCTIONS = """
<p>Every item shows a few excerpts by two authors, and one further text, the candidate. Your task is to say which of the
two authors the candidate sounds more like.</p>
<ol>
<li>Read the candidate. It starts and ends in the middle of a text, and stays in sight.</li>
<li>Read the excerpts by Author A, then those by Author B.</li>
<li>Choose the author whose <strong>style of writing</strong> the candidate matches better: choice of words, sentences,
punctuation, spelling, tone. You have to choose one; a guess is fine.</li>
<li>Say how sure you are, from 1 (a guess) to 5 (certain).</li>
</ol>
<p>We do not ask which text is better, more fluent, true or genuine. Try not to go by the subject: people write about
many things. Decide on your own, without searching for the texts.</p>
<p>Your answers stay in this browser until you save them to a file at the end. You may close the page and come back, and
change answers at any time. Please do not copy the texts or pass them on: they may come from real people.</p>
"""

TIMED = """
<p id="timed">This page counts how many seconds each item is in sight, and saves that with your answers. It records no
clock time, and nothing else about you or your device.</p>
"""

CHECKED = """
<p id="checked">{count} of the items {check} whether you are still with us: there the candidate is one of the excerpts,
word for word. Choose the author whose excerpt it is. These items do not count for the result; we report how many of
them every annotator solved.</p>
"""

KEYS = """
<p class="keys pointer-only">Keys: <kbd>A</kbd> <kbd>B</kbd> author · <kbd>1</kbd>–<kbd>5</kbd> how sure ·
<kbd>C</kbd> comment, <kbd>Esc</kbd> out of it · <kbd>Enter</kbd> or <kbd>N</kbd> next · <kbd>P</kbd> previous</p>
"""


# Written for this page: nobody's text, and no item.
PRACTICE = """
<div class="card" id="practice"><h3>Try one first</h3>
<p>This one does not count, and nothing of it is saved.</p>
<p><strong>Candidate</strong></p>
<blockquote>cant wait for saturday!! gonna plant tomatoes with my sister</blockquote>
<p><strong>Author A</strong></p>
<blockquote>The tomatoes came on Thursday. They were, I admit, small; the basil, however, has thrived.</blockquote>
<p><strong>Author B</strong></p>
<blockquote>missed the bus again lol!! im so done with mondays</blockquote>
<div class="moves"><button type="button" data-try="A">Author A</button>
<button type="button" data-try="B">Author B</button></div>
<p id="feedback" role="status"
data-a="A shares the subject, not the style. Small letters, lost apostrophes and rows of marks are B's."
data-b="Yes: small letters, lost apostrophes and rows of marks are B's. That A has tomatoes too does not count."></p>
</div>
"""
READING_SPEED = 200  # words per minute, of attentive reading
DECIDING = 15  # seconds per item


def expected_minutes(items: Sequence[Mapping[str, Any]]) -> int:
    """Return about how many minutes the items of a page take: reading them once, and deciding."""
    words = sum(len(text.split()) for item in items for text in (*item["a"], *item["b"], item["candidate"]))
    return max(1, math.ceil(words / READING_SPEED + len(items) * DECIDING / 60))


def annotator_page(items: pd.DataFrame, annotator: str, seed: int, times: bool = False) -> str:
    """Return the page of ``annotator`` for the table ``human_2afc_items``, under the audit's ``seed``.

    ``times``: whether the response file says how many seconds each item was in sight; the page then tells so.
    """
    shown = page_items(items, annotator, seed)
    data = {
        "format": FORMAT,
        "page": page_digest(shown, annotator),
        "annotator": annotator,
        "items": shown,
        "times": times,
    }
    # "<" may not stand in a script element's text: it could close it.
    embedded = json.dumps(data, ensure_ascii=False, sort_keys=True).replace("<", "\\u003c")
    checks = int((items["source"] == CHECK).sum())
    checked = CHECKED.format(count=checks, check="checks" if checks == 1 else "check") if checks else ""
    policy = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>Which author wrote like this?</title>
<style>{STYLE}</style>
</head>
<body>
<main id="page">
<header>
<h1>Which author wrote like this?</h1>
<div class="progress"><progress id="bar" value="0" max="1" aria-label="Items answered"></progress>
<span id="count" role="status"></span></div>
</header>
<noscript><p class="warning">This page needs JavaScript. Please allow it for this file, or open it in another
browser.</p></noscript>
<p class="warning" id="storage" role="alert" hidden>This browser does not keep your answers when the page is closed.
Please leave the page open until you have saved the response file.</p>
<p class="warning" id="unread" role="alert" hidden>Your browser did not say which answers it keeps. They are not lost.
Please load this page again; if this line comes back, close the browser and open it again.</p>
<section id="intro">
<h2 tabindex="-1">Before you start</h2>
<div class="card">{INSTRUCTIONS}{checked}{TIMED if times else ""}</div>
<p>{len(shown)} items, about {expected_minutes(shown)} minutes. Take a break whenever you like: the page waits, and
reminds you of one after every {BREAK} items.</p>
{PRACTICE}
<p><button type="button" class="main" id="start">Start</button></p>
{KEYS}
</section>
<section id="task" hidden>
<p class="warning" id="rest" role="status" data-every="{BREAK}" hidden>You have been through {BREAK} more items. A short
break keeps your judgement fresh; your answers are kept.</p>
<h2 id="place" tabindex="-1"></h2>
<article class="card candidate" tabindex="0" aria-labelledby="candidate-is"><h3 id="candidate-is">Candidate</h3>
<div id="candidate"></div></article>
<div class="authors">
<article class="card author side-a"><h3><span class="letter" aria-hidden="true">A</span>Author A</h3>
<div id="a"></div></article>
<article class="card author side-b"><h3><span class="letter" aria-hidden="true">B</span>Author B</h3>
<div id="b"></div></article>
</div>
<form id="answer" class="card" autocomplete="off">
<fieldset><legend>Whose style does the candidate match better?</legend>
<div class="options">
<label class="side-a"><input type="radio" name="choice" value="A">Author A</label>
<label class="side-b"><input type="radio" name="choice" value="B">Author B</label>
</div></fieldset>
<fieldset><legend>How sure are you?</legend>
<div class="options">{_confidence_options()}</div>
<div class="ends"><span>a guess</span><span>certain</span></div></fieldset>
<details id="more" class="wide"><summary>Comment (optional)</summary>
<textarea id="comment" rows="2" maxlength="2000" aria-label="Comment"></textarea></details>
<div class="moves wide"><button type="button" id="back">Previous</button>
<button type="submit" class="main" id="next">Next</button><p id="hint" role="alert"></p></div>
</form>
{KEYS}
</section>
<section id="end" hidden>
<h2 tabindex="-1">All items are answered</h2>
<div class="card"><p>Thank you. Save your answers to a file and hand it to the person who gave you this page.</p>
<div class="moves"><button type="button" class="main" id="save">Save the response file</button>
<button type="button" id="review">Look at the answers again</button></div>
<p id="saved" role="status"></p></div>
</section>
<details><summary>All items</summary><ol id="map"></ol></details>
<details id="again"><summary>Instructions</summary>{INSTRUCTIONS}</details>
</main>
<script type="application/json" id="data">{embedded}</script>
<script>{STORAGE}{SCRIPT}</script>
</body>
</html>
"""


def _confidence_options() -> str:
    return "".join(
        f'<label><input type="radio" name="confidence" value="{value}">{value}</label>' for value in CONFIDENCES
    )
