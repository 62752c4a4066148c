"""Fingerprints of code, so that the workflow reruns what an edit can change, and nothing else.

Snakemake tracks neither imported modules nor data read by them. Every rule therefore carries a fingerprint of the
definitions that its script can reach: from the script along names to functions, classes and constants, through imports
and module attributes. What cannot be told from the text (a module passed on as a value, ``import *``) counts with its
whole module. Modules that are loaded by name at run time (a metric family, a table specification) are named by the
rule that loads them, as "module" or, where the loader reads one name of it, "module:name".
"""

import ast
import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from favor.foundation.errors import UserError
from favor.running.invalidation.definitions import PACKAGE, SCRIPT, Definition, Import, Key, Module
from favor.running.invalidation.reader import read_module
from favor.running.invalidation.source_index import modules_below
from favor.running.invalidation.statements import EXEMPT, KEYS
from favor.running.invalidation.syntax import Name

# Definitions whose files beside the module are inputs of the jobs that read them.
HANDED_OVER = {"favor.paper.values.FOLDER"}
# What forked jobs find loaded: part of every job's code.
PRELOADED = f"{PACKAGE}.running.jobs.preloaded:LIBRARIES"
_WHOLE = "*"
_IMPORTED = ""

# A definition, by module and name; _WHOLE is every definition of the module, _IMPORTED what importing it does.
Node = tuple[str, str]
# How a definition uses another: the name it is written as ("" for what importing a module does), and the other.
Use = tuple[str, Node]
# Two definitions that read alike differ by what their names mean; so many steps of that are looked at.
_STEPS = 3


@dataclass(frozen=True, eq=False)
class Reach:
    """What a script and the modules that it loads by name can reach.

    ``nodes`` are the definitions, ``describes`` which descriptions of columns are read among them. ``said`` are their
    words: a key of the configuration that none of them says is read by none; None where they may read any. ``valued``
    are the sections that they may make themselves, with defaults for keys that they do not give.
    """

    nodes: frozenset[Node]
    describes: frozenset[str]
    said: frozenset[str] | None
    valued: frozenset[Node]

    def says(self, key: str) -> bool:
        """Whether a key of the configuration may be read."""
        return self.said is None or key in self.said


