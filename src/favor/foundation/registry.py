"""Plug-ins: what you add by writing one file. A plug-in is found by its file and loaded by its name.

Listing the plug-ins of a kind imports none of them, so the workflow can do it whenever it is parsed.
"""

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import NoReturn

from favor.foundation.declarations import declared_value, declares
from favor.foundation.errors import UserError
from favor.foundation.names import nearest

PACKAGE_ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Registry:
    """The plug-ins of one kind.

    kind: what messages call one of them.
    packages: dotted names of the folders that hold their files, at any depth. Other modules may stand beside them.
    declares: the name that makes a file a plug-in, assigned or defined at its top level.
    root: the folder that holds the packages.
    """

    kind: str
    packages: tuple[str, ...]
    declares: str
    root: Path = PACKAGE_ROOT

    def modules(self) -> dict[str, str]:
        """Return name -> dotted module of every plug-in, in name order.

        Raises ``UserError`` where two files have one name.
        """
        return dict(sorted(_modules(self).items()))

    def names(self) -> list[str]:
        """Return the names of all plug-ins, sorted."""
        return list(self.modules())

    def module(self, name: str) -> str:
        """Return the dotted module of plug-in ``name``. Raises ``UserError`` naming the nearest one, or what to add."""
        found = _modules(self).get(name)
        if found is None:
            self._refuse(name)
        return found

    def entry(self, name: str) -> str:
        """Return "module:name" of what plug-in ``name`` declares, for a rule's code fingerprint."""
        return f"{self.module(name)}:{self.declares}"

    def path(self, name: str) -> Path:
        """Return the file of plug-in ``name``. Raises ``UserError`` as ``module`` does."""
        return self.root.joinpath(*self.module(name).split(".")).with_suffix(".py")

    def load(self, name: str) -> ModuleType:
        """Import plug-in ``name``. Raises ``UserError`` where there is none, or where its file cannot be imported."""
        module = self.module(name)
        try:
            return importlib.import_module(module)
        except (ImportError, SyntaxError, AttributeError, NameError, TypeError) as error:
            message = f"{self.kind} file '{name}.py' cannot be used ({error}); fix it (docs/extending.md)"
            raise UserError(message) from None

    def constant(self, name: str, constant: str) -> str:
        """Return the text that the file of ``name`` assigns to ``constant`` at its top level, "" where it does not."""
        return str(declared_value(self.path(name), constant, ""))

    def _refuse(self, name: str) -> NoReturn:
        for folder in _folders(self):
            for path in folder.rglob(f"{name}.py") if name.isidentifier() and name[0] != "_" else ():
                raise UserError(f"{path} declares no '{self.declares}'; add it (docs/extending.md)")
        raise UserError(f"{self.kind} '{name}' is unknown; {nearest(name, self.names())}")


def _folders(registry: Registry) -> list[Path]:
    return [registry.root.joinpath(*package.split(".")) for package in registry.packages]


@cache
def _modules(registry: Registry) -> dict[str, str]:
    found: dict[str, Path] = {}
    for folder in _folders(registry):
        for path in sorted(folder.rglob("[!_]*.py")):
            if declares(path, registry.declares) and found.setdefault(path.stem, path) != path:
                raise UserError(f"{found[path.stem]} and {path} are both the {registry.kind} '{path.stem}'; rename one")
    return {name: ".".join(path.relative_to(registry.root).with_suffix("").parts) for name, path in found.items()}


METHODS = Registry("method", ("favor.federation.methods",), "plan")
METRIC_FAMILIES = Registry("metric family", ("favor.scores", "favor.studies"), "METRICS")
TABLES = Registry("table", ("favor.tables.declarations",), "TABLE")
FIGURES = Registry("figure", ("favor.figures.declarations",), "FIGURE")
ROBUST_RULES = Registry("robust rule", ("favor.federation.robust",), "RULE")
ENCODER_KINDS = Registry("encoder kind", ("favor.encoders.kinds",), "load")
CORPUS_READERS = Registry("corpus reader", ("favor.corpora.readers", "favor.exports"), "read")
EXPORTS = Registry("export format", ("favor.exports",), "EXPORT")
JUDGES = Registry("judge", ("favor.studies.judges",), "open_judge")


def row_method(row: str, overrides: Mapping[str, object]) -> str:
    """Return the method file behind a row of ``methods``: the one it names, or the one of its own name.

    A row with ``outputs`` or ``adapters`` runs the file of that name.
    """
    given = next((key for key in ("outputs", "adapters") if key in overrides), row)
    return str(overrides.get("method", given))
