"""Training of ASCE: author classification with an angular margin; the head is discarded afterwards."""

import copy
import math
from collections.abc import Collection, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from sklearn.metrics import accuracy_score, f1_score
from torch import nn
from torch.nn import functional

from favor.encoders.backbones import Backbone, compute_device, load_backbone, make_small_backbone, padded, token_ids
from favor.encoders.kinds.asce import DIMENSION, StyleNetwork, save_asce
from favor.encoders.settings import AsceTraining
from favor.foundation.arithmetic import fast_linear_layers
from favor.foundation.errors import UserError
from favor.foundation.seeds import derive_seed, numpy_generator
from favor.running.jobs.progress import Progress


class ArcFaceHead(nn.Module):
    """Normalised author prototypes w_k and the margin logits of Eq. asce_logits.

        s_a = scale * cos(arccos(w_a . z) + margin),    s_k = scale * w_k . z  for k != a

    ``margin`` is in radians. The equation is taken literally: no monotone fallback past theta + margin = pi.
    Everything runs in float32 even under autocast.
    """

    def __init__(self, dimension: int, authors: int, scale: float = 30.0, margin: float = 0.35) -> None:
        super().__init__()
        self.scale, self.margin = scale, margin
        self.weight = nn.Parameter(torch.empty(authors, dimension))
        nn.init.normal_(self.weight)  # uniform directions on the sphere once normalised

    def cosines(self, embeddings: torch.Tensor) -> torch.Tensor:
        """Cosines w_k . z, float32 [b, authors]; ``embeddings`` [b, d] need not be normalised."""
        with torch.autocast(device_type=embeddings.device.type, enabled=False):
            return functional.linear(_unit(embeddings), _unit(self.weight))

    def forward(self, embeddings: torch.Tensor, authors: torch.Tensor) -> torch.Tensor:
        """Margin logits, float32 [b, authors], for embeddings [b, d] of texts by ``authors`` [b]."""
        return margin_logits(self.cosines(embeddings), authors, self.scale, self.margin)

    def loss(self, embeddings: torch.Tensor, authors: torch.Tensor) -> torch.Tensor:
        """Mean cross-entropy over the margin logits (Eq. asce_loss)."""
        return functional.cross_entropy(self(embeddings, authors), authors)


def margin_logits(cosines: torch.Tensor, authors: torch.Tensor, scale: float, margin: float) -> torch.Tensor:
    """Eq. asce_logits from cosines [b, authors]; values are exact, gradients finite also at cosine +-1.

    cos(arccos(c) + m) = c cos m - sqrt(1 - c^2) sin m, because arccos(c) lies in [0, pi]. The square root's slope
    is infinite at c = +-1; there its argument is held at 1e-12, which lets only the slope cos m of the first term pass.
    """
    target = cosines.gather(1, authors.unsqueeze(1))
    sine = (1.0 - target * target).clamp(min=1e-12).sqrt()
    shifted = target * math.cos(margin) - sine * math.sin(margin)
    return scale * cosines.scatter(1, authors.unsqueeze(1), shifted)


def _unit(rows: torch.Tensor) -> torch.Tensor:
    # float32 for half-precision input; float64 stays, for the gradient check
    return functional.normalize(rows if rows.dtype == torch.float64 else rows.float(), dim=-1)


