"""Experiments whose models answer: which jobs read requests, and what is refused beside them."""

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
        assert (made.task, made.splits, made.model.chat) == (task, ["train", "test"], "template")
        assert "tasks" in planner.evaluation.families(name)
    assert "tasks" not in planner.evaluation.families("blogtext")
    assert "tasks" not in planner.tables.computable("blogtext")
    assert plan(FILES).preparation.make_requests_settings(KEY).splits == ["train", "test", "validation"]


EXTENDED = r"'task' is rewrite; (set it to null|empty it)"


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        # What reads texts to continue.
        ("prompts.common", {"count": 2}, EXTENDED),
        ("evaluation.likelihood", {}, EXTENDED),
        ("federation.attack", {"kind": "scale", "share": 0.25, "factor": 10.0}, EXTENDED),
        ("studies.privacy", {}, EXTENDED),
        ("studies.human_2afc", {"methods": ["ditto", "favor"]}, EXTENDED),
        ("studies.judges", {"methods": ["ditto", "favor"]}, EXTENDED),
        ("withdrawn", ["client_001"], EXTENDED),
        ("methods.retrieval", {}, "asks for a continuation.*leave the row out"),
        ("methods.feddpa", {}, "its gate reads texts.*leave the row out"),
        # The table of tasks needs one, of the three.
        ("task", "continue", "its tables compare answers with drafts"),
        ("task", "summarise", ""),
    ],
)
def test_what_a_task_does_not_go_with_is_refused(plan, key, value, said) -> None:
    def change(config) -> None:
        section = config["experiments"]["rewriting"]
        *outer, last = key.split(".")
        for name in outer:
            section = section.setdefault(name, {})
        section[last] = value

    with pytest.raises(UserError, match=rf"experiments\.rewriting\.{key}'.*{said}"):
        plan(FILES, change)
