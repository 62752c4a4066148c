"""What runs cost before they are started: jobs, time and memory of planning, GPU-hours, disk and traffic.

    python benchmarks/scaling.py --corpus-path /data/blogtext.csv --configfile config/blogtext.yaml
    python benchmarks/scaling.py --corpus-path /data/blogtext.csv --clients 10000 --clients-per-job 100 \
        --configfile config/blogtext.yaml

Each ``--configfile`` is one run and takes the files that Snakemake would (later ones over earlier ones). Jobs, planning
time and planning memory come from ``snakemake -n``; the training jobs must be those that the configuration's plans
give, or the script stops. Disk and traffic are numbers of adapters, by the formulas of :func:`account`, times the size
of one.

GPU-hours are an ESTIMATE scaled from the paper's statement, 4.4 to 4.6 hours on four RTX 4090 for a seed of FAVoR, by
passes over the clients' texts and by parameters of the base model. Nothing of it was measured with this workflow.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from snakemake.utils import update_config

from favor.config.resolve import resolve
from favor.federation.method import Plan, load_method
from favor.federation.schedule import client_names, cohorts, last_participation
from favor.foundation.errors import UserError
from favor.foundation.tensors import safetensors_bytes
from favor.lm.lora import state_shapes
from favor.lm.settings import LoraSettings

ROOT = Path(__file__).resolve().parents[1]
GIB = 2**30
# The paper's efficiency table: FAVoR, one seed, 6 rounds of 12 clients and the private stages of 50; texts of its
# imbalance appendix, 904,378 words of 50 clients.
PAPER_GPU_HOURS, PAPER_PASSES, PAPER_PARAMETERS = 4.5 * 4, 72 * 1 + 50 * 2, 3.09e9
WORDS_OF_A_CLIENT = 904_378 / 50
# Shapes of hub models that the configurations name, so that nothing is fetched.
QWEN = {"vocab_size": 151_936, "tie_word_embeddings": True}
QWEN_7B = {
    "hidden_size": 3584, "intermediate_size": 18_944, "num_hidden_layers": 28,
    "num_attention_heads": 28, "num_key_value_heads": 4, "vocab_size": 152_064, "tie_word_embeddings": False,
}  # fmt: skip
HUB = {
    "Qwen/Qwen2.5-3B-Instruct": {
        **QWEN, "hidden_size": 2048, "intermediate_size": 11_008, "num_hidden_layers": 36,
        "num_attention_heads": 16, "num_key_value_heads": 2,
    },
    "Qwen/Qwen2.5-7B": QWEN_7B,
    "Qwen/Qwen2.5-7B-Instruct": QWEN_7B,
}  # fmt: skip


# Measures a command from a process of its own: memory counts from the fork on, and this script has torch loaded.
MEASURE = """
import json, resource, subprocess, sys, time
start = time.monotonic()
done = subprocess.run(sys.argv[1:])
used = resource.getrusage(resource.RUSAGE_CHILDREN)
figures = {"wall_s": time.monotonic() - start, "processor_s": used.ru_utime + used.ru_stime}
print(json.dumps({**figures, "peak_mib": used.ru_maxrss / 1024}), flush=True)
sys.exit(done.returncode)
"""


@dataclass
class Account:
    """One experiment, all seeds: training jobs by rule, passes over clients' texts, and adapters stored and sent.

    ``stored``: adapters that stay, by kind; ``uploads``: those on disk at once at most, every track amid a round;
    ``up``, ``down``: adapters sent, counted for each row as ``boundary.parquet`` does.
    """

    jobs: Counter[str] = field(default_factory=Counter)
    passes: float = 0.0
    stored: Counter[str] = field(default_factory=Counter)
    uploads: int = 0
    up: int = 0
    down: int = 0


def needs_endpoints(plan: Plan) -> bool:
    """Whether a row generates with clients' shared endpoints, or starts from them."""
    return plan.inference == "endpoint" or (plan.personal is not None and plan.personal.start == "endpoint")


