"""A configuration is completed, or refused in one line that names the key and the nearest valid one."""

import copy
import datetime
import json
import os
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.exports.conftest import refusal
from tests.plan.conftest import read

from favor.config.availability import to_fetch
from favor.config.checks import EMBEDDED_MINILM, MINILM_LAYERS
from favor.config.configuration import Configuration
from favor.config.experiments import ColdStart
from favor.config.resolve import resolve
from favor.encoders.backbones import resolve_source
from favor.foundation.errors import UserError
from favor.foundation.section import Section
from favor.lm.base import BaseModel
from favor.scores.settings import Mauve, Scores

DEMO = read("config/config.yaml")
POINT = {"label": "1", "experiment": "demo"}
NEW_YEAR = datetime.date(2026, 1, 1)


def changed(path, value) -> dict[str, Any]:
    """The demo with another value of a key; a path that begins with a point is of the demo's experiment."""
    config = copy.deepcopy(DEMO)
    place = config
    *parents, key = (f"experiments.demo{path}" if path.startswith(".") else path).split(".")
    for parent in parents:
        place = place.setdefault(parent, {})
    place[key] = value
    return config


def test_the_demo_resolves_and_is_left_as_it_was() -> None:
    before = copy.deepcopy(DEMO)
    config = resolve(DEMO)
    assert before == DEMO
    assert config.experiments["demo"].training.clip_norm == 1.0
    assert config.experiments["demo"].protocol == "paper"


def test_defaults_are_the_papers() -> None:
    style = {"kind": "asce", "source": "distilroberta-base", "training": {"corpus": "c", "role": "asce_a"}}
    smallest = {
        "corpora": {"c": {"demo": {}}},
        "base_models": {"m": {"source": "owner/model"}},
        "encoders": {"e": style, "s": {"kind": "sentence", "source": "embedded-minilm"}},
        "experiments": {"x": {"corpus": "c", "base_model": "m", "style_encoder": "e"}},
    }
    config = resolve(smallest).experiments["x"]
    # Table efficiency_communication and section 4 of the paper.
    assert (config.federation.rounds, config.federation.clients_per_round, config.clients) == (6, 12, 50)
    assert (config.lora.rank, config.lora.alpha, config.lora.dropout) == (16, 32, 0.05)
    assert (config.training.micro_batch, config.training.accumulation) == (4, 8)
    assert config.training.learning_rate == 2e-4
    assert (config.prompts.prefix_tokens, config.generation.max_new_tokens) == (96, 220)
    assert config.evaluation.semantic_encoder == "s"
    assert config.evaluation.scores == Scores(mauve=Mauve(encoders=["s"]))


