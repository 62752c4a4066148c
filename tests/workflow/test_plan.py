"""Snakemake plans the jobs that the planner names: the experiment of the paper, and a study that trains encoders."""

from __future__ import annotations

import pytest

from tests.workflow.conftest import copy_project

pytestmark = pytest.mark.slow(15)


def planned(repository, tmp_path, *configurations, targets=()) -> dict[str, int]:
    project = copy_project(repository, tmp_path / "project")
    corpus = tmp_path / "corpus.csv"
    corpus.write_text("id,gender,age,topic,sign,date,text\n")
    files = [f"config/{configuration}.yaml" for configuration in configurations]
    return project.planned("--configfile", *files, "--config", f"corpus_path={corpus}", "--", *targets)


def test_the_blogtext_experiment(repository, tmp_path) -> None:
    jobs = planned(repository, tmp_path, "blogtext")
    # Three seeds x six rounds x four tracks (FedAvg with Ditto and FedDPA, FedProx with FAVoR, pFedMe, Global ASCE);
    # the twelve clients of a round are one job.
    assert jobs["train_shared"] == 3 * 6 * 4
    assert jobs["aggregate"] == 3 * 6 * 4
    # Ditto, Ditto + ASCE and FedDPA train in each of the six rounds; FAVoR, with and without ASCE, and the local ones
    # once for the 50 clients, who are two jobs; pooled once; the gate audit trains nothing.
    assert jobs["train_personal"] == 3 * (3 * 6 + 4 * 2 + 1)
    assert jobs["generate"] == 3 * 14
    assert "pretrain_base" not in jobs
    assert jobs["quantise_base"] == 1
    # A budget, so that planning stays a matter of seconds (docs/scaling.md).
    assert sum(jobs.values()) < 500


def test_encoder_transfer(repository, tmp_path) -> None:
    project = copy_project(repository, tmp_path / "project")
    for name in ("blog.csv", "stories.csv"):
        (tmp_path / name).write_text("id,gender,age,topic,sign,date,text\n")
    project.edit("config/studies/asce_transfer.yaml", "/data/mythos.jsonl", str(tmp_path / "stories.csv"))
    jobs = project.planned(
        *("--configfile", "config/blogtext.yaml", "config/studies/asce_transfer.yaml"),
        *("--config", f"corpus_path={tmp_path / 'blog.csv'}", "--"),
        "results/asce_transfer/tables/asce-scale-transfer.tex",
    )
    assert jobs["train_asce"] == 1 + 3  # FAVoR's own encoder and the three that are compared
    assert jobs["embed_transfer"] == 3
    assert jobs["generate"] == 3 * 3
    assert jobs["count_tokens"] == 2
