"""Fingerprints of code: a job's script, the names that it imports, and the names that these use.

Snakemake tracks neither imported modules nor data read by them. A fingerprint holds the script, every top-level name
that it uses of its own file and of what it imports, what these use in turn, and what importing their modules runs. A
module that is used as a value, or by ``import *``, counts whole. Modules that are loaded by name at run time (a metric
family, a table specification) are named by the rule that loads them: "module", or "module:name" where one name is read.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import accumulate
from pathlib import Path

from favor.foundation.errors import UserError
from favor.running.invalidation import parts

# What forked jobs find loaded: part of every job's code.
PRELOADED = f"{parts.PACKAGE}.running.jobs.preloaded:LIBRARIES"
# Definitions whose files beside the module are inputs of the jobs that read them.
NOT_DIGESTED = {"favor.paper.values.FOLDER"}
# Modules that cannot change a result, each with its reason.
EXEMPT = {
    "favor.foundation.errors": "the class of an error that ends the job",
    "favor.foundation.names": "hints in the words of errors",
    "favor.federation.upload_checks": "refusals of uploads, which leave them as they were",
    "favor.lm.checks": "refusals of a base model, which leave it as it was",
    "favor.running": "an empty package",
    **dict.fromkeys(
        (f"favor.running.{part}" for part in ("devices", "folder", "invalidation", "jobs")), "an empty package"
    ),
    "favor.running.invalidation.code_check": "ends a job whose code is not what was planned",
    "favor.running.devices.leases": "which GPU a job uses, not what it computes there",
    "favor.running.jobs.environment": "variables of the processes, set before any job starts",
    "favor.running.jobs.job_log": "log and last words of a job",
    "favor.running.folder.leftovers": "what killed jobs and a wrong clock left, put right before any job starts",
    "favor.running.folder.occupancy": "locks of the results folder",
    "favor.running.folder.output_record": "which files in the results folder are the workflow's",
    "favor.running.jobs.progress": "lines on the terminal and in the log",
}
# Modules that find code by what no name says, and why none of it is missed.
FOLLOWED_OTHERWISE = {
    "favor.federation.exchange": "a rule names the method whose state its job keeps",
    "favor.foundation.registry": "a rule names the plug-in that its job loads",
    "favor.lm.fused": "modules of transformers",
    "favor.running.jobs.job": "whether torch is loaded",
}
Node = tuple[str, str]  # a part, by module and name
_WHOLE, _IMPORTED = "*", ""  # every part of a module, and what importing it runs
_NOTHING = parts.Part()
# Parts of equal text can use names for different parts. References are followed for so many steps.
_STEPS = 3


class SourceCode:
    """The package's code under ``root``, as it was when each file was first looked at.

    ``modules`` are those that were read before, and ``looked`` how all files looked before that, so that an edit in
    between is noticed. ``taken`` says what each fingerprint was taken of: the script, and the modules that it loads by
    name.
    """

    def __init__(self, root: Path, modules: Mapping[str, parts.Module] | None = None, looked: str = "") -> None:
        self.root, self.looked = root, looked
        self.taken: dict[str, tuple[Path, tuple[str, ...]]] = {}
        self._modules = {name: module for name, module in (modules or {}).items() if name not in EXEMPT}

    def fingerprint(self, script: Path, modules: Sequence[str] = ()) -> str:
        """Return 16 hexadecimal digits that change when a part that ``script`` can reach does.

        A part that moves to another module unchanged is the same one. Raises as :meth:`reached`.
        """
        found = [self._part(node) for node in self.reach(script, modules)]
        reads_meanings = any("meaning" in part.ways for part in found)
        described = {text for part in found for text in part.described if reads_meanings}
        digests = {self._digest(node, _STEPS) for node in self._telling(script, modules)}
        taken = parts.digest(*sorted(digests), *sorted(described))
        self.taken[taken] = (script, tuple(modules))
        return taken

    def reached(self, script: Path, modules: Sequence[str] = ()) -> dict[str, str]:
        """Return the digest of every part that ``script`` and the named ``modules`` can reach, by dotted name.

        Raises ``UserError`` for a module that does not exist, a relative import, broken syntax, or code that finds
        other code without naming it.
        """
        return {_title(node): self._digest(node, 0) for node in self._telling(script, modules)}

    def reach(self, script: Path, modules: Sequence[str] = ()) -> frozenset[Node]:
        """Return (module, name) of every part that can be reached; the name "" is what importing the module runs."""
        return self._reach(script, tuple(modules))

    @cache
    def _reach(self, script: Path, modules: tuple[str, ...]) -> frozenset[Node]:
        own = parts.script_name(script)
        if own not in self._modules:
            self._modules[own] = parts.read_module(own, script)
        waiting: list[Node] = [(own, _IMPORTED), *map(self._entry, modules)]
        found = set(waiting)
        while waiting:
            new = {target for _, target in self._used(waiting.pop())} - found
            if not new and not waiting and any("__subclasses__" in self._part(each).ways for each in found):
                new = {(module, _WHOLE) for module, _ in found} - found
            found |= new
            waiting += new
        return frozenset(found)

    def _telling(self, script: Path, modules: Sequence[str]) -> list[Node]:
        nodes = sorted(node for node in self.reach(script, modules) if self._part(node).text)
        for node in nodes:
            for way in sorted(self._part(node).ways & parts.REFUSED) if node[0] not in FOLLOWED_OTHERWISE else ():
                raise UserError(
                    f"{_title(node)}: '{way}' finds code that no fingerprint can follow, so that a change of it would "
                    "rerun nothing; import what you need by its name, or let a registry find the file "
                    "(docs/extending.md)"
                )
        return nodes

    def _entry(self, entry: str) -> Node:
        name, _, attribute = entry.partition(":")
        if self._module(name) is None:
            raise UserError(f"no module '{name}' under {self.root}; check the name or add the file")
        # What lacks the name is refused by the job that asks for it.
        return next(self._resolved(name, (attribute,) if attribute else ()))

    @cache
    def _module(self, name: str) -> parts.Module | None:
        if name in self._modules or name in EXEMPT or name.split(".")[0] != parts.PACKAGE:
            return self._modules.get(name)
        base = self.root.joinpath(*name.split("."))
        path = next((path for path in (base.with_suffix(".py"), base / "__init__.py") if path.is_file()), None)
        return None if path is None else parts.read_module(name, path)

    def _part(self, node: Node) -> parts.Part:
        module = self._module(node[0])
        return module.parts.get(node[1], _NOTHING) if module else _NOTHING

    @cache
    def _digest(self, node: Node, steps: int) -> str:
        """A digest of a part and of the parts that it names, followed for ``steps`` steps."""
        if steps:
            means = {f"{name}={self._digest(target, steps - 1)}" for name, target in self._used(node) if name}
            return parts.digest(self._digest(node, 0), *sorted(means))
        part = self._part(node)
        files = self._files(node[0], part.files) if part.files is not None and _title(node) not in NOT_DIGESTED else ()
        return parts.digest(part.text, *files)

    def _files(self, name: str, texts: set[str]) -> Iterator[str]:
        """The files beside a module that its texts name, or that a folder of that name holds.

        Where they name none, a name is made up at run time: every file beside the module counts.
        """
        folder = self.root.joinpath(*name.split(".")).parent
        named = [folder / each for each in sorted(texts) if each.strip("./") and "\0" not in each]
        for path in [path for path in named if path.exists() and path.suffix != ".py"] or [*folder.iterdir()]:
            for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
                if file.is_file() and file.suffix != ".py" and file.parent.name != "__pycache__":
                    yield f"{file.relative_to(folder)}={hashlib.sha256(file.read_bytes()).hexdigest()}"

    @cache
    def _used(self, node: Node) -> frozenset[tuple[str, Node]]:
        """Return the parts that a part uses, each with its name in the text ("": what importing a module runs)."""
        return frozenset(self._find_used(*node))

    def _find_used(self, name: str, part: str) -> Iterator[tuple[str, Node]]:
        module, own = self._module(name), self._part((name, part))
        assert module is not None
        imports = [target for bound in own.imports.values() for target in bound]
        imports += [target for bound in module.imports.values() for target in bound] if part == _IMPORTED else []
        for imported in {name, *(target[0] for target in imports), *map(".".join, imports)}:
            yield from self._run_by_importing(imported)
        stars = {target[0] for each in (own, module) for target in each.imports.get("*", ())}
        for whole in own.loaded | stars:
            yield from ((_WHOLE, target) for target in self._resolved(whole, ()))
        if part == _WHOLE or own.ways & parts.WHOLE:
            yield from ((_WHOLE, (name, each)) for each in module.parts)
        for path in own.names:
            for target in own.imports.get(path[0], ()):
                yield from ((".".join(path), found) for found in self._followed(target, path))
            yield from ((".".join(path), found) for found in self._looked_up(module, path))

    @cache
    def _run_by_importing(self, name: str) -> list[tuple[str, Node]]:
        """Return the parts that an import runs, which no name says: importing a.b.c runs a and a.b too."""
        ancestors = accumulate(name.split("."), "{}.{}".format)
        return [("", (each, _IMPORTED)) for each in ancestors if self._module(each) is not None]

    def _looked_up(self, module: parts.Module, path: parts.Name) -> Iterator[Node]:
        """Yield the parts that a dotted name means in a module: its own or those of an import; none for a builtin."""
        if path[0] in module.parts:
            yield module.name, path[0]
        for target in module.imports.get(path[0], ()):
            yield from self._followed(target, path)

    def _followed(self, target: parts.Name, path: parts.Name) -> Iterator[Node]:
        if not parts.is_ours(target):
            return
        if len(target) > 1:
            yield from self._resolved(target[0], (target[1], *path[1:]))
        else:
            # "import favor.lm.stack" binds favor; "import favor.lm.stack as s" binds the module itself.
            yield from self._resolved(path[0] if path[0] == parts.PACKAGE else target[0], path[1:])

    def _resolved(self, name: str, attributes: parts.Name) -> Iterator[Node]:
        """Yield the parts behind ``attributes`` of module ``name``; all of the module where they cannot be told."""
        module = self._module(name)
        if module is None:
            return
        first = attributes[0] if attributes else ""
        if first and (first in module.parts or first in module.imports):
            yield from self._looked_up(module, attributes)
        elif first and self._module(f"{name}.{first}") is not None:
            yield from self._resolved(f"{name}.{first}", attributes[1:])
        else:
            yield name, _IMPORTED if first in ("__path__", "__name__") else _WHOLE


def _title(node: Node) -> str:
    if node[1]:
        return ".".join(node)
    return node[0] if node[0].startswith(parts.SCRIPT) else f"{node[0]} (on import)"


def source_code(root: Path) -> SourceCode:
    """Return the code under ``root`` as it is now."""
    looked = parts.code_looks(root.parent)  # first: an edit while the files are read is noticed
    return SourceCode(root, parts.modules_below(root), looked)
