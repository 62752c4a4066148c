"""What the job reads that writes the numbers of the paper's text, and what it writes."""

from typing import NotRequired, TypedDict

from favor.foundation.section import Section


class Entry(TypedDict):
    """One entry of numbers.json: ours and the paper's, None without one, and why there is none of ours.

    ``decimals``: places that the paper prints. ``baseline``, ``paper_baseline``: the row that our formula took, and the
    paper's. Of a claim: its 95 % interval, Holm's p and what may be said (:mod:`favor.analysis.claims`).
    ``strict``: the claim on FAVoR and the ``baseline``, over all outputs and by encoders that no method has seen.
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
    low: NotRequired[float]
    high: NotRequired[float]
    p: NotRequired[float]
    claim: NotRequired[str]
    strict: NotRequired["Entry"]


class ClaimSource(Section):
    """What an experiment's claims are made from: files, and what :class:`favor.report.facts.Facts` has beside them."""

    evidence: str
    voice_kept: str
    likelihood: str
    style_encoder: str
    rows: list[str]
    clients: int
    display: dict[str, str]
    seeds: int
    margin: float
    unseen: list[str]

    @property
    def files(self) -> list[str]:
        """Every file."""
        return [file for file in (self.evidence, self.voice_kept, self.likelihood) if file]


class NumberSource(Section):
    """The files that an experiment's numbers are taken from: tables by label, manifests of encoders by role.

    ``claims``: what its claims are made from.

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
    claims: ClaimSource

    @property
    def files(self) -> list[str]:
        """Every file."""
        named = (*self.tables.values(), *self.encoders.values())
        return [*named, *self.gates, self.allocation, *self.effects, *self.judges, *self.validation, *self.claims.files]


class Numbers(Section):
    """What the job reads that writes the numbers."""

    experiments: dict[str, NumberSource]
