# What has to touch Snakemake itself: GPUs of this machine, records, Slurm, local rules, threads.

from snakemake.persistence import PersistenceBase
from snakemake.settings.enums import RerunTrigger

from favor.running.devices import SHARE, WIDTHS, jobs_per_device, visible_devices
from favor.running.slurm_plugin import repair

# Widths change no result, so what fitted a job's GPU is told to the next one beside the rules.
os.environ[WIDTHS] = str(Path(paths.results).absolute() / ".widths")


def kept_or_temporary(path):
    """An upload goes once it is aggregated, unless the configuration keeps it."""
    return path if planner.config.keep_uploads else temp(path)


def limit_gpu_jobs():
    """Let as many jobs with the resource 'gpu' run here as there are GPUs; '--resources gpu=N' goes before."""
    devices = visible_devices()
    if not devices:
        return
    if "gpu" not in workflow.global_resources:
        workflow.register_resource("gpu", len(devices))
        # The limit is this machine's: it does not hold for jobs that are sent to a cluster.
        workflow.resource_scopes.update({"gpu": "local"})
    jobs = int(workflow.global_resources["gpu"].value)
    os.environ[SHARE] = str(jobs_per_device(jobs, len(devices)))


def recorded(has_metadata):
    """Refuse a file that nothing on record vouches for, unless parameters are not asked after."""

    def checked(self, job):
        known = has_metadata(self, job)
        asked = RerunTrigger.PARAMS in workflow.rerun_triggers
        # What is missing is made anyway.
        if not known and asked and all(os.path.lexists(path) for path in job.output):
            path = next(path for path in job.output if self.metadata(path) is None)
            stop(
                f"{path}: nothing on record says which settings it was made with (copied results, or a lost folder "
                ".snakemake), so it may not fit the configuration; copy the .snakemake of the folder it was made in, under "
                "the same names, or make the results anew in another folder ('results: ...'); to trust files as they are, "
                "add --rerun-triggers mtime"
            )
        return known

    return checked


def recording(finished):
    """Let a cluster job record its own parameters.

    Snakemake leaves that to the process that submitted the job. Where that one is gone when the job ends, the output
    would count as finished with no parameters on record, and no later change of them would make it again.
    """

    async def finished_and_recorded(self, job):
        settings = self.dag.workflow.remote_execution_settings
        immediate = settings.immediate_submit
        settings.immediate_submit = (
            True  # jobs that nobody waits for: each records itself
        )
        try:
            await finished(self, job)
        finally:
            settings.immediate_submit = immediate

    return finished_and_recorded


def finish_rules():
    """Run cheap rules where Snakemake runs; let every job compute with the threads it is configured with.

    Sums of floats depend on the number of threads, so that results would on --cores, which may grant fewer.
    """
    try:
        costs.check_stages(rule.name for rule in workflow.rules)
    except UserError as error:
        stop(error)
    workflow.localrules(*planner.config.cluster.local)
    for each in workflow.rules:
        each.resources["compute_threads"] = each.resources["_cores"].raw


if workflow.is_main_process:
    PersistenceBase.has_metadata = recorded(PersistenceBase.has_metadata)
    try:
        limit_gpu_jobs()
    except UserError as error:
        stop(error)
    plugin = sys.modules.get("snakemake_executor_plugin_slurm")
    if plugin is not None:
        repair(plugin, planner.config.cluster.poll_seconds)
elif workflow.remote_exec:
    PersistenceBase.finished = recording(PersistenceBase.finished)
