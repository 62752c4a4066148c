"""Profile family: which author's profile an output fits best, by verifiers that read human text of that author alone.

A verifier is LambdaG, whose name stands for the encoder, or an encoder's space. Beside the measures of the paper, whose
prototypes are made of training text: profiles are made of text that no adapter was trained on, as far as there is
enough, copied spans count nothing, and human texts of the same length calibrate the scores.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product

import numpy as np
import pandas as pd

from favor.scores.author_profiles import Excerpts, Profiles, make_profiles
from favor.scores.inputs import Run, ScoreInputs, read_encoders
from favor.scores.metric import ALL_SEEDS, CONTROLS, SOURCE, Metric, Score, scores_frame
from favor.scores.prototypes import NOBODY, macro_f1
from favor.scores.settings import ProfileVerification
from favor.scores.verifiers import LAMBDAG, SMALLEST_SHARE, LambdaG, centroids
from favor.statistics.bootstrap import RATE, auc_draws, interval, mean_draws, mean_over_seeds, observed_and_resampled
from favor.statistics.calibration import Calibration, ratio_cost
from favor.statistics.differences import compare
from favor.statistics.sign_flips import linear_shares

USES = "prompts.common"  # key of an experiment with which there is more to score
_PROFILE = "against profiles of all authors"
METRICS = (
    Metric("profile_accuracy", "Profile acc.", 0.0, 1.0, "higher",
        f"outputs that fit their author's profile best, {_PROFILE}; LambdaG: Nini et al. 2025", per_output="binary"),
    Metric("profile_macro_f1", "Profile macro-F1", 0.0, 1.0, "higher", f"macro-F1 of the same, {_PROFILE}"),
    Metric("profile_auc", "Profile AUC", 0.0, 1.0, "higher",
        "pairs of an output and a profile: the own author's against the others'"),
    Metric("profile_ratio", "Profile ratio", -math.inf, math.inf, "higher",
        "log10 likelihood ratio of own against other author, calibrated on human text (Morrison 2013)", "log10",
        per_output="real"),
    Metric("profile_cost", "Cllr", 0.0, math.inf, "lower",
        "cost of the ratios of all pairs (Brümmer and du Preez 2006); 1 where they say nothing", "bits"),
    Metric("profile_author_accuracy", "Profile acc. by author", 0.0, 1.0, "higher",
        "of one author's outputs, those that fit the own profile best, failures wrong; the variant is the client",
        per_client=True),
    Metric("profile_author_ratio", "Profile ratio by author", -math.inf, math.inf, "higher",
        "mean ratio of one author's outputs; the variant is the client", "log10", per_client=True),
    Metric("profile_words", "Profile words", 0.0, math.inf, "none", "mean words of a profile", "words"),
    Metric("profile_trained", "Profile trained on", 0.0, 1.0, "none",
        "share of the profiles' words that stand in posts the authors' clients trained on"),
)  # fmt: skip
FAILURES_WRONG, COMMON = "failures_wrong", "common"
_MEASURES = ("profile_accuracy", "profile_macro_f1", "profile_auc", "profile_ratio", "profile_cost")
# Compared between every two rows. Accuracy counts every output, so that both rows are asked about the same prompts.
TESTED = (("profile_accuracy", FAILURES_WRONG), ("profile_auc", ""), ("profile_ratio", ""))
_FOLDS = 10  # of authors, to calibrate
# Values in every draw of authors [draws], how many outputs or pairs are behind them, and the outputs of each [authors].
_Draws = tuple[np.ndarray, int, np.ndarray]
_Drawn = dict[tuple[str, str, str, str], dict[int, _Draws]]  # (method, verifier, metric, variant) -> seed
_FAILED, _COPIED = "no output passed the filter", "every output is copied"
_NOBODY = "people wrote no continuations of the common prompts"
_FEW = "needs human continuations of two authors that are not copied"


@dataclass(frozen=True)
class Fit:
    """How a verifier scores the surviving outputs of a run.

    ``clients``: all authors, in the order of the places; ``kept`` [survivors]: those that it reads; ``scores`` [kept,
    authors]; ``own`` [kept]: place of the output's author; ``ratios`` [kept, authors]: calibrated log10 ratios, NaN
    without human texts to calibrate on. ``reason``: why the verifier reads no text at all, else "".
    """

    clients: list[str]
    verifier: str
    run: Run
    kept: np.ndarray
    scores: np.ndarray
    own: np.ndarray
    ratios: np.ndarray
    reason: str = ""

    @property
    def failures_wrong(self) -> str:
        """The variant of measures over all outputs."""
        return f"{COMMON}_{FAILURES_WRONG}" if self.run.common else FAILURES_WRONG

    @property
    def right(self) -> np.ndarray:
        """Whether each output that is read fits its author best; the first author in roster order on a tie."""
        return self.own == self.scores.argmax(axis=1)

    @property
    def right_of_all(self) -> np.ndarray:
        """The same of every output of the run: what failed the filter or is not read is wrong."""
        found = np.zeros(len(self.run.items), dtype=bool)
        found[np.flatnonzero(self.run.items["passed"])[self.kept]] = self.right
        return found

    @property
    def positive(self) -> np.ndarray:
        """Which of the pairs [kept, authors] are of the output's own author."""
        return self.own[:, None] == np.arange(self.scores.shape[1])

    @property
    def own_ratios(self) -> np.ndarray:
        """The ratio of each output for its own author, [kept]."""
        return self.ratios[np.arange(len(self.own)), self.own]

    @property
    def why_none(self) -> str:
        """Why nothing is read; "" where something is."""
        if len(self.own):
            return ""
        return self.reason or (_COPIED if len(self.kept) else _FAILED)


