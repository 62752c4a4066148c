"""Reads the definitions of a file: their text, and the names that they use."""

import ast
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from favor.running.invalidation.definitions import Definition, Key, Module
from favor.running.invalidation.statements import Statements, imports_of
from favor.running.invalidation.syntax import (
    UNFOLLOWED,
    Name,
    dotted,
    imported_in,
    is_private,
    is_text,
    kept_names,
    last,
    read_arguments,
    root,
    stored,
)
from favor.running.invalidation.wording import MESSAGES, TEXT_ERRORS, WORDING, is_wording, message_variables, to_stderr

# The fields of a declared column that describe it, by position.
DESCRIPTIONS = {2: "unit", 3: "meaning"}
# Ways to read keys of a section without naming them.
_UNNAMED = {"model_dump", "model_dump_json", "model_fields", "model_fields_set", "__dict__", "__pydantic_fields__"}
_INTERPRETED = ("ClassVar", "InitVar", "KW_ONLY")
# Decorators that read no annotation and call a function with what it is given. Others may read its signature.
_PLAIN = {
    "property",
    "staticmethod",
    "classmethod",
    "abstractmethod",
    "override",
    "overload",
    "setter",
    "contextmanager",
    "cache",
    "cached_property",
    "lru_cache",
    "wraps",
    "no_grad",
    "inference_mode",
}
# Ways to find code or names that no text says.
_UNFOLLOWED_PATHS = {
    *("pkgutil.resolve_name", "runpy.run_path", "runpy.run_module", "typing.get_type_hints", "inspect.get_annotations"),
    *("importlib.__import__", "sys.modules", *(f"builtins.{name}" for name in UNFOLLOWED)),
}
_UNFOLLOWED_ATTRIBUTES = {"__subclasses__", "__doc__", "__annotations__"}
_OWN = "#own"


class Local:
    """A local variable: what it is written as, a number by order of appearance."""

    def __init__(self) -> None:
        self.label = ""


class Declared(ast.Tuple):
    """Expressions that only say a type."""


# Names bound inside a definition: local variables, and None for what keeps its name.
Scope = Mapping[str, "Local | None"]


def read_module(name: str, path: Path) -> Module:
    """Read a file. Raises ``UserError`` for broken syntax or a relative import."""
    statements = Statements(name, path)
    definitions = {bound: _definition(statements, bound) for bound in ("", *statements.bound)}
    return Module(name, definitions, statements.imports, statements.imported, statements.stars)


def _definition(module: Statements, name: str) -> Definition:
    """Return the definition that ``name`` is bound to; "" is what importing the module does."""
    reader = _Reader(module, name)
    for statement in module.bound[name] if name else module.effects:
        reader.read(statement, {})
    found = reader.finished()
    found.keys_alone = bool(name) and [*map(module.holds_keys_alone, module.bound[name])] == [True]
    if not name:
        found.text += "".join(f"{each};" for each in module.import_effects)
    return found


