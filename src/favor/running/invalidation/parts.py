"""One Python file as parts: the statements that bind each top-level name, and the words in them.

Left out is what cannot change a result: docstrings, comments, annotations of functions, the words of messages and of
errors that end a job, units and meanings of declared columns and keys.
"""

import ast
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

PACKAGE = "favor"
SCRIPT = "script "  # begins the name of a script among the modules
# Errors whose words only the user reads. Those of other errors may be kept as a result, such as a judge's bad answer.
TEXT_ERRORS = {"UserError", "ValueError"}
MESSAGES = {"Progress", "warnings.warn"}  # their words go to the terminal and the log
# What declares columns and keys: which of its arguments are units and meanings.
DESCRIBED = {
    f"{PACKAGE}.foundation.schemas.Column": {2: "meaning", 3: "unit"},
    f"{PACKAGE}.foundation.section.key": {1: "description"},
    f"{PACKAGE}.foundation.section.section": {1: "description"},
    f"{PACKAGE}.foundation.section.required": {0: "description"},
}


@dataclass
class Part:
    """What a name is bound to: digits of it, the ``words`` and the ``texts`` in it.

    Words are names, with their first attribute ("np.mean"), and attributes (".mean"). ``described`` are the units and
    meanings of its columns.
    """

    digits: str = ""
    words: set[str] = field(default_factory=set)
    texts: set[str] = field(default_factory=set)
    described: str = ""


@dataclass
class Module:
    """One file: its ``parts`` by name ("" is what importing it runs), and what ``imports`` bind anywhere in it.

    ``problem``: why it cannot be followed, "" where it can.
    """

    name: str
    parts: dict[str, Part] = field(default_factory=dict)
    imports: dict[str, list[str]] = field(default_factory=dict)
    problem: str = ""


def read_module(name: str, path: Path) -> Module:
    """Read a file as its parts."""
    try:
        tree = ast.parse(path.read_text(encoding="utf-8"))
    except SyntaxError as error:
        return Module(name, problem=f"{path}:{error.lineno}: {error.msg}; correct the syntax")
    imports: dict[str, list[str]] = {}
    for local, target in (each for node in ast.walk(tree) for each in _bound_by(node)):
        imports.setdefault(local, []).append(target)
    if "" in imports:
        return Module(name, problem=f"{path}: write its imports as 'from {PACKAGE}.... import NAME', to be followed")
    file = _File(name, tree, imports)
    return Module(name, {each: file.part(each) for each in file.bound}, imports)