# Bounds of single keys are in the tables of config/README.md, which test_reference.py holds to the models.
@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("experimets", {}, "unknown config key 'experimets'; did you mean 'experiments'?"),
        (".training.learning_rat", 1, "'experiments.demo.training.learning_rat'; did you mean 'learning_rate'?"),
        (".lora.rank", "8", "config key 'experiments.demo.lora.rank': expected integer, found '8'"),
        (".training.learning_rate", "2e-4", "write 2.0e-4"),
        (".training.learning_rate", float("inf"), "not a finite number"),
        ("release.date", "2026-02-30", "config key 'release.date': '2026-02-30' is not a day; write 'YYYY-MM-DD'"),
        ("release.licence", "CC BY", "'CC BY' is not an SPDX identifier; write one such as MIT or CC-BY-4.0"),
        ("experiments.logs", copy.deepcopy(DEMO["experiments"]["demo"]), "has a folder of that name"),
        ("sweeps.s", {"points": [{**POINT, "experiment": "dem"}]}, "there is no 'dem'; did you mean 'demo'?"),
        ("sweeps.s", {"points": [{**POINT, "label": n} for n in "12"]}, "two points have one experiment"),
        ("sweeps.s", {"points": [{**POINT, "label": ""}]}, "'' is blank; fill it in"),
        ("sweeps.s", {"points": [{**POINT, "series": "mean"}]}, "point '1' needs a series and a value"),
        ("sweeps.s", {"points": []}, "[] is too short; give at least 1"),
        ("sweeps.s", {}, "config key 'sweeps.s.points' is missing; add it"),
        ("sweeps.s", {"points": [POINT], "tables": ["imbalance-swep"]}, "s.tables': there is no 'imbalance-swep'"),
        ("sweeps.s", {"points": [POINT], "figure": ["auc"]}, "a figure draws what the sweep's tables score"),
        (".methods", {"shared": {"method": "favor"}}, "the name is taken"),
        (".seeds", [0, 1], "0 stands for scores over all seeds"),
        (".tables", ["main_federated_results"] * 2, "names something twice"),
        ("encoders.style", {"kind": "luar"}, "for the role of an encoder; choose another name"),
        ("corpora.demo.words", "unicod", "unicode"),
        ("corpora.demo.encoding", "utf-99", "'utf-99' is unknown or not one of text; use"),
        ("corpora.demo.encoding", "rot13", "'rot13' is unknown or not one of text; use"),
        ("corpora.demo.encoding", "unicode_escape", "corpora.demo.encoding': 'unicode_escape' is unknown or not one"),
        ("corpora.demo.path", "posts.csv", "corpora.demo.path': the corpus is generated ('demo'), so no file is read"),
        ("corpora.demo.demo", {"minimum_posts": 50, "maximum_posts": 49}, "49 is less than minimum_posts, 50"),
        ("corpus_path", "/data/blogtext.csv", "the demo generates its corpus; add --configfile config/blogtext.yaml"),
        (".seeds", [1, 2**31], "experiments.demo.seeds[1]': 2147483648 is out of range"),
        (".federation.rounds", 10**19, "it must be at most 10000"),
        (".clients", 1, "experiments.demo.clients': 1 is out of range; it must be at least 2"),
        (".skip_clients", 11, "11 of 12 clients are skipped, but at least 2 must take part"),
        ("results", "a\0b", "cannot be a results folder"),
        ("experiments", {"e" * 65: {}}, "a name is up to 64 lower-case letters"),
        ("corpora.demo.encoding", "utf\0", "is unknown or not one of text"),
        ("corpora.demo.columns", {"txt": "body"}, "did you mean 'text'?"),
        ("corpora.demo.columns", {"text": "id"}, "'id' is both author and text; name a column for each"),
        ("corpora.demo.columns", {"prompt": "sign"}, "the reader 'blog_csv' does not read it; it reads author, topic"),
        ("results", "a{b}", "'a{b}' cannot be a results folder; write it out, without {, }, *, ?, $ or ~"),
        ("results", "/", "'/' cannot be a results folder"),
        ("results", "$HOME/favor", "'$HOME/favor' cannot be a results folder"),
        ("results", "~nobody/favor", "'~nobody/favor' cannot be a results folder"),
        (".lora.rank", True, "expected integer, found true"),
        (".lora.rank", None, "expected integer, found null"),
        (".seeds", [NEW_YEAR], "expected integer, found the date 2026-01-01"),
        (".title", True, "text, found true; YAML reads yes, no, on and off as true and false, put the text in quotes"),
        (".title", 2026, "expected text, found 2026; put it in quotes"),
        ("release.date", NEW_YEAR, "expected text or null, found the date 2026-01-01; put it in quotes"),
        (".title", " ", "experiments.demo.title': ' ' is blank; fill it in"),
        ("base_models.tiny.title", "", "'' is blank; fill it in"),
        (".title", "\ud800", "experiments.demo.title': '\\ud800' holds half a character"),
        ("encoders.asce_a.training.head_learning_rate", -1.0, "out of range; it must be more than 0"),
        (".training.clip_norm", 1e300, "training.clip_norm': 1e+300 is out of range"),
        (".training.clip_norm", 1e-300, "clip_norm': 1e-300 is too near 0 to be told from it"),
        (".training.micro_batch", 10**18, "it must be at most 1000000000000"),
        (".methods.favor", {"lambda_align": 1e300}, "methods.favor.lambda_align': 1e+300 is out of"),
        (".methods.favor", {"lambda_align": 10**400}, "lambda_align': 1000000000"),
        (".participation", 2, "unknown config key 'experiments.demo.participation'"),
        (".federation.participation", 2, "unknown config key 'experiments.demo.federation.participa"),
        ("corpora.demo.roles.asce_b", 0, "0 authors wanted, but corpora.demo.roles.asce_b is 0"),
        ("corpora.demo.filters", {"languages": ["EN"]}, "'EN' does not have the form ^[a-z]{2,3}$; correct it"),
        (".generation.minimum_words", 65, "no output of 64 tokens has 65 words; lower it"),
        (".methods.favor.generation.temperature", "hot", "favor.generation.temperature': expected number, found 'hot'"),
        (".methods.favor.generation.temperature", -1, "temperature': -1 is out of range; it must be at least 0"),
        ("encoders.minilm.options", {"maximum_token": 64}, "options': there is no 'maximum_token'; did you mean 'max"),
        ("encoders.minilm.options", {"maximum_tokens": "64"}, "maximum_tokens': expected integer, found '64'"),
        ("encoders.asce_a.options", {"batchsize": 8}, "options': there is no 'batchsize'; did you mean 'batch_size'"),
        ("encoders.stylometry.options", {"foldr": "a"}, "options': there is no 'foldr'; did you mean 'folder'"),
        ("encoders.minilm.options", {"batch_size": 0}, "batch_size': 0 is out of range; it must be at least 1"),
        ("encoders.minilm.source", "", "encoders.minilm.source': '' is blank; fill it in, or leave the key out"),
        (".evaluation.bertscore.model", "", "bertscore.model': '' is blank"),
        (".evaluation.bertscore.layer", 7, "bertscore.layer': 7, but 'embedded-minilm' has 6 layers"),
        (".alignment.minimum_tokens", 129, "no piece of 128 tokens (training.max_length) has 129"),
        ("report.unranked", ["feddpa_dinamic"], "did you mean 'feddpa_dynamic'?"),
        (".lora.target_modules", ["q_prj"], "did you mean 'q_proj'?"),
        (".evaluation.scores", {"verification": {"variants": "abc"}}, "variants': expected list, found 'abc'"),
        ("base_models.tiny", {"source": "./no-such"}, "no model in no-such (config.json is missing)"),
        (".protocol", "papr", "'papr' is not possible; did you mean 'paper'?"),
        (".seeds", [1, 1], "names something twice"),
        (".corpus", "dem", "there is no 'dem'; did you mean 'demo'?"),
        (".federation.clients_per_round", 13, "13 clients per round, but only 12 clients"),
        (".clients", 13, "lower the first or raise the second"),
        (".prompts.prefix_tokens", 384, "does not fit the model's context of 384"),
        (".generation.max_new_tokens", 380, "exceed the model's context of 384"),
        (".training.max_length", 32, "leave nothing to learn after a prefix of 32"),
        (".methods", {"favor": {"method": 3}}, "methods.favor.method': expected text, found 3"),
        (".methods", {"favor": {"method": None}}, "methods.favor.method': expected text, found None"),
        (".methods", {"favr": {}}, "there is no 'favr'; did you mean 'favor'?"),
        (".evaluation.scores", {"muave": {}}, "scores.muave'; did you mean 'mauve'?"),
        (".evaluation.scores.mauve", {"encoders": ["ministerm"]}, "did you mean 'minilm'?"),
        (".evaluation.scores.mauve.encoders", "asce_a", "expected list or null, found 'asce_a'"),
        (".evaluation.scores", {"mauve": {"seeds": [1]}}, "did you mean 'kmeans_seeds'?"),
        (".tables", ["main_federated_result"], "did you mean 'main_federated_results'?"),
        ("encoders.asce_a.training.authors", 100, "100 authors wanted"),
        ("encoders.asce_a.kind", "asci", "'asci'"),
        (".studies.human_2afc", {"methods": ["favour"]}, "did you mean 'favor'?"),
        (".studies.human_2afc", {"items": 9, "human_items": 2}, "shared equally by 2 methods"),
        (".studies.human_2afc", {"items": 10, "human_items": 10}, "shared equally by 2 methods"),
        (".studies.human_2afc", {"items": 98}, "2afc.items': each takes a prompt of its own, and"),
        (".studies.human_2afc", {"responses": "/no/folder"}, "no folder /no/folder; make it"),
        (".studies.human_2afc", {"annotator": 3}, "did you mean 'annotators'?"),
        ("corpora.demo.demo", None, "--config corpus_path="),
        ("corpora.demo", {"reader": "table", "path": ""}, "corpora.demo.path': it is empty; give the raw corpus"),
        ("corpora.demo.reader", "blog_cvs", "did you mean 'blog_csv'?"),
        ("corpora.demo.roles.background", 0, "has no background authors"),
        ("base_models.tiny.source", "a/b", "give either 'source' or 'pretrain'"),
        ("base_models.Tiny", {"source": "a/b"}, "a name is up to 64 lower-case"),
        (".studies.judges", {"voice": ["favor", "dito"]}, "judges.voice': there is no 'dito'; did you mean 'ditto'"),
        (".studies.judges", {"voice": ["favor", "favor"]}, "name two rows"),
        (".studies.judges", {"methods": ["fedavg", "ditto"]}, "ratings compare row 'favor' with others"),
        (".studies.judges", {"model": "local", "base_model": "small"}, "judges.base_model': there is no 'small'"),
        (".studies.judges", {"model": "remote"}, "'remote' is not possible"),
        (".studies.judges", {"api_key": "sk-1"}, "unknown config key 'experiments.demo.studies.judges.api_key'"),
    ],
)
def test_a_wrong_key_or_an_impossible_combination_is_named(path, value, message) -> None:
    assert message in refusal(resolve, changed(path, value))


