"""What the jobs before training read of the configuration."""

from types import SimpleNamespace

import pytest

from favor.plan.job_settings import to_params

BLOGTEXT = SimpleNamespace(corpus="blogtext")
STUDIES = [f"config/studies/{name}.yaml" for name in ("cold_start", "base_7b", "imbalance")]


def test_needs_of_every_experiment_are_measured_and_a_study_makes_no_new_roster(plan) -> None:
    alone = plan("config/blogtext.yaml").preparation
    laid = plan(["config/blogtext.yaml", *STUDIES]).preparation
    own, studies = laid.measure_suitability_settings(BLOGTEXT).needs, laid.study_needs(BLOGTEXT, [])
    needs = {need["experiment"]: need for need in (*map(to_params, own), *studies)}
    assert (needs["cold_start_24"]["training_texts"], needs["blogtext"]["training_texts"]) == (56, 0)
    assert (needs["cold_start_24"]["first_client"], needs["cold_start_24"]["last_client"]) == (41, 50)
    assert len({need["tokenizer_folder"] for need in needs.values()}) == 2
    assert laid.measure_suitability_settings(BLOGTEXT) == alone.measure_suitability_settings(BLOGTEXT)


@pytest.mark.parametrize(
    ("section", "values", "same"),
    [("generation", {"max_new_tokens": 200}, True), ("prompts", {"prefix_tokens": 192}, False)],
)
def test_prompts_decide_on_the_roster_and_the_length_of_continuations_does_not(plan, section, values, same) -> None:
    change = {"experiments": {"blogtext": {section: values}}}
    planners = [plan("config/blogtext.yaml", each) for each in (None, change)]
    before, after = (planner.preparation.measure_suitability_settings(BLOGTEXT) for planner in planners)
    assert (before == after) == same


def test_what_a_study_needs_is_measured_in_every_run(plan) -> None:
    """No job is made again for it, so it is asked for by itself."""
    planner = plan("config/blogtext.yaml")
    assert planner.paths.suitability.of(BLOGTEXT) in planner.targets.corpora()
    assert planner.paths.check.of() not in planner.targets.everything()


def test_a_study_with_a_tokenizer_of_its_own_adds_no_input(plan) -> None:
    demo = SimpleNamespace(corpus="demo")
    alone = plan("config/config.yaml").preparation
    laid = plan(["config/config.yaml", "config/demo/domain_studies.yaml"]).preparation
    assert laid.suitability_tokenizers(demo) == alone.suitability_tokenizers(demo)
    assert laid.measure_suitability_settings(demo) == alone.measure_suitability_settings(demo)
    needs = {need["experiment"]: need for need in laid.study_needs(demo, [])}
    first = alone.measure_suitability_settings(demo).needs[0]
    assert needs["base_wide"]["tokenizer_folder"] == first.tokenizer_folder
    stories = SimpleNamespace(corpus="stories")  # what extends the demo is the first there, and leaves no roster alone
    assert laid.suitability_tokenizers(stories)
    assert [need.experiment for need in laid.measure_suitability_settings(stories).needs] == ["stories"]


@pytest.mark.parametrize("words", ["paper", "segmented"])
def test_the_stylometric_space_has_the_words_of_its_corpus(plan, words) -> None:
    planner = plan("config/blogtext.yaml", {"corpora": {"blogtext": {"words": words}}})
    assert planner.preparation.fit_stylometry_settings(SimpleNamespace(encoder="stylometry")).words == words


def test_an_experiment_on_another_draw_chooses_its_clients_as_the_main_one_does(plan) -> None:
    """As a study that is laid over a roster it would prefer nobody who gives all prompts, and draws would differ."""
    laid = plan(["config/blogtext.yaml", "config/studies/corpus_seed.yaml"]).preparation
    main, second = (
        to_params(laid.measure_suitability_settings(SimpleNamespace(corpus=name)).needs[0])
        for name in ("blogtext", "blogtext_2")
    )
    assert second == main | {"experiment": "draw_2"}
    assert main["study"] is False
    assert laid.study_needs(SimpleNamespace(corpus="blogtext_2"), []) == []
    assert [need["experiment"] for need in laid.study_needs(BLOGTEXT, [])] == ["draw_1"]
