"""The time that a whole run still needs, from how long its jobs take."""

from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import mean, median

_ENOUGH = 0.5  # of the jobs to come, those of rules whose durations are known


class Remaining:
    """Estimates the seconds that a run still needs, from the durations of its finished jobs.

    planned: jobs by rule; ``running``: rule and start by job.
    earlier: mean seconds of a rule's jobs in an earlier run, or None.

    A rule whose duration is not known counts as the median rule. Jobs are taken to go on as many at once as until now.
    """

    def __init__(self, planned: Mapping[str, int], earlier: Callable[[str], float | None], now: float) -> None:
        self.planned = planned
        self._start = now
        self.running: dict[int, tuple[str, float]] = {}
        self._took: dict[str, list[float]] = {}
        self._earlier = {rule: seconds for rule in planned if (seconds := earlier(rule)) is not None}

    def begin(self, job: int, rule: str, now: float) -> None:
        """Note that a job begins."""
        self.running[job] = rule, now

    def finish(self, job: int, now: float) -> None:
        """Note that a job has ended."""
        if job in self.running:
            rule, begun = self.running.pop(job)
            self._took.setdefault(rule, []).append(now - begun)

    def seconds(self, now: float) -> float | None:
        """Return the estimate; None as long as most of the jobs to come are of rules without a known duration."""
        known = self._earlier | {rule: mean(took) for rule, took in self._took.items()}
        finished = Counter({rule: len(took) for rule, took in self._took.items()})
        coming = {rule: count - finished[rule] for rule, count in self.planned.items() if count > finished[rule]}
        covered = sum(count for rule, count in coming.items() if rule in known)
        elapsed = now - self._start
        if not self._took or elapsed <= 0 or covered < _ENOUGH * sum(coming.values()):
            return None
        unknown = median(known.values())
        work = sum(count * known.get(rule, unknown) for rule, count in coming.items())
        work -= sum(min(now - begun, known.get(rule, unknown)) for rule, begun in self.running.values())
        done = sum(map(sum, self._took.values())) + sum(now - begun for _, begun in self.running.values())
        return max(0.0, work) / max(1.0, done / elapsed)


def spoken(seconds: float) -> str:
    """Return a duration as one says it: "about 2 h 10 min", "about 7 min", "under a minute"."""
    minutes = round(seconds / 60)
    if not minutes:
        return "under a minute"
    hours, rest = divmod(minutes, 60)
    return f"about {hours} h {rest} min" if hours else f"about {rest} min"


def seconds_of(folder: Path, most: int = 20) -> float | None:
    """Return the mean seconds of a rule's jobs of earlier runs, of ``most`` of them; None where no job is on record."""
    found = []
    for path in [*sorted(folder.glob("*.tsv"))[:most], *folder.parent.glob(f"{folder.name}.tsv")]:
        lines = path.read_text(encoding="utf-8").splitlines()
        found += [float(line.split("\t")[0]) for line in lines[1:2]]
    return mean(found) if found else None
