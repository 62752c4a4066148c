"""What a rule hands to its job."""

import json

import pytest

from favor.analysis.settings import Compared, ComparedRows
from favor.federation import settings
from favor.foundation.section import Section, key, section
from favor.paper.settings import Numbers
from favor.plan import LOADED, SECTIONS
from favor.plan.job_settings import job_settings, to_params
from favor.plan.keys import Key, run_key
from favor.publish.settings import Bundle
from favor.report.settings import Gallery, WholeReport
from favor.scores.settings import BertScoring, Efficiency, LikelihoodScoring, Scoring
from favor.studies import settings as studied
from favor.tables import settings as printed


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


def test_what_jobs_of_models_are_handed_is_what_their_classes_take(plan) -> None:
    """Every job would refuse a key too many, a key too few and a value of another type, but only when it starts."""
    planner = plan(["config/config.yaml", "config/demo/domain_studies.yaml", "config/demo/rivals.yaml"])
    training, studies = planner.training, planner.studies
    seen = set()

    def check(kind, given) -> None:
        given = to_params(given)
        assert to_params(kind.model_validate(given)) == given
        seen.add(kind.__name__)

    for run in (run for name in planner.config.experiments for run in training.runs(name)):
        made = planner.project.plan(run)
        if made.prompting is not None:
            check(settings.PromptedGeneration, studies.generate_prompted_settings(run))
            check(settings.SheetDistilling, studies.distil_sheets_settings(run))
        elif made.inference != "outputs":
            check(settings.GenerationJob, training.generate_settings(run))
            check(settings.AdapterExport, training.export_adapters_settings(run))
        for job in [] if made.shared is None else training.jobs(training.round_step(run, 0)):
            check(settings.SharedTraining, training.train_shared_settings(job))
        for job in training.personal_jobs(run)[:1]:
            check(settings.PersonalTraining, training.train_personal_settings(job))
    assert len(seen) == 6


@pytest.mark.parametrize("judge", ["endpoint", "local"])
def test_what_jobs_of_studies_are_handed_is_what_their_classes_take(plan, judge) -> None:
    asked = {"human_2afc": {"items": 10, "human_items": 2}, "judges": {"model": judge}, "privacy": {}}
    planner = plan("tests/data/planned.yaml", {"experiments": {"demo": {"studies": asked}}})
    studies, run = planner.studies, run_key("demo", "2026", "favor")
    made = {
        studied.ItemsJob: studies.prepare_2afc_settings(run),
        studied.AuditPage: planner.settings_of("make_2afc_page")(run),
        studied.AuditVotes: studies.score_2afc_settings(run),
        studied.JudgementsJob: studies.prepare_judgements_settings(run),
        studied.JudgeJob: studies.judge_settings(run),
        studied.JudgeScoring: studies.score_judges_settings(run),
        studied.PrivacyReading: planner.privacy.measure_privacy_settings(run),
        studied.PrivacyScoring: planner.privacy.score_privacy_settings(run),
        studied.TransferScoring: studies.score_transfer_settings(run),
    }
    given = {kind: to_params(settings) for kind, settings in made.items()}
    for kind, values in given.items():
        assert to_params(kind.model_validate(values)) == values
    # No other study is in it, so a key of one makes nothing of another again.
    assert "items" not in given[studied.JudgementsJob]
    assert {kind: values for kind, values in given.items() if "endpoint" in values}.keys() == {studied.JudgeJob}
    assert sum(values is None for values in (given[studied.JudgeJob][name] for name in ("endpoint", "local"))) == 1


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
    for kind, values in zip((printed.SweepScores, printed.SweepPrinting, printed.SweepFigure), ours, strict=True):
        assert to_params(kind.model_validate_json(json.dumps(to_params(values)))) == to_params(values)


def test_what_jobs_of_scores_and_report_are_handed_is_what_their_classes_take(plan) -> None:
    planner = plan(["config/config.yaml"])
    evaluation, publication, key = planner.evaluation, planner.publication, Key(experiment="demo")
    families = [Key(experiment="demo", family=family) for family in evaluation.families("demo")]
    for kind, given in (
        *((Scoring, evaluation.score_settings(family)) for family in families),
        (BertScoring, planner.settings_of("measure_bertscore")(key)),
        (Efficiency, evaluation.score_efficiency_settings(key)),
        (ComparedRows, evaluation.compare_all_settings(key)),
        (Compared, evaluation.compare_methods_settings(Key(experiment="demo", label="phase1-ablation-paired-tests"))),
        (Gallery, evaluation.make_gallery_settings(key)),
        (LikelihoodScoring, planner.likelihood.score_likelihood_settings(key)),
        (settings.BaseReading, planner.likelihood.read_base_likelihoods_settings(key)),
        (settings.Boundary, planner.records.record_boundary_settings(key)),
        (settings.PromptLists, evaluation.prompts_settings(key)),
        (Numbers, publication.write_numbers_settings(key)),
        (WholeReport, publication.report_settings(key, ["score"])),
        (Bundle, publication.release_settings(key)),
    ):
        given = to_params(given)
        made = to_params(kind.model_validate_json(json.dumps(given)))
        if kind is Scoring:  # what another family reads is not handed on
            made["scores"] = {family: made["scores"][family] for family in given["scores"]}
        assert made == given, kind


def test_tables_of_stages_name_scripts_and_no_second_source_of_their_settings(plan, repository) -> None:
    """A stage of another name would lose its settings, or the plug-ins that its fingerprint holds."""
    stages = {path.stem for path in (repository / "workflow" / "scripts").glob("*.py")}
    assert SECTIONS.keys() | LOADED.keys() <= stages
    parts = vars(plan()).values()
    assert not [stage for stage in SECTIONS for part in parts if hasattr(part, f"{stage}_settings")]
