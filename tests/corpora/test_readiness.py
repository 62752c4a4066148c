"""The page that says whether experiments can be run."""

from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from favor.corpora.readiness import readiness
from favor.corpora.roster import Measured
from favor.corpora.settings import (
    AuthorFilters,
    Background,
    CheckedExperiment,
    DealtRoles,
    Readiness,
    Roster,
    Splitting,
    WordBudgets,
)
from favor.corpora.splits import split_documents

DROPPED = pd.DataFrame({"reason": ["kept", "too_short", "empty"], "rows": [80, 20, 0]})


@pytest.fixture
def measured(documents) -> Measured:
    """Four authors of twenty posts of four words: "zed" gives no prompt, "yan" one of two."""
    names = ("zed", "yan", "xia", "wim")
    path = documents([(name, f"post of {name} {chr(97 + n)}") for name in names for n in range(20)])
    authors = pd.DataFrame({"author": sorted(names), "topic": "x", "documents": 20, "words": 80, "tokens": 100})
    suitability = pd.DataFrame({"author": sorted(names), "experiment": "main", "prompts": [2, 2, 1, 0]})
    suitability = suitability.assign(wanted_prompts=2, preferred_prompts=2, minimum_prompts=1, training_texts=16)
    suitability = suitability.assign(minimum_texts=0, first_client=1, last_client=2)
    return Measured(path, authors, split_documents(path, Splitting()).splits, suitability, [], None)


def page_of(
    measured, clients=2, reader="table", posts=10, split="random", background=0, filters=None,
    source=Path("mine.csv"), dropped=DROPPED, measures=None, **allocation
) -> str:  # fmt: skip
    """The page; the reader of tables has nothing to say of its source."""
    roles = DealtRoles(clients=clients, asce_a=0, asce_b=0)
    how = {"minimum_tokens": 10, "selection": "random", "style_clusters": 1, "seed": 1}
    settings = Readiness(
        reader_name=reader,
        splitting=Splitting(split=split, minimum_posts=posts),
        background=Background(authors=background, background_minimum_words=50),
        roster=Roster(roles=roles, filters=filters or AuthorFilters(), **how),
        experiments={"main": CheckedExperiment(first=1, last=clients, allocation=WordBudgets(**allocation))},
    )
    return readiness("mine", source, measured, dropped, settings, measures)


def test_a_corpus_that_will_do(measured) -> None:
    page = page_of(measured)
    assert "80 posts (80.0%) kept" in page
    assert "empty" not in page
    assert "1 of the others with no prompt (main)" in page
    assert "2 clients, 2 of them with all 2 prompts" in page
    # Of 2 x 16 x 4 words the shares are 1 : 2^-0.7, 79 and 49; the first client has 64.
    assert "113 words to train on, of 128 available; 49 to 64 per client" in page
    assert "Its experiments can be run." in page
    assert not any(name in page for name in ("zed", "yan", "xia", "wim"))


def test_of_one_prompt_there_are_not_all(measured) -> None:
    page = page_of(replace(measured, suitability=measured.suitability.assign(wanted_prompts=1)))
    assert "2 clients, 2 of them with a prompt" in page


def test_background_authors_fall_short_of_nothing(measured) -> None:
    short = measured.suitability.query("prompts == 0")["author"].tolist()
    assert len(short) == 1
    assert "no prompt" not in page_of(replace(measured, background=short))


def test_who_falls_short_is_named_by_client(measured) -> None:
    page = page_of(replace(measured, suitability=measured.suitability.assign(last_client=3)), 3)
    assert "3 clients, 2 of them with all 2 prompts" in page
    assert sum(f"client_00{place}: 1 prompt per seed" in page for place in (1, 2, 3)) == 1
    assert "Its experiments can be run." in page


def test_what_stops_a_run_is_said(measured) -> None:
    poor = replace(measured, suitability=measured.suitability.assign(prompts=[2, 0, 0, 0]))
    assert "It cannot be run: roster: 1 of 4 eligible authors can be clients, 2 are needed" in page_of(poor)
    page = page_of(measured, shape="balanced", total_words=1_000)
    assert "It cannot be run: main: config key 'allocation.total_words'" in page


