"""Cluster bootstrap and paired tests at the paper's size, beside a loop over scikit-learn's roc_auc_score.

    python benchmarks/statistics.py --loop-draws 100

makes 13,800 verification pairs of 150 seed-author clusters, takes the AUC of 10,000 resamples at once, and gathers and
scores the first ``--loop-draws`` of them one by one with scikit-learn, whose time is scaled to 10,000 draws. Both must
agree to 1e-12. Then it runs every paired test of the paper's four tables on an experiment of that size: three seeds, 50
authors, four prompts each, seven methods, four encoders.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import pandas as pd
from sklearn.metrics import roc_auc_score

from favor.analysis.comparisons import compare_methods
from favor.scores.inputs import RUN_KEYS, ScoreInputs
from favor.statistics.bootstrap import DRAWS, auc_draws, resample_counts
from favor.tables.specs import available, load_spec

CLUSTERS, PAIRS_PER_CLUSTER = 150, 92
SEEDS, AUTHORS, PROMPTS, AUTHORS_PER_TOPIC = (2026, 2027, 2028), 50, 4, 6
DIMENSIONS = {"style": 256, "styledistance": 768, "minilm": 384, "stylometry": 3300}
METHODS = ("fedprox", "pooled", "ditto", "feddpa", "global_asce", "favor_without_asce", "favor")


def loop_over_scikit_learn(
    scores: np.ndarray, positive: np.ndarray, cluster: np.ndarray, counts: np.ndarray
) -> np.ndarray:
    """AUC of every draw the usual way: gather the pairs of the drawn clusters, call roc_auc_score."""
    members = [np.flatnonzero(cluster == number) for number in range(counts.shape[1])]
    values = []
    for draw in counts.astype(int):
        rows = np.concatenate([members[number] for number in np.repeat(np.arange(len(draw)), draw)])
        values.append(roc_auc_score(positive[rows], scores[rows]))
    return np.array(values)


def bootstrap(loop_draws: int) -> None:
    """Print both times, their ratio and the largest difference."""
    generator = np.random.default_rng(1)
    cluster = np.repeat(np.arange(CLUSTERS), PAIRS_PER_CLUSTER)
    positive = np.tile(np.arange(PAIRS_PER_CLUSTER) % 23 < 3, CLUSTERS)  # three positives to twenty negatives
    scores = np.round(generator.normal(0.5, 0.2, len(cluster)) + 0.1 * positive, 4)  # rounded: some ties
    counts = resample_counts(CLUSTERS, 1)
    start = time.perf_counter()
    ours = auc_draws(scores, positive, cluster, counts)
    seconds = time.perf_counter() - start
    start = time.perf_counter()
    theirs = loop_over_scikit_learn(scores, positive, cluster, counts[:loop_draws])
    loop = (time.perf_counter() - start) * DRAWS / loop_draws
    difference = float(np.abs(ours[:loop_draws] - theirs).max())
    print(f"AUC, {len(cluster):,} pairs, {CLUSTERS} clusters, {DRAWS:,} draws: {seconds:.2f} s")
    print(f"loop over scikit-learn: {loop:.0f} s (scaled from {loop_draws} draws)")
    print(f"ratio {loop / seconds:.0f}, largest difference {difference:.1e}")
    if difference > 1e-12:
        raise SystemExit("the results differ")


def experiment() -> ScoreInputs:
    """An experiment of the paper's size, made of random vectors around an author's own direction."""
    generator = np.random.default_rng(2)
    authors = [f"client_{number:03d}" for number in range(1, AUTHORS + 1)]
    topic = {author: f"topic {index // AUTHORS_PER_TOPIC}" for index, author in enumerate(authors)}
    keys = [(seed, author, f"{author}-{seed}-{n}") for seed in SEEDS for author in authors for n in range(PROMPTS)]
    prompts = pd.DataFrame(keys, columns=["seed", "client", "prompt_id"])
    prompts["topic"] = prompts["client"].map(topic)
    prompts["gold_text"] = " ".join(f"word{number}" for number in range(30))
    generations = pd.concat([prompts[["seed", "client", "prompt_id"]].assign(method=name) for name in METHODS])
    generations["passed"] = generator.random(len(generations)) > 0.02
    generated, human = {}, {}
    for encoder, dimension in DIMENSIONS.items():
        centre = {author: generator.normal(size=dimension) for author in authors}

        def near(clients: pd.Series, centre: dict = centre, dimension: int = dimension) -> list[np.ndarray]:
            return [(centre[name] + 2 * generator.normal(size=dimension)).astype(np.float32) for name in clients]

        generated[encoder] = generations[RUN_KEYS].assign(embedding=near(generations["client"]))
        gold = prompts.rename(columns={"prompt_id": "item"})[["client", "item", "topic"]].assign(kind="gold")
        train = pd.DataFrame(
            [(a, f"{a}-{n}", topic[a], "train") for a in authors for n in range(40)], columns=gold.columns
        )
        sources = pd.concat([gold, train], ignore_index=True)
        human[encoder] = sources.assign(embedding=near(sources["client"]))
    utility = generations[RUN_KEYS].assign(
        bertscore_f1=generator.normal(0.82, 0.02, len(generations)),
        semantic_similarity=generator.normal(0.37, 0.1, len(generations)),
    )
    return ScoreInputs(generations, prompts, generated, human, utility)


def paired_tests() -> None:
    """Print the time of every table's paired tests, and of all together."""
    inputs = experiment()
    begin = time.perf_counter()
    for label in available():
        declared = load_spec(label).comparisons
        if declared is not None:
            start = time.perf_counter()
            table = compare_methods(inputs, declared.pairs, declared.metrics, declared.exact, seed=1)
            pairs = int(table["pairs"].max())
            print(f"{label}: {len(table)} tests, {pairs:,} pairs, {time.perf_counter() - start:.1f} s")
    print(f"all paired tests: {time.perf_counter() - begin:.1f} s")


def main() -> None:
    """Run both."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--loop-draws", type=int, default=100, help="draws that the loop over scikit-learn takes")
    bootstrap(parser.parse_args().loop_draws)
    paired_tests()


if __name__ == "__main__":
    main()
