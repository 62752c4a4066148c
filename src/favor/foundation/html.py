"""HTML from Jinja2 templates. What is filled in is escaped, unless it is HTML already; a missing value is an error."""

import html
import re
from base64 import b64encode
from functools import cache
from hashlib import sha256
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup


def html_text(text: str) -> Markup:
    """Return ``text`` as HTML content or attribute value; control characters print as their code point."""
    visible = "".join(
        character if character.isprintable() or character in "\n\t" else f"U+{ord(character):04X}" for character in text
    )
    return Markup(html.escape(visible, quote=True))


def opening(text: str, words: int = 40) -> tuple[str, str]:
    """Return the first sentences of a text, in fewer than ``words``, and the rest; the first sentence is never cut."""
    first, *sentences = re.split(r"(?<=[.!?]) (?=[A-Z0-9])", text)
    while sentences and len(f"{first} {sentences[0]}".split()) < words:
        first = f"{first} {sentences.pop(0)}"
    return first, " ".join(sentences)


def folded(text: str, words: int = 40) -> Markup:
    """Return a caption of which :func:`opening` is shown and the rest is behind a click."""
    first, rest = opening(text, words)
    more = Markup(" <details><summary>More</summary>{}</details>").format(html_text(rest))
    return html_text(first) + (more if rest else "")


def content_policy(script: str, more: str = "") -> Markup:
    """Return a page's Content-Security-Policy: this ``script`` alone runs, and nothing is loaded from elsewhere.

    Styles are inline, images lie in the page or beside it. ``more``: further directives, each with its semicolon.
    """
    allowed = f"'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'" if script else "'none'"
    return Markup(
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; "
        f"img-src 'self' data:; {more}base-uri 'none'; form-action 'none'"
    )


def render(folder: Path, name: str, /, **values: object) -> Markup:
    """Return the template ``name`` of ``folder``, filled in. ``file("page.css")`` in it is another file as it stands.

    Call it with ``Path(__file__).parent / "..."``: fingerprints of code then hold every file of that folder.
    """
    return Markup(_templates(folder).get_template(name).render(values))


def _shown(value: object) -> Markup:
    return value if isinstance(value, Markup) else html_text(str(value))


@cache
def _templates(folder: Path) -> Environment:
    templates = Environment(
        loader=FileSystemLoader(folder),
        autoescape=True,
        finalize=_shown,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.globals["file"] = lambda name: Markup((folder / name).read_text(encoding="utf-8"))
    templates.globals.update(folded=folded, opening=opening)
    return templates
