"""What ``filters.others_words`` drops of a corpus, and how scores of human text move by it.

    python benchmarks/others_words.py --csv /data/blogtext.csv

reads a blog CSV, measures every post, and prints what the filter drops, by kind. Then it draws authors and splits, as
often as ``--draws`` says, and attributes their test posts by two verifiers that need no model: nearest author in the
stylometric space, and LambdaG. Both are fitted on training posts, with and without the filter, and tested on the posts
that stay and on those that go. Every draw has the same authors and split under both, so only the filter differs.
It prints counts and scores, and no text or author.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.metrics import roc_auc_score

from favor.corpora.building import build_documents
from favor.corpora.documents import stream_documents
from favor.corpora.others_words import KINDS, measure_others_words
from favor.corpora.posts import open_reader
from favor.corpora.settings import Cleaning, Splitting
from favor.corpora.splits import split_documents
from favor.encoders.kinds.stylometry import fit_stylometry
from favor.encoders.settings import Stylometry
from favor.foundation.seeds import numpy_generator
from favor.foundation.vectors import unit_rows
from favor.foundation.words import document_words
from favor.scores.author_profiles import Excerpt, Profiles
from favor.scores.verifiers import LambdaG

WORDS = document_words("paper")
POST_WORDS, TEST_WORDS, PROFILE_WORDS = 60, 150, 5000  # shortest post, longest part of it that is read, and profile
TRAINING_POSTS, TEST_POSTS = 60, 10  # of one author


def main() -> None:
    """Print what the filter drops, then accuracy and AUC by verifier, training text and test posts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--csv", type=Path, required=True, help="blog CSV")
    parser.add_argument("--share", type=float, default=0.5, help="filters.others_words")
    parser.add_argument("--authors", type=int, default=50, help="authors per draw")
    parser.add_argument("--draws", type=int, default=3, help="draws of authors and splits")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="favor-benchmark-") as name:
        folder = Path(name)
        documents = folder / "documents.parquet"
        build_documents(options.csv, open_reader("blog_csv"), Cleaning(), documents, folder / "dropped.parquet")
        posts = pd.concat(stream_documents(documents, ("author", "document_id", "text", "words")), ignore_index=True)
        measured = measure_others_words(documents)
        posts = posts.merge(measured, on=["author", "document_id"], validate="1:1")
        posts["goes"] = posts["share"] > options.share
        _print_dropped(posts, options.share)
        found = [row for draw in range(options.draws) for row in _draw(posts, documents, draw, options.authors, folder)]
    table = pd.DataFrame(found).groupby(["verifier", "training", "test"], sort=False)
    print(table.agg({"posts": "sum", "accuracy": ["mean", "std"], "auc": ["mean", "std"]}).round(3).to_string())


def _print_dropped(posts: pd.DataFrame, share: float) -> None:
    gone = posts[posts["goes"]]
    print(
        f"{len(gone):,} of {len(posts):,} posts ({len(gone) / len(posts):.1%}) and {gone['words'].sum():,} of "
        f"{posts['words'].sum():,} words ({gone['words'].sum() / posts['words'].sum():.1%}) are dropped at {share:g}"
    )
    print("by one kind alone: " + ", ".join(f"{kind} {(gone[kind] > share).sum():,}" for kind in KINDS))
    by_author = posts.groupby("author")["goes"].mean()
    print(
        f"authors: median {by_author.median():.1%} of their posts; "
        f"{(by_author > 0.2).sum()} of {len(by_author)} over 20 %"
    )


def _draw(posts: pd.DataFrame, documents: Path, draw: int, authors: int, folder: Path) -> list[dict[str, object]]:
    """Return rows of accuracy and AUC for one draw of authors and one split."""
    long = posts[posts["words"] >= POST_WORDS]
    names = np.array(sorted(long["author"].unique()))
    chosen = numpy_generator(draw, "others' words: authors").permutation(names)[:authors]
    split = split_documents(documents, Splitting(seed=draw)).splits[["document_id", "split"]]
    own = long[long["author"].isin(chosen)].merge(split, on="document_id").sample(frac=1, random_state=draw)
    training, test = own[own["split"] == "train"], own[own["split"] == "test"]
    stay = test[~test["goes"]].groupby("author").head(TEST_POSTS)
    go = test[test["goes"]].groupby("author").head(TEST_POSTS)
    rows: list[dict[str, object]] = []
    for label, kept in (("all", training), ("filtered", training[~training["goes"]])):
        profiles = kept.groupby("author").head(TRAINING_POSTS)
        people = sorted(profiles["author"].unique())
        for verifier, score in (("stylometry", _stylometry), ("LambdaG", _lambdag)):
            scores = score(profiles, people, [*stay["text"], *go["text"]], folder)
            for name, part, rows_of in (("stay", stay, slice(0, len(stay))), ("go", go, slice(len(stay), None))):
                right = part["author"].to_numpy()[:, None] == np.array(people)
                known = right.any(axis=1)
                values, truth = scores[rows_of][known], right[known]
                accuracy = float(truth[np.arange(len(values)), values.argmax(axis=1)].mean())
                auc = float(roc_auc_score(truth.ravel(), values.ravel()))
                rows.append(
                    {"verifier": verifier, "training": label, "test": name, "posts": len(values)}
                    | {"accuracy": accuracy, "auc": auc}
                )
    return rows


def _stylometry(profiles: pd.DataFrame, people: list[str], texts: list[str], folder: Path) -> np.ndarray:
    """Return cosines [texts, people] to the unit mean of every author's posts in a space fitted on them."""
    space = fit_stylometry(profiles["text"].tolist(), Stylometry(), folder)
    means = [
        unit_rows(space.encode(profiles.loc[profiles["author"] == name, "text"].tolist())).mean(0) for name in people
    ]
    found: np.ndarray = (
        unit_rows(space.encode([WORDS.cut(text, TEST_WORDS) for text in texts])) @ unit_rows(np.stack(means)).T
    )
    return found


def _lambdag(profiles: pd.DataFrame, people: list[str], texts: list[str], folder: Path) -> np.ndarray:
    own = ["\n".join(profiles.loc[profiles["author"] == name, "text"]) for name in people]
    cut = [[WORDS.cut(text, PROFILE_WORDS)] for text in own]
    none = np.zeros(len(people))
    grammar = LambdaG(Profiles([[] for _ in people], cut, none, none), order=10, references=10, seed=1)
    scores = grammar.scores([Excerpt(WORDS.cut(text, TEST_WORDS), [], 0.0) for text in texts])
    return np.nan_to_num(scores, nan=0.0)


if __name__ == "__main__":
    main()
