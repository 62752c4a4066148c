"""Mail: charsets, alternatives, what is quoted, forwarded or signed, and mails that are nobody's."""

import mailbox
from email.message import EmailMessage
from pathlib import Path

import pytest

from favor.corpora.posts import ReaderSettings, open_reader
from favor.exports.files import Files
from favor.exports.formats import open_export
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
    # The third has the date of its envelope alone.
    moments = ["2022-11-28 09:00:00+01:00", "2022-11-29 09:00:00+01:00", "2022-11-29 10:00:00"]
    assert [str(item.moment) for item in found[:3]] == moments


@pytest.mark.parametrize(
    "text",
    [
        "Three things:\n\n-- first\n-- second",
        "Agenda\n--\n" + "\n".join(f"Point {number}" for number in range(12)),  # too long for a signature
        "----- Agenda -----\nWe meet at noon.",
        "On Monday 2022 I wrote: nothing.\nMore.",
        "From: me\nwith love",
        "I agree > 3 times\na > b",
        "To buy:\nFood: bread\nDrink: tea at 10:30\nFruit: pears of 2022",
        "My form\nName: Zoë\nMail: zoe@example.org\nBorn: 1990",  # its first line is not a sender
        "I met Bo <b@x.org> at noon.\n\nIn 2022 we wrote:\nnothing",
        "Three rules of 2021:\n\nbe kind",
        "Come.\n\nDate: 3 May 2021\nPlace: here\nAnswer: ann@x.org",
        "----- Original plan -----\nWe meet at noon.",
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
        ("Oui.\n\nDe\xa0: B <b@x.org>\nEnvoyé le\xa0:15 mai 2016\nÀ\xa0: A\nObjet\xa0:a\n\nX", "Oui.", "quoted"),
        ("Fine.\n\nFrom: The Office\n<office@x.org>\nSent: 26 August 2019\nTo: Zoë\n\nX", "Fine.", "quoted"),
        ("Jo.\n\nLähettäjä: Bo <b@x.org>\nLähetetty: 3.5.2021 10:00\nVastaanottaja: A\nAihe: b\n\nX", "Jo.", "quoted"),
        ("好。\n\n发件人：Bo <b@x.org>\n发送时间：2021年5月3日\n收件人：A\n主题：午饭\n\nX", "好。", "quoted"),
        ("Igen.\n\nXyz: Bo <b@x.org>\nQrs: 2021 10:00\nTuv: A\n\nX", "Igen.", "quoted"),  # a language that nobody knows
        ('Ja.\n\n30.09.2017, 18.30, "Bo Fox" <b@x.org>:\n\nX', "Ja.", "quoted"),
        ("好。\n\nBo Fox <b@x.org> 于2021年5月3日写道：\n\nX", "好。", "quoted"),
        ("Yes.\n\n--- On Wed, 4/4/2012, bo <b@x.org> wrote:\n\nX", "Yes.", "quoted"),
        ("Ja.\n\nGesendet von Outlook für Android", "Ja.", "signature"),
        ("Yes.\n\nSent from my Wiko VIEW", "Yes.", "signature"),
        ("Yes.\n\nSent with Proton Mail secure email.", "Yes.", "signature"),
        ("Yes.\n\nSent from my Wiko VIEW\n\nAre you coming?", "Yes.", "signature"),  # below it nothing is marked
        ("Oui.\n\nTélécharger Outlook pour iOS<https://aka.ms/o0ukef>", "Oui.", "signature"),
        ("Yes.\n\nOn Wed, 3 May 2021 08:14:43 -0200 Bo <b@x.org> wrote\n\nX", "Yes.", "quoted"),
        ("Yes.\n\n--- original message ---\n\nHi", "Yes.", "quoted"),
        ("Oui.\n\n====\n\nMessage du : 12/12/2016 13:20\nDe : Bo <b@x.org>\nA : ann\n\nX", "Oui.", "quoted"),
        (f"Ya.\n\n{'_' * 32}\nDari: Bo\nTerkirim: 3 Mei 2021 10:00\nKe: A\nSubjek: x\n\nX", "Ya.", "quoted"),
        ("כן.\n\nב-3 במאי 2021 מאת \u202aBo <\u202ab@x.org\u202c\u200f>:\u202c\n\n> X", "כן.", "quoted"),
        (f"Yes.\n> {'so long a line, ' * 5}\nand its end\n> X", "Yes.", "quoted"),
        ("Yes.\n\n\xa0> X\n > Y", "Yes.", "quoted"),
        ("Yes.\n\n______________\nfriends mailing list\nhttps://x.org/friends", "Yes.", "boilerplate"),
    ],
)
def test_dividers_of_mail_programs(text, own, reason) -> None:
    found, cuts = own_words(text)
    assert (found.strip(), [cut.reason for cut in cuts]) == (own, [reason])
    # Nothing is lost: what is not kept is in the cuts.
    assert sorted(" ".join([found, *(cut.text for cut in cuts)]).split()) == sorted(text.split())


