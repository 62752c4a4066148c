# How many GPU jobs run at once on this machine. A profile is a static file, so the number is set here.

from favor.running.devices import SHARE, WIDTHS, jobs_per_device, visible_devices

# Widths change no result, so what fitted a job's GPU is told to the next one beside the rules.
os.environ[WIDTHS] = str(Path(RESULTS).absolute() / ".widths")


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


if workflow.is_main_process:
    try:
        limit_gpu_jobs()
    except UserError as error:
        stop(error)
