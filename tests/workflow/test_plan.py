"""The paper's own experiments plan: their jobs are known from the configuration alone."""

from __future__ import annotations

from tests.workflow.conftest import copy_project


def planned(repository, tmp_path, configuration, *arguments):
    project = copy_project(repository, tmp_path / "project")
    corpus = tmp_path / "corpus.csv"
    corpus.write_text("id,gender,age,topic,sign,date,text\n")
    given = ("--config", f"corpus_path={corpus}", *arguments)
    return project.planned("--configfile", f"config/{configuration}.yaml", *given)


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


def test_the_blogtext_experiment_with_all_clients_in_a_job(repository, tmp_path):
    text = (repository / "config" / "blogtext.yaml").read_text()
    assert text.count("    style_encoder: asce_a\n") == 1
    together = text.replace(
        "    style_encoder: asce_a\n", "    style_encoder: asce_a\n    federation: { clients_per_job: null }\n"
    )
    project = copy_project(repository, tmp_path / "project")
    (project.folder / "together.yaml").write_text(together)
    (tmp_path / "corpus.csv").write_text("id,gender,age,topic,sign,date,text\n")
    jobs = project.planned("--configfile", "together.yaml", "--config", f"corpus_path={tmp_path / 'corpus.csv'}")
    assert jobs["train_shared"] == 3 * 6 * 4
    assert jobs["train_personal"] == 3 * (3 * 6 + 4 + 1)
    assert sum(jobs.values()) < 400


def test_the_mythos_experiment(repository, tmp_path):
    jobs = planned(repository, tmp_path, "mythos")
    assert jobs["train_asce"] == 1
    assert jobs["generate"] == 3 * 6