@pytest.mark.parametrize(
    ("points", "message"),
    [
        ([("1 %", None), ("1  % ", None)], "two points have one label; give each its own"),
        ([("1", 0.5), ("2", 0.5)], "two points have one value; give each its own"),
        ([("1", 0.5), ("2", float("nan"))], "points[1].value': nan is not a finite number"),
    ],
)
def test_points_of_a_sweep_are_told_from_one_another(points, message) -> None:
    config = copy.deepcopy(DEMO)
    config["experiments"]["other"] = {"extends": "demo"}
    named = zip(points, ("demo", "other"), strict=True)
    entries = [{"label": label, "value": value, "experiment": name} for (label, value), name in named]
    config["sweeps"] = {"s": {"points": entries}}
    assert message in refusal(resolve, config)


def test_the_embedded_model_has_the_layers_that_the_check_counts() -> None:
    config = Path(resolve_source(EMBEDDED_MINILM)) / "config.json"
    assert json.loads(config.read_text())["num_hidden_layers"] == MINILM_LAYERS


def test_a_local_bertscore_model_is_there_and_has_the_layer(tmp_path) -> None:
    (tmp_path / "config.json").write_text('{"num_hidden_layers": 12}')
    config = changed(".evaluation.bertscore", {"model": str(tmp_path), "layer": 12})
    assert resolve(config).experiments["demo"].evaluation.bertscore.layer == 12
    config["experiments"]["demo"]["evaluation"]["bertscore"]["layer"] = 13
    with pytest.raises(UserError, match=r"bertscore.layer': 13, but .* has 12 layers; lower it"):
        resolve(config)
    none = resolve(changed(".evaluation.bertscore.model", "./no/folder"))
    assert "'experiments.demo.evaluation.bertscore.model': there is no folder './no/folder'" in refusal(to_fetch, none)


