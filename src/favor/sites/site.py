"""``favor site``: one client in a folder of its own. What crosses is its ``site.json`` and one upload file per round.

Texts, style targets, private tensors and the key stay in the folder. Every round is a pure function of what the folder
holds of earlier rounds and of the round's files, so a site that was killed makes the same bytes when it starts again.
"""

import argparse
import json
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import threadpoolctl
import torch

from favor.corpora.allocation import ClientTexts, materialise
from favor.corpora.building import build_documents
from favor.corpora.documents import author_totals
from favor.corpora.posts import ReaderSettings, open_reader
from favor.corpora.schemas import ALLOCATION, CLIENT_TEXTS
from favor.corpora.settings import DocumentBuilding, Splitting, TextAllocation
from favor.corpora.splits import split_documents
from favor.encoders.base import load_encoder
from favor.encoders.schemas import SOURCE_EMBEDDINGS
from favor.federation.client_archive import State, read_pack, write_pack
from favor.federation.gates import ClientGate
from favor.federation.inference import ClientAdapter, client_adapter, exported
from favor.federation.local import run_stage, style_targets, training_log
from favor.federation.method import Inference, PersonalStage, SharedStage
from favor.federation.schemas import TRAINING_LOG
from favor.federation.settings import StageTraining
from favor.federation.stages import (
    StageClient,
    carried_weight,
    compose,
    ended,
    kept,
    personal_clients,
    shared_clients,
    upload,
)
from favor.federation.uploads import rounded
from favor.foundation.errors import UserError
from favor.foundation.files import read_json, write_json
from favor.foundation.names import nearest, printable
from favor.foundation.parquet import read_parquet, write_parquet
from favor.foundation.received import received_bytes
from favor.foundation.tensors import read_safetensors, safetensors_header, write_safetensors
from favor.lm.base import BaseModel, open_base
from favor.lm.lora import export_peft, from_arrays
from favor.lm.settings import LoadedModel, Lora
from favor.lm.tasks import ClientResult
from favor.plan import Planner
from favor.plan.job_settings import job_settings
from favor.plan.keys import Key, run_key
from favor.sites.agreement import Agreement, agreement, check_version, model_digests, owned_digests, stages
from favor.sites.manifest import (
    ADAPTER,
    HEADER,
    MANIFEST,
    Invitation,
    Manifest,
    SiteStatement,
    check_equal,
    manifest_digest,
    note,
    read_adapter,
    read_manifest,
    read_signed,
    write_signed,
)
from favor.sites.signing import digest, file_digest, public_key, replacement, secret_key, signature
from favor.sites.uploads import write_upload

UNSEEN = (
    "What no site can see: posts that somebody at another site has too, or that nearly repeat one of theirs, are not "
    "taken out; a favor run of everybody's texts does both.",
    "Nobody balances how much each client trains on: you train on all of your training texts, or on --words of them.",
)


