"""What Snakemake knows of outputs whose jobs it did not see to their end."""

import subprocess
import sys

import pytest

# Ctrl-C meets Snakemake after the start of the job, which ends before Snakemake does.
SNAKEFILE = """
import os
from favor.running.folder.snakemake_records import RealExecutor, mark_before_start

def interrupt(self, job_info):
    raise KeyboardInterrupt

mark_before_start()
if "stopped" in config:
    RealExecutor.report_job_submission = interrupt

rule made:
    output: "made.txt"
    shell: "echo {config[text]} > {output}"
"""


@pytest.mark.slow(5)
def test_an_output_whose_job_outlived_snakemake_is_made_again(tmp_path) -> None:
    (tmp_path / "Snakefile").write_text(SNAKEFILE)
    for text, more in (("one", ["stopped=1"]), ("two", [])):
        command = [sys.executable, "-m", "snakemake", "--cores", "1", "--rerun-incomplete", "--rerun-triggers", "mtime"]
        subprocess.run([*command, "--config", f"text={text}", *more], cwd=tmp_path, capture_output=True)
        assert (tmp_path / "made.txt").read_text() == f"{text}\n"
