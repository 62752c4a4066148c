"""A configuration is completed, or refused in one line that names the key and the nearest valid one."""

import copy
import datetime
import json
import os
import re
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from favor.config.checks import EMBEDDED_MINILM, MINILM_LAYERS
from favor.config.configuration import Configuration
from favor.config.experiments import ColdStart, Experiment
from favor.config.resolve import resolve
from favor.encoders.backbones import resolve_source
from favor.foundation.errors import UserError
from favor.foundation.section import Section
from favor.lm.base import BaseModel
from favor.scores.settings import Mauve, Scores

ROOT = Path(__file__).resolve().parents[2]
UNRESOLVED = Experiment(corpus="c", base_model="m", style_encoder="e")
DEMO = yaml.safe_load((ROOT / "config" / "config.yaml").read_text())


def resolved(config) -> Configuration:
    return resolve(config)


def changed(path, value) -> dict[str, Any]:
    config = copy.deepcopy(DEMO)
    place = config
    *parents, key = path.split(".")
    for parent in parents:
        place = place.setdefault(parent, {})
    place[key] = value
    return config


def test_the_demo_resolves_and_is_left_as_it_was() -> None:
    before = copy.deepcopy(DEMO)
    config = resolved(DEMO)
    assert before == DEMO
    assert config.experiments["demo"].training.clip_norm == 1.0
    assert config.experiments["demo"].protocol == "paper"


