"""The settings of corpora and of what experiments take of them: every key with its type, default, bounds and meaning.

A job is handed the class that holds what it reads, and nothing else. :class:`Corpus`, :class:`Allocation` and
:class:`Prompts` are what a configuration file has; they inherit the parts that jobs read.
"""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from favor.foundation.section import (
    DISTINCT,
    OR_NULL,
    Count,
    Filled,
    Natural,
    NotNegative,
    Positive,
    Section,
    Seed,
    Share,
    Similarity,
    key,
    required,
    section,
)

MOST_AUTHORS = 1_000_000  # plans and generated corpora are made in memory

ColumnRole = Literal["author", "text", "topic", "prompt", "date"]


class DemoCorpus(Section):
    """A generated corpus.

    Posts by rank fall off as rank^-``volume_alpha``, ranks shuffled over the authors. Of a pair of accounts that share
    posts, each has six of them.
    """

    shape: Literal["blog", "mythos"] = key(
        "blog", "Blog posts for the reader `blog_csv`, or stories with writing prompts for the reader `mythos`."
    )
    seed: Seed = key(2026, "Random seed of the generated corpus.")
    authors: int = key(48, "Number of authors.", ge=4, le=MOST_AUTHORS)
    minimum_posts: int = key(40, "Number of posts of the smallest author.", ge=1)
    maximum_posts: int = key(330, "Number of posts of the largest author.", ge=1, le=100_000)
    minimum_words: int = key(60, "Number of words of the shortest post.", ge=1)
    maximum_words: int = key(300, "Number of words of the longest post.", ge=1, le=100_000)
    volume_alpha: NotNegative = key(0.7, "Exponent of the long tail of volumes.")
    tiny_authors: int = key(2, "Number of extra authors with three posts each.", ge=0, le=MOST_AUTHORS)
    shared_pairs: int = key(1, "Number of extra pairs of accounts that share posts.", ge=0, le=MOST_AUTHORS)
    topics: int = key(5, "Number of topics; authors have each in turn, then the unknown one.", ge=1, le=5)


class DemoAssistant(Section):
    """Generated assistant texts."""

    texts: int = key(600, "Number of texts.", ge=10)
    minimum_sentences: int = key(5, "Sentences of the shortest text.", ge=1)
    maximum_sentences: int = key(14, "Sentences of the longest text.", ge=1)
    seed: Seed = key(2026, "Random seed of the texts.")


class Seeded(Section):
    """The seed of what is drawn from a corpus."""

    seed: Seed = key(2026, "Random seed of splits and roles.")


class RawCorpus(Section):
    """Where a corpus comes from, and what it is called."""

    title: Filled = key("Corpus", "Name printed in tables.")
    paper_dataset: Literal["BlogText", "Mythos-Reddit"] | None = key(
        None, "Corpus of the paper whose published values are printed beside yours; null prints none."
    )
    path: str | None = key(None, "Raw corpus, a file or a folder; null takes `corpus_path`.")
    demo: DemoCorpus | None = key(None, "Generates this corpus instead of reading one.")


class SourceFile(Section):
    """How a source file is read."""

    encoding: Annotated[str, OR_NULL] = key(
        None,
        "Text encoding of the raw files, or of those posts of `blog_xml` and files of `text_folder` that are not "
        "UTF-8; null takes the reader's own: cp1252 for `blog_xml`, utf-8 for the others.",
    )
    separator: Literal[",", ";", "\t", "|"] | None = key(
        None,
        "Sign between the columns of a CSV; null takes tabs for `.tsv` and otherwise the sign that divides the header "
        "and the first rows into most columns.",
    )
    date_format: str | None = key(
        None,
        "Form of the dates, as Python's `strptime` has it, such as `%d.%m.%Y`, or `seconds` or `milliseconds` since "
        "1970; no other form is read then. Null reads ISO 8601 and dates with an English month's name.",
    )
    columns: dict[ColumnRole, str] = key(
        {}, "Column names of the source where they differ, by role: `author`, `text`, `topic`, `prompt`, `date`."
    )


class WordKind(Section):
    """What counts as a word."""

    words: Literal["paper", "unicode", "segmented", "characters"] = key(
        "paper",
        "What counts as a word: runs of A to Z in documents and what white space separates in continuations, as the "
        "paper counts (`paper`); letters of any script (`unicode`); words of languages without spaces too, by ICU's "
        "dictionaries (`segmented`); or single letters (`characters`).",
    )


