"""Which tensors of an adapter a stage trains or uploads, by LoRA factor and by layer."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Factors:
    """Some tensors of an adapter: of which LoRA factors, and of which layers of the base model.

    factors: "A", "B" or "AB"; a product's output is B A x.
    first, last: the layers from ``first`` up to, without, ``last`` (None: to the end), by the first number in the path
    of a module. A tensor outside any layer is in layer 0.
    """

    factors: Literal["AB", "A", "B"] = "AB"
    first: int = 0
    last: int | None = None

    def __post_init__(self) -> None:
        if self.first < 0 or (self.last is not None and self.last <= self.first):
            raise ValueError("a range of layers needs 0 <= first < last")

    @property
    def whole(self) -> bool:
        """Whether these are all tensors of an adapter."""
        return self == Factors()

    def hold(self, name: str) -> bool:
        """Return whether the tensor of this PEFT name (``...lora_A.weight``) is one of them."""
        if self.whole:
            return True
        layer = re.search(r"\.(\d+)\.", name)
        number = int(layer[1]) if layer else 0
        return (
            any(f"lora_{factor}." in name for factor in self.factors)
            and self.first <= number
            and (self.last is None or number < self.last)
        )

    def of(self, names: Iterable[str]) -> list[str]:
        """Return those of ``names`` that are among them, in their order."""
        return [name for name in names if self.hold(name)]


def change_output(trains: Factors, uploads: Factors) -> bool:
    """Return whether tensors that are trained and uploaded make a shared adapter compute other than the base does.

    B is zero at first, so that an A beside it changes nothing (FedSA-LoRA).
    """
    return "B" in trains.factors and "B" in uploads.factors
