"""What the jobs read that compare rows."""

from favor.scores.settings import FilteredOutputs, Seeds, Spaces
from favor.statistics.settings import Bootstrap


class Compared(Seeds, Spaces):
    """Settings of the job that compares the pairs of a table.

    ``pairs``: of rows; ``metrics``: the encoders that each is taken in; ``exact``: metrics that print an exact p.
    """

    pairs: list[tuple[str, str]]
    metrics: dict[str, list[str]]
    exact: tuple[str, ...]
    bootstrap: Bootstrap


class ComparedRows(FilteredOutputs, Spaces):
    """Settings of the job that compares all rows in pairs. ``unseen``: encoders that no method was trained with."""

    bootstrap: Bootstrap
    unseen: list[str]


class Participation(Seeds):
    """Settings of the job that counts correct outputs by last participation.

    ``last_rounds``: by row that federates, seed and client, the round of its last participation.
    """

    style_encoder: str
    last_rounds: dict[str, dict[str, dict[str, int]]]