def test_an_introduction_is_found_where_the_mail_program_broke_it() -> None:
    text = "Thank you.\n\nOn Tue, Apr 18, 2017 at 1:09 PM Bo Fox <bo.fox@example.org\n> wrote:\n\n> are you coming?"
    own, (cut,) = own_words(text)
    assert (own.strip(), cut.text.split()[0], cut.text.split()[-1]) == ("Thank you.", "On", "coming?")


def of_a_mail(folder, content) -> tuple[str, str, str]:
    """Author and text of a mail in a file of its own, and why it is left out."""
    (folder / "a.eml").write_bytes(content)
    (item,) = items(Files(folder / "a.eml"), SETTINGS)
    return item.author, item.text, item.left_out


HEAD = "From: Ann <ann@example.org>\nDate: Mon, 3 May 2021 23:30:00 -0400\nMessage-ID: <{0}@x>\n{1}\n"


@pytest.mark.parametrize("between", ["\n", "", "\r\n"])
def test_a_line_of_a_mail_that_begins_with_from_does_not_end_it(tmp_path, between) -> None:
    one, two = (f"From 1@x Mon May 03 10:00:00 +0000 2021\n{HEAD.format(number, '')}" for number in (1, 2))
    text = f"{one}I saw it.\n{between}From what I know it is new.\n{between}From me\nAnn: hi\n\n{two}Second.\n"
    (tmp_path / "Sent").write_text(text.replace("\n", "\r\n") if "\r" in between else text, newline="")
    first, second = items(Files(tmp_path / "Sent"), SETTINGS)
    lines = ["I saw it.", "From what I know it is new.", "From me", "Ann: hi"]
    assert [line for line in first.text.split("\n") if line] == lines
    assert second.text == "Second."


@pytest.mark.parametrize(("mark", "end"), [(b"\xef\xbb\xbf", b"\n"), (b"", b"\r"), (b"\xef\xbb\xbf", b"\r")])
def test_a_byte_order_mark_and_other_line_ends_change_no_mail(tmp_path, mark, end) -> None:
    (tmp_path / "Sent").write_bytes(mark + MAIL.read_bytes().replace(b"\n", end))
    assert open_export(tmp_path / "Sent")[0] == "mbox"
    assert list(items(Files(tmp_path / "Sent"), SETTINGS)) == mails()


@pytest.mark.parametrize(
    ("name", "found"),
    [("one", ["mail.eml"]), ("folder", ["a.eml", "b/c.eml"]), ("maildir", ["cur/1:2,S", "new/2"])],
)
def test_mails_in_files_of_their_own(tmp_path, name, found) -> None:
    for number, place in enumerate(found):
        (tmp_path / name / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name / place).write_text(HEAD.format(number, "") + f"Mail {number}.\n")
    (tmp_path / name / "notes.bin").write_bytes(b"x")
    read = list(items(Files(tmp_path / name), SETTINGS))
    assert [(item.label, item.text) for item in read[:-1]] == [(each, f"Mail {at}.") for at, each in enumerate(found)]
    assert (read[-1].label, read[-1].left_out) == ("notes.bin", "not a mail")
    assert str(read[0].moment) == "2021-05-03 23:30:00-04:00"


