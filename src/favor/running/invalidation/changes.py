"""What changed since results were made, said before anything reruns, and results that are kept on the user's word.

Snakemake keeps the parameters that every file was made with: the rule's configuration (``cfg``) and the fingerprint of
its code. What is behind a fingerprint is written down beside the results (``.code/<fingerprint>.json``), so that a
later version can name the definitions that differ.
"""

import ast
import hashlib
import os
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from favor.foundation.errors import UserError
from favor.foundation.file_identity import FileIdentities
from favor.foundation.files import read_json, write_json
from favor.foundation.names import nearest
from favor.running.ending import STARTED_BY_FAVOR
from favor.running.invalidation.code_check import write_code_files
from favor.running.invalidation.fingerprint import SourceCode
from favor.running.invalidation.input_identity import FILES, LIBRARIES, Libraries, handed_otherwise
from favor.running.invalidation.local_files import FOLDER, LOCAL_FILES, RECORD

ACCEPTED = "accepted.json"
_SHOWN = 3  # changes that are named per stage


@dataclass(frozen=True)
class Difference:
    """Parameters that a job of ``stage`` has now and had when its results were made, as Snakemake writes them."""

    stage: str
    old: frozenset[str]
    new: frozenset[str]

    @cached_property
    def before(self) -> dict[str, Any]:
        """The old parameters that differ, by name."""
        return _read(self.old)

    @cached_property
    def now(self) -> dict[str, Any]:
        """The new ones."""
        return _read(self.new)

    @property
    def key(self) -> str:
        """Digits that stand for this difference, whatever libraries are installed."""
        parts = [
            sorted(text for text in part if not text.startswith(f"('{LIBRARIES}'")) for part in (self.old, self.new)
        ]
        return hashlib.sha256(repr((self.stage, *parts)).encode()).hexdigest()[:16]

    @property
    def other_data(self) -> bool:
        """Whether the job is given other files, or a file of the user's that holds something else."""
        return any(kind in self.before and kind in self.now for kind in (FILES, LOCAL_FILES))

    @property
    def beside_libraries(self) -> bool:
        """Whether anything differs beside the versions of libraries."""
        return bool({*self.before, *self.now} - {LIBRARIES})


