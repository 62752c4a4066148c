"""The annotator's page of the human audit: one HTML file that works offline, in any current browser.

It holds what :func:`favor.studies.human_audit.responses.page_items` shows and nothing else: no source, author, client
or key stands in it, not even in its source. It quotes texts: it is for the annotators, not for publication.
"""

import json
import math
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
from markupsafe import Markup

from favor.foundation.html import content_policy, render
from favor.studies.human_audit.items import CHECK
from favor.studies.human_audit.responses import CONFIDENCES, FORMAT, Shown, page_digest, page_items

BREAK = 20  # items until the page reminds of a break
READING_SPEED = 200  # words per minute, of attentive reading
DECIDING = 15  # seconds per item


def expected_minutes(items: Sequence[Shown]) -> int:
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
    folder = Path(__file__).parent / "templates"
    script = "".join((folder / name).read_text(encoding="utf-8") for name in ("storage.js", "page.js"))
    return render(
        folder,
        "page.html",
        policy=content_policy(script),
        script=Markup(script),
        # "<" may not stand in a script element's text: it could close it.
        embedded=Markup(json.dumps(data, ensure_ascii=False, sort_keys=True).replace("<", "\\u003c")),
        checks=int((items["source"] == CHECK).sum()),
        times=times,
        items=len(shown),
        minutes=expected_minutes(shown),
        pause=BREAK,
        confidences=CONFIDENCES,
    )
