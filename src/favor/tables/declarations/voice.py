"""How much of the authors' voice is kept, how varied outputs are, and what they copy."""

from favor.paper.names import METHODS
from favor.tables.specs import Column, TableSpec, method_rows, one_panel, panel


def _share(header: str, metric: str, variant: str = "", zero: str = "") -> Column:
    return Column(header, metric, "style", variant=variant, decimals=2, interval=True, zero=zero)


def _shares(variant: str = "", zero: str = "") -> tuple[Column, ...]:
    return (
        _share("Author\naccuracy", "kept_author_accuracy", variant, zero),
        _share("Gen→Src\nAUC", "kept_generated_source_auc", variant, zero),
        _share("Margin", "kept_author_margin", variant, zero),
    )


VOICE_KEPT = TableSpec(
    label="voice-kept",
    title="Voice kept",
    caption="How much of the authors' voice a method keeps: (score − nothing) / (own continuations − nothing). 0 is a "
    "voice that is nobody's (accuracy 1 / authors, AUC 0.5, margin 0), 1 the author's own; another author's voice is "
    "below 0. Margin: similarity to the own author minus the mean similarity to the others. In brackets 95 % intervals "
    "over authors, who keep their outputs of all seeds. Over base: 0 is the base model. Not apart: the interval of own "
    "continuations minus 0's holds 0, so no share is read; a dash: its interval is wider than 2. Nobody wrote human "
    "continuations of the common prompts, so 1 is that of own prompts there; these prompts are fixed. Who loses most: "
    "Spearman's correlation over authors of the voice lost beyond the share that all authors lose with the distance "
    "from the authors' mean, and with words trained on.",
    rows=method_rows(*METHODS),
    panels=(
        panel("Over a voice that is nobody's", *_shares()),
        panel("Over the base model", *_shares("over_base", zero="base_only")),
        panel(
            "On common prompts, over a voice that is nobody's",
            _share("Author\naccuracy", "kept_common_accuracy"),
            _share("Margin", "kept_common_margin"),
        ),
        panel(
            "Who loses most",
            _share("Distance from\nthe mean", "loss_with_distance"),
            _share("Words\ntrained on", "loss_with_volume"),
        ),
    ),
    section="Voice kept, diversity and copying",
)


def _score(header: str, metric: str) -> Column:
    return Column(header, metric, "style", variant="score" if metric.startswith("kept_") else "", interval=True)


DISTINCT_FAITHFUL = TableSpec(
    label="distinct-faithful",
    title="Distinct against faithful",
    caption="Distinct: a style encoder tells a method's outputs for one author from those for the others. "
    "Faithful: they are nearer to that author's own text than to the others'. "
    "A voice that is nobody's has accuracy 1 / authors, AUC 0.5 "
    "and margin 0. Distinct voices need not be the authors', and the first column cannot tell. AUC is not "
    "linear: where half of the outputs are in the author's voice, it moves far less than half of the way from 0.5. "
    "Means over seeds; in brackets 95 % intervals over authors.",
    rows=method_rows(*METHODS),
    panels=one_panel(
        _score("Distinct:\nverif. AUC", "distinct_auc"),
        _score("Faithful:\nauthor accuracy", "kept_author_accuracy"),
        _score("Faithful:\nGen→Src AUC", "kept_generated_source_auc"),
        _score("Faithful:\nmargin", "kept_author_margin"),
    ),
    section="Voice kept, diversity and copying",
)

COMMON_PROMPTS = TableSpec(
    label="common-prompts",
    title="Common prompts",
    caption="Every client continues the same prompts, so only adapters tell authors apart. Cosines of style vectors "
    "and Jaccard similarities of word bigrams are means over pairs of different authors: on one common prompt, "
    "on two (what chance gives) and on the authors' own prompts, for people too. AUC: pairs of one author on two "
    "prompts against pairs of two authors on one prompt, or on two. Shares are variance components of the style "
    "vectors. Brackets are 95 % intervals over authors for these prompts: other prompts would give other values, which "
    "they do not cover. A method with one adapter for all authors is at "
    "chance by construction: all authors have one text, so the accuracy is 1 / authors, the author's share 0, the AUC "
    "0.5 over two prompts and 0 over one.",
    rows=method_rows(*METHODS),
    panels=(
        panel(
            "How alike different authors write",
            Column("Same\nprompt", "common_similarity", "style", interval=True),
            Column("Other\nprompts", "common_similarity", "style", variant="other_prompt"),
            Column("Own\nprompts", "own_prompt_similarity", "style"),
            Column("Bigrams,\nsame", "common_overlap"),
            Column("Bigrams,\nother", "common_overlap", variant="other_prompt"),
            Column("Bigrams,\nown", "own_prompt_overlap"),
        ),
        panel(
            "Whether the author is recognised",
            Column("Author\nacc.", "common_accuracy", "style", interval=True),
            Column("AUC,\none prompt", "common_auc", "style", interval=True),
            Column("AUC,\ntwo prompts", "common_auc", "style", variant="other_prompt"),
            Column("Author\nshare", "author_share", "style"),
            Column("Prompt\nshare", "prompt_share", "style"),
            Column("Remainder", "remainder_share", "style"),
        ),
    ),
    section="Voice kept, diversity and copying",
)