class Site:
    """A site's folder, with what it agreed to and what it keeps. Raises ``UserError`` where the folder is no site."""

    def __init__(self, path: Path) -> None:
        if not (path / "settings.json").is_file():
            raise UserError(f"{path}: not a site; favor site init {path} makes it one")
        record = read_json(path / "settings.json")
        check_version(record["agreement"])
        self.path, self.name, self.coordinator = path, str(record["client"]), str(record["coordinator"])
        self.agreed: dict[str, Any] = record["agreement"]
        self.shared, self.personal = stages(self.agreed)
        self.how = Inference.of(self.agreed["generates"])
        self.seed, self.rounds = int(self.agreed["seed"]), len(self.agreed["cohorts"])
        self.model = LoadedModel.model_validate(record["model"])
        self.lora = Lora.model_validate_json(json.dumps(self.agreed["shared"]["lora"]))
        self.texts = read_parquet(path / "texts.parquet", CLIENT_TEXTS)
        self.first: State = read_safetensors(path / "initial.safetensors")[0]
        # Of the base it has now, which may be another than the one it agreed with.
        self.digests: dict[str, str] = {**record["digests"], **model_digests(self.model.source)}
        threadpoolctl.threadpool_limits(self.agreed["threads"])
        torch.set_num_threads(self.agreed["threads"])

    @cached_property
    def base(self) -> BaseModel:
        """The base model."""
        return open_base(self.model, self.lora)

    @property
    def trained(self) -> list[int]:
        """The rounds that were trained: an upload is written last."""
        return [number for number in range(self.rounds) if self.upload(number).is_file()]

    def upload(self, number: int) -> Path:
        """What the site sends in a round."""
        return self.path / "uploads" / f"round{number}_{self.name}.safetensors"

    def keep(self, number: int, kind: str, parts: Mapping[str, Mapping[str, np.ndarray]]) -> None:
        """Keep the parts of a round's result: ``endpoints``, or ``personal`` where an adapter is carried over."""
        header = {"kind": kind, "seed": str(self.seed), "round": str(number)}
        write_pack(self._pack(number, kind), {self.name: parts}, header)

    def kept(self, number: int, kind: str) -> dict[str, State]:
        """Return what :meth:`keep` kept of a round; nothing of round -1, before the first."""
        return dict(read_pack(self._pack(number, kind))[0][self.name]) if number >= 0 else {}

    def _pack(self, number: int, kind: str) -> Path:
        return self.path / "rounds" / str(number) / f"{kind}.safetensors"

    def receive(self, folder: Path, kind: str) -> tuple[Manifest, int, dict[str, np.ndarray]]:
        """Return what the coordinator sent: (manifest, last round of the site that it took or -1, shared adapter).

        The adapter is empty where the site ends without it. Files are read once; the log gets their digests, and why
        they were refused, if they were.
        """
        contents: dict[str, bytes] = {}
        what, more = "received", {}
        try:
            contents[MANIFEST] = received_bytes(folder / MANIFEST)
            if os.path.lexists(folder / ADAPTER):
                most = HEADER + 8 * sum(np.asarray(value).nbytes for value in self.first.values())
                contents[ADAPTER] = received_bytes(folder / ADAPTER, most)
            about = (self.coordinator, self.agreed, self.digests, contents[MANIFEST])
            manifest = read_manifest(folder, kind, *about)
            last = manifest.taken.get(self.name, -1)
            if last >= 0 and last not in self.trained:
                raise UserError(f"{folder}: says that round {last} of {self.name} was taken, and none was trained here")
            adapter: dict[str, np.ndarray] = {}
            unheard = last < 0 and self.how.never_sampled != "dropped"
            if kind == "round" or unheard or self.name in self.agreed["recipients"]:
                adapter = read_adapter(folder, contents.get(ADAPTER), manifest, self.first, self.shared)
        except UserError as error:
            what, more = "refused", {"reason": str(error)}
            raise
        finally:
            files = {name: digest(content) for name, content in contents.items()}
            note(self.path, what, "coordinator", files.items(), **more)
        return manifest, last, adapter

    def about(self, stage: SharedStage | PersonalStage) -> tuple[dict[str, np.ndarray], dict[str, int]]:
        """Return the site's style target, where a stage aligns with it, and its participations, where one is spread."""
        target: dict[str, np.ndarray] = {}
        if stage.objective.alignment:
            vectors = read_parquet(self.path / "style.parquet", SOURCE_EMBEDDINGS)
            target = style_targets(vectors, self.texts, [self.name])
        times = sum(self.name in cohort for cohort in self.agreed["cohorts"])
        return target, {self.name: times} if stage.spread else {}

    def settings(self, part: str) -> StageTraining:
        """Return what a job of a stage is handed, with the site's own base."""
        values = {**self.agreed[part], "model": self.model.model_dump(mode="json")}
        return StageTraining.model_validate_json(json.dumps(values))

    def run(self, clients: Sequence[StageClient], stage: SharedStage | PersonalStage, part: str) -> ClientResult:
        """Train the site's one client; its log stays with it."""
        number = clients[0].round_number
        what = f"{self.agreed['row']}, seed {self.seed}, round {number}"
        results = run_stage(self.base, clients, self.texts, stage, self.settings(part), part, self.seed, what)
        log = self.path / "rounds" / str(number) / f"{part}_log.parquet"
        write_parquet(training_log(results, clients, part), log, TRAINING_LOG)
        return results[0]

    def run_personal(
        self, stage: PersonalStage, number: int, start: State, anchor: State | None, weights: Mapping[str, float]
    ) -> dict[str, Mapping[str, np.ndarray]]:
        """Train the personal stage as the job ``train_personal`` does, and return what the client keeps of it."""
        clients = personal_clients({self.name: number}, {self.name: start}, stage, anchor, *self.about(stage), weights)
        parts = kept(self.run(clients, stage, "personal"), start, stage, anchor)
        if stage.mixture is not None and stage.mixture.kind == "similarity" and anchor is not None:
            about = (self.name, stage.mixture, self.settings("personal"), self.seed)
            parts["gate"] = ClientGate(self.base, self.lora, from_arrays(anchor), self.texts, *about).kept()
        return parts


