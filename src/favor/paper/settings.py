"""Settings of the job that writes the numbers of the paper's text, and what it writes."""

from itertools import chain
from typing import NotRequired, TypedDict

from favor.foundation.section import Section


class Entry(TypedDict):
    """One entry of numbers.json: ours and the paper's, None without one, and why there is none of ours.

    ``decimals``: places that the paper prints. ``baseline``, ``paper_baseline``: the row that our formula took, and the
    paper's. Of a claim: its 95 % interval, Holm's p and what may be said (:mod:`favor.analysis.claims`), and of
    a difference that in each seed. ``voice``, ``known``: whether a rate above chance is a voice, which neither prompts
    nor forgetting give (:mod:`favor.report.facts`); ``gains``: of the adapters, in nats per token, with their ends.
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
    by_seed: NotRequired[list[float]]
    voice: NotRequired[bool]
    known: NotRequired[bool]
    gains: NotRequired[dict[str, list[float]]]
    strict: NotRequired["Entry"]


class Claimed(Section):
    """What an experiment's claims are made with, beside its evidence: see :class:`favor.report.facts.Facts`.

    ``clients``: that remain; ``prompts_per_client``: as asked for; ``display``: printed names; ``unseen``: encoders
    that no method was trained with; ``margin``: of `report`; ``families``: of its scores.
    """

    style_encoder: str
    seeds: list[int]
    clients: int
    prompts_per_client: int
    rows: list[str]
    display: dict[str, str]
    unseen: list[str]
    margin: float
    families: list[str]


class NumberSource(Section):
    """The files that an experiment's numbers are taken from: tables by label, manifests of encoders by role.

    ``evidence``: of its claims; ``participations``: of a client, on average; ``paper_dataset``: "" for none; ``whole``:
    whether it has the main table, about which the paper's text is; a study has the numbers of its own tables.
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
    evidence: list[str]
    claims: Claimed

    @property
    def files(self) -> list[str]:
        """Every file."""
        named = (*self.tables.values(), *self.encoders.values())
        listed = (self.gates, [self.allocation], self.effects, self.judges, self.validation, self.evidence)
        return [*named, *chain.from_iterable(listed)]


class Numbers(Section):
    """Settings of the job that writes the numbers."""

    results: str
    experiments: dict[str, NumberSource]
