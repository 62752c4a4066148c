# What has to touch Snakemake itself: GPUs of this machine, records, Slurm, local rules, threads.

from favor.running.devices.leases import WIDTHS, limit_gpu_jobs
from favor.running import command_line
from favor.running.folder import snakemake_records
from favor.running.invalidation.changes import announce_changes
from favor.running.jobs import forked
from favor.running.jobs.filled_rules import complete_rule
from favor.running.repairs.locks import keep_to_own_locks
from favor.running.repairs.scheduling import look_again_once
from favor.running.repairs.slurm_plugin import repair as repair_slurm

# Told to jobs beside the rules: what fitted a GPU, which changes no result, and the code that was planned.
os.environ[WIDTHS] = str(results.absolute() / ".widths")
os.environ[CODE] = str(results.absolute() / FOLDER)


def kept_or_temporary(path):
    """An upload goes once it is aggregated, unless the configuration keeps it."""
    return path if planner.config.keep_uploads else temp(path)


def finish_rules():
    """Fill rules in, run cheap ones where Snakemake runs, let jobs compute with the threads that are configured.

    Sums of floats depend on the number of threads, so that results would on --cores, which may grant fewer.
    """
    or_stop(costs.check_stages)(rule.name for rule in workflow.rules)
    workflow.localrules(*planner.config.cluster.local)
    for each in workflow.rules:
        if Path(each.snakefile).is_relative_to(ROOT / "workflow") and each.script:
            complete_rule(workflow, each, planner, code, parameters)
        each.resources["compute_threads"] = each.resources["_cores"].raw


if workflow.is_main_process:
    snakemake_records.refuse_unrecorded(workflow, stop)
    snakemake_records.mark_before_start()
    announce_changes(workflow, changes)
    command_line.check_command_line(workflow, targets, stop)
    for handler in workflow.logger_manager.get_log_handlers():
        if hasattr(handler, "describe"):
            handler.describe(results / "benchmarks", project.track_titles())
    forked.fork_local_jobs(workflow, planner.config.fork_jobs, results)
    look_again_once()
    keep_to_own_locks()
    or_stop(limit_gpu_jobs)(workflow)
    if plugin := sys.modules.get("snakemake_executor_plugin_slurm"):
        repair_slurm(plugin, planner.config.cluster.poll_seconds)
elif workflow.remote_exec:
    snakemake_records.record_in_jobs()


onstart:
    if workflow.is_main_process:
        end_with_jobs()
        or_stop(snakemake_records.record_outputs)(workflow, results)


onsuccess:
    if workflow.is_main_process:
        from favor.report.end_of_run import end_run

        training.erase_withdrawn(planning)
        end_run(workflow, results, ROOT, publication.printed_experiments())


onerror:
    if workflow.is_main_process:
        from favor.report.provenance import record_run

        record_run(workflow, results, ROOT, "failed")