def test_words_that_are_single_letters_may_be_more_than_the_tokens() -> None:
    config = changed(".generation.minimum_words", 65)
    config["corpora"]["demo"]["words"] = "characters"
    assert resolve(config).experiments["demo"].generation.minimum_words == 65


def test_a_reader_brings_its_own_encoding_and_what_it_excludes() -> None:
    corpus = resolve(changed("corpora.demo.demo.shape", "blog")).corpora["demo"]
    assert (corpus.encoding, corpus.excluded_authors, corpus.excluded_texts) == ("utf-8", [], [])
    stories = changed("corpora.demo.demo.shape", "mythos")
    stories["corpora"]["demo"]["reader"] = "mythos"
    corpus = resolve(stories).corpora["demo"]
    assert {"[deleted]", "AutoModerator"} <= set(corpus.excluded_authors)
    assert "[removed]" in corpus.excluded_texts
    stories["corpora"]["demo"]["excluded_authors"] = []
    assert resolve(stories).corpora["demo"].excluded_authors == []
    files = changed("corpora.demo.demo", None)
    files["corpora"]["demo"] |= {"reader": "blog_xml", "path": "."}
    assert resolve(files).corpora["demo"].encoding == "cp1252"
    files["corpora"]["demo"]["columns"] = {"text": "body"}
    assert "the reader 'blog_xml' does not read it; its source has no columns" in refusal(resolve, files)


