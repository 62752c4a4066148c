"""Exports of single runs: what is asked for wrongly is refused while jobs are planned."""

from collections.abc import Callable

import pytest

from favor.paper.names import released_methods
from favor.plan.keys import Key, run_key
from favor.plan.publication import Exports
from tests.exports.conftest import refusal

FILES = ("tests/data/micro.yaml", "tests/data/released_lengths.yaml")


@pytest.fixture
def exports(plan, tmp_path) -> Callable[..., Exports]:
    """Exports of the released lengths over a corpus that is not generated; a dictionary gives other rows."""

    def planned(methods=None, corpus=None) -> Exports:
        def change(config) -> None:
            raw = tmp_path / "raw.csv"
            raw.write_text("id,gender,age,topic,sign,date,text\n")
            config["corpora"]["micro"] |= {"demo": None, "path": str(raw)} | (corpus or {})
            config["experiments"]["lengths"]["methods"] = methods or {"fedavg": {}, "favor": {}}

        return plan(FILES, change).exports

    return planned


def test_the_method_and_not_the_rows_name_decides(exports) -> None:
    planned = exports({"favor": {"method": "fedavg"}, "favor_strong": {"method": "favor", "lambda_align": 0.9}})
    run = planned.export_release_settings(run_key("lengths", "1", "favor"))
    assert (run.released, run.title, run.row) == ("FedAvg", "FedAvg (favor)", "favor")
    key = run_key("lengths", "1", "favor_strong")
    assert planned.released_generations(key) == "results/lengths/seed1/favor_strong/generations.parquet"
    run = planned.export_release_settings(key)
    assert (run.released, run.title) == ("FAVoR", "FAVoR (favor_strong)")


def test_budgets_are_those_of_the_plan(exports) -> None:
    planned = exports()
    run = planned.export_release_settings(run_key("lengths", "1", "favor"))
    assert (run.local_epochs_shared, run.local_epochs_private, run.client_updates) == (1, 2, 4)
    run = planned.export_release_settings(run_key("lengths", "1", "fedavg"))
    assert (run.local_epochs_private, run.client_updates) == (0, 4)


@pytest.mark.parametrize("method", released_methods())
def test_every_method_of_the_release_can_leave(exports, method) -> None:
    assert exports({method: {}}).released_generations(run_key("lengths", "1", method))


@pytest.mark.parametrize(
    ("key", "message"),
    [
        (run_key("lengths", "7", "favor"), "experiment 'lengths' has no seed 7; its seeds are 1"),
        (run_key("lengths", "1", "favour"), "experiment 'lengths' has no row 'favour'; did you mean 'favor'?"),
        (run_key("micro", "1", "favor"), "the released layout cannot hold this run: prompts.prefix_tokens is 16, not"),
    ],
)
def test_what_cannot_be_exported_is_refused_before_any_job(exports, key, message) -> None:
    assert refusal(exports().released_generations, key).startswith(message)


def test_generated_authors_and_ablations_are_refused(exports) -> None:
    key = run_key("lengths", "1", "favor")
    generated = exports(corpus={"demo": {"authors": 24}, "path": None})
    said = refusal(generated.released_generations, key)
    assert "its authors are generated, and those of BlogText are people" in said
    said = refusal(exports({"favor": {"lambda_align": 0.0}}).released_generations, key)
    assert "asce_alignment off, which makes it another method than 'favor'" in said


def test_adapters_and_pan_pairs_are_of_a_run_and_an_encoder_of_the_experiment(exports) -> None:
    planned, key = exports(), run_key("lengths", "1", "favor")
    assert planned.adapters(key) == planned.training.adapters(key)
    assert planned.pan_generations(Key(**vars(key), encoder="asce_a"))
    for export in (planned.adapters, planned.pan_generations):
        assert "'lengths' has no seed 7; its seeds are 1" in refusal(export, run_key("lengths", "7", "favor"))
    said = refusal(planned.pan_generations, Key(**vars(key), encoder="stylometry"))
    assert "'lengths' is not measured with encoder 'stylometry'; valid: asce_a, minilm" in said
