"""The settings of what outputs are measured with: one class per metric family that has any, and what its jobs read."""

from typing import Annotated, Any, Literal, get_args

from pydantic import Field

from favor.corpora.settings import Transfer, WordKind
from favor.federation.factors import Factors
from favor.federation.settings import Likelihood
from favor.foundation.section import DISTINCT, OR_NULL, Count, Filled, Natural, Section, Seed, Share, key, section
from favor.lm.settings import OutputFilter
from favor.statistics.settings import Bootstrap

Encoders = Annotated[list[str], Field(min_length=1), DISTINCT]
AssistantVariant = Literal["all_outputs", "substring"]
PrototypeVariant = Literal["failures_wrong", "whole_roster", "first50x1500", "leave_one_out"]
UtilityVariant = Literal["all_outputs", "rescaled"]
VerificationVariant = Literal[
    "same_topic", "sampled5000", "interpolated", "train_texts", "all_different", "topic_balanced"
]


def every(variants: Any, description: str) -> Any:
    """Return the field of the variants that a family scores, by default every one."""
    return key(list(get_args(variants)), description)


class InSpaces(Section):
    """A family that measures in encoders' spaces."""

    encoders: Encoders | None = key(None, "Encoders that it measures in; null takes all of the experiment.")


class Draws(Section):
    """A family with intervals over authors."""

    draws: Count = key(2000, "Draws of authors behind its intervals.")
    seed: Seed = key(2026, "Random seed of the draws.")


class Resampled(Draws, InSpaces):
    """A family in encoders' spaces with intervals over authors."""


class ComparedStarts(Section):
    """How much of a text is compared with another."""

    compared_words: Count = key(50, "Words of a text's start that are compared.")


class FixedLength(InSpaces):
    """A family that cuts texts to one length."""

    words: Natural = key(
        0, "Words that texts are cut to; 0 takes the length of the shortest human continuation that passes the filter."
    )


class AssistantScore(Section):
    """Score of the classifier, and phrases of assistants."""

    variants: Annotated[list[AssistantVariant], DISTINCT] = every(
        AssistantVariant, "Also the score over failed outputs, and phrases within words."
    )


class CommonPrompts(ComparedStarts, Resampled):
    """Continuations of the prompts that every client has."""


class Diversity(FixedLength):
    """How far outputs differ."""

    subsets: Count = key(5, "Random sets of authors per number of authors.")


class Drift(FixedLength, Resampled):
    """Where outputs move away from their authors."""


class Mauve(InSpaces):
    """MAUVE."""

    encoders: Encoders | None = key(
        None, "Encoders that it measures in; left out, the semantic encoder; null, all of the experiment."
    )
    kmeans_seeds: Annotated[list[Seed], DISTINCT] = key(
        [1, 2, 3, 4, 5], "Random seeds of its clustering, over which it is averaged.", min_length=1
    )


class MeasureAgreement(Resampled):
    """Whether measures rank methods alike, and what they can tell apart."""

    draws: Count = key(1000, "Draws of authors behind its intervals; each takes every measure.")
    splits: Count = key(50, "Random splits of each author's outputs into halves.")


class ProfileVerification(Resampled):
    """Verification against profiles of an author's human texts."""

    words: Count = key(6000, "Most words of a profile.")
    minimum_words: Count = key(2000, "Words up to which a profile is filled with text trained on.")
    order: Count = key(10, "Longest n-grams of LambdaG.")
    references: Count = key(10, "LambdaG's draws of reference sentences.")
    copied_share: Share = key(0.25, "Share of copied words above which encoders do not read an output.")


class Prototypes(InSpaces):
    """Attribution to the nearest author."""

    variants: Annotated[list[PrototypeVariant], DISTINCT] = every(
        PrototypeVariant, "Other texts that it measures with too."
    )


class Samples(ComparedStarts):
    """How far several samples of a prompt differ."""

    threshold: Share = key(0.3, "Jaccard similarity of word bigrams from which two samples count as one.")


class SourceSpace(InSpaces):
    """What separates authors and topics in a space."""

    regularisation: list[Annotated[float, Field(gt=0)]] = key(
        [0.01, 0.1, 1.0, 10.0, 100.0, 1000.0],
        "Values of C of the probe, of which validation texts choose.",
        min_length=1,
    )
    iterations: Count = key(2000, "Most iterations of the probe.")
    permutations: Natural = key(20, "Permutations of authors; 0 leaves them out.")
    effect_kind: Literal["train", "validation", "test", "gold"] = key(
        "test", "Human texts that effect sizes are taken over."
    )


class Utility(Draws):
    """BERTScore and semantic similarity."""

    variants: Annotated[list[UtilityVariant], DISTINCT] = every(
        UtilityVariant, "Also the mean over failed outputs, and BERTScore over its baseline."
    )


class Verification(InSpaces):
    """Verification by cosines."""

    variants: Annotated[list[VerificationVariant], DISTINCT] = every(
        VerificationVariant, "Other pairs, thresholds and topics that it measures with too."
    )


