"""The whole configuration."""

from typing import Literal

from favor.config.experiments import Experiment
from favor.corpora.settings import Corpus
from favor.encoders.settings import Assistant, Encoder
from favor.foundation.section import Name, Section, key, required, section
from favor.lm.settings import LanguageModel
from favor.publish.settings import Release
from favor.report.settings import Names, Report
from favor.running.settings import Cluster, Threads
from favor.tables.settings import Sweep


class Configuration(Section):
    """Every key of a configuration file.

    Defaults are the paper's values, or the choice documented in docs/design.md where the paper is silent.
    """

    results: str = key("results", "Folder for everything that the workflow makes.")
    corpus_path: str | None = key(
        None, "Path of the raw corpus, for a configuration with one corpus whose own `path` is not set."
    )
    keep_uploads: bool = key(
        False,
        "Keeps what clients uploaded after it is aggregated (12 x 114 MiB per round in the paper's runs). A privacy "
        "audit keeps copies of those that it reads.",
    )
    keep_adapters: Literal["all", "first_seed", "none"] = key(
        "all",
        "Of which seeds the clients' final adapters are kept once everything that reads them is made: generating or "
        "exporting again trains those of the others again.",
    )
    fork_jobs: bool = key(
        True,
        "Forks jobs on this machine from one process that has their libraries imported, which saves each some seconds. "
        "Jobs that take a GPU, and those of conda environments and containers, start on their own.",
    )
    image: str | None = key(
        None,
        "Container image in which jobs run under `--sdm apptainer`: a file such as `favor.sif`, or an address such as "
        "`docker://registry/favor`. Build it with `containers/favor.def` or `containers/Dockerfile`.",
    )
    stel_items: int | None = key(
        None, "Certifies encoders with the first so many items of each style of STEL; null takes all 500.", ge=1
    )
    corpora: dict[Name, Corpus] = key({}, "Raw corpora by name.")
    base_models: dict[Name, LanguageModel] = key({}, "Base language models by name.")
    encoders: dict[Name, Encoder] = key({}, "Text encoders by name.")
    assistants: dict[Name, Assistant] = key({}, "Classifiers of assistant against human text by name.")
    experiments: dict[Name, Experiment] = required(
        "Experiments by name; each has a folder of its own under `results`.", min_length=1
    )
    sweeps: dict[Name, Sweep] = key({}, "Series of experiments that differ in one setting, by name.")
    accept: Names = key(
        [],
        "Stages (names of rules) whose results are kept although their code or configuration changed; one or a list.",
    )
    rerun_other_versions: bool = key(
        False, "Makes results again that other versions of torch, transformers, peft, numpy and the like have made."
    )
    report: Report = section(Report, "What tables and the report show.")
    release: Release = section(Release, "The publication bundle (`snakemake release`).")
    threads: Threads = section(Threads, "CPU threads per job, by kind of work.")
    cluster: Cluster = section(Cluster, "What jobs ask of Slurm.")