class Cleaning(WordKind):
    """Which posts are dropped, beside those that are empty after cleaning (:mod:`favor.corpora.building`).

    All shared authors are dropped by default: one person with two accounts, or a blog of several hands, makes the
    author label untrue either way, and the corpus has authors enough.
    """

    excluded_authors: Annotated[list[str], OR_NULL] = key(
        None,
        "Author names that stand for nobody, or for a robot; their posts are dropped. Null takes the reader's own: "
        "`[deleted]`, `AutoModerator` and the like for `mythos`, none for the others.",
    )
    excluded_texts: Annotated[list[str], OR_NULL] = key(
        None,
        "Texts that stand for a post that is gone; they are dropped. Null takes the reader's own: `[removed]`, "
        "`[deleted]` and the like for `mythos`, none for the others.",
    )
    shared_authors: Literal["drop", "keep_larger", "merge"] = key(
        "drop",
        "What happens to authors who share five or more long posts: they are dropped, all but the one with the most "
        "words are dropped, or they are merged into one.",
    )


class PostFilters(Section):
    """Which posts are dropped; the paper has no such filter, so none is set."""

    others_words: Share | None = key(
        None,
        "Drops posts of which a larger share is somebody else's words, such as quotations, songs, quizzes and news "
        "(docs/corpora.md); null drops none.",
    )


class DocumentBuilding(Cleaning, SourceFile):
    """Settings of the job that makes documents of a raw corpus."""

    reader: str = key(
        "blog_csv", "Format of the source: a module of `src/favor/corpora/readers` or `src/favor/exports`."
    )
    filters: PostFilters = section(PostFilters, "Which posts are dropped.")


class NearDuplicates(Seeded):
    """Settings of the job that finds near duplicates."""

    near_duplicates: Similarity | None = key(
        0.7,
        "Jaccard similarity of their five-word sequences from which two posts are near duplicates, which are counted "
        "and give no prompts; null looks for none.",
    )


class Splitting(Seeded):
    """Settings of the job that splits documents. ``undated`` is read with ``split: temporal`` only."""

    minimum_posts: int = key(10, "Authors with fewer posts are left out.", ge=3)
    split: Literal["random", "temporal"] = key(
        "random",
        "How an author's posts are divided: shuffled, as the paper does, or by date, the oldest to train on and the "
        "newest to test on.",
    )
    undated: Literal["refuse", "drop"] = key(
        "refuse", "With `split: temporal`: whether posts without a date stop the run, or are left out and counted."
    )


class TokenMinimum(Section):
    """How much text a role asks of an author."""

    minimum_tokens: Natural = key(30000, "Authors with fewer tokens are left out.")


class TokenCounting(TokenMinimum):
    """Settings of the job that counts tokens. ``tokenizer_folder``: folder or Hugging Face id of the tokenizer."""

    tokenizer_folder: str


class AuthorMeasuring(TokenMinimum, Seeded):
    """Settings of the job that measures authors."""


class BackgroundChoice(Seeded):
    """Who may be a background author."""

    background_minimum_words: Natural = key(2000, "Background authors have at least this many words.")


class Background(BackgroundChoice):
    """Settings of the job that chooses background authors. ``authors``: how many."""

    authors: int


class DealtRoles(Section):
    """How many authors take each of the roles that are dealt together."""

    clients: int = key(50, "Authors who are clients of the federation.", ge=2, le=MOST_AUTHORS)
    asce_a: int = key(50, "Authors whose texts train the style encoder.", ge=0, le=MOST_AUTHORS)
    asce_b: int = key(50, "Authors whose texts train the independent second style encoder.", ge=0, le=MOST_AUTHORS)


class Roles(DealtRoles):
    """How many authors each role takes; no author has two roles."""

    background: int = key(0, "Authors whose texts pretrain a small base model.", ge=0, le=MOST_AUTHORS)


class AuthorFilters(Section):
    """Which authors take no role but that of the background; the paper has no such filters, so none is set."""

    languages: list[Annotated[str, StringConstraints(pattern="^[a-z]{2,3}$")]] = key(
        [], "Authors whose most frequent language is not one of these are left out (ISO 639 codes); [] keeps all."
    )
    language_share: Share = key(0.8, "With `languages`: least share of an author's posts in that language.")
    minimum_characters_per_token: Positive | None = key(
        None, "Authors with fewer characters per token are left out: their text is of another language, or garbled."
    )
    maximum_quoted_mail: Share | None = key(
        None, "Leaves out authors who quote or forward mail in a larger share of their posts."
    )
    maximum_near_duplicates: Share | None = key(
        None, "Leaves out authors of whose posts a larger share has a near duplicate."
    )

    @property
    def any_set(self) -> bool:
        """Whether any author may be left out."""
        limits = (self.minimum_characters_per_token, self.maximum_quoted_mail, self.maximum_near_duplicates)
        return bool(self.languages) or any(limit is not None for limit in limits)


