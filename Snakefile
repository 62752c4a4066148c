"""FAVoR Workflow: federated personalised text generation, measured, from raw posts to the paper's tables."""

from snakemake.utils import min_version

min_version("9.0")

# A configuration named on the command line replaces the embedded demo; keys it leaves out take the paper's values.
if not workflow.overwrite_configfiles:

    configfile: f"{workflow.basedir}/config/config.yaml"


include: "workflow/rules/common.smk"
include: "workflow/rules/runs.smk"
include: "workflow/rules/outputs.smk"
include: "workflow/rules/measures.smk"
include: "workflow/rules/audits.smk"
include: "workflow/rules/corpora.smk"
include: "workflow/rules/encoders.smk"
include: "workflow/rules/federation.smk"
include: "workflow/rules/generation.smk"
include: "workflow/rules/scores.smk"
include: "workflow/rules/statistics.smk"
include: "workflow/rules/studies.smk"
include: "workflow/rules/tables.smk"
include: "workflow/rules/exports.smk"
include: "workflow/rules/on_request.smk"
include: "workflow/rules/judges.smk"
include: "workflow/rules/release.smk"


rule all:
    default_target: True
    input:
        report_targets(),
        number_targets(),
        table_targets(),
        judge_targets(),
        run_targets(),
        study_targets(),
        corpus_targets(),
