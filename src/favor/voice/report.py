"""``favor voice report``: one page that says how near a personal adapter comes to its writer, and at what price."""

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import pandas as pd

from favor.corpora.neutral import neutral_passages
from favor.corpora.schemas import CLIENT_TEXTS
from favor.encoders.base import TextEncoder
from favor.federation.schemas import TRAINING_LOG
from favor.foundation.errors import UserError
from favor.foundation.file_identity import content
from favor.foundation.files import write_json, write_text
from favor.foundation.html import render
from favor.foundation.parquet import read_parquet
from favor.lm.tasks import Piece
from favor.tables.html import page
from favor.voice import command
from favor.voice.contrast import Contrast, contrast_of
from favor.voice.folder import BASE, OWN, SHARED, VoiceFolder, VoiceModels, VoiceRecord, open_models
from favor.voice.language import check_language
from favor.voice.memorised import (
    CONTRAST,
    HELD_OUT,
    NEUTRAL,
    Audit,
    Copying,
    Gains,
    audit,
    audit_lines,
    copying,
    copying_lines,
    gain_lines,
    gains,
    pieces_of,
    read_losses,
)
from favor.voice.position import UNITS, Measured
from favor.voice.rewriting import DRAFT, Content, content_kept, voice_gained, with_drafts
from favor.voice.schemas import VOICE_CONTINUATIONS, VOICE_LOSSES
from favor.voice.score import VoiceScore, few_documents, passages, score_voice
from favor.voice.training import validation_lines
from favor.voice.words import VERIFIERS, WORDING, number, share_text

TEXTS_EACH, NEUTRAL_TEXTS, NEUTRAL_WORDS = 3, 12, 60  # of a contrast author; neutral passages and their length
SAMPLES = 3
FEW = 10  # held-out texts below which intervals are wide
MODELS = {
    DRAFT: "the neutral draft's author",
    BASE: "the base model",
    SHARED: "the shared adapter",
    OWN: "your adapter",
}


@dataclass(frozen=True)
class VoiceReport:
    """What is measured of one voice.

    ``scores``: by model, :func:`favor.voice.score.score_voice` of its continuations of held-out texts, or why there is
    none. ``gains``: by adapter. ``held_out``: texts that they are of. ``content`` that is kept by model of what it is
    ``given``, a draft or an instruction, and the voice that rewriting adds to drafts (``gained``), by model and
    verifier.
    """

    validation: list[str]
    scores: dict[str, VoiceScore | str]
    gains: dict[str, Gains]
    copying: dict[tuple[str, str], Copying]
    audit: Audit
    held_out: int
    content: dict[str, Content] = field(default_factory=dict)
    gained: dict[str, dict[str, Measured]] = field(default_factory=dict)
    given: str = DRAFT


def run(arguments: argparse.Namespace) -> None:
    """Measure the voice that a command line names; print the findings, write the page and ``report.json``."""
    command.check_page(arguments.page)
    folder = VoiceFolder(arguments.voice)
    record = folder.read_record()
    contrast = contrast_of(arguments.contrast)
    folder.check_trained(folder.losses)
    texts = read_parquet(folder.texts, CLIENT_TEXTS)
    check_language(texts["text"].tolist(), contrast.authors)
    models = open_models(folder, record)
    made = read_parquet(folder.continuations, VOICE_CONTINUATIONS)
    print(f"favor: reading held-out texts and {len(contrast.authors)} other authors", file=sys.stderr, flush=True)
    others = read_losses(models, _others(models, contrast.authors), "other authors")
    own = read_parquet(folder.losses, VOICE_LOSSES)
    losses = pd.concat([own, others], ignore_index=True)
    encoder = command.style_encoder(arguments.encoder)
    rewrites = record.task == "rewrite"
    near = scores(with_drafts(made) if rewrites else made, texts, contrast.authors, encoder)
    found = VoiceReport(
        list(validation_lines(read_parquet(folder.log, TRAINING_LOG))),
        near,
        {model: gains(losses, model, record.seed) for model in models.states if model != BASE},
        copying(made, texts),
        audit(own, record.seed),
        int(((own["model"] == OWN) & (own["kind"] == HELD_OUT)).sum()),
        content_kept(made, encoder, record.seed) if record.request is not None else {},
        gained(near, dict(zip(made["prompt_id"], made["document_id"], strict=True)), record.seed) if rewrites else {},
        record.request.given if record.request is not None else "",
    )
    told = findings(found)
    steps = advice(found, embedded=arguments.contrast is None)
    target = arguments.page or folder.report
    compared = "embedded" if arguments.contrast is None else content(str(arguments.contrast))
    write_json({**summary(found, record, told), "contrast_digest": compared}, folder.summary)
    write_text(_page(found, record, texts, made, told, steps, contrast, arguments.encoder), target)
    print("\n".join([*told, *(f"To do: {step}" for step in steps), f"Page: {target}"]))


