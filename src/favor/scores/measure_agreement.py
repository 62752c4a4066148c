"""Measure agreement: do the style measures rank methods and authors alike, and what difference could each have seen?

A measure is one of ``MEASURES``, the paper's, in one encoder's space; the ``MARGIN`` there, which is 0 for the average
voice of all, where target similarity is high; or one of ``BESIDE``: what adapters know, and author profiles. All seeds
stand together (seed ``ALL_SEEDS``), and rows belong to no method (``SOURCE``): the encoder and the variant name the
measure.
"""

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pandas as pd

from favor.foundation.seeds import numpy_generator
from favor.scores.inputs import Run, ScoreInputs, read_encoders
from favor.scores.metric import ALL_SEEDS, CONTROLS, SOURCE, Metric, Score, scores_frame
from favor.scores.prototypes import run_figures
from favor.scores.settings import MeasureAgreement
from favor.statistics.between_authors import post_means
from favor.statistics.bootstrap import CORRELATION, interval, observed_and_resampled
from favor.statistics.rank_agreement import detectable_difference, drawn_authors, rank_correlations, split_half_error

READS = "likelihood profiles"  # families whose scores this one reads, where the experiment has them
_RANKS = "Spearman's rank correlation with the mean rank by the paper's measures of all other encoders, over"
METRICS = (
    Metric("agreement_over_methods", "Agreement over methods", -1.0, 1.0, "none", f"{_RANKS} methods"),
    Metric("agreement_over_authors", "Agreement over authors", -1.0, 1.0, "none", f"{_RANKS} authors, within methods"),
    Metric("rank_correlation", "Rank correlation", -1.0, 1.0, "none", "of two measures over methods"),
    Metric("human_own", "Own text", -math.inf, math.inf, "none", "the measure of the authors' own continuations"),
    Metric("human_shuffled", "Others' text", -math.inf, math.inf, "none", "the measure of shuffled continuations"),
    Metric("detectable_difference", "Detectable difference", 0.0, math.inf, "none",
        "smallest difference of two methods found with power .8 at level .05; error from split halves of human text"),
    Metric("detectable_share", "Detectable share", -math.inf, math.inf, "none",
        "detectable difference over that of own and shuffled text"),
)  # fmt: skip
_Means = dict[str, dict[str, np.ndarray]]  # measure -> method -> [clients], NaN for authors without a value
_Outputs = tuple[np.ndarray, np.ndarray, np.ndarray]  # author, value and post of each output of a run
MEASURES = ("author_accuracy", "output_auc", "target_similarity")
MARGIN = "author_margin"
# Measures of each author in other families' scores, and the metric there that says the same of human texts.
BESIDE = {
    "likelihood_author_voice_gain": "",
    "likelihood_author_top1": "",
    "profile_author_accuracy": "profile_accuracy",
    "profile_author_ratio": "profile_ratio",
}
_NOT_SPLIT = "taken of single texts, which profiles and adapters do not score alone"
_NO_ADAPTER = "the authors' own texts were written under no adapter"


def output_measures(inputs: ScoreInputs, encoder: str, run: Run) -> dict[str, np.ndarray]:
    """Return every measure of each surviving output of ``run``: arrays [n], in the order of ``run.survivors``.

    ``output_auc``: how often a human continuation of the output's author is nearer to it than one of another author,
    ties half; never that of its own prompt or the text itself. NaN where the author has no other one.
    """
    vectors, authors = inputs.vectors(encoder, run), run.survivors["client"].to_numpy(dtype=object)
    gold = inputs.sources(encoder, "gold", run.seed)
    owner, item = gold.frame["client"].to_numpy(dtype=object), gold.frame["item"].to_numpy(dtype=object)
    cosines = vectors @ gold.vectors.T
    own_auc = np.full(len(authors), np.nan)
    for place, (author, prompt, text) in enumerate(run.survivors[["client", "prompt_id", "text_item"]].to_numpy()):
        allowed = (item != prompt) & (item != text)
        own, other = cosines[place, allowed & (owner == author)], np.sort(cosines[place, allowed & (owner != author)])
        if len(own) and len(other):
            beaten = np.searchsorted(other, own, "left") + np.searchsorted(other, own, "right")
            own_auc[place] = beaten.mean() / 2 / len(other)
    found = run_figures(inputs, encoder, run)
    return {
        "author_accuracy": found["correct"].to_numpy(dtype=np.float64),
        "output_auc": own_auc,
        "target_similarity": found["target"].to_numpy(),
        MARGIN: found["margin"].to_numpy(),
    }


