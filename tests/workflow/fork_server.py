"""The process that jobs are forked from, with Snakemake imported too, so that the runs of tests are forked from it."""

from importlib import import_module
from pathlib import Path
from runpy import run_path

JOBS = Path(__file__).parents[2] / "src" / "favor" / "running" / "jobs"

if __name__ == "__main__":
    for library in (*run_path(str(JOBS / "preloaded.py"))["LIBRARIES"], "nbformat", "smart_open"):
        import_module(library)
    import_module("snakemake.cli").get_argument_parser()  # which imports Snakemake's plug-ins
    run_path(str(JOBS / "fork_server.py"), run_name="__main__")
