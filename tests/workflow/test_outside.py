"""Continuations made elsewhere: the prompts are listed, answered, and taken as a row's outputs."""

import json

import pytest

from favor.federation.schemas import GENERATIONS
from favor.foundation.parquet import read_parquet
from tests.workflow.traced import unforeseen

pytestmark = pytest.mark.slow(19)

MICRO = ("--configfile", "micro.yaml", "--")
ROW = "results/micro/seed1/elsewhere"


def test_listed_prompts_are_answered_and_read(micro, tmp_path) -> None:
    project = micro.copy(tmp_path / "project", traced=True)
    assert "give each a 'text'" in project.snakemake(*MICRO, "prompts").stdout
    lines = (project.folder / "results/micro/clients/prompts.jsonl").read_text().splitlines()
    answers = [{**json.loads(line), "text": f"answer {number}"} for number, line in enumerate(lines)]
    assert len(answers) == 12  # 4 clients, one long enough post each, and 2 common prompts
    path = project.folder / "answers.jsonl"
    path.write_text("".join(f"{json.dumps(answer)}\n" for answer in answers))
    project.edit("micro.yaml", "    methods:\n", "    methods:\n      elsewhere: { outputs: answers.jsonl }\n")
    target = f"{ROW}/generations.parquet"
    assert project.planned(*MICRO, target) == {"read_outputs": 1}
    project.snakemake(*MICRO, target)
    own, common = (
        read_parquet(project.folder / ROW / f"{name}generations.parquet", GENERATIONS) for name in ("", "common_")
    )
    assert (len(own), len(common)) == (4, 8)
    assert not own["passed"].any()  # two words
    path.write_text("".join(f"{json.dumps(answer)}\n" for answer in answers[1:]))
    assert "1 of 12 prompts of seed 1 have no row" in project.snakemake(*MICRO, target, check=False).stdout
    assert unforeseen(project.folder) == set()
