"""Training a cohort in the stacked engine, and client after client with transformers.Trainer and PEFT.

``real_base.py`` and ``gpu.py`` compare the two, each side in a process of its own, on the same model, data, steps and
settings.
"""

import argparse
import tempfile
from collections.abc import Sequence

import numpy as np
import torch
from random_models import SHAPES, random_base, timed

from favor.config.models import PROJECTIONS
from favor.lm.base import BaseModel
from favor.lm.lora import LoraState, initial_state
from favor.lm.settings import Lora, Optimisation
from favor.lm.tasks import ClientTask, Piece
from favor.lm.training import train

LORA = Lora(target_modules=PROJECTIONS)


def make_tasks(options: argparse.Namespace, start: LoraState) -> list[ClientTask]:
    """Return tasks with blog-like lengths: log-normal, cut at the longest piece."""
    generator = np.random.default_rng(1)
    vocabulary = SHAPES[options.shape]["vocab_size"]
    tasks = []
    for number in range(options.clients):
        lengths = np.clip(generator.lognormal(np.log(0.6 * options.length), 0.6, options.pieces), 16, options.length)
        pieces = [
            Piece(generator.integers(2, vocabulary, int(length)).astype(np.int32), min(96, int(length) // 2), str(i))
            for i, length in enumerate(lengths)
        ]
        tasks.append(ClientTask(f"client_{number:03d}", pieces, start, epochs=1, stage_seed=number))
    return tasks


def run_stacked(base: BaseModel, tasks: list[ClientTask], settings: Optimisation, lora: Lora = LORA) -> list[LoraState]:
    """Train all clients in the stacked engine and return their adapters."""
    return [result.state for result in train(base, lora, tasks, settings)]


def run_trainer(base: BaseModel, tasks: list[ClientTask], settings: Optimisation, lora: Lora = LORA) -> list[LoraState]:
    """Train client after client with transformers.Trainer and PEFT, padding each micro-batch to its longest row."""
    from peft import (
        LoraConfig,
        get_peft_model,
        get_peft_model_state_dict,
        prepare_model_for_kbit_training,
        set_peft_model_state_dict,
    )
    from torch.nn.utils.rnn import pad_sequence
    from transformers import PrinterCallback, Trainer, TrainingArguments

    def collate(pieces: list[Piece]) -> dict[str, torch.Tensor]:
        tokens = [torch.from_numpy(piece.tokens.astype(np.int64)) for piece in pieces]
        labels = [row.clone() for row in tokens]
        for row, piece in zip(labels, pieces, strict=True):
            row[: piece.response_start] = -100
        mask = [torch.ones_like(row) for row in tokens]
        return {
            "input_ids": pad_sequence(tokens, batch_first=True),
            "attention_mask": pad_sequence(mask, batch_first=True),
            "labels": pad_sequence(labels, batch_first=True, padding_value=-100),
        }

    recomputed = settings.gradient_checkpointing == "on"
    quantised = any(type(layer).__name__ == "Linear4bit" for layer in base.model.modules())
    trained = []
    for task in tasks:
        model = base.model
        if quantised:
            model = prepare_model_for_kbit_training(model, use_gradient_checkpointing=recomputed)
        adapted = get_peft_model(
            model,
            LoraConfig(
                r=lora.rank,
                lora_alpha=int(lora.alpha),
                lora_dropout=lora.dropout,
                target_modules=list(lora.target_modules),
            ),
        )
        set_peft_model_state_dict(adapted, task.start)
        with tempfile.TemporaryDirectory() as folder:
            arguments = TrainingArguments(
                folder,
                per_device_train_batch_size=settings.micro_batch,
                gradient_accumulation_steps=settings.accumulation,
                learning_rate=settings.learning_rate,
                lr_scheduler_type="linear",
                warmup_steps=settings.warmup_fraction,
                max_grad_norm=settings.clip_norm,
                gradient_checkpointing=recomputed,
                num_train_epochs=task.epochs,
                bf16=base.dtype == torch.bfloat16,
                use_cpu=base.device.type == "cpu",
                remove_unused_columns=False,
                report_to="none",
                save_strategy="no",
                logging_strategy="no",
                disable_tqdm=True,
            )
            trainer = Trainer(adapted, arguments, train_dataset=list(task.pieces), data_collator=collate)
            trainer.remove_callback(PrinterCallback)
            trainer.train()
        state = get_peft_model_state_dict(adapted)
        trained.append({name: value.detach().float().cpu().clone() for name, value in state.items()})
        adapted.unload()
        base.model.requires_grad_(False)
    return trained


def apart(one: LoraState, other: LoraState, start: LoraState) -> float:
    """Return |one - other| / |one - start| over all factors together."""
    difference, moved = (
        sum(float((one[name] - values[name]).square().sum()) for name in one) ** 0.5 for values in (other, start)
    )
    return difference / moved


def sides_apart(base: BaseModel, pieces: Sequence[Piece], lora: Lora = LORA) -> float:
    """Return how far apart both sides' adapters are after three steps, as a share of what they moved.

    There is no dropout, and every step reads all pieces: masks and order are what each side draws for itself.
    """
    settings = Optimisation(warmup_fraction=0.0, micro_batch=2, accumulation=-(-len(pieces) // 2))
    lora = lora.model_copy(update={"dropout": 0.0})
    task = ClientTask("client", pieces, initial_state(base.model, lora, 1), epochs=3, stage_seed=1)
    ((ours,), (theirs,)) = (run(base, [task], settings, lora) for run in (run_stacked, run_trainer))
    return apart(ours, theirs, dict(task.start))


def measure(options: argparse.Namespace) -> dict[str, float]:
    """Run one side after a warm-up and return its figures."""
    if options.device == "cpu":
        torch.set_num_threads(options.threads)
    base = random_base(options.shape, options.quantise, options.device)
    settings = Optimisation(
        supervised="response", warmup_counts_from=1, max_length=options.length, gradient_checkpointing=options.recompute
    )
    tasks = make_tasks(options, initial_state(base.model, LORA, 1))
    train_all = run_stacked if options.side == "stacked" else run_trainer
    warm = [ClientTask("warm", tasks[0].pieces[:8], tasks[0].start, 1, 1)]
    train_all(base, warm, settings)
    _, spent = timed(options.device, lambda: train_all(base, tasks, settings))
    return {"tokens": sum(len(piece) for task in tasks for piece in task.pieces), **spent}