class Filters(AuthorFilters, PostFilters):
    """Which posts are dropped, and which authors take no role but that of the background; none are by default."""


class Roster(TokenMinimum, Seeded):
    """How authors are given their roles. Style clusters are k-means on stylometric features of their training texts."""

    selection: Literal["style_diverse", "random"] = key(
        "style_diverse", "How clients are chosen: one author per style cluster in turn, or at random."
    )
    style_clusters: int = key(10, "Number of style clusters that clients are drawn from.", ge=1)
    roles: DealtRoles = section(DealtRoles, "How many authors each role takes.")
    filters: AuthorFilters = section(AuthorFilters, "Which authors take no role but that of the background.")


class RoleAssignment(Roster, NearDuplicates):
    """Settings of the job that gives authors their roles, and counts near duplicates across two of them."""


class Corpus(BackgroundChoice, RoleAssignment, Splitting, DocumentBuilding, RawCorpus):
    """One corpus: its source, its filters, and the roles of its authors."""

    extends: str | None = key(
        None,
        "Corpus to inherit from; settings not given here are taken from it. With another `seed` it is another draw of "
        "splits and roles from the same posts (docs/studies.md).",
    )
    tokenizer: str | None = key(
        None, "Base model whose tokenizer counts tokens; null takes the base model of this corpus's first experiment."
    )
    roles: Roles = section(Roles, "How many authors each role takes.")
    filters: Filters = section(
        Filters, "Which posts are dropped, and which authors take no role but that of the background."
    )


class WordBudgets(Section):
    """How words are divided over clients: in proportion to rank^-alpha, capped by what a client has.

    Ranks are shuffled over the clients. A shape of the imbalance sweep gives out exactly the total.
    """

    shape: Literal["long_tail", "balanced", "moderate", "strong"] = key(
        "long_tail", "How unequal the clients' word budgets are."
    )
    alpha: NotNegative = key(0.7, "Exponent of the long tail.")
    total_words: Annotated[int, Field(ge=1, le=10**12)] | None = key(
        None, "Word budget of all clients together; null takes what is available."
    )
    reach_total: bool = key(
        False,
        "Gives the words of clients that have less text than their share to those that have more, until `total_words` "
        "is reached; false leaves them out, as the release does. The shapes of the sweep always reach it.",
    )
    seed: Seed = key(2027, "Random seed of the shuffle over clients.")
    shots: Count | None = key(
        None, "Gives every client this many whole training texts and no others; null gives budgets in words."
    )


class Allocation(WordBudgets):
    """How many words, or texts, each client trains on."""

    enforce: Annotated[bool, OR_NULL] = key(
        None, "Whether clients train on their budget only. By protocol: paper true, released false."
    )
    reference_texts: int = key(
        0, "Further training texts set aside for evaluation prototypes; only together with `shots`.", ge=0
    )


class Clients(Section):
    """Which places of the corpus's roster take part."""

    clients: Annotated[int, OR_NULL] = key(
        None, "Number of clients of the corpus that take part; null takes all.", ge=2
    )
    skip_clients: Natural = key(0, "How many clients to skip before the first.")

    @property
    def client_numbers(self) -> range:
        """Places of the clients in the corpus's roster, from 0."""
        return range(self.skip_clients, self.skip_clients + self.clients)


class Withdrawals(Section):
    """Who left the federation."""

    withdrawn: Annotated[list[str], DISTINCT] = key(
        [],
        "Clients that withdrew, by name. The schedule stays; what follows from their first participation is trained "
        "again without them, their files are deleted, and tables leave them out (docs/privacy.md).",
    )


class TextAllocation(WordKind, Clients):
    """Settings of the job that gives clients their texts."""

    allocation: Allocation = section(Allocation, "How many words, or texts, each client trains on.")


class PrefixLength(Section):
    """How long a prompt is."""

    prefix_tokens: int = key(96, "Tokens of a prompt.", ge=1)


