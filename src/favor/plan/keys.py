"""What names a job or a file: an experiment, a run, a round of a track, a batch of clients.

Snakemake's wildcards have the same attributes, so that every function of the planner takes either. Seeds and numbers
are text, as they stand in paths; rounds, batches and parts count from 0.
"""

from dataclasses import dataclass
from typing import dataclass_transform


@dataclass_transform(frozen_default=True)
class Key:
    """What every key is: a frozen dataclass of its annotated names."""

    def __init_subclass__(cls) -> None:
        dataclass(frozen=True)(cls)


class InCorpus(Key):
    """Something of one corpus."""

    corpus: str


class OfModel(Key):
    """Something of one base model."""

    model: str


class Encoder(Key):
    """Something of one encoder."""

    encoder: str


class OfAssistant(Key):
    """Something of one assistant classifier."""

    assistant: str


class InExperiment(Key):
    """Something of one experiment."""

    experiment: str


class InSeed(InExperiment):
    """Something of one training seed of an experiment."""

    seed: str


class Run(InSeed):
    """One row of an experiment, by its key, under one seed."""

    method: str


class InTrack(InSeed):
    """Something of one federated trajectory, by its folder (:attr:`favor.federation.method.SharedStage.track`)."""

    track: str


class InRound(InTrack):
    """Something of one round of a track."""

    round: str


class AfterRound(InTrack):
    """What the server makes at the end of a round: the round that begins with it, from 1."""

    next_round: str


class Batch(InRound):
    """One job of a shared stage: some of a round's clients."""

    batch: str


class PersonalBatch(Run):
    """One job of a personal stage: some of a phase's clients.

    phase: "last", or "round0" onwards where a client's participations build on one another.
    """

    phase: str
    batch: str


class StageOfRun(Run):
    """One stage of a run: "shared" or "personal"."""

    stage: str


class GenerationPart(Run):
    """One job of a run's generation: some of its clients."""

    part: str


class OfFamily(InExperiment):
    """The scores of one metric family."""

    family: str


class Table(InExperiment):
    """One table of an experiment."""

    label: str


class OfEncoderIn(InExperiment, Encoder):
    """Something of one experiment in the space of one encoder."""


class OfEncoderInRun(Run, Encoder):
    """Something of one run in the space of one encoder."""


class OfFigure(InExperiment):
    """One figure of an experiment."""

    figure: str


class InSweep(Key):
    """Something of one sweep."""

    sweep: str


class SweepTable(InSweep):
    """One table of a sweep."""

    label: str
