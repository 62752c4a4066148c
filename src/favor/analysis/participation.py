"""Accuracy by the round of a client's last participation: who left early received least from the federation."""

from collections.abc import Mapping

import pandas as pd

from favor.analysis.tables import PARTICIPATION
from favor.scores.inputs import ScoreInputs
from favor.scores.prototypes import correct, predictions

NEVER = -1


def by_last_round(
    inputs: ScoreInputs, encoder: str, last: Mapping[str, Mapping[int, Mapping[str, int]]]
) -> pd.DataFrame:
    """Return the table ``participation``: surviving outputs and correct ones by last round.

    ``last``: method -> seed -> client -> round of its last participation, from 0; clients that it does not name were
    never sampled. Methods it does not name do not federate and are left out.
    """
    rows = []
    for run in inputs.runs:
        if run.method not in last:
            continue
        rounds = last[run.method][run.seed]
        outputs = predictions(inputs, encoder, run)
        right = correct(outputs["client"].to_numpy(), outputs["predicted"].to_numpy())
        for number in sorted({rounds.get(client, NEVER) for client in inputs.clients}):
            clients = [client for client in inputs.clients if rounds.get(client, NEVER) == number]
            member = outputs["client"].isin(clients)
            counts = (len(clients), int(member.sum()), int((right & member).sum()))
            rows.append((run.seed, run.method, number, *counts))
    frame = pd.DataFrame(rows, columns=PARTICIPATION.names)
    return frame.astype({"seed": "int32", "last_round": "int32", "clients": "int32"})
