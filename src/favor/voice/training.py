"""``favor voice train``: one writer's texts become a personal adapter, by the stage that trains a client alone."""

import argparse
import hashlib
import math
import shutil
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from pydantic import ValidationError

from favor.corpora.schemas import CLIENT_TEXTS
from favor.federation.local import Cut, continued, run_stage, training_log
from favor.federation.method import PersonalStage, plan_values
from favor.federation.methods import cold_start, local_only
from favor.federation.schemas import TRAINING_LOG
from favor.federation.settings import PersonalTraining, StagePieces
from favor.federation.stages import as_arrays, personal_clients
from favor.foundation.errors import UserError
from favor.foundation.files import is_local, read_json
from favor.foundation.gguf import is_gguf, read_header
from favor.foundation.parquet import read_parquet, write_parquet
from favor.foundation.tensors import read_safetensors
from favor.inference.chat import ChatTokens
from favor.lm.base import BaseModel, context_length, open_base
from favor.lm.checks import check_folder
from favor.lm.gguf import dequantise
from favor.lm.lora import LoraState, export_peft, from_arrays, initial_state
from favor.lm.peft_import import CONFIGURATION, check_shapes, import_peft
from favor.lm.settings import LoadedModel, Lora, Training, Validation
from favor.lm.tasks import Piece
from favor.running.jobs.progress import Progress
from favor.studies.tasks.drafting import check_base, drafted, long_passages, piece
from favor.studies.tasks.requests import Request, refusals
from favor.voice.contrast import embedded_contrast
from favor.voice.folder import OWN, PREFIX_TOKENS, SHARED, VoiceFolder, VoiceModels, VoiceRecord, open_models
from favor.voice.language import Language
from favor.voice.memorised import continuations, memorised_lines, own_pieces, read_losses
from favor.voice.own_texts import WRITER, own_texts
from favor.voice.rewriting import answers
from favor.voice.schemas import VOICE_CONTINUATIONS, VOICE_DRAFTS, VOICE_LOSSES
from favor.voice.score import SEED

LONGEST = 1024  # tokens of a piece, where the base's context holds them
# A writer's own text is a few hundred pieces: smaller steps than a federation's clients take.
MICRO_BATCH, ACCUMULATION = 4, 2
VALIDATION_TEXTS, PATIENCE = 64, 2
CHUNK = 64  # passages that are drafted before they are saved
FEWEST = 20  # drafts to train on
WEIGHTS = "adapter.safetensors"  # of a server, in a results folder
SETTINGS = "settings.json"  # of an experiment there


def run(arguments: argparse.Namespace) -> None:
    """Train the voice that a command line describes, go on where it was stopped, and say what it has memorised.

    Raises ``UserError``, before anything is written, for a writer without consent or enough text, and where the folder
    holds another voice.
    """
    if arguments.consent != "mine":
        raise UserError("a voice is trained on its writer's word alone; add --consent mine if the texts are yours")
    folder = VoiceFolder(arguments.voice)
    found = own_texts(arguments.texts, arguments.author, dict(arguments.columns))
    start = None if arguments.start is None else read_start(arguments.start)
    record = _record(arguments, folder, found.texts, start)
    if folder.record.is_file() and folder.read_record() != record:
        raise UserError(
            f"{folder.path}: holds a voice that was trained from other texts or settings; give another folder with "
            "--voice, or delete it"
        )
    counts = found.texts.groupby("split")["words"].agg(["size", "sum"])
    for name, what in (("train", "trained on"), ("validation", "validation"), ("test", "held out")):
        texts, words = counts.loc[name]
        _say(f"{what}: {texts} texts, {words:,} words")
    for remark in found.remarks:
        _say(remark)
    reason = Language.of(embedded_contrast()).foreign(found.texts["text"].tolist())
    if reason:
        _say(
            f"warning: the texts are not in English ({reason}); take a base that knows their language, and name "
            "authors who write in it with --contrast in 'favor voice report'"
        )
    if not (folder.adapter(OWN) / CONFIGURATION).is_file():
        _train(folder, record, start, found.texts)
    for line in validation_lines(read_parquet(folder.log, TRAINING_LOG)):
        _say(line)
    if not folder.losses.is_file():
        memorise(folder, open_models(folder, record), record)
    print("\n".join(memorised_lines(folder, record.seed)))


def _say(line: str) -> None:
    print(f"favor: {line}", file=sys.stderr, flush=True)