def score(inputs: ScoreInputs, settings: MeasureAgreement) -> pd.DataFrame:
    """Return agreement and power of every measure; variants end in ``_low`` and ``_high`` for 95 % intervals.

    Ranks are those of authors' means over their outputs of all seeds, of authors with outputs in every method. The
    margin and the measures of ``BESIDE`` are ranked over the methods and authors that they have, and stand in no
    other's reference. ``rank_correlation`` has a variant per pair: the measure, ``~``, and the other's encoder and
    name. A human text that several seeds drew counts once in the halves, the same text in both of them being no news.
    Settings: ``encoders`` (None: all), ``draws`` and ``seed`` of the bootstrap over authors, ``splits`` into halves.
    """
    outputs: dict[str, dict[str, list[_Outputs]]] = {}  # measure -> method -> outputs by seed
    for encoder in read_encoders(inputs, settings.encoders):
        for run in inputs.runs:
            authors, posts = inputs.places(run.survivors["client"]), inputs.posts(run.survivors)
            for measure, values in output_measures(inputs, encoder, run).items():
                known = np.isfinite(values)
                found = outputs.setdefault(f"{encoder}.{measure}", {}).setdefault(run.method, [])
                found.append((authors[known], values[known], posts[known]))
    means = _author_means(outputs, len(inputs.clients))
    paper = {measure: rows for measure, rows in means.items() if not measure.endswith(MARGIN)}
    margin = {measure: rows for measure, rows in means.items() if measure.endswith(MARGIN)}
    beside = _beside(inputs)
    scores = [*_agreement(paper, margin | beside, settings), *_power(outputs, len(inputs.clients), settings)]
    return scores_frame([*scores, *_human(inputs.scores, beside)])


def _author_means(outputs: Mapping[str, Mapping[str, list[_Outputs]]], clients: int) -> _Means:
    """Return of every measure and method, but for the controls, the means over each author's outputs, [clients]."""
    means: _Means = {}
    for measure, by_method in outputs.items():
        for method, parts in by_method.items():
            if method not in CONTROLS:
                authors, values, _ = (np.concatenate(side) for side in zip(*parts, strict=True))
                frame = pd.Series(values).groupby(authors).mean()
                means.setdefault(measure, {})[method] = frame.reindex(range(clients)).to_numpy()
    return means


def _beside(inputs: ScoreInputs) -> _Means:
    """Return the same of the measures of other families: of the methods in which some author has a value."""
    means: _Means = {}
    own = inputs.scores[inputs.scores["metric"].isin(list(BESIDE))].dropna(subset="value")
    for (metric, encoder, method), rows in own.groupby(["metric", "encoder", "method"]):
        if method not in CONTROLS:
            values = rows.set_index("variant")["value"].reindex(inputs.clients).to_numpy(dtype=np.float64)
            means.setdefault(f"{encoder}.{metric}", {})[str(method)] = values
    return means


def _agreement(paper: _Means, beside: _Means, settings: MeasureAgreement) -> Iterator[Score]:
    yield from _ranked(paper, list(paper), settings)
    for measure, by_method in beside.items():
        # A row that is not of an adapter, as text made elsewhere, has no likelihood.
        methods = [method for method in next(iter(paper.values())) if method in by_method]
        kept = {
            name: {method: rows[method] for method in methods} for name, rows in (*paper.items(), (measure, by_method))
        }
        yield from _ranked(kept, [measure], settings)


