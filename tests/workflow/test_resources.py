"""What jobs ask a cluster for, read off dry runs: partition, account, GPU, memory and time."""

from __future__ import annotations

import re

import pyarrow.parquet
import pytest
import yaml

from tests.workflow.conftest import copy_project

CLUSTER = {
    "partition": "cpu",
    "gpu_partition": "a100",
    "account": "research",
    "gpu_model": "a100",
    "maximum_minutes": 900,
}


@pytest.fixture(scope="module")
def project(repository, tmp_path_factory):
    """A copy whose clients' texts are there: one client has a hundred times the words of the others."""
    made = copy_project(repository, tmp_path_factory.mktemp("resources") / "project")
    (made.folder / "micro.yaml").write_text((repository / "tests" / "data" / "micro.yaml").read_text())
    texts = made.folder / "results" / "micro" / "clients" / "texts.parquet"
    texts.parent.mkdir(parents=True)
    words = {"client_001": 1_000_000, "client_002": 10_000, "client_003": 10_000, "client_004": 10_000}
    columns = {
        "client": [*words, "client_001"],
        "split": [*["train"] * 4, "test"],
        "words": [*words.values(), 10**9],
        "allocated_words": [*words.values(), 0],
    }
    pyarrow.parquet.write_table(pyarrow.table(columns), texts)
    return made


def asked(project, cluster=None, change=None, *arguments):
    """Resources of every planned job by rule and wildcards."""
    config = yaml.safe_load((project.folder / "micro.yaml").read_text())
    config["cluster"] = CLUSTER if cluster is None else cluster
    if change:
        change(config)
    (project.folder / "changed.yaml").write_text(yaml.safe_dump(config))
    # Files that tests put there themselves have no records.
    trusted = ("--rerun-triggers", "mtime")
    output = project.snakemake("-n", "--configfile", "changed.yaml", *arguments, *trusted).stdout
    found = {}
    for block in re.split(r"\n(?=(?:local)?rule )", output):
        rule = re.match(r"(?:local)?rule (\w+):", block)
        resources = re.search(r"\n    resources: (.*)", block)
        if rule and resources:
            wildcards = re.search(r"\n    wildcards: (.*)", block)
            name = f"{rule[1]} {wildcards[1] if wildcards else ''}".strip()
            found[name] = dict(item.split("=", 1) for item in resources[1].split(", "))
    return found


def of(jobs, rule):
    """Resources of the rule's first job."""
    return next(resources for name, resources in jobs.items() if name.split()[0] == rule)


def test_partition_account_and_model_follow_the_gpu(project):
    jobs = asked(project)
    gpu = {"slurm_partition": "a100", "slurm_account": "research", "gpu": "1", "gpu_model": "a100", "nodes": "1"}
    for rule in ("train_shared", "train_personal", "generate", "train_asce", "measure_utility", "train_assistant"):
        assert gpu.items() <= of(jobs, rule).items()
    for rule in ("pretrain_base", "build_documents", "score", "fit_stylometry", "aggregate"):
        resources = of(jobs, rule)
        assert resources["gpu"] == "0"
        assert resources["slurm_partition"] == "cpu"
        assert "gpu_model" not in resources
    encoders = {name: job["gpu"] for name, job in jobs.items() if name.startswith("embed_sources")}
    assert encoders["embed_sources experiment=micro, encoder=stylometry"] == "0"
    assert encoders["embed_sources experiment=micro, encoder=minilm"] == "1"


def test_nothing_is_asked_for_that_is_not_configured(project):
    job = of(asked(project, {}), "train_shared")
    assert not {"slurm_partition", "slurm_account", "gpu_model"} & job.keys()
    assert job["gpu"] == "1"


def test_a_model_on_the_cpu_asks_for_no_gpu(project):
    jobs = asked(project, None, lambda config: config["base_models"]["micro"].update(device="cpu"))
    assert of(jobs, "train_shared")["gpu"] == of(jobs, "generate")["gpu"] == "0"
    assert of(jobs, "train_asce")["gpu"] == "1"
    assert {job["gpu"] for job in asked(project, {"gpu": False}).values() if "gpu" in job} == {"0"}


