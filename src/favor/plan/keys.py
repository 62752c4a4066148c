"""What names a job or a file: its wildcards."""

from types import SimpleNamespace


class Key(SimpleNamespace):
    """Wildcards by name: ``Key(experiment="demo", seed=1, method="favor")`` is a run.

    Snakemake's wildcards have the same attributes, so that every function of the planner takes either. A value is text,
    as it stands in paths; rounds, batches and parts count from 0. Two keys are equal if all their wildcards are.
    """

    corpus: str
    model: str
    encoder: str
    assistant: str
    sweep: str
    experiment: str
    seed: str
    method: str  # the key of a row
    track: str  # one federated trajectory (:attr:`favor.federation.method.SharedStage.track`)
    round: str
    next_round: str  # the round that begins with what the server made, from 1
    phase: str  # of a personal stage: "last", or "round0" onwards where a client's participations build on one another
    batch: str  # some of the clients of a round or of a phase
    stage: str  # "shared" or "personal"
    part: str  # some of the clients that a run generates for
    family: str
    label: str  # of a table
    figure: str

    def __init__(self, **wildcards: object) -> None:
        super().__init__(**{name: str(value) for name, value in wildcards.items()})

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(tuple(sorted(vars(self).items())))


def run_key(experiment: str, seed: object, method: str) -> Key:
    return Key(experiment=experiment, seed=seed, method=method)
