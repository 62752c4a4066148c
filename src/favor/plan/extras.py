"""Which optional packages (the extras of pyproject.toml) a configuration needs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from favor.foundation.extras import require

if TYPE_CHECKING:
    from favor.plan import Planner


def wanted(planner: Planner) -> Iterator[tuple[str, str]]:
    """Yield (extra, what needs it) for everything that the configuration asks for."""
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


def check_extras(planner: Planner) -> None:
    """Raise ``UserError`` where the configuration asks for what needs packages that are not installed."""
    for extra, what in wanted(planner):
        require(extra, what)
