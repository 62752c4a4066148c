"""Whether the experiments on a corpus can be run, in one page of text; it names doubtful authors alone."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pandas as pd

from favor.corpora.allocation import SWEEP_ALPHA, allocate, gini, missed_targets
from favor.corpora.author_measures import STYLE_CHANGE, failing
from favor.corpora.authors import choose_background, possible_background, shortcomings
from favor.corpora.documents import stream_documents
from favor.corpora.others_words import MOSTLY, measure_others_words
from favor.corpora.posts import open_reader
from favor.corpora.roster import Measured, assign_roles
from favor.corpora.settings import CheckedExperiment, Readiness, Roster
from favor.corpora.shortage import OBSTACLE, ShortageError
from favor.corpora.splits import split_documents
from favor.corpora.suspicions import Suspicions
from favor.foundation.errors import UserError
from favor.foundation.names import counted, printable

UNCHECKED = (
    "Not checked: base models and their memory, style encoders, training, generation, studies that ask people or "
    "judges. An existing roster is kept, even where a study laid over it would have chosen others."
)

NAMED = 20  # doubtful authors on the page; the table author_measures has all


def readiness(
    name: str,
    source: Path,
    measured: Measured,
    dropped: pd.DataFrame,
    settings: Readiness,
    measures: pd.DataFrame | None = None,
) -> str:
    """Return the page about the corpus ``name``; its last lines say whether its experiments can be run.

    ``source``: the raw corpus. ``dropped``: the table of that name. ``measures``: the table ``author_measures``, for
    the authors of whom one should look at a post before they take a role.
    """
    lines = [f"Corpus {name}", *_corpus(measured, dropped, settings.roster), *_doubts(source, measured, settings)]
    if settings.splitting.split == "random":
        lines += _time_overlap(measured)
    if not (dropped["reason"] == "others_words").any():
        lines += _others_words(measured, settings.roster)
    if measures is not None:
        lines += _doubtful_authors(measures, settings.roster)
    measured, short = _before_roles(measured, settings)
    try:
        roster = assign_roles(measured, settings.roster)
    except ShortageError as shortage:
        short += [*shortage.lines, *_budgets(measured, settings)]
    except UserError as error:
        short.append(str(error))
    else:
        lines += _filtered(measured, settings.roster)
        for experiment, checked in settings.experiments.items():
            lines += ["", f"Experiment {experiment}"]
            try:
                lines += _experiment(experiment, checked, roster, measured)
            except UserError as error:
                short.append(f"{experiment}: {error}")
    verdict = [f"{OBSTACLE}{line}" for line in short] or ["Its experiments can be run."]
    return "\n".join([*lines, "", *verdict, ""])


def _before_roles(measured: Measured, settings: Readiness) -> tuple[Measured, list[str]]:
    """Return what keeps posts from being split or a background from being chosen, which left their tables empty.

    Of too few background authors those that there are keep the role, so that what else is short is counted beside them.
    """
    short: list[str] = []
    if measured.splits.empty:
        try:
            split_documents(measured.documents, settings.splitting)
        except ShortageError as shortage:
            short += shortage.lines
    if not measured.background:
        try:
            choose_background(measured.documents, settings.background)
        except ShortageError as shortage:
            short += shortage.lines
            some = possible_background(measured.documents, settings.background)
            measured = replace(measured, background=some["author"].tolist())
    return measured, short


def _budgets(measured: Measured, settings: Readiness) -> Iterator[str]:
    """Yield a line per experiment for whose words even the authors with the longest training texts are too few."""
    authors = measured.splits["author"].unique()
    words = sorted(_training_words(measured, dict(zip(authors, authors, strict=True))).values(), reverse=True)
    for name, checked in settings.experiments.items():
        number = checked.last - checked.first + 1
        have, total = sum(words[:number]), checked.allocation.total_words
        if checked.allocation.shape in SWEEP_ALPHA and total is not None and have < total:
            yield (
                f"{name}: the {number} authors with the most text to train on have {have:,} words, {total:,} are "
                "needed; lower 'allocation.total_words'"
            )


def _corpus(measured: Measured, dropped: pd.DataFrame, roster: Roster) -> Iterator[str]:
    total = int(dropped["rows"].sum())
    for reason, rows in sorted(zip(dropped["reason"], dropped["rows"], strict=True), key=lambda row: -row[1]):
        if rows:
            yield f"  {rows:>11,} posts ({rows / total:.1%}) {reason.replace('_', ' ')}"
    authors = measured.authors
    split, large = _large(measured, roster)
    yield f"  {counted(len(authors), 'author', 11)}; {split.sum():,} with enough posts"
    yield f"  {large.sum():>11,} of these with {roster.minimum_tokens:,} tokens"
    yield f"  {counted(len(measured.background), 'author', 11)} of the background"
    for row in shortcomings(_free(measured, roster)).query("authors > 0").itertuples():
        yield f"  {row.authors:>11,} of the others with {row.reason} ({row.experiment})"


def _large(measured: Measured, roster: Roster) -> tuple[pd.Series, pd.Series]:
    """Return which authors have enough posts, and which of them enough tokens for a role."""
    split = measured.authors["author"].isin(measured.splits["author"].unique())
    return split, split & (measured.authors["tokens"] >= roster.minimum_tokens)


def _others_words(measured: Measured, roster: Roster) -> Iterator[str]:
    """Yield a line on the posts that ``filters.others_words``, which is off, would drop."""
    authors = set(measured.authors.loc[_large(measured, roster)[1], "author"])
    found = measure_others_words(measured.documents, authors)
    mostly = found.loc[found["share"] > MOSTLY, "document_id"]
    if len(mostly):
        test = measured.splits.loc[measured.splits["split"] == "test", "document_id"]
        yield (
            f"  {len(mostly):>11,} posts ({len(mostly) / len(found):.1%}) of authors with enough tokens are mostly "
            f"others' words, {mostly.isin(test).sum():,} of them test posts ('filters.others_words: {MOSTLY:g}' drops "
            "such posts)"
        )


def _free(measured: Measured, roster: Roster) -> pd.DataFrame:
    """Return the suitability of those who may have another role: no background authors, none that a filter left out."""
    taken = set(measured.background)
    if measured.measures is not None:
        for fails in failing(measured.measures, roster.filters).values():
            taken.update(measured.measures.loc[fails, "author"])
    return measured.suitability[~measured.suitability["author"].isin(taken)]


def _doubts(source: Path, measured: Measured, settings: Readiness) -> Iterator[str]:
    suspicions, undated = Suspicions(), 0
    for batch in stream_documents(measured.documents, ("text", "date")):
        undated += int((batch["date"] == "").sum())
        for text in batch["text"]:
            suspicions.look(text, "")
    if undated and settings.splitting.split == "temporal":
        yield f"  {undated:>11,} posts are left out of the split, because they have no date that can be read"
    for line in getattr(open_reader(settings.reader_name), "suspicions", lambda _: ())(source):
        yield f"  suspicious: {line}"
    for line in suspicions.lines(measured.authors["author"], naming=False):
        yield f"  suspicious: {line}"


def _time_overlap(measured: Measured) -> Iterator[str]:
    """Yield a line on test posts from a month in which their author wrote a training post too."""
    posts = pd.concat(stream_documents(measured.documents, ("document_id", "date")))
    dated = measured.splits.merge(posts[posts["date"] != ""], on="document_id")
    months = dated.assign(month=dated["date"].str[:7])[["author", "split", "month"]]
    test = months[months["split"] == "test"]
    if len(test):
        known = months.loc[months["split"] == "train", ["author", "month"]].drop_duplicates()
        both = len(test.merge(known, on=["author", "month"]))
        yield (
            f"  {both / len(test):>11.0%} of the dated test posts are from a month in which their author wrote a "
            "training post ('split: temporal' tests on later posts)"
        )


def _doubtful_authors(measures: pd.DataFrame, roster: Roster) -> Iterator[str]:
    filters = roster.filters
    main = filters.languages or measures["language"].mode().head(1).tolist()
    other = ~measures["language"].isin(main) | (measures["language_share"] < filters.language_share)
    doubts = (
        (other, f"writing under {filters.language_share:.0%} of their posts in {', '.join(main)}"),
        (
            measures["style_change"] > STYLE_CHANGE,
            f"changing in style (silhouette over {STYLE_CHANGE:g}: several hands?)",
        ),
    )
    for fails, what in doubts:
        if fails.any():
            names = sorted(map(printable, measures.loc[fails, "author"]))
            more = f" and {len(names) - NAMED} more" * (len(names) > NAMED)
            yield f"  {counted(len(names), 'author', 11)} {what}: {', '.join(names[:NAMED])}{more}"


def _filtered(measured: Measured, roster: Roster) -> Iterator[str]:
    if measured.measures is not None:
        for name, fails in failing(measured.measures, roster.filters).items():
            yield f"  {counted(int(fails.sum()), 'author', 11)} left out by filter {name}, of {len(fails):,} measured"


def _experiment(name: str, checked: CheckedExperiment, roster: pd.DataFrame, measured: Measured) -> Iterator[str]:
    places = [f"client_{place:03d}" for place in range(checked.first, checked.last + 1)]
    chosen = roster[roster["client"].isin(places)]
    client_of: dict[str, str] = dict(zip(chosen["author"], chosen["client"], strict=True))
    own = measured.suitability[measured.suitability["experiment"] == name].set_index("author").loc[list(client_of)]
    wanted = int(own["wanted_prompts"].iloc[0])
    prompts = f"all {wanted} prompts" if wanted > 1 else "a prompt"
    yield f"  {len(own):>11,} clients, {int((own['prompts'] >= wanted).sum())} of them with {prompts}"
    fewer = own[own["prompts"] < wanted]
    short = zip(map(client_of.__getitem__, fewer.index.tolist()), fewer["prompts"].tolist(), strict=True)
    for client, prompts in sorted(short):
        yield f"  {'':11} {client}: {prompts} prompt{'s' * (prompts != 1)} per seed"
    if checked.allocation.shots is not None:
        fewest, needed = own["training_texts"].min(), own["minimum_texts"].max()
        yield f"  {fewest:>11,} training texts or more per client, {needed} needed"
        return
    made = allocate(_training_words(measured, client_of), checked.allocation)
    words = made["allocated_words"].to_numpy()
    yield (
        f"  {words.sum():>11,} words to train on, of {made['available_words'].sum():,} available; "
        f"{words.min():,} to {words.max():,} per client, Gini {gini(words):.3f}"
    )
    if missed := missed_targets(made):
        yield f"  {missed}"


def _training_words(measured: Measured, client_of: Mapping[str, str]) -> dict[str, int]:
    columns = ("author", "document_id", "words")
    posts = pd.concat(stream_documents(measured.documents, columns, authors=client_of))
    train = measured.splits.loc[measured.splits["split"] == "train", "document_id"]
    words = posts[posts["document_id"].isin(train)].groupby("author")["words"].sum()
    return {client: int(words.get(author, 0)) for author, client in client_of.items()}
