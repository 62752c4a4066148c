"""The paper's own experiments plan: their jobs are known from the configuration alone."""

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


def test_another_base_model(repository, tmp_path):
    targets = ["results/base_7b/tables/phase1-7b-base-sensitivity.tex"]
    jobs = planned(repository, tmp_path, "blogtext", "studies/base_7b", targets=targets)
    # One seed, three tracks (FedAvg with Ditto, FedProx with FAVoR, pFedMe), and nothing of the other base model.
    assert jobs["train_shared"] == 6 * 12 * 3
    assert jobs["train_personal"] == 72 + 50
    assert jobs["generate"] == 6
    assert jobs["quantise_base"] == 1


def test_studies_of_outputs_that_were_made_before(repository, tmp_path):
    """Nothing is trained or generated a second time: the outputs are the main experiment's."""
    main = 3 * 6 * 12 * 2  # FedAvg's track, which is Ditto's too, and FAVoR's
    for study, label, expected in (
        ("prompting", "prompting_retrieval_baselines", {"generate": 3, "generate_prompted": 15, "distil_sheets": 1}),
        ("judges", "qwen-generic-quality", {"generate": 18, "judge": 1}),
    ):
        targets = [f"results/{study}/tables/{label}.tex"]
        jobs = planned(repository, tmp_path / study, "blogtext", f"studies/{study}", targets=targets)
        assert {rule: jobs[rule] for rule in expected} == expected
        assert jobs["train_shared"] == (main // 2 if study == "prompting" else main * 3 // 2)
        assert jobs["quantise_base"] == 1


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


def test_the_scale_stress_test(repository, tmp_path):
    jobs = planned(
        repository, tmp_path, "blogtext", "studies/scale", targets=["results/k100/tables/k100-scale-stress.tex"]
    )
    # Three seeds x twenty rounds x twenty clients x two tracks (FedAvg with Ditto, FAVoR's).
    assert jobs["train_shared"] == 3 * 20 * 20 * 2
    # Ditto at each of the 400 participations of a seed; FAVoR and local-only once for each of the 100 clients.
    assert jobs["train_personal"] == 3 * (400 + 100 + 100)
    assert jobs["generate"] == 3 * 4
    assert "draw_figure" not in jobs


def test_the_studies_of_volume_and_imbalance(repository, tmp_path):
    targets = [
        "results/sweeps/text_volume/tables/text-volume-sweep.tex",
        "results/sweeps/imbalance/tables/imbalance-sweep.tex",
        "results/sweeps/imbalance/figures/points.svg",
    ]
    jobs = planned(repository, tmp_path, "blogtext", "studies/text_volume", "studies/imbalance", targets=targets)
    # Five experiments (all of a balanced budget is a point of both), two seeds, two methods.
    assert jobs["allocate_texts"] == 5
    assert jobs["generate"] == 5 * 2 * 2
    assert jobs["train_shared"] == 5 * 2 * 6 * 12 * 2
    assert jobs["score"] == 5 * 2
    assert (jobs["collect_sweep"], jobs["make_sweep_table"], jobs["draw_sweep"]) == (2, 2, 1)


def test_the_cold_start(repository, tmp_path):
    targets = [
        "results/sweeps/cold_start/tables/cold-start-full.tex",
        "results/sweeps/cold_start_nested/tables/cold-start-nested-k.tex",
        "results/sweeps/cold_start_nested/figures/points.svg",
        "results/cold_start_8/tables/cold-start-main.tex",
    ]
    jobs = planned(repository, tmp_path, "blogtext", "studies/cold_start", targets=targets)
    # One seed of the federation of 40, whose private stage nothing needs; the unseen authors upload nothing.
    assert jobs["train_shared"] == 6 * 12
    assert jobs["aggregate"] == 6
    # Three seeds x ten clients: five rows that train at K = 8 and 16, two at K = 4, 12 and 24.
    assert jobs["train_personal"] == 3 * 10 * (2 * 5 + 3 * 2)
    assert jobs["generate"] == 3 * (2 * 7 + 3 * 2)
    assert jobs["draw_random_adapter"] == 3 * 2
    assert jobs["compare_methods"] == 5
    assert jobs["train_asce"] == 1
