"""One Python file as parts: the statements that bind each top-level name, and the names in them.

Left out is what cannot change a result: docstrings, comments, annotations of functions and variables, the words of
messages and of errors that end a job, units and meanings of declared columns and keys.
"""

import ast
import hashlib
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from favor.foundation.errors import UserError
from favor.foundation.files import write_text

PACKAGE = "favor"
KEPT = f"{PACKAGE}/__pycache__/parts.json"  # what was read of the package
SCRIPT = "script"  # a script is known as "script NAME"
Name = tuple[str, ...]  # a dotted name; of an import the module, or module and name
# Errors whose words only the user reads. Those of other errors may be kept as a result, such as a judge's bad answer.
TEXT_ERRORS = {"UserError", "ValueError"}
MESSAGES = {"Progress", "warnings.warn"}  # their words go to the terminal and the log
# What declares columns and keys: which of its arguments are units and meanings.
DESCRIBED = {
    (f"{PACKAGE}.foundation.schemas", "Column"): {2: "meaning", 3: "unit"},
    (f"{PACKAGE}.foundation.section", "key"): {1: "description"},
    (f"{PACKAGE}.foundation.section", "section"): {1: "description"},
    (f"{PACKAGE}.foundation.section", "required"): {0: "description"},
}
# Decorators that read no annotation. Of what others decorate, annotations count.
_PLAIN = {"property", "staticmethod", "classmethod", "abstractmethod", "override", "overload", "setter", "wraps"} | {
    *("contextmanager", "cache", "cached_property", "lru_cache", "no_grad", "inference_mode")
}
WHOLE = {"globals", "locals", "vars()", "dir()"}  # ways to find every name of the file
# Ways to find code or words that no name says, as names and as attributes of anything.
REFUSED = {"eval", "exec", "__import__", "import_module", "builtins", "runpy", "resolve_name", "sys.modules"} | {
    *("get_type_hints", "get_annotations", "__doc__", "__annotations__", "__init_subclass__")
}
_ATTRIBUTES = {"__doc__", "__annotations__", "__subclasses__", "meaning"}


@dataclass
class Part:
    """What a name is bound to: digits of its ``text``, dotted ``names`` in it, and what ``imports`` inside it bind.

    ``loaded`` are modules that it loads by a literal name, ``ways`` how it finds code that it does not name.
    ``files`` are texts that may name files beside the module, None where it looks for none; ``described`` the units
    and meanings of its columns.
    """

    text: str = ""
    names: set[Name] = field(default_factory=set)
    imports: dict[str, list[Name]] = field(default_factory=dict)
    loaded: set[str] = field(default_factory=set)
    ways: set[str] = field(default_factory=set)
    files: set[str] | None = None
    described: list[str] = field(default_factory=list)


@dataclass
class Module:
    """One file: its ``parts`` by name ("" is what importing it runs), and what its imports bind ("*": everything)."""

    name: str
    parts: dict[str, Part]
    imports: dict[str, list[Name]]


def script_name(script: Path) -> str:
    """Return the name that a script has among the modules."""
    return f"{SCRIPT} {script.stem}"


def digest(*parts: str) -> str:
    """Return 16 hexadecimal digits that stand for ``parts``."""
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def is_ours(target: Name) -> bool:
    """Whether an import is one of the package's."""
    return target[0].split(".")[0] == PACKAGE


def read_module(name: str, path: Path) -> Module:
    """Read a file. Raises ``UserError`` for broken syntax or a relative import."""
    try:
        file = _File(name, ast.parse(path.read_text(encoding="utf-8")))
    except SyntaxError as error:
        raise UserError(f"{path}:{error.lineno}: {error.msg}; correct the syntax") from None
    return Module(name, {each: _Reader(file).part(each) for each in file.bound}, file.imports)