class PromptNumbers(Section):
    """How many prompts there are, and how long the authors' own answers to them are."""

    per_client: int = key(4, "Prompts per client and seed.", ge=1)
    minimum_gold_tokens: int = key(64, "The author's own continuation has at least this many tokens.", ge=1)


class PromptLengths(PromptNumbers, PrefixLength):
    """How held-out posts are cut in two."""


class PromptCut(PromptLengths):
    """How one post is cut. ``maximum_gold_tokens``: longest continuation by its author that is kept."""

    maximum_gold_tokens: int


class PromptSources(Section):
    """Which posts and authors give prompts."""

    near_duplicates: Literal["drop", "keep"] = key(
        "drop", "Whether held-out near duplicates of other posts give prompts (`keep`) or not (`drop`)."
    )
    minimum_per_client: int = key(
        1,
        "Authors whose test posts give fewer prompts are never clients. Those who give `per_client` are chosen first.",
        ge=1,
    )


class SharedPassages(Section):
    """Whether posts that share a passage with a training text give prompts."""

    shared_passages: Literal["drop", "keep"] = key(
        "drop",
        "Whether held-out posts that share ten words in a row with a client's training text give prompts (`keep`) or "
        "not (`drop`).",
    )


class CommonChoice(Section):
    """How many common prompts there are, and how they are chosen."""

    count: Count = key(24, "Number of common prompts; of your own table, the first ones.")
    seed: Seed = key(2026, "Random seed of their choice.")


class CommonPrompts(CommonChoice):
    """Prompts that every client continues under every method, so that authors differ by their adapters alone."""

    path: str | None = key(
        None,
        "Table of your own prompts (CSV, JSONL or Parquet with a column `prompt`); null cuts prompts from posts of "
        "authors without a role.",
    )


class Prompts(SharedPassages, PromptSources, PromptLengths):
    """Evaluation prompts, cut from held-out posts."""

    common: CommonPrompts | None = key(
        None, "Prompts that every client continues under every method; null for none (docs/metrics.md)."
    )


class PromptSelection(SharedPassages, PromptCut):
    """Settings of the job that cuts prompts. ``tokenizer_folder``: folder or Hugging Face id of the tokenizer."""

    tokenizer_folder: str


class CommonSelection(Section):
    """Settings of the job that chooses common prompts; ``tokenizer_folder`` as in :class:`PromptSelection`."""

    cut: PromptCut
    common: CommonChoice
    tokenizer_folder: str


class Need(PromptSources):
    """What one experiment asks of each of its clients.

    ``prompts``, ``tokenizer_folder``: how test posts are cut. ``training_texts``: documents to train on, and for the
    reference prototypes of few-shot clients. ``first_client`` to ``last_client``: the experiment's clients, as places
    in the roster from 1. ``study``: whether the experiment extends another one on the corpus; such a one prefers no
    authors, so that the roster of the other depends on it no more than it must.
    """

    experiment: str
    tokenizer_folder: str
    prompts: PromptCut
    training_texts: int
    first_client: int
    last_client: int
    study: bool

    @property
    def preferred_prompts(self) -> int:
        """Prompts for which an author is preferred to others."""
        return self.minimum_per_client if self.study else self.prompts.per_client

    @property
    def cut(self) -> tuple[str, PromptCut, str]:
        """What decides on the prompts; experiments with the same share their counts."""
        return self.tokenizer_folder, self.prompts, self.near_duplicates


class Suitability(TokenMinimum):
    """Settings of the job that counts who suits the experiments."""

    needs: list[Need]


class CheckedExperiment(Section):
    """An experiment whose clients are checked: their places in the roster from 1, and their budgets."""

    first: int
    last: int
    allocation: WordBudgets


class Readiness(Section):
    """Settings of the job that says whether the experiments on a corpus can be run.

    ``splitting``, ``background``, ``roster``: how posts are split and roles are given.
    """

    reader_name: str
    splitting: Splitting
    background: Background
    roster: Roster
    experiments: dict[str, CheckedExperiment]


class TransferTexts(Section):
    """Which human texts of another corpus's clients are embedded."""

    texts: int = key(6, "Most held-out texts per client.", ge=1)
    seed: Seed = key(2026, "Random seed of the choice of held-out texts.")


class Transfer(TransferTexts):
    """Human texts of another corpus's clients, embedded and scored with this experiment's style encoders.

    Nothing is trained on them.
    """

    corpus: str = required("Corpus whose clients are scored.")
