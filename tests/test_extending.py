"""The examples of docs/extending.md are real: each is put where the page says, and the workflow takes it up."""

import os
import re

import pytest
import yaml

from favor.corpora.schemas import CLIENT_TEXTS
from favor.foundation.parquet import write_parquet
from tests.studies.conftest import made_texts
from tests.workflow.conftest import Project, copy_project, run_forked, use_planned_configuration

pytestmark = pytest.mark.slow(15)

PLACES = {
    "A method": tuple(f"src/favor/federation/methods/{name}.py" for name in ("endpoint_tuned", "fedper_lora")),
    "A metric": ("src/favor/scores/length.py",),
    "A table": ("src/favor/tables/declarations/output_length.py",),
    "A figure": ("src/favor/figures/declarations/words_per_client.py",),
    "An encoder": ("src/favor/encoders/kinds/letters.py",),
    "A corpus reader": ("src/favor/corpora/readers/tabbed.py",),
    "An export format": ("src/favor/exports/ghost.py",),
    "A target": ("workflow/rules/word_counts.smk", "workflow/scripts/count_words.py"),
}


def blocks(page, title, language) -> list[str]:
    """The code of one language in a section of the page."""
    section = page.split(f"## {title}\n")[1].split("\n## ")[0]
    return re.findall(rf"```{language}\n(.*?)```", section, flags=re.DOTALL)


@pytest.fixture(scope="module")
def page(repository) -> str:
    return (repository / "docs" / "extending.md").read_text()


def put_examples(page, folder) -> None:
    """Put the files of the page's examples into a copy of the project; the demo's configuration stays as it is."""
    for title, places in PLACES.items():
        found = [*blocks(page, title, "snakemake"), *blocks(page, title, "python")]
        for place, text in zip(places, found, strict=True):
            (folder / place).write_text(text)
    snakefile = folder / "Snakefile"
    text = snakefile.read_text()
    last = text.rindex('include: "workflow/rules/')
    snakefile.write_text(f'{text[:last]}include: "workflow/rules/word_counts.smk"\n{text[last:]}')
    (folder / "more_rounds.yaml").write_text(blocks(page, "A study", "yaml")[0])


@pytest.fixture(scope="module")
def extended(repository, page, tmp_path_factory) -> Project:
    """A copy of the project with every example of the page in place."""
    project = copy_project(repository, tmp_path_factory.mktemp("extended") / "project")
    use_planned_configuration(repository, project)
    put_examples(page, project.folder)

    location = project.folder / "config" / "config.yaml"
    config = yaml.safe_load(location.read_text())
    config["encoders"] |= yaml.safe_load(blocks(page, "An encoder", "yaml")[0])["encoders"]
    demo = config["experiments"]["demo"]
    demo["methods"] |= yaml.safe_load(blocks(page, "A method", "yaml")[0])["methods"]
    demo["tables"] = ["output-length", *demo["tables"]]
    demo["evaluation"]["encoders"] = [*demo["evaluation"]["encoders"], "letters"]
    location.write_text(yaml.safe_dump(config, sort_keys=False))
    return project


def test_the_method_runs_on_the_track_it_shares(extended) -> None:
    planned = extended.planned()
    # Two seeds; the new rows' personal stages (fine-tuned FedAvg, and the strong FAVoR) beside Ditto's and FAVoR's.
    # FedPer's track is one of its own.
    assert planned["train_shared"] == 18
    assert planned["train_personal"] == 12
    assert planned["generate"] == 14


def test_what_is_added_is_planned(extended) -> None:
    output = extended.snakemake("-n", "results/demo/word_counts.csv", "all").stdout
    for file in (
        "scores/length.parquet",
        "tables/output-length.tex",
        "figures/words_per_client.svg",
        "embeddings/letters.parquet",
        "word_counts.csv",
    ):
        assert f"results/demo/{file}" in output, file


def test_the_target_is_made(extended) -> None:
    elsewhere, texts = extended.folder / "elsewhere" / "demo", made_texts()
    write_parquet(texts, elsewhere / "clients" / "texts.parquet", CLIENT_TEXTS)
    made = ("--config", "results=elsewhere", "--allowed-rules", "count_words", "--")
    extended.snakemake(*made, "elsewhere/demo/word_counts.csv")
    lines = (elsewhere / "word_counts.csv").read_text().splitlines()
    assert lines[0] == "client,allocated_words"
    assert sum(int(line.split(",")[1]) for line in lines[1:]) == texts["allocated_words"].sum() > 0