def _dotted(node: ast.AST | None) -> Name:
    """The parts of a dotted name, or of the name that is called; () for any other expression."""
    if isinstance(node, ast.Attribute):
        base = _dotted(node.value) if isinstance(node.value, ast.Name | ast.Attribute) else ()
        return (*base, node.attr) if base else ()
    return _dotted(node.func) if isinstance(node, ast.Call) else (node.id,) if isinstance(node, ast.Name) else ()


def _imports(statement: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, Name]]:
    """Yield (local name, what it is bound to). Raises ``UserError`` at a relative import."""
    for alias in statement.names:
        if isinstance(statement, ast.Import):  # "import a.b" binds a, "import a.b as c" the module itself
            yield alias.asname or alias.name.split(".")[0], (alias.name,)
        elif statement.level:
            name = f"relative import of '{statement.module}'"
            raise UserError(f"{name}: write it as '{PACKAGE}....' so that it can be followed")
        else:
            yield alias.asname or alias.name, (str(statement.module), alias.name)


class _File:
    """The statements of a file by the names that they bind; "" are those that do more when the file is imported."""

    def __init__(self, name: str, tree: ast.Module) -> None:
        self.name, self._is_script = name, name.startswith(f"{SCRIPT} ")
        self.bound: dict[str, list[ast.stmt]] = {"": []}
        self.imports: dict[str, list[Name]] = {}
        self._order: dict[str, list[str]] = {}
        for statement in tree.body:
            self._index(statement)
        written = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        # What no statement says: libraries imported for their effect, and which binding of a name is the last.
        self.said = [
            f"{name}={bound}"
            for name, bound in self._order.items()
            if any(bound) and (len(bound) > 1 or (name not in written and not is_ours(self.imports[name][0])))
        ]

    def _index(self, statement: ast.stmt) -> None:
        if isinstance(statement, ast.Import | ast.ImportFrom):
            for local, target in _imports(statement):
                self.imports.setdefault(local, []).append(target)
                if target[0] != "__future__" and local != "*" and (len(target) > 1 or "." not in target[0]):
                    self._order.setdefault(local, []).append(".".join(target))
        elif isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            members = [statement, *(statement.body if isinstance(statement, ast.ClassDef) else ())]
            decorators = [_dotted(each) for one in members for each in getattr(one, "decorator_list", ())]
            self._bind(statement, {statement.name}, any(map(self._may_register, decorators)))
        elif isinstance(statement, ast.If) and self._never_runs(statement.test):
            for each in statement.orelse:
                self._index(each)
        else:
            nodes: list[Any] = [*ast.walk(statement)]
            bound = {node.id for node in nodes if isinstance(node, ast.Name) and _is_stored(node)}
            bound |= {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef)}
            value = getattr(statement, "value", None)
            effect = not isinstance(statement, ast.Assign | ast.AugAssign | ast.AnnAssign) or self._is_script
            effect |= any(isinstance(node, ast.Attribute | ast.Subscript) for node in nodes if _is_stored(node))
            effect |= isinstance(statement, ast.AugAssign) and bool(bound & self.imports.keys())
            if isinstance(value, ast.Call) and self._may_register(_dotted(value)):
                effect |= _dotted(value)[-1].lstrip("_")[:1].islower()  # a function, and not a class
            self._bind(statement, bound, effect)
            for node in nodes:
                if isinstance(node, ast.Import | ast.ImportFrom):
                    self._index(node)

    def _bind(self, statement: ast.stmt, names: Iterable[str], effect: bool) -> None:
        for name in names:
            self.bound.setdefault(name, []).append(statement)
            self._order.setdefault(name, []).append("")
        self.bound[""] += [statement] if effect else []

    def _may_register(self, path: Name) -> bool:
        """Whether what is called at import is of the package, so that it may do more than return a value."""
        own = path and (path[0] in self.bound or any(map(is_ours, self.imports.get(path[0], ()))))
        return bool(own) or path[-1:] == ("register",)

    def _never_runs(self, test: ast.expr) -> bool:
        """Whether a block is for type checkers, or for a module that is run: scripts are, other modules are not."""
        return "TYPE_CHECKING" in _dotted(test) or (
            not self._is_script and ast.unparse(test) == "__name__ == '__main__'"
        )


