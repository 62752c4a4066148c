"""Completes rules by what follows from the name of their script: log, benchmark, resources, settings, code.

The conda environment of a rule that names none is that of its file: most are of training, generation and scoring.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from snakemake.io import strip_wildcard_constraints

# Rules that load neither models nor encoders, by their file; single ones that differ from it, by their script.
ENVIRONMENTS = {
    **dict.fromkeys(("corpora", "make_demo_assistant", "join_generations", "read_outputs"), "data"),
    **dict.fromkeys(("prompts", "select_requests"), "data"),
    **dict.fromkeys(("human_2afc", "release", "sweeps", "tables"), "report"),
    "make_gallery": "models",
}


def complete_rule(
    workflow: Any, rule: Any, planner: Any, code: Callable[..., str], inputs: Callable[[Any], dict[str, Any]]
) -> None:
    """Fill in the log, benchmark, resources, parameters and environment that a rule does not say itself.

    With the calls that Snakemake's own loader makes. All of it goes into the rule's description too, from which "use
    rule" of a workflow around this one starts. ``code`` gives the fingerprint of a script and of what it
    loads by name, ``inputs`` what else its jobs are given.
    """
    stage, said = Path(rule.script).stem, rule.ruleinfo
    output = strip_wildcard_constraints(rule.output[0])
    if said.log is None:
        workflow.log(planner.paths.log(stage, output))(said)
        rule.log_modifier = rule.ruleinfo.log.modifier
        rule.set_log(*rule.ruleinfo.log.paths)
    if said.benchmark is None:
        workflow.benchmark(planner.paths.benchmark(stage, output))(said)
        rule.benchmark_modifier = rule.ruleinfo.benchmark.modifier
        rule.benchmark = rule.ruleinfo.benchmark.paths
    if said.resources is None:
        given = workflow.resource_settings.overwrite_resources.get(rule.name, {})
        workflow.resources(**planner.costs.resources_for(stage, rule.name))(said)
        rule.resources.update(rule.ruleinfo.resources[1])
        rule.resources.update(given)
    if said.conda_env is None:
        environment = ENVIRONMENTS.get(stage) or ENVIRONMENTS.get(Path(rule.snakefile).stem, "models")
        rule.conda_env = said.conda_env = f"../../envs/{environment}.yaml"
    positional, named = said.params or ((), {})
    if "cfg" not in named and (cfg := planner.settings_of(stage)) is not None:
        named = {"cfg": cfg, **named}
        rule.set_params(cfg=cfg)
    loaded = planner.loaded_by(stage) or (lambda _: ())
    # Asked for by a job: on a cluster each has a Snakemake of its own, which needs that of no other.
    more = {**inputs(rule), "code": lambda wildcards: code(stage, *loaded(wildcards))}
    workflow.params(*positional, **{**named, **more})(said)
    rule.set_params(**more)
