"""Exports of single runs: what is asked for wrongly is refused while jobs are planned."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from favor.foundation.errors import UserError
from favor.paper.names import released_methods
from favor.plan.keys import Key, run_key
from favor.plan.publication import Exports

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
        (
            run_key("micro", "1", "favor"),
            "the released layout cannot hold this run: prompts.prefix_tokens is 16, not 96",
        ),
    ],
)
def test_what_cannot_be_exported_is_refused_before_any_job(exports, key, message) -> None:
    with pytest.raises(UserError) as raised:
        exports().released_generations(key)
    assert str(raised.value).startswith(message)


def test_adapters_are_those_of_a_run_of_the_experiment(exports) -> None:
    planned = exports()
    key = run_key("lengths", "1", "favor")
    assert planned.adapters(key) == planned.training.adapters(key)
    with pytest.raises(UserError, match="'lengths' has no seed 7; its seeds are 1"):
        planned.adapters(run_key("lengths", "7", "favor"))


def test_generated_authors_and_ablations_are_refused(exports) -> None:
    key = run_key("lengths", "1", "favor")
    with pytest.raises(UserError, match="its authors are generated, and those of BlogText are people"):
        exports(corpus={"demo": {"authors": 24}, "path": None}).released_generations(key)
    with pytest.raises(UserError, match="asce_alignment off, which makes it another method than 'favor'"):
        exports({"favor": {"lambda_align": 0.0}}).released_generations(key)


def test_an_export_to_pan_needs_a_run_and_an_encoder_of_the_experiment(exports) -> None:
    planned = exports()

    def key(**wildcards) -> Key:
        return Key(**{"experiment": "lengths", "seed": 1, "method": "favor", "encoder": "asce_a"} | wildcards)

    assert planned.pan_generations(key())
    with pytest.raises(UserError, match="has no seed 7"):
        planned.pan_generations(key(seed=7))
    with pytest.raises(UserError, match="'lengths' is not measured with encoder 'stylometry'; valid: asce_a, minilm"):
        planned.pan_generations(key(encoder="stylometry"))