def test_defaults_are_the_papers() -> None:
    experiment = {"corpus": "c", "base_model": "m", "style_encoder": "e"}
    config = resolved(
        {
            "corpora": {"c": {"demo": {}}},
            "base_models": {"m": {"source": "owner/model"}},
            "encoders": {
                "e": {"kind": "asce", "source": "distilroberta-base", "training": {"corpus": "c", "role": "asce_a"}},
                "s": {"kind": "sentence", "source": "embedded-minilm"},
            },
            "experiments": {"x": experiment},
        }
    ).experiments["x"]
    # Table efficiency_communication and section 4 of the paper.
    assert config.federation.rounds == 6
    assert config.federation.clients_per_round == 12
    assert (config.lora.rank, config.lora.alpha, config.lora.dropout) == (16, 32, 0.05)
    assert (config.training.micro_batch, config.training.accumulation) == (4, 8)
    assert config.training.learning_rate == 2e-4
    assert config.prompts.prefix_tokens == 96
    assert config.generation.max_new_tokens == 220
    assert config.clients == 50
    assert config.evaluation.semantic_encoder == "s"
    assert config.evaluation.scores == Scores(mauve=Mauve(encoders=["s"]))


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("experimets", {}, "unknown config key 'experimets'; did you mean 'experiments'?"),
        (
            "experiments.demo.training.learning_rat",
            1,
            "unknown config key 'experiments.demo.training.learning_rat'; did you mean 'learning_rate'?",
        ),
        ("experiments.demo.lora.rank", "8", "config key 'experiments.demo.lora.rank': expected integer, found '8'"),
        ("experiments.demo.training.learning_rate", "2e-4", "write 2.0e-4"),
        ("experiments.demo.training.learning_rate", float("inf"), "not a finite number"),
        ("experiments.demo.allocation.total_words", -5, "out of range"),
        ("release.date", "2026-02-30", "config key 'release.date': '2026-02-30' is not a day; write 'YYYY-MM-DD'"),
        ("release.licence", "CC BY", "'CC BY' is not an SPDX identifier; write one such as MIT or CC-BY-4.0"),
        ("experiments.logs", copy.deepcopy(DEMO["experiments"]["demo"]), "has a folder of that name"),
        ("experiments.sweeps", copy.deepcopy(DEMO["experiments"]["demo"]), "has a folder of that name"),
        ("sweeps.s", {"points": [{"label": "1", "experiment": "dem"}]}, "there is no 'dem'; did you mean 'demo'?"),
        ("sweeps.s", {"points": [{"label": "1", "experiment": "demo"}] * 2}, "two points have one label"),
        ("sweeps.s", {"points": [{"label": n, "experiment": "demo"} for n in "12"]}, "two points have one experiment"),
        ("sweeps.s", {"points": [{"label": "", "experiment": "demo"}]}, "'' is blank; fill it in"),
        (
            "sweeps.s",
            {"points": [{"label": "1", "experiment": "demo", "series": "mean"}]},
            "point '1' needs a series and a value",
        ),
        ("sweeps.s", {"points": []}, "[] is too short; give at least 1"),
        ("sweeps.s", {}, "config key 'sweeps.s.points' is missing; add it"),
        (
            "sweeps.s",
            {"points": [{"label": "1", "experiment": "demo"}], "tables": ["imbalance-swep"]},
            "config key 'sweeps.s.tables': there is no 'imbalance-swep'; did you mean 'imbalance-sweep'?",
        ),
        (
            "sweeps.s",
            {"points": [{"label": "1", "experiment": "demo"}], "figure": ["generated_auc"]},
            "a figure draws what the sweep's tables score",
        ),
        ("experiments.demo.methods", {"shared": {"method": "favor"}}, "the name is taken"),
        ("experiments.demo.methods", {"source": {"method": "favor"}}, "the name is taken"),
        ("experiments.demo.seeds", [0, 1], "0 stands for scores over all seeds"),
        ("experiments.demo.tables", ["main_federated_results"] * 2, "names something twice"),
        ("experiments.demo.evaluation.encoders", ["minilm", "minilm"], "names something twice"),
        (
            "encoders.style",
            {"kind": "sentence", "source": "embedded-minilm"},
            "for the role of an encoder; choose another name",
        ),
        ("corpora.demo.words", "unicod", "unicode"),
        ("corpora.demo.encoding", "utf-99", "unknown encoding"),
        ("corpora.demo.encoding", "rot13", "'rot13' is not a text encoding; name one"),
        ("corpora.demo.encoding", "base64", "not a text encoding"),
        ("corpora.demo.path", "posts.csv", "corpora.demo.path': the corpus is generated ('demo'), so no file is read"),
        ("corpora.demo.demo", {"minimum_posts": 50, "maximum_posts": 49}, "49 is less than minimum_posts, 50"),
        ("corpora.demo.seed", 2**31, "it must be at most 2147483647"),
        ("corpora.demo.seed", -1, "it must be at least 0"),
        ("corpus_path", "/data/blogtext.csv", "the demo generates its corpus; add --configfile config/blogtext.yaml"),
        ("experiments.demo.seeds", [1, 2**31], "experiments.demo.seeds[1]': 2147483648 is out of range"),
        ("experiments.demo.allocation.total_words", 10**19, "it must be at most 1000000000000"),
        ("experiments.demo.federation.rounds", 10**19, "it must be at most 10000"),
        ("experiments.demo.clients", 1, "experiments.demo.clients': 1 is out of range; it must be at least 2"),
        ("experiments.demo.skip_clients", 11, "11 of 12 clients are skipped, but at least 2 must take part"),
        ("results", "a\0b", "cannot be a results folder"),
        ("results", "a\nb", "cannot be a results folder"),
        ("experiments", {"e" * 65: {}}, "a name is up to 64 lower-case letters"),
        ("corpora.demo.encoding", "utf\0", "name one that Python knows"),
        ("corpora.demo.columns", {"txt": "body"}, "did you mean 'text'?"),
        ("corpora.demo.columns", {"text": "id"}, "'id' is both author and text; name a column for each"),
        ("corpora.demo.columns", {"prompt": "sign"}, "the reader 'blog_csv' does not read it; it reads author, topic"),
        ("results", "a{b}", "cannot be a results folder"),
        ("experiments.demo.lora.rank", True, "expected integer, found true"),
        ("experiments.demo.lora.rank", None, "expected integer, found null"),
        ("experiments.demo.seeds", [datetime.date(2026, 1, 1)], "expected integer, found the date 2026-01-01"),
        (
            "experiments.demo.title",
            True,
            "expected text, found true; YAML reads yes, no, on and off as true and false, put the text in quotes",
        ),
        ("experiments.demo.title", 2026, "expected text, found 2026; put it in quotes"),
        (
            "release.date",
            datetime.date(2026, 1, 1),
            "expected text or null, found the date 2026-01-01; put it in quotes",
        ),
        ("experiments.demo.title", " ", "experiments.demo.title': ' ' is blank; fill it in"),
        ("base_models.tiny.title", "", "'' is blank; fill it in"),
        ("experiments.demo.title", "\ud800", "experiments.demo.title': '\\ud800' holds half a character"),
        ("experiments.demo.training.learning_rate", 1e300, "1e+300 is out of range; it must be at most 1"),
        ("encoders.asce_a.training.head_learning_rate", -1.0, "out of range; it must be more than 0"),
        ("experiments.demo.training.clip_norm", 1e300, "training.clip_norm': 1e+300 is out of range"),
        ("experiments.demo.training.clip_norm", 1e-300, "clip_norm': 1e-300 is too near 0 to be told from it"),
        ("experiments.demo.training.micro_batch", 10**18, "it must be at most 1000000000000"),
        ("experiments.demo.methods.favor", {"lambda_align": 1e300}, "methods.favor.lambda_align': 1e+300 is out of"),
        ("experiments.demo.methods.favor", {"lambda_align": 10**400}, "lambda_align': 1000000000"),
        ("experiments.demo.participation", 2, "unknown config key 'experiments.demo.participation'"),
        ("experiments.demo.federation.participation", 2, "unknown config key 'experiments.demo.federation.participa"),
        ("corpora.demo.roles.clients", 10**9, "roles.clients': 1000000000 is out of range; it must be at most 1000000"),
        ("corpora.demo.roles.clients", 0, "roles.clients': 0 is out of range; it must be at least 2"),
        ("corpora.demo.roles.asce_b", 0, "0 authors wanted, but corpora.demo.roles.asce_b is 0"),
        ("corpora.demo.demo.authors", 10**12, "it must be at most 1000000"),
        ("corpora.demo.filters", {"languages": ["EN"]}, "'EN' does not have the form ^[a-z]{2,3}$; correct it"),
        ("experiments.demo.generation.minimum_words", 65, "no output of 64 tokens has 65 words; lower it"),
        (
            "experiments.demo.methods.favor",
            {"generation": {"temperature": "hot"}},
            "methods.favor.generation.temperature': expected number, found 'hot'",
        ),
        (
            "experiments.demo.methods.favor",
            {"generation": {"temperature": -1}},
            "methods.favor.generation.temperature': -1 is out of range; it must be at least 0",
        ),
        ("encoders.minilm.options", {"maximum_token": 64}, "options': there is no 'maximum_token'; did you mean 'max"),
        ("encoders.minilm.options", {"maximum_tokens": "64"}, "maximum_tokens': expected integer, found '64'"),
        ("encoders.minilm.options", {"maximum_tokens": True}, "maximum_tokens': expected integer, found true"),
        ("encoders.asce_a.options", {"batchsize": 8}, "options': there is no 'batchsize'; did you mean 'batch_size'"),
        ("encoders.stylometry.options", {"foldr": "a"}, "options': there is no 'foldr'; did you mean 'folder'"),
        ("encoders.minilm.options", {"batch_size": 0}, "batch_size': 0 is out of range; it must be at least 1"),
        ("encoders.minilm.source", "", "encoders.minilm.source': '' is blank; fill it in, or leave the key out"),
        ("experiments.demo.evaluation.bertscore.model", "", "bertscore.model': '' is blank"),
        ("experiments.demo.evaluation.bertscore.layer", 7, "bertscore.layer': 7, but 'embedded-minilm' has 6 layers"),
        ("experiments.demo.alignment.minimum_tokens", 129, "no piece of 128 tokens (training.max_length) has 129"),
        ("base_models.tiny.pretrain.layers", 10**6, "layers': 1000000 is out of range; it must be at most 1000"),
        ("threads.scoring", 10**9, "threads.scoring': 1000000000 is out of range; it must be at most 1024"),
        ("report.unranked", ["feddpa_dinamic"], "did you mean 'feddpa_dynamic'?"),
        ("experiments.demo.lora.rank", 0, "out of range"),
        ("experiments.demo.protocol", "papr", "'papr' is not possible; did you mean 'paper'?"),
        ("experiments.demo.seeds", [1, 1], "names something twice"),
        ("experiments.demo.corpus", "dem", "there is no 'dem'; did you mean 'demo'?"),
        ("experiments.demo.federation.clients_per_round", 13, "13 clients per round, but only 12 clients"),
        ("experiments.demo.clients", 13, "lower the first or raise the second"),
        ("experiments.demo.prompts.prefix_tokens", 384, "does not fit the model's context of 384"),
        ("experiments.demo.generation.max_new_tokens", 380, "exceed the model's context of 384"),
        ("experiments.demo.training.max_length", 32, "leave nothing to learn after a prefix of 32"),
        ("experiments.demo.methods", {"favor": {"method": 3}}, "methods.favor.method': expected text, found 3"),
        ("experiments.demo.methods", {"favor": {"method": None}}, "methods.favor.method': expected text, found None"),
        ("experiments.demo.methods", {"favr": {}}, "there is no 'favr'; did you mean 'favor'?"),
        ("experiments.demo.evaluation.scores", {"muave": {}}, "scores.muave'; did you mean 'mauve'?"),
        (
            "experiments.demo.evaluation.scores",
            {"mauve": {"kmeans_seeds": [2**40]}},
            "mauve.kmeans_seeds[0]': 1099511627776 is out of range; it must be at most 2147483647",
        ),
        (
            "experiments.demo.evaluation.scores",
            {"mauve": {"kmeans_seeds": []}},
            "mauve.kmeans_seeds': [] is too short; give at least 1",
        ),
        ("experiments.demo.evaluation.scores.mauve", {"encoders": ["ministerm"]}, "did you mean 'minilm'?"),
        (
            "experiments.demo.evaluation.scores",
            {"mauve": {"encoders": "asce_a"}},
            "expected list or null, found 'asce_a'",
        ),
        ("experiments.demo.evaluation.scores", {"mauve": {"seeds": [1]}}, "did you mean 'kmeans_seeds'?"),
        ("experiments.demo.tables", ["main_federated_result"], "did you mean 'main_federated_results'?"),
        ("encoders.asce_a.training.authors", 100, "100 authors wanted"),
        ("encoders.asce_a.kind", "asci", "'asci'"),
        ("experiments.demo.studies.human_2afc", {"methods": ["favour"]}, "did you mean 'favor'?"),
        ("experiments.demo.studies.human_2afc", {"items": 9, "human_items": 2}, "shared equally by 2 methods"),
        ("experiments.demo.studies.human_2afc", {"items": 10, "human_items": 10}, "shared equally by 2 methods"),
        ("experiments.demo.studies.human_2afc", {"items": 98}, "2afc.items': each takes a prompt of its own, and"),
        ("experiments.demo.studies.human_2afc", {"responses": "/no/folder"}, "no folder /no/folder; make it"),
        ("experiments.demo.studies.human_2afc", {"annotator": 3}, "did you mean 'annotators'?"),
        ("corpora.demo.demo", None, "--config corpus_path="),
        ("corpora.demo", {"reader": "table", "path": ""}, "corpora.demo.path': it is empty; give the raw corpus"),
        ("corpora.demo.reader", "blog_cvs", "did you mean 'blog_csv'?"),
        ("corpora.demo.roles.background", 0, "has no background authors"),
        ("base_models.tiny.source", "a/b", "give either 'source' or 'pretrain'"),
        ("base_models.Tiny", {"source": "a/b"}, "a name is up to 64 lower-case"),
    ],
)
def test_a_wrong_key_or_an_impossible_combination_is_named(path, value, message) -> None:
    with pytest.raises(UserError) as caught:
        resolved(changed(path, value))
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


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
    names = ("demo", "other")
    entries = [
        {"label": label, "value": value, "experiment": name} for (label, value), name in zip(points, names, strict=True)
    ]
    config["sweeps"] = {"s": {"points": entries}}
    with pytest.raises(UserError, match=re.escape(message)):
        resolved(config)