@pytest.mark.parametrize("before", [b"", b"\xef\xbb\xbf", b"\r\n\r\n"])
def test_what_stands_before_a_mail_does_not_hide_its_sender(tmp_path, before) -> None:
    assert of_a_mail(tmp_path, before + HEAD.format(1, "").encode() + b"Mail.\n") == ("ann@example.org", "Mail.", "")


@pytest.mark.parametrize(
    ("header", "people"),
    [
        ("To: unlisted-recipients:; (no To-header on input)", ()),
        ("To: " + "(" * 5000, ()),
        ("To: =?x-none?q?B=F6?= <bo@x.org>", ("=?x-none?q?B=F6?=",)),
        ("To: " + "bo@x.org, " * 300_000, ("bo@x.org",)),
        ("Cc: Bö <bo@x.org>", ("Bö",)),
        ("Date: nonsense\nContent-Type: ;;;=\nX-Gmail-Labels: =?utf-8?b?=?=", ()),
    ],
)
def test_a_header_that_cannot_be_parsed_costs_no_mail(tmp_path, header, people) -> None:
    (tmp_path / "a.eml").write_text(HEAD.format(1, header + "\n") + "The door is green.\n")
    (item,) = items(Files(tmp_path / "a.eml"), SETTINGS)
    assert (item.author, item.text, item.left_out) == ("ann@example.org", "The door is green.", "")
    assert {*item.people} == {"Ann", *people}


def test_parameters_without_end_cost_no_time(tmp_path) -> None:
    """They would take an hour, where all are looked at."""
    content = HEAD.format(1, f"Content-Type: text/plain{'; a=b' * 3_000_000}\n") + "Read.\n"
    assert of_a_mail(tmp_path, content.encode())[1] == "Read."


@pytest.mark.parametrize("line", ["a" * 300_000, "<a@" * 100_000, "<" + "a@" * 150_000])
def test_a_line_without_end_costs_no_time(line) -> None:
    """It would take an hour, where a pattern goes back over it."""
    assert own_words(f"Read.\n\n{line}\n")[0] == f"Read.\n\n{line}\n"


@pytest.mark.parametrize(
    "part", ['Content-Type: multipart/mixed; boundary="b{0}"\n\n--b{0}\n', "Content-Type: message/rfc822\n\n"]
)
def test_a_mail_of_endless_parts_costs_no_mailbox(tmp_path, part) -> None:
    endless = HEAD.format(1, "").rstrip("\n") + "\n" + "".join(part.format(number) for number in range(3000))
    flat = HEAD.format(3, 'Content-Type: multipart/mixed; boundary="x"\n') + "--x\n\nhi\n" * 3_000
    mails = [endless, flat, HEAD.format(2, "") + "Read."]
    (tmp_path / "box").write_text("".join(f"From x Mon May 03 10:00:00 2021\n{mail}\n\n" for mail in mails))
    found = [(item.text, item.left_out) for item in items(Files(tmp_path / "box"), SETTINGS)]
    assert found == [("", "unreadable"), ("", "unreadable"), ("Read.", "")]


def test_what_is_declared_as_ascii_and_is_not_is_unreadable(tmp_path) -> None:
    head = HEAD.format(1, "Content-Type: text/plain; charset=us-ascii\n").encode()
    for text, found in (("Дверь".encode("cp1251"), ("", "unreadable")), ("Tür".encode(), ("Tür", ""))):
        assert of_a_mail(tmp_path, head + text)[1:] == found


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
    said = "left out: automatic 1, draft 1, repeated 1, unreadable 1, without a sender 1; cut: quoted 5, signature 3"
    assert said in capsys.readouterr().err
    assert not matches(Files(tmp_path))
