"""What the difference between two methods varies by, measured on a finished run: behind the power of a planned one.

For every headline measure and every row against the one that tables compare it with, the difference of each matched
output or text is d = mean + author + seed within author + prompt + sample (:func:`random_effects`). An AUC counts per
output what it adds to the area: the share of negative pairs below its positive one, and of positive pairs above its
negative ones, less the area (DeLong, DeLong and Clarke-Pearson 1988).

``python -m favor.analysis.variances RESULTS/EXPERIMENT --called "what it was measured on"`` writes the file that ships.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from favor.federation.schemas import LIKELIHOOD
from favor.foundation.errors import UserError
from favor.foundation.files import read_json, write_text
from favor.foundation.parquet import read_parquet, read_tables
from favor.lm.settings import OutputFilter
from favor.scores import likelihood, profiles, prototypes, voice_kept
from favor.scores.author_profiles import make_profiles
from favor.scores.inputs import OUTPUT_KEYS, ScoreInputs
from favor.scores.metric import CONTROLS
from favor.scores.schemas import SCORES
from favor.scores.settings import ProfileVerification
from favor.scores.verifiers import LAMBDAG
from favor.statistics.bootstrap import auc
from favor.statistics.variance_components import random_effects

SHIPPED = Path(__file__).with_name("variances.json")
STYLE = "style"  # the experiment's style encoder, whatever its name
SUBJECT = "favor"  # the row that tables compare the others with, or else the first
KEYS = ["seed", "client", "text", "sample"]
# A headline measure: metric, what reads the texts, and whether these are the same under every seed.
MEASURES = (
    ("likelihood_voice_gain", "", True),
    ("likelihood_top1", "", True),
    ("profile_accuracy", LAMBDAG, False),
    ("profile_auc", LAMBDAG, False),
    ("profile_accuracy", STYLE, False),
    ("profile_auc", STYLE, False),
    ("author_accuracy", STYLE, False),
    ("kept_author_accuracy", STYLE, False),
)
METRICS = {
    metric.name: metric
    for metric in chain(likelihood.METRICS, profiles.METRICS, prototypes.METRICS, voice_kept.METRICS)
}


def measure(folder: Path) -> dict[str, Any]:
    """Return what an experiment's folder of results says of the variances, in the form of ``variances.json``.

    ``run``: the design and what was measured. ``measures``: for each measure ``pairs``, with ``left``, ``right``,
    ``authors`` and ``components`` (kind, variance, averaged_over), or ``why_not``. Raises ``UserError`` where the
    folder holds no finished experiment.
    """
    if not folder.exists():
        raise UserError(f"{folder}: folder not found; check its name")
    if not (folder / "settings.json").is_file():
        raise UserError(f"{folder}: no finished experiment (settings.json is missing); name RESULTS/EXPERIMENT")
    settings = read_json(folder / "settings.json")
    experiment, methods = settings["experiment"], list(settings["methods"])
    values, span, why_not = _values(folder, experiment, methods, settings["words"])
    left = SUBJECT if SUBJECT in methods else methods[0]
    others = [method for method in methods if method != left]
    found: list[dict[str, Any]] = []
    for metric, reader, same in MEASURES:
        kept = metric == "kept_author_accuracy"
        source, scale = ("author_accuracy", span) if kept else (metric, 1.0)
        rows = values.get((source, reader))
        pairs: list[dict[str, Any]] = []
        reason = why_not.get(source, "it was not scored")
        if isinstance(scale, str):
            reason = scale
        elif rows is not None:
            pairs = list(_pairs(rows.assign(value=rows["value"] / scale), left, others, same))
            reason = "no two rows differ in it, or too few texts are matched"
        found.append({"metric": metric, "reader": reader, **({"pairs": pairs} if pairs else {"why_not": reason})})
    design = {
        "authors": experiment["clients"] - len(experiment["withdrawn"]),
        "seeds": len(experiment["seeds"]),
        "prompts": experiment["prompts"]["per_client"],
        "samples": experiment["generation"]["samples"],
        "texts": (experiment["evaluation"]["likelihood"] or {}).get("texts_per_client"),
    }
    return {
        "run": {"called": experiment["title"], **design, "style_encoder": experiment["style_encoder"]},
        "measures": found,
    }


Values = dict[tuple[str, str], pd.DataFrame]


def _values(
    folder: Path, experiment: Mapping[str, Any], methods: list[str], words: str
) -> tuple[Values, float | str, dict[str, str]]:
    """Return (values by metric and reader, range of a share kept or why there is none, why a metric has no values).

    Values have the columns method, ``KEYS`` and value, one row per surviving output or text.
    """
    found: Values = {}
    why_not: dict[str, str] = {}

    def files(name: str) -> list[Path]:
        homes = [folder, *([folder.parent / experiment["outputs_of"]] if experiment["outputs_of"] else [])]
        runs = [(seed, method) for seed in experiment["seeds"] for method in methods]
        own = ([home / f"seed{seed}" / method / name for home in homes] for seed, method in runs)
        return [next(path for path in paths if path.is_file()) for paths in own if any(map(Path.is_file, paths))]

    readings = files("likelihood.parquet")
    if readings:
        found |= _likelihood(read_tables(readings, LIKELIHOOD))
    else:
        why_not |= dict.fromkeys(("likelihood_voice_gain", "likelihood_top1"), "no likelihoods were read")
    encoder, generations = experiment["style_encoder"], files("generations.parquet")
    if not generations:
        raise UserError(f"{folder}: no outputs (generations.parquet); let the run finish, or name another folder")
    limits = {name: experiment["generation"][name] for name in OutputFilter.model_fields}
    clients = folder / "clients" / ("remaining" if experiment["withdrawn"] else "")
    inputs = ScoreInputs.load(
        {
            "generations": generations,
            "prompts": [folder / f"seed{seed}" / "prompts.parquet" for seed in experiment["seeds"]],
            "embeddings": [folder / "embeddings" / f"{encoder}.parquet"],
            "sources": [clients / "embeddings" / f"{encoder}.parquet"],
            "golds": [folder / "embeddings" / f"{encoder}.gold.parquet"],
            "texts": [clients / "texts.parquet"],
        },
        experiment["seeds"],
        [STYLE],
        filter=OutputFilter(**limits),
        words=words,
    )
    found |= _accuracy(inputs)
    given = experiment["evaluation"]["scores"].get("profiles", {}) | {"encoders": None}
    found |= _profiles(inputs, ProfileVerification(**given), why_not)
    return found, _span(folder / "scores" / "voice_kept.parquet", encoder), why_not


def _likelihood(readings: pd.DataFrame) -> Values:
    """Return voice gain and hit of every text, of every row that has adapters."""
    parts: dict[str, list[pd.DataFrame]] = {"likelihood_voice_gain": [], "likelihood_top1": []}
    clients = sorted(readings["client"].unique())
    for (method, seed), rows in readings.groupby(["method", "seed"]):
        read = likelihood.reading(rows, clients)
        own = read.readers[:, None] == read.writers
        asked = own.any(axis=0) & (len(read.readers) > 1)
        if not asked.any():
            continue
        hits = likelihood.attributed(read)
        gains = read.gains[:, asked]
        of_own = gains[own[:, asked].argmax(axis=0), range(gains.shape[1])]
        gain = of_own - (gains.sum(axis=0) - of_own) / (len(gains) - 1)
        if read.shared:
            gain = np.zeros_like(gain)  # but for rounding
        for metric, value in (("likelihood_voice_gain", gain), ("likelihood_top1", hits["top1"].to_numpy())):
            writers = pd.Series(read.writers[asked])
            keys = {"client": [clients[place] for place in writers], "text": writers.groupby(writers).cumcount()}
            parts[metric].append(pd.DataFrame({"method": method, "seed": seed, **keys, "sample": 0, "value": value}))
    return {(metric, ""): pd.concat(own, ignore_index=True) for metric, own in parts.items() if own}


def _accuracy(inputs: ScoreInputs) -> Values:
    parts = []
    for run in (run for run in inputs.runs if run.method not in CONTROLS and len(run.survivors)):
        right = prototypes.run_figures(inputs, STYLE, run)["correct"].to_numpy(dtype=np.float64)
        parts.append(_outputs(run, np.ones(len(right), dtype=bool), right))
    return {("author_accuracy", STYLE): pd.concat(parts, ignore_index=True)} if parts else {}


def _profiles(inputs: ScoreInputs, settings: ProfileVerification, why_not: dict[str, str]) -> Values:
    try:
        made = make_profiles(inputs, settings.words, settings.minimum_words, settings.seed)
    except UserError as error:  # an author without enough text: the other measures do not need it
        why_not |= dict.fromkeys(("profile_accuracy", "profile_auc"), str(error))
        return {}
    parts: dict[tuple[str, str], list[pd.DataFrame]] = {}
    for fit in profiles.fits(inputs, made, settings):
        if fit.run.method in CONTROLS or not len(fit.own):
            if fit.reason:
                why_not |= dict.fromkeys(("profile_accuracy", "profile_auc"), fit.reason)
            continue
        for metric, value in (
            ("profile_accuracy", fit.right.astype(np.float64)),
            ("profile_auc", auc_by_output(fit.scores, fit.positive)),
        ):
            parts.setdefault((metric, fit.verifier), []).append(_outputs(fit.run, fit.kept, value))
    return {key: pd.concat(own, ignore_index=True) for key, own in parts.items()}


def auc_by_output(scores: np.ndarray, positive: np.ndarray) -> np.ndarray:
    """Return what every output adds to the AUC of all pairs, [outputs]; the mean is the AUC.

    ``scores`` and ``positive`` [outputs, authors]: of the pairs of an output and an author, one of which is its own.
    """
    own, others = np.sort(scores[positive]), np.sort(scores[~positive])

    def share_below(reference: np.ndarray, values: np.ndarray) -> np.ndarray:
        low, high = (np.searchsorted(reference, values, side=side) for side in ("left", "right"))
        return np.asarray((low + high) / 2 / len(reference))

    of_positive = share_below(others, (scores * positive).sum(axis=1))
    of_negatives = np.where(positive, 0.0, 1 - share_below(own, scores)).sum(axis=1) / (scores.shape[1] - 1)
    return of_positive + of_negatives - auc(scores.ravel(), positive.ravel())


def _outputs(run: Any, kept: np.ndarray, values: np.ndarray) -> pd.DataFrame:
    keys = run.survivors[OUTPUT_KEYS][kept].reset_index(drop=True).rename(columns={"prompt_id": "text"})
    return keys.assign(method=run.method, seed=run.seed, value=values)


def _span(path: Path, encoder: str) -> float | str:
    """Return how far apart the two ends of the accuracy kept are, or why the tables print no share."""
    if not path.is_file():
        return "the run has no table of voice kept"
    rows = read_parquet(path, SCORES)
    rows = rows[(rows["metric"] == "kept_author_accuracy") & (rows["encoder"] == encoder)]
    known = rows.dropna(subset="value").groupby("variant")["value"].first()
    if "" not in known.index or not {"floor", "ceiling"} <= set(known.index):
        notes = [note for note in rows["note"] if note]
        return notes[0] if notes else "the run has no share of accuracy kept"
    return float(known["ceiling"] - known["floor"])


def _pairs(rows: pd.DataFrame, left: str, others: list[str], same_texts: bool) -> Iterator[dict[str, Any]]:
    """Yield the components of ``left`` against every other row; rows that never differ have none."""
    first = rows[rows["method"] == left]
    for right in others:
        second = rows[rows["method"] == right]
        matched = first.merge(second, on=KEYS)
        difference = (matched["value_x"] - matched["value_y"]).to_numpy(dtype=np.float64)
        if len(matched) < 2 or not np.ptp(difference):
            continue
        kept = 2 * len(matched) / (len(first) + len(second))
        components = components_of(matched.assign(value=difference), same_texts, kept)
        if components:
            authors = int(matched["client"].nunique())
            yield {"left": left, "right": right, "authors": authors, "components": components}


def components_of(rows: pd.DataFrame, same_texts: bool, kept: float = 1.0) -> list[dict[str, Any]]:
    """Return the variance components of the column value of rows with ``KEYS``, as plain values.

    same_texts: every seed has the same texts. kept: share of outputs that are matched; what prompts and samples average
    out is divided by it, so that a design may count those that it asks for. What is estimated below 0 is 0, and the
    others are estimated without it. What the run has once, such as one seed, is part of what it lies within: one seed's
    differences count as differences between authors.
    """
    author = rows["client"].to_numpy(dtype=object).astype(str)
    seed = np.char.add(author, rows["seed"].to_numpy().astype(str))
    text = np.char.add(author if same_texts else seed, rows["text"].to_numpy(dtype=object).astype(str))
    seeds, texts = rows["seed"].nunique() > 1, "texts" if same_texts else "prompts"
    within = ["seeds", texts]
    factors: list[tuple[str, np.ndarray, list[str]]] = [("authors", author, [])]
    if seeds:
        factors.append(("seeds", seed, ["seeds"]))
    last = "samples"
    if same_texts and seeds:
        factors.append((texts, text, [texts]))
        last = "texts by seed"
    elif not same_texts and rows.groupby(["seed", "client", "text"]).size().max() > 1:
        factors.append((texts, text, within))
        within = [*within, "samples"]
    else:
        last = texts
        within = [texts] if same_texts else within
    names = [*((kind, averaged) for kind, _, averaged in factors), (last, within)]
    variances = dict.fromkeys((kind for kind, _ in names), 0.0)
    while True:
        found = random_effects(rows[["value"]].to_numpy(), [labels for _, labels, _ in factors])
        if found is None:
            return []
        if min(found[:-1], default=0.0) >= 0:
            break
        del factors[int(np.argmin(found[:-1]))]
    variances |= dict(zip([*(kind for kind, _, _ in factors), last], found, strict=True))
    return [
        {
            "kind": kind,
            "variance": float(f"{variances[kind] / (kept if texts in averaged else 1.0):.6g}"),
            "averaged_over": averaged,
        }
        for kind, averaged in names
    ]


def main() -> None:
    """Write the variances of a finished run, or one line that says what is wrong."""
    parser = argparse.ArgumentParser(prog="python -m favor.analysis.variances", description=__doc__)
    parser.add_argument("folder", type=Path, help="an experiment's folder of results")
    parser.add_argument("--called", required=True, help="what it was measured on, as favor plan prints it")
    parser.add_argument("--output", type=Path, default=SHIPPED, help="file to write (the one that ships)")
    arguments = parser.parse_args()
    try:
        found = measure(arguments.folder)
    except UserError as error:
        sys.exit(f"error: {error}")
    found["run"]["called"] = arguments.called
    write_text(json.dumps(found, sort_keys=True) + "\n", arguments.output)


if __name__ == "__main__":
    main()
