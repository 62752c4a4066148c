"""The commands of docs/sites.md, run in their order as they stand there, on a smaller demo."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys

import yaml
from tests.workflow.conftest import copy_project

from favor.federation.tables import BOUNDARY
from favor.foundation.parquet import read_parquet

SMALLER = {
    "corpora": {"demo": {"demo": {"authors": 24, "minimum_posts": 14, "maximum_posts": 20, "topics": 3}}},
    "base_models": {"tiny": {"pretrain": {"tokens": 20000, "hidden_size": 32, "layers": 1, "intermediate_size": 64}}},
}


def laid_over(config, other) -> None:
    for key, value in other.items():
        if isinstance(value, dict):
            laid_over(config.setdefault(key, {}), value)
        else:
            config[key] = value


def test_the_commands_of_the_page_work(repository, tmp_path) -> None:
    page = (repository / "docs" / "sites.md").read_text()
    project = copy_project(repository, tmp_path / "project")
    config = yaml.safe_load((project.folder / "config" / "config.yaml").read_text())
    laid_over(config, SMALLER)
    config["corpora"]["demo"] |= {
        "minimum_tokens": 400,
        "roles": {"clients": 4, "asce_a": 4, "asce_b": 4, "background": 8},
    }
    for encoder in ("asce_a", "asce_b"):
        small = {"layers": 1, "hidden": 32, "heads": 2, "intermediate": 64, "vocabulary": 600}
        config["encoders"][encoder]["training"] |= {"small": small, "epochs": 1, "training_texts_per_author": 8}
        config["encoders"][encoder]["training"]["validation_texts_per_author"] = 2
    config["experiments"]["demo"]["training"]["max_length"] = 48
    config["experiments"]["demo"]["federation"]["clients_per_round"] = 2
    (project.folder / "config" / "config.yaml").write_text(yaml.safe_dump(config))
    (block,) = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    (project.folder / "two.yaml").write_text(block)
    python = shlex.quote(sys.executable)
    script = f'favor() {{ {python} -m favor.cli "$@"; }}\nsnakemake() {{ {python} -m snakemake "$@"; }}\nset -e\n'
    script += "\n".join(re.findall(r"```bash\n(.*?)```", page, re.DOTALL))
    environment = {**os.environ, "PYTHONPATH": str(project.folder / "src"), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(["bash", "-c", script], cwd=project.folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    for line in (
        "round 0 of 2 is open: send server/rounds/0 to client_001, client_002",
        "not taken out; a favor run of everybody's texts does both",
        "round 1 is closed; favor server export server ends it",
        "no site needs the adapter",
    ):
        assert line in done.stdout
    crossed = read_parquet(project.folder / "server" / "boundary.parquet", BOUNDARY)
    assert crossed.groupby(["round", "direction", "client"]).size().to_dict() == {
        (number, direction, client): 1
        for number in (0, 1)
        for direction in ("client_to_server", "server_to_client")
        for client in ("client_001", "client_002")
    }
    for site in ("anna", "bert"):
        assert (project.folder / site / "adapter" / "adapter_config.json").is_file()
