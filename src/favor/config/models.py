"""Base language models: taken as they are, or pretrained here on the background authors of a corpus."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from favor.foundation.errors import UserError
from favor.foundation.files import read_json
from favor.foundation.gguf import is_gguf, read_header
from favor.settings.section import Count, Filled, LearningRate, Section, Seed, key, refuse, required


class Pretraining(Section):
    """A small Qwen2 model that is trained from scratch on the background authors of a corpus."""

    corpus: str = required("Corpus whose background authors are read.")
    vocabulary_size: int = key(2048, "Entries of the byte-level BPE vocabulary.", ge=300, le=1_000_000)
    hidden_size: int = key(128, "Width of the model.", ge=8, le=65_536)
    layers: int = key(4, "Number of transformer layers.", ge=1, le=1_000)
    heads: int = key(4, "Number of attention heads.", ge=1)
    key_value_heads: int = key(2, "Number of key and value heads.", ge=1)
    intermediate_size: int = key(384, "Width of the MLP.", ge=8, le=1_000_000)
    context_length: int = key(512, "Longest sequence in tokens.", ge=16, le=1_000_000)
    tokens: int = key(1500000, "Number of tokens trained on.", ge=1000)
    sequence_length: int = key(256, "Length of a packed training sequence in tokens.", ge=16)
    batch_size: int = key(16, "Sequences per step.", ge=1)
    learning_rate: LearningRate = key(0.003, "Peak learning rate.")
    precision: Literal["float32", "bfloat16"] = key("float32", "Computation type.")
    seed: Seed = key(2026, "Random seed of initialisation and order.")

    def check(self, where: str) -> None:
        """Check that the heads divide the width and one another. Raises ``UserError`` that names the key."""
        if self.hidden_size % self.heads:
            refuse(f"{where}.hidden_size", f"{self.hidden_size} is not a multiple of 'heads', {self.heads}; change one")
        if self.heads % self.key_value_heads:
            refuse(
                f"{where}.heads",
                f"{self.heads} is not a multiple of 'key_value_heads', {self.key_value_heads}; change one",
            )


class LanguageModel(Section):
    """One base model: give either `source` or `pretrain`."""

    title: Filled | None = key(None, "Name printed in tables; null prints the model's name here.")
    source: Filled | None = key(
        None, "Hugging Face id, local folder or GGUF file (`*.gguf`); null where the model is pretrained here."
    )
    quantisation: Literal["none", "nf4"] = key(
        "none", "`nf4` loads the model in 4 bits (double quantisation, bfloat16 computation) and needs bitsandbytes."
    )
    chat: Literal["auto", "template", "plain"] = key(
        "auto",
        "How prompting baselines, author sheets and local judges ask the model: with its chat template, which must "
        "exist (`template`), in plain text (`plain`), or with the template if there is one (`auto`).",
    )
    device: Literal["auto", "cpu", "cuda"] = key("auto", "Where the model runs; `auto` takes a GPU if there is one.")
    parameters: Count | None = key(
        None,
        "Number of parameters, which sizes cluster jobs; null counts them from the shape under `pretrain` or the GGUF "
        "file, or assumes 3 billion.",
    )
    dtype: Literal["auto", "float32", "bfloat16"] = key("auto", "Computation type; `auto` is bfloat16 on a GPU.")
    pretrain: Pretraining | None = key(None, "Trains this model from scratch on the background authors of a corpus.")

    def check(self, where: str) -> None:
        """Check what concerns this model alone. Raises ``UserError`` that names the key."""
        if (self.source is None) == (self.pretrain is None):
            refuse(where, "give either 'source' or 'pretrain'")
        if self.gguf is not None:
            # A file that is not there stops the start of a run, not the reading of a configuration.
            if Path(self.gguf).expanduser().exists():
                try:
                    read_header(self.gguf)
                except UserError as error:
                    refuse(f"{where}.source", str(error))
        elif self.source is not None and self.source.startswith((".", "/", "~")):
            folder = Path(self.source).expanduser()
            if not (folder / "config.json").is_file():
                refuse(f"{where}.source", f"no model in {folder} (config.json is missing); correct the path")
        if self.pretrain is not None:
            self.pretrain.check(f"{where}.pretrain")

    @property
    def gguf(self) -> str | None:
        """The GGUF file that the model is dequantised from; None where its source is something else."""
        return self.source if is_gguf(self.source) else None

    @property
    def made_here(self) -> bool:
        """Whether a job writes the model's folder: pretrained, or dequantised."""
        return self.pretrain is not None or self.gguf is not None

    def known_context(self) -> int | None:
        """Return the context in tokens; None where only the Hugging Face hub knows it."""
        if self.pretrain is not None:
            return self.pretrain.context_length
        if self.gguf is not None:
            return read_header(self.gguf).context if Path(self.gguf).expanduser().is_file() else None
        path = Path(self.source or "").expanduser() / "config.json"
        length = read_json(path).get("max_position_embeddings") if path.is_file() else None
        return length if isinstance(length, int) else None