def test_every_number_that_is_short_is_said_at_once(measured) -> None:
    """Of four authors, six are wanted as background and five as clients; one has 10 tokens, and nothing is split."""
    poor = replace(
        measured,
        authors=measured.authors.assign(tokens=[9, 9, 9, 100]),
        splits=measured.splits.iloc[:0],
        suitability=measured.suitability.iloc[:0],
    )
    page = page_of(poor, 5, posts=21, background=6, shape="balanced", total_words=1_000)
    short = [line for line in page.splitlines() if line.startswith("It ")]
    assert [line.removeprefix("It cannot be run: ").partition(";")[0].partition(" (")[0] for line in short] == [
        f"{measured.documents}: no author has 21 documents",
        "background: 4 authors have 50 words, 6 are needed",
        "roster: 0 authors have 10 tokens and enough documents, 5 are needed",
        "main: the 5 authors with the most text to train on have 0 words, 1,000 are needed",
    ]
    assert "of all 4 authors 1 have the tokens and 0 the documents" in short[2]
    assert "beside 4 background authors" in short[2]
    # Two of four give a prompt, five are wanted.
    able = replace(measured, suitability=measured.suitability.assign(prompts=[2, 2, 0, 0], last_client=5))
    page = page_of(able, 5)
    assert "roster: 4 authors have 10 tokens and enough documents, 5 are needed" in page
    assert "roster: 2 of 4 eligible authors can be clients, 5 are needed" in page


def test_what_the_log_warns_of_and_who_a_filter_leaves_out_are_counted(documents, measured) -> None:
    names = measured.authors["author"]
    path = documents([(name, f"<p>post</p> of {name} {chr(97 + n)}") for name in names for n in range(20)])
    measures = pd.DataFrame({"author": names, "characters_per_token": [2.0, 4.0, 4.0, 4.0]})
    filters = AuthorFilters(minimum_characters_per_token=3.0)
    page = page_of(replace(measured, documents=path, measures=measures), filters=filters)
    assert "suspicious: 80 posts hold HTML tags" in page
    assert "1 author left out by filter minimum_characters_per_token, of 4 measured" in page
    assert not any(name in page for name in names)


def test_posts_without_a_date_and_files_that_are_cut_are_counted(tmp_path, measured) -> None:
    source = tmp_path / "blogs"
    source.mkdir()
    for number, end in enumerate(("</Blog>", "</b\0log>", "", "</Blo")):
        (source / f"{number}.male.24.Arts.Leo.xml").write_text(f"<Blog><post>one two</post>{end}")
    documents = pd.read_parquet(measured.documents)
    documents.loc[:6, "date"] = ""
    documents.to_parquet(tmp_path / "undated.parquet")
    measured = replace(measured, documents=tmp_path / "undated.parquet")
    assert "no date" not in page_of(measured)
    page = page_of(measured, source=source, reader="blog_xml", split="temporal")
    assert "7 posts are left out of the split, because they have no date that can be read" in page
    assert "suspicious: 2 files end before </Blog>, so posts may be missing" in page


def test_doubtful_authors_are_named(measured) -> None:
    frame = {"author": ["wim", "xia", "yan", "zed"], "language": ["en", "en", "de", "en"]}
    measures = pd.DataFrame({**frame, "language_share": [1.0, 0.79, 0.9, 0.8], "style_change": [0.1, 0.14, -1, 0.15]})
    page = page_of(measured, measures=measures)
    assert "2 authors writing under 80% of their posts in en: xia, yan" in page
    assert "1 author changing in style (silhouette over 0.14: several hands?): zed" in page


def test_time_overlap_of_a_random_split_by_hand(tmp_path, measured) -> None:
    posts = pd.read_parquet(measured.documents).merge(measured.splits[["document_id", "split"]])
    posts["date"] = ["2004-05-01" if split == "train" else "2004-06-01" for split in posts["split"]]
    zed = (posts["author"] == "zed") & (posts["split"] == "test")
    posts.loc[zed, "date"] = "2004-05-30"  # two of eight test posts
    posts.drop(columns="split").to_parquet(tmp_path / "dated.parquet")
    page = page_of(replace(measured, documents=tmp_path / "dated.parquet"))
    assert "25% of the dated test posts are from a month in which their author wrote a training post" in page


def test_posts_that_the_filter_would_drop_are_counted_while_it_is_off(tmp_path, measured) -> None:
    posts = pd.read_parquet(measured.documents).merge(measured.splits[["document_id", "split"]])
    assert "others' words" not in page_of(measured)
    # Three posts in quotation marks: a test and a training post of "zed", and one of "wim", who has too few tokens.
    quoted = [posts.index[(posts["author"] == "zed") & (posts["split"] == split)][0] for split in ("test", "train")]
    posts.loc[[*quoted, posts.index[posts["author"] == "wim"][0]], "text"] = f"“{'to be or not to be ' * 3}”"
    posts.drop(columns="split").to_parquet(tmp_path / "quoted.parquet")
    small = measured.authors["author"].eq("wim")
    authors = measured.authors.assign(tokens=measured.authors["tokens"].mask(small, 9))
    some = replace(measured, documents=tmp_path / "quoted.parquet", authors=authors)
    page = page_of(some)
    assert "2 posts (3.3%) of authors with enough tokens are mostly others' words, 1 of them test posts" in page
    assert "to be or not" not in page
    filtered = pd.DataFrame({"reason": ["kept", "others_words"], "rows": [80, 0]})
    assert "others' words" not in page_of(some, dropped=filtered)
