"""The statements of one file: which of them bind a name, what it imports, and what importing it does."""

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path

from favor.foundation.errors import UserError
from favor.running.invalidation.definitions import PACKAGE, SCRIPT, Import
from favor.running.invalidation.syntax import Name, dotted, is_main, is_text, last, names_only, root, stored

COLUMN = (f"{PACKAGE}.foundation.tables", "Column")
# What declares a key of the configuration, and how many of its arguments count: the default, which is what code that is
# given no value computes with. The others are the meaning and the bounds, which change no value that they allow.
KEYS = {f"{PACKAGE}.settings.section": {"key": 1, "section": 1, "required": 0}}
# What gives a script its settings: every value stands in the rule's parameter, so that it takes no default of theirs.
HANDING = Import(f"{PACKAGE}.running.jobs.job", "job")
# Modules that cannot change a result, each with its reason. A statement that only calls a function of one says nothing.
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
    "favor.running.folder.results_folder": "what a start does in the results folder before any job",
    "favor.running.jobs.slurm_jobs": "which jobs are queued",
    "favor.running.repairs.slurm_plugin": "how jobs are sent to Slurm",
}
# Modules that look for code in these ways, and why none of it is missed.
FOLLOWED_OTHERWISE = {
    "favor.federation.exchange": "a rule names the method whose state its job keeps",
    "favor.foundation.registry": "a rule names the plug-in that its job loads",
    "favor.lm.fused": "modules of transformers",
    "favor.running.jobs.job": "whether torch is loaded",
}


class Statements:
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
        self._bindings: dict[str, list[str]] = {}
        self._written = {dotted(node) for node in ast.walk(tree) if isinstance(node, ast.Name | ast.Attribute)}
        self._for_effect: set[str] = set()
        for statement in tree.body[1:] if tree.body and is_text(tree.body[0]) else tree.body:
            self._index(statement)

    def _index(self, statement: ast.stmt) -> None:
        if isinstance(statement, ast.Import | ast.ImportFrom):
            self._index_import(statement)
        elif isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            self._bind(statement, [statement.name])
            body = statement.body if isinstance(statement, ast.ClassDef) else []
            methods = [one for one in body if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)]
            decorators = [each for one in (statement, *methods) for each in one.decorator_list]
            if any(self._is_own(root(each)) or last(each) == "register" for each in decorators):
                self.effects.append(statement)  # a decorator of the package may register what it decorates
        elif isinstance(statement, ast.Assign | ast.AugAssign | ast.AnnAssign) and names_only(statement):
            if not isinstance(statement, ast.AnnAssign) or statement.value is not None:
                self._bind(statement, stored([statement]))
            changes_import = isinstance(statement, ast.AugAssign) and stored([statement]) & self.imports.keys()
            if self._is_script or changes_import or self._may_register(statement.value):
                self.effects.append(statement)
        elif isinstance(statement, ast.If) and self._never_runs(statement.test):
            for other in statement.orelse:
                self._index(other)
        else:
            self.effects.append(statement)
            for name in stored([statement]):
                self.bound.setdefault(name, [])  # part of the effects
                self._bindings.setdefault(name, []).append("")
            for inner in ast.walk(statement):
                if isinstance(inner, ast.Import | ast.ImportFrom):
                    self._index_import(inner)

    def _may_register(self, value: ast.expr | None) -> bool:
        """Whether a value comes from a function of the package, which may do more than return it."""
        return isinstance(value, ast.Call) and self._is_own(root(value)) and (last(value) or "A")[0].islower()

    def _never_runs(self, test: ast.expr) -> bool:
        """Whether a block is for type checkers, or for a module that is run: scripts are, other modules are not."""
        return root(test) == "TYPE_CHECKING" or (is_main(test) and not self._is_script)

    def _is_own(self, name: str) -> bool:
        return name in self.bound or any(
            target.module.split(".")[0] == PACKAGE for target in self.imports.get(name, ())
        )

    def _bind(self, statement: ast.stmt, names: Iterable[str]) -> None:
        for name in names:
            self.bound.setdefault(name, []).append(statement)
            self._bindings.setdefault(name, []).append("")

    def _index_import(self, statement: ast.Import | ast.ImportFrom) -> None:
        for local, target in imports_of(statement):
            self.imported.add(target.module)
            if local == "*":
                self.stars.add(target.module)
                continue
            self.imports.setdefault(local, []).append(target)
            # "from favor.lm import stack" may import a module.
            self.imported.add(f"{target.module}.{target.name}")
            path: Name = (local,)
            if not target.name and local == target.module.split(".")[0]:
                path = tuple(target.module.split("."))
            else:
                self._bindings.setdefault(local, []).append(f"{target.module}.{target.name}")
            if path not in self._written and target.module.split(".")[0] not in (PACKAGE, "__future__"):
                self._for_effect.add(f"{target.module}.{target.name}")

    @property
    def import_effects(self) -> list[str]:
        """What importing does that no statement says.

        Libraries that are imported and not named again, and which binding of a name comes last where one is an import.
        """
        again = {name: one for name, one in self._bindings.items() if len(one) > 1 and any(one)}
        return [*sorted(self._for_effect), *(f"{name}={one}" for name, one in sorted(again.items()))]

    def kept_of_key(self, value: ast.expr | None) -> list[ast.expr] | None:
        """What counts of a call that declares a key of the configuration; None for anything else."""
        if not (isinstance(value, ast.Call) and isinstance(value.func, ast.Name)):
            return None
        for target in self.imports.get(value.func.id, ()):
            if target.name in KEYS.get(target.module, {}):
                return value.args[: KEYS[target.module][target.name]]
        return None

    def holds_keys_alone(self, node: ast.stmt) -> bool:
        """Whether a statement is a class that has bases by name and keys of the configuration, and nothing else."""
        if not isinstance(node, ast.ClassDef) or node.decorator_list or node.keywords or not node.bases:
            return False
        keys = [one for one in node.body if not (is_text(one) or isinstance(one, ast.Pass))]
        return all(map(dotted, node.bases)) and all(
            isinstance(one, ast.AnnAssign)
            and isinstance(one.target, ast.Name)
            and self.kept_of_key(one.value) is not None
            for one in keys
        )

    def hands_settings(self, name: str) -> bool:
        """Whether ``name`` is what gives a script its settings."""
        return HANDING in self.imports.get(name, ())

    def changes_nothing(self, node: object) -> bool:
        """Whether a statement calls a function that cannot change a result, and nothing else."""
        value = node.value if isinstance(node, ast.Expr) else None
        if not (isinstance(value, ast.Call) and isinstance(value.func, ast.Name)):
            return False
        effects = sum(isinstance(one, ast.Call | ast.NamedExpr | ast.Await) for one in ast.walk(value)) - 1
        return not effects and any(target.module in EXEMPT for target in self.imports.get(value.func.id, ()))

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
