"""The extras of pyproject.toml: packages that few runs need, and what to say where they are not installed."""

from importlib.util import find_spec

from favor.foundation.errors import UserError

# The modules of each extra that something a configuration asks for imports.
MODULES = {
    "judges": ("httpx2", "openai"),
    "mauve": ("faiss", "mauve"),
    "release": ("mlcroissant", "rocrate"),
    "retrieval": ("bm25s",),
    "sites": ("cryptography",),
    "words": ("icu4py",),
}


def require(extra: str, what: str) -> None:
    """Raise ``UserError`` where ``what`` needs an extra whose packages are not installed."""
    absent = [module for module in MODULES[extra] if find_spec(module) is None]
    if absent:
        raise UserError(f"{what} needs packages that are not installed ({', '.join(absent)}); pip install '.[{extra}]'")
