"""What each switch between the two protocols does to the demo, one flipped at a time.

    python benchmarks/protocols.py --cores 2 --results build/protocols

One Snakemake run holds one experiment a switch (one seed, the methods that the switch touches), all on the demo's
corpus, base model and encoder; the table it prints is that of docs/protocols.md.
"""

from __future__ import annotations

import argparse
import copy
import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml

from favor.config.protocol import SWITCHES
from favor.foundation.parquet import read_parquet
from favor.scores.tables import SCORES

ROOT = Path(__file__).resolve().parents[1]
METHODS = {"fedavg": {}, "favor": {}}
FAVOR_ALONE = {"federation.never_sampled", "alignment.pooling", "alignment.ramp_counts"}
METHOD_SWITCHES = {
    "fedavg.sampling": {"fedavg": {"sampling": "uniform"}},
    "pfedme.start": {"pfedme": {"start": "own"}},
    "feddpa.gate_training": {"feddpa": {"gate_training": "none"}},
    "feddpa.gate_export": {"feddpa": {"gate_export": "factors"}},
    "feddpa.gate_states": {"feddpa": {"gate_states": "text"}},
}
SHOWN = (
    ("prototypes", "author_accuracy", "accuracy"),
    ("verification", "generated_auc", "gen-gen AUC"),
    ("verification", "generated_source_auc", "gen-source AUC"),
    ("quality", "pass_rate", "pass rate"),
)


def configuration(results: str) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the configuration of all experiments, and what each of them shows."""
    config = yaml.safe_load((ROOT / "config" / "config.yaml").read_text(encoding="utf-8"))
    demo = config["experiments"].pop("demo")
    demo |= {"seeds": [2026], "tables": ["main_federated_results"], "studies": {}}
    # One space is shown, so one is computed.
    demo["evaluation"] |= {"encoders": [], "semantic_encoder": demo["style_encoder"], "assistant": None}
    config |= {"results": results, "keep_uploads": False, "report": {}}  # which names a row that is not here
    titles = {}

    def add(name: str, title: str, methods: dict[str, Any], **changes: Any) -> None:
        experiment = copy.deepcopy(demo) | {"methods": methods}
        for key, value in changes.items():
            if isinstance(value, dict):
                experiment[key] = {**experiment.get(key, {}), **value}
            else:
                experiment[key] = value
        config["experiments"][name] = experiment
        titles[name] = title

    everything = {**METHODS, "pfedme": {}, "feddpa": {}}
    add("paper", "`protocol: paper`", everything)
    for switch in SWITCHES:
        section, key = switch.key.split(".")
        add(
            f"flip_{key}",
            f"`{switch.key}: {str(switch.released).lower()}`",
            {"favor": {}} if switch.key in FAVOR_ALONE else METHODS,
            **{section: {key: switch.released}},
        )
    for key, methods in METHOD_SWITCHES.items():
        ((row, values),) = methods.items()
        ((name, value),) = values.items()
        add(f"flip_{key.replace('.', '_')}", f"`{row}.{name}: {value}`", methods)
    add("released", "`protocol: released`", everything, protocol="released")
    add("matched", "`budget: matched`", everything, budget="matched")
    return config, titles


def main() -> None:
    """Run all experiments and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cores", default="2")
    parser.add_argument("--results", default="build/protocols")
    arguments = parser.parse_args()
    config, titles = configuration(arguments.results)
    folder = Path(arguments.results)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "config.yaml"
    path.write_text(yaml.safe_dump(config, sort_keys=False), encoding="utf-8")
    targets = [f"{folder}/{name}/scores/{family}.parquet" for name in titles for family, _, _ in SHOWN]
    command = [sys.executable, "-m", "snakemake", "--cores", arguments.cores, "--configfile", str(path), "--"]
    subprocess.run([*command, *dict.fromkeys(targets)], check=True, cwd=ROOT)
    print("| experiment | method | " + " | ".join(label for _, _, label in SHOWN) + " |")
    print("|---|---|" + "---|" * len(SHOWN))
    for name, title in titles.items():
        families = {
            family: read_parquet(folder / name / "scores" / f"{family}.parquet", SCORES) for family, _, _ in SHOWN
        }
        for method in config["experiments"][name]["methods"]:
            cells = []
            for family, metric, _ in SHOWN:
                scores = families[family]
                chosen = scores[
                    (scores["method"] == method)
                    & (scores["metric"] == metric)
                    & (scores["variant"] == "")
                    & scores["encoder"].isin(["", "asce_a"])
                ]
                cells.append(f"{chosen['value'].iloc[0]:.3f}" if len(chosen) else "–")
            print(f"| {title} | {method} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
