"""Every key that names a file or folder of this machine: what is there is a parameter of the jobs that read it."""

import os
from operator import attrgetter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from snakemake.io import is_flagged
from snakemake.iocontainers import InputFiles

from favor.config import models
from favor.config.availability import local_paths
from favor.foundation.errors import UserError
from favor.foundation.file_identity import FileIdentities
from favor.lm import settings as language_model
from favor.plan.keys import Key
from favor.running.invalidation.fingerprint import check_planned
from favor.running.invalidation.job_inputs import given_input, job_parameters, refuse_other_corpora

EXPERIMENT = Key(experiment="micro")
POSTS, BASE = {"demo": None, "path": "{path}"}, {"pretrain": None, "source": "{path}"}
BACKBONE, OWN = {"source": "{path}", "training": {"small": None}}, {"training": None, "options": {"folder": "{path}"}}
# Key, what its section is set to ("{path}" is the path), the file in it, and the input or settings that a job is given.
KEYS = [
    ("corpora.micro", {**POSTS, "reader": "table"}, "a.csv", "project.raw_corpus"),
    ("corpora.micro", {**POSTS, "reader": "text_folder"}, "posts/ann/a.txt", "project.raw_corpus"),
    ("base_models.micro", BASE, "base/config.json", "cfg of generate"),
    ("base_models.micro", BASE, "base.gguf", "project.gguf_file"),
    ("encoders.minilm", {"source": "{path}"}, "minilm/config.json", "cfg of embed_sources"),
    ("encoders.asce_a", OWN, "asce/encoder.json", "cfg of embed_sources"),
    ("encoders.asce_a", BACKBONE, "backbone/config.json", "cfg of train_asce"),
    ("assistants.micro", POSTS, "chat.csv", "project.assistant_texts"),
    ("assistants.micro", BACKBONE, "backbone/config.json", "cfg of train_assistant"),
    ("micro.prompts", {"common": {"path": "{path}", "count": 2}}, "own.csv", "preparation.common_source"),
    ("micro.evaluation", {"likelihood": {"neutral": "{path}"}}, "plain.txt", "likelihood.neutral"),
    ("micro.evaluation.bertscore", {"model": "{path}"}, "bert/config.json", "cfg of measure_bertscore"),
    ("micro.methods", {"given": {"outputs": "{path}"}}, "made.csv", "project.given_outputs"),
    ("micro.methods", {"given": {"adapters": "{path}"}}, "peft/client_001/adapter_config.json", "training.adapters"),
    ("micro.studies.human_2afc", {"responses": "{path}"}, "answers/1.json", "studies.responses"),
]


def filled(value, path) -> Any:
    if isinstance(value, dict):
        return {key: filled(item, path) for key, item in value.items()}
    return str(path) if value == "{path}" else value


def merged(section, values) -> None:
    for key, value in values.items():
        if isinstance(value, dict) and isinstance(section.get(key), dict):
            merged(section[key], value)
        else:
            section[key] = value


def rule_of(files, **params) -> SimpleNamespace:
    return SimpleNamespace(input=InputFiles(files), output=InputFiles(), params=SimpleNamespace(**params))


@pytest.mark.parametrize(("key", "values", "file", "job"), KEYS)
def test_what_a_key_names_is_part_of_the_job(plan, tmp_path, monkeypatch, key, values, file, job) -> None:
    for module in (models, language_model):
        monkeypatch.setattr(module, "read_header", lambda _: SimpleNamespace(context=None))
    read = tmp_path / file
    read.parent.mkdir(parents=True, exist_ok=True)
    read.write_text("{} ")

    named = dict.fromkeys(("corpus", "model", "assistant", "experiment"), "micro")
    method = "given" if "given" in values else "favor"
    wildcards = Key(**named, seed=1, method=method, encoder=key.split(".")[1])

    def change(config) -> None:
        section = config["experiments"] if key.startswith("micro.") else config
        for part in key.split("."):
            section = section[part]
        merged(section, filled(values, tmp_path / file.split("/")[0]))

    def found() -> dict[str, str]:
        planner = plan("tests/data/micro.yaml", change)
        stage = job.removeprefix("cfg of ")
        function = attrgetter(job)(planner) if stage == job else planner.settings_of(stage)
        identities = FileIdentities(tmp_path / "record.json")
        rule = rule_of([], cfg=function) if stage != job else rule_of([function])
        if stage == job:  # times decide nothing
            value = function(wildcards)
            assert all(is_flagged(each, "ancient") for each in ([value] if isinstance(value, str) else value))
        parameters = job_parameters("results", local_paths(planner.config), identities, rule)
        name, digests = parameters["local_files"](wildcards)
        assert name == "local_files"
        identities.write()
        return digests

    first = found()
    assert len(first) == 1
    os.utime(read, ns=(7, 7))
    assert found() == first
    read.write_text("{}\n")
    os.utime(read, ns=(1, 1))  # other bytes of the same length, and older
    assert found().keys() == first.keys()
    assert found() != first


def test_files_of_the_workflow_are_none_of_them(plan) -> None:
    planner = plan("tests/data/micro.yaml")
    rule = rule_of([planner.project.base_files, "results/x.parquet"])
    parameters = job_parameters("results", {"elsewhere"}, FileIdentities(Path("none.json")), rule)
    assert parameters["local_files"](EXPERIMENT) == ("local_files", {})


def test_braces_are_read_through_a_link(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("posts {2004}").mkdir()
    Path("posts {2004}/all {x}.csv").write_text("text")
    link = given_input("posts {2004}/all {x}.csv", tmp_path / "code")
    assert (Path(link).name, Path(link).read_text()) == ("all _x_.csv", "text")
    assert given_input("posts {2004}/all {x}.csv", tmp_path / "code") == link
    assert given_input("posts [1], 'é' #*.csv", tmp_path / "code") == "posts [1], 'é' #*.csv"


def test_another_path_under_the_name_of_a_corpus_that_has_results_is_refused(tmp_path) -> None:
    results = tmp_path / "results"
    made = results / "corpora" / "own" / "documents.parquet"
    made.parent.mkdir(parents=True)

    def check(path, planning=False) -> None:
        refuse_other_corpora(results, {"own": (str(path), str(made))}, planning)

    check(tmp_path / "a.csv", planning=True)
    check(tmp_path / "b.csv")  # a plan wrote nothing down
    check(tmp_path / "a.csv")  # nothing is made of b.csv
    made.write_text("")
    check(tmp_path / "a.csv")
    with pytest.raises(UserError, match=r"corpora\.own\.path.*b\.csv is another path than .*a\.csv.*or delete .*own"):
        check(tmp_path / "b.csv")
    made.unlink()
    check(tmp_path / "b.csv")


@pytest.mark.parametrize("name", ["posts.csv", "posts/ann/a.txt"])
def test_a_file_that_changes_while_a_run_is_on_ends_the_job_that_reads_it(tmp_path, name) -> None:
    file, path = tmp_path / name, str(tmp_path / name.split("/")[0])
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("before")
    identities = FileIdentities(tmp_path / "record.json")
    job = SimpleNamespace(params={"local_files": ("local_files", {path: identities.of(path)})})
    for recorded in (False, True):  # jobs elsewhere may have no record
        if recorded:
            identities.write()
        check_planned(job)
    os.utime(file, ns=(1, 1))  # touched: its bytes are read
    check_planned(job)
    file.write_text("beyond")
    with pytest.raises(UserError, match=r"posts.* changed after the run had started, so that nothing made of it"):
        check_planned(job)
    file.unlink()
    with pytest.raises(UserError, match=r"posts"):
        check_planned(job)
