"""The additive-angular-margin (ArcFace) classification head that trains ASCE."""

import math

import torch
from torch import nn
from torch.nn import functional


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
