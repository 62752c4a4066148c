"""What is scored, compared and printed."""

from collections.abc import Callable
from typing import Any

import pytest

from favor.config.availability import announce
from favor.foundation.errors import UserError
from favor.plan import Planner
from favor.plan.job_settings import to_params
from favor.plan.keys import Key

PLANNED = "tests/data/planned.yaml"


def with_absent_encoder(config) -> None:
    config["encoders"]["star"] = {"kind": "sentence", "title": "STAR", "source": "/no/star", "optional": True}
    config["experiments"]["demo"]["evaluation"]["encoders"].insert(0, "star")


def test_families_are_those_of_tables_and_figures(plan) -> None:
    evaluation = plan(PLANNED).evaluation
    assert set(evaluation.families("demo")) >= {"prototypes", "verification", "utility", "quality", "copying"}
    bare = plan(PLANNED, lambda config: config["experiments"]["demo"].update(tables=[], figures=False)).evaluation
    assert bare.families("demo") == []
    assert not bare.is_measured("demo")
    assert bare.shown() == []


def test_a_family_reads_its_own_settings_and_no_others(plan) -> None:
    keys = [Key(experiment="demo", family=family) for family in ("copying", "quality")]
    copying, quality = map(plan(PLANNED).evaluation.score_settings, keys)
    assert copying["scores"] == {"copying": {"draws": 2000, "seed": 2026}}
    assert quality["scores"] == {}


def test_figures_can_be_named(plan) -> None:
    def chosen(value) -> Planner:
        return plan(PLANNED, lambda config: config["experiments"]["demo"].update(tables=[], figures=value)).evaluation

    every = chosen(True)
    assert len(every.figures("demo")) > 10
    assert chosen(["all"]).figures("demo") == every.figures("demo")
    one = chosen(["voice_traffic"])
    assert one.figures("demo") == ["voice_traffic"]
    assert one.families("demo") == ["efficiency", "voice_kept"]
    assert one.shown() == ["demo"]
    with pytest.raises(UserError, match=r"'experiments.demo.figures'.*voice_traffic"):
        chosen(["voice_trafic"])


def test_a_sweep_measures_its_points(plan) -> None:
    planner = plan(("tests/data/micro.yaml", "tests/data/micro_studies.yaml"))
    assert not planner.config.experiments["third"].tables
    assert planner.evaluation.is_measured("third")
    assert set(planner.sweeps.families("volume")) <= set(planner.evaluation.families("third"))
    assert "third" not in planner.evaluation.shown()


def test_a_table_that_an_experiment_lacks_is_refused(plan) -> None:
    tables = plan(PLANNED).tables
    assert tables.make_table_inputs(Key(experiment="demo", label="main_federated_results"))["scores"]
    with pytest.raises(UserError, match=r"experiment 'demo' has no table 'qwen-generic-quality'; name it under"):
        tables.make_table_inputs(Key(experiment="demo", label="qwen-generic-quality"))


def test_comparisons_are_those_that_the_experiment_has(plan) -> None:
    planner = plan(PLANNED)
    key = Key(experiment="demo", label="phase1-ablation-paired-tests")
    settings = to_params(planner.evaluation.compare_methods_settings(key))
    rows = set(planner.config.experiments["demo"].methods)
    declared = planner.tables.specs[key.label].comparisons.pairs
    assert settings["pairs"] == [list(pair) for pair in declared if set(pair) <= rows]
    assert len(settings["pairs"]) < len(declared)
    assert planner.evaluation.compared_encoders(key) == settings["encoders"]
    assert planner.tables.comparisons(key) == ["results/demo/statistics/phase1-ablation-paired-tests.parquet"]
    assert planner.tables.comparisons(Key(experiment="demo", label="main_federated_results")) == []


def test_an_absent_encoder_is_named_once_and_planned_nowhere(plan, capsys) -> None:
    planner = plan(PLANNED, with_absent_encoder)
    announce(planner.project.absent.values(), ())
    assert capsys.readouterr().err.count("warning: left out: STAR (/no/star) is not on this machine.") == 1
    read = planner.evaluation.compare_all_inputs(Key(experiment="demo"))
    files = [*read["embeddings"], *read["sources"], *read["golds"], *planner.targets.everything()]
    assert not [path for path in files if "star" in path]
    assert "results/demo/embeddings/stylometry.parquet" in read["embeddings"]
    # Tables may be published, so they show no folder.
    assert planner.tables.context("demo").absences["star"] == "STAR is not on this machine"


def swept(**keys) -> Callable[[dict[str, Any]], None]:
    sweep = {"points": [{"label": "1", "experiment": "demo"}], "tables": ["text-volume-sweep"], **keys}
    return lambda config: config.update(sweeps={"s": sweep})


def demo(**keys) -> Callable[[dict[str, Any]], None]:
    return lambda config: config["experiments"]["demo"].update(keys)


def with_absent_style_encoder(config) -> None:
    with_absent_encoder(config)
    config["experiments"]["demo"]["style_encoder"] = "star"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (demo(tables=["text-volume-sweep"]), "'text-volume-sweep' is a table of a sweep"),
        (swept(tables=["main_federated_results"]), "sweeps.s.tables': 'main_federated_results' is a table of an exp"),
        (demo(tables=["main-federated-results"]), "no 'main-federated-results'; did you mean 'main_federated_results'"),
        (with_absent_style_encoder, r"experiment 'demo' needs encoder 'star': STAR \(/no/star\) is not on this"),
        # A metric of no family, and of one that the table does not read.
        (swept(figure=["generated_aucs"]), "'sweeps.s.figure': no table of the sweep scores 'generated_aucs'"),
        (swept(figure=["text_auc:upload"]), "'sweeps.s.figure': no table of the sweep scores 'text_auc:upload'"),
    ],
)
def test_what_is_named_in_the_wrong_place_is_refused(plan, change, message) -> None:
    with pytest.raises(UserError, match=message):
        plan(PLANNED, change)
    plan(PLANNED, swept(figure=["generated_auc"]))


def test_the_agreement_of_measures_reads_what_else_was_scored(plan) -> None:
    key = Key(experiment="demo", family="measure_agreement")
    found = [file.rpartition("/")[2] for file in plan(PLANNED).evaluation.score_inputs(key)["scores"]]
    assert found == ["likelihood.parquet", "profiles.parquet"]
    without = plan(PLANNED, lambda config: config["experiments"]["demo"]["evaluation"].update(likelihood=None))
    assert len(without.evaluation.score_inputs(key)["scores"]) == 1
    assert not plan(PLANNED).evaluation.score_inputs(Key(experiment="demo", family="verification"))["scores"]
