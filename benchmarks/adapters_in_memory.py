"""Memory and time of aggregating a round: uploads read tensor by tensor, against all of them in memory first.

    python benchmarks/adapters_in_memory.py --clients 24

writes the uploads of a round to a temporary folder (``--folder``), adapters of the shape that ``--shape`` names, and
aggregates them both ways in processes of their own. Memory is the process's own (RssAnon, the largest of samples 10 ms
apart, less what it took before): pages of mapped files belong to the page cache. Results must be equal, bit for bit.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np

from favor.config.models import PROJECTIONS
from favor.federation.packs import read_pack, write_pack
from favor.federation.server import aggregate
from favor.foundation.tensors import read_safetensors, write_safetensors
from favor.lm.lora import state_shapes
from favor.lm.settings import Lora

SHAPES = {
    # hidden, intermediate, layers, heads, key-value heads
    "qwen2.5-3b": (2048, 11_008, 36, 16, 2),
    "small": (512, 1408, 8, 8, 2),
}
MIB = 2**20


def shapes_of(name: str) -> dict[str, tuple[int, ...]]:
    """Return the tensors of a rank-16 adapter on all projections."""
    from transformers import Qwen2Config

    hidden, intermediate, layers, heads, pairs = SHAPES[name]
    config = Qwen2Config(
        vocab_size=1000,
        hidden_size=hidden,
        intermediate_size=intermediate,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        num_key_value_heads=pairs,
    )
    return dict(state_shapes(config, Lora(rank=16, alpha=32, target_modules=PROJECTIONS)))


def own_memory() -> int:
    """Return the bytes of memory that this process holds and no file backs."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1]) * 1024
    raise SystemExit("this system does not tell RssAnon")


class Peak(threading.Thread):
    """The largest memory seen while it runs."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.before = self.largest = own_memory()
        self.ended = threading.Event()

    def run(self) -> None:
        """Look at the memory until the work ends."""
        while not self.ended.wait(0.01):
            self.largest = max(self.largest, own_memory())


def run(folder: Path, way: str) -> dict[str, object]:
    """Aggregate the uploads in ``folder``."""
    peak = Peak()
    peak.start()
    start = time.perf_counter()
    shared, _ = read_safetensors(folder / "adapter.safetensors")
    deltas = {}
    for path in sorted(folder.glob("batch*.safetensors")):
        for client, parts in read_pack(path)[0].items():
            deltas[client] = dict(parts["delta"]) if way == "all in memory" else parts["delta"]
    result = aggregate(shared, deltas, dict.fromkeys(deltas, 1.0), 1.0)
    seconds = time.perf_counter() - start
    peak.ended.set()
    peak.join()
    digest = hashlib.sha256(b"".join(result[key].tobytes() for key in sorted(result))).hexdigest()
    return {"seconds": seconds, "mib": (peak.largest - peak.before) / MIB, "result": digest}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clients", type=int, default=24, help="clients of the round, one upload each")
    parser.add_argument("--shape", choices=SHAPES, default="qwen2.5-3b")
    parser.add_argument("--folder", help="where the uploads are written")
    parser.add_argument("--way", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.way:
        print(json.dumps(run(Path(options.folder), options.way)))
        return
    shapes = shapes_of(options.shape)
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        generator = np.random.default_rng(1)
        for number in range(options.clients):
            state = {key: generator.standard_normal(shape, dtype=np.float32) for key, shape in shapes.items()}
            write_pack(
                Path(folder) / f"batch{number}.safetensors", {f"client_{number:05d}": {"delta": state}}, {"round": "0"}
            )
        write_safetensors(state, Path(folder) / "adapter.safetensors", {})
        size = sum(path.stat().st_size for path in Path(folder).glob("batch*")) / MIB
        print(f"{options.clients} uploads of {options.shape}, rank 16: {size:,.0f} MiB")
        found = []
        for way in ("tensor by tensor", "all in memory"):
            command = [sys.executable, __file__, "--way", way, "--folder", folder]
            found.append(json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout))
            print(f"  {way:18s} {found[-1]['mib']:8,.0f} MiB {found[-1]['seconds']:6.1f} s")
    if found[0]["result"] != found[1]["result"]:
        raise SystemExit("the results differ")
    print(f"equal results; memory x {found[0]['mib'] / found[1]['mib']:.3f}, time x", end=" ")
    print(f"{found[0]['seconds'] / found[1]['seconds']:.2f}")


if __name__ == "__main__":
    main()
