"""Experiments whose models answer: which jobs read requests, and what is refused beside them."""

from __future__ import annotations

import pytest

from favor.foundation.errors import UserError
from favor.plan.keys import Key

FILES = "tests/data/tasks.yaml"
STUDY = ("config/blogtext.yaml", "config/studies/tasks.yaml")
KEY = Key(experiment="rewriting")


def test_only_jobs_of_models_that_answer_read_requests(plan) -> None:
    assert plan(FILES).training.requests(KEY) == ["results/rewriting/clients/requests.parquet"]
    planner = plan(STUDY)
    assert planner.training.requests(Key(experiment="blogtext")) == []
    assert planner.preparation.doing("continue") == "blogtext"
    assert planner.preparation.doing("rewrite", "instruct") == "tasks_rewrite|tasks_instruct"
    for name, task in (("tasks_rewrite", "rewrite"), ("tasks_instruct", "instruct")):
        made = planner.preparation.make_requests_settings(Key(experiment=name))
        assert (made["task"], made["splits"], made["model"]["chat"]) == (task, ["train", "test"], "template")
        assert "tasks" in planner.evaluation.families(name)
    assert "tasks" not in planner.evaluation.families("blogtext")
    assert "tasks" not in planner.tables.computable("blogtext")
    assert plan(FILES).preparation.make_requests_settings(KEY)["splits"] == ["train", "test", "validation"]


def test_to_continue_hands_every_job_what_it_was_handed(plan) -> None:
    """The key at its default, said or not, is in no job's settings but the record of them all."""

    def said(config) -> None:
        config["experiments"]["micro"]["task"] = "continue"

    silent, loud = plan(), plan(change=said)
    shared = silent.training.runs("micro")[0]
    track = silent.project.plan(shared).shared.track
    keys = (
        Key(experiment="micro", seed="1", track=track, round="0", batch="0"),
        Key(experiment="micro", seed="1", method="favor", phase="last", batch="0"),
    )
    for planner in (silent, loud):
        assert planner.training.train_shared_settings(keys[0]) == silent.training.train_shared_settings(keys[0])
        assert planner.training.train_personal_settings(keys[1]) == silent.training.train_personal_settings(keys[1])
        for handed in (
            planner.training.train_shared_settings(keys[0]),
            planner.training.train_personal_settings(keys[1]),
        ):
            assert "task" not in handed


REFUSED = {
    "prompts.common": {"count": 2},
    "evaluation.likelihood": {},
    "federation.attack": {"kind": "scale", "share": 0.25, "factor": 10.0},
    "studies.privacy": {},
    "studies.human_2afc": {"methods": ["ditto", "favor"]},
    "studies.judges": {"methods": ["ditto", "favor"]},
    "withdrawn": ["client_001"],
}


@pytest.mark.parametrize("key", REFUSED)
def test_what_reads_texts_to_continue_is_refused(plan, key) -> None:
    def change(config) -> None:
        section = config["experiments"]["rewriting"]
        *outer, last = key.split(".")
        for name in outer:
            section = section.setdefault(name, {})
        section[last] = REFUSED[key]

    with pytest.raises(UserError, match=f"experiments.rewriting.{key}'.*'task' is rewrite; (set it to null|empty it)"):
        plan(FILES, change)


@pytest.mark.parametrize(
    ("row", "said"), [("retrieval", "asks for a continuation"), ("feddpa", "its gate reads texts")]
)
def test_rows_that_read_texts_to_continue_are_refused(plan, row, said) -> None:
    def change(config) -> None:
        config["experiments"]["rewriting"]["methods"][row] = {}

    with pytest.raises(UserError, match=f"experiments.rewriting.methods.{row}'.*{said}.*leave the row out"):
        plan(FILES, change)


def test_the_table_of_tasks_needs_one(plan) -> None:
    def change(config) -> None:
        config["experiments"]["rewriting"]["task"] = "continue"

    with pytest.raises(UserError, match=r"experiments.rewriting.task': its tables compare answers with drafts"):
        plan(FILES, change)


def test_no_task_but_the_three(plan) -> None:
    def change(config) -> None:
        config["experiments"]["rewriting"]["task"] = "summarise"

    with pytest.raises(UserError, match=r"experiments.rewriting.task'"):
        plan(FILES, change)
