"""FedDPA's gate: how much of the global adapter an input gets.

g = clip(coefficient * mean_s cos(h(x), h(s)), 0, 1) over a client's reference texts s, with h the final state at the
last token under the global adapter. "prefix" takes h at the end of a text's first prefix, which is all that generation
sees of a text; "text" at its end (the released code).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from favor.federation.method import Mixture
from favor.federation.settings import StagePieces
from favor.foundation.errors import UserError
from favor.foundation.seeds import numpy_generator
from favor.foundation.vectors import unit_rows
from favor.inference.generation import last_token_states
from favor.lm.base import BaseModel
from favor.lm.lora import LoraState
from favor.lm.settings import Lora
from favor.lm.tasks import Piece
from favor.lm.tokenizer import language_model_text


def gate_values(states: np.ndarray, references: np.ndarray, coefficient: float) -> np.ndarray:
    """Return the gates [n] of ``states`` [n, d] against ``references`` [m, d] (docstring of the module)."""
    cosines = unit_rows(states) @ unit_rows(references).T
    return np.asarray(np.clip(coefficient * cosines.mean(axis=1), 0.0, 1.0), dtype=np.float32)


@dataclass(frozen=True)
class ClientGate:
    """The gate of one client: its texts (table ``client_texts``) under the global adapter ``shared``.

    ``settings``: lengths of a prefix and of a piece. Which texts are references is drawn once per seed and client
    (stream "gate references").
    """

    base: BaseModel
    lora: Lora
    shared: LoraState
    texts: pd.DataFrame
    client: str
    mixture: Mixture
    settings: StagePieces
    seed: int

    @cached_property
    def _references(self) -> tuple[list[str], np.ndarray]:
        """Document and state [m, d] of each reference text: at most ``references`` of those the client trains on."""
        own = self.texts[(self.texts["client"] == self.client) & (self.texts["allocated_words"] > 0)]
        own = own.sort_values("document_id")
        order = numpy_generator(self.seed, "gate references", self.client).permutation(len(own))
        chosen = own.iloc[sorted(order[: self.mixture.references].tolist())]
        return self._states(chosen, "training_text")

    def of_pieces(self, pieces: Sequence[Piece]) -> np.ndarray:
        """Return the gate of every training piece [n], whose context is its prefix where ``states`` is "prefix".

        A reference of the piece's own document is left out where there are others: held-out texts have none either.
        """
        whole = self.mixture.states == "text"
        contexts = [(piece.tokens if whole else piece.tokens[: piece.response_start]).tolist() for piece in pieces]
        states = last_token_states(self.base, self.lora, self.shared, contexts)
        documents, references = self._references
        gates = np.empty(len(pieces), dtype=np.float32)
        for row, piece in enumerate(pieces):
            others = np.array([document != piece.document_id for document in documents])
            used = references[others] if others.any() else references
            gates[row] = gate_values(states[row : row + 1], used, self.mixture.coefficient)[0]
        return gates

    def kept(self) -> dict[str, np.ndarray]:
        """Return what the client keeps: ``value`` [1], the mean over its validation texts, and ``references`` [m, d].

        Raises ``UserError`` where the client has no validation text.
        """
        held_out = self.texts[(self.texts["client"] == self.client) & (self.texts["split"] == "validation")]
        _, states = self._states(held_out.sort_values("document_id"), "text")
        if not len(states):
            raise UserError(f"{self.client}: no validation text for the gate; give the author more posts")
        _, references = self._references
        gates = gate_values(states, references, self.mixture.coefficient)
        return {"value": np.asarray([gates.mean()], dtype=np.float32), "references": references}

    def _states(self, texts: pd.DataFrame, column: str) -> tuple[list[str], np.ndarray]:
        opening = self.base.opening
        longest = self.settings.training.max_length - len(opening)
        length = self.settings.prefix_tokens if self.mixture.states == "prefix" else longest
        encoded = [
            (str(document), self.base.tokenizer.encode(language_model_text(prompt, text))[:length])
            for document, prompt, text in zip(texts["document_id"], texts["prompt"], texts[column], strict=True)
        ]
        encoded = [(document, [*opening, *tokens]) for document, tokens in encoded if tokens]
        states = last_token_states(self.base, self.lora, self.shared, [tokens for _, tokens in encoded])
        return [document for document, _ in encoded], states
