"""How much of a job a GPU holds at once: stepped down when its memory runs out, and remembered for the next job.

Widths change results by rounding only, so what is remembered is not an input of a job.
"""

import hashlib
import json
import os
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import torch

from favor.foundation.files import read_json, write_json
from favor.lm.base import BaseModel
from favor.running.devices.leases import SHARE, WIDTHS


@dataclass
class Widths:
    """What a job's width is cut to: the size of a pass is divided by ``divisor``, a stack holds at most ``clients``.

    The size is in rows where the job counts rows, else in tokens. ``recomputed`` is how far training went in computing
    layers twice (:data:`favor.lm.memory_budget.STEPS`).
    """

    divisor: int = 1
    clients: int | None = None
    recomputed: int = 0

    def rows(self, wanted: int) -> int:
        """Return how much of the ``wanted`` size runs at once: at least one."""
        return max(1, wanted // self.divisor)

    def narrow(self, wanted: int, failed: int) -> bool:
        """Divide further, until less of ``wanted`` runs than the size that ``failed``; False where that is one."""
        if failed <= 1:
            return False
        self.divisor *= 2
        while self.rows(wanted) >= failed:
            self.divisor *= 2
        return True


class WidthMemory:
    """The widths that fitted jobs of one kind on one device, as a small file in the folder FAVOR_WIDTHS names.

    ``kind`` holds what memory depends on beside model and device. Jobs may run at the same time: a file is replaced in
    one step, and of two widths the narrower stays. Without the variable nothing is remembered.
    """

    def __init__(self, base: BaseModel, kind: Mapping[str, object]) -> None:
        cuda = base.device.type == "cuda"
        self.key = {
            "device": torch.cuda.get_device_name(base.device) if cuda else base.device.type,
            "model": base.source,
            "dtype": str(base.dtype),
            # Jobs that share a device hold less each than one that has it alone.
            "sharing": os.environ.get(SHARE, "1"),
            # As texts, so that settings count whole without being read key by key.
            **{name: value if isinstance(value, int | str | None) else str(value) for name, value in kind.items()},
        }
        digest = hashlib.sha256(json.dumps(self.key, sort_keys=True).encode()).hexdigest()[:16]
        folder = os.environ.get(WIDTHS)
        self.path = Path(folder) / f"{digest}.json" if folder else None

    def recall(self) -> Widths:
        """Return the remembered widths; the full ones where there are none."""
        if self.path is None or not self.path.is_file():
            return Widths()
        print(f"memory: batch limits as in {self.path}; delete it to begin without limits", file=sys.stderr)
        return Widths(**read_json(self.path)["widths"])

    def remember(self, widths: Widths) -> None:
        """Keep ``widths`` for the next job, where they are narrower than what is kept."""
        if self.path is None or widths == Widths():
            return
        kept = Widths(**read_json(self.path)["widths"]) if self.path.is_file() else Widths()
        counts = [count for count in (kept.clients, widths.clients) if count is not None]
        # Where more layers are computed twice, passes began anew.
        recomputed, divisor = max((kept.recomputed, kept.divisor), (widths.recomputed, widths.divisor))
        found = Widths(divisor, min(counts, default=None), recomputed)
        if found != kept:
            write_json({"job": self.key, "widths": asdict(found)}, self.path)
