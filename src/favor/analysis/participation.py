"""Accuracy by the round of a client's last participation: who left early received least from the federation."""

from collections.abc import Mapping

import pandas as pd

from favor.analysis.schemas import PARTICIPATION
from favor.scores.inputs import ScoreInputs
from favor.scores.prototypes import run_figures

NEVER = -1


def by_last_round(
    inputs: ScoreInputs, encoder: str, last: Mapping[str, Mapping[int, Mapping[str, int]]]
) -> pd.DataFrame:
    """Return the table ``participation``: surviving outputs and correct ones by client, with its last round.

    ``last``: method -> seed -> client -> round of its last participation, from 0; clients that it does not name were
    never sampled. Methods it does not name do not federate and are left out.
    """
    rows = []
    for run in inputs.runs:
        if run.method not in last:
            continue
        rounds = last[run.method][run.seed]
        right = run_figures(inputs, encoder, run)["correct"].to_numpy()
        for client in inputs.clients:
            own = right[(run.survivors["client"] == client).to_numpy()]
            rows.append((run.seed, run.method, client, rounds.get(client, NEVER), len(own), int(own.sum())))
    return pd.DataFrame(rows, columns=PARTICIPATION.names).astype({"seed": "int32", "last_round": "int32"})
