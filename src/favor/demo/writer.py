"""Writes the demo corpus: seeded, in the shape of either real corpus, with the kinds of dirt the blog corpus has."""

import csv
import io
import random
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from favor.corpora.posts import UNKNOWN_TOPIC
from favor.corpora.settings import DemoCorpus
from favor.demo.habits import Habits
from favor.demo.sentences import Voice
from favor.demo.vocabulary import EVERYDAY, SUBJECTS, TOPICS
from favor.foundation.files import write_text
from favor.foundation.seeds import derive_seed

HEADER = ("id", "gender", "age", "topic", "sign", "date", "text")
STORY_HEADER = ("author", "prompt", "text")
FIRST_AUTHOR = 9_000_001  # above every id of the real corpus
SIGNS = (
    "Aries", "Taurus", "Gemini", "Cancer", "Leo", "Virgo", "Libra", "Scorpio", "Sagittarius", "Capricorn", "Aquarius",
    "Pisces",
)  # fmt: skip
MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August")


def write_demo(path: Path, settings: DemoCorpus) -> None:
    """Write the demo corpus of ``settings`` to ``path`` (CSV, UTF-8); the same settings give the same bytes."""
    if settings.shape == "mythos":
        write_csv(path, STORY_HEADER, _stories(settings))
    else:
        write_csv(path, HEADER, _rows(settings))


def write_csv(path: Path, header: Sequence[str], rows: Iterable[Sequence[str | int]]) -> None:
    """Write a table as CSV, with the same bytes on every system."""
    content = io.StringIO(newline="")
    writer = csv.writer(content, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    write_text(content.getvalue(), path)


def post_counts(settings: DemoCorpus) -> list[int]:
    """Return the number of posts of each author: rank^-alpha of the most, never under the least, shuffled."""
    counts = [
        max(settings.minimum_posts, round(settings.maximum_posts * rank**-settings.volume_alpha))
        for rank in range(1, settings.authors + 1)
    ]
    random.Random(derive_seed(settings.seed, "demo volumes")).shuffle(counts)
    return counts


def topic_of(author: int, count: int = len(TOPICS)) -> str:
    """Return the metadata topic of the author numbered ``author``: each of ``count`` in turn, then the unknown one."""
    topics = (*tuple(TOPICS)[:count], UNKNOWN_TOPIC)
    return topics[author % len(topics)]


def _rows(settings: DemoCorpus) -> Iterator[tuple[str | int, ...]]:
    counts = post_counts(settings) + [3] * settings.tiny_authors
    for author, posts in enumerate(counts):
        yield from _author_rows(author, posts, settings, [])
    for pair in range(settings.shared_pairs):
        first = len(counts) + 2 * pair
        shared: list[str] = []
        yield from _author_rows(first, 12, settings, shared)
        for row in _author_rows(first + 1, 12, settings, []):
            yield (*row[:-1], shared.pop()) if len(shared) > 6 else row


def _stories(settings: DemoCorpus) -> Iterator[tuple[str, str, str]]:
    """Yield the same authors' posts as (author, prompt, story); somebody else wrote the prompt."""
    for number, row in enumerate(_rows(settings)):
        generator = random.Random(derive_seed(settings.seed, "demo writing prompt", number))
        voice = Voice(Habits(generator), SUBJECTS[generator.choice(tuple(SUBJECTS))], generator)
        yield f"writer_{row[0]}", f"[WP] {voice.sentence()}", str(row[-1])


def _author_rows(author: int, posts: int, settings: DemoCorpus, written: list[str]) -> Iterator[tuple[str | int, ...]]:
    """Yield the author's rows, dirt included; the texts are also appended to ``written``."""
    generator = random.Random(derive_seed(settings.seed, "demo author", author))
    habits = Habits(generator)
    topic = topic_of(author, settings.topics)
    person = (generator.choice(("male", "female")), generator.randint(18, 47), topic, generator.choice(SIGNS))
    for _ in range(posts):
        text = _dirty(_post(habits, topic, settings, generator), generator)
        written.append(text)
        yield (FIRST_AUTHOR + author, *person, _date(generator), text)
        if generator.random() < 0.015:  # posted twice
            yield (FIRST_AUTHOR + author, *person, _date(generator), text)
        if generator.random() < 0.01:
            yield (FIRST_AUTHOR + author, *person, _date(generator), "     \n    ")


def _date(generator: random.Random) -> str:
    return f"{generator.randint(1, 28):02d},{generator.choice(MONTHS)},2004"


def _post(habits: Habits, topic: str, settings: DemoCorpus, generator: random.Random) -> str:
    if topic == UNKNOWN_TOPIC:
        subject = generator.choice(tuple(SUBJECTS))
    else:
        subject = TOPICS[topic] if generator.random() < 0.5 else generator.choice(EVERYDAY)
    voice = Voice(habits, SUBJECTS[subject], generator)
    # A triangular length with its mode low: most posts are short, as in the real corpus.
    wanted = round(generator.triangular(settings.minimum_words, settings.maximum_words, settings.minimum_words * 1.3))
    parts = [habits.greetings.draw(generator)] if generator.random() < habits.greeting else []
    words = 0
    while words < wanted:
        sentence = voice.sentence()
        words += len(sentence.split())
        parts.append(("\n" if parts and generator.random() < habits.line_break else "") + sentence)
    if generator.random() < habits.closing:
        parts.append(habits.closings.draw(generator))
    return " ".join(parts).replace(" \n", "\n")


def _dirty(text: str, generator: random.Random) -> str:
    """Return ``text`` as the real corpus would carry it: entities, link markers, stray white space."""
    if generator.random() < 0.3:
        text = text.replace("&", "&amp;").replace("<3", "&lt;3")
    if generator.random() < 0.1:
        text = text.replace(". ", ".&nbsp; ", 3)
    if generator.random() < 0.15:
        words = text.split(" ")
        words.insert(generator.randrange(len(words)), " urlLink ")
        text = " ".join(words)
    if generator.random() < 0.01:
        text = text.replace(" ", " \x07", 1)
    return "     \n       " + text + "     " if generator.random() < 0.5 else text
