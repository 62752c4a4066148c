"""Local stages: from a client's texts, a starting adapter and an objective to the adapter the stage ends with.

The same driver runs shared and personal stages; what differs is data (:mod:`favor.federation.method`). All clients of
a job are handed to the engine together, which trains them stacked over one frozen base model.
"""

import dataclasses
import math
import sys
from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
import torch

from favor.federation.client_archive import State
from favor.federation.gates import ClientGate
from favor.federation.method import POOLED, PersonalStage, SharedStage
from favor.federation.ranks import at_rank, rank_of
from favor.federation.schemas import REQUESTS, TRAINING_LOG
from favor.federation.settings import StagePieces, StageTraining
from favor.federation.stages import StageClient
from favor.foundation.errors import UserError
from favor.foundation.parquet import read_parquet, read_row_groups
from favor.foundation.seeds import derive_seed, numpy_generator
from favor.lm.base import BaseModel
from favor.lm.batch_limits import WidthMemory
from favor.lm.lora import LoraState, from_arrays
from favor.lm.resuming import Checkpoint
from favor.lm.settings import WeightedAlignment
from favor.lm.tasks import ClientResult, ClientTask, Piece, cut_pieces
from favor.lm.tokenizer import language_model_tokens
from favor.lm.training import count_steps, train
from favor.running.jobs.progress import Progress

# What cuts the texts in a column into pieces.
Cut = Callable[[BaseModel, pd.DataFrame, str, StagePieces], list[Piece]]


def continued(base: BaseModel, texts: pd.DataFrame, column: str, settings: StagePieces) -> list[Piece]:
    """Cut the texts in ``column``, each after its writing prompt, into pieces, in the order of client and document."""
    prefix_tokens, max_length, cut = settings.prefix_tokens, settings.training.max_length, settings.training.pieces
    every = settings.training.supervised == "all"
    texts = texts.sort_values(["client", "document_id"])
    pieces: list[Piece] = []
    for document_id, prompt, text in zip(texts["document_id"], texts["prompt"], texts[column], strict=True):
        tokens, given = language_model_tokens(base.tokenizer, prompt, text)
        pieces += cut_pieces(tokens, document_id, prefix_tokens, max_length, cut, base.opening, 0 if every else given)
    longest = max(map(len, pieces), default=0)
    if longest > base.context:
        raise UserError(
            f"training.max_length: a text has {longest} tokens of {max_length}, but model '{base.source}' reads "
            f"{base.context} at most; lower it"
        )
    return pieces


def client_pieces(
    base: BaseModel, texts: pd.DataFrame, client: str, settings: StagePieces, cut: Cut = continued
) -> list[Piece]:
    """Cut the texts a client trains on into training pieces.

    ``texts`` is the table ``client_texts``; the client "pooled" stands for all of them.
    Raises ``UserError`` where a client has nothing to train on.
    """
    own = texts[texts["allocated_words"] > 0]
    if client != POOLED:
        own = own[own["client"] == client]
    prefix_tokens, max_length, opening = settings.prefix_tokens, settings.training.max_length, base.opening
    if prefix_tokens + len(opening) >= max_length:
        raise UserError(
            f"training.max_length: {max_length} tokens hold no more than the prefix of {prefix_tokens} and what the "
            f"model's texts begin with ({len(opening)}); raise it"
        )
    pieces = cut(base, own, "training_text", settings)
    if not pieces:
        raise UserError(
            f"{client}: no text to train on; raise its allocation, or training.max_length where writing prompts fill "
            "it, or leave it out of the roster"
        )
    return pieces


def validation_pieces(
    base: BaseModel, texts: pd.DataFrame, client: str, settings: StagePieces, seed: int, cut: Cut = continued
) -> list[Piece]:
    """Return the first piece of each validation text of a client; none without ``validation``.

    At most ``texts_per_client`` are read, drawn by (``seed``, client) whatever the method or stage; of the client
    "pooled" so many of every client. So a reading takes no more than ``max_length`` tokens per text, however long texts
    are. A client that has none is named on stderr.
    """
    section = settings.training.validation
    if section is None:
        return []
    held_out = texts[texts["split"] == "validation"]
    if client != POOLED:
        held_out = held_out[held_out["client"] == client]
    chosen = [held_out.iloc[:0]]
    for name, own in held_out.sort_values("document_id").groupby("client"):
        order = numpy_generator(seed, "validation texts", str(name)).permutation(len(own))
        chosen.append(own.iloc[sorted(order[: section.texts_per_client].tolist())])
    first: dict[str, Piece] = {}
    for piece in cut(base, pd.concat(chosen), "text", settings):
        first.setdefault(piece.document_id, piece)
    if not first:
        print(f"{client}: no validation text that can be read; its log has no validation loss", file=sys.stderr)
    return list(first.values())