class SourceCode:
    """The first-party code under ``root``, as it was when each file was first looked at.

    ``root`` is the folder that holds the package, ``modules`` are those that were read before. ``taken`` says what each
    fingerprint was taken of: the script, and the modules that it loads by name.
    """

    def __init__(self, root: Path, modules: Mapping[str, Module] | None = None) -> None:
        self.taken: dict[str, tuple[Path, tuple[str, ...]]] = {}
        self.root = root
        self._modules: dict[str, Module | None] = {
            name: module for name, module in (modules or {}).items() if name not in EXEMPT
        }
        self._uses_of: dict[Node, frozenset[Use]] = {}
        self._digests: dict[tuple[Node, int, frozenset[str]], str] = {}
        self._reaches: dict[tuple[Path, tuple[str, ...]], Reach] = {}

    def replaced(self, module: str, path: Path) -> "SourceCode":
        """Return the same code with the file at ``path`` in the place of ``module``."""
        other = SourceCode(self.root)
        other._modules = {**self._modules, module: read_module(module, path)}
        return other

    def fingerprint(self, script: Path, modules: Sequence[str] = ()) -> str:
        """Return 16 hexadecimal digits that change when a definition that ``script`` can reach does.

        A definition that moves to another module unchanged is the same one. Raises as :meth:`reached`.
        """
        reach = self.reach(script, modules)
        digests = {self._digest(node, _STEPS, reach.describes) for node in self._telling(reach)}
        found = digest(*sorted(digests | {digest(*key) for _, *key in self._defaults(reach)}))
        self.taken[found] = (script, tuple(modules))
        return found

    def reached(self, script: Path, modules: Sequence[str] = ()) -> dict[str, str]:
        """Return the digest of every definition that ``script`` and the named ``modules`` can reach, by dotted name.

        Raises ``UserError`` for a module that does not exist, a relative import, or broken syntax.
        """
        reach = self.reach(script, modules)
        found = {_title(node): self._digest(node, 0, reach.describes) for node in self._telling(reach)}
        return found | {f"{_title(node)}.{key}": digest(key, default) for node, key, default in self._defaults(reach)}

    def reach(self, script: Path, modules: Sequence[str] = ()) -> Reach:
        """Return (module, name) of every definition that can be reached, and what they read.

        The name "" is the module's import. Raises as :meth:`reached`.
        """
        key = (script, tuple(modules))
        if key not in self._reaches:
            own = f"{SCRIPT} {script.stem}"
            if own not in self._modules:
                self._modules[own] = read_module(own, script)
            self._reaches[key] = self._walk([(own, _IMPORTED), *map(self._entry, modules)])
        return self._reaches[key]

    def _walk(self, waiting: list[Node]) -> Reach:
        found: set[Node] = set()
        said: set[str] = set()
        unread: dict[str, list[tuple[Node, Key]]] = {}  # keys that nothing has said so far
        unnamed = False
        while waiting:
            node = waiting.pop()
            if node not in found:
                found.add(node)
                waiting += (target for _, target in self._uses(node))
                if node[1] != _WHOLE:
                    definition = self._definition(node)
                    unnamed |= definition.unnamed or (definition.data and any(self._data(node[0], definition.literals)))
                    said |= definition.said
                    for name, one in definition.keys.items():
                        unread.setdefault(name, []).append((node, one))
            if not waiting:
                for name in list(unread) if unnamed else unread.keys() & said:
                    for owner, one in unread.pop(name):
                        waiting += (target for path in one.names for target in self._targets(owner, path))
        described = frozenset().union(*(self._definition(node).describes for node in found if node[1] != _WHOLE))
        return Reach(frozenset(found), described, None if unnamed else frozenset(said), self._valued(found))

    def _valued(self, found: Iterable[Node]) -> frozenset[Node]:
        """The definitions that are named as more than a type, and the types that they are made of."""
        valued: set[Node] = set()
        waiting = [
            target
            for node in found
            if node[1] != _WHOLE
            for path in self._definition(node).names - self._definition(node).declared
            for target in self._targets(node, path)
        ]
        while waiting:
            node = waiting.pop()
            if node not in valued and node[1] not in (_WHOLE, _IMPORTED):
                valued.add(node)
                definition = self._definition(node)
                for names in (definition.declared, *(key.names for key in definition.keys.values())):
                    waiting += (target for path in names for target in self._targets(node, path))
        return frozenset(valued)

    def _telling(self, reach: Reach) -> list[Node]:
        """The definitions that say something. Raises ``UserError`` where one cannot be followed."""
        nodes = sorted(node for node in reach.nodes if node[1] != _WHOLE and self._definition(node).text)
        for node in nodes:
            for way in sorted(self._definition(node).unfollowed):
                raise UserError(
                    f"{_title(node)}: '{way}' finds code that no fingerprint can follow, so that a change of it would "
                    "rerun nothing; import what you need by its name, or let a registry find the file "
                    "(docs/extending.md)"
                )
        return [node for node in nodes if not all(name in KEYS for name, _ in self._inherited(node) or [("", "")])]

    def _defaults(self, reach: Reach) -> Iterator[tuple[Node, str, str]]:
        """Sections that code makes itself, each with a key that is read and its default."""
        for node in sorted(reach.valued & reach.nodes):
            for name, (default, _) in sorted(self._keys(node).items()):
                if default is not None and reach.says(name):
                    yield node, name, default

    def settings(self, fingerprint: str, cfg: Mapping[str, object]) -> Mapping[str, object]:
        """Return the parameter ``cfg`` of a job without the keys at their default that its code does not read.

        A key is read where the code says its name, whatever it says it of.
        """
        script, modules = self.taken[fingerprint]
        own = self._known(f"{SCRIPT} {script.stem}")
        handed = {path for definition in own.definitions.values() for path in definition.handed}
        kinds = [kind for path in handed for kind in self._looked_up(own, path)]
        return self._read(kinds[0], cfg, self.reach(script, modules).says) if len(kinds) == 1 else cfg

    def _read(self, kind: Node, cfg: Mapping[str, object], says: Callable[[str], bool]) -> dict[str, object]:
        keys, found = self._keys(kind), {}
        for name, value in cfg.items():
            default, inner = keys.get(name, (None, []))
            if isinstance(value, dict) and len(inner) == 1:
                value = self._read(inner[0], value, says if says(name) else lambda _: False)
                at_default = default is not None and value == {}
            else:
                at_default = default is not None and _literal(default) == value
            if says(name) or not at_default:
                found[name] = value
        return found

    def _keys(self, kind: Node) -> dict[str, tuple[str | None, list[Node]]]:
        """The keys of a section and of its bases: their defaults and the sections that they hold."""
        found: dict[str, tuple[str | None, list[Node]]] = {}
        definition = self._definition(kind)
        for path in reversed(definition.bases):
            for base in self._classes(kind, path):
                found |= self._keys(base)
        for name, key in definition.keys.items():
            found[name] = key.default, [each for path in sorted(key.names) for each in self._classes(kind, path)]
        return found

    def _inherited(self, node: Node) -> list[Node]:
        """What a section of keys alone inherits that holds more than keys; nothing for any other definition.

        How keys are spread over such classes changes nothing. Where two of them declare one key, their order does.
        """
        found, keys, waiting = dict[Node, None](), list[str](), [node]
        while waiting:
            one = waiting.pop(0)
            definition = self._definition(one)
            if not definition.keys_alone:
                found[one] = None
                continue
            keys += definition.keys
            bases = [self._classes(one, path) for path in definition.bases]
            if [len(each) for each in bases] != [1] * len(bases):
                return []
            waiting = [each for (each,) in bases] + waiting
        return list(found) if len(keys) == len(set(keys)) and node not in found else []

    def _classes(self, node: Node, path: Name) -> list[Node]:
        targets = {target for target in self._targets(node, path) if target[1] not in (_WHOLE, _IMPORTED)}
        return sorted(target for target in targets if self._definition(target).text.startswith("ClassDef("))

    def _entry(self, entry: str) -> Node:
        name, _, attribute = entry.partition(":")
        module = self._module(name)
        if module is None:
            raise UserError(f"no module '{name}' under {self.root}; check the name or add the file")
        # What lacks the name is refused by the job that asks for it.
        return next(self._resolved(name, (attribute,) if attribute else ()))

    def _module(self, name: str) -> Module | None:
        if name not in self._modules:
            base = self.root.joinpath(*name.split("."))
            candidates = [base.with_suffix(".py"), base / "__init__.py"] if name.split(".")[0] == PACKAGE else []
            path = next((path for path in candidates if path.is_file()), None)
            self._modules[name] = None if path is None or name in EXEMPT else read_module(name, path)
        return self._modules[name]

    def _known(self, name: str) -> Module:
        module = self._module(name)
        assert module is not None
        return module

    def _definition(self, node: Node) -> Definition:
        return self._known(node[0]).definitions[node[1]]

    def _digest(self, node: Node, steps: int, describes: frozenset[str]) -> str:
        """A digest of a definition, of what the definitions it names say, and so on for ``steps`` steps."""
        key = (node, steps, describes)
        if key not in self._digests:
            if inherited := self._inherited(node) if node[1] != _WHOLE else []:
                self._digests[key] = digest(*(self._digest(base, max(steps - 1, 0), describes) for base in inherited))
            elif steps:
                labels = self._definition(node).labels if node[1] != _WHOLE else {}
                means = {
                    f"{_labelled(name, labels)}={self._digest(target, steps - 1, describes)}"
                    for name, target in self._uses(node)
                    if name
                }
                self._digests[key] = digest(self._digest(node, 0, describes), *sorted(means))
            else:
                self._digests[key] = digest(*self._said(node, describes)) if node[1] != _WHOLE else ""
        return self._digests[key]

    def _said(self, node: Node, describes: frozenset[str]) -> Iterator[str]:
        definition, imports = self._definition(node), self._known(node[0]).imports
        yield definition.text
        # Which library a name is imported from is part of what the definition does.
        for root in sorted({path[0] for path in definition.names}):
            for target in imports.get(root, ()):
                if target.module.split(".")[0] != PACKAGE:
                    yield f"{root}={target.module}.{target.name}"
        for kind in sorted(describes & definition.described.keys()):
            yield f"{kind}={definition.described[kind]}"
        if definition.data and _title(node) not in HANDED_OVER:
            yield from self._data(node[0], definition.literals)

    def _data(self, name: str, literals: set[str]) -> Iterator[str]:
        """The files beside a module that its texts name, or that a folder of that name holds.

        Where they name none, a name is made up at run time: every file beside the module counts.
        """
        folder = self.root.joinpath(*name.split(".")).parent
        named = [folder / each for each in sorted(literals) if each.strip("./") and "\0" not in each]
        found = [path for path in named if path.exists() and path.suffix != ".py"] or [*folder.iterdir()]
        for path in found:
            for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
                if file.is_file() and file.suffix != ".py" and file.parent.name != "__pycache__":
                    yield f"{file.relative_to(folder)}={hashlib.sha256(file.read_bytes()).hexdigest()}"

    def _uses(self, node: Node) -> frozenset[Use]:
        if node not in self._uses_of:
            self._uses_of[node] = frozenset(self._find_uses(node))
        return self._uses_of[node]

    def _find_uses(self, node: Node) -> Iterator[Use]:
        name, part = node
        module = self._known(name)
        yield from (("", ran) for ran in self._run_by_importing(name))
        if part == _WHOLE:
            yield from ((_WHOLE, (name, defined)) for defined in module.bound)
            return
        definition = module.definitions[part]
        for imported in definition.imported | (module.imported if part == _IMPORTED else set()):
            yield from (("", ran) for ran in self._run_by_importing(imported))
        for whole in definition.loaded | module.stars:
            yield from ((_WHOLE, target) for target in self._resolved(whole, ()))
        for path in definition.names:
            yield from ((".".join(path), target) for target in self._targets(node, path))

    def _targets(self, node: Node, path: Name) -> Iterator[Node]:
        """What a dotted name means in a definition: what it imports itself, or the module binds."""
        for bound in self._definition(node).imports.get(path[0], ()):
            yield from self._followed(bound, path)
        yield from self._looked_up(self._known(node[0]), path)

    def _run_by_importing(self, name: str) -> Iterator[Node]:
        """Importing a.b.c runs a and a.b too."""
        parts = name.split(".")
        for end in range(1, len(parts) + 1):
            ancestor = ".".join(parts[:end])
            if self._module(ancestor) is not None:
                yield ancestor, _IMPORTED

    def _looked_up(self, module: Module, path: Name) -> Iterator[Node]:
        """What a dotted name means in a module: its own definition, or what an import binds; nothing for a builtin."""
        if path[0] in module.bound:
            yield module.name, path[0]
        for target in module.imports.get(path[0], ()):
            yield from self._followed(target, path)

    def _followed(self, target: Import, path: Name) -> Iterator[Node]:
        if target.name:
            yield from self._resolved(target.module, (target.name, *path[1:]))
        else:
            # "import favor.lm.stack" binds favor; "import favor.lm.stack as s" binds the module itself.
            plain = path[0] == target.module.split(".")[0]
            yield from self._resolved(path[0] if plain else target.module, path[1:])

    def _resolved(self, name: str, attributes: Name) -> Iterator[Node]:
        """The definitions behind ``attributes`` of module ``name``; the whole module where none can be told."""
        module = self._module(name)
        if module is None:
            return
        first = attributes[0] if attributes else ""
        if first in module.bound or first in module.imports:
            yield from self._looked_up(module, attributes)
        elif first and self._module(f"{name}.{first}") is not None:
            yield from self._resolved(f"{name}.{first}", attributes[1:])
        else:
            yield name, _IMPORTED if first in ("__path__", "__name__") else _WHOLE


