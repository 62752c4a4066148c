"""Every reader accounts for all that an export holds: each item is a text of its author or left out for one reason."""

import csv
import json
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.exports.conftest import DATA, read

from favor.exports.items import NO_WORDS
from favor.foundation.registry import EXPORTS

ROOT = Path(__file__).parents[2]
FORM = "%d.%m.%Y"
OWN = ""
SETTINGS = settings(max_examples=25, database=None, suppress_health_check=list(HealthCheck))


def word(number) -> str:
    """A word of its own per record, of letters alone."""
    return "marker" + "".join(chr(ord("a") + int(digit)) for digit in str(number))


def numbered(kinds) -> Iterator[tuple[int, str, str]]:
    for number, kind in enumerate(kinds):
        yield number, kind, word(number)


def telegram(folder, kinds) -> None:
    messages: list[object] = []
    for number, kind, text in numbered(kinds):
        message = {"id": number, "type": "message", "date": f"2023-05-{1 + number:02d}T10:00:00", "from": "Ann"}
        more = {
            OWN: {"text": ["so ", {"type": "bold", "text": text}]},
            "notice": {"type": "service", "actor": "Ann", "text": text},
            "attachment": {"text": "", "photo": "a.jpg"},
            NO_WORDS: {"text": text, "forwarded_from": None},
        }[kind]
        messages.append(message | more)
    (folder / "result.json").write_text(json.dumps({"name": "Bo", "messages": [*messages, None]}))


def mastodon(folder, kinds) -> None:
    activities = []
    for number, kind, text in numbered(kinds):
        note = {"id": number, "content": f"<p>{text}</p>" if kind == OWN else ""}
        activity = {"published": f"2023-05-{1 + number:02d}T10:00:00Z", "actor": "https://x.org/users/ann"}
        liked = {"type": "Like", "object": text}
        activities.append(activity | (liked if kind == "not a post" else {"type": "Create", "object": note}))
    (folder / "outbox.json").write_text(json.dumps({"type": "OrderedCollection", "orderedItems": activities}))


def twitter(folder, kinds) -> None:
    tweets, notes = [], []
    for number, kind, text in numbered(kinds):
        moment = f"2023-05-{1 + number:02d}T10:00:00.000Z"
        if kind.startswith("long"):
            notes.append({"noteTweet": {"createdAt": moment, "core": {"text": text}}})
        else:
            full = text if kind in (OWN, "repeated") else f"RT @bo: {text}" if number % 2 else "https://t.co/a"
            identity = "0" if kind == "repeated" else str(number)
            tweets.append({"tweet": {"id_str": identity, "created_at": moment, "full_text": full}})
    (folder / "tweets.js").write_text(f"a = {json.dumps(tweets)}")
    (folder / "note-tweet.js").write_text(f"a = {json.dumps(notes)}")


def whatsapp(folder, kinds) -> None:
    lines = ""
    for number, kind, text in numbered(kinds):
        if kind == "not a chat":
            (folder / f"{number}.txt").write_text(text)
            continue
        said = {
            OWN: f"Ann: {text}",
            "notice": f"Ann added {text}",
            "attachment": "Ann: <Media omitted>",
            "by the program": "Ann: This message was deleted",
        }[kind]
        lines += f"2023-05-{1 + number:02d}, 10:00 - {said}\n"
    (folder / "chat.txt").write_text(lines)


def mbox(folder, kinds) -> None:
    box = b""
    for number, kind, text in numbered(kinds):
        sender = "" if kind == "without a sender" else "From: ann@x.org\n"
        more = {"draft": "X-Gmail-Labels: Drafts\n", "automatic": "Auto-Submitted: auto-replied\n"}.get(kind, "")
        identity = 0 if kind == "repeated" else number
        body = {"unreadable": b"\xff\xfe\xfd", NO_WORDS: b"> quoted"}.get(kind, text.encode())
        head = f"From x Mon May 03 10:00:00 2021\n{sender}Message-ID: <{identity}@x>\n{more}\n"
        box += head.encode() + body + b"\n\n"
    (folder / "mbox").write_bytes(box)


def wordpress(folder, kinds) -> None:
    records = ""
    for number, kind, text in numbered(kinds):
        status = "draft" if kind == "draft" else "publish"
        post_type = kind if kind in ("page", "attachment", "nav_menu_item") else "post"
        content = f"<blockquote>{text}</blockquote>" if kind == NO_WORDS else text
        records += (
            f"<item><dc:creator>ann</dc:creator><content:encoded><![CDATA[{content}]]></content:encoded>"
            f"<w:post_id>{number}</w:post_id><w:status>{status}</w:status><w:post_type>{post_type}</w:post_type></item>"
        )
    names = 'xmlns:w="http://wordpress.org/export/1.2/" xmlns:dc="http://purl.org/dc/elements/1.1/"'
    names += ' xmlns:content="http://purl.org/rss/1.0/modules/content/"'  # another prefix than WordPress takes
    (folder / "a.xml").write_text(f"<rss {names}><channel>{records}</channel></rss>")


