"""What has changed since results were made, printed before anything reruns, and results that are kept all the same.

Snakemake keeps the parameters that every file was made with: settings (``cfg``), the fingerprint of the code, and
(kind, value) for what else a job is given. What is behind a fingerprint is written down beside the results
(``.code/<fingerprint>.json``), so that a later version can name the definitions that differ.
"""

import ast
import hashlib
import logging
import os
import sys
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from favor.foundation.errors import UserError
from favor.foundation.file_identity import FileIdentities
from favor.foundation.files import read_json, write_json
from favor.running.ending import STARTED_BY_FAVOR
from favor.running.invalidation.fingerprint import SourceCode
from favor.running.invalidation.job_inputs import (
    FOLDER,
    HANDED_OVER,
    LIBRARIES,
    LOCAL_FILES,
    RECORD,
    STARTED,
    installed,
)

_ACCEPTED, _OTHER_VERSIONS = "accepted.json", "libraries.json"
_SHOWN = 3  # changes that are named per stage


@dataclass(frozen=True)
class Difference:
    """Parameters of a job of ``stage``, by kind, that differ between when its results were made and now."""

    stage: str
    before: dict[str, Any]
    now: dict[str, Any]

    @classmethod
    def of(cls, stage: str, change: Any) -> "Difference":
        """Read the two sets of parameters that Snakemake compares, as it writes them."""
        sides = ((ast.literal_eval(text) for text in side) for side in (change.only_old, change.only_new))
        return cls(stage, *(dict(map(_kind, side)) for side in sides))

    @property
    def key(self) -> str:
        """A digest of this difference, without the versions of libraries."""
        sides = [sorted(item for item in side.items() if item[0] != LIBRARIES) for side in (self.before, self.now)]
        return hashlib.sha256(repr((self.stage, *sides)).encode()).hexdigest()[:16]

    @property
    def other_data(self) -> bool:
        """Whether the job reads other files, or a file of the user with other content."""
        return any(kind in self.before and kind in self.now for kind in (HANDED_OVER, LOCAL_FILES))


class Changes:
    """The changes since results under ``results`` were made, by the code as it is.

    ``accept`` names the stages whose results are kept as they are. A difference that was accepted once is on record
    and stays accepted. ``other_versions``: whether results that other versions of libraries made are made again.
    ``planning``: nothing is run, and nothing written down.
    """

    def __init__(
        self,
        results: Path,
        source: SourceCode,
        accept: Collection[str],
        other_versions: bool = False,
        planning: bool = False,
    ) -> None:
        self._folder, self._source, self._accept = results / FOLDER, source, frozenset(accept)
        self._other_versions, self._planning = other_versions, planning
        self.identities = FileIdentities(self._folder / RECORD, planning)
        self._accepted = _read(results, _ACCEPTED)
        self._made: dict[tuple[str, ...], tuple[str, str]] = {}  # outputs of a job -> its stage, other versions

    @property
    def accepted(self) -> list[str]:
        """Stages whose results are kept, now or since an earlier run."""
        return sorted(self._accept | self._accepted.keys())

    def keeps(self, outputs: tuple[str, ...], difference: Difference) -> bool:
        """Whether ``outputs`` are kept although their job has changed."""
        if LIBRARIES in difference.before:
            self._made[outputs] = (difference.stage, difference.before[LIBRARIES])
        if not self._other_versions and {*difference.before, *difference.now} == {LIBRARIES}:
            return True
        entry = self._accepted.get(difference.stage, {"changed": [], "differences": []})
        if difference.key in entry["differences"]:
            return True
        if difference.stage not in self._accept:
            return False
        self._accepted[difference.stage] = {
            "changed": sorted({*entry["changed"], *self.named(difference)}),
            "differences": sorted({*entry["differences"], difference.key}),
        }
        if not self._planning:
            with suppress(UserError):  # a disk without room: jobs meet it too, and say so by their own files
                write_json(self._accepted, self._folder / _ACCEPTED)
        return True

    def named(self, difference: Difference) -> list[str]:
        """Name the definitions, configuration keys and files that differ, as "`name` changed"."""
        old, new = difference.before, difference.now
        found = self._definitions(old["code"], new["code"]) if "code" in old and "code" in new else []
        found += [f"configuration `{name}` changed" for name in _keys(old.get("cfg"), new.get("cfg"))]
        found += [f"the file '{path}' changed" for path in _keys(old.get(LOCAL_FILES, {}), new.get(LOCAL_FILES, {}))]
        if HANDED_OVER in old and HANDED_OVER in new:
            found.append("it reads or writes other files, or the same under other names or in another order")
        found += ["versions of libraries"] if LIBRARIES in old and LIBRARIES in new else []
        return found or ["its parameters changed"]

    def _definitions(self, old: str, new: str) -> list[str]:
        path = self._folder / f"{old}.json"
        if new not in self._source.taken or not path.is_file():
            return ["its code changed (which part is not on record)"]
        before: dict[str, str] = read_json(path)["definitions"]
        after = self._source.reached(*self._source.taken[new])
        # A part that only moved is in both.
        gone = {name for name, digest in before.items() if digest not in after.values()}
        come = {name for name, digest in after.items() if digest not in before.values()}
        found = [f"`{name}` changed" for name in sorted(gone & come)]
        found += [f"`{name}` was added" for name in sorted(come - gone)]
        found += [f"`{name}` was removed" for name in sorted(gone - come)]
        return found or ["its code changed (the same definitions, used otherwise)"]

    def lines(self, planned: Iterable[tuple[str, Difference | None]]) -> list[str]:
        """Return what to say of ``planned`` jobs: (stage, what changed for the job, None for a job that follows)."""
        changed: dict[str, list[Difference]] = {}
        following = 0
        for stage, difference in planned:
            following += difference is None
            if difference is not None:
                changed.setdefault(stage, []).append(difference)
        accepted = {stage: self._accepted[stage]["changed"] for stage in sorted(self._accept & self._accepted.keys())}
        said = [f"  {stage}: {_listed(names)}: kept as they are (accept)" for stage, names in accepted.items()]
        for stage, jobs in changed.items():
            names = dict.fromkeys(name for difference in jobs for name in self.named(difference))
            said.append(f"  {stage}: {_listed([*names])}: {_count(len(jobs))}")
        if changed and following:
            said.append(f"  and {_count(following)} that follow or were still to be done")
        if kept := ",".join(stage for stage, jobs in changed.items() if not any(job.other_data for job in jobs)):
            option = f"--accept {kept}" if STARTED_BY_FAVOR in os.environ else f"--config 'accept=[{kept}]'"
            said.append(f"To keep results as they are: {option}, or some of these stages.")
        return [*(["Changed since the results were made:"] if said else []), *said, *self._lines_on_versions()]

    def _lines_on_versions(self) -> Iterator[str]:
        here = {*installed()[1].split(", ")}
        verdict = "made again" if self._other_versions else "kept (favor run --rerun-other-versions)"
        for versions, jobs in sorted(Counter(versions for _, versions in self._made.values()).items()):
            there = {*versions.split(", ")}
            made, yours = (", ".join(sorted(each)) for each in (there - here, here - there))
            yield f"Made by {made}: {_count(jobs)}; you have {yours}: they are {verdict}."

    def write(self, planned: Mapping[tuple[str, ...], str | None]) -> None:
        """Record the parts behind the fingerprints of ``planned`` jobs (by outputs), and those of other results."""
        fingerprints = {*planned.values()}
        for fingerprint, (stage, modules) in self._source.taken.items():
            path = self._folder / f"{fingerprint}.json"
            if fingerprint in fingerprints and not path.is_file():
                definitions = self._source.reached(stage, modules)
                write_json({"stage": stage, "modules": list(modules), "definitions": definitions}, path)
        with suppress(UserError):  # as above
            write_json([str(self._source.root.parent), self._source.looked], self._folder / STARTED)
            self.identities.write()
        kept: dict[str, Counter[str]] = {}
        for outputs, (stage, versions) in self._made.items():
            if outputs not in planned:
                kept.setdefault(versions, Counter())[stage] += 1
        if kept or (self._folder / _OTHER_VERSIONS).is_file():
            write_json(kept, self._folder / _OTHER_VERSIONS)