def _literal(text: str) -> Any:
    """The value that a text of code writes out, as JSON; the code itself where it is computed."""
    try:
        return json.loads(json.dumps(ast.literal_eval(text)))
    except (TypeError, ValueError):
        return ast


def _labelled(name: str, labels: Mapping[str, str]) -> str:
    """What a dotted name is written as, where its first part is private to the module."""
    first, dot, rest = name.partition(".")
    return f"{labels.get(first, first)}{dot}{rest}"


def digest(*parts: str) -> str:
    """Return 16 hexadecimal digits that stand for ``parts``."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


def _title(node: Node) -> str:
    if node[1]:
        return ".".join(node)
    return node[0] if node[0].startswith(SCRIPT) else f"{node[0]} (on import)"


@cache
def source_code(root: Path) -> SourceCode:
    """Return the code under ``root``; a file is read again where it has changed."""
    return SourceCode(root, modules_below(root))


def fingerprint(script: Path, source_root: Path, modules: Sequence[str] = ()) -> str:
    """Return the fingerprint of ``script`` and of ``modules``, which it loads by name: see :class:`SourceCode`.

    ``source_root`` is the folder that holds the package. A module is "module", or "module:name" where one name of it
    is read. Raises ``UserError`` as :meth:`SourceCode.reached` does.
    """
    return source_code(source_root).fingerprint(script, modules)
