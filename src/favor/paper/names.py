"""Names as the paper prints them: methods, controls, encoder roles. A key unknown here prints as itself.

Everything is plain Unicode ("FedDPA†"); the LaTeX and HTML writers translate.
"""

from collections.abc import Mapping

from favor.federation.method_names import PAPER

# The paper's methods in its order.
METHODS = tuple(PAPER)

# Adapted projections, attention first.
MODULES = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")

# Stands between the leading cells of a row where they are one text.
SEPARATOR = " · "

# References of every metric: the authors' own continuations, and those continuations dealt to other authors. They
# bound nothing: a method may score above the first, or below the second.
CONTROLS: dict[str, str] = {
    "gold": "Reference: own continuations",
    "shuffled": "Reference: shuffled authors",
}

ENCODERS: dict[str, str] = {
    "style": "ASCE",
    "independent": "ASCE-B",
    "styledistance": "StyleDistance",
    "minilm": "MiniLM",
    "stylometry": "Stylometry",
    "lambdag": "LambdaG",
    "roberta": "RoBERTa",
    "luar": "LUAR-MUD",
    "star": "STAR",
    "asce_a": "ASCE-A",
    "asce_b": "ASCE-B",
    "unseen": "Unseen encoders",
}


def method_name(key: str, display: Mapping[str, str] | None = None) -> str:
    """Return the printed name of method or control ``key``; ``display`` (from the configuration) goes first."""
    if display and key in display:
        return display[key]
    if key in CONTROLS:
        return CONTROLS[key]
    method = PAPER.get(key)
    return key if method is None else f"{method.title}{method.note[:1]}"


def short_method_name(key: str) -> str:
    """Return the name of method ``key`` in a table of comparisons, which needs no note."""
    method = PAPER.get(key)
    return key if method is None else method.short or method.title


def method_notes() -> list[str]:
    """Return the notes that belong below a table whose rows show the first character of one."""
    return [method.note for method in PAPER.values() if method.note]


def unmarked(name: str) -> str:
    """Return a printed name without the mark of a note, as the paper's own values are looked up."""
    return name.translate({ord(note[0]): None for note in method_notes()})


def released_methods() -> dict[str, str]:
    """Return the paper's methods that its public release has a place for, with the names it gives them."""
    return {key: method.released for key, method in PAPER.items() if method.released}


def encoder_name(role: str) -> str:
    """Return the printed name of an encoder role or key."""
    return ENCODERS.get(role, role)