def digest(*texts: str) -> str:
    """Return 16 hexadecimal digits that stand for ``texts``."""
    return hashlib.sha256("\0".join(texts).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _is_ours(target: str) -> bool:
    return target.split(".")[0] == PACKAGE


def _bound_by(node: ast.AST) -> Iterator[tuple[str, str]]:
    """Yield (local name, what it is bound to) of an import; the name is "" where that is not followed."""
    for alias in node.names if isinstance(node, ast.Import | ast.ImportFrom) else ():
        if isinstance(node, ast.ImportFrom):
            followed = not node.level and alias.name != "*"
            yield (alias.asname or alias.name) if followed else "", f"{node.module}.{alias.name}"
        else:
            followed = bool(alias.asname) or not alias.name.startswith(f"{PACKAGE}.")
            yield (alias.asname or alias.name.split(".")[0]) if followed else "", alias.name


class _File:
    """The statements of a file by the names that they bind; "" are those that do more when the file is imported."""

    def __init__(self, name: str, tree: ast.Module, imports: dict[str, list[str]]) -> None:
        self._name, self._imports, self._is_script = name, imports, name.startswith(SCRIPT)
        self.bound: dict[str, list[ast.stmt]] = {"": []}
        for statement in tree.body:
            self._index(statement)
        written = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        unused = [target for local, targets in imports.items() if local not in written for target in targets]
        # Libraries that are imported for their effect.
        self._effects = sorted(each for each in unused if not _is_ours(each) and not each.startswith("__future__"))

    def _index(self, statement: ast.stmt) -> None:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            members = [statement, *(statement.body if isinstance(statement, ast.ClassDef) else ())]
            decorators = [each for one in members for each in getattr(one, "decorator_list", ())]
            self._bind(statement, {statement.name}, any(self._may_register(each, True) for each in decorators))
        elif isinstance(statement, ast.If) and self._never_runs(ast.unparse(statement.test)):
            for each in statement.orelse:
                self._index(each)
        elif not isinstance(statement, ast.Import | ast.ImportFrom):
            nodes = [*ast.walk(statement)]
            names = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
            names |= {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef)}
            self._bind(statement, names, not self._only_binds(statement))

    def _bind(self, statement: ast.stmt, names: set[str], effect: bool) -> None:
        for name in names:
            self.bound.setdefault(name, []).append(statement)
        self.bound[""] += [statement] if effect or self._is_script else []

    def _only_binds(self, statement: ast.stmt) -> bool:
        """Whether a statement assigns to names, and calls no function that may register something."""
        if not isinstance(statement, ast.Assign | ast.AnnAssign):
            return False
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        registers = isinstance(statement.value, ast.Call) and self._may_register(statement.value)
        stored = [node for target in targets for node in ast.walk(target)]
        return not registers and not any(isinstance(node, ast.Attribute | ast.Subscript) for node in stored)

    def _may_register(self, called: ast.expr, decorates: bool = False) -> bool:
        """Whether what is called at import is a function of the package, so that it may do more than return a value.

        A class that is called is taken to make an object alone, and one that decorates to keep what it decorates.
        """
        path = ast.unparse(called.func if isinstance(called, ast.Call) else called).split(".")
        own = path[0] in self.bound or any(map(_is_ours, self._imports.get(path[0], ())))
        return path[-1] == "register" or (own and (decorates or path[-1].lstrip("_")[:1].islower()))

    def _never_runs(self, test: str) -> bool:
        """Whether a block is for type checkers, or for a module that is run: scripts are, other modules are not."""
        return test in ("TYPE_CHECKING", "typing.TYPE_CHECKING") or (
            not self._is_script and test == "__name__ == '__main__'"
        )

    def part(self, name: str) -> Part:
        """Return what ``name`` is bound to; "" is what importing the file runs."""
        read = [self._read(statement) for statement in self.bound[name]]
        words = {word for each in read for word in each.words}
        roots = {word.split(".")[0] for word in words}
        # Which library a name is imported from is part of what is done with it.
        uses = {(root, target) for root in roots for target in self._imports.get(root, ())}
        libraries = {(local, target) for local, target in uses if not _is_ours(target)}
        # By a library's own names too, whatever they are called here.
        dotted = [(word.split(".")[0], word) for word in {*roots, *words}]
        named = {target + word[len(root) :] for root, word in dotted for local, target in libraries if root == local}
        texts = [each.digits for each in read if each.digits] + sorted(map("=".join, libraries))
        texts += [] if name else self._effects
        return Part(
            digest(*texts) if texts else "",
            words | named,
            {text for each in read for text in each.texts} if "__file__" in words else set(),
            "".join(each.described for each in read),
        )

    @cache
    def _read(self, statement: ast.stmt) -> Part:
        """One statement as a part, with its text in the place of digits."""
        reader = _Stripper(self._name, self._imports)
        stripped = reader.visit(statement)
        nodes = [*ast.walk(stripped)] if stripped else []
        attributes: dict[ast.AST, str] = {node.value: node.attr for node in nodes if isinstance(node, ast.Attribute)}
        texts = {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
        words = {f".{name}" for name in attributes.values()} | ({".meaning"} & {f".{text}" for text in texts})
        for node in nodes:
            if isinstance(node, ast.Name):
                words.add(f"{node.id}.{attributes[node]}" if node in attributes else node.id)
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.args:
                words.add(f"{node.func.id}()")
            elif isinstance(node, ast.Global):
                words |= {*node.names}
            elif isinstance(node, ast.FunctionDef):
                words |= {node.name} & {"__init_subclass__"}
        return Part(_text(stripped) if stripped else "", words, texts, "".join(reader.described))


class _Stripper(ast.NodeTransformer):
    """Takes from a statement what cannot change a result."""

    def __init__(self, module: str, imports: dict[str, list[str]]) -> None:
        self._module, self._imports = module, imports
        self.described: list[str] = []

    def visit_Expr(self, node: ast.Expr) -> ast.AST | None:
        return None if isinstance(node.value, ast.Constant) else self.generic_visit(node)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST | None:
        return None if _is_ours(str(node.module)) else node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        if not node.decorator_list:  # which may read annotations
            node.returns = None
            for each in ast.walk(node.args):
                if isinstance(each, ast.arg):
                    each.annotation = None
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        name = ast.unparse(node.func)
        to_user = name == "print" and any(ast.unparse(one.value) == "sys.stderr" for one in node.keywords)
        if name in MESSAGES or to_user:  # its values count, and its words do not
            parts = [each.values if isinstance(each, ast.JoinedStr) else [each] for each in node.args]
            node.args = [value for each in parts for value in each if not isinstance(value, ast.Constant)]
        if name in TEXT_ERRORS:
            node.args = [each for each in node.args if not _is_text(each)]
        for target in self._imports.get(name, [f"{self._module}.{name}"]):
            where = DESCRIBED.get(target, {})
            words = [each for place, each in enumerate(node.args) if place in where]
            words += [each.value for each in node.keywords if each.arg in where.values()]
            self.described += [ast.unparse(each) for each in words if 2 in where]
            node.args = [each for place, each in enumerate(node.args) if place not in where]
            node.keywords = [each for each in node.keywords if each.arg not in where.values()]
        return self.generic_visit(node)


def _is_text(node: ast.expr) -> bool:
    own = isinstance(node, ast.Constant) and isinstance(node.value, str)
    return own or isinstance(node, ast.JoinedStr | ast.BinOp)


def _text(node: object) -> str:
    """Return a tree as text. Empty fields are left out, so that those of newer Pythons change nothing."""
    if isinstance(node, list):
        return f"[{','.join(map(_text, node))}]"
    if not isinstance(node, ast.AST):
        return repr(node)
    fields = [(name, getattr(node, name, None)) for name in node._fields if name not in ("ctx", "kind", "type_comment")]
    said = [f"{name}={_text(value)}" for name, value in fields if value is not None and value != []]
    return f"{type(node).__name__}({','.join(said)})"