def _record(
    arguments: argparse.Namespace, folder: VoiceFolder, texts: pd.DataFrame, start: tuple[LoraState, Lora] | None
) -> VoiceRecord:
    source = arguments.base
    if is_gguf(source):
        context, source = read_header(source).context, str(folder.base)
    else:
        if is_local(source):
            check_folder(Path(source).expanduser())
        context = context_length(source)
    lora = Lora() if start is None else start[1].model_copy(update={"dropout": Lora().dropout})
    digest = hashlib.sha256("\0".join([*texts["split"], *texts["prompt"], *texts["text"]]).encode())
    for name, value in sorted((as_arrays(start[0]) if start is not None else {}).items()):
        digest.update(name.encode() + np.ascontiguousarray(value).tobytes())
    return VoiceRecord(
        author=arguments.author,
        task=arguments.task,
        consent="mine",
        base=arguments.base,
        base_digest=folder.base_digest(arguments.base),
        model=LoadedModel(source=source, quantisation=arguments.quantisation, dtype=arguments.dtype),
        start=None if arguments.start is None else str(arguments.start),
        lora=lora,
        training=Training(
            max_length=min(LONGEST, context),
            pieces="windows",
            supervised="response",
            warmup_counts_from=1,
            micro_batch=MICRO_BATCH,
            accumulation=ACCUMULATION,
            validation=Validation(texts_per_client=VALIDATION_TEXTS, patience=PATIENCE),
        ),
        epochs=arguments.epochs,
        seed=SEED,
        digest=digest.hexdigest(),
    )


def _open(folder: VoiceFolder, record: VoiceRecord) -> BaseModel:
    """Open the base of a voice. Raises ``UserError``, and leaves nothing, for one that the task cannot ask."""
    new = not folder.path.exists()
    try:
        if record.model.source == str(folder.base) and not (folder.base / "config.json").is_file():
            _say(f"dequantising {record.base}")
            dequantise(record.base, folder.base)
        base = open_base(record.model, record.lora)
        if record.request is not None:
            check_base(base, record.request)
    except UserError:
        if new:
            shutil.rmtree(folder.path, ignore_errors=True)
        raise
    return base


def _train(folder: VoiceFolder, record: VoiceRecord, start: tuple[LoraState, Lora] | None, texts: pd.DataFrame) -> None:
    """Train the adapter as the methods local-only and cold start do, and write it with the shared one it began with."""
    base = _open(folder, record)
    if not folder.record.is_file():
        write_parquet(texts, folder.texts, CLIENT_TEXTS)
        folder.write_record(record)
    if start is None:
        stage = local_only.plan(local_only.Hyperparameters(record.epochs)).personal
        begin = as_arrays(initial_state(base.model, record.lora, record.seed))
    else:
        stage = cold_start.plan(cold_start.Hyperparameters(record.epochs)).personal
        begin = as_arrays(start[0])
        check_shapes({str(record.start): start[0]}, base.model, record.lora)
        export_peft(start[0], record.lora, base.source, folder.adapter(SHARED))
    assert stage is not None
    settings = stage_settings(record, stage)
    texts = read_parquet(folder.texts, CLIENT_TEXTS)
    clients = personal_clients(settings.rounds, {WRITER: begin}, stage)
    cut: Cut = continued
    label = record.author
    if record.request is not None:
        drafts = make_drafts(folder, base, texts, record.request, record.training.max_length)
        for line in draft_lines(drafts, texts.set_index("document_id")["split"], record.request):
            _say(line)
        cut = answering_cut(drafts, record.request)
    results = run_stage(base, clients, texts, stage, settings, "personal", record.seed, label, folder.checkpoint, cut)
    write_parquet(training_log(results, clients, "personal"), folder.log, TRAINING_LOG)
    export_peft(results[0].state, record.lora, base.source, folder.adapter(OWN))
    folder.checkpoint.path.unlink()


def stage_settings(record: VoiceRecord, stage: PersonalStage) -> PersonalTraining:
    """Return what the workflow's job of a personal stage would be handed."""
    return PersonalTraining(
        prefix_tokens=PREFIX_TOKENS,
        training=record.training,
        engine="stacked",
        model=record.model,
        lora=record.lora,
        alignment=None,
        stage=plan_values(stage),
        participations={},
        withdrawn=[],
        rounds={WRITER: 0},
        again=[],
    )


def memorise(folder: VoiceFolder, models: VoiceModels, record: VoiceRecord) -> None:
    """Write the tables of what the models write and of losses, as far as they are not there yet."""
    texts, seed = read_parquet(folder.texts, CLIENT_TEXTS), record.seed
    if not folder.continuations.is_file():
        if record.request is not None:
            made = answers(models, texts, read_parquet(folder.drafts, VOICE_DRAFTS), record.request, seed)
        else:
            made = continuations(models, texts, seed)
        write_parquet(made, folder.continuations, VOICE_CONTINUATIONS)
    write_parquet(read_losses(models, own_pieces(models, texts, seed), "own texts"), folder.losses, VOICE_LOSSES)


def validation_lines(log: pd.DataFrame) -> Iterator[str]:
    """Yield the validation loss of every pass, and which pass is kept; ``log``: the table ``training_log``."""
    before, after = log["validation_loss_before"].iloc[0], log["validation_loss"].dropna().tolist()
    yield f"validation loss before training: {before:.3f} nats per token"
    yield from (f"validation loss after pass {number}: {loss:.3f}" for number, loss in enumerate(after, start=1))
    best = min(after, default=math.nan)
    if not best < before:
        yield "warning: training did not lower the validation loss; give more text, or text of one kind"
    elif after:
        yield f"kept: the adapter of pass {after.index(best) + 1}"


