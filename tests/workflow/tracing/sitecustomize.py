"""Notes which first-party functions a job of the workflow executes. Python imports this module where it is on its path.

``FAVOR_TRACE`` names the folder for one JSON file per job: the rule, its fingerprint, and (file, first line) of every
code object. Only calls are traced, not lines.
"""

import atexit
import json
import os
import sys
import threading
from pathlib import Path

FOLDER, MARK = os.environ.get("FAVOR_TRACE"), f"{os.sep}src{os.sep}favor{os.sep}"
seen = set()


def trace(frame, event, argument):
    code = frame.f_code
    if code not in seen and (MARK not in code.co_filename or code.co_name == "<module>" or not imports(frame.f_back)):
        seen.add(code)


def imports(frame):
    """Whether a frame is part of importing a module of the package.

    What is called then makes constants, which count for the rules that use them.
    """
    while frame is not None:
        if frame.f_code.co_name == "<module>" and MARK in frame.f_code.co_filename:
            return True
        frame = frame.f_back
    return False


def write():
    sys.settrace(None)
    threading.settrace(None)
    job = getattr(sys.modules["__main__"], "snakemake", None)
    if job is not None and "code" in job.params.keys():  # noqa: SIM118 - not a dict
        codes = sorted(
            {(code.co_filename, code.co_firstlineno, code.co_name) for code in seen if MARK in code.co_filename}
        )
        content = {"rule": job.rule, "fingerprint": job.params.code, "executed": codes}
        Path(FOLDER, f"{job.rule}-{os.getpid()}.json").write_text(json.dumps(content))


if FOLDER:
    atexit.register(write)
    threading.settrace(trace)
    sys.settrace(trace)