def own_texts(
    planner: Planner, agreed: Agreement, client: str, author: str | None, words: int | None, folder: Path
) -> ClientTexts:
    """Return the texts of ``client``: cleaned, split and, up to ``words`` word units, trained on.

    ``author``: who it is in the raw corpus of the configuration, where that holds others too; ``folder``: where
    intermediate files may lie. Raises ``UserError`` for an author who is not there, and as the workflow's jobs do.
    """
    key = Key(corpus=planner.config.experiments[agreed["experiment"]].corpus)
    building = job_settings(DocumentBuilding, planner.project.corpus_section(key))
    read = ReaderSettings.of(building)
    splitting = Splitting.model_validate_json(json.dumps(agreed["splitting"]))
    texts = TextAllocation.model_validate_json(json.dumps(agreed["texts"]))
    with tempfile.TemporaryDirectory(dir=folder) as place:
        documents, dropped = Path(place) / "documents.parquet", Path(place) / "dropped.parquet"
        source = Path(planner.project.raw_corpus(key))
        others_words = building.filters.others_words
        build_documents(
            source, open_reader(building.reader), building, documents, dropped, None, read, None, others_words
        )
        authors = author_totals(documents)["author"].tolist()
        if author is None and len(authors) > 1:
            raise UserError(f"{source}: holds texts of {len(authors)} authors; name the one of this site by --author")
        if author is not None and author not in authors:
            raise UserError(f"{source}: nobody there is named '{author}'; {nearest(author, authors)}")
        own = author or authors[0]
        splits = split_documents(documents, splitting).splits
        if own not in set(splits["author"]):
            raise UserError(
                f"{source}: {own} has too few documents to be split; the corpus needs 'minimum_posts' of them"
            )
        budget = texts.allocation.model_copy(update={"total_words": words, "shape": "long_tail"})
        roster = pd.DataFrame({"author": [own], "client": [client]})
        return materialise(documents, splits, roster, budget, texts.words)


def init(arguments: argparse.Namespace, planner_of: Callable[[argparse.Namespace], Planner]) -> None:
    """Make a folder a site: check that its configuration, base and encoder are the federation's, and cut its texts.

    Raises ``UserError`` in one line that says what differs, and where the folder is a site already.
    """
    path, client = arguments.site, arguments.client
    if (path / "settings.json").is_file():
        raise UserError(f"{path}: is a site already; give another folder")
    invitation, planner = read_signed(arguments.invitation, Invitation), planner_of(arguments)
    theirs = invitation.agreement
    if theirs.experiment not in planner.config.experiments:
        named = printable(theirs.experiment)
        raise UserError(f"{arguments.invitation}: experiment '{named}' is not in this configuration")
    own = agreement(planner, run_key(theirs.experiment, theirs.seed, theirs.row))
    check_equal(arguments.invitation, own, theirs.model_dump(mode="json"))
    model, first, digests = owned_digests(planner, own)
    check_equal(arguments.invitation, digests, invitation.digests)
    if client not in own["clients"]:
        raise UserError(f"--client {client}: the federation has {', '.join(own['clients'])}; name the one you are")
    path.mkdir(parents=True, exist_ok=True)
    path.chmod(0o700)
    made = own_texts(planner, own, client, arguments.author, arguments.words, path)
    write_parquet(made.texts, path / "texts.parquet", CLIENT_TEXTS)
    write_parquet(made.allocation, path / "allocation.parquet", ALLOCATION)
    if own["encoder"] is not None:
        style_encoder = planner.config.experiments[own["experiment"]].style_encoder
        loaded = planner.project.loaded_encoder(Key(encoder=style_encoder))
        vectors = load_encoder(loaded.spec, loaded.path).encode(made.texts["text"].tolist())
        items = made.texts.rename(columns={"document_id": "item", "split": "kind"})
        style = items[["client", "item", "kind", "topic"]].assign(embedding=list(vectors))
        write_parquet(style, path / "style.parquet", SOURCE_EMBEDDINGS)
    write_safetensors(first, path / "initial.safetensors", {"kind": "shared adapter"})
    words = int(made.allocation["allocated_words"].iloc[0])
    said = {"words": words} if stages(own)[0].weighting == "words" else {}
    write_signed({"client": client, **said}, secret_key(path / "key"), path / "site.json")
    record = {"client": client, "coordinator": invitation.key, "agreement": own, "digests": digests}
    write_json({**record, "model": model.model_dump(mode="json")}, path / "settings.json")
    files = [(each.name, file_digest(each)) for each in (arguments.invitation, path / "site.json")]
    note(path, "joined", "coordinator", files)
    rounds = [str(number) for number, cohort in enumerate(own["cohorts"]) if client in cohort]
    print(f"{client} trains on {words:,} words, in round {', '.join(rounds) or 'none: it was not drawn'}")
    print(f"send {path / 'site.json'} to the coordinator, and compare both keys by another way:")
    print(f"coordinator {invitation.key}\n{client} {public_key(secret_key(path / 'key'))}")
    print("\n".join(UNSEEN))


