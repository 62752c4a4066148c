"""The human audit in the workflow: pages out, response files in, what an edit reruns. No model is trained for it."""

from __future__ import annotations

import json
import re
import shutil
import subprocess

import pandas as pd
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
from tests.workflow.conftest import copy_project, planned_jobs
from tests.workflow.reruns import rerun_by_code

pytestmark = pytest.mark.slow(15)

TABLES = ("human_2afc_audit", "human-2afc-agreement")
AUDIT_TABLES = "src/favor/tables/declarations/human_audit_and_judges.py"
RULES = ("prepare_2afc", "make_2afc_page", "score_2afc", "make_table")
AUDIT = "results/demo/studies/human_2afc"


class Audit:
    """A project whose runs are finished: their generations, prompts and texts are made up."""

    def __init__(self, repository, folder) -> None:
        self.project = copy_project(repository, folder)
        self.folder = self.project.folder
        (self.folder / "responses").mkdir()
        configuration = yaml.safe_load((repository / "tests" / "data" / "planned.yaml").read_text())
        experiment = configuration["experiments"]["demo"]
        experiment["tables"] = list(TABLES)
        experiment["studies"] = {
            "human_2afc": {
                "items": 10,
                "human_items": 2,
                "annotators": 2,
                "excerpt_words": 20,
                "responses": "responses",
            }
        }
        text = yaml.safe_dump(configuration, sort_keys=False)
        (self.folder / "config" / "config.yaml").write_text(text)
        prompts = made_prompts()
        generations = made_generations(prompts)
        write_parquet(EVIDENCE.empty(), self.folder / "results/demo/evidence.parquet", EVIDENCE)
        write_parquet(made_texts(), self.folder / "results/demo/clients/texts.parquet", CLIENT_TEXTS)
        for seed in SEEDS:
            place = self.folder / f"results/demo/seed{seed}"
            mine = prompts[prompts["seed"] == seed].drop(columns="seed")
            write_parquet(mine, place / "prompts.parquet", PROMPTS)
            for method, run in generations[generations["seed"] == seed].groupby("method"):
                write_parquet(run, place / method / "generations.parquet", GENERATIONS)

    def run(self, *arguments, check=True) -> subprocess.CompletedProcess[str]:
        targets = [f"results/demo/tables/{label}.tex" for label in TABLES]
        targets += [f"{AUDIT}/annotator_{number}.html" for number in (1, 2)]
        return self.project.snakemake(*targets, "--allowed-rules", *RULES, *arguments, check=check).stdout

    def planned(self) -> dict[str, int]:
        return planned_jobs(self.run("-n"))

    def cells(self, label) -> pd.DataFrame:
        cells = read_parquet(self.folder / f"results/demo/tables/{label}.parquet", TABLE_CELLS)
        return cells.set_index(["row", "column"])

    def answer(self, number, name) -> None:
        """Let an annotator answer by the key, and leave the response file."""
        key = read_parquet(self.folder / AUDIT / "items.parquet", HUMAN_2AFC_ITEMS).set_index("item")["right"]
        page = (self.folder / AUDIT / f"annotator_{number}.html").read_text()
        data = json.loads(re.search(r'id="data">(.*?)</script>', page, re.DOTALL)[1])
        answers = [
            {"item": item["item"], "choice": key[item["item"]], "confidence": 4, "comment": ""}
            for item in data["items"]
        ]
        content = {**{field: data[field] for field in ("format", "page", "annotator")}, "responses": answers}
        (self.folder / "responses" / name).write_text(json.dumps(content))


@pytest.fixture(scope="module")
def audit(repository, tmp_path_factory) -> Audit:
    """The audit, its pages made and no answers in."""
    made = Audit(repository, tmp_path_factory.mktemp("audit") / "project")
    made.run()
    return made


