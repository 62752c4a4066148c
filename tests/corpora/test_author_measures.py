"""Measures of authors, the filters on them, and what the report says."""

import numpy as np
import pandas as pd
import pytest
from tests.corpora.made import write_documents

from favor.corpora.author_measures import _style_changes, failing, measure_authors, quotes_mail
from favor.corpora.roster import select_roster
from favor.corpora.schemas import AUTHOR_MEASURES
from favor.corpora.settings import AuthorFilters, DealtRoles, Roster
from favor.foundation.errors import UserError
from favor.foundation.parquet import read_parquet, write_parquet
from favor.report.content import Preparation
from favor.report.preparation import STYLE_CHANGE, blocks

ENGLISH = (
    "Yesterday I went to the market with my brother, and we bought a lot of apples, because they were cheap and fresh; "
    "then we walked home slowly along the river and talked about our plans for the summer."
)
GERMAN = (
    "Gestern bin ich mit meinem Bruder auf den Markt gegangen, und wir haben viele Äpfel gekauft, weil sie billig und "
    "frisch waren; danach sind wir langsam am Fluss entlang nach Hause gelaufen und haben über den Sommer gesprochen."
)
MAIL = f"From: someone\nTo: me\nSubject: news\n\n{ENGLISH}"


@pytest.fixture(scope="module")
def measured(tmp_path_factory) -> pd.DataFrame:
    """Measures of four authors; not to be changed."""
    folder = tmp_path_factory.mktemp("measures")
    posts = {"ann": [ENGLISH] * 4, "ben": [GERMAN] * 3 + [ENGLISH], "cid": [MAIL, ENGLISH], "tiny": [ENGLISH]}
    rows = [(author, f"{author}-{at}", text) for author, texts in posts.items() for at, text in enumerate(texts)]
    documents = [(author, name, "indUnk", "", text, len(text.split())) for author, name, text in rows]
    path = write_documents(folder / "documents.parquet", documents)
    splits = pd.DataFrame(rows, columns=["author", "document_id", "text"]).assign(split="train")
    tokens = [sum(map(len, posts[author])) // each for author, each in (("ann", 4), ("ben", 2), ("cid", 4))]
    authors = pd.DataFrame({"author": [*posts], "documents": list(map(len, posts.values())), "tokens": [*tokens, 5]})
    copies = pd.DataFrame({"author": ["ann"]})
    made = measure_authors(path, splits, authors, copies, 10, 2026)
    write_parquet(made, folder / "measures.parquet", AUTHOR_MEASURES)
    return read_parquet(folder / "measures.parquet", AUTHOR_MEASURES)


def test_measures_by_hand(measured) -> None:
    rows = measured.set_index("author")
    assert rows.index.tolist() == ["ann", "ben", "cid"]  # the fourth is too small for a role
    assert rows["language"].tolist() == ["en", "de", "en"]
    assert rows["language_share"].tolist() == [1, 0.75, 1]
    assert rows["characters_per_token"].tolist() == pytest.approx([4, 2, 4], rel=0.01)
    assert rows["quoted_mail"].tolist() == [0, 0, 0.5]
    assert rows["near_duplicates"].tolist() == [0.25, 0, 0]
    assert rows["style_change"].isna().all()  # far fewer words than six pieces have


@pytest.mark.parametrize(
    ("text", "quotes"),
    [
        (MAIL, True),
        (MAIL.replace("\n", " "), True),  # the corpus's CSV has no line breaks
        ("Fine.\n> what do you\n> think?", True),
        ("see below -----Original Message----- hello", True),
        ("From: me. Date: today, a diary has both", False),
        ("2 > 1 and 3 > 2", False),
        (ENGLISH, False),
    ],
)
def test_quoted_mail(text, quotes) -> None:
    assert quotes_mail(text) is quotes


@pytest.mark.parametrize(
    ("filters", "left_out"),
    [
        ({}, []),
        ({"languages": ["en"]}, ["ben"]),
        ({"languages": ["en", "de"]}, ["ben"]),  # three quarters are too few
        ({"languages": ["en", "de"], "language_share": 0.7}, []),
        ({"minimum_characters_per_token": 3}, ["ben"]),
        ({"maximum_quoted_mail": 0.2}, ["cid"]),
        ({"maximum_near_duplicates": 0.2}, ["ann"]),
        ({"maximum_near_duplicates": 0.25}, []),
    ],
)
def test_a_filter_leaves_out_who_fails_it(measured, filters, left_out) -> None:
    assert AuthorFilters(**filters).any_set == bool(filters)
    found = failing(measured, AuthorFilters(**filters))
    assert sorted({author for fails in found.values() for author in measured.loc[fails, "author"]}) == left_out


def test_two_hands_in_one_blog_change_its_style() -> None:
    generator = np.random.default_rng(1)
    one, other = generator.normal(size=(2, 40))
    alone = {f"author{at}": list(generator.normal(size=40) + generator.normal(size=(12, 40))) for at in range(20)}
    both = [*(3 * one + generator.normal(size=(6, 40))), *(3 * other + generator.normal(size=(6, 40)))]
    changes = _style_changes({**alone, "both": both, "short": both[:5]}, 2026)
    assert changes["both"] > STYLE_CHANGE > max(changes[name] for name in alone)
    assert np.isnan(changes["short"])
    assert _style_changes({**alone, "both": both, "short": both[:5]}, 2026)["both"] == changes["both"]


def test_an_unknown_language_is_refused(measured) -> None:
    with pytest.raises(UserError, match=r"'filters.languages': 'xx' is not a language"):
        failing(measured, AuthorFilters(languages=["xx"]))


def test_filtered_authors_take_no_role_but_the_background(tmp_path) -> None:
    authors = pd.DataFrame({"author": list("abcd"), "topic": "t", "documents": 10, "words": 100, "tokens": 100})
    splits = pd.DataFrame({"author": list("abcd"), "document_id": list("abcd"), "split": "train"})
    settings = Roster(roles=DealtRoles(clients=2, asce_a=0, asce_b=0), minimum_tokens=10, selection="random")
    roster = select_roster(authors, splits, ["b"], tmp_path, settings, {"a", "b"}).set_index("author")["role"]
    assert roster.to_dict() == {"a": "filtered", "b": "background", "c": "client", "d": "client"}
    with pytest.raises(UserError, match="2 that 'filters' leave out"):
        select_roster(authors, splits, ["b"], tmp_path, settings, {"a", "c"})


def test_the_report_counts_authors_and_clients_beyond_each_limit(measured) -> None:
    roles = ["client", "filtered", "unused"]
    roster = pd.DataFrame({"author": ["ann", "ben", "cid"], "role": roles, "documents": 1, "words": 1})
    filters = AuthorFilters(languages=["en"], maximum_quoted_mail=0.6).model_dump()
    measures = measured.assign(style_change=[STYLE_CHANGE + 0.01, STYLE_CHANGE, np.nan])
    shown = blocks(Preparation(roster=roster, author_measures=measures, filters=filters))[-1][1]
    assert shown.to_numpy().tolist() == [
        ["Share of posts in en under 0.8", "yes", "1", "0"],
        ["Characters per token under 3", "no", "1", "0"],
        ["Share of posts with quoted mail over 0.6", "yes", "0", "0"],
        ["Share of posts with a near duplicate over 0.2", "no", "1", "1"],
        ["Style that changes (several hands?): silhouette over 0.14", "no", "1", "1"],
    ]
