"""Which optional packages (the extras of pyproject.toml), or which image, the jobs of a configuration need."""

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from favor.foundation.errors import UserError
from favor.foundation.extras import require

if TYPE_CHECKING:
    from favor.plan import Planner

BUILD = "build one with 'apptainer build favor.sif containers/favor.def' in a clone (docs/slurm.md)"


def wanted(planner: "Planner") -> Iterator[tuple[str, str]]:
    """Yield (extra, what needs it) for every optional package that the configuration needs."""
    for name, corpus in planner.config.corpora.items():
        if corpus.words == "segmented":
            yield "words", f"config key 'corpora.{name}.words': segmented"
    for name, experiment in planner.config.experiments.items():
        if "mauve" in planner.evaluation.families(name):
            yield "mauve", f"a table of the experiment '{name}' prints MAUVE, which"
        judges = experiment.studies.judges
        if judges is not None and judges.model == "endpoint":
            yield "judges", f"config key 'experiments.{name}.studies.judges'"
        for row, plan in planner.project.plans(name).items():
            if plan.prompting is not None and plan.prompting.passages:
                yield "retrieval", f"row '{row}' of the experiment '{name}'"


def check_software(planner: "Planner", deployed: Collection[str]) -> None:
    """Raise ``UserError`` where jobs would lack packages of this environment, or the image that they are to run in.

    ``deployed``: the methods of ``--software-deployment-method``, by which jobs do not run in this environment.
    """
    if "apptainer" in deployed:
        image = planner.config.image
        if image is None:
            raise UserError(f"--sdm apptainer needs config key 'image'; {BUILD}")
        if "://" not in image and not Path(image).is_file():
            raise UserError(f"config key 'image': there is no file '{image}'; {BUILD}")
    for extra, what in () if deployed else wanted(planner):
        require(extra, what)
