"""Live progress of long work: one line every few seconds on the terminal and in the job's log."""

import sys
import time


class Progress:
    """Reports how far a piece of work is, its rate and the time it still needs (``total`` 0: length unknown).

    Lines go to standard error, at most one every ``every`` seconds and one at the end; a job's log receives the
    same lines (:mod:`favor.running.jobs.job_log`). ``figures`` given to :meth:`update` (such as the loss) are shown.
    """

    def __init__(self, label: str, total: int, unit: str = "steps", every: float = 5.0) -> None:
        self.label, self.total, self.unit, self.every = label, total, unit, every
        self.done = self.tokens = self._skipped = self._printed = 0
        self._start = self._last = time.monotonic()
        self._figures: dict[str, float] = {}

    def update(self, amount: int = 1, tokens: int = 0, **figures: float) -> None:
        """Count ``amount`` more units done, in which ``tokens`` were learnt, and show ``figures`` beside them."""
        self.done += amount
        self.tokens += tokens
        self._figures.update(figures)
        now = time.monotonic()
        if now - self._last >= self.every:
            self._last = now
            self._print(now)

    def skip(self, amount: int) -> None:
        """Count ``amount`` units that were done before the clock started."""
        self.done += amount
        self._skipped += amount

    def show(self, **figures: float) -> None:
        """Print a line with ``figures`` now; later lines show them too."""
        self._figures.update(figures)
        self._last = time.monotonic()
        self._print(self._last)

    def close(self) -> None:
        """Print the closing line, unless it stands there already or nothing was done."""
        if self._printed < self.done:
            self._print(time.monotonic())

    def _print(self, now: float) -> None:
        self._printed = self.done
        elapsed = max(now - self._start, 1e-9)
        rate = (self.done - self._skipped) / elapsed
        count = f"{self.done:,}/{self.total:,}" if self.total else f"{self.done:,}"
        parts = [f"{self.label}: {count} {self.unit}", f"{rate:,.1f} {self.unit}/s"]
        if self.tokens:
            parts.append(f"{self.tokens / elapsed:,.0f} supervised tokens/s")
        if rate and self.done < self.total:
            left = (self.total - self.done) / rate
            parts.append(f"{_clock(left)} left" if round(left) else "working")
        else:
            parts.append(f"{_clock(elapsed)} taken")
        parts += [f"{name} {value:.4g}" for name, value in self._figures.items()]
        print(" | ".join(parts), file=sys.stderr, flush=True)


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