def test_the_embedded_model_has_the_layers_that_the_check_counts() -> None:
    config = Path(resolve_source(EMBEDDED_MINILM)) / "config.json"
    assert json.loads(config.read_text())["num_hidden_layers"] == MINILM_LAYERS


def test_a_layer_that_a_local_bertscore_model_does_not_have_is_refused(tmp_path) -> None:
    (tmp_path / "config.json").write_text('{"num_hidden_layers": 12}')
    config = changed("experiments.demo.evaluation.bertscore", {"model": str(tmp_path), "layer": 12})
    assert resolved(config).experiments["demo"].evaluation.bertscore.layer == 12
    config["experiments"]["demo"]["evaluation"]["bertscore"]["layer"] = 13
    with pytest.raises(UserError, match=r"bertscore.layer': 13, but .* has 12 layers; lower it"):
        resolved(config)


def test_words_that_are_single_letters_may_be_more_than_the_tokens() -> None:
    config = changed("experiments.demo.generation.minimum_words", 65)
    config["corpora"]["demo"]["words"] = "characters"
    assert resolved(config).experiments["demo"].generation.minimum_words == 65


def test_a_reader_brings_its_own_encoding_and_what_it_excludes() -> None:
    corpus = resolved(changed("corpora.demo.demo.shape", "blog")).corpora["demo"]
    assert (corpus.encoding, corpus.excluded_authors, corpus.excluded_texts) == ("utf-8", [], [])
    stories = changed("corpora.demo.demo.shape", "mythos")
    stories["corpora"]["demo"]["reader"] = "mythos"
    corpus = resolved(stories).corpora["demo"]
    assert "[deleted]" in corpus.excluded_authors
    assert "AutoModerator" in corpus.excluded_authors
    assert "[removed]" in corpus.excluded_texts
    stories["corpora"]["demo"]["excluded_authors"] = []
    assert resolved(stories).corpora["demo"].excluded_authors == []
    files = changed("corpora.demo.demo", None)
    files["corpora"]["demo"] |= {"reader": "blog_xml", "path": "."}
    assert resolved(files).corpora["demo"].encoding == "cp1252"
    files["corpora"]["demo"]["columns"] = {"text": "body"}
    with pytest.raises(UserError, match="the reader 'blog_xml' does not read it; its source has no columns"):
        resolved(files)


