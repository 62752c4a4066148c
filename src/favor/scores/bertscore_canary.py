"""Values that bert-score publishes for known pairs: BERTScore shifts silently when a tokenizer or a model changes."""

from pathlib import Path
from typing import Protocol

import numpy as np

from favor.foundation.errors import UserError

TOLERANCE = 1e-4  # the library's own tests allow 1e-5 on one machine; kernels differ by more across machines

# Candidate, reference and F1 of roberta-large, layer 17, without idf or rescaling: test vectors of bert-score
# (tests/test_scorer.py, MIT licence).
_PAIRS = {
    ("roberta-large", 17): (
        (
            "28-year-old chef found dead in San Francisco mall",
            "28-Year-Old Chef Found Dead at San Francisco Mall",
            0.98335612,
        ),
        (
            "A 28-year-old chef who recently moved to San Francisco was found dead in the staircase of a local "
            "shopping center.",
            "A 28-year-old chef who had recently moved to San Francisco was found dead in the stairwell of a local "
            "mall this week.",
            0.97823000,
        ),
        (
            "The victim's brother said he cannot imagine anyone who would want to harm him,\"Finally, it went uphill "
            'again at him."',
            "But the victim's brother says he can't think of anyone who would want to hurt him, saying, \"Things were "
            'finally going well for him."',
            0.91621464,
        ),
    )
}


class Scorer(Protocol):
    """What scores pairs, as :class:`favor.scores.bertscore.BertScorer` does."""

    def f1(self, candidates: list[str], references: list[str]) -> list[float]:
        """Return the F1 of every (candidate, reference) pair."""


def check_canary(scorer: Scorer, source: str, layer: int) -> bool:
    """Compare ``scorer`` with the values published for its model and layer; return whether there are any.

    ``source`` is a Hugging Face id, or a folder of that name. Raises ``UserError`` where an F1 departs by more than
    ``TOLERANCE``: such scores could not be compared with anybody's.
    """
    pairs = _PAIRS.get((Path(source).name, layer))
    if pairs is None:
        return False
    found = scorer.f1([candidate for candidate, _, _ in pairs], [reference for _, reference, _ in pairs])
    departure = float(np.abs(np.array(found) - np.array([f1 for _, _, f1 in pairs])).max())
    if not departure <= TOLERANCE:
        raise UserError(
            f"BERTScore model '{source}', layer {layer}: F1 of known pairs differs by {departure:.2g} from the values "
            "that bert-score publishes; fetch the model again, or rename a folder that holds another model"
        )
    return True
