"""What a rule hands to its job."""

import ast
import json
from importlib import import_module
from typing import Any

import pytest

from favor.foundation.section import Section, key, section
from favor.plan import LOADED, SECTIONS
from favor.plan.job_settings import job_settings, to_params
from favor.plan.keys import Key
from favor.report.settings import WholeReport
from tests.plan.conftest import ROOT

SCRIPTS = {path.stem: path for path in (ROOT / "workflow" / "scripts").glob("*.py")}


class Seeded(Section):
    seed: int = key(1, "Seed.")


class Half(Section):
    rate: float = key(0.5, "Rate.")


class Whole(Half):
    steps: int = key(3, "Steps.")


class Step(Seeded):
    whole: Half = section(Half, "Half of it.")
    folder: str


class Everything(Seeded):
    whole: Whole = section(Whole, "All of it.")
    title: str = key("", "Name.")


def test_a_job_is_handed_the_keys_of_its_class_and_no_others() -> None:
    found = job_settings(Step, Everything(seed=7, title="x"), folder="here")
    assert to_params(found) == {"folder": "here", "seed": 7, "whole": {"rate": 0.5}}
    assert Step.model_validate(to_params(found)) == Step(seed=7, folder="here")


def test_a_key_that_is_not_read_keeps_its_default() -> None:
    assert job_settings(Seeded, Everything(seed=7), unread=("seed",)) == Seeded(seed=1)


def test_a_key_is_given_once() -> None:
    with pytest.raises(TypeError, match=r"Step\.folder is given by 0 sources"):
        job_settings(Step, Everything())
    with pytest.raises(TypeError, match=r"Seeded\.seed is given by 2 sources"):
        job_settings(Seeded, Everything(), Seeded())
    with pytest.raises(TypeError, match="Seeded has no title"):
        job_settings(Seeded, Everything(), title="x")


def class_of(stage) -> type[Section] | None:
    """The class that the script of a stage takes its settings as; None where it takes none."""
    nodes = list(ast.walk(ast.parse(SCRIPTS[stage].read_text())))
    jobs = [node for node in nodes if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "job"]
    if len(jobs[0].args) == 1:
        return None
    name = jobs[0].args[1].id
    imports = [node for node in nodes if isinstance(node, ast.ImportFrom)]
    module = next(node.module for node in imports if name in [alias.name for alias in node.names])
    return getattr(import_module(module), name)


def taken(kind, given) -> Any:
    """What a job is handed, once its class has taken it and gives back the same.

    Every job would refuse a key too many, a key too few and a value of another type, but only when it starts.
    """
    made = to_params(kind.model_validate_json(json.dumps(given)))
    if "family" in given:  # what another family reads is not handed on
        made["scores"] = {family: made["scores"][family] for family in given["scores"]}
    assert made == given, kind
    return given


STUDIES = {"human_2afc": {"items": 10, "human_items": 2}, "judges": {"model": "local"}, "privacy": {}}
AUDITED = {"experiments": {"demo": {"studies": STUDIES}}}
DEMO = {
    **{"corpus": "demo", "model": "tiny", "encoder": "asce_a", "assistant": "demo", "experiment": "demo"},
    **{"seed": 2026, "method": "favor", "family": "quality", "label": "phase1-ablation-paired-tests"},
}
MICRO = {"encoder": "stylometry", "experiment": "third", "seed": 1, "method": "favor", "stage": "personal"}
SWEEP = {"sweep": "shots", "label": "cold-start-full"}
# Stages that need a configuration or a key of their own.
SWEPT = ["collect_sweep", "make_sweep_table", "draw_sweep", "combine_uploads", "fit_stylometry", "take_validation"]
APART = {*SWEPT, "train_shared", "train_personal", "poison_updates", "generate_prompted", "embed_transfer", "report"}
APART |= {"select_common_prompts"}


@pytest.mark.parametrize(
    ("files", "change", "wildcards", "stages"),
    [
        (["tests/data/planned.yaml"], AUDITED, DEMO, sorted(SCRIPTS.keys() - APART)),
        (["tests/data/micro.yaml", "tests/data/micro_studies.yaml"], {}, {**MICRO, **SWEEP}, SWEPT),
        (["tests/data/planned.yaml"], {"experiments": {"demo": {"studies": {"judges": {}}}}}, DEMO, ["judge"]),
        (["config/config.yaml"], {}, DEMO, ["select_common_prompts"]),
    ],
)
def test_what_a_job_is_handed_is_what_the_class_of_its_script_takes(plan, files, change, wildcards, stages) -> None:
    planner, found = plan(files, change), {}
    for stage in stages:
        kind = class_of(stage)
        if kind is not None:
            found[stage] = taken(kind, planner.settings_of(stage)(Key(**wildcards)))
    # No other study is in it, so a key of one makes nothing of another again.
    assert "items" not in found.get("prepare_judgements", {})
    assert [stage for stage, given in found.items() if "endpoint" in given] in ([], ["judge"])


def test_training_and_writing_of_every_row_is_handed_what_its_class_takes(plan) -> None:
    planner = plan(["config/config.yaml", "config/demo/domain_studies.yaml", "config/demo/rivals.yaml"])
    training, seen = planner.training, set()
    for run in (run for name in planner.config.experiments for run in training.runs(name)):
        made = planner.project.plan(run)
        stages = ["generate_prompted", "distil_sheets"] if made.prompting else ["generate", "export_adapters"]
        jobs = [(stage, run) for stage in stages if made.inference != "outputs"]
        jobs += [("train_personal", job) for job in training.personal_jobs(run)[:1]]
        jobs += [("train_shared", job) for job in training.shared_jobs(run)[:1]] if made.shared else []
        for stage, job in jobs:
            taken(class_of(stage), planner.settings_of(stage)(job))
            seen.add(stage)
    assert len(seen) == 6


def test_the_report_is_handed_what_its_class_takes(plan) -> None:
    taken(WholeReport, plan(["config/config.yaml"]).publication.report_settings(None, ["score"]))


def test_a_place_on_the_axis_of_a_sweep_changes_its_figure_and_nothing_else(plan) -> None:
    files = ("tests/data/micro.yaml", "tests/data/micro_studies.yaml")

    def moved(config) -> None:
        config["sweeps"]["shots"]["points"][0]["value"] = 4

    key = Key(sweep="shots", label="cold-start-full")
    sweeps, other = (plan(files, change=change).sweeps for change in (None, moved))
    stages = ("collect_sweep", "make_sweep_table", "draw_sweep")
    ours, theirs = ([getattr(each, f"{stage}_settings")(key) for stage in stages] for each in (sweeps, other))
    assert ours[:2] == theirs[:2]
    points = [to_params(settings[2])["points"] for settings in (ours, theirs)]
    assert points == [[{"label": "3", "value": place, "series": ""}] for place in (3, 4)]


def test_tables_of_stages_name_scripts_and_no_second_source_of_their_settings(plan) -> None:
    """A stage of another name would lose its settings, or the plug-ins that its fingerprint holds."""
    assert SECTIONS.keys() | LOADED.keys() <= SCRIPTS.keys()
    parts = vars(plan()).values()
    assert not [stage for stage in SECTIONS for part in parts if hasattr(part, f"{stage}_settings")]