def score(inputs: ScoreInputs, settings: ProfileVerification) -> pd.DataFrame:
    """Score every run and control by every verifier; ``common`` in a variant stands for the common prompts.

    The variant ``failures_wrong`` counts outputs that failed the filter as wrong, and those that a verifier cannot read
    because they are copied; elsewhere they are left out. ``low`` and ``high`` (``failures_wrong_low``, ``common_low``
    and so on) are the 95 % interval over authors, of the mean over seeds. ``minus:{method}`` (after
    ``common_`` where the prompts are) is the difference of two rows in what ``TESTED`` names, with ``_low``, ``_high``
    and ``_p``, over the same draws of authors and the seeds in which both have a value: a table corrects those that it
    prints. ``gold`` is the ceiling and ``shuffled`` the floor. LambdaG has no value where under a quarter of the words
    are on its English list.

    Settings: ``encoders`` (None: all), ``words`` and ``minimum_words`` of a profile, ``order`` and ``references`` of
    LambdaG, ``copied_share``, ``draws`` and ``seed``.
    """
    counts = observed_and_resampled(len(inputs.clients), settings.seed, settings.draws)
    profiles = make_profiles(inputs, settings.words, settings.minimum_words, settings.seed)
    authors, words = len(inputs.clients), profiles.words
    scores = [
        Score(ALL_SEEDS, SOURCE, "", "profile_words", "", float(words.mean()), authors),
        Score(ALL_SEEDS, SOURCE, "", "profile_trained", "", float(profiles.trained.sum() / words.sum()), authors),
    ]
    drawn: _Drawn = {}
    outputs: dict[tuple[str, str], list[pd.DataFrame]] = {}
    for fit in fits(inputs, profiles, settings):
        own = dict(_draws(fit, counts))
        for key, values in own.items():
            drawn.setdefault((fit.run.method, fit.verifier, *key), {})[fit.run.seed] = values
        if not fit.run.common and not fit.reason:
            outputs.setdefault((fit.run.method, fit.verifier), []).append(_of_outputs(fit))
        scores += _rows(fit, own)
        if fit.run.method in CONTROLS and inputs.common_runs:
            silent = Score(fit.run.seed, fit.run.method, fit.verifier, "", COMMON, float("nan"), 0, _NOBODY)
            scores += [replace(silent, metric=metric) for metric in _MEASURES]
    for (method, verifier, metric, variant), seeds in drawn.items():
        stacked = np.stack([draws for draws, _, _ in seeds.values()])
        known = np.isfinite(stacked[:, 0]).all() and np.isfinite(stacked[:, 1:]).all(axis=0).any()
        bounds = None if metric == "profile_ratio" else RATE
        present = int(np.any([outputs for *_, outputs in seeds.values()], axis=0).sum())
        ends = interval(stacked, present, bounds) if known else (np.nan, np.nan)
        note = "needs outputs of two authors" if known else "no value in some seed"
        n = sum(size for _, size, _ in seeds.values())
        scores += Score(ALL_SEEDS, method, verifier, metric, variant, np.nan, n, note).ends(ends)
    return scores_frame([*scores, *_comparisons(drawn, counts, settings.seed), *_by_author(outputs)])


