"""Chats and short posts: X, Mastodon, Telegram in both layouts, WhatsApp of two telephones."""

import json
import shutil
import zipfile
from datetime import datetime
from pathlib import Path

import pytest
from tests.exports.conftest import DATA, read, refusal

from favor.corpora.posts import ReaderSettings, open_reader
from favor.exports.items import Item, sittings
from favor.foundation.errors import UserError


def zipped(folder, path) -> Path:
    """Return a zip of a folder within one more folder, and what a Mac adds to it."""
    with zipfile.ZipFile(path, "w") as archive:
        for file in folder.rglob("*.js*"):
            archive.write(file, f"archive/{file.relative_to(folder)}")
        archive.writestr("__MACOSX/archive/._tweets.js", b"\0")
    return path


LONG = "This is a long tweet that goes on and on about the sea, the harbour and the grey sky over it, "
TWEETS = [
    ("tweet 1", "Oldest, of another part", []),
    ("tweet 2", "A first thought", []),
    ("tweet 3", "And a second one & more.", []),
    ("tweet 4", "", ["reposted"]),
    ("tweet 5", "No, @carl said so.", []),  # a reply begins with addressees
    ("tweet 6", "@bob is funny", []),  # this is none
    ("tweet 7", "Indeed!", ["reposted"]),  # by hand
    ("tweet 8", "but this is mine", ["reposted"]),
    ("tweet 9", f"{LONG}and about boats & ropes.", []),  # cut in tweets.js, and whole among the long ones
]


@pytest.mark.parametrize("packed", [False, True])
def test_tweets_of_all_parts_oldest_first(tmp_path, packed) -> None:
    name, found = read(zipped(DATA / "twitter", tmp_path / "x.zip") if packed else DATA / "twitter")
    assert name == "twitter"
    assert [(item.label, item.text, [cut.reason for cut in item.cuts]) for item in found] == TWEETS
    assert {(item.author, item.names) for item in found} == {("zoe_l", ("Zoë Lee", "1"))}
    assert found[3].people == ("Bob Stone",)
    assert str(found[1].moment) == "2023-05-01 10:00:00+00:00"


def test_an_old_archive_names_nobody() -> None:
    name, (item,) = read(DATA / "tweet.js")
    assert (name, item.author, item.text) == ("twitter", "", "An old one = with a sign")
    assert str(item.moment) == "2013-05-14 10:20:30+00:00"


def test_a_sitting_has_the_people_of_all_its_posts() -> None:
    at = datetime(2023, 5, 1, 10)
    one, two = (Item("zoe", text, at, "", chat="c", people=(name,)) for text, name in (("a", "Bob"), ("b", "Eve")))
    (joined,) = sittings([one, two])
    assert (joined.text, joined.people) == ("a\nb", ("Bob", "Eve"))


def test_mastodon(tmp_path) -> None:
    name, found = read(DATA / "mastodon")
    assert (name, found.pop(0).left_out) == ("mastodon", "not a post")
    assert [(item.text, [(cut.reason, cut.text) for cut in item.cuts]) for item in found] == [
        ("One\nline & more\n\nTwo", []),
        ("", [("boosted", "https://y.social/users/bob/statuses/5")]),
        ("Yes. See", []),
        ("So true.", [("quoted", "RE: https://y.social/1"), ("quoted", "Words of Bob")]),
        ("Still in the same sitting.", []),
        ("", []),
    ]
    assert (found[0].author, found[0].names[0], found[2].people) == ("zoe", "Zoë Lee", ("@bob@y.social",))
    shutil.copy(DATA / "mastodon" / "outbox.json", tmp_path / "renamed.json")  # alone, it has the account's address
    assert read(tmp_path / "renamed.json")[1][0].author == "zoe"


FAMILY = [
    ("user1", "Good morning", []),
    ("user2", "Hi!", []),
    ("user1", "See this:", ["quoted", "code"]),
    ("user1", "", ["forwarded"]),
    ("user1", "", ["forwarded"]),
    ("user1", "", ["by a bot"]),
    ("user1", "Another sitting", []),
    ("user3", "Gone", []),
]


@pytest.mark.parametrize(("layout", "more"), [("one", []), ("all", [("user4", "A namesake in another chat", [])])])
def test_telegram_in_both_layouts(layout, more) -> None:
    name, found = read(DATA / f"telegram_{layout}.json")
    assert (name, [item.left_out for item in found if item.left_out]) == ("telegram", ["notice", "attachment"])
    found = [item for item in found if not item.left_out]
    assert [(item.author, item.text, [cut.reason for cut in item.cuts]) for item in found] == FAMILY + more
    names, people = (("Zoë", "Zoë Lee", "@zoe_l"), ("Bob Stone",)) if more else (("Zoë",), ())
    assert (found[0].names, found[0].people, found[0].label) == (names, people, "Family, message 2")


