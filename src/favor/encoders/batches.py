"""Fixed, length-sorted batches of texts for transformer encoders."""

from collections.abc import Callable, Sequence

import numpy as np
import torch
from tokenizers import Tokenizer

from favor.running.devices.gpu_memory import fitting_batches
from favor.running.jobs.progress import Progress


def token_ids(tokenizer: Tokenizer, texts: Sequence[str], maximum_tokens: int) -> list[list[int]]:
    """Return the token ids of each text, special tokens included, cut to ``maximum_tokens``."""
    tokenizer.no_padding()
    tokenizer.enable_truncation(max_length=maximum_tokens)
    return [encoding.ids for encoding in tokenizer.encode_batch(list(texts))]


def padded(ids: Sequence[Sequence[int]], padding_id: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return (ids, mask), both int64 [n, longest], padded on the right; the mask is 1 on tokens."""
    longest = max(len(row) for row in ids)
    tokens = torch.full((len(ids), longest), padding_id, dtype=torch.long)
    mask = torch.zeros((len(ids), longest), dtype=torch.long)
    for index, row in enumerate(ids):
        tokens[index, : len(row)] = torch.as_tensor(row, dtype=torch.long)
        mask[index, : len(row)] = 1
    return tokens, mask


def encode_in_batches(
    texts: Sequence[str],
    tokenise: Callable[[Sequence[str]], list[list[int]]],
    forward: Callable[[torch.Tensor, torch.Tensor], torch.Tensor],
    dimension: int,
    padding_id: int,
    batch_size: int,
    progress: Progress | None = None,
) -> np.ndarray:
    """Encode as :func:`by_length` does; ``forward`` maps (ids, mask) [b, t] to embeddings [b, dimension]."""
    distinct = sorted(set(texts))
    ids = tokenise(distinct) if distinct else []

    def encode(chosen: Sequence[int]) -> np.ndarray:
        return forward(*padded([ids[index] for index in chosen], padding_id)).float().cpu().numpy()

    return by_length(texts, distinct, [len(row) for row in ids], encode, dimension, batch_size, progress)


def by_length(
    texts: Sequence[str],
    distinct: Sequence[str],
    lengths: Sequence[int],
    encode: Callable[[Sequence[int]], np.ndarray],
    dimension: int,
    batch_size: int,
    progress: Progress | None = None,
) -> np.ndarray:
    """Encode every distinct text once and return float32 [len(texts), dimension].

    ``lengths`` are the token counts of ``distinct``, the sorted texts; ``encode`` maps places in it to rows
    [b, dimension]. Batches hold texts of like length, so padding is small, and do not depend on the order of
    ``texts``. On a GPU that runs out of memory batches are halved.
    """
    order = sorted(range(len(distinct)), key=lambda index: (lengths[index], distinct[index]))
    rows = np.empty((len(distinct), dimension), dtype=np.float32)
    with torch.inference_mode():
        for chosen, found in fitting_batches(order, batch_size, encode, "text"):
            rows[chosen] = found
            if progress is not None:
                progress.update(len(chosen))
    position = {text: index for index, text in enumerate(distinct)}
    return rows[[position[text] for text in texts]] if len(texts) else np.empty((0, dimension), dtype=np.float32)
