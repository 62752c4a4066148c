# What has to touch Snakemake itself: GPUs of this machine, records, Slurm, local rules, threads.

from snakemake.io import strip_wildcard_constraints

from favor.running.invalidation.code_check import CODE
from favor.running.devices.leases import WIDTHS, limit_gpu_jobs
from favor.running.invalidation import announcing, provenance
from favor.running.jobs import forked, job_lines
from favor.running.repairs.snakemake import repair_snakemake
from favor.running.repairs.slurm_plugin import repair as repair_slurm

# Told to jobs beside the rules: what fitted a GPU, which changes no result, and the code that was planned.
os.environ[WIDTHS] = str(results.absolute() / ".widths")
os.environ[CODE] = str(results.absolute() / FOLDER)


def or_stop(function):
    """An input function whose refusal ends the workflow with one line, before any job runs."""

    def files(wildcards):
        try:
            return function(wildcards)
        except UserError as error:
            workflow.persistence.unlock()
            stop(error)

    return files


def kept_or_temporary(path):
    """An upload goes once it is aggregated, unless the configuration keeps it."""
    return path if planner.config.keep_uploads else temp(path)


def fill_in(each):
    """Fill in what follows from a script's name and is not said: log, benchmark, resources, fingerprint of the code.

    With the calls that Snakemake's own loader makes. What a rule says itself stays. All of it goes into its description
    too, from which "use rule" of a workflow around this one starts.
    """
    stage, said = Path(each.script).stem, each.ruleinfo
    output = strip_wildcard_constraints(each.output[0])
    if said.log is None:
        workflow.log(paths.log(stage, output))(said)
        each.log_modifier = said.log.modifier
        each.set_log(*said.log.paths)
    if said.benchmark is None:
        workflow.benchmark(paths.benchmark(stage, output))(said)
        each.benchmark_modifier = said.benchmark.modifier
        each.benchmark = said.benchmark.paths
    if said.resources is None:
        given = workflow.resource_settings.overwrite_resources.get(each.name, {})
        workflow.resources(**asks(stage))(said)
        each.resources.update(said.resources[1])
        each.resources.update(given)
    if "code" not in each.params.keys():
        positional, named = said.params or ((), {})
        workflow.params(*positional, **named, code=code(stage))(said)
        each.set_params(code=said.params[1]["code"])


def finish_rules():
    """Fill rules in, run cheap ones where Snakemake runs, let jobs compute with the threads that are configured.

    Sums of floats depend on the number of threads, so that results would on --cores, which may grant fewer.
    """
    try:
        costs.check_stages(rule.name for rule in workflow.rules)
    except UserError as error:
        stop(error)
    workflow.localrules(*planner.config.cluster.local)
    for each in workflow.rules:
        if Path(each.snakefile).is_relative_to(ROOT / "workflow") and each.script:
            fill_in(each)
        each.resources["compute_threads"] = each.resources["_cores"].raw


if workflow.is_main_process:
    provenance.record_what_is_given(source_code(SOURCE))
    provenance.refuse_unrecorded(workflow, stop)
    announcing.announce_changes(workflow, changes, planning)
    announcing.check_targets(workflow, targets, stop)
    if not (planning or workflow.output_settings.verbose):
        job_lines.one_line_per_job(results / "benchmarks", project.track_titles())
    forked.fork_local_jobs(workflow, planner.config.fork_jobs, results)
    repair_snakemake()
    try:
        limit_gpu_jobs(workflow)
    except UserError as error:
        stop(error)
    if plugin := sys.modules.get("snakemake_executor_plugin_slurm"):
        repair_slurm(plugin, planner.config.cluster.poll_seconds)
elif workflow.remote_exec:
    provenance.record_in_jobs(source_code(SOURCE))


onstart:
    if workflow.is_main_process:
        or_stop(lambda _: provenance.record_outputs(workflow, results))(None)


onsuccess:
    if workflow.is_main_process:
        from favor.report.closing import end_run

        training.erase_withdrawn(planning)
        end_run(workflow, results, ROOT, publication.printed_experiments())


onerror:
    if workflow.is_main_process:
        from favor.report.provenance import record_run

        record_run(workflow, results, ROOT, "failed")
