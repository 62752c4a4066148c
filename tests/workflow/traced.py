"""What the jobs of a traced run executed, beside what their fingerprints hold."""

import ast
import json
from dataclasses import dataclass
from random import Random

from favor.running.invalidation.fingerprint import EXEMPT, SourceCode, source_code
from favor.running.invalidation.parts import read_module


@dataclass(frozen=True)
class Trace:
    """One job: its rule, what its fingerprint was taken of, and the (module, definition) it executed.

    The definition "" is the module itself, which was imported.
    """

    rule: str
    stage: str
    modules: tuple[str, ...]
    executed: frozenset[tuple[str, str]]


def traces_of(folder) -> list[Trace]:
    found = []
    for path in sorted((folder / "trace").glob("*.json")):
        job = json.loads(path.read_text())
        record = json.loads((folder / "results" / ".code" / f"{job['fingerprint']}.json").read_text())
        executed = frozenset(map(tuple, job["executed"]))
        found.append(Trace(job["rule"], record["stage"], tuple(record["modules"]), executed))
    return found


def unforeseen(folder) -> set[tuple[str, str]]:
    """Return (rule, definition) for what ran and is neither in the rule's fingerprint nor declared harmless."""
    source, traces = source_code(folder / "src"), traces_of(folder)
    assert traces
    assert not {trace.rule for trace in traces if not any(name for _, name in trace.executed)}
    return {
        (trace.rule, f"{module}.{name}")
        for trace in traces
        for module, name in trace.executed - source.reach(trace.stage, trace.modules)
        if module not in EXEMPT
    }


def mutated(path, name, chance) -> tuple[str, str] | None:
    """Return the text of a file of which definition ``name`` returns something else once, and the change, if it can."""
    tree = ast.parse(path.read_text())
    *_, definition = [node for node in tree.body if getattr(node, "name", None) == name]  # after its overloads
    places = [node for node in ast.walk(definition) if isinstance(node, ast.Return) and node.value]
    if not places:
        return None
    place = chance.choice(places)
    before = ast.unparse(place)
    place.value = ast.Constant("mutated")
    return ast.unparse(tree), f"{path.name}: {name}: {before} -> {ast.unparse(place)}"


def unnoticed_mutations(folder, elsewhere, number=40, seed=2026) -> list[str]:
    """Mutate ``number`` executed definitions, one at a time, and return those that a rule which ran them overlooks."""
    chance, base = Random(seed), source_code(folder / "src")
    traces = traces_of(folder)
    executed = sorted({found for trace in traces for found in trace.executed if found[1] and found[0] not in EXEMPT})
    chance.shuffle(executed)
    overlooked, made = [], 0
    for module, name in executed:
        path = folder.joinpath("src", *module.split(".")).with_suffix(".py")
        change = mutated(path, name, chance) if path.is_file() else None
        if change is None:
            continue
        made += 1
        elsewhere.write_text(change[0])
        edited = SourceCode(base.root, {**base.modules, module: read_module(module, elsewhere)})
        for stage, modules in {(trace.stage, trace.modules) for trace in traces if (module, name) in trace.executed}:
            if edited.fingerprint(stage, modules) == base.fingerprint(stage, modules):
                overlooked.append(f"{stage}: {change[1]}")
        if made == number:
            return overlooked
    raise AssertionError(f"{made} definitions that ran can be mutated, not {number}")
