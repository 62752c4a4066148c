"""Questions about Python's syntax tree that know nothing of this package: names, scopes, parameters."""

import ast
from collections.abc import Iterable

Name = tuple[str, ...]
# Builtins that find code by what no text says.
UNFOLLOWED = {"globals", "eval", "exec", "__import__"}
# Functions that see a local variable by its name.
BY_NAME = {"locals", "vars", "dir", *UNFOLLOWED}


def is_text(node: ast.stmt) -> bool:
    """Whether a statement is a text alone, as a docstring is."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def is_private(name: str) -> bool:
    """Whether a name is private to its module or class."""
    return name.startswith("_") and not name.startswith("__")


def dotted(node: ast.expr) -> Name:
    """The parts of a dotted name; () for any other expression."""
    if isinstance(node, ast.Attribute):
        base = dotted(node.value)
        return (*base, node.attr) if base else ()
    return (node.id,) if isinstance(node, ast.Name) else ()


def root(node: ast.expr) -> str:
    """The first part of the name of an expression or of what it calls, "" for one that has none."""
    path = dotted(node.func if isinstance(node, ast.Call) else node)
    return path[-1] if path[:1] == ("typing",) else "".join(path[:1])


def last(node: ast.expr) -> str:
    """The last part of the name of a decorator, "" for one that is no name."""
    return (dotted(node.func if isinstance(node, ast.Call) else node) or ("",))[-1]


def is_main(test: ast.expr) -> bool:
    """Whether a condition asks if the module is run as a program."""
    return isinstance(test, ast.Compare) and root(test.left) == "__name__"


def names_only(statement: ast.Assign | ast.AugAssign | ast.AnnAssign) -> bool:
    """Whether a statement assigns to names, and to no item or attribute."""
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    return all(isinstance(node, ast.Name | ast.Tuple | ast.List | ast.Starred) for node in targets) and not any(
        isinstance(node, ast.Attribute | ast.Subscript) for target in targets for node in ast.walk(target)
    )


def imported_in(body: Iterable[ast.stmt]) -> set[str]:
    """The names that imports inside a function bind."""
    nodes = [node for statement in body for node in ast.walk(statement)]
    found = [node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)]
    return {alias.asname or alias.name.split(".")[0] for node in found for alias in node.names}


def kept_names(node: ast.AST) -> set[str]:
    """The names inside a function that are written as they are: some statements and functions say them as texts."""
    kept: set[str] = set()
    for one in ast.walk(node):
        if isinstance(one, ast.Name) and one.id in BY_NAME:
            return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
        if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            kept.add(one.name)
        elif isinstance(one, ast.Global | ast.Nonlocal):
            kept.update(one.names)
        elif isinstance(one, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and one.name:
            kept.add(one.name)
        elif isinstance(one, ast.MatchMapping) and one.rest:
            kept.add(one.rest)
    return kept


def read_arguments(node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.arguments:
    """The parameters of a function without optional ones that it never reads: the last by position, any by keyword.

    Their defaults are constants, so that nothing is computed for them either.
    """
    names = {one.id for statement in node.body for one in ast.walk(statement) if isinstance(one, ast.Name)}
    given = node.args
    if names & BY_NAME or given.kwarg or given.vararg:
        return given
    arguments, defaults = list(given.args), list(given.defaults)
    while defaults and isinstance(defaults[-1], ast.Constant) and arguments and arguments[-1].arg not in names:
        arguments.pop()
        defaults.pop()
    keywords = [
        (one, default)
        for one, default in zip(given.kwonlyargs, given.kw_defaults, strict=True)
        if one.arg in names or not isinstance(default, ast.Constant)
    ]
    return ast.arguments(
        posonlyargs=given.posonlyargs,
        args=arguments,
        vararg=given.vararg,
        kwonlyargs=[one for one, _ in keywords],
        kw_defaults=[default for _, default in keywords],
        kwarg=given.kwarg,
        defaults=defaults,
    )


def stored(nodes: Iterable[ast.AST]) -> set[str]:
    """Names that statements bind in their own scope (imports apart), less those declared global."""
    names: set[str] = set()
    outside: set[str] = set()
    waiting = list(nodes)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
            continue
        if isinstance(node, ast.Global | ast.Nonlocal):
            outside.update(node.names)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store | ast.Del):
            names.add(node.id)
        elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
            names.add(node.name)
        elif isinstance(node, ast.MatchMapping) and node.rest:
            names.add(node.rest)
        if isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
            # Its own scope, but for ":=".
            names |= {item.target.id for item in ast.walk(node) if isinstance(item, ast.NamedExpr)}
        elif not isinstance(node, ast.Lambda):
            waiting += ast.iter_child_nodes(node)
    return names - outside
