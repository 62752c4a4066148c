"""Whatever stands at a key: the configuration can be planned, or one line names the key."""

import copy
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.plan.conftest import ROOT, read

from favor.config.resolve import resolve
from favor.foundation.errors import UserError
from favor.plan import Planner

pytestmark = pytest.mark.slow(3)

DEMO = read("config/config.yaml")


def places(node, path=()) -> list[tuple[Any, ...]]:
    """Every key and item of the demo, and the sections themselves."""
    children = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    return [path, *(place for key, child in children for place in places(child, (*path, key)))]


PLACES = [place for place in places(DEMO) if place]
LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
LEAVES |= st.sampled_from(["favor", "demo", "asce_a", "1e-3", "a\nb", 10**40, -1, 0]) | st.dates()
KEYS = st.text(max_size=6) | st.integers() | st.sampled_from(["corpus", "methods", "title", "demo", "seed", "extends"])
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3), max_leaves=5
)


def refusal(config) -> str:
    """What is said of a configuration; nothing where it resolves and its jobs can be planned."""
    try:
        Planner(resolve(config), ROOT).targets.everything()
    except UserError as error:
        return str(error)
    return ""


@example(("experiments", "demo", "methods", "favor", "method"), None, "\n")
@settings(max_examples=400)
@given(place=st.sampled_from(PLACES), value=VALUES, new=st.none() | KEYS)
def test_a_configuration_is_planned_or_one_line_says_why_not(place, value, new) -> None:
    config = copy.deepcopy(DEMO)
    node = config
    for step in place[:-1]:
        node = node[step]
    if new is None or isinstance(node, list):
        node[place[-1]] = value
    else:
        node[new] = value
    assert "\n" not in refusal(config)
