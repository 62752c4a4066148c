"""Freed memory stays with the process where the C library is glibc."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

CODE = """
import resource, sys, torch
from favor.running.jobs.processor_memory import keep_freed_memory
if sys.argv[1] == "kept":
    keep_freed_memory()
for count in (1, 10):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(count):
        [torch.ones(1 << 19) for _ in range(32)]
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="without glibc")
def test_memory_is_taken_from_the_system_once() -> None:
    def faults(mode) -> int:
        done = subprocess.run([sys.executable, "-c", CODE, mode], check=True, capture_output=True, text=True)
        return int(done.stdout)

    assert faults("given back") > 3 * faults("kept")
