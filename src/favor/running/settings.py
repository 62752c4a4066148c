"""What jobs ask of Slurm and of the processor. Nothing here changes a result beyond floating-point rounding."""

from pydantic import SerializerFunctionWrapHandler, model_serializer

from favor.foundation.section import Count, Positive, Section, key

LOCAL = (
    *("make_schedule", "initialise_server", "draw_random_adapter", "record_boundary", "record_settings"),
    *("score_efficiency", "score_validation", "take_validation", "measure_participation", "make_table"),
    *("make_excerpts", "draw_figure", "collect_sweep", "make_sweep_table", "draw_sweep", "draw_overview"),
    *("write_numbers", "report", "make_2afc_page", "score_2afc", "make_gallery", "measure_utility"),
    *("score_judges", "score_stel"),
)


class Stage(Section):
    """Settings of one stage (rule), used instead of the general ones and of the estimates.

    Only keys that the file gives are part of a dump.
    """

    partition: str | None = key(None, "Partition of the stage's jobs.")
    gpu_model: str | None = key(None, "Model of their GPU.")
    memory_mb: Count = key(None, "Memory of a first attempt in MB; each further attempt doubles it.")
    minutes: Count = key(None, "Time limit of a first attempt in minutes; each further attempt doubles it.")

    @model_serializer(mode="wrap")
    def _given(self, handler: SerializerFunctionWrapHandler) -> dict[str, object]:
        return {name: value for name, value in handler(self).items() if name in self.model_fields_set}


class Cluster(Section):
    """What jobs ask of Slurm (docs/slurm.md). Changing it changes no result and reruns nothing."""

    partition: str | None = key(None, "Partition of jobs without a GPU; null takes the cluster's default.")
    gpu_partition: str | None = key(None, "Partition of jobs with a GPU; null takes `partition`.")
    account: str | None = key(None, "Account that jobs are charged to; null takes your default account.")
    gpu: bool = key(True, "Whether stages that can use a GPU (`device` auto or cuda) ask for one.")
    gpu_model: str | None = key(None, "Model of the GPU, as the cluster names it; null takes any.")
    gpu_teraflops: Positive = key(50, "Sustained speed of a GPU, for time limits.")
    cpu_teraflops: Positive = key(0.02, "Sustained speed of a CPU thread, for time limits.")
    maximum_memory_mb: Count | None = key(None, "Most memory that a job may ask for, in MB; null sets no limit.")
    maximum_minutes: Count | None = key(None, "Longest time limit that a job may ask for; null sets no limit.")
    poll_seconds: Positive | None = key(
        30, "Seconds between looks at the queue; null takes the plugin's own interval, up to 180."
    )
    stages: dict[str, Stage] = key({}, "Settings of single stages, by the name of their rule.")
    local: list[str] = key(
        list(LOCAL), "Stages that run where Snakemake runs, because they take less time than a cluster job."
    )


class Threads(Section):
    """CPU threads per job, even if `--cores` is smaller: floating-point sums depend on the number of threads."""

    pretraining: int = key(2, "Pretraining a base model.", ge=1, le=1024)
    encoder: int = key(2, "Training a style encoder.", ge=1, le=1024)
    training: int = key(1, "Shared and personal stages.", ge=1, le=1024)
    generation: int = key(1, "Generating continuations.", ge=1, le=1024)
    scoring: int = key(1, "Embedding and scoring texts.", ge=1, le=1024)