def run_stage(
    base: BaseModel,
    clients: Sequence[StageClient],
    texts: pd.DataFrame,
    stage: SharedStage | PersonalStage,
    settings: StageTraining,
    name: str,
    seed: int,
    label: str = "",
    checkpoint: Checkpoint | None = None,
    cut: Cut = continued,
) -> list[ClientResult]:
    """Train ``clients`` with the language model and return their results in the same order.

    ``name`` is "shared" or "personal", ``label`` what progress lines call the stage. ``checkpoint``: where the stage of
    one client is saved after every pass, and goes on (:func:`favor.lm.training.train`). ``cut``: what makes pieces of
    texts, where they are not continued as they stand. Every random stream is named by
    (seed, name, round, client): neither the method nor the packing of clients into jobs changes a draw.

    With ``stage.ranks`` a client starts, is anchored and ends at its own rank. It is trained with zeros up to the
    largest, so that all are stacked: where a row of A and its column of B are zero, so are their gradients.
    """
    objective = stage.objective
    residual = isinstance(stage, PersonalStage) and stage.residual
    tasks = []
    converted: dict[tuple[int, int | None], dict[str, torch.Tensor]] = {}
    ranks = {client.name: rank_of(stage.ranks, seed, client.name) for client in clients} if stage.ranks else {}

    def tensors(state: State, client: str) -> dict[str, torch.Tensor]:
        # Clients that hold the same adapter (all anchors of a round) share one copy.
        key = id(state), ranks.get(client)
        if key not in converted:
            own = at_rank(at_rank(state, ranks[client]), settings.lora.rank) if ranks else state
            converted[key] = _tensors(own)
        return converted[key]

    mixture = stage.mixture
    outer = (stage.inner_steps, stage.upload_scale) if isinstance(stage, SharedStage) else (0, 0.0)
    trained, validation = None, settings.training.validation
    patience = validation.patience if validation is not None and isinstance(stage, PersonalStage) else None
    if isinstance(stage, SharedStage) and not stage.trains.whole:
        trained = frozenset(stage.trains.of(clients[0].start))
    for client in clients:
        start = tensors(client.start, client.name)
        anchor = tensors(client.anchor, client.name) if client.anchor is not None else None
        pieces = client_pieces(base, texts, client.name, settings, cut)
        unseen = validation_pieces(base, texts, client.name, settings, seed, cut)
        mixed, gates, unseen_gates = None, None, None
        if mixture is not None and mixture.training == "dynamic" and anchor is not None:
            mixed = anchor
            if mixture.kind == "similarity":
                gate = ClientGate(base, settings.lora, mixed, texts, client.name, mixture, settings, seed)
                gates = gate.of_pieces(pieces)
                unseen_gates = gate.of_pieces(unseen) if unseen else None
        tasks.append(
            ClientTask(
                name=client.name,
                pieces=pieces,
                start=start,
                offset=start if residual else None,
                anchor=anchor if objective.proximal else None,
                proximal=objective.proximal,
                target=client.target,
                epochs=client.epochs,
                stage_seed=derive_seed(seed, f"{name} stage", client.round_number, client.name),
                companion=mixed,
                gates=gates,
                weight=client.weight,
                weight_rate=mixture.rate if mixture is not None else 0.0,
                gate=None if client.gate is None else _tensors(client.gate),
                correction=None if client.state is None else _tensors(client.state.correction()),
                inner_steps=outer[0],
                outer_rate=outer[1],
                trained=trained,
                validation=unseen,
                validation_gates=unseen_gates,
                patience=patience,
            )
        )
    alignment, training = None, settings.training
    if settings.alignment is not None:
        alignment = settings.alignment.extended(WeightedAlignment, weight=objective.alignment)
        # Sorting pieces by length within a step would decide which of them share a pooled style state.
        training = training.model_copy(update={"group_by_length": False})
    who = tasks[0].name if len(tasks) == 1 else f"{len(tasks)} clients"
    progress = Progress(f"{label or name}, {who}", count_steps(tasks, training), "steps")
    rows = training.rows_per_forward
    memory = WidthMemory(
        base,
        {
            "stage": name,
            "clients": len(tasks),
            "parts": {"aligned": alignment is not None, "residual": residual, "mixed": mixture is not None},
            "lora": settings.lora,
            "micro_batch": training.micro_batch,
            "max_length": training.max_length,
            "gradient_checkpointing": training.gradient_checkpointing,
            "rows": rows,
        },
    )
    widths = memory.recall()
    results = train(
        base,
        settings.lora,
        tasks,
        training,
        alignment,
        progress,
        max_rows_per_forward=rows,
        clients_per_stack=1 if settings.engine == "sequential" else None,
        widths=widths,
        checkpoint=checkpoint,
    )
    memory.remember(widths)
    progress.close()
    for result in results:
        if alignment is not None and not any(float(row["kappa"]) > 0 for row in result.log):
            # kappa starts at 0, so a stage of one optimiser step never aligns.
            print(
                f"{result.name}: the alignment loss had no effect, because the stage has only one step", file=sys.stderr
            )
    return [_cut(result, ranks[result.name]) for result in results] if ranks else results


