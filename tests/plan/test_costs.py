"""What jobs ask a cluster for: partition, account, GPU, memory and time."""

import math
import os
from pathlib import Path
from types import SimpleNamespace

import pyarrow
import pyarrow.parquet
import pytest

from favor.federation.schedule import client_names
from favor.forecast.estimate import shape_of
from favor.lm.lora import state_shapes
from favor.lm.settings import Lora
from favor.plan.costs import words_by_client
from favor.plan.keys import Key, run_key
from tests.exports.conftest import refusal

CLUSTER = {"partition": "cpu", "gpu_partition": "a100", "account": "lab", "gpu_model": "a100", "maximum_minutes": 900}
RUN = run_key("micro", "1", "favor")


class Files(list[str]):
    """A job's input as Snakemake hands it over: a list with names."""

    texts = ""


@pytest.fixture
def files(tmp_path) -> Files:
    """Clients' texts: one client has a hundred times the words of the others."""
    words = [1_000_000, 10_000, 10_000, 10_000]
    columns = {"client": client_names(4), "available_words": words, "allocated_words": words}
    pyarrow.parquet.write_table(pyarrow.table(columns), tmp_path / "allocation.parquet")
    (tmp_path / "texts.parquet").touch()
    found = Files([])
    found.texts = str(tmp_path / "texts.parquet")
    return found


ON_CPU = {"base_models": {"micro": {"device": "cpu"}}}
NO_GPU = {"cluster": {"gpu": False}}
STYLOMETRY, MINILM, MODEL = Key(encoder="stylometry"), Key(encoder="minilm"), Key(model="micro")


@pytest.mark.parametrize(
    ("change", "stage", "key", "expected"),
    [
        ({"cluster": CLUSTER}, "train_shared", RUN, ["a100", "lab", 1, "a100"]),
        ({"cluster": CLUSTER}, "score", RUN, ["cpu", "lab", 0, None]),
        # Nothing is asked for that is not configured.
        ({}, "train_shared", RUN, [None, None, 1, None]),
        *(({}, "embed_sources", key, [None, None, gpu, None]) for key, gpu in ((STYLOMETRY, 0), (MINILM, 1))),
        *(({}, stage, MODEL, [None, None, gpu, None]) for stage, gpu in (("dequantise_base", 0), ("quantise_base", 1))),
        ({}, "measure_bertscore", RUN, [None, None, 1, None]),
        (ON_CPU, "generate", RUN, [None, None, 0, None]),
        (ON_CPU, "embed_sources", MINILM, [None, None, 1, None]),
        *((NO_GPU, stage, RUN, [None, None, 0, None]) for stage in ("measure_bertscore", "generate")),
    ],
)
def test_partition_account_and_model_follow_the_gpu(plan, change, stage, key, expected) -> None:
    found = plan(change=change).costs.resources_for(stage)
    assert [found[name](key) for name in ("slurm_partition", "slurm_account", "gpu", "gpu_model")] == expected


def test_time_follows_the_tokens_of_the_jobs_clients(plan, files) -> None:
    alone = {"experiments": {"micro": {"federation": {"clients_per_job": 1}}}}
    costs = plan(change={**alone, "base_models": {"micro": {"parameters": 3_000_000_000}}}).costs
    runtime = costs.resources_for("train_personal")["runtime"]
    minutes = sorted(runtime(job, files, 1, 1) for job in costs.training.personal_jobs(RUN))
    # 2 passes, 1.5 tokens per word, 6 operations per parameter and token, 50 teraflops, threefold, beside an hour
    expected = [60 + int(3 * 6 * 3e9 * 2 * 1.5 * words / 50e12 / 60) for words in (10_000, 10_000, 10_000, 1_000_000)]
    assert minutes == expected


def test_a_changed_table_of_texts_is_read_again_and_a_broken_one_counts_nothing(tmp_path, files) -> None:
    path = str(tmp_path / "allocation.parquet")
    assert words_by_client(path, 1)["client_001"] == (1_000_000, 1_000_000)
    Path(path).write_bytes(b"no table")
    assert words_by_client(path, 1)["client_002"] == (10_000, 10_000)
    assert words_by_client(path, 2) == {}


def test_memory_follows_the_model(plan) -> None:
    def sized(parameters, **changes) -> int:
        def change(config) -> None:
            config["base_models"]["micro"] = {"source": "some/model", "parameters": parameters, **changes}

        return plan(change=change).costs.resources_for("generate")["mem_mb"](RUN, Files([]), 1)

    adapters = 3 * 4 * 0.01 / 16 * 2 * 4 / 1e6  # three copies of four clients', rank 2: megabytes per parameter
    assert sized(3_000_000_000) == pytest.approx(3500 + 6000 + 3e9 * adapters, rel=0.01)
    assert sized(7_000_000_000) == pytest.approx(3500 + 14000 + 7e9 * adapters, rel=0.01)
    assert sized(3_000_000_000, quantisation="nf4") < sized(3_000_000_000) < sized(3_000_000_000, device="cpu")


