"""What names a job or a file: an experiment, a run, a round of a track, a batch of clients.

Snakemake's wildcards have the same attributes, so that every function of the planner takes either. Seeds and numbers
are text, as they stand in paths; rounds, batches and parts count from 0.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class InCorpus:
    """Something of one corpus."""

    corpus: str


@dataclass(frozen=True)
class OfModel:
    """Something of one base model."""

    model: str


@dataclass(frozen=True)
class Encoder:
    """Something of one encoder."""

    encoder: str


@dataclass(frozen=True)
class OfAssistant:
    """Something of one assistant classifier."""

    assistant: str


@dataclass(frozen=True)
class InExperiment:
    """Something of one experiment."""

    experiment: str


@dataclass(frozen=True)
class InSeed(InExperiment):
    """Something of one training seed of an experiment."""

    seed: str


@dataclass(frozen=True)
class Run(InSeed):
    """One row of an experiment, by its key, under one seed."""

    method: str


@dataclass(frozen=True)
class InTrack(InSeed):
    """Something of one federated trajectory, by its folder (:attr:`favor.federation.method.SharedStage.track`)."""

    track: str


@dataclass(frozen=True)
class InRound(InTrack):
    """Something of one round of a track."""

    round: str


@dataclass(frozen=True)
class AfterRound(InTrack):
    """What the server makes at the end of a round: the round that begins with it, from 1."""

    next_round: str


@dataclass(frozen=True)
class Batch(InRound):
    """One job of a shared stage: some of a round's clients."""

    batch: str


@dataclass(frozen=True)
class PersonalBatch(Run):
    """One job of a personal stage: some of a phase's clients.

    phase: "last", or "round0" onwards where a client's participations build on one another.
    """

    phase: str
    batch: str


@dataclass(frozen=True)
class GenerationPart(Run):
    """One job of a run's generation: some of its clients."""

    part: str


@dataclass(frozen=True)
class OfFamily(InExperiment):
    """The scores of one metric family."""

    family: str


@dataclass(frozen=True)
class Table(InExperiment):
    """One table of an experiment."""

    label: str


@dataclass(frozen=True)
class OfEncoderIn(InExperiment, Encoder):
    """Something of one experiment in the space of one encoder."""


@dataclass(frozen=True)
class OfEncoderInRun(Run, Encoder):
    """Something of one run in the space of one encoder."""


@dataclass(frozen=True)
class OfFigure(InExperiment):
    """One figure of an experiment."""

    figure: str


@dataclass(frozen=True)
class InSweep:
    """Something of one sweep."""

    sweep: str


@dataclass(frozen=True)
class SweepTable(InSweep):
    """One table of a sweep."""

    label: str
