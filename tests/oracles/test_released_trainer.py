"""`protocol: released` against the released trainers' own tools: transformers.Trainer, its collator, PEFT, one round.

From the same round-0 adapter, texts, order and dropout 0, the deltas of one local stage agree to 1e-5. The trainer's
weighting of accumulated micro-batches is the library's own (token mean over the effective batch).
"""

import itertools
from collections.abc import Iterator

import numpy as np
import pytest
import torch
from tests.lm.conftest import *  # noqa: F403 - the small model's fixtures
from tests.lm.conftest import optimisation, under_peft
from torch.nn.utils.rnn import pad_sequence

from favor.config.models import PROJECTIONS
from favor.config.protocol import SWITCHES
from favor.federation.server import delta
from favor.federation.stages import as_arrays
from favor.lm.lora import initial_state
from favor.lm.settings import Lora
from favor.lm.tasks import ClientTask, cut_pieces, plan_steps
from favor.lm.training import train

RELEASED = {switch.key: switch.released for switch in SWITCHES}
LONGEST = 24


@pytest.mark.parametrize("proximal", [0.0, 0.05])
def test_one_local_stage_agrees_with_the_trainer(proximal, base, model_folder, tmp_path) -> None:
    from peft import get_peft_model_state_dict
    from transformers import Trainer, TrainingArguments

    lora = Lora(rank=4, alpha=8, dropout=0.0, target_modules=PROJECTIONS)
    start = initial_state(base.model, lora, 3)
    generator = np.random.default_rng(8)
    texts = [generator.integers(5, 200, size=length).tolist() for length in (40, 9, 24, 17, 30, 12, 21, 8, 26, 15, 19)]
    pieces = [
        piece
        for number, tokens in enumerate(texts)
        for piece in cut_pieces(tokens, str(number), 4, LONGEST, RELEASED["training.pieces"])
    ]
    assert [len(piece) for piece in pieces] == [min(len(tokens), LONGEST) for tokens in texts]
    released = {key: RELEASED[f"training.{key}"] for key in ("warmup_counts_from", "supervised")}
    settings = optimisation(max_length=LONGEST, warmup_fraction=0.03, group_by_length=False, **released)
    task = ClientTask("client_001", pieces, start, 3, 17, anchor=start if proximal else None, proximal=proximal)
    ours = delta(as_arrays(train(base, lora, [task], settings)[0].state), as_arrays(start))

    model = under_peft(model_folder, lora, start)
    micro, accumulation = settings.micro_batch, settings.accumulation
    steps = plan_steps([len(piece) for piece in pieces], 3, micro, accumulation, 17, group_by_length=False)
    # The trainer reads our order pass by pass: a short last step of each is kept apart by its epochs.
    order = iter([index for step in steps for group in step for index in group])

    def collate(rows) -> dict[str, torch.Tensor]:
        labels = pad_sequence([torch.tensor(row["input_ids"]) for row in rows], batch_first=True, padding_value=-100)
        return {"input_ids": labels.clamp(min=0), "attention_mask": (labels >= 0).long(), "labels": labels}

    class InOurOrder(torch.utils.data.Sampler):
        """One pass after another."""

        def __iter__(self) -> Iterator[int]:
            return itertools.islice(order, len(pieces))

        def __len__(self) -> int:
            return len(pieces)

    class Proximal(Trainer):
        def _get_train_sampler(self, *_) -> torch.utils.data.Sampler:
            return InOurOrder()

        def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None) -> torch.Tensor:
            loss = super().compute_loss(model, inputs, return_outputs, num_items_in_batch)
            trained = {name: parameter for name, parameter in model.named_parameters() if parameter.requires_grad}
            distance = sum(((parameter - reference[name]) ** 2).sum() for name, parameter in trained.items())
            # The penalty belongs to the step, once: this micro-batch's share of it.
            return loss + proximal * distance / self.current_gradient_accumulation_steps

    reference = {name: p.detach().clone() for name, p in model.named_parameters() if p.requires_grad}
    batches = {"per_device_train_batch_size": micro, "gradient_accumulation_steps": accumulation}
    passes = {"learning_rate": settings.learning_rate, "warmup_steps": 1, "num_train_epochs": 3, "max_grad_norm": 1.0}
    quiet = {"save_strategy": "no", "report_to": "none", "use_cpu": True, "disable_tqdm": True}
    arguments = TrainingArguments(str(tmp_path), remove_unused_columns=False, **batches, **passes, **quiet)
    data = [{"input_ids": piece.tokens.tolist()} for piece in pieces]
    Proximal(model=model, args=arguments, train_dataset=data, data_collator=collate).train()
    theirs = delta(as_arrays({k: v.detach() for k, v in get_peft_model_state_dict(model).items()}), as_arrays(start))
    largest = max(float(np.abs(ours[key]).max()) for key in ours)
    assert largest > 1e-2
    for key in ours:
        np.testing.assert_allclose(ours[key], theirs[key], rtol=0, atol=1e-5)
