"""What a table has to know about the experiment behind its scores."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from favor.paper.names import encoder_name

Marks = Literal["paper", "evidence"]
RowSettings = Mapping[str, bool | int | float | str]


@dataclass(frozen=True)
class Context:
    """What a table has to know about the experiment behind its scores."""

    experiment: str
    methods: Sequence[str]  # keys of the rows that the configuration runs, in its order
    dataset: str = ""  # printed section name
    paper_dataset: str = ""  # "BlogText" or "Mythos-Reddit" prints that corpus's values of the paper beside ours
    encoders: Mapping[str, str] = field(default_factory=dict)  # encoder key by role ("style": "asce_a")
    encoder_titles: Mapping[str, str] = field(default_factory=dict)  # printed name by encoder key, where it has its own
    display: Mapping[str, str] = field(default_factory=dict)  # printed name by method, where the paper does not know it
    absences: Mapping[str, str] = field(default_factory=dict)  # why a method, encoder (role or key) or metric is absent
    seeds: Sequence[int] = ()  # those that were asked for; a value behind which some are missing says so
    settings: Mapping[str, RowSettings] = field(default_factory=dict)  # as each method ran
    references: Sequence[str] = ()  # methods that do not federate
    remarks: Mapping[str, str] = field(default_factory=dict)  # sentences below a table, by the name of a row's method
    clients: int = 0
    marks: Marks = "evidence"
    unranked: Sequence[str] = ()  # methods that are printed and take no place
    prompts: int = 0  # evaluation prompts that were asked for, per seed

    def encoder_name(self, role: str) -> str:
        """Return the printed name of an encoder role or key: its own title, or else the paper's name for it."""
        return self.encoder_titles.get(self.encoders.get(role, role)) or encoder_name(role)