@pytest.mark.parametrize("name", ["a\0b", "\ud800"])
def test_a_path_that_no_file_can_have_is_refused_in_printable_words(name) -> None:
    config = changed("corpora.demo.demo", None)
    config["corpora"]["demo"]["path"] = name
    with pytest.raises(UserError, match="does not exist; correct the path") as caught:
        resolved(config)
    assert str(caught.value).isprintable()


def test_a_missing_corpus_file_is_named(tmp_path) -> None:
    config = changed("corpora.demo.demo", None)
    config["corpus_path"] = str(tmp_path / "missing.csv")
    with pytest.raises(UserError, match=r"missing\.csv does not exist"):
        resolved(config)


def test_a_corpus_that_is_a_pipe_is_refused_before_it_is_opened(tmp_path) -> None:
    os.mkfifo(tmp_path / "posts.csv")  # to open it would wait for a writer
    config = changed("corpora.demo.demo", None)
    config["corpus_path"] = str(tmp_path / "posts.csv")
    with pytest.raises(UserError, match=r"posts\.csv is a pipe or a device; save it as a file"):
        resolved(config)


def test_a_corpus_path_is_taken_by_the_corpus_without_one_and_by_no_other(tmp_path) -> None:
    config = changed("corpora.demo.demo", None)
    config["corpus_path"] = str(tmp_path)
    assert resolved(config).corpora["demo"].path == str(tmp_path)
    config["corpora"]["demo"]["path"] = str(tmp_path.parent)
    with pytest.raises(UserError, match="'corpus_path': nothing reads it: every corpus has a path of its own"):
        resolved(config)


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
    assert resolved(DEMO).experiments["demo"].studies.judges is None
    judges = resolved(changed("experiments.demo.studies.judges", {})).experiments["demo"].studies.judges
    assert judges.methods == ["fedavg", "fedprox", "pfedme", "ditto", "feddpa", "favor"]
    assert judges.voice == ["favor", "ditto"]
    assert judges.judgements == 2
    assert judges.base_model == "tiny"