def _cut(result: ClientResult, rank: int) -> ClientResult:
    """Return a result at the client's rank."""

    def own(state: LoraState) -> LoraState:
        return from_arrays(at_rank(state, rank))

    moved = None if result.displacement is None else own(result.displacement)
    return dataclasses.replace(result, state=own(result.state), residual=own(result.residual), displacement=moved)


def print_worse(results: Sequence[ClientResult], stopped: bool) -> None:
    """Print for how many clients the validation loss ended above its start; ``stopped``: the best pass is kept."""
    read = [(float(result.log[0]["validation_loss_before"]), result.log) for result in results]
    ends = [(before, [float(row["validation_loss"]) for row in log]) for before, log in read if not math.isnan(before)]
    worse = sum((float(np.nanmin(losses)) if stopped else losses[-1]) > before for before, losses in ends)
    print(f"the validation loss ended above its start for {worse} of {len(ends)} clients", file=sys.stderr)


def training_log(results: Sequence[ClientResult], clients: Sequence[StageClient], name: str) -> pd.DataFrame:
    """Return the ``training_log`` table of a stage."""
    rounds = {client.name: client.round_number for client in clients}
    rows = [
        {"stage": name, "round": rounds[result.name], "client": result.name, **row}
        for result in results
        for row in result.log
    ]
    return pd.DataFrame(rows, columns=TRAINING_LOG.names)


def _tensors(state: State) -> dict[str, torch.Tensor]:
    return {key: torch.from_numpy(np.array(value)) for key, value in state.items()}


def style_targets(source_embeddings: pd.DataFrame, texts: pd.DataFrame, clients: list[str]) -> dict[str, np.ndarray]:
    """Return q_i = norm(mean z(x)) over the client's reference set, all the texts it trains on, as float32 [d].

    ``source_embeddings`` and ``texts`` are the tables ``source_embeddings`` and ``client_texts``.
    """
    references = texts.loc[texts["allocated_words"] > 0, ["client", "document_id"]]
    train = source_embeddings[source_embeddings["kind"] == "train"]
    joined = references.merge(train, left_on=["client", "document_id"], right_on=["client", "item"])
    targets = {}
    for client in clients:
        vectors = joined.loc[joined["client"] == client, "embedding"]
        if vectors.empty:
            raise UserError(f"{client}: no reference text has a style embedding; raise its allocation or its posts")
        mean = np.stack(list(vectors)).astype(np.float64).mean(axis=0)
        norm = np.linalg.norm(mean)
        if norm == 0:
            raise UserError(f"{client}: its style embeddings cancel out; use another style encoder")
        targets[client] = (mean / norm).astype(np.float32)
    return targets


def cut_of(requests: Sequence[str], clients: Sequence[str]) -> Cut:
    """Return what cuts the texts of ``clients`` into pieces; ``requests``: the table of that name, or no file."""
    if not requests:
        return continued
    if list(clients) == [POOLED]:
        return answering(read_parquet(requests[0], REQUESTS))
    return answering(read_row_groups(requests[0], REQUESTS, "client", clients))


def answering(requests: pd.DataFrame) -> Cut:
    """Return what makes a piece of every request of a document: its answer is supervised, end token included.

    ``requests``: the table of that name. A request is whole, so neither ``prefix_tokens`` nor ``pieces`` cuts it.
    """
    good = requests[requests["refused"] == ""]

    def cut(base: BaseModel, texts: pd.DataFrame, column: str, _settings: StagePieces) -> list[Piece]:
        wanted = texts.loc[texts[column] != "", ["client", "document_id"]]
        chosen = good.merge(wanted, on=["client", "document_id"], validate="many_to_one")
        pieces = []
        chosen = chosen.sort_values(["client", "document_id", "passage"])
        columns = (chosen[name] for name in ("document_id", "prompt_tokens", "answer_tokens"))
        for document, asked, answer in zip(*columns, strict=True):
            before = [*base.opening, *asked]
            pieces.append(Piece(np.array([*before, *answer], dtype=np.int32), len(before), str(document)))
        return pieces

    return cut