def scores(
    made: pd.DataFrame, texts: pd.DataFrame, contrast: Mapping[str, Sequence[str]], encoder: TextEncoder
) -> dict[str, VoiceScore | str]:
    """Return by model how near its continuations of held-out texts are, or why that cannot be said.

    The author is everything the writer wrote but the documents that are continued.
    """
    held_out = made[made["split"] == "test"]
    author = texts.loc[~texts["document_id"].isin(set(held_out["document_id"])), "text"].tolist()
    if not len(held_out):
        return {str(model): "no held-out text is long enough to be continued" for model in made["model"].unique()}
    found: dict[str, VoiceScore | str] = {}
    for model, own in held_out.groupby("model"):
        written, documents = (dict(zip(own["prompt_id"], own[name], strict=True)) for name in ("text", "document_id"))
        try:
            found[str(model)] = score_voice(written, author, contrast, encoder, documents=documents)
        except UserError as error:
            found[str(model)] = str(error)
    return {model: found[model] for model in MODELS if model in found}


def gained(
    near: Mapping[str, VoiceScore | str], documents: Mapping[str, str], seed: int
) -> dict[str, dict[str, Measured]]:
    """Return by model how much of the voice rewriting adds to its drafts, by verifier; ``near``: :func:`scores`.

    ``documents``: by prompt. It is known where both have a place by that verifier, read in passages of one length.
    """
    drafts = near.get(DRAFT)
    if drafts is None or isinstance(drafts, str):
        return {}
    return {
        model: voice_gained(_places(score), _places(drafts), documents, seed)
        for model, score in near.items()
        if model != DRAFT and not isinstance(score, str) and score.passage_words == drafts.passage_words
    }


def _places(score: VoiceScore) -> dict[str, dict[str, float]]:
    return {
        verifier: {text.name: text.placements[verifier].share for text in score.texts if not text.unscored}
        for verifier, share in score.shares.items()
        if not share.reason
    }


def _others(models: VoiceModels, contrast: Mapping[str, Sequence[str]]) -> dict[tuple[str, str], list[Piece]]:
    """Return by (kind, writer) the beginnings of the contrast authors' first texts, and of neutral passages."""
    rows = [
        (author, f"{author}-{place:03d}", "", text)
        for author, own in contrast.items()
        for place, text in enumerate(own[:TEXTS_EACH])
    ]
    neutral = passages(neutral_passages(None), NEUTRAL_WORDS)[:NEUTRAL_TEXTS]
    columns = ["client", "document_id", "prompt", "text"]
    others = pieces_of(models, pd.DataFrame(rows, columns=columns), "text")
    found = {(CONTRAST, author): own for author, own in others.items()}
    plain = pd.DataFrame([("", f"{place:03d}", "", text) for place, text in enumerate(neutral)], columns=columns)
    return found | {(NEUTRAL, ""): pieces_of(models, plain, "text")[""]}


def findings(found: VoiceReport) -> list[str]:
    """Return what was found in sentences: the gain, the voice, what is memorised."""
    told = gain_lines(found.gains[OWN])
    for model, score in found.scores.items():
        if isinstance(score, str):
            told.append(f"How near {MODELS[model]} writes cannot be said: {score}.")
            continue
        shares = ", ".join(f"{VERIFIERS[name]} {share_text(share)}" for name, share in score.shares.items())
        told.append(f"How near {MODELS[model]} writes (0 other authors, 1 you): {shares}.")
    for model, kept in found.content.items():
        told.append(
            f"Content of the {found.given} that {MODELS[model]} keeps: cosine {kept.kept.text()}; of passages of two "
            f"documents {number(kept.chance)}, of the {found.given} itself 1."
            + (f" No limits: {few_documents(kept.documents)}." if kept.documents < UNITS else "")
        )
    for model, by_verifier in found.gained.items():
        values = ", ".join(f"{VERIFIERS[name]} {value.text()}" for name, value in by_verifier.items())
        told.append(f"Voice that {MODELS[model]} adds to the draft, as a share of the way to you: {values}.")
    return [*told, *copying_lines(found.copying), *audit_lines(found.audit)]


