"""The settings of studies beside the main tables: people and language models as judges, and attacks on privacy.

A job is handed the class that holds what it reads. A configuration file has :class:`HumanAudit`, :class:`Judges` and
:class:`Privacy`.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

from favor.corpora.settings import PrefixLength, PromptNumbers, SharedPassages, WordKind
from favor.federation.settings import AdapterUse
from favor.foundation.section import (
    DISTINCT,
    OR_NULL,
    Count,
    Natural,
    NotNegative,
    Positive,
    Section,
    Seed,
    check_known,
    key,
    refuse,
    required,
    section,
    set_keys,
)
from favor.lm.settings import AskedModel, LoadedModel, OutputFilter, PieceCutting
from favor.scores.settings import FilteredOutputs, Spaces
from favor.statistics.settings import Bootstrap

# The paper's collaborative methods, which a judge rates by default.
COLLABORATIVE = ("fedavg", "fedprox", "pfedme", "ditto", "feddpa", "favor")


class Task(Section):
    """What models are trained and asked to do."""

    task: Literal["continue", "rewrite", "instruct"] = key(
        "continue",
        "What models do: `continue` a text, `rewrite` a neutral draft of a passage, or `instruct`, to write what an "
        "instruction says. The untouched base model makes drafts and instructions "
        "([docs/studies.md](../docs/studies.md)).",
    )


class RequestMaking(Task):
    """Settings of the job that has the base model make requests of ``splits``. ``max_length``: tokens of a piece."""

    model: AskedModel
    max_length: int
    splits: list[str]


class RequestSelection(Task, SharedPassages, PromptNumbers):
    """Settings of the job that chooses requests as prompts. ``maximum_gold_tokens``: longest passage that is kept."""

    maximum_gold_tokens: int


class TaskScoring(FilteredOutputs, Spaces):
    """Settings of the job that scores answers. ``semantic_encoder``: what content is compared with."""

    semantic_encoder: str
    bootstrap: Bootstrap


class AuditSeed(Section):
    """What every draw of the audit derives from."""

    seed: Seed = key(2026, "Random seed of every draw.")


class AuditPage(AuditSeed):
    """Settings of the job that writes an annotator's page."""

    times: bool = key(
        False, "Whether pages record how many seconds each item was in sight, and say so; never when or where."
    )


class AuditedRows(AuditSeed):
    """Whose continuations are judged."""

    methods: Annotated[list[str], DISTINCT] = key(
        ["ditto", "favor"], "Rows of the experiment whose continuations are judged.", min_length=1
    )


class AuditVotes(AuditedRows):
    """Settings of the job that scores the votes."""

    annotators: int = key(3, "Number of annotators; each has a page.", ge=1)


class AuditItems(AuditedRows):
    """What the items are: a profile is the first words of a few training texts of an author."""

    items: int = key(50, "Number of items, the same for every annotator.", ge=1)
    human_items: int = key(
        10, "How many of the items are held-out human continuations; the methods share the others equally.", ge=0
    )
    excerpts: int = key(3, "Texts that an author's profile shows.", ge=1)
    excerpt_words: int = key(60, "Words shown of each text.", ge=5)
    distractor: Literal["any", "same_topic"] = key(
        "any", "The other author of an item: any author, or one of the same topic where there is one."
    )
    candidate_words: int | None = key(
        None,
        "Most words shown of a candidate, cut where its last whole sentence within them ends; null shows all of it.",
        ge=5,
    )
    attention_checks: int = key(
        0,
        "Further items whose candidate is one of the excerpts, word for word. Annotators are told; no score has them.",
        ge=0,
    )


class ItemDrawing(AuditItems, OutputFilter, WordKind):
    """What draws items: human continuations pass the filter of the outputs."""


class ItemsJob(ItemDrawing):
    """Settings of the job that draws items. ``seeds``: of the experiment, in their order."""

    seeds: list[int]


class HumanAudit(AuditPage, AuditVotes, AuditItems):
    """A two-alternative forced choice: annotators say which of two authors wrote a text."""

    responses: str | None = key(None, "Folder of the returned response files, `*.json`; null until any are returned.")

    def check(self, where: str, rows: Sequence[str], prompts: int) -> None:
        """Check the audit against its experiment: ``rows``, ``prompts``. Raises ``UserError`` that names the key."""
        check_known(self.methods, rows, f"{where}.methods")
        if self.items > prompts:
            refuse(f"{where}.items", f"each takes a prompt of its own, and there are {prompts} at most; lower it")
        generated = self.items - self.human_items
        if generated < len(self.methods) or generated % len(self.methods):
            refuse(
                f"{where}.items",
                f"{self.items} items less {self.human_items} human ones cannot be shared equally by "
                f"{len(self.methods)} methods; change one of them",
            )
        if self.responses is not None and not Path(self.responses).is_dir():
            refuse(f"{where}.responses", f"no folder {self.responses}; make it or correct the path")


