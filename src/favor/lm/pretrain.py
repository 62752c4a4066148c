"""A small Qwen2 trained from scratch, so that experiments run without a download or a GPU."""

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from favor.foundation.arithmetic import fast_linear_layers
from favor.foundation.errors import UserError
from favor.foundation.seeds import derive_seed, numpy_generator
from favor.lm.losses import token_cross_entropy
from favor.lm.optimiser import AdamW, cosine_schedule
from favor.lm.saving import written_whole
from favor.lm.settings import ModelTraining
from favor.lm.tokenizer import END_TOKEN, PAD_TOKEN, load_tokenizer
from favor.running.jobs.progress import Progress

_ENCODE_AT_ONCE = 4096
HELD_OUT_FRACTION = 0.02  # of the texts, kept for the closing loss
WEIGHT_DECAY, WARMUP_FRACTION, CLIP_NORM = 0.01, 0.05, 1.0


@dataclass(frozen=True)
class PretrainReport:
    """What pretraining reached: optimiser steps, tokens seen, parameters, losses of every step in nats per token."""

    steps: int
    tokens: int
    parameters: int
    losses: list[float]
    held_out_loss: float


def pretrain(
    texts: Sequence[str],
    tokenizer_folder: str | Path,
    settings: ModelTraining,
    seed: int,
    folder: str | Path,
    progress: Progress | None = None,
) -> PretrainReport:
    """Train a Qwen2 on ``texts`` packed into windows, AdamW with a cosine schedule, and save it to ``folder``.

    Texts are joined by the end-of-text token. The model and tokenizer are written as transformers reads them
    (safetensors), whole or not at all. The same arguments give the same bytes on the same machine with the same number
    of threads.

    Raises ``UserError`` where there is too little text, the settings cannot be a model, or the loss is not finite.
    """
    tokenizer = load_tokenizer(str(tokenizer_folder))
    end = tokenizer.token_id(END_TOKEN)
    assert end is not None  # train_tokenizer adds it
    held_out_texts, training_texts = _hold_out(texts, HELD_OUT_FRACTION, seed)
    training = _pack(training_texts, tokenizer.encode_many, end, settings.sequence_length)
    held_out = _pack(held_out_texts, tokenizer.encode_many, end, settings.sequence_length)
    if len(training) < settings.batch_size or len(held_out) == 0:
        raise UserError(
            f"pretrain: {len(training)} windows of {settings.sequence_length} tokens to train on, {len(held_out)} to "
            f"hold out; a batch needs {settings.batch_size}: give more background text or a smaller batch"
        )
    model = _new_model(settings, tokenizer.vocabulary_size, end, tokenizer.token_id(PAD_TOKEN), seed)
    tokens_a_step = settings.batch_size * settings.sequence_length
    steps = max(1, round(settings.tokens / tokens_a_step))
    with fast_linear_layers(model, settings.precision):
        losses = _optimise(model, training, settings, steps, seed, progress)
        held_out_loss = _evaluate(model, held_out, settings)
    _save(model, Path(tokenizer_folder), Path(folder))
    return PretrainReport(
        steps=steps,
        tokens=steps * tokens_a_step,
        parameters=sum(parameter.numel() for parameter in model.parameters()),
        losses=losses,
        held_out_loss=held_out_loss,
    )


def _hold_out(texts: Sequence[str], fraction: float, seed: int) -> tuple[list[str], list[str]]:
    order = numpy_generator(seed, "pretraining held-out texts").permutation(len(texts))
    count = max(1, round(fraction * len(texts)))
    chosen = set(order[:count].tolist())
    return (
        [text for index, text in enumerate(texts) if index in chosen],
        [text for index, text in enumerate(texts) if index not in chosen],
    )