def train_asce(
    texts: pd.DataFrame,
    settings: AsceTraining,
    source: str | None,
    seed: int,
    folder: Path,
    excluded_authors: Collection[str] = (),
) -> dict[str, object]:
    """Train an encoder on ``texts`` and save it into ``folder``; return its manifest.

    ``source``: the backbone, a Hugging Face id, a local folder or "embedded-minilm". ``settings.small`` replaces it by
    a RoBERTa-like model made from scratch, with a tokenizer that is trained on the encoder's own training texts.

    ``texts`` has columns author, document_id, split (train or validation; other rows are ignored) and text. No author
    of ``excluded_authors`` (the authors of every other role) may be among them: that raises ``UserError``. The epoch
    with the best validation macro-F1 is kept; a text's prediction is its nearest classifier prototype, no margin.
    """
    overlap = sorted(set(texts["author"]) & set(excluded_authors))
    if overlap:
        raise UserError(f"{len(overlap)} ASCE training authors also have another role; fix the roster")
    chosen = choose_texts(texts, settings, seed)
    authors = sorted(chosen.loc[chosen["split"] == "train", "author"].unique())
    if len(authors) < 2:
        raise UserError(f"ASCE needs at least 2 authors with training texts, found {len(authors)}; lower the limits")
    chosen = chosen[chosen["author"].isin(authors)]
    training, validation = (chosen[chosen["split"] == split] for split in ("train", "validation"))
    if validation.empty:
        raise UserError("no ASCE author has a validation text; lower 'minimum_characters' or add texts")
    device = compute_device()
    devices = [torch.cuda.current_device()] if device.type == "cuda" else []
    with torch.random.fork_rng(devices=devices):  # initial weights and dropout draw from torch's global generators
        torch.manual_seed(derive_seed(seed, "asce training"))
        if settings.small is not None:
            backbone = make_small_backbone(settings.small, training["text"].tolist(), settings.maximum_tokens)
        else:
            assert source is not None  # the configuration has one of the two
            backbone = load_backbone(source)
        network = StyleNetwork(backbone).to(device)
        head = ArcFaceHead(DIMENSION, len(authors), settings.scale, settings.margin).to(device)
        with fast_linear_layers(network, settings.precision):
            epochs, best = _fit(network, head, backbone, training, validation, authors, settings, seed)
    manifest = {
        "authors": len(authors),
        "training_texts": len(training),
        "validation_texts": len(validation),
        "overlap_with_other_roles": 0,
        "excluded_authors_checked": len(set(excluded_authors)),
        "seed": seed,
        "best_epoch": best,
        "validation_accuracy": epochs[best - 1]["validation_accuracy"],
        "validation_macro_f1": epochs[best - 1]["validation_macro_f1"],
        "epochs": epochs,
        "parameters": sum(parameter.numel() for parameter in network.parameters()),
    }
    longest = min(settings.maximum_tokens, backbone.longest_input)
    recorded = {**settings.model_dump(), "backbone": source, "maximum_tokens": longest}
    save_asce(folder, network.cpu(), backbone, recorded, manifest)
    return manifest


def choose_texts(texts: pd.DataFrame, settings: AsceTraining, seed: int) -> pd.DataFrame:
    """Cut texts to their first characters, drop short ones, draw at most the allowed number per author and split."""
    prepared = texts[["author", "document_id", "split", "text"]].copy()
    prepared["text"] = prepared["text"].str.strip().str[: settings.maximum_characters]
    prepared = prepared[prepared["text"].str.len() >= settings.minimum_characters]
    limits = {"train": settings.training_texts_per_author, "validation": settings.validation_texts_per_author}
    parts = []
    for (author, split), group in prepared.sort_values(["author", "document_id"]).groupby(["author", "split"]):
        if split in limits:
            order = numpy_generator(seed, "asce texts", str(author), str(split)).permutation(len(group))
            parts.append(group.iloc[np.sort(order[: limits[split]])])
    return pd.concat(parts, ignore_index=True) if parts else prepared.iloc[:0]