class JudgedRows(Section):
    """Whose continuations are rated, and whose voices are compared."""

    methods: Annotated[list[str], DISTINCT, OR_NULL] = key(
        None, "Rows whose continuations are rated; null rates the paper's collaborative methods that are run."
    )
    voice: list[str] | None = key(["favor", "ditto"], "Two rows whose voices are compared; null compares none.")


class Judgements(JudgedRows):
    """How outputs are chosen for judging; a pair's successive judgements swap the two places."""

    judgements: int = key(2, "Judgements of every output and every pair.", ge=1)
    profile_texts: int = key(3, "Texts of the author that a comparison of voices shows.", ge=1)
    profile_words: int = key(150, "Most words shown of each text.", ge=10)
    seed: Seed = key(2026, "Random seed of the choice of prompts, orders and profiles.")


class JudgementDesign(Judgements, WordKind):
    """The same, and what counts as a word."""


class AnswerLength(Section):
    """How long an answer may be."""

    answer_tokens: int = key(200, "Longest answer in tokens.", ge=16)


class JudgementsJob(JudgementDesign, AnswerLength):
    """Settings of the job that prepares judgements. ``seeds``: of the experiment, in their order."""

    seeds: list[int]


class JudgeChoice(AnswerLength):
    """Which judge is asked, and how often."""

    model: Literal["endpoint", "local"] = key(
        "endpoint", "An OpenAI-compatible endpoint (named by environment variables), or a base model on this machine."
    )
    maximum_requests: int = key(5000, "Most requests that one run may pay for.", ge=0)


class EndpointLimits(Section):
    """How an endpoint is treated.

    Between tries lie 0.5, 1, 2, 4, then 8 seconds, a little less by chance, or what ``Retry-After`` asks for.
    """

    temperature: NotNegative = key(0, "Sampling temperature of the endpoint.", le=2)
    requests_per_minute: Positive = key(60, "Most requests that may start in a minute.")
    parallel: int = key(4, "Most requests at once.", ge=1, le=64)
    timeout: Positive = key(60, "Seconds that a request may take.")
    tries: int = key(6, "Tries of a request that meets 429, 5xx, a timeout or a broken reply.", ge=1)


class LocalModel(Section):
    """A judge on this machine. ``title``: its printed name."""

    title: str
    base: AskedModel


class JudgeJob(JudgeChoice):
    """Settings of the job that asks the judge: one of ``endpoint`` and ``local`` is given, the other is None."""

    endpoint: EndpointLimits | None
    local: LocalModel | None


class JudgeScoring(JudgedRows):
    """Settings of the job that scores judgements. ``seeds``: those without a judgement, where there is no judge."""

    seeds: list[int]
    bootstrap: Bootstrap


class Judges(EndpointLimits, JudgeChoice, Judgements):
    """A language model that rates continuations and compares voices. Nothing is judged unless you set this."""

    base_model: Annotated[str, OR_NULL] = key(None, "Base model of a local judge; null takes the experiment's own.")

    def complete(self, where: str, rows: Sequence[str], base_model: str, models: Sequence[str]) -> None:
        """Take what is null from the experiment, its ``rows`` and ``base_model``, and check the names.

        ``models``: all base models. Raises ``UserError`` that names the key.
        """
        if self.methods is None:
            set_keys(self, methods=[row for row in COLLABORATIVE if row in rows])
        if self.base_model is None:
            set_keys(self, base_model=base_model)
        if self.voice is not None and len(set(self.voice)) != 2:
            refuse(f"{where}.voice", "name two rows, or set it to null")
        check_known(self.methods, rows, f"{where}.methods")
        check_known(self.voice, rows, f"{where}.voice")
        if "favor" not in self.methods or len(set(self.methods)) < 2:
            refuse(f"{where}.methods", "ratings compare row 'favor' with others; name it and another")
        check_known(self.base_model, models, f"{where}.base_model")


class SecretRanks(Section):
    """Among how many secrets each is ranked."""

    candidates: int = key(1000, "Secrets that nobody has, among which each planted one is ranked.", ge=1)


