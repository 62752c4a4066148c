"""What the job reads that writes the numbers of the paper's text, and what it writes."""

from typing import NotRequired, TypedDict

from favor.foundation.section import Section


class Entry(TypedDict):
    """One entry of numbers.json: ours and the paper's, None without one, and why there is none of ours.

    ``decimals``: places that the paper prints. ``baseline``, ``paper_baseline``: the row that our formula took, and the
    paper's.
    """

    key: str
    what: str
    where: str
    decimals: int
    value: float | None
    paper: float | None
    reason: NotRequired[str]
    baseline: NotRequired[str]
    paper_baseline: NotRequired[str]


class NumberSource(Section):
    """The files that an experiment's numbers are taken from: tables by label, manifests of encoders by role.

    ``participations``: of a client, on average; ``paper_dataset``: "" for none; ``whole``: whether it has the main
    table, about which the paper's text is; a study has the numbers of its own tables.
    """

    tables: dict[str, str]
    gates: list[str]
    allocation: str
    effects: list[str]
    judges: list[str]
    validation: list[str]
    participations: float
    encoders: dict[str, str]
    paper_dataset: str
    whole: bool

    @property
    def files(self) -> list[str]:
        """Every file."""
        named = (*self.tables.values(), *self.encoders.values())
        return [*named, *self.gates, self.allocation, *self.effects, *self.judges, *self.validation]


class Numbers(Section):
    """What the job reads that writes the numbers."""

    experiments: dict[str, NumberSource]
