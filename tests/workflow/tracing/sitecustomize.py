"""Notes which first-party definitions a job of the workflow executes. Python imports it where it is on its path.

``FAVOR_TRACE`` names the folder for one JSON file per job: the rule, its fingerprint, and (module, definition) of every
function that was called, by the function or class at the top of its module that holds it, and (module, "") of every
module that was imported; ``FAVOR_EXEMPT``, modules whose calls and imports are not noted. Modules of the package are
compiled with a mark in each; the libraries run at their own speed.
"""

import ast
import atexit
import builtins
import json
import os
import sys
from importlib.machinery import SourceFileLoader
from pathlib import Path
from typing import Any

IMPORTED = "<module>"
JOB = any(f"{os.sep}.snakemake{os.sep}scripts{os.sep}" in argument for argument in sys.orig_argv)
FOLDER = os.environ.get("FAVOR_TRACE") if JOB else None
EXEMPT = os.environ.get("FAVOR_EXEMPT", "").split()
seen = set()


def mark(module, name) -> None:
    if (module, name) not in seen and not apart(name):
        seen.add((module, name))


def apart(name) -> bool:
    """Whether a call is part of importing a module of the package, or it or an import is of one that changes no result.

    What is called by an import makes constants, which count for the rules that use them. A process that jobs are forked
    from runs a file of the package too, but as its main program.
    """
    frame = sys._getframe(2)
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if module in EXEMPT or (name and frame.f_code.co_name == IMPORTED and module.split(".")[0] == "favor"):
            return True
        frame = frame.f_back
    return False


def call_of_mark(module, name) -> ast.stmt:
    return ast.parse(f"__mark__({module!r}, {name!r})").body[0]


def marked_code(self, fullname) -> Any:
    if fullname.split(".")[0] != "favor":
        return get_code(self, fullname)
    # Compiled files beside the source have no marks and get none.
    path = self.get_filename(fullname)
    tree = ast.parse(self.get_data(path), path)
    for top in tree.body:
        if isinstance(top, ast.FunctionDef | ast.ClassDef):
            for node in ast.walk(top):
                if isinstance(node, ast.FunctionDef):
                    node.body.insert(0, call_of_mark(fullname, top.name))
    tree.body.append(call_of_mark(fullname, ""))
    return compile(ast.fix_missing_locations(tree), path, "exec", dont_inherit=True)


def write() -> None:
    job = getattr(sys.modules["__main__"], "snakemake", None)
    if job is not None and "code" in job.params.keys():  # noqa: SIM118 - not a dict
        content = {"rule": job.rule, "fingerprint": job.params.code, "executed": sorted(seen)}
        Path(FOLDER, f"{job.rule}-{os.getpid()}.json").write_text(json.dumps(content))


if FOLDER:
    builtins.__mark__ = mark
    get_code, SourceFileLoader.get_code = SourceFileLoader.get_code, marked_code
    atexit.register(write)
