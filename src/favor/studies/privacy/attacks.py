"""What each attack of the privacy audit decides on: scores of authors, texts and uploads from the losses of texts.

All read the table ``privacy_losses``; favor.studies.privacy.privacy makes statistics of them.
"""

from typing import Any

import pandas as pd

from favor.studies.privacy.losses import PERSONAL, REMADE, SERVER, UPLOAD


def sender_scores(losses: pd.DataFrame, view: str) -> list[pd.DataFrame]:
    """Return per seed and round how much each adapter of ``view`` favours each author's fresh texts over the others'.

    Columns client (the author), candidate (the adapter's holder), score: the fall of the mean loss from the server's
    adapter A_t (a personal adapter: A_0), less its mean over the other authors of the round.
    """
    fresh = losses[losses["kind"] == "fresh"]
    found = []
    own = fresh[fresh["adapter"] == view]
    for (seed, number), part in own.groupby(["seed", "round"]):
        base = fresh[(fresh["adapter"] == SERVER) & (fresh["seed"] == seed) & (fresh["round"] == number)]
        before = base.groupby("client")["loss"].mean()
        after = part[part["client"].isin(part["holder"])].groupby(["client", "holder"])["loss"].mean().unstack()
        fall = (-after).add(before.reindex(after.index), axis=0)
        if len(fall) < 2:
            continue
        others = (fall.sum(axis=0) - fall) / (len(fall) - 1)
        score = (fall - others).melt(var_name="candidate", value_name="score", ignore_index=False)
        found.append(score.reset_index())
    return found


def member_scores(losses: pd.DataFrame, view: str) -> list[pd.DataFrame]:
    """Return per seed (and round, or personal adapter) every author's score: the fall of the loss of its fresh texts.

    Columns client, score and positive. "mean": from A_t to A_{t+1}, positive are the clients of round t. "final": from
    A_0 to A_R, positive are the clients that took part. "personal": from A_0 to each personal adapter, positive is its
    holder among the authors who took no part.
    """
    fresh = losses[losses["kind"] == "fresh"]
    found = []
    for _, run in fresh.groupby("seed"):
        server = run[run["adapter"] == SERVER].groupby(["round", "client"])["loss"].mean().unstack(0)
        uploads = run[run["adapter"] == UPLOAD]
        cohorts = [set(part["holder"]) for _, part in uploads.groupby("round")]
        everyone = set(uploads["holder"])
        if view == "mean":
            steps = -server.diff(axis=1).iloc[:, 1:]
            found += [_labelled(steps.iloc[:, number], cohorts[number]) for number in range(len(cohorts))]
        elif view == "final":
            found.append(_labelled(server.iloc[:, 0] - server.iloc[:, -1], everyone))
        else:
            for holder, part in run[run["adapter"] == PERSONAL].groupby("holder"):
                fall = server.iloc[:, 0] - part.groupby("client")["loss"].mean()
                own = [client for client in fall.dropna().index if client == holder or client not in everyone]
                found.append(_labelled(fall[own], {holder}))
    return found


def leaver_scores(losses: pd.DataFrame, view: str) -> list[pd.DataFrame]:
    """Return per seed the fall of the loss of fresh texts from A_0 to A_R, of those who left and those never there.

    Columns as of :func:`member_scores`; positive are those who left. "before": A_R of the run that they took part in,
    "after": of the run that was made again without them.
    """
    fresh = losses[losses["kind"] == "fresh"]
    found = []
    for _, run in fresh.groupby("seed"):
        remade = run[run["adapter"] == REMADE].groupby("client")["loss"].mean()
        server = run[run["adapter"] == SERVER].groupby(["round", "client"])["loss"].mean().unstack(0)
        if len(remade):
            last = server.iloc[:, -1] if view == "before" else remade
            took_part = set(run.loc[run["adapter"] == UPLOAD, "holder"])
            found.append(_labelled((server.iloc[:, 0] - last)[remade.index], took_part))
    return found


def _labelled(fall: pd.Series, members: set[Any]) -> pd.DataFrame:
    frame = fall.dropna().rename("score").rename_axis("client").reset_index()
    return frame.assign(positive=frame["client"].isin(members))


def text_scores(losses: pd.DataFrame, view: str, column: str, sign: float) -> list[pd.DataFrame]:
    """Return per seed the texts of the clients that took part, trained on (positive) and fresh: their scores.

    The score is how much ``column`` falls (``sign`` 1) or rises (-1) from A_0 to the adapter of ``view``, less the mean
    over the author's texts: the attacker is given a pile by one author. The adapter is that of the client's own last
    upload, the server's after it, the final one, or the client's own personal adapter.
    """
    keys = ["client", "kind", "text"]
    found = []
    for _, run in losses.groupby("seed"):
        uploads = run[run["adapter"] == UPLOAD]
        last = uploads.groupby("holder")["round"].max()
        server = run[run["adapter"] == SERVER]
        first, final = server["round"].min(), server["round"].max()
        own = run["client"] == run["holder"]
        after = {
            UPLOAD: run[(run["adapter"] == UPLOAD) & own & (run["round"] == run["client"].map(last))],
            "mean": server[server["round"] == server["client"].map(last) + 1],
            "final": server[(server["round"] == final) & server["client"].isin(last.index)],
            PERSONAL: run[(run["adapter"] == PERSONAL) & own],
        }[view]
        before = server[server["round"] == first].set_index(keys)[column]
        joined = after.set_index(keys)[column].rename("after").to_frame().join(before.rename("before"), how="inner")
        frame = joined.reset_index()
        frame = frame[frame.groupby("client")["kind"].transform("nunique") == 2]
        if len(frame):
            fall = sign * (frame["before"] - frame["after"])
            score = fall - fall.groupby(frame["client"]).transform("mean")
            found.append(frame[["client"]].assign(score=score, positive=frame["kind"] == "trained"))
    return found