def read_start(path: Path) -> tuple[LoraState, Lora]:
    """Return the adapter in a folder, and its settings.

    ``path``: in PEFT's format, or the folder ``server/roundN`` of a shared track of a finished run, whose settings are
    in its experiment's ``settings.json``. Raises ``UserError`` for any other folder, and names the shared adapters of
    the last rounds where ``path`` is a results folder or an experiment's.
    """
    if (path / CONFIGURATION).is_file():
        states, lora = import_peft([path])
        return states[path.name], lora
    if not (path / WEIGHTS).is_file():
        raise UserError(f"{path}: holds no {CONFIGURATION} and no {WEIGHTS}; {_others(path)}")
    state, _ = read_safetensors(path / WEIGHTS)
    if not all(".lora_" in name and "/" not in name for name in state):
        raise UserError(f"{path}: its method's adapter does not work alone; give another method's")
    for parent in path.resolve().parents:
        if (parent / SETTINGS).is_file():
            try:
                lora = Lora.model_validate(read_json(parent / SETTINGS)["experiment"]["lora"], strict=False)
            except (KeyError, TypeError, ValidationError):
                continue
            return from_arrays(state), lora
    raise UserError(
        f"{path}: no folder around it has the {SETTINGS} of its experiment, which holds rank and alpha; finish the "
        "run, or give an adapter in PEFT's format"
    )


def _others(path: Path) -> str:
    found = [[*track.glob(f"round*/{WEIGHTS}")] for track in sorted(path.glob("**/shared/*/server"))]
    names = [
        str(max(files, key=lambda file: (len(file.parent.name), file.parent.name)).parent) for files in found if files
    ]
    if not names:
        return "give the folder of an adapter"
    return f"give one of its shared adapters: {', '.join(names[:4])}{f' and {len(names) - 4} more' * (len(names) > 4)}"


def make_drafts(
    folder: VoiceFolder, base: BaseModel, texts: pd.DataFrame, request: Request, longest: int
) -> pd.DataFrame:
    """Return the table ``voice_drafts`` of all passages of ``texts``, as far as it is not there yet.

    What ``request`` has the base make is greedy. ``texts``: the table ``client_texts``. ``longest``: tokens of a
    training piece.
    """
    rows = [
        (document, number, passage)
        for document, text in zip(texts["document_id"], texts["text"], strict=True)
        for number, passage in long_passages(text, request)
    ]
    done = read_parquet(folder.drafts, VOICE_DRAFTS) if folder.drafts.is_file() else VOICE_DRAFTS.empty()
    progress = Progress(f"{request.given}s", len(rows), "passages")
    progress.skip(len(done))
    while len(done) < len(rows):
        part = rows[len(done) :][:CHUNK]
        made = drafted(base, request, [passage for *_, passage in part], longest)
        found = [(*row, *draft) for row, draft in zip(part, made, strict=True)]
        done = pd.concat([done, pd.DataFrame(found, columns=done.columns).astype(done.dtypes)], ignore_index=True)
        write_parquet(done, folder.drafts, VOICE_DRAFTS)
        progress.update(len(part))
    progress.close()
    return done


def draft_lines(drafts: pd.DataFrame, splits: pd.Series, request: Request) -> Iterator[str]:
    """Yield how many drafts there are and how many were refused, by reason; ``splits``: by document.

    Raises ``UserError`` where too few are left to train on.
    """
    good = drafts[drafts["refused"] == ""]
    kept = Counter(good["document_id"].map(splits))
    reasons = refusals(drafts["refused"])
    yield f"{request.given}s: {len(good)} of {len(drafts)} passages" + (f"; refused: {reasons}" if reasons else "")
    if kept["train"] < FEWEST or not kept["validation"] or not kept["test"]:
        raise UserError(
            f"the base model made {kept['train']} {request.given}s to train on, {kept['validation']} to validate and "
            f"{kept['test']} to test, and {FEWEST}, 1 and 1 are needed (refused: {reasons or 'none'}); take a larger "
            "base (--base), or give more text"
        )


def answering_cut(drafts: pd.DataFrame, request: Request) -> Cut:
    """Return what cuts a writer's documents into pieces: the request with what is given, the passage, and the end.

    The request is context alone.
    """
    good = drafts[drafts["refused"] == ""]

    def cut(base: BaseModel, texts: pd.DataFrame, column: str, _settings: StagePieces) -> list[Piece]:
        chat, pieces = ChatTokens(base), []
        for row in good[good["document_id"].isin(texts.loc[texts[column] != "", "document_id"])].itertuples():
            tokens, start = piece(chat, request, str(row.draft), str(row.text))
            pieces.append(Piece(np.asarray(tokens, dtype=np.int32), start, str(row.document_id)))
        return pieces

    return cut