def test_memory_counts_tables_and_leaves_adapters_to_what_reads_them(plan, tmp_path) -> None:
    costs = plan().costs
    table, adapter = tmp_path / "table.parquet", tmp_path / "adapter.safetensors"
    table.write_bytes(bytes(2_000_000))
    adapter.write_bytes(bytes(9_000_000))
    assert costs.resources_for("score")["mem_mb"](RUN, Files([str(table), str(adapter)]), 1) == 1500 + 8 * 2


def test_a_stage_is_set_by_hand(plan) -> None:
    own = {"memory_mb": 12345, "minutes": 77, "partition": "long", "gpu_model": "h100"}
    costs = plan(change={"cluster": {**CLUSTER, "stages": {"train_shared": own}}}).costs
    shared = costs.resources_for("train_shared")
    assert shared["mem_mb"](RUN, Files([]), 1) == 12345
    assert shared["runtime"](RUN, Files([]), 1, 1) == 77
    assert (shared["slurm_partition"](RUN), shared["gpu_model"](RUN)) == ("long", "h100")
    assert costs.resources_for("train_personal")["slurm_partition"](RUN) == "a100"


def test_every_further_attempt_doubles_up_to_the_limit(plan) -> None:
    cluster = {"stages": {"train_personal": {"memory_mb": 1000, "minutes": 50}}, "maximum_minutes": 150}
    resources = plan(change={"cluster": cluster}).costs.resources_for("train_personal")
    job = Key(experiment="micro", seed="1", method="favor", phase="last", batch="0")
    assert [resources["mem_mb"](job, Files([]), attempt) for attempt in (1, 2, 3)] == [1000, 2000, 4000]
    assert [resources["runtime"](job, Files([]), 1, attempt) for attempt in (1, 2, 3)] == [50, 100, 150]


def test_a_rule_that_shares_a_script_may_have_settings_of_its_own(plan) -> None:
    costs = plan(change={"cluster": {"stages": {"generate": {"minutes": 5}, "generate_part": {"minutes": 7}}}}).costs
    minutes = [
        costs.resources_for("generate", rule)["runtime"](RUN, [], 1, 1) for rule in ("", "generate_part", "other")
    ]
    assert minutes == [5, 7, 5]


@pytest.mark.parametrize(
    ("cluster", "message"),
    [
        ({"stages": {"train_shard": {}}}, "'cluster.stages': there is no stage 'train_shard'; did you mean"),
        ({"local": ["reprot"]}, "'cluster.local': there is no stage 'reprot'; did you mean 'report'?"),
    ],
)
def test_a_misspelt_stage_is_named(plan, cluster, message) -> None:
    costs = plan(change={"cluster": {"local": ["report"], **cluster}}).costs
    assert message in refusal(costs.check_stages, ["train_shared", "report", "make_table"])


def test_a_raw_corpus_is_streamed_and_a_table_is_read_whole(plan, tmp_path) -> None:
    """An 800 MB corpus took 322 MB in build_documents: its memory is an index of the posts, not the posts."""
    raw = tmp_path / "raw.csv"
    raw.touch()
    os.truncate(raw, 800_000_000)
    corpus = SimpleNamespace(corpus="micro")
    costs = plan().costs
    assert costs.resources_for("build_documents")["mem_mb"](corpus, [str(raw)], 1) == 1900
    assert costs.resources_for("count_tokens")["mem_mb"](corpus, [str(raw)], 1) == 7900


def test_adapters_are_counted_from_the_shape_of_a_model_made_here(plan) -> None:
    costs = plan().costs
    shape = shape_of(costs.project.config.base_models["micro"])
    shapes = state_shapes(shape, Lora(rank=costs.project.experiment(RUN).lora.rank))
    assert costs.adapter_mb(RUN) == 4 * sum(map(math.prod, shapes.values())) / 1e6


def test_a_processor_stacks_as_many_clients_as_half_a_gibibyte_holds(plan) -> None:
    def large(config) -> None:
        config["base_models"]["micro"] = {"source": "some/model", "parameters": 800_000_000, "device": "cpu"}

    costs = plan(change=large).costs
    assert costs.adapter_mb(RUN) == pytest.approx(4)  # rank 2
    here, elsewhere = (costs.largest_memory_mb(lambda name, gpu=gpu: gpu) for gpu in (False, True))
    # Libraries, weights in float32, a pass, and eight adapters for each of four clients.
    assert here == pytest.approx(1000 + 3200 + 1.15 * (2**30 / 1e6 + 8 * 4 * 4))
    assert elsewhere == pytest.approx(3500 + 1600 + 8 * 4 * 4)
    assert costs._values_mb(RUN, 100, 0) == pytest.approx(4 * 4 * 100 + 2**29 / 1e6)

    def patient(config) -> None:
        large(config)
        config["experiments"]["micro"]["training"]["validation"] = {"patience": 1}

    assert plan(change=patient).costs._values_mb(RUN, 100, 0) == pytest.approx(5 * 4 * 100 + 2**29 / 1e6)


def test_the_work_of_writing_grows_with_samples(plan) -> None:
    def work(samples) -> float:
        def change(config) -> None:
            next(iter(config["experiments"].values()))["generation"].update(samples=samples, temperature=0.8)

        return plan(change=change).costs.generation_work(RUN, None)[0]

    assert work(3) == 3 * work(1)