class _Reader:
    """Collects a definition's text and names. Names bound inside a function are its own and not looked up outside."""

    def __init__(self, module: Statements, name: str) -> None:
        self._module = module
        self._parts: list[str] = []
        self._found = Definition()
        self._locals = 0
        self._declaring = False
        self._valued: set[Name] = set()
        self._words: frozenset[str] = frozenset()  # local variables that hold the words of errors and messages alone
        if is_private(name):
            self._found.labels[name] = _OWN

    def finished(self) -> Definition:
        self._found.text = "".join(self._parts)
        self._found.declared -= self._valued
        if not self._found.data:
            self._found.literals.clear()
        return self._found

    def read(self, node: object, bound: Scope, silent: bool = False) -> None:
        """Read ``node`` where ``bound`` names are local; ``silent`` leaves out texts."""
        if isinstance(node, ast.AST):
            special = getattr(self, f"_{type(node).__name__}", None)
            if special is not None:
                special(node, bound, silent)
            else:
                self._fields(node, bound, silent)
        elif isinstance(node, list):
            for item in node:
                if not (isinstance(item, ast.Pass) or self._module.changes_nothing(item)):
                    self.read(item, bound, silent)
                    self._parts.append(",")
        elif node is not None:
            self._parts.append(repr(node))

    def _fields(self, node: ast.AST, bound: Scope, silent: bool, without: Iterable[str] = ()) -> None:
        # ast.dump differs between Python versions; empty fields are left out so that new ones change nothing.
        self._parts.append(f"{type(node).__name__}(")
        for name in node._fields:
            value = getattr(node, name, None)
            if isinstance(value, list):
                value = [item for item in value if not isinstance(item, ast.Pass)]
            if value is None or value == [] or name == "ctx" or name in without:
                continue
            self._parts.append(f"{name}=")
            self.read(value, bound, silent)
        self._parts.append(")")

    def _Constant(self, node: ast.Constant, _bound: Scope, silent: bool) -> None:
        if isinstance(node.value, str) and node.value.isprintable():
            self._found.literals.add(node.value)
            self._found.describes |= {node.value} & set(DESCRIPTIONS.values())
        self._parts.append("" if silent and isinstance(node.value, str) else f"{node.value!r};")

    def _Name(self, node: ast.Name, bound: Scope, _silent: bool) -> None:
        if self._declaring and node.id == "Any":  # pydantic takes all of either
            node = ast.copy_location(ast.Name("object", ast.Load()), node)
        self._parts.append(f"{self._written(node.id, bound)};")
        if isinstance(node.ctx, ast.Load) and node.id not in bound:
            self._use((node.id,))
            self._found.unnamed |= node.id == "vars"
            self._found.data |= node.id == "__file__"
            if node.id in UNFOLLOWED and node.id not in self._module.bound:
                self._found.unfollowed.add(node.id)
            self._find_unfollowed((node.id,))

    def _written(self, name: str, bound: Scope) -> str:
        """What a name is written as: a number for a local variable, and for a private name of the module."""
        if name in bound:
            local = bound[name]
            if local is None:
                return name
            if not local.label:
                local.label = f"#local{self._locals}"
                self._locals += 1
            return local.label
        labels = self._found.labels
        if is_private(name) and name in self._module.bound and name not in labels:
            labels[name] = f"#{len(labels)}"
        return labels.get(name, name)

    def _use(self, path: Name) -> None:
        self._found.names.add(path)
        (self._found.declared if self._declaring else self._valued).add(path)

    def _find_unfollowed(self, path: Name) -> None:
        """Note a way to find code that no text says, under whatever name it was imported."""
        for bound in (*self._found.imports.get(path[0], ()), *self._module.imports.get(path[0], ())):
            whole = ".".join(filter(None, (bound.module, bound.name, *path[1:])))
            found = next((way for way in _UNFOLLOWED_PATHS if whole == way or whole.startswith(f"{way}.")), None)
            if found and not self._module.finds_code:
                self._found.unfollowed.add(found)

    def _Declared(self, node: Declared, bound: Scope, silent: bool) -> None:
        before, self._declaring = self._declaring, True
        self._fields(node, bound, silent)
        self._declaring = before

    def _Attribute(self, node: ast.Attribute, bound: Scope, silent: bool) -> None:
        if node.attr in DESCRIPTIONS.values():
            self._found.describes.add(node.attr)
        self._found.unnamed |= node.attr in _UNNAMED and not self._module.declares_keys
        if node.attr in _UNFOLLOWED_ATTRIBUTES:
            self._found.unfollowed.add(node.attr)
        path = dotted(node)
        if not path:
            self._fields(node, bound, silent)
            return
        self._parts.append(".".join((self._written(path[0], bound), *path[1:])) + ";")
        if path[0] not in bound:
            self._find_unfollowed(path)
            self._use(path)
            self._found.data |= path[0] == "__file__" or path[-2:] == ("resources", "files")

    def _Global(self, node: ast.Global, bound: Scope, silent: bool) -> None:
        self._fields(node, bound, silent)
        self._found.names |= {(name,) for name in node.names}

    def _Import(self, node: ast.Import | ast.ImportFrom, bound: Scope, silent: bool) -> None:
        self._fields(node, bound, silent)
        for local, target in imports_of(node):
            self._found.imports.setdefault(local, []).append(target)
            self._found.imported |= {target.module, f"{target.module}.{target.name}"}

    _ImportFrom = _Import

    def _FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef, bound: Scope, silent: bool) -> None:
        name = node.name if node.name in bound else self._found.labels.get(node.name, node.name)
        self._parts.append(f"{type(node).__name__}({name},")
        self.read(node.decorator_list, bound)
        if node.name == "__init_subclass__":
            self._found.unfollowed.add(node.name)
        plain = all(last(decorator) in _PLAIN for decorator in node.decorator_list)
        if not plain:
            annotations = [node.returns, *(one.annotation for one in ast.walk(node.args) if isinstance(one, ast.arg))]
            self._parts += [ast.unparse(one) for one in annotations if one is not None]
        arguments = read_arguments(node) if plain else node.args
        for outside in (arguments.defaults, arguments.kw_defaults):
            self.read(outside, bound)
        words, self._words = self._words, self._words | message_variables(node)
        self._body(node.body, self._inside(node, self._parameters(arguments, bound)), silent)
        self._words = words

    _AsyncFunctionDef = _FunctionDef

    def _inside(self, node: ast.FunctionDef | ast.AsyncFunctionDef, bound: Scope) -> Scope:
        """The names inside a function: its own variables by number, unless something sees them by name."""
        own = stored(node.body) - imported_in(node.body)
        kept = kept_names(node)
        parameters = {name for name, local in bound.items() if local is None}
        found = {name: None if name in kept or name in parameters else Local() for name in own}
        # A name that is imported inside is looked up, also where it is bound otherwise too.
        outer = {name: local for name, local in bound.items() if name not in imported_in(node.body)}
        return {**outer, **found}

    def _Lambda(self, node: ast.Lambda, bound: Scope, silent: bool) -> None:
        self.read([node.args.defaults, node.args.kw_defaults], bound)
        self.read(node.body, self._parameters(node.args, bound), silent)

    def _parameters(self, arguments: ast.arguments, bound: Scope) -> Scope:
        listed = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        marks = [len(arguments.posonlyargs), len(arguments.args), arguments.vararg, arguments.kwarg]
        shape = [mark.arg if isinstance(mark, ast.arg) else mark for mark in marks]
        self._parts.append(f"({','.join(one.arg for one in listed)};{shape})")
        extra = [one for one in (arguments.vararg, arguments.kwarg) if one is not None]
        return {**bound, **{one.arg: None for one in (*listed, *extra)}}

    def _ClassDef(self, node: ast.ClassDef, bound: Scope, silent: bool) -> None:
        name = node.name if node.name in bound else self._found.labels.get(node.name, node.name)
        self._parts.append(f"ClassDef({name},")
        self._found.bases += filter(None, map(dotted, node.bases))
        for outside in (node.decorator_list, Declared(node.bases, ast.Load()), node.keywords):
            self.read(outside, bound)
        plain = any(root(decorator) in ("dataclass", "dataclasses") for decorator in node.decorator_list)
        fields = [found for item in node.body for found in self._field(item, plain, bound)]
        # What a class binds is an attribute, whatever a function around it binds.
        self._body(fields, {**bound, **{name: None for name in stored(node.body) if name in bound}}, silent)

    def _field(self, node: ast.stmt, plain: bool, bound: Scope) -> Iterator[ast.stmt]:
        """What counts of a field of a class: nothing of a key of the configuration, of others (annotation, value)."""
        if not isinstance(node, ast.AnnAssign):
            yield node
            return
        kept = self._module.kept_of_key(node.value)
        if kept is None:
            yield _without_annotation(node, plain)
        if not plain and isinstance(node.target, ast.Name):
            default = "".join(map(ast.unparse, kept)) if kept else None
            self._found.keys[node.target.id] = Key(default, self._names_of([*(kept or []), node.annotation], bound))

    def _names_of(self, nodes: list[ast.expr], bound: Scope) -> set[Name]:
        """The names that the type and the default of a field look up."""
        reader = _Reader(self._module, "")
        for node in nodes:
            reader.read(node, bound)
        return reader.finished().names

    def _body(self, body: list[ast.stmt], bound: Scope, silent: bool) -> None:
        self.read(body[1:] if body and is_text(body[0]) else body, bound, silent)
        self._parts.append(")")

    def _AnnAssign(self, node: ast.AnnAssign, bound: Scope, silent: bool) -> None:
        if node.value is not None:
            self.read(ast.copy_location(ast.Assign([node.target], node.value), node), bound, silent)

    def _Assign(self, node: ast.Assign, bound: Scope, silent: bool) -> None:
        target = node.targets[0]
        if not (isinstance(target, ast.Name) and target.id in self._words and target.id in bound):
            self._fields(node, bound, silent)

    def _ListComp(self, node: ast.AST, bound: Scope, silent: bool) -> None:
        generators: list[ast.comprehension] = node.generators  # type: ignore[attr-defined]
        targets = stored([generator.target for generator in generators])
        inside = {**bound, **{name: Local() for name in targets}}
        # The first iterable is evaluated outside.
        self.read(generators[0].iter, bound, silent)
        self._fields(node, inside, silent)

    _SetComp = _GeneratorExp = _DictComp = _ListComp

    def _Assert(self, node: ast.Assert, bound: Scope, silent: bool) -> None:
        self._fields(node, bound, silent, without=("msg",))

    def _Call(self, node: ast.Call, bound: Scope, silent: bool) -> None:
        called = ".".join(dotted(node.func))
        if self._module.hands_settings(called) and len(node.args) == 2:
            arguments = [node.args[0], Declared([node.args[1]], ast.Load())]
            self._call(node, arguments, node.keywords, bound, silent)
            self._found.handed.add(dotted(node.args[1]))
        elif called == "isinstance" and len(node.args) == 2:
            self._call(node, [node.args[0], Declared([node.args[1]], ast.Load())], node.keywords, bound, silent)
        elif called in TEXT_ERRORS:
            kept = [argument for argument in node.args if not (is_wording(argument) or self._holds_words(argument))]
            self._call(node, kept, node.keywords, bound, silent)
        elif called in MESSAGES or (called == "print" and any(to_stderr(keyword) for keyword in node.keywords)):
            self._call(node, node.args, node.keywords, bound, silent=True)
        elif called.endswith("import_module"):
            module = node.args[0] if node.args else None
            if isinstance(module, ast.Constant):
                self._found.loaded.add(str(module.value))
            elif not self._module.finds_code:
                self._found.unfollowed.add(called)
            self._call(node, node.args, node.keywords, bound, silent)
        elif self._module.declares_columns(called):
            places = dict(enumerate(node.args))
            described = [(name, places.pop(place)) for place, name in DESCRIPTIONS.items() if place in places]
            kept = list(places.values())
            named = [keyword for keyword in node.keywords if keyword.arg not in DESCRIPTIONS.values()]
            described += [(str(word.arg), word.value) for word in node.keywords if word not in named]
            self._call(node, kept, named, bound, silent)
            for name, value in described:
                self._found.described.setdefault(name, []).append(ast.unparse(value))
        else:
            wording = isinstance(node.func, ast.Attribute) and node.func.attr in WORDING
            self._call(node, node.args, node.keywords, bound, silent and wording)

    def _Subscript(self, node: ast.Subscript, bound: Scope, silent: bool) -> None:
        self._parts.append("Subscript(")
        self.read(node.value, bound, silent)
        self.read(node.slice, bound)
        self._parts.append(")")

    def _holds_words(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Name) and node.id in self._words

    def _call(
        self,
        node: ast.Call,
        arguments: list[ast.expr],
        keywords: list[ast.keyword],
        bound: Scope,
        silent: bool,
    ) -> None:
        self._parts.append("Call(")
        for part in (node.func, arguments, keywords):
            self.read(part, bound, silent)
        self._parts.append(")")


def _without_annotation(node: ast.AnnAssign, plain: bool) -> ast.stmt:
    """A field of a class as an assignment of (annotation, value); a plain dataclass reads few annotations."""
    written = ast.unparse(node.annotation)
    read = not plain or any(word in written for word in _INTERPRETED)
    parts: list[ast.expr] = [Declared([node.annotation], ast.Load())] if read else []
    parts += [node.value] if node.value is not None else []
    return ast.copy_location(ast.Assign([node.target], ast.Tuple(parts, ast.Load())), node)
