"""Read the adapters and uploads of one run as an attacker would: losses of texts, links, secrets, canary clients."""

from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from favor.corpora.documents import copied_documents
from favor.corpora.held_out import held_out_texts
from favor.corpora.schemas import CLIENT_TEXTS, ROSTER, SPLITS
from favor.federation.client_archive import State, read_packs
from favor.federation.inference import client_adapters, exported
from favor.federation.method import Inference
from favor.foundation.parquet import read_parquet, write_parquet
from favor.foundation.tensors import open_safetensors
from favor.lm.base import open_base
from favor.running.jobs.job import job
from favor.studies.privacy import schemas
from favor.studies.privacy.losses import Trajectory, first_pieces, read_canaries, read_losses, trained_texts
from favor.studies.privacy.vectors import canary_cosines, link_cosines, upload_norms
from favor.studies.settings import PrivacyReading


def rounds_of(files: Sequence[str], part: str = "delta") -> list[dict[str, State]]:
    """Return of every round the delta of each client, or another part, from the packs of all rounds in their order."""
    remaining = iter(files)
    packs = (read_packs(islice(remaining, jobs)) for jobs in settings.jobs) if files else ()
    return [{client: parts[part] for client, parts in pack.items()} for pack in packs]


with job(snakemake, PrivacyReading) as settings:
    seed, method = int(snakemake.wildcards.seed), snakemake.wildcards.method
    lora, most, drawn = settings.lora, settings.texts, settings.seed
    texts = read_parquet(snakemake.input.texts, CLIENT_TEXTS)
    corpus = (read_parquet(snakemake.input.splits, SPLITS), read_parquet(snakemake.input.roster, ROSTER))
    authors = [*settings.clients, *settings.absent]
    copied = copied_documents(snakemake.input.near_duplicates)
    fresh = held_out_texts(Path(snakemake.input.documents), *corpus, authors, most, drawn, copied)
    base = open_base(settings.model, lora, settings.max_length)

    server = [open_safetensors(path)[0] for path in snakemake.input.server]
    adapters, personal_lora = {}, lora
    if snakemake.input.personal:
        made = client_adapters(snakemake.input.personal, settings.clients, Inference.of(settings.generates))
        assert all(adapter is not None for adapter in made.values())
        joined = {client: exported(adapter, lora) for client, adapter in made.items() if adapter is not None}
        adapters = {client: state for client, (state, _) in joined.items()}
        personal_lora = next(iter(joined.values()))[1]
    remade = open_safetensors(snakemake.input.remade[0])[0] if snakemake.input.remade else None
    kept = rounds_of(snakemake.input.kept, "endpoint")
    run = Trajectory(server, rounds_of(snakemake.input.uploads), adapters, personal_lora, remade, settings.left, kept)
    losses = read_losses(
        base,
        lora,
        run,
        first_pieces(base, fresh, "text", settings),
        first_pieces(base, trained_texts(texts, most, drawn), "training_text", settings),
        settings.least_share,
    )
    canaries = schemas.PRIVACY_CANARIES.empty().drop(columns=["seed", "method"])
    if settings.planted is not None:
        canary_server = [open_safetensors(path)[0] for path in snakemake.input.canary_server]
        kept = rounds_of(snakemake.input.canary_kept, "endpoint")
        planted = Trajectory(canary_server, rounds_of(snakemake.input.canary_uploads), {}, lora, kept=kept)
        canaries = read_canaries(base, lora, planted, settings.planted, settings, seed)
    clients = schemas.PRIVACY_CANARY_CLIENTS.empty().drop(columns=["seed", "method"])
    if settings.canary_clients is not None:
        clients = canary_cosines(server, run.uploads, settings.canary_clients, drawn)
    for frame, table, output in (
        (losses, schemas.PRIVACY_LOSSES, snakemake.output.losses),
        (link_cosines(run.uploads), schemas.PRIVACY_LINKS, snakemake.output.links),
        (canaries, schemas.PRIVACY_CANARIES, snakemake.output.canaries),
        (clients, schemas.PRIVACY_CANARY_CLIENTS, snakemake.output.canary_clients),
        (upload_norms(run.uploads), schemas.PRIVACY_NORMS, snakemake.output.norms),
    ):
        write_parquet(frame.assign(seed=seed, method=method), output, table)
