"""The human audit in the workflow: pages out, response files in, what an edit reruns. No model is trained for it."""

import json
import re
import subprocess

import pytest
import yaml

from favor.analysis.schemas import EVIDENCE
from favor.corpora.schemas import CLIENT_TEXTS, PROMPTS
from favor.federation.schemas import GENERATIONS
from favor.foundation.parquet import read_parquet, write_parquet
from favor.studies.human_audit.human_2afc import NO_RESPONSES
from favor.studies.human_audit.schemas import HUMAN_2AFC_ITEMS
from favor.tables.cell_table import TABLE_CELLS
from tests.studies.conftest import SEEDS, made_generations, made_prompts, made_texts
from tests.workflow.conftest import Project, copy_project, planned_jobs

pytestmark = pytest.mark.slow(15)

TABLES = [f"results/demo/tables/{label}" for label in ("human_2afc_audit", "human-2afc-agreement")]
AUDIT = "results/demo/studies/human_2afc"
PAGES = [f"{AUDIT}/annotator_{number}.html" for number in (1, 2)]


@pytest.fixture
def project(repository, tmp_path) -> Project:
    """A project whose runs are finished: their generations, prompts and texts are made up."""
    project = copy_project(repository, tmp_path / "project")
    (project.folder / "responses").mkdir()
    config = yaml.safe_load((repository / "tests" / "data" / "planned.yaml").read_text())
    audit = {"items": 10, "human_items": 2, "annotators": 2, "excerpt_words": 20, "responses": "responses"}
    tables = ["human_2afc_audit", "human-2afc-agreement"]
    config["experiments"]["demo"] |= {"tables": tables, "studies": {"human_2afc": audit}}
    (project.folder / "config" / "config.yaml").write_text(yaml.safe_dump(config, sort_keys=False))
    prompts, demo = made_prompts(), project.folder / "results" / "demo"
    generations = made_generations(prompts)
    write_parquet(EVIDENCE.empty(), demo / "evidence.parquet", EVIDENCE)
    write_parquet(made_texts(), demo / "clients" / "texts.parquet", CLIENT_TEXTS)
    for seed in SEEDS:
        mine = prompts[prompts["seed"] == seed].drop(columns="seed")
        write_parquet(mine, demo / f"seed{seed}" / "prompts.parquet", PROMPTS)
        for method, run in generations[generations["seed"] == seed].groupby("method"):
            write_parquet(run, demo / f"seed{seed}" / method / "generations.parquet", GENERATIONS)
    return project


def run(project, *arguments, check=True) -> subprocess.CompletedProcess[str]:
    rules = ("--allowed-rules", "prepare_2afc", "make_2afc_page", "score_2afc", "make_table")
    return project.snakemake(*(f"{table}.tex" for table in TABLES), *PAGES, *rules, *arguments, check=check)


def planned(project) -> dict[str, int]:
    return planned_jobs(run(project, "-n").stdout)


def cells(project, table, column) -> dict[tuple[str, str], str]:
    """A column of a table's cells ("text" or "reason"), by the cell's row and column."""
    return read_parquet(project.folder / f"{table}.parquet", TABLE_CELLS).set_index(["row", "column"])[column].to_dict()


def answer(project, number, name, answered=10) -> None:
    key = read_parquet(project.folder / AUDIT / "items.parquet", HUMAN_2AFC_ITEMS).set_index("item")["right"]
    page = (project.folder / PAGES[number - 1]).read_text()
    data = json.loads(re.search(r'id="data">(.*?)</script>', page, re.DOTALL)[1])
    answers = [
        {"item": item["item"], "choice": key[item["item"]], "confidence": 4, "comment": ""}
        for item in data["items"][:answered]
    ]
    content = {**{field: data[field] for field in ("format", "page", "annotator")}, "responses": answers}
    (project.folder / "responses" / name).write_text(json.dumps(content))


def test_from_pages_to_the_table(project) -> None:
    audited, agreement = TABLES
    run(project)
    assert set(cells(project, audited, "reason").values()) == {NO_RESPONSES}
    assert planned(project) == {}
    # The first file that comes back reruns the scores and both tables, and nothing else. It is not whole.
    answer(project, 1, "annotator_1 (2).json", answered=9)
    assert planned(project) == {"score_2afc": 1, "make_table": 2}
    output = run(project, check=False).stdout
    said = "responses/annotator_1 (2).json: key 'responses': 1 of 10 items have no answer"
    assert f"error in score_2afc: {said}" in output
    assert "Traceback" not in output
    answer(project, 1, "annotator_1 (2).json")
    run(project)
    reasons = cells(project, agreement, "reason")
    assert reasons["Overall", "Annotators"] == "1 of 2 annotators have answered"
    assert reasons["Overall", "Fleiss' κ"] == "agreement needs two annotators"
    answer(project, 2, "annotator_2.json")
    run(project)
    printed = cells(project, audited, "text")
    assert [printed["Overall", name] for name in ("Items", "Votes", "Vote acc.", "Mean conf.")] == [
        *("10", "20", "100.0% [53.9%, 100.0%]", "4.00")  # Wilson's limit of seven authors: 7 / (7 + 2.447^2)
    ]
    assert cells(project, agreement, "text")["Overall", "Fleiss' κ"] == "1.000 [0.078, 1.000]"
    assert planned(project) == {}
    for table in TABLES:
        for kind in ("tex", "html"):
            published = (project.folder / f"{table}.{kind}").read_text()
            assert "client_" not in published
            assert "w1 " not in published  # no text of the corpus
    project.edit("config/config.yaml", "excerpt_words: 20", "excerpt_words: 21")
    assert planned(project) == {"prepare_2afc": 1, "make_2afc_page": 2, "score_2afc": 1, "make_table": 2}
    project.restore()
    project.edit("src/favor/statistics/agreement.py", "def agreement_by_item(", "def agreement_by_item(new=0, *, ")
    assert planned(project) == {"score_2afc": 1, "make_table": 2}