@pytest.mark.parametrize(
    ("judges", "message"),
    [
        ({"voice": ["favor", "dito"]}, "judges.voice': there is no 'dito'; did you mean 'ditto'"),
        ({"voice": ["favor", "favor"]}, "name two rows"),
        ({"methods": ["fedavg", "ditto"]}, "ratings compare row 'favor' with others"),
        ({"model": "local", "base_model": "small"}, "judges.base_model': there is no 'small'"),
        ({"model": "remote"}, "'remote' is not possible"),
        ({"api_key": "sk-1"}, "unknown config key 'experiments.demo.studies.judges.api_key'"),
        ({"maximum_requests": -1}, "out of range"),
    ],
)
def test_impossible_judges_are_named(judges, message) -> None:
    with pytest.raises(UserError, match=message):
        resolved(changed("experiments.demo.studies.judges", judges))


def cold(**changes) -> dict[str, Any]:
    """The demo with a cold start of four clients after the first eight."""
    config = copy.deepcopy(DEMO)
    source = {"extends": "demo", "clients": 8}
    config["experiments"]["source"] = source
    config["experiments"]["cold"] = {
        "extends": "demo",
        "skip_clients": 8,
        "clients": 4,
        "cold_start": {"shared_from": "source"},
        "federation": {"clients_per_round": 4},
        "methods": {"cold_start": {}},
        **changes,
    }
    return config