class Changes:
    """The changes since results under ``results`` were made, by the code as it is.

    ``accept`` names the stages whose results are kept as they are. A difference that was accepted once is on record
    and stays accepted. ``other_versions``: whether results that other versions of libraries made are made again.
    ``planning``: nothing is run.
    """

    def __init__(
        self,
        results: Path,
        source: SourceCode,
        accept: Collection[str],
        other_versions: bool = False,
        planning: bool = False,
    ) -> None:
        self.libraries = Libraries(results, FOLDER, other_versions)
        self._folder = results / FOLDER
        self.identities = FileIdentities(self._folder / RECORD, planning)
        self._source = source
        self._accept = frozenset(accept)
        self._accepted = accepted_changes(results)
        self._kept_now: set[str] = set()
        self._unwritten = False

    @property
    def accepted(self) -> list[str]:
        """Stages whose results are kept, now or since an earlier run."""
        return sorted(self._accept | self._accepted.keys())

    def accepts(self, difference: Difference) -> bool:
        """Whether results that were made otherwise are kept."""
        entry = self._accepted.get(difference.stage, {"changed": [], "differences": []})
        if difference.key in entry["differences"]:
            return True
        if difference.stage not in self._accept:
            return False
        self._accepted[difference.stage] = {
            "changed": sorted({*entry["changed"], *self.named(difference)}),
            "differences": sorted({*entry["differences"], difference.key}),
        }
        self._kept_now.add(difference.stage)
        self._unwritten = True
        return True

    def named(self, difference: Difference) -> list[str]:
        """Name the definitions and the configuration keys that differ, as "`name` changed"."""
        old, new = difference.before, difference.now
        found = list(self._definitions(old.get("code"), new.get("code")))
        found += [f"configuration `{name}` changed" for name in _keys(old.get("cfg"), new.get("cfg"))]
        found += [f"the file '{path}' changed" for path in _keys(old.get(LOCAL_FILES, {}), new.get(LOCAL_FILES, {}))]
        if FILES in old and FILES in new:
            found.append(handed_otherwise(old[FILES], new[FILES]))
        if old.get(LIBRARIES) != new.get(LIBRARIES):
            found.append("versions of libraries")
        return found or ["its parameters changed"]

    def _definitions(self, old: str | None, new: str | None) -> Iterator[str]:
        if old is None or new is None:
            return
        path = self._folder / f"{old}.json"
        if new not in self._source.taken or not path.is_file():
            yield "its code changed (which part is not on record)"
            return
        before: dict[str, str] = read_json(path)["definitions"]
        after = self._source.reached(*self._source.taken[new])
        # A part that only moved is in both.
        gone = {name for name, digest in before.items() if digest not in after.values()}
        come = {name for name, digest in after.items() if digest not in before.values()}
        yield from (f"`{name}` changed" for name in sorted(gone & come))
        yield from (f"`{name}` was added" for name in sorted(come - gone))
        yield from (f"`{name}` was removed" for name in sorted(gone - come))
        if not gone | come:
            yield "its code changed (the same definitions, used otherwise)"

    def lines(self, planned: Iterable[tuple[str, Difference | None]]) -> list[str]:
        """Return what to say of ``planned`` jobs: (stage, what changed for the job, None for a job that follows)."""
        jobs: Counter[str] = Counter()
        changed: dict[str, dict[str, None]] = {}
        other_data = set[str]()
        following = 0
        for stage, difference in planned:
            if difference is None:
                following += 1
                continue
            jobs[stage] += 1
            changed.setdefault(stage, {}).update(dict.fromkeys(self.named(difference)))
            other_data |= {stage} if difference.other_data else set()
        accepted = {stage: self._accepted[stage]["changed"] for stage in self._kept_now}
        said = [f"  {stage}: {_listed(names)}: kept as they are (accept)" for stage, names in sorted(accepted.items())]
        said += [f"  {stage}: {_listed(list(names))}: {_count(jobs[stage])}" for stage, names in changed.items()]
        if jobs:
            said += [f"  and {_count(following)} that follow or were still to be done"] if following else []
        if kept := ",".join(stage for stage in changed if stage not in other_data):
            option = f"--accept {kept}" if STARTED_BY_FAVOR in os.environ else f"--config 'accept=[{kept}]'"
            said.append(f"To keep results as they are: {option}, or some of these stages.")
        return ["Changed since the results were made:", *said] if said else []

    def write(self, fingerprints: Iterable[str]) -> None:
        """Write down what is behind the fingerprints of jobs that are about to run, and what is accepted."""
        for fingerprint in {*fingerprints} & self._source.taken.keys():
            path = self._folder / f"{fingerprint}.json"
            if not path.is_file():
                script, modules = self._source.taken[fingerprint]
                definitions = self._source.reached(script, modules)
                write_json({"script": script.name, "modules": list(modules), "definitions": definitions}, path)
        with suppress(UserError):  # a disk without room: its jobs meet it too, and say so by their own files
            write_code_files(self._source.root.parent, self._source.files, self._folder)
            self.identities.write()
        self.write_accepted()

    def write_accepted(self) -> None:
        """Write down what is accepted, where that is news."""
        if self._unwritten:
            write_json(self._accepted, self._folder / ACCEPTED)
            self._unwritten = False


def accepted_changes(results: Path) -> dict[str, dict[str, list[str]]]:
    """Return what is on record as accepted: stage -> ``changed`` (in words) and ``differences`` (their keys)."""
    path = results / FOLDER / ACCEPTED
    found: dict[str, dict[str, list[str]]] = read_json(path) if path.is_file() else {}
    return found


def accepted_notes(results: Path, stages: Iterable[str]) -> list[str]:
    """Return a line for the report about each of the ``stages`` whose results were kept."""
    found = accepted_changes(results)
    return [
        f"Results of {stage} were kept on the user's word (accept), though {_listed(found[stage]['changed'])}."
        for stage in stages
        if stage in found
    ]


def check_accept(accept: Iterable[str], stages: Collection[str]) -> None:
    """Raise ``UserError`` for a name in ``accept`` that is not one of the workflow's ``stages``."""
    for name in accept:
        if name not in stages:
            raise UserError(f"config key 'accept': there is no stage '{name}'; {nearest(name, stages)}")


def _read(parameters: Iterable[str]) -> dict[str, Any]:
    """Tell parameters as Snakemake writes them: ``cfg``, the fingerprint ``code``, and what each job is given."""
    found: dict[str, Any] = {}
    for text in parameters:
        value = ast.literal_eval(text)
        if isinstance(value, tuple):
            found[value[0]] = value[1]
        else:
            found["cfg" if isinstance(value, Mapping) else "code"] = value
    return found


def _keys(old: Any, new: Any, prefix: str = "") -> Iterator[str]:
    """Yield the dotted keys in which two configurations differ."""
    if not isinstance(old, Mapping) or not isinstance(new, Mapping):
        if old != new and prefix:
            yield prefix
        return
    for key in sorted({*old, *new}, key=str):
        yield from _keys(old.get(key), new.get(key), f"{prefix}.{key}" if prefix else str(key))


def _listed(names: list[str]) -> str:
    shown = ", ".join(names[:_SHOWN])
    return f"{shown} and {len(names) - _SHOWN} more" if len(names) > _SHOWN else shown


def _count(jobs: int) -> str:
    return f"{jobs} job" if jobs == 1 else f"{jobs} jobs"
