"""FAVoR Workflow: federated personalised text generation, measured, from raw posts to the paper's tables."""

from snakemake.utils import min_version

min_version("9.0")

# A configuration named on the command line replaces the embedded demo; keys it leaves out take the paper's values.
if not workflow.overwrite_configfiles:

    configfile: f"{workflow.basedir}/config/config.yaml"


include: "workflow/functions/common.smk"
include: "workflow/functions/devices.smk"
include: "workflow/functions/resources.smk"
include: "workflow/functions/provenance.smk"
include: "workflow/functions/slurm.smk"
include: "workflow/functions/runs.smk"
include: "workflow/functions/prompting.smk"
include: "workflow/functions/records.smk"
include: "workflow/functions/outputs.smk"
include: "workflow/functions/sweeps.smk"
include: "workflow/functions/measures.smk"
include: "workflow/functions/transfer.smk"
include: "workflow/functions/human_2afc.smk"
include: "workflow/functions/judges.smk"
include: "workflow/functions/release.smk"
include: "workflow/rules/corpora.smk"
include: "workflow/rules/encoders.smk"
include: "workflow/rules/federation.smk"
include: "workflow/rules/generation.smk"
include: "workflow/rules/prompting.smk"
include: "workflow/rules/scores.smk"
include: "workflow/rules/transfer.smk"
include: "workflow/rules/statistics.smk"
include: "workflow/rules/tables.smk"
include: "workflow/rules/sweeps.smk"
include: "workflow/rules/exports.smk"
include: "workflow/rules/human_2afc.smk"
include: "workflow/rules/judges.smk"
include: "workflow/rules/release.smk"


keep_local()
fix_threads()


rule all:
    default_target: True
    input:
        report_targets(),
        number_targets(),
        table_targets(),
        sweep_table_targets(),
        judge_targets(),
        run_targets(),
        study_targets(),
        corpus_targets(),
