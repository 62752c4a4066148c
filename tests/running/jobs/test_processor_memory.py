"""Freed memory stays with the process where the C library is glibc."""

import platform
import subprocess
import sys

import pytest

CODE = """
import resource, torch
from favor.running.jobs.processor_memory import keep_freed_memory

def faults():
    for count in (1, 10):
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        for _ in range(count):
            [torch.ones(1 << 19) for _ in range(32)]
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

given_back = faults()
keep_freed_memory()
print(given_back, faults())
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="without glibc")
def test_memory_is_taken_from_the_system_once() -> None:
    done = subprocess.run([sys.executable, "-c", CODE], check=True, capture_output=True, text=True)
    given_back, kept = map(int, done.stdout.split())
    assert given_back > 3 * kept
