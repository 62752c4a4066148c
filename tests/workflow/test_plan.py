"""Snakemake plans the jobs that the planner names: the experiment of the paper, and a study that trains encoders."""

from __future__ import annotations

from tests.workflow.conftest import copy_project


def planned(repository, tmp_path, *configurations, targets=()):
    project = copy_project(repository, tmp_path / "project")
    corpus = tmp_path / "corpus.csv"
    corpus.write_text("id,gender,age,topic,sign,date,text\n")
    files = [f"config/{configuration}.yaml" for configuration in configurations]
    return project.planned("--configfile", *files, "--config", f"corpus_path={corpus}", "--", *targets)


def test_the_blogtext_experiment(repository, tmp_path):
    jobs = planned(repository, tmp_path, "blogtext")
    # Three seeds x six rounds x twelve clients x four tracks (FedAvg with Ditto and FedDPA, FedProx with FAVoR, pFedMe,
    # Global ASCE), one client a job.
    assert jobs["train_shared"] == 3 * 6 * 12 * 4
    assert jobs["aggregate"] == 3 * 6 * 4
    # Ditto, Ditto + ASCE and FedDPA train at each of the 72 participations of a seed; FAVoR, with and without ASCE, at
    # the last one of each of the 50 clients; the local ones once a client; pooled once; the gate audit trains nothing.
    assert jobs["train_personal"] == 3 * (3 * 72 + 4 * 50 + 1)
    assert jobs["generate"] == 3 * 14
    assert "pretrain_base" not in jobs
    assert jobs["quantise_base"] == 1
    # A budget, so that planning stays a matter of seconds (docs/scaling.md).
    assert sum(jobs.values()) < 2400


def test_encoder_transfer(repository, tmp_path):
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
