"""Plug-ins: what you add by writing one file. A plug-in is found by its file and loaded by its name.

Listing the plug-ins of a kind imports none of them, so the workflow can do it whenever it is parsed.
"""

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

from favor.foundation.declarations import declared_calls, declared_value, declares
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
    label: where a file may hold several, the keyword that gives a plug-in its name: each call with it that the file
        assigns at its top level is one. ``declares`` is not used then.
    """

    kind: str
    packages: tuple[str, ...]
    declares: str
    root: Path = PACKAGE_ROOT
    label: str = ""

    def modules(self) -> dict[str, str]:
        """Return name -> dotted module of every plug-in, in name order.

        Raises ``UserError`` where two files have one name.
        """
        return {name: module for name, (module, _) in sorted(_places(self).items())}

    def names(self) -> list[str]:
        """Return the names of all plug-ins, sorted."""
        return list(self.modules())

    def module(self, name: str) -> str:
        """Return the dotted module of plug-in ``name``. Raises ``UserError`` naming the nearest one, or what to add."""
        return self._place(name)[0]

    def entry(self, name: str) -> str:
        """Return "module:name" of what plug-in ``name`` declares, for a rule's code fingerprint."""
        return ":".join(self._place(name))

    def path(self, name: str) -> Path:
        """Return the file of plug-in ``name``. Raises ``UserError`` as ``module`` does."""
        return self.root.joinpath(*self.module(name).split(".")).with_suffix(".py")

    def load(self, name: str) -> ModuleType:
        """Import plug-in ``name``. Raises ``UserError`` where there is none, or where its file cannot be imported."""
        module = self.module(name)
        try:
            return importlib.import_module(module)
        except (ImportError, SyntaxError, AttributeError, NameError, TypeError) as error:
            file = self.path(name).name
            raise UserError(f"{self.kind} file '{file}' cannot be used ({error}); fix it (docs/extending.md)") from None

    def declared(self, name: str) -> Any:
        """Return what plug-in ``name`` declares. Raises ``UserError`` as ``load`` does."""
        return getattr(self.load(name), self._place(name)[1])

    def constant(self, name: str, constant: str) -> str:
        """Return the text that the file of ``name`` assigns to ``constant`` at its top level, "" where it does not."""
        return str(declared_value(self.path(name), constant, ""))

    def _place(self, name: str) -> tuple[str, str]:
        return _places(self).get(name) or self._refuse(name)

    def _refuse(self, name: str) -> NoReturn:
        for folder in _folders(self):
            for path in folder.rglob(f"{name}.py") if self.declares and name.isidentifier() and name[0] != "_" else ():
                raise UserError(f"{path} declares no '{self.declares}'; add it (docs/extending.md)")
        raise UserError(f"{self.kind} '{name}' is unknown; {nearest(name, self.names())}")


def _folders(registry: Registry) -> list[Path]:
    return [registry.root.joinpath(*package.split(".")) for package in registry.packages]


@cache
def _places(registry: Registry) -> dict[str, tuple[str, str]]:
    """Return name -> dotted module and the name that declares it there, of every plug-in."""
    found: dict[str, tuple[Path, str]] = {}
    for folder in _folders(registry):
        for path in sorted(folder.rglob("[!_]*.py")):
            for name, bound in _declared(registry, path).items():
                if (other := found.setdefault(name, (path, bound))[0]) != path:
                    raise UserError(f"{other} and {path} are both the {registry.kind} '{name}'; rename one")
    modules = {path: ".".join(path.relative_to(registry.root).with_suffix("").parts) for path, _ in found.values()}
    return {name: (modules[path], bound) for name, (path, bound) in found.items()}


def _declared(registry: Registry, path: Path) -> dict[str, str]:
    if registry.label:
        return declared_calls(path, registry.label)
    return {path.stem: registry.declares} if declares(path, registry.declares) else {}


METHODS = Registry("method", ("favor.federation.methods",), "plan")
METRIC_FAMILIES = Registry("metric family", ("favor.scores", "favor.studies"), "METRICS")
TABLES = Registry("table", ("favor.tables.declarations",), "", label="label")
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