class Scores(Section):
    """Settings of metric families, by family; those that have none are not here."""

    assistant: AssistantScore = section(AssistantScore, "Assistant scores.")
    author_retrieval: Resampled = section(Resampled, "Retrieval of authors by their human texts.")
    cold_start: InSpaces = section(InSpaces, "Clients that no round saw.")
    common_prompts: CommonPrompts = section(CommonPrompts, "Continuations of the common prompts.")
    copying: Draws = section(Draws, "What outputs share with training texts.")
    diversity: Diversity = section(Diversity, "How far outputs differ.")
    drift: Drift = section(Drift, "Where outputs move away from their authors.")
    geometry: InSpaces = section(InSpaces, "Silhouette and distances.")
    mauve: Mauve = section(Mauve, "MAUVE.")
    measure_agreement: MeasureAgreement = section(MeasureAgreement, "Whether measures agree.")
    profiles: ProfileVerification = section(ProfileVerification, "Verification against profiles.")
    prototypes: Prototypes = section(Prototypes, "Attribution to the nearest author.")
    samples: Samples = section(Samples, "Several samples of a prompt.")
    source_space: SourceSpace = section(SourceSpace, "Authors and topics in a space.")
    utility: Utility = section(Utility, "BERTScore and semantic similarity.")
    verification: Verification = section(Verification, "Verification by cosines.")
    voice_kept: Resampled = section(Resampled, "How much of the voices is kept.")

    def of(self, family: str) -> list[Section]:
        """Return what the ``score`` of a family takes beside its inputs: its settings, where it has any."""
        # By model_fields, so that every key counts for the jobs of scores: their code does not say the family's name.
        return [getattr(self, family)] if family in type(self).model_fields else []


class BertScoreModel(Section):
    """What BERTScore compares."""

    model: Filled = key("roberta-large", "Hugging Face id, local folder or `embedded-minilm`.")
    layer: int = key(17, "Layer whose states are compared.", ge=0)


class BertScore(BertScoreModel):
    """The model behind BERTScore."""

    maximum_tokens: int = key(512, "Longest text in tokens.", ge=8)


class Evaluation(Section):
    """What outputs are measured with."""

    transfer: Transfer | None = key(None, "Scores human texts of another corpus; null scores none.")
    encoders: Annotated[list[str], DISTINCT] = key(
        [], "Encoders of the metric tables, in addition to the style encoder."
    )
    semantic_encoder: Annotated[str, OR_NULL] = key(
        None, "Encoder of the semantic similarity; null takes the first one with the source `embedded-minilm`."
    )
    assistant: str | None = key(None, "Classifier behind the assistant score; null leaves the score out.")
    scores: Scores = section(Scores, "Settings of metric families, as in `mauve: { kmeans_seeds: [1, 2, 3] }`.")
    bertscore: BertScore = section(BertScore, "The model behind BERTScore.")
    likelihood: Likelihood | None = section(
        Likelihood, "What every client's model knows of every client's held-out texts; null reads none."
    )
    bootstrap: Bootstrap = section(Bootstrap, "Resamples of authors, for intervals, and patterns of signs, for p.")


class Seeds(Section):
    """The seeds whose outputs a job reads."""

    seeds: list[int]


class Spaces(Section):
    """The encoders in whose spaces a job reads texts."""

    encoders: list[str]


class FilteredOutputs(Seeds, WordKind):
    """What a job reads that passes human texts through the filter of outputs, too."""

    generation: OutputFilter


class Scoring(FilteredOutputs, Spaces):
    """What the job of one metric family reads. ``bertscore``: None unless it is about its values.

    ``unseen``: encoders that no method was trained with, whose mean is scored too.
    """

    family: str
    unseen: list[str]
    scores: Scores
    bertscore: BertScoreModel | None


class BertScoring(Seeds):
    """Settings of the job that measures BERTScore."""

    bertscore: BertScore


class LikelihoodScoring(Section):
    """Settings of the job that scores likelihoods. ``methods``: rows; ``without``: why a row has none."""

    clients: list[str]
    methods: list[str]
    without: dict[str, str]
    bootstrap: Bootstrap


class PoisoningScoring(Section):
    """Settings of the job that scores an attack. By seed: ``attackers``, and ``targets`` where hijacks aim at one."""

    clients: list[str]
    methods: list[str]
    bootstrap: Bootstrap
    attackers: dict[str, list[str]]
    targets: dict[str, str]


class ValidatedStage(Section):
    """A ``stage`` of a run and its training logs; ``stopped``: whether it may end early."""

    stage: str
    stopped: bool
    logs: list[str]


class ValidatedRun(ValidatedStage):
    """A run and the stage whose adapter generates."""

    method: str


class ValidationScoring(Section):
    """Settings of the job that scores validation losses. ``without``: why a row has none."""

    runs: list[ValidatedRun]
    without: dict[str, str]
    bootstrap: Bootstrap


class TrainedRun(Section):
    """A run and the files that say what it cost: training logs, and benchmarks of the same jobs.

    ``trains``: which tensors it trains; ``mixture``: kind of its gate, "" for none; ``ranks``: those that clients draw
    theirs from, none where they have one.
    """

    seed: int
    method: str
    logs: list[str]
    benchmarks: list[str]
    trains: Factors
    mixture: str
    ranks: list[int]


class Efficiency(Seeds):
    """Settings of the job that scores what runs cost."""

    runs: list[TrainedRun]
