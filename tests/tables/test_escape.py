"""User text in LaTeX and HTML prints itself and does nothing."""

import html
import re

from favor.foundation.html import html_text
from favor.foundation.registry import TABLES
from favor.tables.escape import latex
from favor.tables.specs import load_spec


def test_latex() -> None:
    assert latex(r"a\b{c}$d$ & 5% #1 _x^y~z") == (
        r"a\textbackslash{}b\{c\}$\mathdollar$d$\mathdollar$ \& 5\% \#1 \_x\textasciicircum{}y\textasciitilde{}z"
    )
    # Decomposed or composed, a letter has one source; what the fonts lack prints as its code point.
    assert latex("cafe\u0301 ñ FedDPA† 中") == r"caf\'{e} \~{n} FedDPA$^{\dagger}$ \texttt{U+4E2D}"


def test_latex_output_is_ascii(hostile) -> None:
    everything = "".join(map(chr, range(1, 0x2FFF))) + hostile
    assert latex(everything).isascii()


def test_latex_sets_every_character_of_the_tables_themselves() -> None:
    for label in TABLES.names():
        spec = load_spec(label)
        columns = [column.header for panel in spec.panels for column in panel.columns]
        assert r"\texttt{U+" not in latex("".join([spec.title, spec.caption, *columns])), label


def test_html(hostile) -> None:
    escaped = html_text(hostile)
    assert "<" not in escaped
    assert html.unescape(escaped) == hostile
    assert html_text("a\x00b\u202ec") == "aU+0000bU+202Ec"
    assert re.fullmatch(r"[^<>\"']*", html_text("""<>"'"""))