def _columns(prefix: str, variant: str) -> tuple[Column, ...]:
    return (
        Column(f"{prefix}:\nshare of 5-grams", "copy5_rate", variant=variant, interval=True),
        Column(f"{prefix}:\nlongest span", "longest_copy", variant=variant, decimals=1, interval=True),
    )


COPYING = TableSpec(
    label="copying",
    title="Copying",
    caption="What outputs share word for word with what the author's client trained on (own), and with what all other "
    "clients trained on (others): it came through the shared adapter, or is a phrase that everybody uses. Share of "
    "5-grams: those of others are in no own text. Longest span: mean words of the longest shared sequence of at least "
    "5 words, of outputs cut to one length. Own continuations show what authors repeat without copying. Other clients "
    "have more text in total: compare methods within a column. Brackets are 95 % intervals over authors.",
    rows=method_rows(*METHODS),
    panels=one_panel(*_columns("Own", ""), *_columns("Others", "others")),
    section="Voice kept, diversity and copying",
)

DIVERSITY = TableSpec(
    label="diversity",
    title="Diversity and drift",
    caption="How varied a method's outputs are as a set. Every text is cut to the words of the shortest human "
    "continuation. Vendi scores are those of sets of one size, that of the method with the fewest outputs; × "
    "human divides the score of all outputs by that of the human continuations of the same prompts. Growth: "
    "slope of ln Vendi on the logarithm of the number of authors. Drift: the variance between a method's "
    "authors over that of their own texts, of centres in the style space and of readable habits, both without "
    "the noise of few texts, with 95 % intervals over authors. 0 means that all write alike, 1 that they "
    "differ as their own continuations do. Habits kept is the slope on the authors' own habits: 0 is the "
    "group's mean, 1 the author's.",
    rows=method_rows(*METHODS),
    panels=(
        panel(
            "Diversity",
            Column("Vendi\n(style)", "style_vendi", "style", variant="equal", decimals=2, deviation="inline"),
            Column("× human", "style_vendi", "style", variant="of_human", decimals=2),
            Column("Vendi\n(n-grams)", "ngram_vendi", variant="equal", decimals=2, deviation="inline"),
            Column("× human\n(n-grams)", "ngram_vendi", variant="of_human", decimals=2),
            Column("Growth with\nauthors", "vendi_growth", "style", decimals=2),
            Column("Compression\nratio", "compression_ratio", decimals=2),
            Column("Self-BLEU", "self_bleu"),
            Column("Self-\nrepetition", "self_repetition", decimals=2),
        ),
        panel(
            "Drift",
            Column("Spread left", "spread_left", "style", decimals=2, interval=True),
            Column("Habit variance\nleft", "habit_variance_left", decimals=2, interval=True),
            Column("Habits kept", "habit_slope", decimals=2, interval=True),
        ),
    ),
    section="Voice kept, diversity and copying",
)

SAMPLES = TableSpec(
    label="samples",
    title="Sampled continuations",
    caption="Scores over all samples of every prompt. Distinct-k counts the classes of a prompt's samples, of which "
    "there are at most as many as samples. A greedy method has one sample and a dash.",
    rows=method_rows(*METHODS),
    panels=one_panel(
        Column("Distinct-k", "distinct_samples", decimals=2),
        Column("Bigram\noverlap", "sample_overlap"),
        Column("Author\nacc.", "author_accuracy", "style"),
        Column("Verif.\nAUC", "generated_auc", "style"),
        Column("Target\nsim.", "target_similarity", "style"),
        Column("SemSim", "semantic_similarity"),
        Column("Pass\nrate", "pass_rate"),
    ),
    section="Voice kept, diversity and copying",
)

TASK_RESULTS = TableSpec(
    label="task-results",
    title="Voice gained and content kept",
    caption="Answers to drafts or instructions that the untouched base model made of held-out passages. Content kept: "
    "cosine of the semantic encoder between answer and draft; the untouched draft has 1 and gains no voice. By chance: "
    "the same to other authors' drafts. A sentence encoder reads topic: it sees neither a changed number nor a lost "
    "not. Voice gained: margin of the answer (similarity to its author minus the mean similarity to the others) minus "
    "that of the draft. In brackets 95 % intervals over authors, who keep their outputs of all seeds. The authors' own "
    "passages show what the same content reaches in their voice; for instructions content has no ceiling.",
    rows=method_rows(*METHODS),
    panels=(
        panel(
            "Content",
            Column("Content\nkept", "content_kept", "semantic", interval=True),
            Column("By\nchance", "content_by_chance", "semantic"),
        ),
        panel(
            "Voice gained over the draft",
            Column("Style\nencoder", "voice_gained", "style", interval=True, signed=True),
            Column("Independent\nencoder", "voice_gained", "independent", interval=True, signed=True),
        ),
    ),
    section="Voice kept, diversity and copying",
)
