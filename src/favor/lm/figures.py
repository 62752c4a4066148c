"""What the passes of one optimiser step measure, per client."""

import math

import torch

_COLUMNS = ("task_loss", "alignment_loss", "cosine", "cosine_weight", "task_gradient", "alignment_gradient")


class StepFigures:
    """Sums over the passes of one step for each client of a stack, kept on the device until they are asked for.

    ``task_loss``: token mean; ``alignment_loss``: mean over micro-batches; ``cosine``: weighted by ``cosine_weight``,
    over valid style states; ``task_gradient`` and ``alignment_gradient``: squared norms of the two losses' gradients
    with respect to the final states.
    """

    def __init__(self, clients: int, device: torch.device) -> None:
        self._sums = torch.zeros(len(_COLUMNS), clients, device=device)
        self._read: list[list[float]] | None = None

    def add(self, column: str, positions: torch.Tensor, amounts: torch.Tensor) -> None:
        """Add ``amounts`` [K] to the clients at ``positions`` [K] of the stack, which differ."""
        self._sums[_COLUMNS.index(column)].index_add_(0, positions, amounts)
        self._read = None

    def of(self, column: str, position: int) -> float:
        """Return a client's sum."""
        if self._read is None:
            self._read = self._sums.tolist()
        return self._read[_COLUMNS.index(column)][position]

    def cosine(self, position: int) -> float:
        """Return a client's mean cosine over valid style states; NaN where there is none."""
        weight = self.of("cosine_weight", position)
        return self.of("cosine", position) / weight if weight else math.nan

    def alignment_share(self, position: int) -> float:
        """Return |g_align| / (|g_align| + |g_task|) on the final states; NaN where both are 0."""
        task, aligning = (math.sqrt(self.of(f"{loss}_gradient", position)) for loss in ("task", "alignment"))
        return aligning / (aligning + task) if aligning + task > 0 else math.nan
