"""Tables of what is computed from the scores of several runs."""

from favor.foundation.tables import (
    BOOLEAN,
    CLIENT,
    FLOAT,
    FLOATS,
    INT32,
    INT64,
    METHOD,
    SAMPLE,
    SEED,
    STRING,
    Column,
    Table,
)

COMPARISONS = Table(
    "comparisons",
    (
        Column("left_method", STRING, "", "method key that a positive difference favours"),
        Column("right_method", STRING, "", "method key it is compared with"),
        Column("encoder", STRING, "", "encoder key of the configuration; empty where none is used"),
        Column("metric", STRING, "", "metric name"),
        Column("clusters", STRING, "", "what the bootstrap draws: seed-author or author"),
        Column("left", FLOAT, "", "value of the left method on the matched outputs; NaN where note says why"),
        Column("right", FLOAT, "", "value of the right method on the matched outputs"),
        Column("delta", FLOAT, "", "difference, signed so that positive favours the left method"),
        Column("low", FLOAT, "", "lower end of the 95 % interval of the difference"),
        Column("high", FLOAT, "", "upper end of that interval"),
        Column("p", FLOAT, "", "two-sided p of the difference: the sign-flip test over these clusters"),
        Column("p_exact", FLOAT, "", "McNemar's (accuracy) or Wilcoxon's p; NaN for AUC and EER"),
        Column("test", STRING, "", "the p that the table prints: sign_flip (p) or exact (p_exact)"),
        Column(
            "p_holm", FLOAT, "", "p of rows whose clusters are authors, Holm-adjusted over these; NaN for the others"
        ),
        Column("n", INT64, "outputs", "matched outputs"),
        Column("pairs", INT64, "pairs", "verification pairs of the left method; 0 for other metrics"),
        Column("draws", INT64, "draws", "bootstrap draws in which both values exist"),
        Column("cluster_count", INT64, "clusters", "clusters that a draw takes with replacement"),
        Column("note", STRING, "", "why the values are missing; empty otherwise"),
    ),
    ("left_method", "right_method", "encoder", "metric", "clusters"),
)

ADAPTER_ENERGY = Table(
    "adapter_energy",
    (
        Column("part", STRING, "", "personal (the whole update) or residual (what the private stage added)"),
        Column("first_layer", INT32, "", "first decoder layer of the block, from 0"),
        Column("last_layer", INT32, "", "last decoder layer of the block"),
        Column("module", STRING, "", "adapted projection"),
        Column("share", FLOAT, "", "module's share of the block's update energy, mean over adapters"),
        Column("adapters", INT32, "adapters", "adapters behind the mean"),
    ),
    ("part", "first_layer", "module"),
)

COORDINATE_EFFECTS = Table(
    "coordinate_effects",
    (
        Column("space", STRING, "", "stylometric (hand-made features) or style (the style encoder)"),
        Column("coordinate", STRING, "", "name or number of the coordinate"),
        Column("author_effect", FLOAT, "", "omega squared of author within topic"),
        Column("topic_effect", FLOAT, "", "omega squared of topic"),
        Column("texts", INT64, "texts", "human texts behind the effects"),
    ),
    ("space", "coordinate"),
)

PARTICIPATION = Table(
    "participation",
    (
        SEED,
        METHOD,
        CLIENT,
        Column("last_round", INT32, "", "round of the client's last participation, from 0; -1: never sampled"),
        Column("outputs", INT64, "outputs", "its outputs that passed the filter"),
        Column("correct", INT64, "outputs", "outputs nearest to their own author's prototype"),
    ),
    ("seed", "method", "client"),
)

EVIDENCE = Table(
    "evidence",
    (
        Column("encoder", STRING, "", "encoder key; empty where none is used"),
        Column("metric", STRING, "", "metric name"),
        Column("left_method", STRING, "", "method key or control that a positive difference favours"),
        Column("right_method", STRING, "", "method key or control it is compared with"),
        Column("left", FLOAT, "", "mean over seeds of the left row"),
        Column("right", FLOAT, "", "mean over seeds of the right row"),
        Column("delta", FLOAT, "", "difference, signed so that positive favours the left row"),
        Column("low", FLOAT, "", "lower end of the 95 % interval of the difference"),
        Column("high", FLOAT, "", "upper end of that interval"),
        Column("p", FLOAT, "", "two-sided p of the difference over authors"),
        Column("draws", INT64, "draws", "draws of authors in which both values exist"),
        Column("error", FLOAT, "", "standard error of the difference over authors, and over seeds from three on"),
        Column("by_seed", FLOATS, "", "the difference in each seed, in the order of seeds, signed as delta"),
    ),
    ("encoder", "metric", "left_method", "right_method"),
)

_MEASURED = (
    Column("method", STRING, "", "method key; gold: the authors' own continuations"),
    Column("encoder", STRING, "", "encoder key; unseen: mean over those that neither group trains with"),
    Column("metric", STRING, "", "metric name"),
)

GROUP_OUTPUTS = Table(
    "group_outputs",
    (
        SEED,
        *_MEASURED,
        Column("author", STRING, "", "digest of the author's texts"),
        Column("prompt", STRING, "", "digest of the prompt and of the author's own continuation"),
        SAMPLE,
        Column("value", FLOAT, "", "value of this output"),
    ),
    ("seed", "method", "encoder", "metric", "author", "prompt", "sample"),
)

GROUP_ROWS = Table(
    "group_rows",
    (
        Column("run", STRING, "", "A or B, in the order of the command line"),
        *_MEASURED,
        Column("value", FLOAT, "", "mean over seeds of the mean over outputs"),
        Column("low", FLOAT, "", "lower end of its 95 % interval over authors"),
        Column("high", FLOAT, "", "upper end of that interval"),
        Column("n", INT64, "outputs", "outputs behind the value"),
        Column("authors", INT64, "authors", "authors of these outputs"),
        Column("paired", BOOLEAN, "", "whether the other run has the method too, so that differences are paired"),
    ),
    ("run", "method", "encoder", "metric"),
)

GROUP_DIFFERENCES = Table(
    "group_differences",
    (
        *_MEASURED,
        Column("a", FLOAT, "", "mean of A over the outputs that both runs have a value of"),
        Column("b", FLOAT, "", "mean of B over these outputs"),
        Column("delta", FLOAT, "", "a minus b"),
        Column("low", FLOAT, "", "lower end of the 95 % interval of the difference"),
        Column("high", FLOAT, "", "upper end of that interval"),
        Column("p", FLOAT, "", "two-sided p of the sign-flip test over authors; NaN but for the one tested measure"),
        Column("p_holm", FLOAT, "", "p, Holm-adjusted over methods"),
        Column("n", INT64, "outputs", "matched outputs"),
        Column("authors", INT64, "authors", "authors of these outputs"),
    ),
    ("method", "encoder", "metric"),
)