def _is_stored(node: ast.AST) -> bool:
    return isinstance(getattr(node, "ctx", None), ast.Store)


class _Reader:
    """Reads one part: its text without what cannot change a result, and the names in it."""

    def __init__(self, file: _File) -> None:
        self._file, self._part = file, Part()
        self._text, self._literals = list[str](), set[str]()
        self._in_class = self._typed = False

    def part(self, name: str) -> Part:
        """Return what ``name`` is bound to; "" is what importing the file runs."""
        part = self._part
        self._read(self._file.bound[name])
        # Which library a name is imported from is part of what is done with it.
        roots = {path[0] for path in part.names}
        others = [(root, target) for root in roots for target in self._bound(root) if not is_ours(target)]
        self._text += sorted(f"{root}={'.'.join(target)};" for root, target in others)
        text = "".join([*self._text, *([] if name else self._file.said)])
        part.text = digest(text) if text != "]" else ""
        part.names = {path for path in part.names if path[0] in self._file.bound or self._bound(path[0])}
        if part.files is not None:
            part.files |= self._literals
        return part

    def _bound(self, name: str) -> list[Name]:
        return [*self._part.imports.get(name, ()), *self._file.imports.get(name, ())]

    def _read(self, node: object) -> None:
        if isinstance(node, list):
            for each in node:
                self._read(each)
            self._text.append("]")
        elif isinstance(node, ast.AST):
            getattr(self, f"_{type(node).__name__}", self._fields)(node)
        elif node is not None:
            self._text.append(f"{node!r};")

    def _fields(self, node: ast.AST, without: str = "") -> None:
        # Empty fields are left out, so that those of newer Pythons change nothing.
        self._text.append(f"{type(node).__name__}(")
        for name in node._fields:
            value = getattr(node, name, None)
            if value is not None and value != [] and name not in ("ctx", "kind", "type_comment", without):
                self._text.append(f"{name}=")
                self._read(value)
        self._text.append(")")

    def _use(self, path: Name) -> None:
        part, bound = self._part, self._bound(path[0])
        part.names.add(path)
        if path[0] == "__file__" or path[-2:] == ("resources", "files"):
            part.files = part.files or set()
        if not bound and path[0] not in self._file.bound:
            part.ways |= {path[0]} & (WHOLE | REFUSED)
        for target in bound:
            words = ".".join((*target, *path[1:])).split(".") if not is_ours(target) else []
            part.ways |= ({*words} | {".".join(words[:2])}) & REFUSED

    def _Expr(self, node: ast.Expr) -> None:
        if not (isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)):
            self._fields(node)

    def _Constant(self, node: ast.Constant) -> None:
        self._text.append(f"{node.value!r};")
        if isinstance(node.value, str) and node.value.isprintable():
            self._literals.add(node.value)
            self._part.ways |= {node.value} & {"meaning"}

    def _Name(self, node: ast.Name) -> None:
        self._text.append(f"{node.id};")
        self._use((node.id,))

    def _Attribute(self, node: ast.Attribute) -> None:
        self._part.ways |= {node.attr} & _ATTRIBUTES
        if path := _dotted(node):
            self._text.append(f"{'.'.join(path)};")
            self._use(path)
        else:
            self._fields(node)

    def _Global(self, node: ast.Global) -> None:
        self._fields(node)
        self._part.names |= {(name,) for name in node.names}

    def _Import(self, node: ast.Import | ast.ImportFrom) -> None:
        for local, target in _imports(node):
            self._part.imports.setdefault(local, []).append(target)
            self._text += [] if is_ours(target) else [f"{local}={'.'.join(target)};"]

    _ImportFrom = _Import

    def _FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        before = self._in_class, self._typed
        self._in_class = False
        self._typed = not all((_dotted(one) or ("",))[-1] in _PLAIN for one in node.decorator_list)
        self._part.ways |= {node.name} & {"__init_subclass__"}
        self._fields(node, "" if self._typed else "returns")
        self._in_class, self._typed = before

    _AsyncFunctionDef = _FunctionDef

    def _arg(self, node: ast.arg) -> None:
        self._fields(node, "" if self._typed else "annotation")

    def _ClassDef(self, node: ast.ClassDef) -> None:
        before, self._in_class = self._in_class, True
        self._fields(node)
        self._in_class = before

    def _AnnAssign(self, node: ast.AnnAssign) -> None:
        if self._in_class:
            self._fields(node)
        elif node.value is not None:
            self._read(ast.Assign([node.target], node.value))

    def _Call(self, node: ast.Call) -> None:
        name, arguments, keywords = ".".join(_dotted(node)), node.args, node.keywords
        if name in TEXT_ERRORS:
            arguments = [each for each in arguments if not _is_wording(each)]
        elif name in MESSAGES or (name == "print" and any(_dotted(one.value) == ("sys", "stderr") for one in keywords)):
            arguments = [value for each in arguments for value in _values(each)]
        elif name in ("vars", "dir") and not arguments:
            self._part.ways.add(f"{name}()")
        for target in [*self._bound(name), (self._file.name, name)]:
            where = DESCRIBED.get((target[0], target[-1]), {})
            words = [each for place, each in enumerate(arguments) if place in where]
            words += [each.value for each in keywords if each.arg in where.values()]
            self._part.described += [ast.unparse(each) for each in words if 2 in where]
            arguments = [each for place, each in enumerate(arguments) if place not in where]
            keywords = [each for each in keywords if each.arg not in where.values()]
        before = set(self._part.ways)
        self._read(node.func)
        if "import_module" in self._part.ways - before and arguments and isinstance(arguments[0], ast.Constant):
            self._part.ways.remove("import_module")
            self._part.loaded.add(str(arguments[0].value))
        self._read([arguments, keywords])


