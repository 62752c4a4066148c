# What rows without training read: functions of the configuration alone.

from favor.federation.prompting_templates import check_context, check_sheet_context
from favor.config.study_checks import check_prompted_outputs


def prompted_rows(name):
    """Rows of an experiment whose base model is prompted instead of trained."""
    return [
        row
        for row in EXPERIMENTS[name]["methods"]
        if PLANS[name, row][1].prompting is not None
    ]


def prompted_names():
    """Expression that matches the prompted rows of every experiment."""
    prompted = {row for name in EXPERIMENTS for row in prompted_rows(name)}
    for name, row in PLANS:
        if row in prompted and row not in prompted_rows(name):
            stop(
                f"config key 'experiments.{name}.methods.{row}': the row of this name is a prompting baseline in "
                "another experiment; give one of them another name"
            )
    return "|".join(sorted(prompted)) or "none"


def sheet_model(name):
    """The base model that distils author sheets."""
    return EXPERIMENTS[name]["prompting"]["model"] or EXPERIMENTS[name]["base_model"]


def check_prompted(name):
    """Refuse rows that cannot fit the context of their models, as far as it is known here, and outputs made otherwise."""
    experiment, models = CONFIGURATION.experiments[name], CONFIGURATION.base_models
    context = models[experiment.base_model].known_context()
    for row in prompted_rows(name):
        check_prompted_outputs(name, row, CONFIGURATION.experiments)
        prompting = PLANS[name, row][1].prompting
        where = f"config key 'experiments.{name}.methods.{row}'"
        if context is not None:
            check_context(where, prompting, experiment, context)
        distilling = models[sheet_model(name)].known_context()
        if prompting.sheet and distilling is not None:
            where = f"config key 'experiments.{name}.prompting'"
            check_sheet_context(where, experiment, distilling)


try:
    for name in EXPERIMENTS:
        check_prompted(name)
except UserError as error:
    stop(error)


def sheet_lengths(wildcards):
    """Counts and lengths behind author sheets and personas."""
    keys = (
        "sheet_texts",
        "sheet_text_tokens",
        "sheet_tokens",
        "persona_tokens",
        "seed",
    )
    return pick(experiment_of(wildcards)["prompting"], *keys)


def sheets_read(wildcards):
    """The clients' author sheets, where a row shows them."""
    if not plan_of(wildcards).prompting.sheet:
        return []
    return f"{RESULTS}/{wildcards.experiment}/clients/sheets.parquet"
