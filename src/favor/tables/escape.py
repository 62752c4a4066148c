"""Plain Unicode text as LaTeX that any pdfLaTeX sets, whatever characters it holds, and back."""

import re
import unicodedata

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    # The text dollar comes from a bitmap font that Debian's small TeX must first make; the mathematical one is at hand.
    "$": r"$\mathdollar$",
    "&": r"\&",
    "%": r"\%",
    "#": r"\#",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': "''",
    "-": "-",
    "†": r"$^{\dagger}$",
    "‡": r"$^{\ddagger}$",
    "±": r"$\pm$",
    "→": r"$\rightarrow$",
    "←": r"$\leftarrow$",
    "↑": r"$\uparrow$",
    "↓": r"$\downarrow$",
    "×": r"$\times$",
    "·": r"$\cdot$",
    "∗": r"$\ast$",
    "≥": r"$\geq$",
    "≤": r"$\leq$",
    "−": "$-$",
    "Δ": r"$\Delta$",
    "δ": r"$\delta$",
    "ε": r"$\varepsilon$",
    "κ": r"$\kappa$",
    "ω": r"$\omega$",
    "α": r"$\alpha$",
    "λ": r"$\lambda$",
    "ρ": r"$\rho$",
    "τ": r"$\tau$",
    "²": "$^2$",
    "⁴": "$^4$",
    "⁻": "$^-$",
    "✓": r"$\checkmark$",
    "✗": r"$\times$",
    "▼": r"$\blacktriangledown$",
    "–": "--",
    "—": "---",
    "‘": "`",
    "’": "'",
    "“": "``",
    "”": "''",
    "…": r"\ldots{}",
    "ß": r"\ss{}",
    "æ": r"\ae{}",
    "Æ": r"\AE{}",
    "œ": r"\oe{}",
    "Œ": r"\OE{}",
    "ø": r"\o{}",
    "Ø": r"\O{}",
    "ł": r"\l{}",
    "Ł": r"\L{}",
    "ı": r"\i{}",
    "\u00a0": "~",
    "\n": " ",
    "\t": " ",
}
# Combining marks of decomposed letters; every command here exists in the plain OT1 encoding.
_ACCENTS = {
    "\u0300": "`",
    "\u0301": "'",
    "\u0302": "^",
    "\u0303": "~",
    "\u0304": "=",
    "\u0306": "u",
    "\u0307": ".",
    "\u0308": '"',
    "\u030a": "r",
    "\u030b": "H",
    "\u030c": "v",
    "\u0327": "c",
    "\u0323": "d",
    "\u0331": "b",
}


def latex(text: str) -> str:
    """Return ``text`` as LaTeX source that prints it and does nothing else.

    Letters with accents are composed; a character that the standard fonts lack prints as its code point (U+4E2D)
    rather than stopping the document.
    """
    return "".join(_latex_character(character) for character in unicodedata.normalize("NFC", text))


def _latex_character(character: str) -> str:
    if character in _SPECIAL:
        return _SPECIAL[character]
    if " " <= character <= "~":
        return character
    parts = unicodedata.normalize("NFD", character)
    if len(parts) == 2 and parts[0].isascii() and parts[1] in _ACCENTS:
        base = {"i": r"\i", "j": r"\j"}.get(parts[0], parts[0])
        return rf"\{_ACCENTS[parts[1]]}{{{base}}}"
    return rf"\texttt{{U+{ord(character):04X}}}"


# Commands that stand for one character, as `latex` writes them.
_COMMANDS = {
    command.removesuffix("{}"): character
    for character, command in _SPECIAL.items()
    if re.fullmatch(r"\\[A-Za-z]+\{\}", command)
}
_FORMULAS = {command: character for character, command in _SPECIAL.items() if command.startswith("$")}
_MARKS = {command: mark for mark, command in _ACCENTS.items()}
_COMMAND = re.compile("|".join(rf"{re.escape(command)}(?![A-Za-z])(?:\{{\}}|\s)?" for command in _COMMANDS))
_ACCENT = re.compile(r"""\\(?:([`'^~=."])|([urHvcdb])(?=[\s{\\]))\s*(?:\{\\?([A-Za-z])\}|\\?([A-Za-z]))""")
_CODE_POINT = re.compile(r"\\texttt\{U\+([0-9A-F]{4,6})\}")


def unlatex(source: str) -> str:
    """Return LaTeX source with characters in the place of accents, of commands for one character and of code points."""
    text = _CODE_POINT.sub(lambda found: chr(int(found[1], 16)), source)
    text = _ACCENT.sub(lambda found: (found[3] or found[4]) + _MARKS[found[1] or found[2]], text)
    text = _COMMAND.sub(lambda found: _COMMANDS[found[0].rstrip("{} \n\t")], text)
    for command, character in _FORMULAS.items():
        text = text.replace(command, character)
    return unicodedata.normalize("NFC", text)


def minus(text: str) -> str:
    """Return ``text`` with a minus sign before numbers where it has a hyphen; names keep theirs."""
    return re.sub(r"(?<![\w.])-(?=[\d.])", "−", text)
