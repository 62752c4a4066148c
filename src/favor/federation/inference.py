"""What each client generates with: its own adapter, a gated pair (FedDPA), the shared adapter, or the base alone."""

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

from favor.federation.client_archive import State, read_packs
from favor.federation.exchange import parted
from favor.federation.fedex_residual import joined
from favor.federation.gates import gate_values
from favor.federation.method import POOLED, Inference
from favor.federation.ranks import as_received, at_rank
from favor.federation.server import mean_of_others
from favor.federation.stages import compose, with_final
from favor.foundation.errors import UserError
from favor.foundation.lazy import LazyMapping
from favor.foundation.tensors import read_safetensors
from favor.inference.generation import GenerationRequest, generate, last_token_states
from favor.inference.sampling import Sampling
from favor.lm.base import BaseModel
from favor.lm.batch_limits import Widths
from favor.lm.lora import LoraState, concatenate_rank, from_arrays
from favor.lm.peft_import import import_peft
from favor.lm.settings import Decoding, Lora
from favor.running.jobs.progress import Progress


@dataclass(frozen=True)
class ClientAdapter:
    """One client's adapter; with ``companion`` its output is gate * companion + (1 - gate) * state.

    ``gate`` is NaN without a mixture of one weight; ``references`` [m, d] and their ``coefficient`` are set where the
    gate follows the prompt, the vectors ``token_gate`` where it follows every token. ``rank``: the client's own, up to
    which ``state`` is not zero; None: that of ``state``.
    """

    state: LoraState
    companion: LoraState | None = None
    gate: float = math.nan
    references: np.ndarray | None = None
    coefficient: float = math.nan
    token_gate: LoraState | None = None
    rank: int | None = None


def client_adapter(
    parts: Mapping[str, State], how: Inference, final: State | None = None, members: int = 0
) -> ClientAdapter:
    """Return what a client generates with from what it keeps.

    ``final``: the final shared adapter, where it has it; ``members``: how many clients' mean that is, if it is one.
    """
    mixture = how.mixture
    if mixture is None:
        own = compose(parts)
        if how.inference == "endpoint" and how.global_half == "final":
            own = with_final(own, _needed(final), how.uploads)
        return ClientAdapter(from_arrays(own))
    if mixture.kind == "token":
        own = parts["endpoint"]
        others = mean_of_others(_needed(final), own, members)
        return ClientAdapter(from_arrays(own), from_arrays(others), token_gate=from_arrays(parts["gate"]))
    own, shared = parts["adapter"], parts["companion"]
    if how.global_half == "final":
        shared = _needed(final)
    if mixture.kind == "sum":
        # A sum is the even mixture of twice both, exactly: powers of two lose no bit.
        return ClientAdapter(from_arrays(_doubled(own)), from_arrays(_doubled(shared)), 0.5)
    gate = float(parts["gate"]["value"][0])
    if how.gating == "dynamic":
        references = np.asarray(parts["gate"]["references"])
        return ClientAdapter(from_arrays(own), from_arrays(shared), gate, references, mixture.coefficient)
    if mixture.export == "factors":
        # The released export: factors are averaged, which is not a mixture of the adapters' outputs.
        mean = LazyMapping(own, lambda key: np.asarray(gate * shared[key] + (1 - gate) * own[key]))
        return ClientAdapter(from_arrays(mean), gate=gate)
    return ClientAdapter(from_arrays(own), from_arrays(shared), gate)


def _doubled(state: State) -> State:
    """Return the adapter of twice the output: B is doubled."""
    return LazyMapping(sorted(state), lambda key: 2 * state[key] if ".lora_B." in key else state[key])


def _needed(final: State | None) -> State:
    if final is None:
        raise ValueError("the final shared adapter is not among the adapters")
    return final


