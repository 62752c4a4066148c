"""A run's continuations are the same bytes, however many jobs generate them."""

from collections.abc import Callable
from types import SimpleNamespace

import pandas as pd
import pytest
import torch
from tests.federation.test_aggregate_script import run_script
from tests.lm.conftest import *  # noqa: F403 - the small model's fixtures
from tests.plan.conftest import *  # noqa: F403 - planners

from favor.corpora.schemas import COMMON_PROMPTS, PROMPTS
from favor.federation.client_archive import write_pack
from favor.federation.schedule import client_names
from favor.federation.schemas import GENERATIONS
from favor.foundation.parquet import read_parquet, write_parquet
from favor.lm.configuration import load_configuration
from favor.lm.lora import initial_state
from favor.lm.settings import Lora
from favor.plan.job_settings import to_params
from favor.plan.keys import run_key

CLIENTS = client_names(4)
OUTPUTS = ("generations", "common_generations", "gates")


def write_prompts(folder, clients) -> None:
    """Two prompts of their own for the named clients, of two lengths, and two common ones."""
    rows = [
        (client, f"{client}-{n}", "d", "t", "", list(range(5 + place, 15 + place + n)), "", 9)
        for place, client in enumerate(clients)
        for n in range(2)
    ]
    write_parquet(pd.DataFrame(rows, columns=PROMPTS.names), folder / "prompts.parquet", PROMPTS)
    common = {"prompt_id": ["common-001", "common-002"], "prompt_tokens": [[9, 8, 7], [20, 30, 40]]}
    rest = {column.name: "" for column in COMMON_PROMPTS.columns if column.name not in common}
    write_parquet(pd.DataFrame({**rest, **common})[COMMON_PROMPTS.names], folder / "common.parquet", COMMON_PROMPTS)


@pytest.fixture
def generated(plan, model_folder, tmp_path, repository, monkeypatch) -> Callable[..., tuple[int, dict[str, bytes]]]:
    """Returns the bytes of what all jobs of a run generate, with so many clients per job."""

    def run(per_job) -> tuple[int, dict[str, bytes]]:
        section = {"methods": {"local_only_asce": {}}, "generation": {"clients_per_job": per_job}}
        change = {"experiments": {"micro": section}}
        training, key = plan(change=change).training, run_key("micro", "1", "local_only_asce")
        parts = training.generation_parts("micro")
        settings = [
            to_params(training.generate_settings(SimpleNamespace(**vars(key), part=part))) for part in range(len(parts))
        ]
        made = []
        for number, cfg in enumerate(settings if len(parts) > 1 else [to_params(training.generate_settings(key))]):
            cfg["model"] = {"source": str(model_folder), "quantisation": "none", "device": "cpu", "dtype": "float32"}
            start = initial_state(load_configuration(str(model_folder)), Lora.model_validate(cfg["lora"]), 1)
            states = {}
            for place, client in enumerate(CLIENTS):
                generator = torch.Generator().manual_seed(place)
                state = {name: 0.3 * torch.randn(value.shape, generator=generator) for name, value in start.items()}
                states[client] = {"adapter": state}
            write_pack(tmp_path / "pack.safetensors", states, {})
            output = {name: tmp_path / f"{name}{number}.parquet" for name in OUTPUTS}
            given = {"prompts": str(tmp_path / "prompts.parquet"), "common_prompts": [str(tmp_path / "common.parquet")]}
            given["adapters"] = [str(tmp_path / "pack.safetensors")]
            run_script(repository, "generate", {"cfg": cfg}, key, input=given, output=output)
            made.append(output)
        if len(made) > 1:
            output = {name: tmp_path / f"{name}.parquet" for name in OUTPUTS}
            parts = {name: [part[name] for part in made] for name in OUTPUTS}
            run_script(repository, "join_generations", {}, input=parts, output=output)
        return len(made), {name: path.read_bytes() for name, path in output.items()}

    return run


@pytest.mark.parametrize("clients", [CLIENTS, CLIENTS[:3]])
def test_a_run_in_several_jobs_is_that_of_one_in_every_byte(clients, generated, tmp_path) -> None:
    write_prompts(tmp_path, clients)  # a job whose client has none generates nothing
    count, whole = generated(None)
    assert count == 1
    texts = read_parquet(tmp_path / "generations0.parquet", GENERATIONS)
    assert list(texts["client"].unique()) == clients
    assert texts["text"].nunique() > 4
    assert generated(1) == (4, whole)
    assert generated(3) == (2, whole)
