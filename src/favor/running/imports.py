"""Imports of transformers that no job uses, put off: torch's compiler, its distributed tensors, scipy's optimisers.

Importing one model's class from transformers takes 2.6 processor seconds, of which these are 1.4. Every training,
generation and encoder job would pay them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

COMPILER, PROBES = "torch._dynamo", "transformers.utils.import_utils"
# The one module of the compiler's package that transformers' models import; it needs nothing of the package itself.
_ALONE = f"{COMPILER}._trace_wrapped_higher_order_op"
# Marks that transformers, and torch's attention to packed rows, set on functions when they are imported; they say
# something to the compiler only.
_MARKS = ("allow_in_graph", "assume_constant_result", "disable", "disallow_in_graph")


def put_off_unused() -> None:
    """Let transformers, imported after this call, do without what no job uses.

    The compiler's package is loaded when something asks for a name of it. transformers takes torch to be a build
    without ``torch.distributed``, which it supports, and scipy to be absent, which its losses of object detection alone
    use. Does nothing for what is imported already.
    """
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())


@contextmanager
def absent(package: str) -> Iterator[None]:
    """Let what is imported in the context take ``package`` to be not installed, unless it is imported already."""
    modules: dict[str, ModuleType | None] = sys.modules  # type: ignore[assignment]
    hidden = modules.setdefault(package, None) is None
    try:
        yield
    finally:
        if hidden:
            del modules[package]


class _Finder(MetaPathFinder):
    """Finds modules as Python does, and has some of them loaded by the loaders below."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        loader = {COMPILER: _Compiler, PROBES: _Probes}.get(fullname)
        if (
            isinstance(sys.modules.get(COMPILER), _PutOff)
            and fullname.startswith(f"{COMPILER}.")
            and fullname != _ALONE
        ):
            loader = _Part
        spec = None if loader is None else PathFinder.find_spec(fullname, path)
        if loader is not None and spec is not None and spec.loader is not None:
            spec.loader = loader(spec.loader)
        return spec


class _Around(Loader):
    def __init__(self, loader: Any) -> None:
        self.loader = loader

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return None


class _Probes(_Around):
    """transformers' module of what is installed; it also reads the list of its models once, where it would twice."""

    def exec_module(self, module: ModuleType) -> None:
        self.loader.exec_module(module)
        changed: dict[str, Callable[..., Any]] = {
            "is_torch_distributed_available": lambda: False,
            "is_scipy_available": lambda: False,
            "create_import_structure_from_path": _by_folder(module.__dict__["create_import_structure_from_path"]),
        }
        vars(module).update(changed)


def _by_folder(read: Callable[[str], Any]) -> Callable[[Any], Any]:
    known = cache(read)
    return lambda path: known(str(path).removesuffix("/__init__.py"))


class _Compiler(_Around):
    """torch's compiler, which is executed when a name or another module of it is asked for."""

    def exec_module(self, module: ModuleType) -> None:
        vars(module).update(dict.fromkeys(_MARKS, _mark))
        vars(module)["_put_off"] = self.loader
        module.__class__ = _PutOff


class _PutOff(ModuleType):
    def load(self) -> None:
        """Execute the module after all."""
        object.__setattr__(self, "__class__", ModuleType)
        for mark in _MARKS:
            del vars(self)[mark]
        vars(self).pop("_put_off").exec_module(self)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"module '{self.__name__}' has no attribute '{name}'")
        self.load()
        return getattr(self, name)


class _Part(_Around):
    """A module of the compiler, before which the whole compiler is executed; that imports most of its modules."""

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        package = sys.modules[COMPILER]
        if isinstance(package, _PutOff):
            package.load()
        return sys.modules.get(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        # One that the compiler has imported is whole already.
        if module.__spec__ is None or module.__spec__.loader is self:
            self.loader.exec_module(module)


def _mark(function: Callable[..., Any] | None = None, *options: Any, **named: Any) -> Any:
    return (lambda decorated: decorated) if function is None else function
