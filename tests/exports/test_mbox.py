"""Mail: charsets, alternatives, what is quoted, forwarded or signed, and mails that are nobody's."""

from __future__ import annotations

import mailbox
from email.message import EmailMessage
from pathlib import Path

import pytest

from favor.corpora.posts import ReaderSettings, open_reader
from favor.exports.files import Files
from favor.exports.items import Item
from favor.exports.mail_text import own_words
from favor.exports.mbox import items, matches

MAIL = Path(__file__).parent / "data" / "mail.mbox"
SETTINGS = ReaderSettings(has_keys=False)


def mails() -> list[Item]:
    return list(items(Files(MAIL), SETTINGS))


def test_own_words_of_every_mail() -> None:
    found = {item.label: item.text for item in mails() if item.author == "zoe@example.org" and not item.left_out}
    assert found == {
        "mail 1": "Hi Bob,\n\nFrom here the sea is grey.\n\nZoë",  # an mbox writes >From
        "mail 2": "Dear Bob,\n\nYes, both.\n\nUntil May.",  # between quoted lines
        "mail 3": "One long line that was broken here.\nFrom a stuffed line.\nNo break\nhere.",  # RFC 3676
        "mail 4": "Lunch & tea\nat noon?\n\nSee you",
        "mail 5": "Plain of two.",  # one text of two alternatives, no attachment
        "mail 6": "For you.",
        "mail 7": "Danke, gern.",
        "mail 8": "Café “au lait”",  # declared as Latin-1, and really of Windows
        "mail 15": "Ça va.",  # an unknown charset that is UTF-8
    }


def test_cuts_and_their_reasons() -> None:
    found = {item.label: [cut.reason for cut in item.cuts] for item in mails() if item.cuts}
    assert found == {
        "mail 1": ["signature"],
        "mail 2": ["quoted", "quoted", "signature"],
        "mail 4": ["signature", "quoted"],
        "mail 5": ["forwarded"],
        "mail 6": ["forwarded"],
        "mail 7": ["quoted"],
        "mail 15": ["quoted"],
    }
    second = mails()[1].cuts[0].text
    assert second == "On Mon, 28 Nov 2022 at 10:00, Bob Stone\n<bob@example.org> wrote:\n> Is it cold?\n>\n> And wet?"
    assert mails()[3].cuts[1].text == "On Tue Bob wrote:\n\nWhen do we\neat?"


def test_who_wrote_when_and_what_is_left_out() -> None:
    found = mails()
    assert {item.label: item.left_out for item in found if item.left_out} == {
        "mail 9": "unreadable",
        "mail 11": "draft",
        "mail 12": "repeated",
        "mail 13": "automatic",
        "mail 14": "without a sender",
    }
    assert (found[0].author, found[0].names, found[0].people[0]) == ("zoe@example.org", ("Zoë Lee",), "Bob Stone")
    assert (found[9].author, found[9].text) == ("bob@example.org", "Mail of Bob.")
    assert [str(item.moment) for item in found[:3]] == [
        "2022-11-28 09:00:00+01:00",
        "2022-11-29 09:00:00+01:00",
        "2022-11-29 10:00:00",  # of the envelope, for it has no date
    ]


@pytest.mark.parametrize(
    "text",
    [
        "Three things:\n\n-- first\n-- second",
        "Agenda\n--\n" + "\n".join(f"Point {number}" for number in range(12)),  # too long for a signature
        "----- Agenda -----\nWe meet at noon.",
        "On Monday 2022 I wrote: nothing.\nMore.",
        "From: me\nwith love",
        "I agree > 3 times\na > b",
    ],
)
def test_what_only_looks_quoted_stays(text) -> None:
    assert own_words(text) == (text, ())


@pytest.mark.parametrize(
    ("text", "own", "reason"),
    [
        ("Yes.\n\nAm Mo., 5. Dez. 2022 um 09:00 Uhr schrieb Bob <b@x.org>:\n> Kommst du?", "Yes.", "quoted"),
        ("Yes.\n\n-----Original Message-----\nFrom: Bob\nSent: Monday\n\nWhen?", "Yes.", "quoted"),
        ("Look.\n\nBegin forwarded message:\n\nFrom: Bob\nSubject: Re\nDate: 5 May\n\nText", "Look.", "forwarded"),
        ("Yes.\nFrom: Bob <b@x.org>\nSent: Monday\nTo: Zoë\nSubject: Tea\n\nTea?", "Yes.", "quoted"),
        ("Yes.\n--\nZoë Lee", "Yes.", "signature"),
    ],
)
def test_dividers_of_mail_programs(text, own, reason) -> None:
    found, cuts = own_words(text)
    assert (found.strip(), [cut.reason for cut in cuts]) == (own, [reason])
    # Nothing is lost: what is not kept is in the cuts.
    assert sorted(" ".join([found, *(cut.text for cut in cuts)]).split()) == sorted(text.split())


def test_what_is_written_is_read_back(tmp_path) -> None:
    texts = ["Straße, naïve.\n\nFrom now on: 100 %.", "A\n  B\n\nC", "x" * 2000 + " ümlaut"]
    box = mailbox.mbox(str(tmp_path / "Sent"))
    for text, transfer in zip(texts, ("8bit", "base64", "quoted-printable"), strict=True):
        message = EmailMessage()
        message["From"] = "Zoë <z@x.org>"
        message.set_content(text, cte=transfer)
        box.add(message)
    box.close()
    assert [item.text for item in items(Files(tmp_path / "Sent"), SETTINGS)] == texts


def test_mail_is_a_corpus_of_its_senders(tmp_path, capsys) -> None:
    (tmp_path / "Inbox.mbox").mkdir()  # as Apple Mail has it
    (tmp_path / "Inbox.mbox" / "mbox").write_bytes(MAIL.read_bytes())
    found = list(open_reader("mbox").read(tmp_path, ReaderSettings()))
    assert [post.author for post in found].count("bob@example.org") == 1
    assert (found[0].date, found[0].row_label) == ("2022-11-28T09:00:00+01:00", "mail 1")
    assert "cut or left out: quoted 5, signature 3, forwarded 2, automatic 1" in capsys.readouterr().err
    assert not matches(Files(tmp_path))
