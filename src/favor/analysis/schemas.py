"""Tables of what is computed from the scores of several runs."""

from favor.foundation.schemas import CLIENT, METHOD, SAMPLE, SEED, Column, Table

COMPARISONS = Table(
    "comparisons",
    ("left_method", "right_method", "encoder", "metric", "clusters"),
    Column("left_method", "string", "method key that a positive difference favours"),
    Column("right_method", "string", "method key it is compared with"),
    Column("encoder", "string", "encoder key of the configuration; empty where none is used"),
    Column("metric", "string", "metric name"),
    Column("clusters", "string", "what the bootstrap draws: seed-author or author"),
    Column("left", "float64", "value of the left method on the matched outputs; NaN where note says why"),
    Column("right", "float64", "value of the right method on the matched outputs"),
    Column("delta", "float64", "difference, signed so that positive favours the left method"),
    Column("low", "float64", "lower end of the 95 % interval of the difference"),
    Column("high", "float64", "upper end of that interval"),
    Column("p", "float64", "two-sided p of the difference: the sign-flip test over these clusters"),
    Column("p_exact", "float64", "McNemar's (accuracy) or Wilcoxon's p; NaN for AUC and EER"),
    Column("test", "string", "the p that the table prints: sign_flip (p) or exact (p_exact)"),
    Column("p_holm", "float64", "p of rows whose clusters are authors, Holm-adjusted over these; NaN for the others"),
    Column("n", "int64", "matched outputs", "outputs"),
    Column("pairs", "int64", "verification pairs of the left method; 0 for other metrics", "pairs"),
    Column("draws", "int64", "bootstrap draws in which both values exist", "draws"),
    Column("cluster_count", "int64", "clusters that a draw takes with replacement", "clusters"),
    Column("note", "string", "why the values are missing; empty otherwise"),
)

ADAPTER_ENERGY = Table(
    "adapter_energy",
    ("part", "first_layer", "module"),
    Column("part", "string", "personal (the whole update) or residual (what the private stage added)"),
    Column("first_layer", "int32", "first decoder layer of the block, from 0"),
    Column("last_layer", "int32", "last decoder layer of the block"),
    Column("module", "string", "adapted projection"),
    Column("share", "float64", "module's share of the block's update energy, mean over adapters"),
    Column("adapters", "int32", "adapters behind the mean", "adapters"),
)

COORDINATE_EFFECTS = Table(
    "coordinate_effects",
    ("space", "coordinate"),
    Column("space", "string", "stylometric (hand-made features) or style (the style encoder)"),
    Column("coordinate", "string", "name or number of the coordinate"),
    Column("author_effect", "float64", "omega squared of author within topic"),
    Column("topic_effect", "float64", "omega squared of topic"),
    Column("texts", "int64", "human texts behind the effects", "texts"),
)

PARTICIPATION = Table(
    "participation",
    ("seed", "method", "client"),
    SEED,
    METHOD,
    CLIENT,
    Column("last_round", "int32", "round of the client's last participation, from 0; -1: never sampled"),
    Column("outputs", "int64", "its outputs that passed the filter", "outputs"),
    Column("correct", "int64", "outputs nearest to their own author's prototype", "outputs"),
)

EVIDENCE = Table(
    "evidence",
    ("encoder", "metric", "left_method", "right_method"),
    Column("encoder", "string", "encoder key; empty where none is used"),
    Column("metric", "string", "metric name"),
    Column("left_method", "string", "method key or control that a positive difference favours"),
    Column("right_method", "string", "method key or control it is compared with"),
    Column("left", "float64", "mean of the left row over its seeds with a value"),
    Column("right", "float64", "mean of the right row over its seeds with a value"),
    Column("delta", "float64", "difference over the seeds of both, signed so that positive favours the left row"),
    Column("low", "float64", "lower end of the 95 % interval of the difference"),
    Column("high", "float64", "upper end of that interval"),
    Column("p", "float64", "two-sided p of the difference over authors"),
    Column("draws", "int64", "draws of authors in which both values exist", "draws"),
    Column("error", "float64", "standard error of the difference over authors, and over seeds from three on"),
    Column("by_seed", "float64s", "the difference in each of these seeds, in the order of seeds, signed as delta"),
)

_MEASURED = (
    Column("method", "string", "method key; gold: the authors' own continuations"),
    Column("encoder", "string", "encoder key; unseen: mean over those that neither group trains with"),
    Column("metric", "string", "metric name"),
)

GROUP_OUTPUTS = Table(
    "group_outputs",
    ("seed", "method", "encoder", "metric", "author", "prompt", "sample"),
    SEED,
    *_MEASURED,
    Column("author", "string", "digest of the author's texts"),
    Column("prompt", "string", "digest of the prompt and of the author's own continuation"),
    SAMPLE,
    Column("value", "float64", "value of this output"),
)

GROUP_ROWS = Table(
    "group_rows",
    ("run", "method", "encoder", "metric"),
    Column("run", "string", "A or B, in the order of the command line"),
    *_MEASURED,
    Column("value", "float64", "mean over seeds of the mean over outputs; no row where a seed has none"),
    Column("low", "float64", "lower end of its 95 % interval over authors"),
    Column("high", "float64", "upper end of that interval"),
    Column("n", "int64", "outputs behind the value", "outputs"),
    Column("authors", "int64", "authors of these outputs", "authors"),
    Column("paired", "bool", "whether the other run has the method too, so that differences are paired"),
)

GROUP_DIFFERENCES = Table(
    "group_differences",
    ("method", "encoder", "metric"),
    *_MEASURED,
    Column("a", "float64", "mean of A over the outputs that both runs have a value of"),
    Column("b", "float64", "mean of B over these outputs"),
    Column("delta", "float64", "a minus b"),
    Column("low", "float64", "lower end of the 95 % interval of the difference"),
    Column("high", "float64", "upper end of that interval"),
    Column("p", "float64", "two-sided p of the sign-flip test over authors; NaN but for the one tested measure"),
    Column("p_holm", "float64", "p, Holm-adjusted over methods"),
    Column("n", "int64", "matched outputs", "outputs"),
    Column("authors", "int64", "authors of these outputs", "authors"),
)
