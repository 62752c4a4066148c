"""One Python file as definitions: the text that can change a result, and the names each definition uses.

A definition is what a top-level statement binds: a function, a class, a constant. Its text is the syntax tree without
what no result depends on: docstrings, comments, annotations, the words of errors and messages, the names of local
variables and of private helpers, and the units and meanings of declared columns, which are kept apart for the code that
prints them. The keys of a section of the configuration are kept apart too, since a job is handed their values.
"""

import re
from dataclasses import dataclass, field
from functools import cached_property

from favor.running.invalidation.syntax import Name

PACKAGE = "favor"
SCRIPT = "script"  # a script is known as "script NAME"


@dataclass(frozen=True)
class Import:
    """What an import binds: a module, or ``name`` of it."""

    module: str
    name: str = ""


@dataclass
class Key:
    """A key of a section: the text of its ``default``, and the dotted ``names`` of its type and default.

    ``default`` is None for a field that is always given.
    """

    default: str | None
    names: set[Name]


@dataclass
class Definition:
    """One definition: its ``text``; dotted ``names`` it looks up outside itself; imports made inside it.

    ``declared`` are the names of them that only say a type: bases, the types of fields, the settings that a script is
    handed (``handed``). ``bases`` are those of a class, ``keys`` those that a section declares itself,
    ``keys_alone``: whether it is a class of bases and keys and nothing else. ``unnamed``: whether it may read keys that
    its text does not name.

    ``imported`` are the modules that these imports may run, ``loaded`` those that it loads by a literal name.
    ``described`` holds the texts of the units and of the meanings of the columns that it declares; ``describes`` says
    which of the two it reads of columns. ``labels`` are what private names of the module are written as. ``data``:
    whether it looks for files beside the module, which ``literals`` may name. ``unfollowed`` are ways to find code that
    the text does not name.
    """

    text: str = ""
    names: set[Name] = field(default_factory=set)
    declared: set[Name] = field(default_factory=set)
    handed: set[Name] = field(default_factory=set)
    bases: list[Name] = field(default_factory=list)
    keys: dict[str, Key] = field(default_factory=dict)
    keys_alone: bool = False
    unnamed: bool = False
    imports: dict[str, list[Import]] = field(default_factory=dict)
    imported: set[str] = field(default_factory=set)
    loaded: set[str] = field(default_factory=set)
    described: dict[str, list[str]] = field(default_factory=dict)
    describes: set[str] = field(default_factory=set)
    labels: dict[str, str] = field(default_factory=dict)
    data: bool = False
    literals: set[str] = field(default_factory=set)
    unfollowed: set[str] = field(default_factory=set)

    @cached_property
    def said(self) -> frozenset[str]:
        """The words of its text: a key that it reads is among them."""
        return frozenset(re.findall(r"[^\W\d]\w*", self.text))


@dataclass
class Module:
    """One file: what each of its ``definitions`` says, what it imports, and "", what importing it does."""

    name: str
    definitions: dict[str, Definition]
    imports: dict[str, list[Import]]
    imported: set[str]
    stars: set[str]

    @cached_property
    def bound(self) -> frozenset[str]:
        """The names that the file binds."""
        return frozenset(self.definitions) - {""}
