# What makes runs on Slurm survive what happens to them: repairs of the executor plugin where Snakemake runs, and records
# that jobs keep themselves.

from snakemake.persistence import PersistenceBase

from favor.running.slurm_plugin import repair


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


if workflow.is_main_process:
    plugin = sys.modules.get("snakemake_executor_plugin_slurm")
    if plugin is not None:
        repair(plugin, CLUSTER["poll_seconds"])
elif workflow.remote_exec:
    PersistenceBase.finished = recording(PersistenceBase.finished)
