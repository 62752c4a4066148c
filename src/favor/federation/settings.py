"""The settings of a federation and of what its clients train; see :mod:`favor.lm.settings` for the local optimiser."""

from typing import Annotated, Any, Literal

from pydantic import Field

from favor.corpora.settings import Clients, PrefixLength, WordKind
from favor.foundation.section import (
    OR_NULL,
    Count,
    LearningRate,
    Natural,
    NotNegative,
    Positive,
    Section,
    Seed,
    Share,
    Similarity,
    key,
    required,
)
from favor.lm.settings import (
    Alignment,
    AskedModel,
    Decoding,
    DecodingLimits,
    LoadedModel,
    Lora,
    OutputFilter,
    Training,
)


class TunedPoint(Section):
    """One point of a grid that ``favor tune`` tried."""

    row: str = required("Row of the experiment.")
    stage: Literal["shared", "personal"] = required("Stage of training.")
    learning_rate: LearningRate = required("Rate that was tried.")
    passes: Positive = required("Passes of the stage.")
    loss: NotNegative = required("Validation loss in nats per token, mean over authors.")
    authors: Count = required("Authors that it is the mean over; from five on, one is left out.")
    chosen: bool = required("Whether it has the lowest loss of its row and stage.")


class Tuned(Section):
    """What ``favor tune`` tried, on whom."""

    skip_clients: Natural = required("Authors at the start of the roster that took no part.")
    clients: Count = required("Authors after them, on whom rates were chosen.")
    seed: Seed = required("Training seed.")
    points: Annotated[list[TunedPoint], Field(min_length=1)] = required("Every point with its loss.")

    def doubts(self) -> list[str]:
        """Return a line for every stage of a row whose best point is at the end of its grid."""
        lines = []
        for best in (point for point in self.points if point.chosen):
            tried = [point for point in self.points if (point.row, point.stage) == (best.row, best.stage)]
            where = f"{best.row}, {best.stage} stage"
            for name, plural in (("learning_rate", "rates"), ("passes", "passes")):
                values, value = sorted({getattr(point, name) for point in tried}), getattr(best, name)
                # There is no smaller number of passes than one.
                if len(values) == 1 or value not in (values[0], values[-1]) or (name == "passes" and value == 1):
                    continue
                end, way = ("smallest", "smaller") if value == values[0] else ("largest", "larger")
                lines.append(f"{where}: {value:g} is the {end} of the {plural} tried; try {way} ones too")
        return lines


class DifferentialPrivacy(Section):
    """Differential privacy of authors: clipped uploads, noise on their sum."""

    clip: Positive = required("Largest L2 norm of a client's upload; a larger one is scaled down to it.")
    noise_multiplier: NotNegative = required("Standard deviation of the noise on a round's sum, in units of `clip`.")
    delta: float | None = key(
        None,
        "Delta at which epsilon is printed; null takes N^-1.1 for N clients. From 1/N on it would allow to publish an "
        "author whole, and is refused.",
        gt=0,
        lt=1,
    )


class Robust(Section):
    """What takes the place of the mean of a round's uploads (:mod:`favor.federation.combining`)."""

    rule: str = required("Robust rule: `median`, `trimmed_mean`, `norm_bound`, `krum`, `multi_krum`, or your own file.")
    attackers: int = key(
        1,
        "Most attackers among a round's uploads, f of the rule's formula; `norm_bound` and `median` do not read it.",
        ge=0,
    )
    norm: Positive | None = key(None, "Largest L2 norm of an upload under `norm_bound`; other rules do not read it.")


class Attack(Section):
    """Clients that attack the shared adapter (:mod:`favor.federation.poisoning`)."""

    kind: Literal["scale", "flip", "hijack"] = required(
        "`scale`: attackers send a multiple of their update; `flip`: a multiple of its opposite; `hijack`: they train "
        "on another client's texts, to give the shared adapter that voice."
    )
    share: Share = required(
        "Share of the clients that attack, rounded up. At 0 nobody attacks, and a target is drawn all the same."
    )
    factor: Positive = key(1.0, "What an attacker multiplies its upload with.")

    @property
    def sent(self) -> float:
        """What an attacker's upload is a multiple of: itself 1, its opposite -1."""
        return -self.factor if self.kind == "flip" else self.factor