def advice(found: VoiceReport, embedded: bool) -> list[str]:
    """Return what the writer can do for more; ``embedded``: the contrast is the one that comes with the project."""
    own, steps = found.gains[OWN], []
    if not own.own.low > 0:
        steps.append("no gain over the base is certain: add texts, or take a larger base (--base)")
    elif not own.voice.low > 0:
        steps.append(
            "the gain is no larger than that of other authors' texts, so it may be genre: add texts of your own"
        )
    if own.neutral.high < 0:
        steps.append("neutral sentences became less likely: the adapter forgets; train fewer passes (--epochs)")
    passes = sum(line.startswith("validation loss after") for line in found.validation)
    if found.validation[-1].endswith(f" pass {passes}"):
        steps.append("the last pass was the best one: more passes (--epochs, in another folder) may lower the loss")
    if found.audit.above_chance or any(line.startswith("warning") for line in copying_lines(found.copying)):
        steps.append("the adapter memorises: more texts, or fewer passes, make it memorise less of each")
    near = found.scores.get(OWN)
    if isinstance(near, VoiceScore) and any(share.low > 1 for share in near.shares.values()):
        why = "" if found.content else " no end of a text is trained, so it may repeat a sign-off;"
        steps.append(f"above 1 is a caricature, not better than you:{why} look at the texts side by side")
    if found.held_out < FEW:
        steps.append(f"only {found.held_out} held-out texts: intervals are wide until there are {FEW} or more")
    if embedded:
        steps.append(
            "the other authors are presidents: name writers of your genre with --contrast for a stricter measure"
        )
    return steps


def summary(found: VoiceReport, record: VoiceRecord, told: Sequence[str]) -> dict[str, object]:
    """Return the findings and their numbers as plain values; no text of the writer is among them."""
    shares = {
        model: score if isinstance(score, str) else {name: asdict(share) for name, share in score.shares.items()}
        for model, score in found.scores.items()
    }
    numbers = {model: {name: each._asdict() for name, each in vars(own).items()} for model, own in found.gains.items()}
    copied = {f"{model}, {split}": asdict(each) for (model, split), each in found.copying.items()}
    kept = {model: {"kept": own.kept._asdict(), "chance": own.chance} for model, own in found.content.items()}
    gained = {model: {name: each._asdict() for name, each in own.items()} for model, own in found.gained.items()}
    measures = {"gains": numbers, "shares": shares, "copying": copied, "audit": asdict(found.audit)}
    measures |= {"content": kept, "gained": gained}
    plain: dict[str, object] = command.finite({"digest": record.digest, "findings": list(told), **measures})
    return plain


def _page(
    found: VoiceReport,
    record: VoiceRecord,
    texts: pd.DataFrame,
    made: pd.DataFrame,
    told: Sequence[str],
    steps: Sequence[str],
    contrast: Contrast,
    encoder: str,
) -> str:
    whole = texts.set_index("document_id")["text"]
    samples = [
        {
            "prompt": own["prompt_text"].iloc[0],
            "author": whole[document],
            "models": {MODELS[model]: text for model, text in zip(own["model"], own["text"], strict=True)},
        }
        for document, own in list(made[made["split"] == "test"].groupby("document_id"))[:SAMPLES]
    ]
    own_score = found.scores.get(OWN)
    body = render(
        Path(__file__).parent / "templates", "report.html",
        found=found, record=record, told=told, steps=steps, encoder=encoder, samples=samples,
        contrast=contrast.name, genre=contrast.genre,
        counts=texts.groupby("split")["words"].agg(["size", "sum"]).to_dict("index"), models=MODELS,
        habits=[] if own_score is None or isinstance(own_score, str) else own_score.habits,
        **WORDING,
    )  # fmt: skip
    return page(f"The voice of {record.author}", body)
