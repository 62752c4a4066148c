"""Efficiency family: what a method sends, keeps and trains, from the boundary record, the training logs and wall times.

Methods whose shared stages are equal share one trajectory; each is counted with it, as if it had been run alone. A
private stage that no result needs was not run and is not counted.
"""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from favor.federation.factors import Factors
from favor.scores.metric import Metric, Score, scores_frame

_REFERENCE = "paper, Hyperparameters, Efficiency, and Communication Cost"
METRICS = tuple(
    Metric(name, label, 0.0, math.inf, "none", _REFERENCE, unit)
    for name, label, unit in (
        ("adapter_parameters", "Trainable PEFT params", "parameters"),
        ("shared_adapter_bytes", "Serialized shared adapter", "bytes"),
        ("rounds", "Rounds", "rounds"),
        ("clients_per_round", "Clients per round", "clients"),
        ("upload_client_bytes", "Upload per client round", "bytes"),
        ("upload_round_bytes", "Aggregate upload per round", "bytes"),
        ("upload_bytes", "Aggregate upload per seed", "bytes"),
        ("traffic_bytes", "Upload + broadcast per seed", "bytes"),
        ("final_broadcast_bytes", "Final adapter sent to generate with", "bytes"),
        ("residual_bytes", "Final private residual storage", "bytes"),
        ("kept_bytes", "All that stays on the clients", "bytes"),
        ("optimiser_steps", "Optimiser steps per seed", "steps"),
        ("supervised_tokens", "Supervised tokens per seed", "tokens"),
        ("training_seconds", "Training time per seed, jobs added up", "seconds"),
    )
)


def efficiency_scores(
    boundary: pd.DataFrame,
    logs: Mapping[tuple[int, str], pd.DataFrame],
    parameters: Mapping[tuple[int, str], float],
    seconds: Mapping[tuple[int, str], float],
) -> pd.DataFrame:
    """Return the scores of every run (seed, method) that ``logs`` names (an empty log: a method that trains nothing).

    ``boundary``: the table of that name. ``logs``: rows of ``training_log``. ``parameters``: how many a client trains
    at a time, the mean over clients. ``seconds``: wall time of the training jobs added up, NaN where it was not
    recorded.
    """
    scores: list[Score] = []
    for (seed, method), log in sorted(logs.items()):
        rows = boundary[(boundary["seed"] == seed) & (boundary["method"] == method)]
        steps = len(log)
        values = {
            **_traffic(rows),
            "adapter_parameters": (float(parameters[seed, method] if steps else 0), steps, ""),
            "optimiser_steps": (float(steps), steps, ""),
            "supervised_tokens": (float(log["supervised_tokens"].sum()), steps, ""),
            "training_seconds": (seconds[seed, method], steps, "no wall time was recorded for every job"),
        }
        for metric in METRICS:
            value, n, note = values[metric.name]
            scores.append(Score(seed, method, "", metric.name, "", value, n, note))
    return scores_frame(scores)


def trained_parameters(shapes: Mapping[str, Sequence[int]], trains: Factors, mixture: str = "") -> int:
    """Number of parameters in those tensors of an adapter (name -> shape) that a stage trains, and in its gate.

    ``mixture``: kind of the stage's mixture. A gate per token has a vector as long as the input of each layer that is
    adapted (FedALT), a learned weight is one number (APFL).
    """
    gate = {"token": sum(shape[1] for name, shape in shapes.items() if ".lora_A." in name), "learned": 1}
    return sum(math.prod(shapes[name]) for name in trains.of(shapes)) + gate.get(mixture, 0)


def wall_seconds(benchmarks: Sequence[str | Path]) -> float:
    """Wall seconds that Snakemake recorded for the jobs of ``benchmarks``, added up; NaN where a record is missing."""
    total = 0.0
    for path in benchmarks:
        if not Path(path).is_file():
            return float("nan")
        total += float(pd.read_csv(path, sep="\t")["s"].mean())
    return total


def _traffic(rows: pd.DataFrame) -> dict[str, tuple[float, int, str]]:
    def summed(part: pd.DataFrame) -> tuple[float, int, str]:
        return float(part["bytes"].sum()), len(part), ""

    def average(values: pd.Series, note: str) -> tuple[float, int, str]:
        return (float(values.mean()), len(values), "") if len(values) else (float("nan"), 0, note)

    up = rows[rows["direction"] == "client_to_server"]
    broadcast = rows[(rows["direction"] == "server_to_client") & (rows["content"] == "shared adapter")]
    by_round = broadcast.groupby("round")["client"].size()
    nothing = "the method has no rounds"
    return {
        "shared_adapter_bytes": average(broadcast["bytes"], nothing),
        "rounds": (float(len(by_round)), len(by_round), ""),
        "clients_per_round": average(by_round, nothing),
        "upload_client_bytes": average(up.groupby(["round", "client"])["bytes"].sum(), "nothing is uploaded"),
        "upload_round_bytes": average(up.groupby("round")["bytes"].sum(), "nothing is uploaded"),
        "upload_bytes": summed(up),
        "traffic_bytes": summed(pd.concat([up, broadcast])),
        "final_broadcast_bytes": summed(rows[rows["content"] == "final adapter"]),
        "residual_bytes": summed(rows[rows["content"] == "residual"]),
        "kept_bytes": summed(rows[rows["direction"] == "stays_on_client"]),
    }
