# Results whose records are somewhere else. Snakemake keeps under .snakemake what every file was made with; where that is
# missing it takes a file for up to date, whatever the configuration has become.

from snakemake.persistence import PersistenceBase
from snakemake.settings.enums import RerunTrigger


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


if workflow.is_main_process:
    PersistenceBase.has_metadata = recorded(PersistenceBase.has_metadata)