def _is_wording(node: ast.expr) -> bool:
    """Whether an argument of an error is written out where the error is raised."""
    if isinstance(node, ast.BinOp):
        return _is_wording(node.left) or _is_wording(node.right)
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def _values(node: ast.expr) -> list[ast.expr]:
    """The expressions in a message, without its words."""
    if isinstance(node, ast.JoinedStr):
        return [each.value for each in node.values if isinstance(each, ast.FormattedValue)]
    return [] if _is_wording(node) else [node]


def modules_below(root: Path) -> dict[str, Module]:
    """Return the modules of the package below ``root``, and the scripts of the checkout that it is in, by name.

    What was read before is kept beside Python's own compiled files: 0.4 s in the place of 6.5 s on two slow cores. A
    file of broken syntax is left out, so that only who reaches it is stopped by it. Nothing is kept in a folder that
    cannot be written.
    """
    # By name: a digest of the file and of the code that read it, and the module.
    entries = TypeAdapter(dict[str, tuple[str, Module]])
    try:
        kept = entries.validate_json((root / KEPT).read_bytes())
    except (OSError, ValidationError):
        kept = {}
    read_by = sys.version.encode() + Path(__file__).read_bytes()
    files = {
        ".".join(file.relative_to(root).with_suffix("").parts).removesuffix(".__init__"): file
        for file in sorted((root / PACKAGE).rglob("*.py"))
    } | {script_name(file): file for file in sorted((root.parent / "workflow" / "scripts").glob("*.py"))}
    found = {}
    for name, file in files.items():
        of = hashlib.sha256(read_by + file.read_bytes()).hexdigest()
        with suppress(UserError):
            found[name] = kept[name] if kept.get(name, ("",))[0] == of else (of, read_module(name, file))
    if found != kept:
        with suppress(UserError):
            write_text(entries.dump_json(found).decode(), root / KEPT)
    return {name: module for name, (_, module) in found.items()}


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
