"""An experiment that extends another takes over its settings, and not what the other is about."""

import copy

import pytest
from tests.exports.conftest import refusal
from tests.plan.conftest import read

from favor.config.experiments import Experiment
from favor.config.extension import extend_entries
from favor.config.resolve import resolve

DEMO = read("config/config.yaml")


def experiments(**added) -> dict[str, Experiment]:
    config = copy.deepcopy(DEMO)
    config["experiments"].update(added)
    return resolve(config).experiments


def test_settings_are_merged_key_by_key_and_the_subject_is_not_taken_over() -> None:
    found = experiments(study={"extends": "demo", "federation": {"rounds": 5}, "clients": 9})
    demo, study = found["demo"], found["study"]
    assert study.federation == demo.federation.model_copy(update={"rounds": 5, "clients_per_job": 9})
    assert (study.lora, study.evaluation, study.methods) == (demo.lora, demo.evaluation, demo.methods)
    assert (study.title, study.tables) == ("Experiment", ["main_federated_results"])
    assert (study.studies.human_2afc is None, demo.studies.human_2afc is None) == (True, False)
    assert demo.federation.rounds == 2


def test_methods_are_replaced_together_and_what_was_tuned_with_them() -> None:
    point = {
        "row": "favor",
        "stage": "shared",
        "learning_rate": 1,
        "passes": 1,
        "loss": 2,
        "authors": 4,
        "chosen": True,
    }
    tuned = {"skip_clients": 4, "clients": 4, "seed": 1, "points": [point]}
    found = experiments(
        base={"extends": "demo", "tuned": tuned},
        seeds={"extends": "base", "seeds": [5]},
        rows={"extends": "base", "methods": {"favor": {}, "ditto": None}},
    )
    assert list(found["rows"].methods) == ["favor", "ditto"]
    assert (found["seeds"].tuned, found["rows"].tuned) == (found["base"].tuned, None)
    assert found["base"].tuned is not None


def test_an_experiment_extends_one_that_extends_another() -> None:
    base = {"extends": "demo", "seeds": [5], "prompts": {"per_client": 1}}
    found = experiments(a={"extends": "b", "seeds": [7]}, b=base)
    assert found["a"].seeds == [7]
    assert found["a"].prompts == found["demo"].prompts.model_copy(update={"per_client": 1})


def test_experiments_may_extend_one_another_as_often_as_one_likes() -> None:
    chain = {f"e{number}": {"extends": f"e{number + 1}"} for number in range(1500)}
    config = {"experiments": {**chain, "e1500": {"seeds": [7], "methods": {"favor": {}}}}}
    extend_entries(config)
    assert all(found["seeds"] == [7] and found["methods"] == {"favor": {}} for found in config["experiments"].values())


@pytest.mark.parametrize(
    ("section", "base", "message"),
    [
        ("experiments", "dem", "there is no experiment 'dem'; did you mean 'demo'"),
        ("experiments", "a", "'a' extends 'a' in turn"),
        ("experiments", "b", "'a' extends 'b' in turn; remove one of the two keys"),
        ("experiments", ["demo"], "expected the name of an experiment, found ['demo']"),
        ("corpora", "dem", "there is no corpus 'dem'; did you mean 'demo'"),
        ("corpora", "a", "'a' extends 'a' in turn"),
        ("corpora", 3, "expected the name of a corpus, found 3"),
    ],
)
def test_an_impossible_extension_is_refused_in_one_line(section, base, message) -> None:
    config = copy.deepcopy(DEMO)
    config[section] |= {"a": {"extends": base}, "b": {"extends": "a" if base == "b" else "demo"}}
    said = refusal(resolve, config)
    assert message in said
    assert f"config key '{section}.{'b' if base == 'b' else 'a'}.extends': " in said


def test_a_corpus_extends_another_and_takes_its_path(tmp_path) -> None:
    config = read("config/blogtext.yaml")
    config["corpus_path"] = str(tmp_path)
    config["corpora"] |= {"blogtext": {"roles": {"asce_b": 40}}, "second": {"extends": "blogtext", "seed": 7}}
    found = resolve(config).corpora
    expected = {"extends": "blogtext", "seed": 7, "tokenizer": None}
    assert found["second"] == found["blogtext"].model_copy(update=expected)
    assert found["second"].path == str(tmp_path)
    config["corpora"]["third"] = {}  # a further corpus without a path is ambiguous as before
    assert "several corpora have no path: ['blogtext', 'third']" in refusal(resolve, config)
