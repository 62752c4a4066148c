"""One Python file as definitions: the text that can change a result, and the names each definition uses.

A definition is what a top-level statement binds: a function, a class, a constant. Its text is the syntax tree without
what no result depends on: docstrings, comments, annotations, the words of errors and messages, the names of local
variables and of private helpers, and the units and meanings of declared columns, which are kept apart for the code that
prints them. The keys of a section of the configuration are kept apart too, since a job is handed their values.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from favor.foundation.errors import UserError


@dataclass(frozen=True)
class Import:
    """What an import binds: a module, or ``name`` of it."""

    module: str
    name: str = ""


PACKAGE = "favor"
SCRIPT = "script"  # a script is known as "script NAME"
# Errors whose words only the user reads. Those of other errors may be kept as a result, such as a judge's bad answer.
TEXT_ERRORS = {"UserError", "ValueError"}
# Calls whose words go to the terminal and the log.
MESSAGES = {"Progress", "warnings.warn"}
# Modules whose functions refuse what they are given or leave it as it was: a statement that calls one says nothing.
CHECKS = {f"{PACKAGE}.federation.upload_checks"}
# Methods that put words together. What other calls in a message are given counts: they may have effects.
_WORDING = {"format", "get", "join"}
# The fields of a declared column that describe it, by position.
DESCRIPTIONS = {2: "unit", 3: "meaning"}
COLUMN = (f"{PACKAGE}.foundation.tables", "Column")
# What declares a key of the configuration, and how many of its arguments count: the default, which is what code that is
# given no value computes with. The others are the meaning and the bounds, which change no value that they allow.
KEYS = {f"{PACKAGE}.settings.section": {"key": 1, "section": 1, "required": 0}}
# What gives a script its settings: every value stands in the rule's parameter, so that it takes no default of theirs.
HANDING = Import(f"{PACKAGE}.running.jobs.job", "job")
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
_UNFOLLOWED = {"globals", "eval", "exec", "__import__"}
_UNFOLLOWED_PATHS = {
    *("pkgutil.resolve_name", "runpy.run_path", "runpy.run_module", "typing.get_type_hints", "inspect.get_annotations"),
    *("importlib.__import__", "sys.modules", *(f"builtins.{name}" for name in _UNFOLLOWED)),
}
_UNFOLLOWED_ATTRIBUTES = {"__subclasses__", "__doc__", "__annotations__"}
# Modules that look for code in these ways, and why none of it is missed.
FOLLOWED_OTHERWISE = {
    "favor.foundation.registry": "a rule names the plug-in that its job loads",
    "favor.lm.fused": "modules of transformers",
    "favor.running.jobs.job": "whether torch is loaded",
}
# Functions that see a local variable by its name.
_BY_NAME = {"locals", "vars", "dir", *_UNFOLLOWED}
_OWN = "#own"

Name = tuple[str, ...]


class Local:
    """A local variable: what it is written as, a number by order of appearance."""

    def __init__(self) -> None:
        self.label = ""


class Declared(ast.Tuple):
    """Expressions that only say a type."""


# Names bound inside a definition: local variables, and None for what keeps its name.
Scope = Mapping[str, "Local | None"]


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
    handed (``handed``). ``bases`` are those of a class, ``keys`` those that a section declares itself. ``unnamed``:
    whether it may read keys that its text does not name.

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

    @classmethod
    def read(cls, name: str, path: Path) -> Module:
        """Read a file. Raises ``UserError`` for broken syntax or a relative import."""
        index = _Index(name, path)
        definitions = {bound: index.definition(bound) for bound in ("", *index.bound)}
        return cls(name, definitions, index.imports, index.imported, index.stars)


class _Index:
    """Which statements of a file bind a name, what it imports, and what importing it does."""

    def __init__(self, name: str, path: Path) -> None:
        self._name = name
        self.declares_keys = name in KEYS  # what its sections make of themselves are sections again
        self.finds_code = name in FOLLOWED_OTHERWISE
        self._is_script = name.startswith(f"{SCRIPT} ")
        try:
            tree = ast.parse(path.read_text(encoding="utf-8"))
        except SyntaxError as error:
            raise UserError(f"{path}:{error.lineno}: {error.msg}; correct the syntax") from None
        self.bound: dict[str, list[ast.stmt]] = {}
        self.imports: dict[str, list[Import]] = {}
        self.effects: list[ast.stmt] = []
        self.stars: set[str] = set()
        self.imported: set[str] = set()
        for statement in tree.body[1:] if tree.body and _is_text(tree.body[0]) else tree.body:
            self._index(statement)

    def _index(self, statement: ast.stmt) -> None:
        if isinstance(statement, ast.Import | ast.ImportFrom):
            self._index_import(statement)
        elif isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            self._bind(statement, [statement.name])
            body = statement.body if isinstance(statement, ast.ClassDef) else []
            methods = [one for one in body if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)]
            decorators = [each for one in (statement, *methods) for each in one.decorator_list]
            if any(self._is_own(_root(each)) or _last(each) == "register" for each in decorators):
                self.effects.append(statement)  # a decorator of the package may register what it decorates
        elif isinstance(statement, ast.Assign | ast.AugAssign | ast.AnnAssign) and _names_only(statement):
            if not isinstance(statement, ast.AnnAssign) or statement.value is not None:
                self._bind(statement, _stored([statement]))
            changes_import = isinstance(statement, ast.AugAssign) and _stored([statement]) & self.imports.keys()
            if self._is_script or changes_import or self._may_register(statement.value):
                self.effects.append(statement)
        elif isinstance(statement, ast.If) and self._never_runs(statement.test):
            for other in statement.orelse:
                self._index(other)
        else:
            self.effects.append(statement)
            for name in _stored([statement]):
                self.bound.setdefault(name, [])  # part of the effects
            for inner in ast.walk(statement):
                if isinstance(inner, ast.Import | ast.ImportFrom):
                    self._index_import(inner)

    def _may_register(self, value: ast.expr | None) -> bool:
        """Whether a value comes from a function of the package, which may do more than return it."""
        return isinstance(value, ast.Call) and self._is_own(_root(value)) and (_last(value) or "A")[0].islower()

    def _never_runs(self, test: ast.expr) -> bool:
        """Whether a block is for type checkers, or for a module that is run: scripts are, other modules are not."""
        return _root(test) == "TYPE_CHECKING" or (_is_main(test) and not self._is_script)

    def _is_own(self, name: str) -> bool:
        return name in self.bound or any(
            target.module.split(".")[0] == PACKAGE for target in self.imports.get(name, ())
        )

    def _bind(self, statement: ast.stmt, names: Iterable[str]) -> None:
        for name in names:
            self.bound.setdefault(name, []).append(statement)

    def _index_import(self, statement: ast.Import | ast.ImportFrom) -> None:
        for local, target in imports_of(statement):
            self.imported.add(target.module)
            if local == "*":
                self.stars.add(target.module)
            else:
                self.imports.setdefault(local, []).append(target)
                # "from favor.lm import stack" may import a module.
                self.imported.add(f"{target.module}.{target.name}")

    def definition(self, name: str) -> Definition:
        """Return the definition that ``name`` is bound to; "" is what importing the module does."""
        reader, statements = _Reader(self, name), self.bound[name] if name else self.effects
        for statement in statements:
            reader.read(statement, {})
        return reader.finished()

    def kept_of_key(self, value: ast.expr | None) -> list[ast.expr] | None:
        """What counts of a call that declares a key of the configuration; None for anything else."""
        if not (isinstance(value, ast.Call) and isinstance(value.func, ast.Name)):
            return None
        for target in self.imports.get(value.func.id, ()):
            if target.name in KEYS.get(target.module, {}):
                return value.args[: KEYS[target.module][target.name]]
        return None

    def hands_settings(self, name: str) -> bool:
        """Whether ``name`` is what gives a script its settings."""
        return HANDING in self.imports.get(name, ())

    def only_checks(self, node: object) -> bool:
        """Whether a statement calls a check of what is there, and nothing else."""
        value = node.value if isinstance(node, ast.Expr) else None
        if not (isinstance(value, ast.Call) and isinstance(value.func, ast.Name)):
            return False
        effects = sum(isinstance(one, ast.Call | ast.NamedExpr | ast.Await) for one in ast.walk(value)) - 1
        return not effects and any(target.module in CHECKS for target in self.imports.get(value.func.id, ()))

    def declares_columns(self, name: str) -> bool:
        """Whether ``name`` is the class of declared table columns here."""
        here = (self._name, name) == COLUMN
        return here or any((target.module, target.name) == COLUMN for target in self.imports.get(name, ()))


def imports_of(statement: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, Import]]:
    """Yield (local name, what it is bound to). Raises ``UserError`` at a relative import."""
    if isinstance(statement, ast.Import):
        for alias in statement.names:
            # "import a.b" binds a, "import a.b as c" the module itself.
            yield alias.asname or alias.name.split(".")[0], Import(alias.name)
        return
    if statement.level:
        raise UserError(
            f"relative import of '{statement.module}': write it as '{PACKAGE}....' so that it can be followed"
        )
    for alias in statement.names:
        yield alias.asname or alias.name, Import(str(statement.module), alias.name)


class _Reader:
    """Collects a definition's text and names. Names bound inside a function are its own and not looked up outside."""

    def __init__(self, module: _Index, name: str) -> None:
        self._module = module
        self._parts: list[str] = []
        self._found = Definition()
        self._locals = 0
        self._declaring = False
        self._valued: set[Name] = set()
        self._words: frozenset[str] = frozenset()  # local variables that hold the words of errors and messages alone
        if _is_private(name):
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
                if not (isinstance(item, ast.Pass) or self._module.only_checks(item)):
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

    def _Constant(self, node: ast.Constant, bound: Scope, silent: bool) -> None:
        if isinstance(node.value, str) and node.value.isprintable():
            self._found.literals.add(node.value)
            self._found.describes |= {node.value} & set(DESCRIPTIONS.values())
        self._parts.append("" if silent and isinstance(node.value, str) else f"{node.value!r};")

    def _Name(self, node: ast.Name, bound: Scope, silent: bool) -> None:
        self._parts.append(f"{self._written(node.id, bound)};")
        if isinstance(node.ctx, ast.Load) and node.id not in bound:
            self._use((node.id,))
            self._found.unnamed |= node.id == "vars"
            self._found.data |= node.id == "__file__"
            if node.id in _UNFOLLOWED and node.id not in self._module.bound:
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
        if _is_private(name) and name in self._module.bound and name not in labels:
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
        path = _dotted(node)
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
        plain = all(_last(decorator) in _PLAIN for decorator in node.decorator_list)
        if not plain:
            annotations = [node.returns, *(one.annotation for one in ast.walk(node.args) if isinstance(one, ast.arg))]
            self._parts += [ast.unparse(one) for one in annotations if one is not None]
        arguments = _read_arguments(node) if plain else node.args
        for outside in (arguments.defaults, arguments.kw_defaults):
            self.read(outside, bound)
        words, self._words = self._words, self._words | _words(node)
        self._body(node.body, self._inside(node, self._parameters(arguments, bound)), silent)
        self._words = words

    _AsyncFunctionDef = _FunctionDef

    def _inside(self, node: ast.FunctionDef | ast.AsyncFunctionDef, bound: Scope) -> Scope:
        """The names inside a function: its own variables by number, unless something sees them by name."""
        own = _stored(node.body) - _imported_in(node.body)
        kept = _kept_names(node)
        parameters = {name for name, local in bound.items() if local is None}
        found = {name: None if name in kept or name in parameters else Local() for name in own}
        # A name that is imported inside is looked up, also where it is bound otherwise too.
        outer = {name: local for name, local in bound.items() if name not in _imported_in(node.body)}
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
        self._found.bases += filter(None, map(_dotted, node.bases))
        for outside in (node.decorator_list, Declared(node.bases, ast.Load()), node.keywords):
            self.read(outside, bound)
        plain = any(_root(decorator) in ("dataclass", "dataclasses") for decorator in node.decorator_list)
        fields = [found for item in node.body for found in self._field(item, plain, bound)]
        # What a class binds is an attribute, whatever a function around it binds.
        self._body(fields, {**bound, **{name: None for name in _stored(node.body) if name in bound}}, silent)

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
        self.read(body[1:] if body and _is_text(body[0]) else body, bound, silent)
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
        targets = _stored([generator.target for generator in generators])
        inside = {**bound, **{name: Local() for name in targets}}
        # The first iterable is evaluated outside.
        self.read(generators[0].iter, bound, silent)
        self._fields(node, inside, silent)

    _SetComp = _GeneratorExp = _DictComp = _ListComp

    def _Assert(self, node: ast.Assert, bound: Scope, silent: bool) -> None:
        self._fields(node, bound, silent, without=("msg",))

    def _Call(self, node: ast.Call, bound: Scope, silent: bool) -> None:
        called = ".".join(_dotted(node.func))
        if self._module.hands_settings(called) and len(node.args) == 2:
            arguments = [node.args[0], Declared([node.args[1]], ast.Load())]
            self._call(node, arguments, node.keywords, bound, silent)
            self._found.handed.add(_dotted(node.args[1]))
        elif called == "isinstance" and len(node.args) == 2:
            self._call(node, [node.args[0], Declared([node.args[1]], ast.Load())], node.keywords, bound, silent)
        elif called in TEXT_ERRORS:
            kept = [argument for argument in node.args if not (_is_wording(argument) or self._holds_words(argument))]
            self._call(node, kept, node.keywords, bound, silent)
        elif called in MESSAGES or (called == "print" and any(_to_stderr(keyword) for keyword in node.keywords)):
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
            wording = isinstance(node.func, ast.Attribute) and node.func.attr in _WORDING
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


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _is_wording(node: ast.expr) -> bool:
    """Whether an argument of an error is written out where the error is raised."""
    if isinstance(node, ast.BinOp):
        return _is_wording(node.left) or _is_wording(node.right)
    if isinstance(node, ast.IfExp):
        return _is_wording(node.body) and _is_wording(node.orelse)
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def _is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def _last(node: ast.expr) -> str:
    """The last part of the name of a decorator, "" for one that is no name."""
    return (_dotted(node.func if isinstance(node, ast.Call) else node) or ("",))[-1]