def account(experiment: Mapping[str, Any], plans: Mapping[str, Plan], keep_uploads: bool) -> Account:
    """Count what an experiment trains, keeps and sends: functions of the configuration alone."""
    found = Account()
    federation = experiment["federation"]
    everyone = client_names(experiment["clients"])
    rounds, per_job = federation["rounds"], federation["clients_per_job"] or len(everyone)

    def jobs(clients: int) -> int:
        return -(-clients // per_job)

    tracks = {plan.shared.track: plan.shared for plan in plans.values() if plan.shared is not None}
    owners = {(plan.shared, plan.personal): plan for plan in plans.values() if plan.personal is not None}
    for seed in experiment["seeds"]:
        sampled = {
            rule: cohorts(seed, everyone, rounds, federation["clients_per_round"], rule)
            for rule in {stage.sampling for stage in tracks.values()}
        }
        for name, stage in tracks.items():
            schedule = sampled[stage.sampling]
            participations = sum(map(len, schedule))
            found.jobs["train_shared"] += sum(jobs(len(cohort)) for cohort in schedule)
            found.jobs["aggregate"] += rounds
            found.passes += _passes(stage, schedule) * max(1, stage.inner_steps)
            found.stored["shared adapters"] += rounds
            if stage.start == "own":
                found.stored["endpoints"] += participations
            elif any(needs_endpoints(p) for p in plans.values() if p.shared is not None and p.shared.track == name):
                found.stored["endpoints"] += len(last_participation(schedule))
            found.stored["uploads"] += participations if keep_uploads else 0
            found.uploads += 0 if keep_uploads else max(map(len, schedule))
        for plan in owners.values():
            stage = plan.personal
            assert stage is not None
            if stage.start == "pooled":
                clients, phases = len(everyone), [["pooled"]]
            elif plan.shared is None:
                clients, phases = len(everyone), [everyone]
            elif stage.chained:
                phases = sampled[plan.shared.sampling]
                clients = sum(map(len, phases))
            else:
                phases = [list(last_participation(sampled[plan.shared.sampling]))]
                clients = len(phases[0])
            found.jobs["train_personal"] += sum(jobs(len(phase)) for phase in phases)
            found.passes += _passes(stage, phases) if stage.chained else clients * float(stage.epochs or 0)
            # A residual lies beside its endpoint, a mixture beside the adapter it is mixed with.
            adapters = 2 if stage.residual or stage.mixture else 1
            found.stored["personal adapters"] += sum(map(len, phases)) * adapters
        origins = {*tracks, *(row for row, plan in plans.items() if plan.shared is None and plan.personal is not None)}
        found.stored["shared adapters"] += 1 if federation["initial_adapter"] == "common" else len(origins)
        prompted = sum(plan.prompting is not None for plan in plans.values())
        found.jobs["generate"] += len(plans) - prompted
        found.jobs["generate_prompted"] += prompted
        for plan in plans.values():
            if plan.shared is not None:
                schedule = sampled[plan.shared.sampling]
                sent = sum(map(len, schedule))
                found.up += sent
                unreached = len(everyone) - len(last_participation(schedule))
                final = len(everyone) if plan.inference == "server" else unreached
                found.down += sent + (0 if plan.never_sampled == "dropped" else final)
            elif plan.personal is not None and plan.personal.start == "pooled":
                found.down += len(everyone)
    return found


def _passes(stage: Any, phases: Sequence[Sequence[str]]) -> float:
    """Return passes over a client's text, all participations; ``epochs`` is each client's total where it is spread."""
    clients = len({client for phase in phases for client in phase}) if stage.spread else sum(map(len, phases))
    return clients * float(stage.epochs)


def configuration_of(model: Mapping[str, Any]) -> Any:
    """Return the transformers configuration of a base model, without fetching anything."""
    from transformers import AutoConfig
    from transformers.models.qwen2 import Qwen2Config

    if model["pretrain"]:
        made = model["pretrain"]
        return Qwen2Config(
            vocab_size=made["vocabulary_size"],
            hidden_size=made["hidden_size"],
            intermediate_size=made["intermediate_size"],
            num_hidden_layers=made["layers"],
            num_attention_heads=made["heads"],
            num_key_value_heads=made["key_value_heads"],
            tie_word_embeddings=True,
        )
    if model["source"] in HUB:
        return Qwen2Config(**HUB[model["source"]])
    return AutoConfig.from_pretrained(model["source"])


def model_bytes(model: Mapping[str, Any], configuration: Any) -> tuple[int, int]:
    """Return (parameters, bytes of the copy under results): pretrained in float32, NF4 in 4.5 bits of the layers.

    NF4 keeps 4 bits a weight and, doubly quantised, one byte for 64 weights; embeddings stay in 16 bits.
    """
    import torch
    from transformers import AutoModelForCausalLM

    with torch.device("meta"):
        made = AutoModelForCausalLM.from_config(configuration)
    total = sum(parameter.numel() for parameter in made.parameters())
    layers = sum(module.weight.numel() for name, module in made.named_modules() if name.endswith("_proj"))
    nf4 = int(layers * (0.5 + 1 / 64) + (total - layers) * 2) if model["quantisation"] == "nf4" else 0
    return total, nf4 + (4 * total if model["pretrain"] else 0)


def merged(files: Sequence[str], clients: int | None, per_job: int | None) -> dict[str, Any]:
    """Return the configuration of some files, with another number of clients where one is given."""
    config: dict[str, Any] = {}
    for path in files:
        update_config(config, yaml.safe_load(Path(path).read_text(encoding="utf-8")))
    for experiment in config["experiments"].values():
        federation = experiment.setdefault("federation", {})
        if clients is not None:
            was = experiment.pop("clients", None) or 50
            federation["clients_per_round"] = max(1, federation.get("clients_per_round", 12) * clients // was)
            config["corpora"][experiment["corpus"]].setdefault("roles", {})["clients"] = clients
        if per_job is not None:
            federation["clients_per_job"] = per_job
    return config


def planned(config: Mapping[str, Any]) -> tuple[Counter[str], dict[str, float]]:
    """Return the jobs that ``snakemake -n`` plans by rule, and the time and memory that planning took."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "config.yaml"
        path.write_text(yaml.safe_dump({**config, "results": f"{folder}/results"}, sort_keys=False), encoding="utf-8")
        command = [sys.executable, "-m", "snakemake", "-n", "--cores", "2", "-q", "rules"]
        command += ["--snakefile", str(ROOT / "Snakefile"), "--configfile", str(path)]
        done = subprocess.run(
            [sys.executable, "-c", MEASURE, *command],
            cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
        )  # fmt: skip
    if done.returncode:
        sys.exit(done.stdout[-3000:])
    rows = [line.split() for line in done.stdout.split("Job stats:")[1].splitlines()[3:]]
    jobs = Counter({row[0]: int(row[1]) for row in rows[: [row[:1] for row in rows].index(["total"])]})
    return jobs, json.loads(done.stdout.splitlines()[-1])


def costs(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the runs of a configuration take, by the plans alone."""
    configuration = resolve(config)
    resolved = configuration.model_dump(mode="json")
    totals: Counter[str] = Counter()
    jobs: Counter[str] = Counter()
    stored: Counter[str] = Counter()
    bases: dict[str, int] = {}
    points = {point["experiment"] for sweep in resolved["sweeps"].values() for point in sweep["points"]}
    for name, experiment in resolved["experiments"].items():
        archive = resolved["experiments"][experiment["outputs_of"]]["methods"] if experiment["outputs_of"] else ()
        rows = {row: given for row, given in experiment["methods"].items() if row not in archive}
        plans = {row: load_method(row, given, configuration.experiments[name])[1] for row, given in rows.items()}
        found = account(experiment, plans, resolved["keep_uploads"])
        model = resolved["base_models"][experiment["base_model"]]
        shape = configuration_of(model)
        lora = {**experiment["lora"], "target_modules": tuple(experiment["lora"]["target_modules"])}
        adapter = safetensors_bytes(state_shapes(shape, LoraSettings(**lora)))
        parameters, bases[experiment["base_model"]] = model_bytes(model, shape)
        total = experiment["allocation"]["total_words"]
        words = total / experiment["clients"] if total else WORDS_OF_A_CLIENT
        if not (experiment["tables"] or experiment["figures"] or name in points):
            del found.jobs["generate"]  # nothing shows what it would write
        jobs += found.jobs
        for kind, count in found.stored.items():
            stored[kind] += count * adapter
        hours = found.passes * words / WORDS_OF_A_CLIENT * PAPER_GPU_HOURS / PAPER_PASSES
        totals.update(
            {
                "gpu_hours": hours * parameters / PAPER_PARAMETERS,  # type: ignore[dict-item]
                "uploads": found.uploads * adapter,
                "up": found.up * adapter,
                "down": found.down * adapter,
            }
        )
    stored["base models"] = sum(bases.values())
    final = sum(stored.values())
    return {
        "jobs": dict(jobs),
        "gpu_hours_estimated": totals["gpu_hours"],
        "upload_gib": totals["up"] / GIB,
        "download_gib": totals["down"] / GIB,
        "disk_gib": {kind: size / GIB for kind, size in sorted(stored.items())},
        "final_gib": final / GIB,
        "peak_gib": (final + totals["uploads"]) / GIB,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--configfile", nargs="+", action="append", required=True, help="files of one run; repeatable")
    parser.add_argument("--corpus-path", help="raw corpus; a file that exists is enough to plan")
    parser.add_argument("--clients", type=int, help="so many clients, the same share of them in each round")
    parser.add_argument("--clients-per-job", type=int, help="clients that one job serves")
    parser.add_argument("--no-plan", action="store_true", help="leave snakemake -n out")
    arguments = parser.parse_args()
    results = []
    for files in arguments.configfile:
        config = merged(files, arguments.clients, arguments.clients_per_job)
        if arguments.corpus_path:
            config["corpus_path"] = arguments.corpus_path
        try:
            found = {"run": [Path(path).name for path in files], **costs(config)}
        except UserError as error:
            sys.exit(f"error: {error}")
        if not arguments.no_plan:
            jobs, planning = planned(config)
            different = {rule: (count, jobs[rule]) for rule, count in found["jobs"].items() if jobs[rule] != count}
            if different:
                sys.exit(f"{files}: (by formula, planned) jobs differ: {different}")
            found |= {"planned_jobs": sum(jobs.values()) - jobs["all"], "planning": planning}
        results.append(found)
    print(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
