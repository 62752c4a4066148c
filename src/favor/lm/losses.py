"""Cross-entropy at supervised positions only, in chunks of tokens."""

from typing import Any

import torch

from favor.foundation.arithmetic import fast_products

# Logits held at once, and the fewest tokens of them. On a processor few logits stay in its cache, but a product of few
# rows runs at a third of the rate of one of hundreds.
_CHUNK_ELEMENTS = {"cpu": 1 << 20, "cuda": 1 << 27}
_LEAST_TOKENS = {"cpu": 256, "cuda": 1}


def tokens_at_once(output_layer: torch.Tensor) -> int:
    """Return how many tokens' logits are held at once under the weights [vocabulary, d] of an output layer."""
    kind = "cpu" if output_layer.device.type == "cpu" else "cuda"
    return max(_LEAST_TOKENS[kind], _CHUNK_ELEMENTS[kind] // output_layer.shape[0])


class TokenCrossEntropy(torch.autograd.Function):
    """Weighted sum over tokens of -log softmax(h W^T + b)[label], and the losses one by one.

    Gradients are computed in the forward pass, chunk by chunk, so that the logits of all tokens (vocabulary times
    tokens) never exist at once. Call through :func:`token_cross_entropy`.
    """

    @staticmethod
    def forward(
        ctx: Any,
        hidden: torch.Tensor,
        weight: torch.Tensor,
        bias: torch.Tensor | None,
        labels: torch.Tensor,
        token_weights: torch.Tensor,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the weighted sum and the loss of every token, and keep the gradients."""
        chunk = tokens_at_once(weight)
        losses = torch.empty(len(labels), dtype=torch.float32, device=hidden.device)
        need_hidden, need_weight = ctx.needs_input_grad[:2]
        grad_hidden = torch.empty_like(hidden) if need_hidden else None
        grad_weight = torch.zeros_like(weight, dtype=torch.float32) if need_weight else None
        # Logits that are not of float32 are widened in memory of their own, which the chunks share.
        wide = None
        if weight.dtype != torch.float32:
            wide = hidden.new_empty(min(chunk, len(labels)), len(weight), dtype=torch.float32)
        with fast_products():
            for start in range(0, len(labels), chunk):
                part = slice(start, start + chunk)
                rows, target = hidden[part], labels[part, None]
                logits = torch.nn.functional.linear(rows, weight, bias)
                # exp(logit - largest) in float32, in place of the logits where these are; the sums give the loss, and
                # scaled the softmax. Every step over all words reads and writes them once.
                largest = logits.amax(dim=-1, keepdim=True).float()
                chosen = logits.gather(1, target).float()
                exponentials = logits if wide is None else wide[: len(logits)].copy_(logits)
                exponentials.sub_(largest).exp_()
                sums = exponentials.sum(dim=-1, keepdim=True)
                losses[part] = (sums.log() + largest - chosen).squeeze(1)
                if not (need_hidden or need_weight):
                    continue
                # d loss / d logits = softmax - one-hot, times the token's weight.
                exponentials.scatter_add_(1, target, -sums)
                exponentials.mul_(token_weights[part, None] / sums)
                slope = logits if wide is None else logits.copy_(exponentials)
                if grad_hidden is not None:
                    grad_hidden[part] = slope @ weight
                if grad_weight is not None:
                    grad_weight += slope.t() @ rows
        ctx.gradients = (grad_hidden, grad_weight)
        ctx.mark_non_differentiable(losses)
        return (losses * token_weights).sum(), losses

    @staticmethod
    def backward(ctx: Any, upstream: torch.Tensor, _: Any) -> tuple[torch.Tensor | None, ...]:
        """Return the kept gradients times that of the sum."""
        grad_hidden, grad_weight = ctx.gradients
        return (
            None if grad_hidden is None else grad_hidden * upstream,
            None if grad_weight is None else grad_weight * upstream,
            None,
            None,
            None,
        )


def token_cross_entropy(
    hidden: torch.Tensor,
    output_layer: torch.nn.Linear,
    labels: torch.Tensor,
    token_weights: torch.Tensor,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return (weighted sum of token losses, losses [tokens] without gradient).

    ``hidden`` [tokens, d] are the final states that predict ``labels`` [tokens]; ``token_weights`` [tokens] float32.
    """
    total, losses = TokenCrossEntropy.apply(hidden, output_layer.weight, output_layer.bias, labels, token_weights)
    return total, losses