def test_a_text_that_is_null_is_no_text(tmp_path) -> None:
    message = {"id": 1, "type": "message", "from": "Ann", "date": "2023-05-14T10:00:00", "text": None}
    (tmp_path / "result.json").write_text(json.dumps({"messages": [message, message | {"text": [{"text": None}]}]}))
    assert [(item.text, item.left_out) for item in read(tmp_path)[1]] == [("", "attachment")] * 2


def test_messages_of_one_sitting_are_one_document_per_author_and_chat() -> None:
    # Nobody is silent for half an hour until 10:06; the namesake writes a minute later, in another chat.
    found = [(item.author, item.text) for item in sittings(read(DATA / "telegram_all.json")[1]) if item.text]
    assert found == [
        ("user1", "Good morning\nSee this:"),
        ("user2", "Hi!"),
        ("user1", "Another sitting"),
        ("user3", "Gone"),
        ("user4", "A namesake in another chat"),
    ]


def test_whatsapp_of_an_iphone() -> None:
    name, found = read(DATA / "whatsapp_ios.txt", "%d.%m.%Y")
    assert name == "whatsapp"
    assert [(item.author, str(item.moment), item.text) for item in found if not item.left_out] == [
        ("Zoë Lee", "2023-05-14 10:02:12", "Good morning\nsecond line: with a colon\n\nfourth\u2028line"),
        ("+49 170 1234567", "2023-05-14 10:03:00", "Hi"),
        ("Zoë Lee", "2023-05-14 10:05:00", "Typo fixed"),
        ("Zoë Lee", "2023-05-15 00:01:00", "Next day"),
    ]


def test_whatsapp_of_android_with_months_first() -> None:
    found = read(DATA / "whatsapp_android.txt", "%m/%d/%y")[1]
    assert [(item.author, str(item.moment), item.text) for item in found if not item.left_out] == [
        ("Zoë Lee", "2023-03-04 22:00:00", "Evening: tea?"),
        ("Zoë Lee", "2023-03-04 22:03:00", "with a caption"),
        ("Bob", "2023-03-04 22:04:00", "Yes"),
        ("Zoë Lee", "2023-03-05 00:05:00", "Past midnight"),
    ]
    assert str(read(DATA / "whatsapp_android.txt", "%d/%m/%y")[1][1].moment) == "2023-04-03 22:00:00"


@pytest.mark.parametrize(
    ("line", "moment"),
    [
        ("2023. 4. 5. 오전 9:10 - Ann: Hi", "2023-04-05 09:10"),
        ("2023. 4. 5. 오후 9:10 - Ann: Hi", "2023-04-05 21:10"),
        ("2023/4/5 下午9:10 - Ann: Hi", "2023-04-05 21:10"),
        ("2023/4/5 午前 0:10 - Ann: Hi", "2023-04-05 00:10"),
        ("5/4/2023, 9:10 अपराह्न - Ann: Hi", "2023-04-05 21:10"),
        ("[5/4/2023, 9:10:00 nachm.] Ann: Hi", "2023-04-05 21:10"),
        ("5/4/2023 9:10 CH - Ann: Hi", "2023-04-05 21:10"),
        ("5/4/2023 kl. 21:10 - Ann: Hi", "2023-04-05 21:10"),
        ("٥/٤/٢٠٢٣، ٩:١٠ م - Ann: Hi".replace("،", ","), "2023-04-05 21:10"),
        ("[2026/7/9 02:28:37] Ann:Hi", "2026-07-09 02:28"),
        ("[٥\u200f/٤\u200f/٢٠٢٣، ٩:١٠:٠٠ م] Ann: Hi", "2023-04-05 21:10"),
        ("[2023/05/14, 10:02:11] Ann: Hi", "2023-05-14 10:02"),
        ("14.05.23 um 10:02 - Ann: Hi", "2023-05-14 10:02"),
        ("[14.5.2023 klo 10.02.11] Ann: Hi", "2023-05-14 10:02"),
        ("14/5/23, 10:02 a. m. - Ann: Hi", "2023-05-14 10:02"),
        ("14. 5. 2023, 10:02 - Ann: Hi", "2023-05-14 10:02"),
    ],
)
def test_times_of_other_scripts_and_countries(tmp_path, line, moment) -> None:
    (tmp_path / "chat.txt").write_text(line)
    (item,) = read(tmp_path / "chat.txt", "%d/%m/%y")[1]
    assert (item.author, item.text, str(item.moment)[:16]) == ("Ann", "Hi", moment)


