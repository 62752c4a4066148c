"""The code of a job: what its script imports by name, and what that names (docs/reruns.md).

Snakemake tracks neither imported modules nor data read by them. A fingerprint holds the script, the parts of files
(:mod:`favor.running.invalidation.parts`) that its names mean, those that these name in turn, and what importing their
files runs. A module that is used as a value counts whole. What is loaded by name at run time (a metric family, a table)
is named by the rule that loads it: "module", or "module:name" where one name is read.
"""

import hashlib
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from favor.foundation.errors import UserError
from favor.foundation.files import atomic_path, read_json
from favor.running.invalidation import parts
from favor.running.invalidation.job_inputs import CODE, LOCAL_FILES, RECORD, STARTED, check_local_files
from favor.running.invalidation.parts import PACKAGE, SCRIPT, Module, Part, digest

# What forked jobs find loaded: part of every job's code.
PRELOADED = f"{PACKAGE}.running.jobs.preloaded:LIBRARIES"
KEPT = f"{PACKAGE}/__pycache__/modules.json"  # what was read of the files
# Modules that cannot change a result, each with its reason.
EXEMPT = {
    "favor.foundation.errors": "the class of an error that ends the job",
    "favor.foundation.names": "hints in the words of errors",
    "favor.federation.upload_checks": "refusals of uploads, which leave them as they were",
    "favor.lm.checks": "refusals of a base model, which leave it as it was",
    "favor.running.invalidation.fingerprint": "ends a job whose code is not what was planned",
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
# Ways to find code or words that no name says.
REFUSED = {
    *("eval", "exec", "globals", "locals", "vars()", "dir()", "__import__", "builtins", "runpy", "sys.modules"),
    *("importlib.import_module", "importlib.resources", "pkgutil.resolve_name"),
    *("typing.get_type_hints", "inspect.get_annotations", ".__annotations__", "__doc__", ".__doc__"),
    *(".__subclasses__", "__init_subclass__"),
}
Node = tuple[str, str]  # a part, by module and name
_WHOLE, _IMPORTED = "*", ""  # every part of a module, and what importing it runs


class SourceCode:
    """The package's code below ``root``: its ``modules``, as they were when each file was read.

    ``looked`` says how all files looked before that, so that an edit in between is noticed. ``taken`` says what each
    fingerprint was taken of: the stage, which is a script's name, and the modules that it loads by name.
    """

    def __init__(self, root: Path, modules: Mapping[str, Module], looked: str = "") -> None:
        self.root, self.looked = root, looked
        self.taken: dict[str, tuple[str, tuple[str, ...]]] = {}
        self.modules = {name: module for name, module in modules.items() if name not in EXEMPT}

    def fingerprint(self, stage: str, modules: Sequence[str] = ()) -> str:
        """Return 16 hexadecimal digits that change when a part that a script can reach does.

        A part that moves to another module unchanged is the same one. Raises as :meth:`reached`.
        """
        nodes = self._telling(stage, modules)
        # Parts of equal text can use their names for different parts.
        uses = {f"{self._digest(one)} {name} {self._digest(used)}" for one in nodes for name, used in self._used(one)}
        if any(".meaning" in self._part(node).words for node in nodes):
            uses |= {self._part(node).described for node in nodes}
        taken = digest(*sorted(uses), *sorted({self._digest(node) for node in nodes}))
        self.taken[taken] = (stage, tuple(modules))
        return taken

    def reached(self, stage: str, modules: Sequence[str] = ()) -> dict[str, str]:
        """Return the digest of every part that a script and the named ``modules`` can reach, by dotted name.

        Raises ``UserError`` for a module that is not there or cannot be read, and for code that finds other code by no
        name.
        """
        return {_title(node): self._digest(node) for node in self._telling(stage, modules)}

    @cache
    def reach(self, stage: str, modules: tuple[str, ...] = ()) -> frozenset[Node]:
        """Return (module, name) of every part that can be reached; the name "" is what importing the module runs."""
        waiting = [(f"{SCRIPT}{stage}", _IMPORTED)]
        for entry in modules:
            name = entry.partition(":")[0]
            if self._module(name) is None:
                raise UserError(f"no module '{name}' under {self.root}; check the name or add the file")
            waiting += self._meant(entry.replace(":", "."))
        found = set(waiting)
        while waiting:
            new = {target for _, target in self._used(waiting.pop())} - found
            found |= new
            waiting += new
        return frozenset(found)

    def _telling(self, stage: str, modules: Sequence[str]) -> list[Node]:
        nodes = sorted(node for node in self.reach(stage, tuple(modules)) if self._part(node).digits)
        for node in nodes:
            words = set() if node[0] in FOLLOWED_OTHERWISE else self._part(node).words
            for way in sorted(REFUSED & (words | {word.split(".")[0] for word in words})):
                raise UserError(
                    f"{_title(node)}: '{way}' finds code that no fingerprint can follow, so that a change of it would "
                    "rerun nothing; import what you need by its name, or let a registry find the file "
                    "(docs/extending.md)"
                )
        return nodes

    def _module(self, name: str) -> Module | None:
        module = self.modules.get(name)
        if module is not None and module.problem:
            raise UserError(module.problem)
        return module

    def _part(self, node: Node) -> Part:
        return self.modules[node[0]].parts.get(node[1]) or Part()

    @cache
    def _digest(self, node: Node) -> str:
        part = self._part(node)
        return digest(part.digits, *self._files(node[0], part.texts)) if "__file__" in part.words else part.digits

    def _files(self, name: str, texts: set[str]) -> Iterator[str]:
        """The files beside a module that its texts name, or that a folder of that name holds.

        Where they name none, a name is made up at run time: every file beside the module counts.
        """
        folder = self.root.joinpath(*name.split(".")).parent
        named = [folder / each for each in sorted(texts) if each.strip("./") and each.isprintable()]
        for path in [path for path in named if path.exists() and path.suffix != ".py"] or [*folder.iterdir()]:
            for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
                if file.is_file() and file.suffix != ".py" and file.parent.name != "__pycache__":
                    yield f"{file.relative_to(folder)}={hashlib.sha256(file.read_bytes()).hexdigest()}"

    @cache
    def _used(self, node: Node) -> frozenset[tuple[str, Node]]:
        """Return the parts that a part uses, each with its name in the text ("": what importing a module runs)."""
        return frozenset(self._find_used(*node))

    def _find_used(self, name: str, part: str) -> Iterator[tuple[str, Node]]:
        module, words = self.modules[name], self._part((name, part)).words
        run = {name, *(target for word in words for target in module.imports.get(word.split(".")[0], ()))}
        run |= {target for targets in module.imports.values() for target in targets} if part == _IMPORTED else set()
        for imported in run:
            for each in accumulate(imported.split("."), "{}.{}".format):  # importing a.b.c runs a and a.b too
                if self._module(each) is not None:
                    yield "", (each, _IMPORTED)
        for word in {*module.parts, *module.imports} if part == _WHOLE else words:
            yield from ((word, found) for found in self._looked_up(module, word))

    def _looked_up(self, module: Module, word: str) -> Iterator[Node]:
        """Yield the parts that a dotted name means in a module: its own or those of an import; none for a builtin."""
        first, dot, rest = word.partition(".")
        if first in module.parts:
            yield module.name, first
        for target in module.imports.get(first, ()):
            yield from self._meant(f"{target}{dot}{rest}")

    def _meant(self, dotted: str) -> Iterator[Node]:
        """Yield the parts behind the dotted name of a module, or of something in one; all of it where none is."""
        for name in reversed([*accumulate(dotted.split("."), "{}.{}".format)]):
            if (module := self._module(name)) is not None:
                rest = dotted[len(name) + 1 :]
                first = rest.split(".")[0]
                if first and (first in module.parts or first in module.imports):
                    yield from self._looked_up(module, rest)
                else:
                    yield name, _WHOLE
                return


def _title(node: Node) -> str:
    if node[1]:
        return ".".join(node)
    return node[0] if node[0].startswith(SCRIPT) else f"{node[0]} (on import)"


def source_code(root: Path) -> SourceCode:
    """Return the code below ``root``, and the scripts of the checkout that it is in or that it holds, as they are now.

    What was read before is kept beside Python's own compiled files: 0.2 s in the place of 4 s.
    Nothing is kept in a folder that cannot be written.
    """
    looked = code_looks(root.parent)  # first: an edit while the files are read is noticed
    read_by = sys.version.encode() + b"".join(Path(each).read_bytes() for each in (__file__, parts.__file__))
    by_name = TypeAdapter(dict[str, tuple[str, Module]])  # with a digest of the file and of the code that read it
    try:
        kept = by_name.validate_json((root / KEPT).read_bytes())
    except (OSError, ValueError):  # not there, or damaged
        kept = {}
    files = {
        ".".join(file.relative_to(root).with_suffix("").parts).removesuffix(".__init__"): file
        for file in sorted((root / PACKAGE).rglob("*.py"))
    }
    # Of the checkout, or those that were installed with the package.
    for folder in (root / PACKAGE / "_workflow", root.parent):
        files |= {f"{SCRIPT}{file.stem}": file for file in sorted((folder / "workflow" / "scripts").glob("*.py"))}
    found = {}
    for name, file in files.items():
        of = hashlib.sha256(read_by + file.read_bytes()).hexdigest()
        found[name] = kept[name] if kept.get(name, ("",))[0] == of else (of, parts.read_module(name, file))
    if found != kept:
        with suppress(UserError), atomic_path(root / KEPT) as written:
            written.write_bytes(by_name.dump_json(found))
    return SourceCode(root, {name: module for name, (_, module) in found.items()}, looked)


def code_looks(checkout: Path) -> str:
    """Return digits of paths, sizes and times of change of all files of the code."""
    found = []
    for folder in ("src/favor", "workflow/scripts"):
        for parent, _, names in os.walk(checkout / folder):  # a quarter of the time of Path.rglob, twice per job
            for path in (os.path.join(parent, name) for name in names if not parent.endswith("__pycache__")):
                if os.path.isfile(path):
                    status = os.stat(path)
                    found.append(f"{path}\0{status.st_size} {status.st_mtime_ns}\n")
    return hashlib.sha256("".join(sorted(found)).encode()).hexdigest()


def check_planned(snakemake: Any) -> None:
    """Raise ``UserError`` where a job's code, or a file of the user that it reads, changed after planning.

    A job asks before and after its work. Where the files of the code look otherwise it takes its own fingerprint
    again, so that an edit that cannot change its result does not end it.
    """
    folder = Path(os.environ.get(CODE, ""))
    check_local_files((snakemake.params.get(LOCAL_FILES, None) or (LOCAL_FILES, {}))[1], folder / RECORD)
    planned = snakemake.params.get("code", None)
    taken = folder / f"{planned}.json"
    if CODE not in os.environ or not (folder / STARTED).is_file() or not taken.is_file():
        return
    checkout, looked = read_json(folder / STARTED)
    if code_looks(Path(checkout)) == looked:
        return
    entry = read_json(taken)
    if source_code(Path(checkout, "src")).fingerprint(entry["stage"], entry["modules"]) != planned:
        raise UserError(
            "its code changed after the run had started, so that nothing it made is kept; start the run again"
        )