@pytest.mark.parametrize(
    ("path", "problem"),
    [
        ("a\0b", "does not exist; correct the path"),
        ("\ud800", "does not exist; correct the path"),
        ("missing.csv", r"missing\.csv does not exist"),
        ("pipe", "pipe is a pipe or a device; save it as a file"),  # to open it would wait for a writer
    ],
)
def test_a_path_that_cannot_be_read_is_refused_in_printable_words(tmp_path, path, problem) -> None:
    os.mkfifo(tmp_path / "pipe")
    config = changed("corpora.demo.demo", None)
    config["corpus_path"] = f"{tmp_path}/{path}"
    with pytest.raises(UserError, match=problem) as caught:
        resolve(config)
    assert str(caught.value).isprintable()


def test_a_tilde_is_the_home_in_every_path(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "posts.csv").touch()
    config = changed("corpora.mine", {"reader": "table", "path": "~/posts.csv"})
    config |= {"results": "~/favor", "image": "~/favor.sif"}
    config["encoders"]["stylometry"] = {"kind": "stylometry", "options": {"folder": "~/style"}}
    found = resolve(config)
    assert found.corpora["mine"].path == f"{tmp_path}/posts.csv"
    assert (found.results, found.image) == (f"{tmp_path}/favor", f"{tmp_path}/favor.sif")
    assert found.encoders["stylometry"].options["folder"] == f"{tmp_path}/style"


def test_a_corpus_path_is_taken_by_the_corpus_without_one_and_by_no_other(tmp_path) -> None:
    config = changed("corpora.demo.demo", None)
    config["corpus_path"] = str(tmp_path)
    assert resolve(config).corpora["demo"].path == str(tmp_path)
    config["corpora"]["demo"]["path"] = str(tmp_path.parent)
    assert "'corpus_path': nothing reads it: every corpus has a path of its own" in refusal(resolve, config)


def sections(model=Configuration, where="") -> Iterator[tuple[str, type[BaseModel]]]:
    """Every section of the configuration with its path."""
    yield where, model
    for name, field in model.model_fields.items():
        for inner in flattened(field.annotation):
            if isinstance(inner, type) and issubclass(inner, Section):
                yield from sections(inner, f"{where}.{name}")


def flattened(annotation) -> list[Any]:
    return [annotation, *(each for option in typing.get_args(annotation) for each in flattened(option))]


