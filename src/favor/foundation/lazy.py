"""Mappings whose values are made when they are asked for, so that they need not be in memory together."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeVar

T = TypeVar("T")


class LazyMapping(Mapping[str, T]):
    """``keys``, each with the value that ``make`` returns; it is made again every time."""

    def __init__(self, keys: Iterable[str], make: Callable[[str], T]) -> None:
        self._keys = dict.fromkeys(keys)
        self._make = make

    def __getitem__(self, key: str) -> T:
        if key not in self._keys:
            raise KeyError(key)
        return self._make(key)

    def __contains__(self, key: object) -> bool:
        return key in self._keys

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __len__(self) -> int:
        return len(self._keys)
