"""What every job is given beside its configuration and code: files under names and in places, and libraries.

Snakemake compares which files a job reads, not as what: two inputs that change places, or a list that is reversed, are
the same set of files. Both are parameters of every rule, told from others by being tuples.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from favor.foundation.files import read_json, write_json
from favor.running.invalidation.local_files import value_of

FILES, LIBRARIES = "handed_over", "libraries"
# Those whose versions can change numbers.
_COMPUTE = ("numpy", "peft", "scikit-learn", "sentence-transformers", "torch", "transformers")
_KEPT = "libraries.json"
_LATEX = {".pdf", ".tex"}  # are written where LaTeX is installed


def handed_over(rule: Any) -> Callable[[Any], tuple[str, str]]:
    """Return the function of wildcards that gives the jobs of ``rule`` their parameter ``handed_over``.

    It is (FILES, digits and suffixes) of what they read and write under which names and in which order. The suffixes
    are those of the outputs.
    """
    from snakemake.io import strip_wildcard_constraints

    def files(wildcards: Any) -> tuple[str, str]:
        outputs = [strip_wildcard_constraints(str(each)) for each in rule.output]
        names = [
            [(name, len(one) if isinstance(one, list) else None) for name, one in each.items()]
            for each in (rule.input, rule.output)
        ]
        inputs = [value_of(each, wildcards) for each in rule.input]
        digits = hashlib.sha256(json.dumps([names, inputs, outputs], sort_keys=True).encode()).hexdigest()[:16]
        return FILES, " ".join([digits, *sorted({Path(each).suffix for each in outputs} - {""})])

    return files


def handed_otherwise(old: str, new: str) -> str:
    """Return in words how two values of :func:`handed_over` differ."""
    before, now = ({*value.split()[1:]} for value in (old, new))
    if added := _LATEX & now - before:
        return f"LaTeX is there now: {', '.join(sorted(added))} is added"
    if gone := _LATEX & before - now:
        return f"LaTeX is not there any more: {', '.join(sorted(gone))} is left out"
    return "it reads or writes other files, or the same under other names or in another order"


@cache
def installed() -> tuple[str, str]:
    """Return (LIBRARIES, versions): the libraries of this environment that compute, as "name version, ..."."""
    found = []
    for name in _COMPUTE:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:  # an environment that plans need not hold them
            found.append(f"{name} -")
    return LIBRARIES, ", ".join(found)


class Libraries:
    """Which results other versions of libraries made; with ``rerun`` they are made again, else they are only named."""

    def __init__(self, results: Path, folder: str, rerun: bool) -> None:
        self.rerun = rerun
        self._path = results / folder / _KEPT
        self._made: dict[tuple[str, ...], tuple[str, str]] = {}  # outputs of a job -> its stage, versions

    def see(self, stage: str, outputs: tuple[str, ...], difference: Any) -> None:
        """Note by which versions a job's results were made, if by others."""
        if LIBRARIES in difference.before:
            self._made[outputs] = (stage, difference.before[LIBRARIES])

    def lines(self) -> list[str]:
        """Return what to say of results that others made, a line per version."""
        here, jobs = _versions(installed()[1]), Counter[str]()
        for _, versions in self._made.values():
            jobs[", ".join(f"{name} {one}" for name, one in _versions(versions).items() if here.get(name) != one)] += 1
        verdict = "they are made again" if self.rerun else "they are kept (favor run --rerun-other-versions)"
        said = []
        for other, count in sorted(jobs.items()):
            names = [pair.split()[0] for pair in other.split(", ")]
            yours = ", ".join(f"{name} {here.get(name, '-')}" for name in names)
            said.append(f"Made by {other}: {count} {'job' if count == 1 else 'jobs'}; you have {yours}: {verdict}.")
        return said

    def write(self, planned: Iterable[tuple[str, ...]]) -> None:
        """Write down for the report, by stage, the other versions that made what is kept."""
        again = set(planned)
        kept: dict[str, Counter[str]] = {}
        for outputs, (stage, versions) in self._made.items():
            if outputs not in again:
                kept.setdefault(versions, Counter())[stage] += 1
        if kept or self._path.is_file():
            write_json(kept, self._path)


def library_notes(results: Path, folder: str) -> list[str]:
    """Return a line for the report on each set of other versions that made some of the results."""
    path = results / folder / _KEPT
    found: Mapping[str, Mapping[str, int]] = read_json(path) if path.is_file() else {}
    return [
        f"Results of {', '.join(sorted(stages))} ({sum(stages.values())} jobs) were made with {versions}; the others "
        f"with {installed()[1]}."
        for versions, stages in sorted(found.items())
    ]


def _versions(text: str) -> dict[str, str]:
    return dict(pair.split(" ", 1) for pair in text.split(", "))