def _ranked(by_measure: _Means, asked: Sequence[str], settings: MeasureAgreement) -> Iterator[Score]:
    """Yield the agreement of the measures ``asked`` with those of other encoders, and its pairs with all others."""
    methods, number = len(next(iter(by_measure.values()))), 0
    if methods:
        means = {measure: np.array(list(rows.values())) for measure, rows in by_measure.items()}
        whole = np.all([np.isfinite(rows).all(axis=0) for rows in means.values()], axis=0)
        means, number = {measure: rows[:, whole] for measure, rows in means.items()}, int(whole.sum())
    if methods < 3 or number < 3:
        nothing, note = np.full(2, np.nan), "needs three methods, and three authors with outputs in each"
        for name in ("agreement_over_methods", "agreement_over_authors"):
            for measure in asked:
                yield from _interval(name, measure, "", nothing, None, number, note)
        return
    groups = {measure: measure.split(".")[0] for measure in means}
    counts = observed_and_resampled(number, settings.seed, settings.draws)
    places = drawn_authors(counts)
    for over in ("methods", "authors"):
        rest, pairs = rank_correlations(means, groups, places, over)
        for measure in asked:
            note = "no measure of another encoder, or ranks that do not differ"
            yield from _interval(f"agreement_over_{over}", measure, "", rest[measure], counts, number, note)
        if over == "methods":
            for (first, second), draws in pairs.items():
                if {first, second} & set(asked):
                    why = "ranks that do not differ"
                    yield from _interval("rank_correlation", first, f"~{second}", draws, counts, number, why)


def _human(scores: pd.DataFrame, beside: _Means) -> Iterator[Score]:
    """Yield what the measures of ``beside`` say of human texts, as the other families scored them."""
    for measure in beside:
        encoder, _, name = measure.partition(".")
        metric = BESIDE[name]
        variant = "failures_wrong" if metric == "profile_accuracy" else ""
        same = (scores["encoder"] == encoder) & (scores["metric"] == metric) & (scores["variant"] == variant)
        for shown, control in (("human_own", "gold"), ("human_shuffled", "shuffled")):
            found = scores[same & (scores["method"] == control)].dropna(subset="value")
            value = float(found["value"].mean()) if len(found) else np.nan
            note = "too few human continuations" if metric else _NO_ADAPTER
            yield Score(ALL_SEEDS, SOURCE, encoder, shown, name, value, int(found["n"].sum()), note)
        for shown in ("detectable_difference", "detectable_share"):
            yield Score(ALL_SEEDS, SOURCE, encoder, shown, name, np.nan, 0, _NOT_SPLIT)


def _power(
    outputs: Mapping[str, Mapping[str, list[_Outputs]]], clients: int, settings: MeasureAgreement
) -> Iterator[Score]:
    for measure, by_method in outputs.items():
        encoder, _, name = measure.partition(".")
        authors, own, posts = (np.concatenate(side) for side in zip(*by_method["gold"], strict=True))
        shuffled = np.concatenate([values for _, values, _ in by_method["shuffled"]])
        texts, writers = post_means(own[:, None], authors, posts)
        generator = numpy_generator(settings.seed, "split halves", measure)
        error = split_half_error([texts[writers == place, 0] for place in range(clients)], generator, settings.splits)
        found = {
            "human_own": float(own.mean()) if len(own) else np.nan,
            "human_shuffled": float(shuffled.mean()) if len(shuffled) else np.nan,
            "detectable_difference": detectable_difference(error),
        }
        span = found["human_own"] - found["human_shuffled"]
        found["detectable_share"] = found["detectable_difference"] / span if span > 0 else np.nan
        for metric, value in found.items():
            alike = metric == "detectable_share" and span <= 0
            note = "own text does not score above others' text" if alike else "too few human continuations"
            yield Score(ALL_SEEDS, SOURCE, encoder, metric, name, value, len(own), note)


def _interval(
    metric: str, measure: str, suffix: str, draws: np.ndarray, counts: np.ndarray | None, n: int, note: str
) -> Iterator[Score]:
    encoder, _, name = measure.partition(".")
    known = bool(np.isfinite(draws[0]) and np.isfinite(draws[1:]).any())
    value, *ends = (draws[0], *interval(draws, n, CORRELATION, counts)) if known else (np.nan,) * 3
    score = Score(ALL_SEEDS, SOURCE, encoder, metric, f"{name}{suffix}", float(value), n, note)
    yield from (score, *score.ends(ends))