def _read_arguments(node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.arguments:
    """The parameters of a function without optional ones that it never reads: the last by position, any by keyword.

    Their defaults are constants, so that nothing is computed for them either.
    """
    names = {one.id for statement in node.body for one in ast.walk(statement) if isinstance(one, ast.Name)}
    given = node.args
    if names & _BY_NAME or given.kwarg or given.vararg:
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


def _imported_in(body: Iterable[ast.stmt]) -> set[str]:
    """The names that imports inside a function bind."""
    nodes = [node for statement in body for node in ast.walk(statement)]
    found = [node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)]
    return {alias.asname or alias.name.split(".")[0] for node in found for alias in node.names}


def _kept_names(node: ast.AST) -> set[str]:
    """The names inside a function that are written as they are: some statements and functions say them as texts."""
    kept: set[str] = set()
    for one in ast.walk(node):
        if isinstance(one, ast.Name) and one.id in _BY_NAME:
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


def _words(node: ast.FunctionDef | ast.AsyncFunctionDef) -> frozenset[str]:
    """Variables of a function that are only assigned words and only handed to errors and messages."""
    worded: set[str] = set()
    for one in ast.walk(node):
        if isinstance(one, ast.Assign) and isinstance(one.targets[0], ast.Name) and len(one.targets) == 1:
            worded |= {one.targets[0].id} if _is_wording(one.value) else set()
    said: set[int] = set()
    for one in ast.walk(node):
        if isinstance(one, ast.Call) and ".".join(_dotted(one.func)) in TEXT_ERRORS:
            said |= {id(each) for each in one.args if isinstance(each, ast.Name)}
            said |= {id(part) for each in one.args if _is_wording(each) for part in ast.walk(each)}
        elif isinstance(one, ast.Assign) and _is_wording(one.value):
            said |= {id(each) for each in one.targets}
    others = {one.id for one in ast.walk(node) if isinstance(one, ast.Name) and id(one) not in said}
    return frozenset(worded - others)


