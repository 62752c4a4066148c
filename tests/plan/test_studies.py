"""Studies: prompted rows, the human audit, judges, transfer of encoders."""

import pytest

from favor.forecast.estimate import Account
from favor.foundation.errors import UserError
from favor.plan.keys import run_key

PLANNED = "tests/data/planned.yaml"
STUDIES = "tests/data/studies.yaml"
DEMO = run_key("demo", "2026", "favor")


@pytest.mark.parametrize(
    ("section", "values", "message"),
    [
        ("prompting", {"passage_tokens": 800}, "its prompts need up to"),
        ("prompting", {"sheet_text_tokens": 500}, "a request for a sheet needs up to"),
        ("evaluation", {"encoders": ["minilm"]}, "table asce-scale-transfer compares style encoders"),
    ],
)
def test_what_cannot_be_stops_before_any_job(plan, section, values, message) -> None:
    plan(STUDIES)
    with pytest.raises(UserError, match=message):
        plan(STUDIES, {"experiments": {"probes": {section: values}}})


def test_a_row_is_prompted_or_trained_everywhere(plan) -> None:
    assert plan(STUDIES).studies.prompted_rows == "average_author|sheet_retrieval"

    def change(config) -> None:
        del config["experiments"]["probes"]["outputs_of"]
        config["experiments"]["micro"]["methods"]["average_author"] = {"method": "fedavg"}

    with pytest.raises(UserError, match=r"methods\.average_author': the row of this name is a prompting baseline"):
        plan(STUDIES, change)


def test_only_rows_with_a_sheet_wait_for_sheets(plan) -> None:
    studies = plan(STUDIES).studies
    assert studies.sheets(run_key("probes", "1", "sheet_retrieval")) == "results/probes/clients/sheets.parquet"
    assert studies.sheets(run_key("probes", "1", "average_author")) == []


def test_nothing_is_judged_unasked_and_the_scores_say_so(plan) -> None:
    planner = plan(PLANNED)
    studies = planner.studies
    assert not [path for path in planner.targets.everything() if "judge" in path or path.endswith(".tar.gz")]
    assert studies.judgements(DEMO) == studies.audit_items(DEMO) == studies.responses(DEMO) == []
    votes, scoring = studies.score_2afc_settings(DEMO), studies.score_judges_settings(DEMO)
    assert votes.methods == ["ditto", "favor"]
    assert (scoring.methods, scoring.voice) == (list(planner.config.experiments["demo"].methods), None)


def test_a_configured_judge_is_part_of_a_whole_run_and_reads_no_key(plan) -> None:
    planner = plan(PLANNED, {"experiments": {"demo": {"studies": {"judges": {}}}}})
    assert "results/demo/scores/judges.parquet" in planner.targets.everything()
    assert planner.studies.judge_files(DEMO) == []  # an endpoint: the requests are all that it reads
    assert planner.studies.judge_code(DEMO) == "favor.studies.judges.endpoint:open_judge"
    assert "results/demo/studies/judges/key.parquet" in planner.studies.judgements(DEMO)
    assert "results/demo/scores/judges.parquet" in planner.publication.number_files()


def test_the_table_without_a_judge_judges_nothing(plan) -> None:
    planner = plan(PLANNED, lambda config: config["experiments"]["demo"]["tables"].append("qwen-generic-quality"))
    assert "judges" in planner.evaluation.families("demo")
    assert planner.studies.judgements(DEMO) == []


def test_a_local_judge_waits_for_its_model(plan) -> None:
    planner = plan(PLANNED, {"experiments": {"demo": {"studies": {"judges": {"model": "local"}}}}})
    assert planner.studies.judge_files(DEMO) == planner.project.model_files("tiny")
    assert planner.studies.judge_settings(DEMO).local.base.source == "results/models/tiny/base"


def test_responses_and_pages_of_an_audit(plan, tmp_path) -> None:
    audit = {"items": 10, "human_items": 2, "annotators": 2, "responses": str(tmp_path)}
    for name in ("b.json", "a.json", "notes.txt"):
        (tmp_path / name).write_text("{}")
    planner = plan(PLANNED, {"experiments": {"demo": {"studies": {"human_2afc": audit}}}})
    assert planner.studies.responses(DEMO) == [str(tmp_path / "a.json"), str(tmp_path / "b.json")]
    pages = [f"results/demo/studies/human_2afc/annotator_{number}.html" for number in (1, 2)]
    assert planner.studies.pages() == pages
    assert set(pages) <= set(planner.targets.everything())
    assert "responses" not in planner.records.printed_studies("demo")["human_2afc"]


def test_encoders_that_are_compared_are_trained_here(plan) -> None:
    def set_corpus(config) -> None:
        config["corpora"]["mythos"]["path"] = config["corpus_path"]

    studies = plan(("config/blogtext.yaml", "config/studies/asce_transfer.yaml"), set_corpus).studies
    key = run_key("asce_transfer", "2026", "favor")
    assert studies.embedded(key) == studies.transferred(key) == ["asce_10", "asce_25", "asce_50"]
    assert studies.transfer_corpus(key) == "mythos"


def test_temperatures_train_nothing_beside_the_main_experiment(plan) -> None:
    planner = plan(("config/blogtext.yaml", "config/studies/temperature.yaml"))
    training = planner.training
    for method in ("ditto", "favor"):
        main = run_key("blogtext", "2026", method)
        assert training.adapters(main)
        for row in (method, f"{method}_05", f"{method}_1_nucleus"):
            run = run_key("temperature", "2026", row)
            assert training.adapters(run) == training.adapters(main)
            assert training.behind(run) == training.behind(main)
    own = [file for file in planner.targets.everything() if file.startswith("results/temperature/seed2026/")]
    generated = {file.split("/")[3] for file in own if file.endswith("generations.parquet")}
    assert generated == set(planner.config.experiments["temperature"].methods) - {"base_only", "ditto", "favor"}
    assert not [file for file in own if "/shared/" in file or "/clients/" in file or "/server/" in file]
    account = Account(planner, "temperature")
    assert (account.jobs, account.passes) == ({"generate": 3 * 9}, 0)
    boundary = planner.records.record_boundary_settings(run_key("temperature", "2026", "favor")).runs
    rows = {run.method: run.traffic for run in boundary if run.seed == 2026}
    assert rows["favor_1"] == rows["favor"]
    assert "results/blogtext/" in rows["favor_1"][0]
    # The figure is drawn where rows of one method differ in temperature, and nowhere else.
    assert "temperature" in planner.evaluation.figures("temperature")
    assert "temperature" not in planner.evaluation.figures("blogtext")


def test_a_row_trained_otherwise_than_the_main_experiments_trains_itself(plan) -> None:
    change = {"experiments": {"temperature": {"methods": {"ditto_05": {"lambda_ditto": 0.5}}}}}
    training = plan(("config/blogtext.yaml", "config/studies/temperature.yaml"), change).training
    run = run_key("temperature", "2026", "ditto_05")
    assert training.trainer(run) == run
    assert training.trainer(run_key("temperature", "2026", "ditto_08")) == run_key("blogtext", "2026", "ditto")
