"""Fingerprints of code, so that the workflow reruns what an edit can change, and nothing else.

Snakemake tracks neither imported modules nor data read by them. Every rule therefore carries a fingerprint of the
definitions that its script can reach: from the script along names to functions, classes and constants, through imports
and module attributes. What cannot be told from the text (a module passed on as a value, ``import *``) counts with its
whole module. Modules that are loaded by name at run time (a metric family, a table specification) are named by the
rule that loads them, as "module" or, where the loader reads one name of it, "module:name".
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

from favor.foundation.errors import UserError
from favor.running.invalidation.definitions import PACKAGE, SCRIPT, Definition, Import, Module, Name
from favor.running.invalidation.source_index import modules_below

# Modules that cannot change a result, each with its reason.
EXEMPT = {
    "favor.foundation.errors": "the class of an error that ends the job",
    "favor.foundation.names": "hints in the words of errors",
    "favor.lm.checks": "refusals of a base model, which leave it as it was",
    "favor.running": "an empty package",
    **dict.fromkeys(
        (f"favor.running.{part}" for part in ("devices", "folder", "invalidation", "jobs")), "an empty package"
    ),
    "favor.running.folder.clock": "times of files, put right before any job starts",
    "favor.running.invalidation.code_check": "ends a job whose code is not what was planned",
    "favor.running.devices.leases": "which GPU a job uses, not what it computes there",
    "favor.running.jobs.environment": "variables of the processes, set before any job starts",
    "favor.running.jobs.job_log": "log and last words of a job",
    "favor.running.folder.leftovers": "what killed jobs left, removed before any job starts",
    "favor.running.folder.occupancy": "locks of the results folder",
    "favor.running.folder.output_record": "which files in the results folder are the workflow's",
    "favor.running.jobs.progress": "lines on the terminal and in the log",
    "favor.running.folder.results_folder": "what a start does in the results folder before any job",
    "favor.running.jobs.slurm_jobs": "which jobs are queued",
    "favor.running.repairs.slurm_plugin": "how jobs are sent to Slurm",
}
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

    def replaced(self, module: str, path: Path) -> SourceCode:
        """Return the same code with the file at ``path`` in the place of ``module``."""
        other = SourceCode(self.root)
        other._modules = {**self._modules, module: Module.read(module, path)}
        return other

    def fingerprint(self, script: Path, modules: Sequence[str] = ()) -> str:
        """Return 16 hexadecimal digits that change when a definition that ``script`` can reach does.

        A definition that moves to another module unchanged is the same one. Raises as :meth:`reached`.
        """
        nodes, describes = self._reached(script, modules)
        found = digest(*sorted({self._digest(node, _STEPS, describes) for node in nodes}))
        self.taken[found] = (script, tuple(modules))
        return found

    def reached(self, script: Path, modules: Sequence[str] = ()) -> dict[str, str]:
        """Return the digest of every definition that ``script`` and the named ``modules`` can reach, by dotted name.

        Raises ``UserError`` for a module that does not exist, a relative import, or broken syntax.
        """
        nodes, describes = self._reached(script, modules)
        return {_title(node): self._digest(node, 0, describes) for node in sorted(nodes)}

    def reachable(self, script: Path, modules: Sequence[str] = ()) -> set[Node]:
        """Return (module, name) of every definition that can be reached; the name "" is the module's import.

        Raises as :meth:`reached`.
        """
        own = f"{SCRIPT} {script.stem}"
        if own not in self._modules:
            self._modules[own] = Module.read(own, script)
        found: set[Node] = set()
        waiting = [(own, _IMPORTED), *map(self._entry, modules)]
        while waiting:
            node = waiting.pop()
            if node not in found:
                found.add(node)
                waiting += (target for _, target in self._uses(node))
        return found

    def _reached(self, script: Path, modules: Sequence[str]) -> tuple[list[Node], frozenset[str]]:
        """The definitions that say something, and which descriptions of columns are read among them."""
        found = self.reachable(script, modules)
        nodes = [node for node in found if node[1] != _WHOLE and self._definition(node).text]
        for node in sorted(nodes):
            for way in sorted(self._definition(node).unfollowed):
                raise UserError(
                    f"{_title(node)}: '{way}' finds code that no fingerprint can follow, so that a change of it would "
                    "rerun nothing; import what you need by its name, or let a registry find the file "
                    "(docs/extending.md)"
                )
        return nodes, frozenset().union(*(self._definition(node).describes for node in nodes))

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
            self._modules[name] = None if path is None or name in EXEMPT else Module.read(name, path)
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
            if steps:
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
        """The files beside a module that its texts name, or that a folder of that name holds."""
        folder = self.root.joinpath(*name.split(".")).parent
        for literal in sorted(literals):
            path = folder / literal
            if literal.strip("./") and "\0" not in literal and path.exists() and path.suffix != ".py":
                files = sorted(path.rglob("*")) if path.is_dir() else [path]
                for file in files:
                    if file.is_file() and file.suffix not in (".py", ".pyc"):
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
            targets = [node for bound in definition.imports.get(path[0], ()) for node in self._followed(bound, path)]
            yield from ((".".join(path), target) for target in (*targets, *self._looked_up(module, path)))

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
