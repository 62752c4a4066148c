# What stands before every rule: the configuration, the planner, and code fingerprints. Decisions are in favor.plan.

import gc
import os
import sys
from functools import partial
from pathlib import Path

# The checkout, or what stands for it in an installed package (which has no folder "src").
ROOT = Path(str(workflow.current_basedir)).parents[1]

# This file and the scripts import the package from the checkout, whichever environment runs them.
sys.path.insert(0, str(ROOT / "src"))

# What planning makes is kept: looking for garbage after every 700 objects took a tenth of its time.
gc.set_threshold(200_000)

from favor.config.availability import announce, input_paths, local_paths, to_fetch
from favor.config.files import check_files
from favor.config.resolve import resolve
from favor.foundation.errors import UserError
from favor.foundation.registry import PACKAGE_ROOT as SOURCE
from favor.foundation.section import check_known
from favor.plan import Planner
from favor.running.jobs.environment import export_source, only_planning
from favor.running.ending import end_with_jobs, end_without_traceback
from favor.running.invalidation.changes import Changes
from favor.running.invalidation.fingerprint import PRELOADED, source_code
from favor.running.invalidation.job_inputs import CODE, FOLDER, job_parameters, refuse_other_corpora
from favor.running.folder.occupancy import name_results
from favor.running.folder.results_folder import open_results


def stop(error):
    """End the workflow with one line."""
    print(f"error: {error}", file=sys.stderr)
    os._exit(1)


export_source(ROOT / "src")
if workflow.is_main_process:
    end_without_traceback()

try:
    if workflow.is_main_process:
        check_files(workflow.configfiles)
    planner = Planner(resolve(config), ROOT)
    results, accepted = Path(planner.config.results), planner.config.accept
    stages = [path.stem for path in (ROOT / "workflow" / "scripts").glob("*.py")]
    check_known(accepted, stages, "accept", "stage")
    planning = only_planning(sys.argv[1:])
    source = source_code(SOURCE)
    changes = Changes(results, source, accepted, planner.config.rerun_other_versions, planning)
    parameters = partial(job_parameters, planner.config.results, local_paths(planner.config), changes.identities)
    name_results(None if workflow.remote_exec else results)
    if workflow.is_main_process:
        fetched = to_fetch(planner.config)  # refuses folders that do not exist
        # Lint reads rules alone, also where nothing but Snakemake is installed.
        if "--lint" not in sys.argv:
            deployed = workflow.deployment_settings.deployment_method
            planner.targets.check_software([str(way) for way in deployed])
        open_results(results, ROOT, input_paths(planner.config), planning)
        refuse_other_corpora(results, planner.project.corpus_paths(), planning)
        planner.training.erase_withdrawn(planning)
        announce(planner.project.absent.values(), fetched)
except UserError as error:
    stop(error)

paths, project, threads = planner.paths, planner.project, planner.config.threads
preparation, training, records = planner.preparation, planner.training, planner.records
studies, tables, evaluation = planner.studies, planner.tables, planner.evaluation
exports, privacy, likelihood = planner.exports, planner.privacy, planner.likelihood
sweeps, figures, publication = planner.sweeps, planner.figures, planner.publication
costs, targets = planner.costs, planner.targets


wildcard_constraints:
    **project.wildcards,


def or_stop(function):
    """A function whose refusal ends the workflow with one line, before any job runs."""

    def tried(*arguments):
        try:
            return function(*arguments)
        except UserError as error:
            if workflow.persistence is not None:
                workflow.persistence.unlock()
            stop(error)

    return tried


@or_stop
def code(stage, *modules):
    """Fingerprint of a stage's script and what it can reach; ``modules`` are loaded by name at run time."""
    return source.fingerprint(stage, (*modules, PRELOADED))
