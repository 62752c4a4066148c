"""Refusals that rest on the plans of rows, or on the metric families behind tables and figures."""

from collections.abc import Collection, Mapping
from operator import attrgetter
from unicodedata import normalize

from favor.config.configuration import Configuration
from favor.config.study_checks import check_prompted_outputs
from favor.federation.method import Plan
from favor.federation.row_plan import row_title
from favor.foundation.registry import METRIC_FAMILIES
from favor.foundation.section import refuse
from favor.paper.names import CONTROLS, SEPARATOR, encoder_name, unmarked
from favor.studies.prompting.templates import check_context, check_sheet_context

# By metric family whose tables and figures cannot do without the key that it needs: what to do.
NEEDED = {
    "likelihood": "its tables need the likelihoods; set it to {}",
    "poisoning": "its tables compare with an experiment without attack; name that one as { beside: NAME }",
    "privacy": "its tables need the audit; set it to {}",
    "tasks": "its tables compare answers with drafts, and 'continue' has none; set rewrite or instruct",
}


def check_rows(config: Configuration, plans: Mapping[tuple[str, str], Plan]) -> None:
    """Check the rows of all experiments; ``plans``: by experiment and row.

    Raises ``UserError`` for names that one table could not tell apart, for rows that continue or read texts where
    models answer, and for a prompted row that may not fit its model's context or is another one elsewhere.
    """
    for name, experiment in config.experiments.items():
        own = {row: plans[name, row] for row in experiment.methods}
        titles = {row: row_title(row, overrides, own[row]) for row, overrides in experiment.methods.items()}
        encoders = dict.fromkeys([experiment.style_encoder, *experiment.evaluation.encoders])
        controls = dict.fromkeys(CONTROLS.values(), "a control of every table")
        _check_titles({f"experiments.{name}.methods.{row}": title for row, title in titles.items()}, controls)
        _check_titles({f"encoders.{key}": config.encoders[key].title or encoder_name(key) for key in encoders}, {})
        for row, plan in own.items():
            where, stage = f"experiments.{name}.methods.{row}", plan.personal or plan.shared
            if experiment.answers and plan.inference == "prompted":
                refuse(where, f"it asks for a continuation, but 'task' is {experiment.task}; leave the row out")
            if experiment.answers and stage and stage.mixture and stage.mixture.kind == "similarity":
                refuse(where, f"its gate reads texts to continue, but 'task' is {experiment.task}; leave the row out")
            if plan.prompting is not None:
                _check_prompted(name, row, plan, config)
    # A rule tells rows apart by their names alone.
    for inference, kind in (("prompted", "a prompting baseline"), ("outputs", "read from a file")):
        found = {row for (_, row), plan in plans.items() if plan.inference == inference}
        for (name, row), plan in plans.items():
            if row in found and plan.inference != inference:
                refuse(
                    f"experiments.{name}.methods.{row}",
                    f"the row of this name is {kind} in another experiment; give one of them another name",
                )


def _check_titles(titles: Mapping[str, str], taken: dict[str, str]) -> None:
    for key, title in titles.items():
        printed = unmarked(" ".join(normalize("NFC", title).split())).replace("\u200c", "").replace("\u200d", "")
        if not printed or SEPARATOR.strip() in title:
            refuse(f"{key}.title", f"{title!r} cannot be printed as a name; give it words without '·'")
        if printed in taken:
            refuse(f"{key}.title", f"'{printed}' is also the printed name of {taken[printed]}; change one")
        taken[printed] = f"'{key}'"


def _check_prompted(name: str, row: str, plan: Plan, config: Configuration) -> None:
    """Check a prompted row against the contexts of its models, where these are known."""
    experiment = config.experiments[name]
    assert plan.prompting is not None
    check_prompted_outputs(name, row, config.experiments)
    context = config.base_models[experiment.base_model].known_context()
    if context is not None:
        check_context(f"config key 'experiments.{name}.methods.{row}'", plan.prompting, experiment, context)
    distilling = config.base_models[experiment.prompting.model or experiment.base_model].known_context()
    if plan.prompting.sheet and distilling is not None:
        check_sheet_context(f"config key 'experiments.{name}.prompting'", experiment, distilling)


def check_families(config: Configuration, families: Mapping[str, Collection[str]]) -> None:
    """Check that every experiment has what the metric families behind its tables and figures need.

    Raises ``UserError`` for the first key that is missing.
    """
    for name, experiment in config.experiments.items():
        for family, remedy in NEEDED.items():
            key = METRIC_FAMILIES.constant(family, "NEEDS")
            if family in families[name] and not attrgetter(key)(experiment):
                refuse(f"experiments.{name}.{'task' if key == 'answers' else key}", f"{remedy}, or leave them out")
