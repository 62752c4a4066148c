# Repairs of the Slurm executor plugin, so that a run survives what happens to the cluster.

from favor.running.slurm_plugin import repair

if workflow.is_main_process:
    plugin = sys.modules.get("snakemake_executor_plugin_slurm")
    if plugin is not None:
        repair(plugin, CLUSTER["poll_seconds"])