def test_the_study_prints_every_metric(extended) -> None:
    files = ("config/config.yaml", "more_rounds.yaml")
    output = extended.snakemake("-n", "--configfile", *files).stdout
    assert "results/more_rounds/tables/all-metrics.tex" in output
    assert "results/more_rounds/scores/length.parquet" in output
    assert "results/more_rounds/figures" not in output


# Lines of Python in the extended project, and what they print.
USES = {
    "A metric": (
        """
import pandas as pd
from types import SimpleNamespace
from favor.foundation.registry import METRIC_FAMILIES
made = pd.DataFrame({"seed": [1, 1, 1], "method": ["favor"] * 3, "words": [10, 20, 99], "passed": [True, True, False]})
scores = METRIC_FAMILIES.load("length").score(SimpleNamespace(generations=made))
print(scores[["value", "n"]].to_numpy().tolist())
""",
        "[[15.0, 2.0]]",
    ),
    "A figure": (
        """
import pandas as pd
from pathlib import Path
from favor.corpora.schemas import ALLOCATION
from favor.foundation.parquet import write_parquet
from favor.figures.data import FigureData
from favor.figures.specs import figures_in_order, load_figure
columns = ("available_words", "target_words", "allocated_words")
write_parquet(pd.DataFrame([("client_001", 3, 2, 1)], columns=["client", *columns]), "a.parquet", ALLOCATION)
data = FigureData({"allocation": ["a.parquet"]}, ["favor"], {}, [], "asce_a", {})
load_figure("words_per_client").draw(data, "words.svg")
print(figures_in_order()[-1], "</svg>" in Path("words.svg").read_text())
""",
        "words_per_client True",
    ),
    "An encoder": (
        """
from favor.encoders.base import load_encoder
rows = load_encoder({"kind": "letters"}).encode(["aab", "", "B"])
print(rows.dtype, rows.shape, [f"{cosine:.3f}" for cosine in rows @ rows[2]])
""",
        "float32 (3, 26) ['0.447', '0.000', '1.000']",
    ),
    "A corpus reader": (
        r"""
from pathlib import Path
from favor.corpora.posts import ReaderSettings, open_reader
Path("posts.txt").write_text("ann\tOnce.\nbob\tTwice.\n")
print([(post.author, post.text) for post in open_reader("tabbed").read(Path("posts.txt"), ReaderSettings())])
""",
        "[('ann', 'Once.'), ('bob', 'Twice.')]",
    ),
    "An export format": (
        """
import json
from pathlib import Path
from favor.corpora.posts import ReaderSettings, open_reader
from favor.voice.collect import collect
posts = [{"slug": "a", "html": "<p>Mine.</p><blockquote>Not.</blockquote>", "status": "published"}]
posts.append({"slug": "b", "html": "<p>Not yet.</p>", "status": "draft"})
Path("my.ghost.json").write_text(json.dumps({"db": [{"meta": {"exported_on": 1}, "data": {"posts": posts}}]}))
print(collect([Path("my.ghost.json")], ["Ann"], least_words=1)[0]["text"].tolist())
print([post.text for post in open_reader("ghost").read(Path("my.ghost.json"), ReaderSettings())])
""",
        "['Mine.']\n['Mine.']",
    ),
    "A configuration key": (
        """
from favor.config.reference import README, readme_text, schema_text
from favor.lm.settings import Generation
print(Generation().minimum_sentences, "minimum_sentences" in schema_text())
print("minimum_sentences" in readme_text(README.read_text(encoding="utf-8")))
""",
        "0 True\nTrue",
    ),
}


@pytest.mark.parametrize("title", USES)
def test_what_an_example_adds_works(extended, page, title) -> None:
    if title == "A configuration key":
        (line,) = blocks(page, title, "python")
        extended.edit(
            "src/favor/lm/settings.py", "class Generation(Decoding):\n", "class Generation(Decoding):\n" + line
        )
    lines, printed = USES[title]
    environment = os.environ | {"PYTHONPATH": str(extended.folder / "src")}
    done = run_forked(lines, extended.folder, environment, merged=False)
    assert (done.returncode, done.stdout.strip()) == (0, printed), done.stderr