class Federation(Section):
    """Rounds, cohorts and the server."""

    rounds: int = key(6, "Number of communication rounds.", ge=1, le=10_000)
    clients_per_round: int = key(12, "Clients sampled per round.", ge=1)
    server_learning_rate: Positive = key(1.0, "Server learning rate.")
    engine: Literal["stacked", "sequential"] = key(
        "stacked", "Trains the clients of a job stacked, or one after another."
    )
    clients_per_job: Annotated[int, OR_NULL] = key(
        None,
        "How many clients one job serves; null takes all that are trained at once, up to 32. Results change only by "
        "floating-point rounding.",
        ge=1,
    )
    weighting: Annotated[Literal["uniform", "words"], OR_NULL] = key(
        None, "Weights of the server's mean. By protocol: paper uniform, released words."
    )
    never_sampled: Annotated[Literal["shared", "dropped"], OR_NULL] = key(
        None,
        "What a client that no round sampled generates with under residual methods: the shared adapter, or nothing. By "
        "protocol: paper shared, released dropped.",
    )
    initial_adapter: Annotated[Literal["common", "per_track"], OR_NULL] = key(
        None,
        "Whether all tracks of a seed start from one adapter or each from its own. By protocol: paper common, released "
        "per_track.",
    )
    privacy: DifferentialPrivacy | None = key(
        None, "Clips uploads and adds noise to their sum (DP-FedAvg, docs/privacy.md); null for neither."
    )
    aggregation: Literal["uploads", "sum_only"] = key(
        "uploads",
        "What the server reads of a round: every upload, or their sum alone, as secure aggregation leaves it.",
    )
    upload_bits: Literal[32, 16, 8] = key(
        32, "Bits of every number that a client uploads; fewer than 32 are rounded at random (docs/privacy.md)."
    )
    ranks: Annotated[list[Count], Field(min_length=1)] | None = key(
        None,
        "Ranks from which every client draws its own; a rank named twice is twice as likely. The largest must be "
        "`lora.rank`, the server's (docs/privacy.md). null: all have that.",
    )
    answers: Similarity = key(
        1.0,
        "Probability that a drawn client answers. One that does not takes no part in the round; at least one always "
        "answers (docs/privacy.md).",
    )
    robust: Robust | None = key(
        None,
        "Robust rule that combines a round's uploads in place of their mean (docs/privacy.md); null for the mean.",
    )
    attack: Attack | None = key(None, "Clients that attack the shared adapter (docs/privacy.md); null for none.")

    def participations(self, clients: int) -> float:
        """Return in how many rounds one of ``clients`` takes part on average; where nobody would answer, one does."""
        answering = self.answers + (1 - self.answers) ** self.clients_per_round / self.clients_per_round
        return self.rounds * self.clients_per_round / clients * answering


class Scheduling(Clients):
    """Settings of the job that makes a schedule."""

    rounds: int
    clients_per_round: int


class Initialisation(Section):
    """Settings of the job that makes an initial adapter. ``source``: folder or Hugging Face id of the base model."""

    source: str
    lora: Lora


class StagePieces(PrefixLength):
    """How a client's texts are cut into pieces."""

    training: Training


class StageTraining(StagePieces):
    """What a job of either stage reads. ``alignment``: None where the stage aligns nothing.

    ``stage``: the stage as plain values (:func:`favor.federation.method.plan_values`). ``participations``: by client,
    how often it takes part in all, where passes are spread over that. ``withdrawn``: clients whose texts are left out.
    """

    engine: Literal["stacked", "sequential"]
    model: LoadedModel
    lora: Lora
    alignment: Alignment | None
    stage: dict[str, object]
    participations: dict[str, int]
    withdrawn: list[str]


class SharedTraining(StageTraining):
    """What a job of a shared stage reads. ``keep_endpoints``: the clients whose endpoint of the round is kept.

    ``canaries``: by client, in how many documents its secret is planted; None where none are.
    """

    clients_per_job: int
    keep_endpoints: list[str]
    canaries: dict[str, int] | None


class PersonalTraining(StageTraining):
    """What a job of a personal stage reads.

    ``rounds``: by client, the round that the stage belongs to: the last participation where each starts again.
    ``again``: the clients that take part again later, where participations build on one another.
    """

    rounds: dict[str, int]
    again: list[str]


class Hijack(Section):
    """Settings of the job that gives ``attackers`` the texts of the client ``target``."""

    attackers: list[str]
    target: str


class FalseUploads(Section):
    """Settings of the job that multiplies the uploads of ``attackers`` with ``factor``."""

    attackers: list[str]
    factor: float


class Summation(Section):
    """Settings of the job that sums a round's uploads. ``stage``: as of :class:`StageTraining`.

    ``results``: the results folder, from which the record of the boundary names files.
    """

    stage: dict[str, object]
    results: str


class Combination(Summation):
    """Settings of the job that combines a round's uploads by a robust rule."""

    robust: Robust


class Aggregation(Summation):
    """Settings of the job that makes the next shared adapter."""

    server_learning_rate: Positive