def test_a_cold_start_takes_the_first_seed_of_the_experiment_it_begins_with() -> None:
    found = resolved(cold()).experiments["cold"]
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
    with pytest.raises(UserError, match=re.escape(message)):
        resolved(cold(**changes))


@pytest.mark.parametrize(
    ("corpus", "message"),
    [
        ({"separator": ";;"}, "corpora.mine.separator"),
        ({"separator": " "}, "corpora.mine.separator"),
        ({"reader": "blog_xml", "separator": ";"}, "corpora.mine.separator': its source has no such sign"),
        ({"path": "mine.jsonl", "separator": ";"}, "corpora.mine.separator': its source has no such sign"),
        ({"date_format": "dd.mm.yyyy"}, "corpora.mine.date_format': 'dd.mm.yyyy' names no day; give day, month"),
        ({"date_format": "%m.%Y"}, "corpora.mine.date_format': '%m.%Y' names no day"),
    ],
)
def test_impossible_separators_and_forms_of_dates(tmp_path, corpus, message) -> None:
    config = copy.deepcopy(DEMO)
    given = dict(corpus)
    path = tmp_path / given.pop("path", "mine.csv")
    path.write_text("author;text;date\n")
    config["corpora"]["mine"] = {"reader": "table", "path": str(path), **given}
    with pytest.raises(UserError) as error:
        resolve(config)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_a_separator_and_a_form_of_dates_are_taken(tmp_path) -> None:
    config = copy.deepcopy(DEMO)
    (tmp_path / "mine.csv").write_text("author;text;date\n")
    given = {"separator": "\t", "date_format": "%d.%m.%Y"}
    config["corpora"]["mine"] = {"reader": "table", "path": str(tmp_path / "mine.csv"), **given}
    found = resolve(config).corpora["mine"]
    assert (found.separator, found.date_format) == ("\t", "%d.%m.%Y")
