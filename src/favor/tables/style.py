"""The page that every HTML file of the workflow is: one style sheet, light and dark, for print and narrow screens."""

from pathlib import Path

from markupsafe import Markup

from favor.foundation.html import render


def page(title: str, body: Markup, script: str = "", style: str = "") -> str:
    """Return a whole HTML document around ``body``; nothing is loaded from anywhere.

    ``script`` runs at its end, ``style`` is added to the style sheet. ``demo``: the numbers are a demo's.
    """
    own = {"script": Markup(script), "style": Markup(style)}
    return render(Path(__file__).parent / "templates", "page.html", title=title, body=body, **own) + "\n"