def client_adapters(files: Iterable[str], clients: Sequence[str], how: Inference) -> dict[str, ClientAdapter | None]:
    """Return the adapter of every client that generates, None for the base alone.

    ``files``: packs, and the final shared adapter ("adapter.safetensors"), which clients without a pack use unless
    ``never_sampled`` is "dropped": those are left out.
    """
    paths = list(files)
    shared = [path for path in paths if path.endswith("adapter.safetensors")]
    packs = read_packs(path for path in paths if path not in shared)
    final, header = read_safetensors(shared[0]) if shared else (None, {})
    members = int(header.get("members", 0))
    seed = int(header.get("seed", 0))
    sent = {} if final is None else as_received(final, how.ranks, seed, {**dict.fromkeys(clients), **packs})
    own = {client: client_adapter(parts, how, sent.get(client), members) for client, parts in packs.items() if parts}
    pooled = own.get(POOLED)
    # Clients that are sent one adapter share it.
    rest = {id(state): ClientAdapter(from_arrays(joined(parted(state)[0]))) for state in sent.values()}
    chosen = {client: own.get(client, pooled or rest.get(id(sent.get(client)))) for client in clients}
    if how.ranks is not None:
        chosen = _filled(chosen, max(how.ranks))
    dropped = how.never_sampled == "dropped"
    return {client: adapter for client, adapter in chosen.items() if client in own or not dropped}


def _filled(adapters: Mapping[str, ClientAdapter | None], rank: int) -> dict[str, ClientAdapter | None]:
    """Return adapters of several ranks as ones of ``rank``, which are computed together; each keeps its own."""
    made = {
        id(adapter): dataclasses.replace(
            adapter, state=from_arrays(at_rank(adapter.state, rank)), rank=_rank(adapter.state)
        )
        for adapter in adapters.values()
        if adapter is not None
    }
    return {client: None if adapter is None else made[id(adapter)] for client, adapter in adapters.items()}


def generating(adapters: Mapping[str, ClientAdapter | None], lora: Lora) -> Lora:
    """Return ``lora`` at the rank of what clients generate with, and the same scaling (FedEx-LoRA's is higher)."""
    states = [adapter.state for adapter in adapters.values() if adapter is not None]
    return _at_rank_of(states[0], lora) if states else lora


def _rank(state: LoraState) -> int:
    return len(next(state[name] for name in state if ".lora_A." in name))


def _at_rank_of(state: LoraState, lora: Lora) -> Lora:
    rank = _rank(state)
    return lora if rank == lora.rank else lora.model_copy(update={"rank": rank, "alpha": lora.scaling * rank})


def foreign_adapters(files: Iterable[str], clients: Sequence[str]) -> tuple[dict[str, ClientAdapter | None], Lora]:
    """Return the adapter of every client from folders in PEFT's format that bear their names, and their settings.

    ``files``: those in the folders. Raises ``UserError`` for a client without a folder and a folder without a client.
    """
    folders = {path.name: path for path in sorted({Path(file).parent for file in files})}
    for one, others, remedy in ((clients, folders, "add it"), (folders, clients, "remove it")):
        if missing := sorted(set(one) - set(others)):
            what = "no adapter" if one is clients else "no client"
            raise UserError(f"adapters: {what} is named '{missing[0]}' ({len(missing)} such in all); {remedy}")
    states, settings = import_peft(folders.values())
    return {client: ClientAdapter(states[client]) for client in clients}, settings


def prompt_gates(
    base: BaseModel,
    lora: Lora,
    prompts: Sequence[tuple[str, str, Sequence[int]]],
    adapters: Mapping[str, ClientAdapter | None],
) -> dict[str, float]:
    """Return the gate of every (prompt id, client, tokens) whose client has one: its mean, or the prompt's own."""
    gates: dict[str, float] = {}
    for client, adapter in adapters.items():
        own = [(name, tokens) for name, owner, tokens in prompts if owner == client]
        if adapter is None or math.isnan(adapter.gate) or not own:
            continue
        gates |= dict.fromkeys((name for name, _ in own), adapter.gate)
        if adapter.references is not None and adapter.companion is not None:
            states = last_token_states(base, lora, adapter.companion, [tokens for _, tokens in own])
            values = gate_values(states, adapter.references, adapter.coefficient)
            gates |= {name: float(value) for (name, _), value in zip(own, values, strict=True)}
    return gates


