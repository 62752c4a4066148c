# What Snakemake has on record of the results, and the record of what the workflow made.

from favor.running.announcing import announce_changes
from favor.running.provenance import record_in_jobs, record_outputs, refuse_unrecorded

if workflow.is_main_process:
    refuse_unrecorded(workflow, stop)
    announce_changes(workflow, CHANGES, only_planning(sys.argv[1:]))
elif workflow.remote_exec:
    record_in_jobs()


onstart:
    if workflow.is_main_process:
        try:
            record_outputs(workflow, Path(RESULTS))
        except UserError as error:
            workflow.persistence.unlock()
            stop(error)