def medium(folder, kinds) -> None:
    (folder / "posts").mkdir()
    for number, kind, text in numbered(kinds):
        own = "" if kind == NO_WORDS else text
        body = "" if kind == "unreadable" else f'<section class="e-content"><p>{own}</p></section>'
        name = f"draft_{number}" if kind == "draft" else f"2023-05-{1 + number:02d}_{number}"
        (folder / "posts" / f"{name}.html").write_text(f"<article>{body}</article>")


def substack(folder, kinds) -> None:
    (folder / "posts").mkdir()
    with (folder / "posts.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["post_id", "post_date", "is_published"])
        for number, kind, text in numbered(kinds):
            if kind != "without a page":
                html = f"<p>{text}</p>" if kind != NO_WORDS else f"<blockquote>{text}</blockquote>"
                (folder / "posts" / f"{number}.html").write_text(html)
            if kind != "not in the list":
                rows.writerow([number, "2023-05-01", str(kind != "draft").lower()])


def text_folder(folder, kinds) -> None:
    for number, kind, text in numbered(kinds):
        front = {"draft": "---\ndraft: true\n---\n", "several authors": "---\nauthors: [Ann, Bo]\n---\n"}.get(kind, "")
        name = {"hidden file": f".{number}.txt", "not a text file": f"{number}.pdf"}.get(kind, f"{number}.md")
        (folder / name).write_text(front + (f"> {text}" if kind == NO_WORDS else text))


# Reader -> the reasons for which it leaves something out, and what writes an export of records, one per reason.
READERS: dict[str, tuple[list[str], Callable[[Path, list[str]], None]]] = {
    "mbox": (["draft", "automatic", "repeated", "unreadable", "without a sender", NO_WORDS], mbox),
    "mastodon": (["not a post", NO_WORDS], mastodon),
    "medium": (["draft", "unreadable", NO_WORDS], medium),
    "substack": (["draft", "without a page", "not in the list", NO_WORDS], substack),
    "telegram": (["notice", "attachment", NO_WORDS], telegram),
    "text_folder": (["draft", "several authors", "hidden file", "not a text file", NO_WORDS], text_folder),
    "twitter": (["long text of no tweet or of several", "repeated", NO_WORDS], twitter),
    "whatsapp": (["notice", "attachment", "by the program", "not a chat"], whatsapp),
    "wordpress": (["page", "draft", "attachment", "nav_menu_item", NO_WORDS], wordpress),
}
BESIDES = {"telegram": ["notice"]}  # what its export above holds besides


def reason(item) -> str:
    return item.left_out or (OWN if item.text else NO_WORDS)


def test_every_reader_is_tried() -> None:
    assert {*READERS} == {*EXPORTS.names()}


@pytest.mark.parametrize("reader", READERS)
@SETTINGS
@given(data=st.data())
def test_what_is_left_out_and_what_is_taken_is_all_that_there_is(reader, data) -> None:
    reasons, write = READERS[reader]
    kinds = [OWN, *data.draw(st.lists(st.sampled_from([OWN, *reasons]), max_size=20))]
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder), kinds)
        name, found = read(Path(folder), FORM)
    assert name == reader
    assert Counter(map(reason, found)) == Counter(kinds + BESIDES.get(reader, []))
    own = " ".join(item.text for item in found if not item.left_out)
    assert {*re.findall(r"marker\w+", own)} == {text for _, kind, text in numbered(kinds) if kind == OWN}


def counted(reader) -> str:
    """What the reader's test data hold, as a row of the table in the docs."""
    totals, cuts = Counter[str](), Counter[str]()
    for path in sorted(DATA.iterdir()):
        name, found = read(path, FORM)
        if name == reader:
            totals.update(map(reason, found))
            cuts.update(cut.reason for item in found if not item.left_out for cut in item.cuts)
    taken, every = totals.pop(OWN), totals.total()
    left_out, cut = (", ".join(f"{why} {c[why]}" for why in sorted(c)) or "none" for c in (totals, cuts))
    return f"| `{reader}` | {taken + every} | {taken} | {left_out} | {cut} |"


@pytest.mark.parametrize("reader", sorted({*READERS} - {"text_folder"}))
def test_the_table_of_the_docs_adds_up(reader) -> None:
    assert counted(reader) in (ROOT / "docs" / "corpora.md").read_text(encoding="utf-8").splitlines()