def requests(
    prompts: Sequence[tuple[str, str, Sequence[int]]],
    adapters: Mapping[str, ClientAdapter | None],
    gates: Mapping[str, float],
) -> list[GenerationRequest]:
    """Return one generation request per (prompt id, client, tokens)."""

    def request(name: str, adapter: ClientAdapter | None, tokens: Sequence[int]) -> GenerationRequest:
        if adapter is None:
            return GenerationRequest(name, tokens)
        gate = 0.0 if adapter.companion is None or adapter.token_gate is not None else gates[name]
        return GenerationRequest(name, tokens, adapter.state, adapter.companion, gate, token_gate=adapter.token_gate)

    return [request(name, adapters[client], tokens) for name, client, tokens in prompts]


def distinct(asked: Sequence[GenerationRequest]) -> tuple[list[GenerationRequest], list[int]]:
    """Return the requests of which no two give one text, and the place among them of every request in ``asked``.

    Clients that share an adapter continue a common prompt once.
    """
    keys = [
        (one.adapter, one.gate if one.companion is not None else None, tuple(one.prompt_tokens), one.stream)
        for one in asked
    ]
    first = {key: place for place, key in reversed(list(enumerate(keys)))}
    kept = sorted(first.values())
    number = {place: at for at, place in enumerate(kept)}
    return [asked[place] for place in kept], [number[first[key]] for key in keys]


def exported(adapter: ClientAdapter, lora: Lora) -> tuple[LoraState, Lora]:
    """Return one plain adapter that computes the same, and its settings: a gated pair has twice the rank and alpha.

    A gate per token is not a plain adapter; the planner refuses its export.
    """
    if adapter.companion is None:
        own = adapter.state if adapter.rank is None else from_arrays(at_rank(adapter.state, adapter.rank))
        return own, _at_rank_of(own, lora)
    if adapter.token_gate is not None:
        raise ValueError("a gate per token cannot be exported as one adapter")
    joined = concatenate_rank(adapter.companion, adapter.state, adapter.gate)
    return joined, lora.model_copy(update={"rank": 2 * lora.rank, "alpha": 2 * lora.alpha})


def answers(
    base: BaseModel,
    lora: Lora,
    run: pd.DataFrame,
    asked: Sequence[GenerationRequest],
    settings: Decoding,
    title: str,
    widths: Widths | None = None,
) -> tuple[pd.DataFrame, list[list[int]]]:
    """Return ``run`` with a row per sample (column sample, from 0), and the new tokens of every row.

    run: seed, method, client and prompt_id of every request of ``asked``. Greedy decoding (``temperature`` 0) gives one
    sample. A sampled continuation is drawn with the stream (seed, method, prompt, sample): clients draw with the same
    numbers on one prompt, so that they differ by their adapters alone.
    """
    count = settings.samples
    rows = run.loc[run.index.repeat(count)].assign(sample=np.tile(np.arange(count, dtype=np.int32), len(run)))
    repeated = [request for request in asked for _ in range(count)]
    sampling = None
    if settings.temperature:
        sampling = Sampling(settings.temperature, settings.top_p)
        names = zip(*(rows[key].tolist() for key in ("seed", "method", "prompt_id", "sample")), strict=True)
        repeated = [replace(request, stream=name) for request, name in zip(repeated, names, strict=True)]
    own, places = distinct(repeated)
    progress = Progress(title, len(own), "texts")
    limits = (settings.max_new_tokens, settings.repetition_penalty, settings.rows_per_batch)
    found = generate(base, lora, own, *limits, progress, widths, sampling)
    progress.close()
    return rows.reset_index(drop=True), [found[place] for place in places]


def adapted_requests(
    base: BaseModel,
    lora: Lora,
    prompts: pd.DataFrame,
    adapters: Mapping[str, ClientAdapter | None],
) -> tuple[list[GenerationRequest], list[float | None]]:
    """Return the request of every row of ``prompts`` (client, prompt_id, prompt_tokens) and its gate, if it has one.

    ``adapters``: what each client generates with (:func:`favor.federation.inference.client_adapters`).
    """
    columns = zip(prompts["client"], prompts["prompt_id"], prompts["prompt_tokens"], strict=True)
    opening = base.opening
    rows = [(f"{prompt} of {client}", str(client), [*opening, *map(int, tokens)]) for client, prompt, tokens in columns]
    gates = prompt_gates(base, lora, rows, adapters)
    return requests(rows, adapters, gates), [gates.get(name) for name, _, _ in rows]