def test_from_pages_to_the_table(audit) -> None:
    assert set(audit.cells("human_2afc_audit")["reason"]) == {NO_RESPONSES}
    assert audit.planned() == {}
    # The first file that comes back reruns the scores and both tables, and nothing else.
    audit.answer(1, "annotator_1 (2).json")
    assert audit.planned() == {"score_2afc": 1, "make_table": 2}
    audit.run()
    agreement = audit.cells("human-2afc-agreement")
    assert agreement.loc[("Overall", "Annotators"), "reason"] == "1 of 2 annotators have answered"
    assert agreement.loc[("Overall", "Fleiss' κ"), "reason"] == "agreement needs two annotators"
    audit.answer(2, "annotator_2.json")
    audit.run()
    printed = audit.cells("human_2afc_audit")["text"]
    assert [printed["Overall", name] for name in ("Items", "Votes", "Vote acc.", "Mean conf.")] == [
        *("10", "20", "100.0% [53.9%, 100.0%]", "4.00")  # Wilson's limit of seven authors: 7 / (7 + 2.447^2)
    ]
    assert audit.cells("human-2afc-agreement").loc[("Overall", "Fleiss' κ"), "text"] == "1.000 [0.078, 1.000]"
    assert audit.planned() == {}
    for label in TABLES:
        for kind in ("tex", "html"):
            published = (audit.folder / f"results/demo/tables/{label}.{kind}").read_text()
            assert "client_" not in published
            assert "w1 " not in published  # no text of the corpus


def test_a_faulty_file_stops_with_one_line(audit) -> None:
    path = audit.folder / "responses" / "copy.json"
    audit.answer(1, "one.json")
    shutil.move(audit.folder / "responses" / "one.json", path)
    content = json.loads(path.read_text())
    content["responses"].pop()
    path.write_text(json.dumps(content))
    others = [other for other in (audit.folder / "responses").iterdir() if other != path]
    kept = {other: other.read_bytes() for other in others}
    for other in others:
        other.unlink()
    output = audit.run(check=False)
    path.unlink()
    for other, content in kept.items():
        other.write_bytes(content)
    assert "error in score_2afc: responses/copy.json: field 'responses': 1 of 10 items have no answer" in output
    assert "Traceback" not in output
    audit.run()


@pytest.mark.parametrize(
    ("file", "old", "new", "planned"),
    [
        (
            "src/favor/statistics/agreement.py",
            "def pairwise_agreement(",
            "def pairwise_agreement(new=0, *, ",
            {"score_2afc": 1, "make_table": 2},
        ),
        (
            "src/favor/studies/human_audit/human_2afc.py",
            "\nMETRICS = (",
            "\nMETRICS = (*(), ",
            {"score_2afc": 1, "make_table": 2},
        ),
        (AUDIT_TABLES, '"Human 2AFC audit"', '"Audit"', {"make_table": 1}),
        (AUDIT_TABLES, 'Agreement of the annotators"', 'Agreement"', {"make_table": 1}),
        ("src/favor/studies/human_audit/templates/page.html", "<h1>Which author", "<h1>Who", {"make_2afc_page": 2}),
        ("src/favor/studies/human_audit/templates/page.js", "10000", "20000", {"make_2afc_page": 2}),
        (
            "config/config.yaml",
            "excerpt_words: 20",
            "excerpt_words: 21",
            {"prepare_2afc": 1, "make_2afc_page": 2, "score_2afc": 1, "make_table": 2},
        ),
        ("src/favor/studies/human_audit/items.py", "# Texts that fill", "# Those that fill", {}),
    ],
)
def test_an_edit_reruns_what_it_can_change(audit, file, old, new, planned) -> None:
    before = (audit.folder / file).read_text()
    audit.project.edit(file, old, new)
    found = audit.planned() if file.endswith(".yaml") else rerun_by_code(audit.project)
    (audit.folder / file).write_text(before)
    assert found == planned


def test_without_an_audit_the_tables_say_so(audit) -> None:
    path = audit.folder / "config" / "config.yaml"
    configuration = yaml.safe_load(path.read_text())
    before = path.read_text()
    configuration["experiments"]["demo"]["studies"] = {}
    path.write_text(yaml.safe_dump(configuration, sort_keys=False))
    tables = [f"results/demo/tables/{label}.tex" for label in TABLES]
    audit.project.snakemake(*tables, "--allowed-rules", *RULES)
    path.write_text(before)
    cells = audit.cells("human_2afc_audit")
    assert set(cells["reason"]) == {"the experiment has no human audit (studies.human_2afc)"}
    assert cells.index.get_level_values("row").unique().tolist() == ["Ditto", "FAVoR", "Human ref.", "Overall"]