def _pack(texts: Sequence[str], encode_many: Any, end: int, length: int) -> np.ndarray:
    """Return windows [n, length] int32 of the texts' tokens, joined by the end token; the rest is dropped."""
    stream: list[np.ndarray] = []
    for start in range(0, len(texts), _ENCODE_AT_ONCE):
        encoded = encode_many(texts[start : start + _ENCODE_AT_ONCE])
        stream += [np.asarray([*tokens, end], dtype=np.int32) for tokens in encoded]
    flat = np.concatenate(stream) if stream else np.empty(0, dtype=np.int32)
    return flat[: len(flat) // length * length].reshape(-1, length)


def _new_model(settings: ModelTraining, vocabulary: int, end: int, pad: int | None, seed: int) -> Any:
    from transformers.models.qwen2 import Qwen2Config, Qwen2ForCausalLM

    if settings.hidden_size % settings.heads or settings.heads % settings.key_value_heads:
        raise UserError("pretrain: hidden_size must be a multiple of heads, and heads of key_value_heads")
    if settings.sequence_length > settings.context_length:
        raise UserError("pretrain: sequence_length must not exceed context_length")
    configuration = Qwen2Config(
        vocab_size=vocabulary,
        hidden_size=settings.hidden_size,
        intermediate_size=settings.intermediate_size,
        num_hidden_layers=settings.layers,
        num_attention_heads=settings.heads,
        num_key_value_heads=settings.key_value_heads,
        max_position_embeddings=settings.context_length,
        tie_word_embeddings=True,
        bos_token_id=None,
        eos_token_id=end,
        pad_token_id=pad,
        initializer_range=settings.hidden_size**-0.5 / 2,
    )
    # transformers draws initial weights from the global generator: fork it, so that the caller's is left alone.
    with torch.random.fork_rng():
        torch.manual_seed(derive_seed(seed, "pretraining initial weights"))
        return Qwen2ForCausalLM(configuration)


def _optimise(
    model: Any, windows: np.ndarray, settings: ModelTraining, steps: int, seed: int, progress: Progress | None
) -> list[float]:
    """Train in place and return the loss of every step."""
    parameters = list(model.parameters())
    # One flat vector for values and one for gradients: a single optimiser update and norm a step.
    size = sum(parameter.numel() for parameter in parameters)
    values, gradients = torch.empty(size), torch.zeros(size)
    start = 0
    for parameter in parameters:
        part = slice(start, start + parameter.numel())
        values[part] = parameter.detach().reshape(-1)
        parameter.data = values[part].view(parameter.shape)
        parameter.grad = gradients[part].view(parameter.shape)
        start = part.stop
    optimiser = AdamW(size, values.device, 0.9, 0.95, 1e-8, WEIGHT_DECAY)
    losses: list[float] = []
    for step, batch in enumerate(_batches(windows, settings.batch_size, steps, seed)):
        loss = _loss(model, batch, settings.precision)
        loss.backward()
        norm = float(torch.linalg.vector_norm(gradients))
        losses.append(float(loss.detach()))
        if not np.isfinite(norm) or not np.isfinite(losses[-1]):
            raise UserError(f"pretrain: the loss is not finite at step {step + 1}; lower the learning rate")
        gradients.mul_(min(1.0, CLIP_NORM / (norm + 1e-6)))
        rate = settings.learning_rate * cosine_schedule(step, steps, WARMUP_FRACTION)
        optimiser.step(values, gradients, rate)
        gradients.zero_()
        if progress is not None:
            progress.update(batch.size, loss=losses[-1])
    return losses


def _batches(windows: np.ndarray, batch_size: int, steps: int, seed: int) -> Any:
    """Yield ``steps`` batches [batch_size, length]; every pass shuffles again, incomplete batches are dropped."""
    done = epoch = 0
    while done < steps:
        order = numpy_generator(seed, "pretraining order", epoch).permutation(len(windows))
        for first in range(0, len(order) - batch_size + 1, batch_size):
            if done == steps:
                return
            yield windows[order[first : first + batch_size]]
            done += 1
        epoch += 1


def _loss(model: Any, batch: np.ndarray, precision: str) -> torch.Tensor:
    """Return the token mean of next-token cross-entropy over a batch of windows."""
    tokens = torch.from_numpy(batch.astype(np.int64))
    with torch.autocast("cpu", dtype=torch.bfloat16, enabled=precision == "bfloat16"):
        states = model.base_model(input_ids=tokens, use_cache=False).last_hidden_state[:, :-1]
        labels = tokens[:, 1:].reshape(-1)
        weights = torch.full((len(labels),), 1.0 / len(labels))
        states = states.reshape(len(labels), -1).float()
        return token_cross_entropy(states, model.get_output_embeddings(), labels, weights)[0]


def _evaluate(model: Any, windows: np.ndarray, settings: ModelTraining) -> float:
    starts = range(0, len(windows), settings.batch_size)
    batches = [windows[start : start + settings.batch_size] for start in starts]
    with torch.no_grad():
        losses = [float(_loss(model, batch, settings.precision)) * len(batch) for batch in batches]
    return sum(losses) / len(windows)


def _save(model: Any, tokenizer_folder: Path, folder: Path) -> None:
    for parameter in model.parameters():
        parameter.grad = None
        parameter.data = parameter.detach().clone()
    with written_whole(folder) as partial:
        model.save_pretrained(partial)
        for name in ("tokenizer.json", "tokenizer_config.json"):
            shutil.copyfile(tokenizer_folder / name, partial / name)