def new_key(arguments: argparse.Namespace) -> None:
    """Give a site another key, which the old one signs where the site still has it."""
    site = Site(arguments.site)
    path, before = site.path / "key", read_signed(site.path / "site.json", SiteStatement)
    (site.path / "key.new").unlink(missing_ok=True)
    key = secret_key(site.path / "key.new")
    said = before.model_dump(mode="json", include={"client", "words"}, exclude_none=True)
    if path.is_file():
        old = secret_key(path)
        said |= {"replaces": public_key(old), "statement": signature(old, replacement(site.name, public_key(key)))}
    write_signed(said, key, site.path / "site.json")
    (site.path / "key.new").replace(path)
    note(site.path, "new key", site.name, [("site.json", file_digest(site.path / "site.json"))])
    print(f"send {site.path / 'site.json'} to the coordinator, who puts it beside the one before:")
    print(f"{site.name} {public_key(key)}")


def train(arguments: argparse.Namespace) -> None:
    """Train a round and write its upload. Raises ``UserError`` in one line for what the site did not agree to."""
    site = Site(arguments.site)
    lost = "put back your copy, or make another with 'favor site key', which the coordinator must take for yours first"
    key = secret_key(site.path / "key", lost)
    stage, personal, name = site.shared, site.personal, site.name
    manifest, last, shared = site.receive(arguments.round, "round")
    number = manifest.round
    sent = site.upload(number)
    if number not in site.trained:
        if name not in site.agreed["cohorts"][number]:
            raise UserError(f"{arguments.round}: {name} does not take part in round {number}; nothing to train")
        if later := [each for each in site.trained if each > number]:
            raise UserError(f"{arguments.round}: round {later[0]} was trained already; rounds go forward only")
        before = site.kept(last, "endpoints") if stage.carries else {}
        target, participations = site.about(stage)
        about = ([name], number, shared, stage, {name: before}, target, participations)
        clients = shared_clients(*about, site.first, manifest.members)
        result, state = site.run(clients, stage, "shared"), clients[0].state
        site.keep(number, "endpoints", ended(result, state))
        if personal is not None and personal.chained:
            carried = site.kept(last, "personal")
            start = compose(carried) if carried else site.first if personal.begin == "initial" else shared
            learned = carried and personal.mixture is not None and personal.mixture.kind == "learned"
            weights = {name: carried_weight(carried)} if learned else {}
            site.keep(number, "personal", site.run_personal(personal, number, start, shared, weights))
        words = int(read_parquet(site.path / "allocation.parquet", ALLOCATION)["allocated_words"].iloc[0])
        given = rounded(upload(result, shared, stage, state), stage.upload_bits, site.seed, number, name)
        write_upload(sent, name, given, manifest, site.digests, words, key)
    elif safetensors_header(sent)["manifest"] != manifest_digest(manifest):
        raise UserError(f"{arguments.round}: round {number} was trained by another manifest; a round is trained once")
    note(site.path, "to send", "coordinator", [(sent.name, file_digest(sent))], round=number)
    print(f"round {number} is trained; send {sent} to the coordinator")


def export(arguments: argparse.Namespace) -> None:
    """Train what follows the last round that was taken and write what the client generates with, in PEFT's format.

    Raises ``UserError`` where the final shared adapter is needed and not there.
    """
    site, out = Site(arguments.site), arguments.out
    how, stage = site.how, site.personal
    # The final manifest says which of the site's uploads were taken: one that came late counts as never trained.
    manifest, number, final = site.receive(arguments.final, "final")
    if number < 0 and how.never_sampled == "dropped":
        raise UserError(f"{site.agreed['row']}: {site.name} took no part in a round, and so it generates nothing")
    fine_tuned = stage is not None and stage.start == "final"
    parts: Mapping[str, State] = site.kept(number, "endpoints")
    if how.inference == "personal" and stage is not None and (parts or fine_tuned):
        if stage.chained:
            parts = site.kept(number, "personal")
        else:
            start = final if fine_tuned else parts["endpoint"]
            assert start
            parts = site.run_personal(stage, 0 if fine_tuned else number, start, None, {})
    if parts and how.inference != "server":
        adapter = client_adapter(parts, how, final or None, manifest.members)
    else:
        assert final
        adapter = ClientAdapter(from_arrays(final))
    base = site.model.source
    if adapter.token_gate is not None and adapter.companion is not None:  # no plain adapter computes the same
        export_peft(adapter.state, site.lora, base, out / "own")
        export_peft(adapter.companion, site.lora, base, out / "others")
        write_safetensors(adapter.token_gate, out / "gate.safetensors", {"kind": "gate per token"})
    else:
        state, lora = exported(adapter, site.lora)
        export_peft(state, lora, base, out)
    print(f"what {site.name} generates with: {out}")
