"""The switches between the protocols: in the schema, in the documentation, and filled in by name."""

import importlib

import pytest
from tests.experiments import experiment

from favor.config.protocol import SWITCHES, departures


@pytest.mark.parametrize("protocol", ["paper", "released"])
def test_unset_switches_take_the_protocols_value(protocol) -> None:
    made = experiment(protocol=protocol)
    for switch in SWITCHES:
        section, key = switch.key.split(".")
        assert getattr(getattr(made, section), key) == getattr(switch, protocol)
    assert departures(made) == []


def test_a_set_switch_wins_and_is_named_as_a_departure() -> None:
    made = experiment(training={"supervised": "all", "warmup_counts_from": 0})
    assert made.training.supervised == "all"
    assert departures(made) == ["training.supervised", "training.warmup_counts_from"]


def test_documentation_lists_every_switch_with_both_values(repository) -> None:
    text = (repository / "docs" / "scaling.md").read_text(encoding="utf-8")
    rows = {line.split("`")[1]: line for line in text.splitlines() if line.startswith("| `")}
    for switch in SWITCHES:
        cells = [cell.strip() for cell in rows[switch.key].split("|")]
        assert cells[2:4] == [str(switch.paper).lower(), str(switch.released).lower()]
    for name in ("fedavg", "fedprox", "pfedme", "feddpa"):
        module = importlib.import_module(f"favor.federation.methods.{name}")
        for key, value in module.RELEASED.items():
            line = next(line for line in text.splitlines() if f"`{name}.{key}`" in line)
            cells = [cell.strip() for cell in line.split("|")]
            assert cells[2:4] == [str(getattr(module.Hyperparameters(), key)), str(value)]