@pytest.mark.parametrize("between", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("before", ["", "\ufeff", "\ufeff\n\n"])
def test_line_ends_and_marks_of_any_system(tmp_path, between, before) -> None:
    (tmp_path / "chat.txt").write_bytes(between.join([before + "14/5/23, 9:10 - Ann: Hi", "more", ""]).encode())
    name, (item,) = read(tmp_path / "chat.txt", "%d/%m/%y")
    assert (name, item.author, item.text) == ("whatsapp", "Ann", "Hi\nmore")


@pytest.mark.parametrize("time", [1684051200, 1684051200000, "2023-05-14 08:00:00"])
def test_tweets_may_have_times_since_1970(tmp_path, time) -> None:
    (tmp_path / "tweets.js").write_text(f"a = {json.dumps([{'created_at': time, 'full_text': 'hi'}])}")
    assert str(read(tmp_path)[1][0].moment) == "2023-05-14 08:00:00+00:00"


def test_a_message_that_is_made_to_fill_memory_is_refused(tmp_path) -> None:
    (tmp_path / "_chat.txt").write_text(f"[01.02.20, 10:00:00] Ann: {'word ' * 300}\n")
    settings = ReaderSettings(date_format="%d.%m.%y", maximum_field_characters=1000)
    with pytest.raises(UserError, match=r"line 1 is longer than 1,000 characters; export it again"):
        list(open_reader("whatsapp").read(tmp_path / "_chat.txt", settings))


def test_what_a_chat_has_besides_texts_is_counted(tmp_path) -> None:
    lines = (
        ("Bo: \u200eIMG-20180806-WA0001.jpg (file attached)\nthe garden", ("Bo", "the garden", "")),
        ("Bo: IMG-20180806-WA0002.jpg (file attached)", ("Bo", "", "attachment")),
        ("Bo: <Media omitted>", ("Bo", "", "attachment")),
        ("Bo: \u200eimage omitted", ("Bo", "", "by the program")),
        ("Bo: imagem ocultada", ("Bo", "", "by the program")),
        ("Bo: Esta mensagem foi apagada", ("Bo", "", "by the program")),
        ("Bo: \u200ePOLL:\nTea?\n\u200eOPTION: Yes", ("Bo", "", "by the program")),
        ("Bo: Missed voice call", ("Bo", "", "by the program")),
        ("Bo created group “Tea: at 10”", ("unknown sender", "", "notice")),
        ("Bo: I omitted the image.", ("Bo", "I omitted the image.", "")),
    )
    (tmp_path / "chat.txt").write_text("".join(f"14/5/23, 9:10 - {line}\n" for line, _ in lines))
    found = [(item.author, item.text, item.left_out) for item in read(tmp_path / "chat.txt", "%d/%m/%y")[1]]
    assert found == [expected for _, expected in lines]


def test_long_tweets_go_to_the_tweet_of_their_time(tmp_path) -> None:
    start = "Good morning everybody, here is my plan for the day and what I wrote: "
    long = [start + "one " * 80 + "1", start + "two " * 80 + "2"]
    times = ["2021-05-03T10:00:00.000Z", "2021-05-04T10:00:00.000Z"]
    notes = [{"noteTweet": {"createdAt": time, "core": {"text": text}}} for time, text in zip(times, long, strict=True)]
    tweets = [
        {"id_str": "1", "created_at": at, "full_text": text}
        for at, text in (
            *zip(times, (f"{text[:270]}… https://t.co/a" for text in long), strict=True),
            (times[0], start + "a short day."),
            ("2021-05-05T10:00:00.000Z", f"{long[1][:270]}…"),
        )
    ]
    (tmp_path / "tweets.js").write_text(f"x = {json.dumps(tweets)}")
    (tmp_path / "note-tweet.js").write_text(f"x = {json.dumps(notes)}")
    assert [item.text for item in read(tmp_path)[1]] == [long[0], start + "a short day.", long[1], f"{long[1][:270]}…"]
    notes.append({"noteTweet": {"createdAt": times[0], "core": {"text": long[0] + " otherwise"}}})
    (tmp_path / "note-tweet.js").write_text(f"x = {json.dumps(notes)}")
    assert read(tmp_path)[1][0].text == f"{long[0][:270]}…"  # two fit: it stays as it is


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("tweets.js", 'x = [{"created_at": "today", "text": "Hi."}, {"created_at": "2023-05-14T10:00", "text": "Ho"}]'),
        (
            "outbox.json",
            '{"type": "OrderedCollection", "orderedItems": [{"type": "Create", "object": {"content": "Hi."}},'
            '{"type": "Create", "published": "2023-05-14T10:00", "object": {"content": "Ho"}}]}',
        ),
        (
            "result.json",
            '{"messages": [{"type": "message", "from": "Ann", "date": "today", "text": "Hi."},'
            '{"type": "message", "from": "Ann", "date": "2023-05-14T10:00", "text": "Ho"}]}',
        ),
    ],
)
def test_a_date_that_cannot_be_read_leaves_its_text_undated(tmp_path, name, content) -> None:
    (tmp_path / name).write_text(content)
    found = [(item.text, item.moment and item.moment.day) for item in sittings(read(tmp_path / name)[1])]
    assert found == [("Hi.", None), ("Ho", 14)]


