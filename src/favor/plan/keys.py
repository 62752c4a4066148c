"""What names a job or a file: an experiment, a run, a round of a track, a batch of clients.

The protocols are met by Snakemake's wildcards and by the frozen classes here, so that every function of the planner
takes either. Seeds and numbers are text, as they stand in paths.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


class InCorpus(Protocol):
    """Something of one corpus."""

    @property
    def corpus(self) -> str:
        """Name of the corpus."""


class OfModel(Protocol):
    """Something of one base model."""

    @property
    def model(self) -> str:
        """Name of the base model."""


class OfEncoder(Protocol):
    """Something of one encoder."""

    @property
    def encoder(self) -> str:
        """Name of the encoder."""


class OfAssistant(Protocol):
    """Something of one assistant classifier."""

    @property
    def assistant(self) -> str:
        """Name of the assistant classifier."""


class InExperiment(Protocol):
    """Something of one experiment."""

    @property
    def experiment(self) -> str:
        """Name of the experiment."""


class InSeed(InExperiment, Protocol):
    """Something of one training seed of an experiment."""

    @property
    def seed(self) -> str:
        """The seed."""


class InRun(InSeed, Protocol):
    """Something of one run: one row of an experiment under one seed."""

    @property
    def method(self) -> str:
        """Key of the row."""


class InTrack(InSeed, Protocol):
    """Something of one federated trajectory, which runs with equal shared stages have in common."""

    @property
    def track(self) -> str:
        """Folder name of the trajectory (:attr:`favor.federation.method.SharedStage.track`)."""


class InRound(InTrack, Protocol):
    """Something of one round of a track."""

    @property
    def round(self) -> str:
        """The round, from 0."""


class AfterRound(InTrack, Protocol):
    """What the server makes at the end of a round."""

    @property
    def next_round(self) -> str:
        """The round that begins with it, from 1."""


class SharedJob(InRound, Protocol):
    """One job of a shared stage: some of a round's clients."""

    @property
    def batch(self) -> str:
        """The job's number within the round, from 0."""


class PersonalJob(InRun, Protocol):
    """One job of a personal stage: some of a phase's clients."""

    @property
    def phase(self) -> str:
        """ "last", or "round0" onwards where a client's participations build on one another."""

    @property
    def batch(self) -> str:
        """The job's number within the phase, from 0."""


class GenerationPart(InRun, Protocol):
    """One job of a run's generation: some of its clients."""

    @property
    def part(self) -> str:
        """The job's number, from 0."""


class OfFamily(InExperiment, Protocol):
    """The scores of one metric family."""

    @property
    def family(self) -> str:
        """Name of the family."""


class OfTable(Protocol):
    """Something of one table, of an experiment or of a sweep."""

    @property
    def label(self) -> str:
        """Label of the table."""


class OfLabel(InExperiment, Protocol):
    """One table of an experiment."""

    @property
    def label(self) -> str:
        """Label of the table."""


class OfEncoderIn(InExperiment, OfEncoder, Protocol):
    """Something of one experiment in the space of one encoder."""


class OfEncoderInRun(InRun, OfEncoder, Protocol):
    """Something of one run in the space of one encoder."""


class OfAnnotator(InExperiment, Protocol):
    """Something of one annotator of an experiment's human audit."""

    @property
    def annotator(self) -> str:
        """The annotator's number, from 1."""


class OfFigure(InExperiment, Protocol):
    """One figure of an experiment."""

    @property
    def figure(self) -> str:
        """Name of the figure."""


class InSweep(Protocol):
    """Something of one sweep."""

    @property
    def sweep(self) -> str:
        """Name of the sweep."""


class SweepLabel(InSweep, Protocol):
    """One table of a sweep."""

    @property
    def label(self) -> str:
        """Label of the table."""


@dataclass(frozen=True)
class Run:
    """One row of an experiment under one seed."""

    experiment: str
    seed: str
    method: str


@dataclass(frozen=True)
class Batch:
    """One job of a shared stage."""

    experiment: str
    seed: str
    track: str
    round: str
    batch: str


@dataclass(frozen=True)
class PersonalBatch:
    """One job of a personal stage."""

    experiment: str
    seed: str
    method: str
    phase: str
    batch: str


@dataclass(frozen=True)
class SweepTable:
    """One table of a sweep."""

    sweep: str
    label: str


@dataclass(frozen=True)
class Table:
    """One table of an experiment."""

    experiment: str
    label: str


@dataclass(frozen=True)
class Encoder:
    """One encoder."""

    encoder: str