def test_time_follows_the_tokens_of_the_jobs_clients(project):
    def alone(config):
        config["experiments"]["micro"]["federation"]["clients_per_job"] = 1
        config["base_models"]["micro"]["parameters"] = 3_000_000_000

    jobs = asked(project, {}, alone)
    minutes = sorted(int(job["runtime"]) for name, job in jobs.items() if "method=favor," in name and "phase" in name)
    # 2 passes, 1.5 tokens a word, 6 operations a parameter and token, 50 teraflops, threefold, beside an hour
    expected = [60 + int(3 * 6 * 3e9 * 2 * 1.5 * words / 50e12 / 60) for words in (10_000, 10_000, 10_000, 1_000_000)]
    assert minutes == expected


def test_memory_follows_the_model(project):
    quantised = project.folder / "results" / "models" / "micro" / "quantised"
    prompts = project.folder / "results" / "micro" / "seed1" / "prompts.parquet"
    for path in (prompts, *(quantised / name for name in ("model.safetensors", "config.json", "tokenizer.json"))):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes({".parquet": b"PAR1" + bytes(4) + b"PAR1"}.get(path.suffix, (2).to_bytes(8, "little") + b"{}"))

    def sized(parameters, **changes):
        def change(config):
            config["base_models"]["micro"] = {"source": "some/model", "parameters": parameters, **changes}

        jobs = asked(project, {}, change)
        return next(int(job["mem_mb"]) for name, job in jobs.items() if "method=base_only" in name)

    adapters = 3 * 4 * 0.01 / 16 * 2 * 4 / 1e6  # three copies of four clients', rank 2: megabytes a parameter
    assert sized(3_000_000_000) == pytest.approx(3500 + 6000 + 3e9 * adapters, rel=0.01)
    assert sized(7_000_000_000) == pytest.approx(3500 + 14000 + 7e9 * adapters, rel=0.01)
    assert sized(3_000_000_000, quantisation="nf4") < sized(3_000_000_000) < sized(3_000_000_000, device="cpu")


def test_what_is_not_known_before_its_inputs_are_there_is_said_so(project):
    assert of(asked(project), "score")["mem_mb"] == "<TBD>"


def test_a_stage_is_set_by_hand(project):
    own = {"memory_mb": 12345, "minutes": 77, "partition": "long", "gpu_model": "h100"}
    jobs = asked(project, {**CLUSTER, "stages": {"train_shared": own}})
    job = of(jobs, "train_shared")
    assert (job["mem_mb"], job["runtime"], job["slurm_partition"], job["gpu_model"]) == ("12345", "77", "long", "h100")
    assert of(jobs, "train_personal")["slurm_partition"] == "a100"


def test_every_further_attempt_doubles_up_to_the_limit(project):
    cluster = {"stages": {"train_personal": {"memory_mb": 1000, "minutes": 50}}, "maximum_minutes": 150}
    jobs = [of(asked(project, cluster, None, "--attempt", attempt), "train_personal") for attempt in "123"]
    assert [job["mem_mb"] for job in jobs] == ["1000", "2000", "4000"]
    assert [job["runtime"] for job in jobs] == ["50", "100", "150"]


@pytest.mark.parametrize(
    ("cluster", "message"),
    [
        ({"stages": {"train_shard": {}}}, "'cluster.stages': there is no stage 'train_shard'; did you mean"),
        ({"local": ["reprot"]}, "'cluster.local': there is no stage 'reprot'; did you mean 'report'?"),
        ({"partitions": "gpu"}, "unknown config key 'cluster.partitions'"),
    ],
)
def test_a_misspelt_stage_is_named(project, cluster, message):
    config = yaml.safe_load((project.folder / "micro.yaml").read_text()) | {"cluster": cluster}
    (project.folder / "wrong.yaml").write_text(yaml.safe_dump(config))
    done = project.snakemake("-n", "--configfile", "wrong.yaml", check=False)
    assert done.returncode == 1
    assert message in done.stdout


def test_every_rule_asks_for_what_it_needs(repository):
    texts = [path.read_text() for path in (repository / "workflow" / "rules").glob("*.smk")]
    blocks = [block for text in texts for block in re.split(r"(?m)^rule ", text)[1:]]
    assert len(blocks) > 40
    for block in blocks:
        name = block.split(":")[0]
        assert f'**asks("{name}"' in block, name