def _fit(
    network: StyleNetwork,
    head: ArcFaceHead,
    backbone: Backbone,
    training: pd.DataFrame,
    validation: pd.DataFrame,
    authors: list[str],
    settings: AsceTraining,
    seed: int,
) -> tuple[list[dict[str, float]], int]:
    """Train in place, leave the best epoch's weights in ``network``; return (figures of each epoch, best from 1)."""
    position = {author: index for index, author in enumerate(authors)}
    longest = min(settings.maximum_tokens, backbone.longest_input)
    parts = {"train": training, "validation": validation}
    ids = {name: token_ids(backbone.tokenizer, part["text"].tolist(), longest) for name, part in parts.items()}
    labels = {name: np.array([position[author] for author in part["author"]]) for name, part in parts.items()}
    optimiser = torch.optim.AdamW(_groups(network, head, settings), weight_decay=settings.weight_decay)
    steps = settings.epochs * -(-len(training) // settings.batch_size)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda step: _rate_factor(step, steps, settings))
    progress = Progress("ASCE", steps)
    epochs: list[dict[str, float]] = []
    best, best_state = 0, network.state_dict()
    for epoch in range(1, settings.epochs + 1):
        network.train()
        losses = []
        for batch in _epoch_batches([len(row) for row in ids["train"]], settings.batch_size, seed, epoch):
            embeddings = _embed(network, [ids["train"][index] for index in batch], backbone.padding_id, settings)
            loss = head.loss(embeddings, torch.as_tensor(labels["train"][batch], device=embeddings.device))
            optimiser.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_([*network.parameters(), *head.parameters()], 1.0)
            optimiser.step()
            scheduler.step()
            losses.append(loss.item())
            progress.update(loss=losses[-1])
        figures = _validate(network, head, ids["validation"], labels["validation"], backbone.padding_id, settings)
        epochs.append({"training_loss": float(np.mean(losses)), **figures})
        if best == 0 or figures["validation_macro_f1"] > epochs[best - 1]["validation_macro_f1"]:
            best, best_state = epoch, copy.deepcopy(network.state_dict())
    progress.close()
    network.load_state_dict(best_state)
    return epochs, best


def _groups(network: StyleNetwork, head: ArcFaceHead, settings: AsceTraining) -> list[dict[str, object]]:
    head_rate = settings.learning_rate if settings.head_learning_rate is None else settings.head_learning_rate
    top = [*network.projection.parameters(), *network.norm.parameters(), *head.parameters()]
    backbone = {"params": list(network.backbone.parameters()), "lr": settings.learning_rate}
    return [backbone, {"params": top, "lr": head_rate}]


def _rate_factor(step: int, steps: int, settings: AsceTraining) -> float:
    if step < settings.warm_up:
        return (step + 1) / (settings.warm_up + 1)
    if settings.schedule == "constant":
        return 1.0
    return max(0.0, (steps - step) / max(1, steps - settings.warm_up))


def _epoch_batches(lengths: Sequence[int], batch_size: int, seed: int, epoch: int) -> list[np.ndarray]:
    """Shuffled batches of texts of like length: shuffle, sort within 16 batches' worth, cut, shuffle the batches."""
    generator = numpy_generator(seed, "asce batches", epoch)
    order = generator.permutation(len(lengths))
    window = 16 * batch_size
    batches = []
    for start in range(0, len(order), window):
        part = order[start : start + window]
        part = part[np.argsort(np.asarray(lengths)[part], kind="stable")]
        batches += [part[at : at + batch_size] for at in range(0, len(part), batch_size)]
    return [batches[index] for index in generator.permutation(len(batches))]


def _embed(network: StyleNetwork, rows: list[list[int]], padding_id: int, settings: AsceTraining) -> torch.Tensor:
    device = network.projection.weight.device
    tokens, mask = padded(rows, padding_id)
    with torch.autocast(device_type=device.type, dtype=torch.bfloat16, enabled=settings.precision == "bfloat16"):
        embeddings: torch.Tensor = network(tokens.to(device), mask.to(device))
    return embeddings


def _validate(
    network: StyleNetwork,
    head: ArcFaceHead,
    ids: list[list[int]],
    labels: np.ndarray,
    padding_id: int,
    settings: AsceTraining,
) -> dict[str, float]:
    network.eval()
    order = np.argsort([len(row) for row in ids], kind="stable")
    predictions = np.empty(len(ids), dtype=np.int64)
    with torch.inference_mode():
        for start in range(0, len(order), 64):
            batch = order[start : start + 64]
            embeddings = _embed(network, [ids[index] for index in batch], padding_id, settings)
            predictions[batch] = head.cosines(embeddings).argmax(dim=1).cpu().numpy()
    return {
        "validation_accuracy": float(accuracy_score(labels, predictions)),
        "validation_macro_f1": float(
            f1_score(labels, predictions, labels=np.unique(labels), average="macro", zero_division=0)
        ),
    }