def announce_changes(workflow: Any, changes: Changes) -> None:
    """Keep the results that ``changes`` keeps, and print what else changed before the planned jobs are listed."""
    # Here, because the job of the report reads this module.
    from snakemake.logging import logger
    from snakemake.persistence import NO_PARAMS_CHANGE, ParamsChange, PersistenceBase
    from snakemake.settings.enums import RerunTrigger
    from snakemake_interface_logger_plugins.common import LogEvent

    params_changed = PersistenceBase.params_changed

    def unless_kept(self: PersistenceBase, job: Any, file: Any = None) -> bool | ParamsChange:
        change = params_changed(self, job, file)
        kept = change and changes.keeps(tuple(job.output), Difference.of(job.rule.name, change))
        return NO_PARAMS_CHANGE if kept else change

    def say(record: logging.LogRecord) -> bool:
        if getattr(record, "event", None) != LogEvent.RUN_INFO:
            return True
        logger.removeFilter(say)
        jobs = [job for job in workflow.dag.needrun_jobs() if not job.rule.norun]
        if RerunTrigger.PARAMS in workflow.rerun_triggers:
            found = ((job.rule.name, workflow.persistence.params_changed(job)) for job in jobs)
            differences = ((stage, Difference.of(stage, change) if change else None) for stage, change in found)
            if lines := changes.lines(differences):
                print("", *lines, "", sep="\n", file=sys.stderr)
        if not workflow.dryrun:
            changes.write({tuple(job.output): job.params.get("code") for job in jobs})
        return True

    PersistenceBase.params_changed = unless_kept
    logger.addFilter(say)


def kept_notes(results: Path, stages: Iterable[str]) -> list[str]:
    """Return lines for the report on what was kept: of accepted ``stages``, and what other versions made."""
    accepted = _read(results, _ACCEPTED)
    return [
        f"Results of {stage} were kept on the user's word (accept), though {_listed(accepted[stage]['changed'])}."
        for stage in stages
        if stage in accepted
    ] + [
        f"Results of {', '.join(sorted(jobs))} ({sum(jobs.values())} jobs) were made with {versions}; the others "
        f"with {installed()[1]}."
        for versions, jobs in sorted(_read(results, _OTHER_VERSIONS).items())
    ]


def _read(results: Path, name: str) -> dict[str, Any]:
    path = results / FOLDER / name
    return read_json(path) if path.is_file() else {}


def _kind(value: Any) -> tuple[str, Any]:
    return value if isinstance(value, tuple) else ("cfg" if isinstance(value, Mapping) else "code", value)


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