class Canaries(SecretRanks):
    """Random secrets, one per client, planted in its training texts on one further track (E4 of docs/privacy.md)."""

    repeats: Annotated[list[Count], DISTINCT] = key(
        [1, 4, 16],
        "Training documents that carry a client's secret; the clients take these numbers in turn.",
        min_length=1,
    )


class Planted(SecretRanks):
    """The secrets of a run. ``carriers``: by client, in how many documents its secret is planted."""

    carriers: dict[str, int]


class CanaryClients(Section):
    """Clients that upload a random vector, of a server that takes the mean of the uploads (Andrew et al. 2024).

    ``count``: how many. ``rate``: what the server multiplies the mean with. ``clip``: length of the vector; None where
    nothing is clipped. ``cohort``: clients per round that the sum is divided by, given with ``clip``.
    """

    count: int
    rate: float
    clip: float | None
    cohort: int | None


class TextCutting(PieceCutting, PrefixLength):
    """How training cuts a text into pieces."""


class Readings(Section):
    """What is read of every run."""

    texts: Count = key(4, "Held-out texts per author, and as many of each client's training texts.")
    least_share: Positive = key(0.2, "Share of a text's tokens that Min-K%++ averages over, the least likely.", le=1)
    seed: Seed = key(2026, "Random seed of the choice of texts and of the canary clients.")


class PrivacyReading(Readings, TextCutting, AdapterUse):
    """Settings of the job that attacks a run.

    ``clients`` took part, ``absent`` authors did not, and ``left`` are those of the clients that withdrew from the run
    that was made again. ``jobs``: by round, how many jobs made its uploads. ``planted``, ``canary_clients``: None where
    there are none.
    """

    model: LoadedModel
    clients: list[str]
    absent: list[str]
    left: list[str]
    jobs: list[int]
    planted: Planted | None
    canary_clients: CanaryClients | None


class PrivacyScoring(Section):
    """Settings of the job that scores attacks.

    ``methods``: the attacked rows. ``personal``: those whose clients keep an adapter. ``silent``: those whose uploads
    change nothing alone. ``delta``: of the guarantee.
    """

    methods: list[str]
    personal: list[str]
    silent: list[str]
    delta: float
    bootstrap: Bootstrap


class Privacy(Readings):
    """Attacks on uploads and adapters by an evaluator (docs/privacy.md)."""

    methods: Annotated[list[str], DISTINCT] | None = key(
        None, "Rows whose uploads and adapters are attacked; null takes `favor`, or else the first row that federates."
    )
    absent: Annotated[int, OR_NULL] = key(
        None,
        "Authors who took no part: the next ones of the corpus's roster after the experiment's clients; null takes all "
        "that `roles.clients` has beyond them.",
        ge=0,
    )
    canaries: Canaries | None = section(Canaries, "Planted secrets; null plants none and trains no further track.")
    canary_clients: Natural = key(100, "Canary clients behind the empirical epsilon; 0 measures none.")
    leaving: str | None = key(
        None,
        "Experiment that equals this one but for clients that are `withdrawn` there: whether the final shared adapter "
        "gives them away is asked of both; null asks nothing.",
    )

    def complete(self, where: str, rows: Sequence[str], absent: int) -> None:
        """Check the audit against its experiment's ``rows``, and take how many authors are ``absent`` from it if null.

        Raises ``UserError`` that names the key.
        """
        check_known(self.methods, rows, f"{where}.methods")
        if self.absent is None:
            set_keys(self, absent=absent)
        if self.absent > absent:
            refuse(
                f"{where}.absent",
                f"{self.absent} authors, but the roster has {absent} after the experiment's clients; lower it, or "
                "raise 'roles.clients' of the corpus",
            )


class Poisoning(Section):
    """What an attack on the shared adapter takes, and whether its voice gets through (docs/privacy.md)."""

    beside: str = required(
        "Experiment that equals this one but for `federation.attack` and `federation.robust`: what authors lose is the "
        "difference from it. It may be this one."
    )


class TransferScoring(Section):
    """Settings of the job that scores the transfer of ``encoders``."""

    encoders: list[str]
    bootstrap: Bootstrap


class Studies(Section):
    """Studies beside the main tables (docs/studies.md); each is null or a section."""

    human_2afc: HumanAudit | None = key(None, "Human two-alternative forced-choice audit; null runs none.")
    judges: Judges | None = key(None, "A language model that rates continuations and compares voices; null runs none.")
    privacy: Privacy | None = key(None, "Attacks on uploads and adapters; null runs none.")
    poisoning: Poisoning | None = key(None, "What attackers among the clients do to the others; null measures none.")