def test_a_corpus_of_whatsapp_needs_the_form_of_its_dates() -> None:
    with pytest.raises(UserError, match=r"set the corpus key 'date_format', such as %d/%m/%y"):
        list(open_reader("whatsapp").read(DATA / "whatsapp_ios.txt", ReaderSettings()))
    found = list(open_reader("whatsapp").read(DATA / "whatsapp_ios.txt", ReaderSettings(date_format="%d.%m.%y")))
    assert [post.author for post in found] == ["Zoë Lee", "+49 170 1234567", "Zoë Lee"]
    assert [post.date for post in found] == ["14.05.23", "14.05.23", "15.05.23"]


NO_CLOCK = "at its time, which may be morning or evening; export the chat again"
CALENDAR = "as another calendar has it; export the chat again"
ORDER = "does not exist in the order dmy; give --date-order"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("tweets.js", "window.YTD.tweets.part0 = [{", "is not complete JSON"),
        ("tweets.js", "window.YTD.tweets.part0 = {}", "holds no list of objects"),
        ("outbox.json", '{"type": "OrderedCollection"}', "has no post in a list 'orderedItems'"),
        ("result.json", '{"chats": {}}', "has neither 'messages' nor a list of chats"),
        ("result.json", '{"messages": [{"role": "user"}]}', "is of another program than Telegram"),
        ("result.json", '{"messages": ' + "[" * 99_999, "is not complete JSON"),
        ("result.json", b'{"messages": "\xff"}', "byte 14 is not utf-8"),
        ("a.txt", "14/5/23, 9:10 xyzzy - Ann: Hi", f"has 'xyzzy' {NO_CLOCK}"),
        ("a.txt", "14/05/2566, 10:02 - Ann: hi", f"is of the year 2566, {CALENDAR}"),
        ("a.txt", "۱۴/۰۲/۱۴۰۲, ۱۰:۰۲ - Ann: hi", f"is of the year 1402, {CALENDAR}"),
        ("a.txt", "3/14/23, 9:10 - Ann: Hi", f"a.txt, line 1: the date 3/14/23 {ORDER}"),
    ],
)
def test_what_cannot_be_read_ends_in_one_line(tmp_path, name, content, message) -> None:
    (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    assert message in refusal(read, tmp_path / name, "%d/%m/%y")


def test_the_order_of_dates_is_asked_for() -> None:
    message = "whatsapp_ios.txt, line 1: the date 14.05.23 may have day and month in either order; give --date-order"
    assert message in refusal(read, DATA / "whatsapp_ios.txt")


def test_a_folder_of_archives_is_a_corpus(tmp_path) -> None:
    zipped(DATA / "twitter", tmp_path / "zoe.zip")
    (tmp_path / "eve").mkdir()
    shutil.copy(DATA / "tweet.js", tmp_path / "eve" / "tweet.js")  # nobody is named in it, so the folder is
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "gone").symlink_to("nowhere")
    found = list(open_reader("twitter").read(tmp_path, ReaderSettings(date_format="%d.%m.%Y")))
    assert [(post.author, post.date) for post in found][:2] == [("eve", "14.05.2013"), ("zoe_l", "01.04.2023")]
    assert found[1].row_label == "zoe.zip, tweet 1"
    with pytest.raises(UserError, match=r"neither a chat of WhatsApp as text .* corpus key 'reader'$"):
        list(open_reader("whatsapp").read(tmp_path, ReaderSettings()))


def test_what_is_no_export_beside_others_is_counted(tmp_path, capsys) -> None:
    shutil.copytree(DATA / "twitter", tmp_path / "zoe")
    (tmp_path / "bob").mkdir()
    zipped(DATA / "twitter", tmp_path / "bob" / "bob.zip")
    assert len(list(open_reader("twitter").read(tmp_path, ReaderSettings()))) > 1
    assert "not such an export 1" in capsys.readouterr().err
    shutil.rmtree(tmp_path / "zoe")
    with pytest.raises(UserError, match=r"'reader'; bob/bob\.zip lies too deep: put it into the folder itself"):
        list(open_reader("twitter").read(tmp_path, ReaderSettings()))
