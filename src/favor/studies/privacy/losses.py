"""What an evaluator reads out of adapters: how likely each finds texts of those who took part and of others.

The evaluator sees what no server rule does. Whether a server could have done the same is said by the view: it has the
uploads, or under secure aggregation only its own adapters; a personal adapter would have to be stolen.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from favor.federation.canaries import CARRIER, candidates, carrying, secret
from favor.federation.client_archive import State
from favor.foundation.errors import UserError
from favor.foundation.seeds import numpy_generator
from favor.inference.likelihood import Question, answer
from favor.lm.base import BaseModel
from favor.lm.lora import LoraState, from_arrays
from favor.lm.settings import Lora
from favor.lm.tasks import Piece, cut_pieces
from favor.lm.tokenizer import language_model_tokens
from favor.studies.settings import Planted, TextCutting

SERVER, UPLOAD, PERSONAL, REMADE = "server", "upload", "personal", "remade"
Texts = Mapping[str, Sequence[Piece]]  # client -> its pieces


@dataclass(frozen=True)
class Trajectory:
    """The adapters of one run of a shared track.

    server: the shared adapters A_0 to A_R. uploads: of every round the delta of each client. personal: adapters that
    clients keep, with ``personal_lora`` as their settings. remade: A_R of the run without the clients ``left``, where
    there is one. kept: of every round the endpoint of each client, where what is uploaded changes nothing alone
    (:func:`favor.federation.factors.change_output`). Tensors are read when they are used.
    """

    server: Sequence[State]
    uploads: Sequence[Mapping[str, State]]
    personal: Mapping[str, LoraState]
    personal_lora: Lora
    remade: State | None = None
    left: Sequence[str] = ()
    kept: Sequence[Mapping[str, State]] = ()

    @property
    def last_rounds(self) -> dict[str, int]:
        """The round of every client's last upload."""
        return {client: number for number, deltas in enumerate(self.uploads) for client in sorted(deltas)}

    def uploaded(self, number: int, client: str) -> State:
        """Return A_t + Delta_i of what is uploaded; other tensors are those of A_t, or those that the client kept."""
        shared, delta = self.server[number], self.uploads[number][client]
        others = self.kept[number][client] if self.kept else shared
        return {key: shared[key] + delta[key] if key in delta else others[key] for key in sorted(shared)}


def first_pieces(base: BaseModel, texts: pd.DataFrame, column: str, cutting: TextCutting) -> dict[str, list[Piece]]:
    """Return by client the first training piece of every text in ``column``: what training reads of it first.

    ``texts``: client, document_id, prompt and ``column``. A text of fewer than two tokens gives none, nor does one
    whose writing prompt fills all that training reads of it.
    """
    found: dict[str, list[Piece]] = {}
    for row in texts.sort_values(["client", "document_id"]).itertuples():
        tokens, given = language_model_tokens(base.tokenizer, str(row.prompt), str(getattr(row, column)))
        limits = (cutting.prefix_tokens, cutting.max_length, cutting.pieces)
        pieces = cut_pieces(tokens, str(row.document_id), *limits, base.opening, given)
        found.setdefault(str(row.client), []).extend(pieces[:1])
    return found


def trained_texts(texts: pd.DataFrame, most: int, seed: int) -> pd.DataFrame:
    """Return at most ``most`` of each client's texts that were trained on (table ``client_texts``), drawn by seed."""
    parts = []
    trained = texts[texts["allocated_words"] > 0].sort_values(["client", "document_id"])
    for client, own in trained.groupby("client"):
        order = numpy_generator(seed, "trained texts", str(client)).permutation(len(own))
        parts.append(own.iloc[sorted(order[:most].tolist())])
    return pd.concat(parts, ignore_index=True)


def read_losses(
    base: BaseModel, lora: Lora, run: Trajectory, fresh: Texts, trained: Texts, share: float
) -> pd.DataFrame:
    """Return the ``privacy_losses`` table, without its seed and method, of the audit's questions (docs/privacy.md).

    ``fresh``: held-out texts of the clients and of authors who took no part; ``trained``: texts that the clients
    trained on. ``share``: of the tokens, for Min-K%++.
    """
    last = run.last_rounds
    frames = []
    for number, state in enumerate(run.server):
        known = (0, len(run.server) - 1)
        asked_of = [client for client in trained if client in last and number in (*known, last[client] + 1)]
        wanted = _of(fresh, list(fresh), "fresh") + _of(trained, asked_of, "trained")
        frames.append(_read(base, lora, SERVER, number, {"": from_arrays(state)}, {"": wanted}, share))
    for number, deltas in enumerate(run.uploads):
        states = {client: from_arrays(run.uploaded(number, client)) for client in sorted(deltas)}
        asked = {client: _of(fresh, sorted(deltas), "fresh") for client in states}
        for client in states:
            asked[client] += _of(trained, [client] if last[client] == number else [], "trained")
        frames.append(_read(base, lora, UPLOAD, number, states, asked, share))
    # The thief is given the candidates of a round: the clients of the last one, and all who took no part.
    holders = [client for client in sorted(run.uploads[-1]) if client in run.personal]
    absent = [client for client in fresh if client not in last]
    for holder in holders:
        wanted = _of(fresh, [*holders, *absent], "fresh") + _of(trained, [holder], "trained")
        states = {holder: run.personal[holder]}
        frames.append(_read(base, run.personal_lora, PERSONAL, 0, states, {holder: wanted}, share))
    if run.remade is not None:
        wanted = _of(fresh, [*(client for client in run.left if client in last), *absent], "fresh")
        states = {"": from_arrays(run.remade)}
        frames.append(_read(base, lora, REMADE, len(run.server) - 1, states, {"": wanted}, share))
    return pd.concat(frames, ignore_index=True)


