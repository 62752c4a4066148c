"""FAVoR Workflow: federated personalised text generation, measured, from raw posts to the paper's tables."""

from pathlib import Path

from snakemake.utils import min_version

min_version("9.0")


report: "workflow/report/workflow.rst"


# A configuration named on the command line replaces config/config.yaml of the working folder, which replaces the embedded
# demo; keys it leaves out take the paper's values.
if not workflow.overwrite_configfiles:
    own = Path("config/config.yaml")

    configfile: own if own.is_file() else f"{workflow.current_basedir}/{own}"


include: "workflow/functions/start.smk"
include: "workflow/functions/running.smk"


# The one image of all rules, under --sdm apptainer.
container: planner.config.image


# What a rule leaves out (log, benchmark, resources, code, environment) follows from its script and its file (favor.running.jobs.filled_rules).
include: "workflow/rules/corpora.smk"
include: "workflow/rules/encoders.smk"
include: "workflow/rules/federation.smk"
include: "workflow/rules/generation.smk"
include: "workflow/rules/likelihood.smk"
include: "workflow/rules/prompting.smk"
include: "workflow/rules/scores.smk"
include: "workflow/rules/tasks.smk"
include: "workflow/rules/transfer.smk"
include: "workflow/rules/statistics.smk"
include: "workflow/rules/tables.smk"
include: "workflow/rules/sweeps.smk"
include: "workflow/rules/exports.smk"
include: "workflow/rules/human_2afc.smk"
include: "workflow/rules/judges.smk"
include: "workflow/rules/privacy.smk"
include: "workflow/rules/release.smk"


finish_rules()


rule all:
    default_target: True
    input:
        targets.everything,
