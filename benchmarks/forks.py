"""Jobs forked by the project's own server beside the standard library's fork server, from several threads at once.

Snakemake waits for every job in a thread of its own. Prints per number of threads the time of a start and how many jobs
that ended well were said to have failed.
"""

from __future__ import annotations

import argparse
import multiprocessing
import secrets
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

from favor.running.jobs import forked

STANDARD = multiprocessing.get_context("forkserver")


def nothing() -> None:
    """Be a job that has nothing to do."""


def by_the_standard_library() -> bool:
    """Start a job and wait for it; return whether its status was right."""
    process = STANDARD.Process(target=nothing)
    process.start()
    process.join()
    return process.exitcode == 0


def by_our_server(name: str, script: Path) -> bool:
    """As above."""
    job = SimpleNamespace(rulename="nothing", threads=1, resources={}, bench_record=None)
    connection = forked.ForkServer(name).connect(0)
    assert connection is not None
    return forked._run(job, str(script), connection)  # raises where the status is not 0


def measure(title: str, start: Callable[[], bool], threads: int, jobs: int) -> None:
    """Print a row."""
    began = time.monotonic()
    with ThreadPoolExecutor(threads) as pool:
        wrong = jobs - sum(pool.map(lambda _: start(), range(jobs)))
    milliseconds = 1000 * (time.monotonic() - began) / jobs
    print(f"{title:17}  {threads} threads  {milliseconds:5.1f} ms per job  {wrong} wrong", flush=True)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=100, help="jobs per thread")
    jobs = parser.parse_args().jobs
    STANDARD.set_forkserver_preload(["torch", "transformers"])
    name = f"favor-{secrets.token_hex(16)}"
    server = forked.start(name)
    while (connection := forked.ForkServer(name).connect(0)) is None:
        time.sleep(0.1)
    connection.close()
    by_the_standard_library()  # it imports
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder, "nothing.py")
        script.touch()
        for threads in (1, 2, 4):
            measure("standard library", by_the_standard_library, threads, threads * jobs)
            measure("our server", lambda: by_our_server(name, script), threads, threads * jobs)
    server.communicate()


if __name__ == "__main__":
    main()