def _of_outputs(fit: Fit) -> pd.DataFrame:
    """Return client, accuracy and ratio of every output; an output that is not read has no ratio."""
    ratios = np.full(len(fit.run.items), np.nan)
    ratios[np.flatnonzero(fit.run.items["passed"])[fit.kept]] = fit.own_ratios
    return pd.DataFrame({"client": fit.run.items["client"], "accuracy": fit.right_of_all, "ratio": ratios})


def _by_author(outputs: Mapping[tuple[str, str], list[pd.DataFrame]]) -> Iterator[Score]:
    """Yield the mean over every author's outputs of all seeds."""
    for (method, verifier), frames in outputs.items():
        found = pd.concat(frames).astype({"accuracy": float}).groupby("client")
        for name in ("accuracy", "ratio"):
            for client, value, size in found[name].agg(["mean", "count"]).itertuples(name=None):
                note = "no output of the author was read"
                yield Score(ALL_SEEDS, method, verifier, f"profile_author_{name}", client, value, int(size), note)


def _comparisons(drawn: _Drawn, counts: np.ndarray, seed: int) -> Iterator[Score]:
    """Yield the difference of every two rows, over the seeds in which both have a value."""
    methods = sorted({key[0] for key in drawn} - set(CONTROLS))
    for verifier, (metric, variant), common in product(sorted({key[1] for key in drawn}), TESTED, (False, True)):
        name = f"{COMMON}_{variant}".strip("_") if common else variant
        for left, right in combinations(methods, 2):
            sides = [drawn.get((method, verifier, metric, name), {}) for method in (left, right)]
            known = [{one for one, (draws, *_) in side.items() if np.isfinite(draws[0])} for side in sides]
            seeds = sorted(known[0] & known[1])
            if not seeds:
                continue
            first, second = (np.stack([side[one][0] for one in seeds]) for side in sides)
            outputs = [np.sum([side[one][2] for one in seeds], axis=0) for side in sides]
            both = (outputs[0] > 0) & (outputs[1] > 0)
            authors, weights = int(both.sum()), np.where(both, outputs[0] + outputs[1], 0)
            shares = linear_shares(mean_over_seeds(first - second), counts, outputs[0] + outputs[1])
            span = math.inf if metric == "profile_ratio" else 1.0
            result = compare(first, second, weights, counts, shares, seed, span=span)
            shown = f"{COMMON}_minus:{right}" if common else f"minus:{right}"
            numbers = {"": result.delta, "_low": result.low, "_high": result.high, "_p": result.p}
            for end, value in numbers.items():
                note = "needs two authors with outputs in both rows"
                yield Score(ALL_SEEDS, left, verifier, metric, f"{shown}{end}", value, authors, note)


def fits(inputs: ScoreInputs, profiles: Profiles, settings: ProfileVerification) -> Iterator[Fit]:
    """Yield how every verifier scores every run of own prompts, the controls among them, then those of common ones.

    ``settings``: the settings of :func:`score`.
    """
    cutter = Excerpts(inputs)
    runs = [(run, cutter.of(run, inputs.texts(run))) for run in (*inputs.runs, *inputs.common_runs)]
    grammar = LambdaG(profiles, settings.order, settings.references, settings.seed)
    for verifier in (LAMBDAG, *read_encoders(inputs, settings.encoders)):
        reason = _unread(grammar, len(inputs.clients)) if verifier == LAMBDAG else ""
        centres = None if verifier == LAMBDAG else centroids(inputs, verifier, profiles)
        found: list[Fit] = []
        for run, own in runs:
            if centres is not None:
                scores = inputs.vectors(verifier, run) @ centres.T
                scores[[each.copied_share > settings.copied_share for each in own]] = np.nan
            else:
                scores = np.full((len(own), len(inputs.clients)), np.nan) if reason else grammar.scores(own)
            kept = np.isfinite(scores).all(axis=1)
            authors, unknown = inputs.places(run.survivors["client"])[kept], np.full(scores[kept].shape, np.nan)
            found.append(Fit(inputs.clients, verifier, run, kept, scores[kept], authors, unknown, reason))
        yield from _calibrated(inputs, found)


