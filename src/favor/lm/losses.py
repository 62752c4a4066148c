"""Cross-entropy at supervised positions only, in chunks of tokens."""

from typing import Any

import torch

from favor.foundation.arithmetic import fast_products

# On a processor a product of few rows runs at a third of the rate of one of hundreds, and what follows is fastest on
# logits that stay in its cache.
_LEAST_TOKENS = {"cpu": 256, "cuda": 1}
_BLOCK_ELEMENTS = {"cpu": 1 << 20, "cuda": 1 << 27}


def tokens_at_once(output_layer: torch.Tensor) -> int:
    """Return how many tokens' logits are held at once under the weights [vocabulary, d] of an output layer."""
    kind = "cpu" if output_layer.device.type == "cpu" else "cuda"
    return max(_LEAST_TOKENS[kind], tokens_in_cache(output_layer))


def tokens_in_cache(output_layer: torch.Tensor) -> int:
    """Return how many tokens' logits are worked on at a time."""
    kind = "cpu" if output_layer.device.type == "cpu" else "cuda"
    return max(1, _BLOCK_ELEMENTS[kind] // output_layer.shape[0])


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
        block, slopes_needed = tokens_in_cache(weight), need_hidden or need_weight
        # Logits that are not of float32 are widened in memory of their own, which the blocks share.
        wide = None
        if weight.dtype != torch.float32:
            wide = hidden.new_empty(min(block, len(labels)), len(weight), dtype=torch.float32)
        with fast_products():
            for start in range(0, len(labels), chunk):
                part = slice(start, start + chunk)
                logits = torch.nn.functional.linear(hidden[part], weight, bias)
                parts = (tensor[part].split(block) for tensor in (labels, token_weights, losses))
                for own, target, weights, loss in zip(logits.split(block), *parts, strict=True):
                    loss.copy_(_losses(own, target[:, None], weights[:, None] if slopes_needed else None, wide))
                if grad_hidden is not None:
                    grad_hidden[part] = logits @ weight
                if grad_weight is not None:
                    grad_weight += logits.t() @ hidden[part]
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


def _losses(
    logits: torch.Tensor, target: torch.Tensor, weights: torch.Tensor | None, wide: torch.Tensor | None
) -> torch.Tensor:
    """Return -log softmax(logits)[target] per token [tokens].

    With ``weights`` [tokens, 1] the logits [tokens, vocabulary] become the gradient of the weighted losses in place.
    """
    # exp(logit - largest) in float32, in place of the logits where these are; the sums give the loss, and scaled the
    # softmax. Every step over all words reads and writes them once.
    largest = logits.amax(dim=-1, keepdim=True).float()
    chosen = logits.gather(1, target).float()
    exponentials = logits if wide is None else wide[: len(logits)].copy_(logits)
    exponentials.sub_(largest).exp_()
    sums = exponentials.sum(dim=-1, keepdim=True)
    if weights is not None:
        # d loss / d logits = softmax - one-hot, times the token's weight.
        exponentials.scatter_add_(1, target, -sums)
        exponentials.mul_(weights / sums)
        if wide is not None:
            logits.copy_(exponentials)
    return (sums.log() + largest - chosen).squeeze(1)


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