def _to_stderr(keyword: ast.keyword) -> bool:
    return keyword.arg == "file" and _dotted(keyword.value) == ("sys", "stderr")


def _is_main(test: ast.expr) -> bool:
    return isinstance(test, ast.Compare) and _root(test.left) == "__name__"


def _without_annotation(node: ast.AnnAssign, plain: bool) -> ast.stmt:
    """A field of a class as an assignment of (annotation, value); a plain dataclass reads few annotations."""
    written = ast.unparse(node.annotation)
    read = not plain or any(word in written for word in _INTERPRETED)
    parts: list[ast.expr] = [Declared([node.annotation], ast.Load())] if read else []
    parts += [node.value] if node.value is not None else []
    return ast.copy_location(ast.Assign([node.target], ast.Tuple(parts, ast.Load())), node)


def _dotted(node: ast.expr) -> Name:
    """The parts of a dotted name; () for any other expression."""
    if isinstance(node, ast.Attribute):
        base = _dotted(node.value)
        return (*base, node.attr) if base else ()
    return (node.id,) if isinstance(node, ast.Name) else ()


def _root(node: ast.expr) -> str:
    path = _dotted(node.func if isinstance(node, ast.Call) else node)
    return path[-1] if path[:1] == ("typing",) else "".join(path[:1])


def _names_only(statement: ast.Assign | ast.AugAssign | ast.AnnAssign) -> bool:
    """Whether a statement assigns to names, and to no item or attribute."""
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    return all(isinstance(node, ast.Name | ast.Tuple | ast.List | ast.Starred) for node in targets) and not any(
        isinstance(node, ast.Attribute | ast.Subscript) for target in targets for node in ast.walk(target)
    )


def _stored(nodes: Iterable[ast.AST]) -> set[str]:
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