def _of(texts: Texts, clients: Sequence[str], kind: str) -> list[tuple[str, str, Piece]]:
    return [(client, kind, piece) for client in clients for piece in texts.get(client, ())]


def _read(
    base: BaseModel,
    lora: Lora,
    adapter: str,
    number: int,
    states: Mapping[str, LoraState],
    asked: Mapping[str, Sequence[tuple[str, str, Piece]]],
    share: float,
) -> pd.DataFrame:
    """Return the rows of one round's adapters, by holder, each asked about its (client, kind, piece)."""
    questions, rows = [], []
    for holder, wanted in asked.items():
        place: dict[tuple[str, str], int] = {}
        for client, kind, piece in wanted:
            text = place[client, kind] = place.get((client, kind), -1) + 1
            questions.append(Question(states[holder], piece))
            rows.append((adapter, number, holder, client, kind, text, len(piece) - piece.response_start))
    found = answer(base, lora, questions, share)
    frame = pd.DataFrame(rows, columns=["adapter", "round", "holder", "client", "kind", "text", "tokens"])
    return frame.assign(loss=found.loss, least=found.least)


def read_canaries(
    base: BaseModel, lora: Lora, run: Trajectory, planted: Planted, cutting: TextCutting, seed: int
) -> pd.DataFrame:
    """Return the ``privacy_canaries`` table, without its seed and method: every secret's rank among others.

    ``run``: of the track in which the secrets were planted. A candidate that is as likely as the secret counts as
    likelier. Raises ``UserError`` where training does not read a whole secret, or a secret has no token of its own.
    """
    last = run.last_rounds
    owners = sorted(last)
    secrets = [secret(seed, client) for client in owners]
    documents = secret_pieces(base, [*secrets, *candidates(seed, planted.candidates)], cutting)
    pieces = [piece for document in documents for piece in document]
    document = np.repeat(np.arange(len(documents)), [len(own) for own in documents])
    rows = []
    for adapter, number, holder, own, state in _canary_views(run, last):
        asked = [Question(state, piece) for piece in pieces]
        losses = answer(base, lora, asked).loss * [len(piece) - piece.response_start for piece in pieces]
        answers = np.bincount(document, weights=losses)
        others = answers[len(owners) :]
        for client in own:
            rank = 1 + int((others <= answers[owners.index(client)]).sum())
            rows.append((adapter, number, holder, client, planted.carriers[client], rank, planted.candidates))
    keys = ["adapter", "round", "holder", "client"]
    found = pd.DataFrame(rows, columns=[*keys, "repeats", "rank", "candidates"])
    return found.sort_values(keys, ignore_index=True)


def _canary_views(run: Trajectory, last: Mapping[str, int]) -> Iterator[tuple[str, int, str, list[str], LoraState]]:
    """Yield (adapter, round, holder, whose secrets are looked for, state)."""
    final = len(run.server) - 1
    for number, state in enumerate(run.server):
        own = sorted(last) if number in (0, final) else [one for one in sorted(last) if last[one] + 1 == number]
        if own:
            yield SERVER, number, "", own, from_arrays(state)
    for client, number in sorted(last.items()):
        yield UPLOAD, number, client, [client], from_arrays(run.uploaded(number, client))


def secret_pieces(base: BaseModel, secrets: Sequence[str], cutting: TextCutting) -> list[list[Piece]]:
    """Return of every secret the pieces of its document that hold it, as training cuts and supervises them.

    They are supervised from the first token at which two secrets can differ.
    """
    encoded = [language_model_tokens(base.tokenizer, "", carrying(one))[0] for one in secrets]
    start = len(base.tokenizer.encode(CARRIER))
    shared = min(start, *(_common(encoded[0], other) for other in encoded[1:]))
    if not all(shared < len(tokens) for tokens in encoded):
        raise UserError(
            f"model '{base.source}': its tokenizer does not tell numbers apart; set studies.privacy.canaries to null"
        )
    opening, limits = base.opening, (cutting.prefix_tokens, cutting.max_length, cutting.pieces)
    step = cutting.max_length - len(opening) - cutting.prefix_tokens  # between the starts of two windows
    found = []
    for tokens in encoded:
        pieces = []
        for number, piece in enumerate(cut_pieces(tokens, "", *limits, opening)):
            begin = max(piece.response_start, len(opening) + shared - number * step)
            if begin < len(piece):
                pieces.append(replace(piece, response_start=begin))
        if sum(len(piece) - piece.response_start for piece in pieces) != len(tokens) - shared:
            raise UserError(
                f"config key 'training.max_length': the {cutting.max_length} tokens that training reads of a text do "
                "not hold a planted secret; raise it, or set studies.privacy.canaries to null"
            )
        found.append(pieces)
    return found


def _common(one: Sequence[int], other: Sequence[int]) -> int:
    """Return how many tokens two sequences begin with in common."""
    return next((place for place, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]), len(one))