def _unread(grammar: LambdaG, authors: int) -> str:
    if grammar.function_words < SMALLEST_SHARE:
        share = f"{100 * grammar.function_words:.0f} % of the profiles' words are on LambdaG's list of function words"
        return f"{share}, which is English"
    return "LambdaG needs other authors to compare with" if authors < 2 else ""


def _calibrated(inputs: ScoreInputs, found: Sequence[Fit]) -> Iterator[Fit]:
    """Yield the fits of one verifier with ratios: those of an author come from human texts of the authors beside."""
    human = [fit for fit in found if fit.run.method == "gold"]
    posts = np.concatenate([inputs.posts(fit.run.survivors)[fit.kept] for fit in human])
    first = np.unique(posts.astype(str), return_index=True)[1]  # several seeds can have drawn a post
    scores, own, positive = (
        np.concatenate([getattr(fit, name) for fit in human])[first] for name in ("scores", "own", "positive")
    )
    folds = min(len(inputs.clients), _FOLDS)
    models: list[Calibration | None] = []
    for fold in range(folds):
        others = own % folds != fold
        enough = len(np.unique(own[others])) > 0 and scores.shape[1] > 1
        models.append(Calibration(scores[others].ravel(), positive[others].ravel()) if enough else None)
    for fit in found:
        ratios = fit.ratios.copy()
        for fold, model in enumerate(models):
            if model is not None:
                ratios[fit.own % folds == fold] = model.ratios(fit.scores[fit.own % folds == fold])
        yield replace(fit, ratios=ratios)


def _draws(fit: Fit, counts: np.ndarray) -> Iterator[tuple[tuple[str, str], _Draws]]:
    """Yield (metric, variant) and the draws of what has an interval; the first value is that of the data."""
    common = COMMON if fit.run.common else ""
    clients = fit.run.items["client"].astype(str).to_numpy()
    if len(clients) and not fit.reason:
        author = np.searchsorted(fit.clients, clients)
        values = mean_draws(fit.right_of_all.astype(np.float64), author, counts)
        outputs = np.bincount(author, minlength=len(fit.clients))
        yield ("profile_accuracy", fit.failures_wrong), (values, len(clients), outputs)
    if not len(fit.own):
        return
    n, outputs = len(fit.own), np.bincount(fit.own, minlength=len(fit.clients))
    yield ("profile_accuracy", common), (mean_draws(fit.right.astype(np.float64), fit.own, counts), n, outputs)
    cluster = np.repeat(fit.own, fit.scores.shape[1])
    areas = auc_draws(fit.scores.ravel(), fit.positive.ravel(), cluster, counts)
    yield ("profile_auc", common), (areas, fit.scores.size, outputs)
    yield ("profile_ratio", common), (mean_draws(fit.own_ratios, fit.own, counts), n, outputs)


def _rows(fit: Fit, draws: Mapping[tuple[str, str], _Draws]) -> Iterator[Score]:
    """Yield the scores of one run by one verifier; ``draws``: by metric and variant."""
    common = COMMON if fit.run.common else ""
    wrong = fit.failures_wrong
    found = {key: (float(values[0]), n) for key, (values, n, _) in draws.items()}
    if len(fit.own):
        names = np.array(fit.clients, dtype=object)
        guesses, own = names[fit.scores.argmax(axis=1)], names[fit.own]
        found["profile_macro_f1", common] = macro_f1(own, guesses, sorted(set(own))), len(own)
        cost = ratio_cost(fit.ratios.ravel(), fit.positive.ravel())
        found["profile_cost", common] = cost, fit.scores.size
    if ("profile_accuracy", wrong) in found:
        everyone = fit.run.items["client"].astype(str).to_numpy(dtype=object)
        every_guess = np.full(len(everyone), NOBODY, dtype=object)
        if len(fit.own):
            every_guess[np.flatnonzero(fit.run.items["passed"])[fit.kept]] = guesses
        score = macro_f1(everyone, every_guess, sorted(set(everyone)))
        found["profile_macro_f1", wrong] = score, len(everyone)
    for metric, variant in (*((name, common) for name in _MEASURES), *((name, wrong) for name in _MEASURES[:2])):
        value, n = found.get((metric, variant), (float("nan"), 0))
        yield Score(fit.run.seed, fit.run.method, fit.verifier, metric, variant, value, n, fit.why_none or _FEW)