def test_every_mapping_is_closed_and_every_key_is_described() -> None:
    found = dict(sections())
    assert ".experiments.studies.judges" in found
    assert ".cluster.stages" in found
    for where, model in found.items():
        assert model.model_config["extra"] == "forbid", where
        assert model.__doc__, where
        for name, field in model.model_fields.items():
            assert field.description.endswith("."), f"{where}.{name}"


def test_judges_rate_the_papers_methods_that_are_run_and_compare_favor_with_ditto() -> None:
    assert resolve(DEMO).experiments["demo"].studies.judges is None
    judges = resolve(changed(".studies.judges", {})).experiments["demo"].studies.judges
    assert judges.methods == ["fedavg", "fedprox", "pfedme", "ditto", "feddpa", "favor"]
    assert (judges.voice, judges.judgements, judges.base_model) == (["favor", "ditto"], 2, "tiny")


def cold(**changes) -> dict[str, Any]:
    """The demo with a cold start of four clients after the first eight."""
    config = changed("experiments.source", {"extends": "demo", "clients": 8})
    config["experiments"]["cold"] = {"extends": "demo", "skip_clients": 8, "clients": 4, "methods": {"cold_start": {}}}
    config["experiments"]["cold"] |= {"cold_start": {"shared_from": "source"}, "federation": {"clients_per_round": 4}}
    config["experiments"]["cold"] |= changes
    return config


def test_a_cold_start_takes_the_first_seed_of_the_experiment_it_begins_with() -> None:
    found = resolve(cold()).experiments["cold"]
    assert found.cold_start == ColdStart(shared_from="source", row="favor", seed=2026)
    assert (found.skip_clients, found.clients) == (8, 4)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"skip_clients": 6}, "cold_start.shared_from': 2 clients here trained that adapter; leave them out"),
        ({"skip_clients": 10}, "4 clients after the first 10, but corpora.demo.roles.clients is 12"),
        ({"cold_start": {"shared_from": "sorce"}}, "there is no 'sorce'; did you mean 'source'?"),
        ({"cold_start": {"shared_from": "source", "row": "favour"}}, "did you mean 'favor'?"),
        ({"cold_start": {"shared_from": "source", "seed": 1}}, "'source' has no seed 1"),
        ({"lora": {"rank": 4}}, "'source' has another 'lora'; make them equal"),
        ({"allocation": {"reference_texts": 4}}, "works only with 'allocation.shots'"),
        ({"prompts": {"minimum_gold_tokens": 65}}, "65 tokens, but continuations have 64 at most"),
    ],
)
def test_impossible_cold_starts_are_refused(changes, message) -> None:
    assert message in refusal(resolve, cold(**changes))


def with_table(folder, path="mine.csv", **corpus) -> dict[str, Any]:
    (folder / path).write_text("author;text;date\n")
    return changed("corpora.mine", {"reader": "table", "path": str(folder / path), **corpus})


@pytest.mark.parametrize(
    ("corpus", "message"),
    [
        ({"separator": ";;"}, "corpora.mine.separator"),
        ({"reader": "blog_xml", "separator": ";"}, "corpora.mine.separator': its source has no such sign"),
        ({"path": "mine.jsonl", "separator": ";"}, "corpora.mine.separator': its source has no such sign"),
        ({"date_format": "dd.mm.yyyy"}, "corpora.mine.date_format': 'dd.mm.yyyy' names no day; give day, month"),
        ({"date_format": "%m.%Y"}, "corpora.mine.date_format': '%m.%Y' names no day"),
    ],
)
def test_impossible_separators_and_forms_of_dates(tmp_path, corpus, message) -> None:
    assert message in refusal(resolve, with_table(tmp_path, **corpus))


def test_a_separator_and_a_form_of_dates_are_taken(tmp_path) -> None:
    found = resolve(with_table(tmp_path, separator="\t", date_format="%d.%m.%Y")).corpora["mine"]
    assert (found.separator, found.date_format) == ("\t", "%d.%m.%Y")