class RunBoundary(Section):
    """A run and the files that say what crossed its clients' boundary.

    ``traffic``: of its rounds; ``packs``: what stays on its clients; ``final``: the final shared adapter sent to
    ``recipients`` who generate with it, of which they get the tensors that ``stage`` (as of :class:`StageTraining`;
    None: all) uploads; ``pooled``: all training texts were handed over, which is what the centralised reference costs.
    """

    seed: int
    method: str
    traffic: list[str]
    packs: list[str]
    final: str | None
    recipients: list[str]
    stage: dict[str, object] | None
    pooled: bool


class Boundary(Section):
    """Settings of the job that records the boundary. ``results``: the results folder, from which it names files."""

    results: str
    runs: list[RunBoundary]


class AskedPrompts(Section):
    """The files of an experiment's prompts: by seed, and the common ones."""

    prompts: dict[str, str]
    common_prompts: list[str]


class PromptLists(Section):
    """Settings of the job that lists prompts for somebody else to answer."""

    experiments: list[AskedPrompts]


class AdapterUse(Section):
    """What a job reads that uses clients' final adapters.

    ``generates``: what generation reads of the method (:class:`favor.federation.method.Inference`), as plain values.
    """

    lora: Lora
    generates: dict[str, object]


class GenerationJob(AdapterUse, WordKind):
    """What a job reads that generates. ``clients``: for whom; None for every client of the run."""

    model: LoadedModel
    generation: Decoding
    clients: list[str] | None


class LikelihoodReading(AdapterUse):
    """Settings of the job that reads texts with a run's adapters. ``context``: tokens of the longest text."""

    model: LoadedModel
    clients: list[str]
    context: int


class ValidationReading(AdapterUse, StagePieces):
    """Settings of the job that reads clients' validation texts under a track's final shared adapter."""

    model: LoadedModel
    clients: list[str]


class ReadTexts(Section):
    """Which held-out texts are read."""

    texts_per_client: Count = key(6, "Most held-out texts per client; none is the source of a prompt.")
    minimum_tokens: Count = key(16, "Texts with fewer tokens behind the prefix are passed over.")
    neutral_texts: Count = key(16, "Most windows of the neutral sentences.")
    seed: Seed = key(2026, "Random seed of the choice of texts.")


class Likelihood(ReadTexts):
    """Every client's final model reads every client's held-out texts; nothing is generated."""

    maximum_tokens: int | None = key(
        None,
        "Most supervised tokens of a text, which follow a prefix as long as a prompt; null takes those of a "
        "continuation, and at most 128.",
        ge=1,
    )
    neutral: str | None = key(
        "english",
        "Neutral sentences, in which forgetting shows: `english` takes those that come with the project, a path those "
        "of your text file, null none.",
    )


class TextChoice(ReadTexts, PrefixLength):
    """Which held-out texts are read, and how they are cut. ``maximum_tokens``: most supervised ones of a text."""

    maximum_tokens: int


class BaseReading(TextChoice):
    """Settings of the job that chooses texts and reads them with the base. ``neutral``: neutral sentences too."""

    model: LoadedModel
    lora: Lora
    neutral: bool


class AdapterExport(AdapterUse):
    """Settings of the job that exports adapters. ``base``: folder or Hugging Face id of their base model."""

    base: str
    clients: list[str]


class GivenOutputs(WordKind):
    """Settings of the job that takes continuations made elsewhere. ``seeds``: of the experiment, in their order."""

    seeds: list[int]
    tokenizer_folder: str
    generation: OutputFilter


class PassageLengths(Section):
    """Which passages stand before a prompt; lengths are in tokens of the model that reads them."""

    passages: int = key(3, "The client's own training texts retrieved per prompt.", ge=1)
    passage_tokens: int = key(200, "Most tokens of each passage.", ge=8)


class SheetLengths(Section):
    """What author sheets and personas are made from, and how long they are; lengths are in tokens of their model."""

    sheet_texts: int = key(8, "Training texts that an author sheet is made from.", ge=1)
    sheet_text_tokens: int = key(300, "Most tokens read of each of them.", ge=8)
    sheet_tokens: int = key(300, "Longest author sheet.", ge=8)
    persona_tokens: int = key(120, "Longest persona.", ge=8)
    seed: Seed = key(2026, "Random seed of the choice of texts behind a sheet.")


class Prompting(SheetLengths, PassageLengths):
    """What prompting baselines put before a prompt; lengths are in tokens."""

    model: str | None = key(None, "Base model that writes author sheets and personas; null takes the experiment's own.")


class SheetDistilling(DecodingLimits):
    """Settings of the job that distils author sheets."""

    model: AskedModel
    lengths: SheetLengths


class PromptedGeneration(WordKind):
    """Settings of the job that generates with longer prompts.

    ``prompting``: what stands in them (:class:`favor.federation.method.Prompting`), as plain values.
    """

    model: AskedModel
    prompting: dict[str, Any]
    lengths: PassageLengths
    generation: Decoding
