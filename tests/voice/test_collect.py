"""One writer's table from exports: who is meant, what is counted, masked, shown and refused."""

import pytest
from tests.exports.conftest import DATA
from tests.exports.conftest import refusal as said
from tests.voice.conftest import command, refusal

from favor.corpora.schemas import DOCUMENTS
from favor.foundation.errors import UserError
from favor.foundation.parquet import read_parquet
from favor.voice.collect import collect, mask_texts
from favor.voice.texts import read_author

MAIL = DATA / "mail.mbox"


def test_a_name_finds_all_mails_of_its_address() -> None:
    # The last mail has the address and no name. Mails by Bob and by nobody are others'. Oldest first.
    table, lines = collect([MAIL], ["zoë  lee"], least_words=1)
    first = ["Hi", "Dear", "One", "Ça", "Lunch", "Plain", "For", "Danke,", "Café"]
    assert [text.split()[0] for text in table["text"]] == first
    november, december = [28, 29, 29, 29, 30], [1, 2, 3, 4]
    days = [f"2022-11-{day}" for day in november] + [f"2022-12-0{day}" for day in december]
    assert table["date"].tolist() == days
    assert table["document_id"].tolist()[-1] == "zoë  lee-00009"
    assert lines[:4] == [
        f"{MAIL}, read as mail (mbox, .eml, Maildir): 13 by zoe@example.org, 2 by others",
        "  cut: quoted 5, signature 3, forwarded 2",
        "  left out: automatic 1, draft 1, repeated 1, unreadable 1",
        "10 of 10 cuts, drawn at random. Are they other people's words?",
    ]
    assert lines[4] == "  mail.mbox, mail 1, signature: -- Zoë Lee Harbour Road 1"
    assert len(lines) == 14


def test_the_same_cuts_are_shown_again(tmp_path) -> None:
    (tmp_path / "many.md").write_text("\n\n".join(f"> quotation {number}\n\nMine {number}." for number in range(40)))
    lines, again = (collect([tmp_path / "many.md"], ["Zoë"], least_words=1)[1] for _ in range(2))
    shown = [int(line.rsplit(" ", 1)[1]) for line in lines[3:]]
    assert lines == again
    assert len(set(shown)) == 10
    assert shown == sorted(shown) != list(range(10))


def test_until_a_day_and_texts_that_two_exports_have(tmp_path) -> None:
    # 28 and 29 November (three mails), 30 November; four are later. Both copies count what they leave out.
    copy = tmp_path / "copy.mbox"
    copy.write_bytes(MAIL.read_bytes())
    table, lines = collect([MAIL, copy], ["zoe@example.org"], until="2022-11-30", least_words=1)
    assert len(table) == 5
    assert "after 2022-11-30 4" in lines[2]
    assert "repeated 6" in lines[5]  # its five texts, and the mail that it has twice itself
    undated = tmp_path / "note.txt"
    undated.write_text("Written some day.")
    table, lines = collect([MAIL, undated], ["zoe@example.org"], until="2022-11-30", least_words=1)
    assert len(table) == 5
    assert lines[4] == "  left out: without a date 1"
    line = said(collect, [MAIL], ["zoe@example.org"], until="30.11.2022")
    assert "'30.11.2022' is not a day; give one such as 2022-11-30" in line


def test_the_command_writes_a_table_that_scores_and_corpora_read(tmp_path, capsys) -> None:
    (tmp_path / "notes").mkdir()
    for number in range(30):
        (tmp_path / "notes" / f"2004-05-{number + 1:02d}.txt").write_text(f"Note {number}. " + "Some words here. " * 40)
    out = tmp_path / "voice.parquet"
    command("collect", tmp_path / "notes", "--me", "Zoë", "--out", out)
    # A note has 1 + 40 * 3 words; figures are none.
    assert capsys.readouterr().out.splitlines() == [
        f"{tmp_path / 'notes'}, read as a folder of text files (.txt, .md, .mdx, .html): 30 by the owner, 0 by others",
        f"{out}: 30 documents, 3,630 words, 2004-05-01 to 2004-05-30",
    ]
    found = read_parquet(out, DOCUMENTS)
    assert (found["author"].unique().tolist(), found["topic"].unique().tolist()) == (["Zoë"], ["text_folder"])
    assert len(read_author(out)) == 30


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("nothing.mbox", None, "nothing.mbox: file not found; check the name"),
        ("b.bin", b"y", "b.bin: not an export that is read"),
        ("a.zip", b"PK\x03\x04 cut", "a.zip: the zip is damaged or cut short"),
        ("note.txt", b"Too little.", "2 words by 'Zoë', and 3,000 are needed; give more exports"),
    ],
)
def test_bad_input_ends_in_one_line_and_writes_nothing(tmp_path, name, content, message) -> None:
    out = tmp_path / "voice.parquet"
    if content is not None:
        (tmp_path / name).write_bytes(content)
    assert message in refusal("collect", tmp_path / name, "--me", "Zoë", "--out", out)
    assert not out.exists()


def test_an_empty_name_is_nobody_and_a_table_is_named_as_one(tmp_path) -> None:
    line = refusal("collect", MAIL, "--me", "Zoë Lee", "--me", " ", "--out", tmp_path / "voice.parquet")
    assert line == "error: --me: a name is empty; give the writer's name, address or id"
    message = "Sent.mbox is not named as a Parquet file; end it in .parquet"
    assert message in refusal("collect", MAIL, "--me", "Zoë Lee", "--out", tmp_path / "Sent.mbox")


def test_nobody_of_the_name() -> None:
    found = "'zoe@example.org' (Zoë Lee), 'bob@example.org' (Bob Stone), 'unknown sender'"
    assert said(collect, [MAIL], ["Zoe Lea"]).endswith(f"nobody is called 'Zoe Lea' there; found {found}")


def test_me_is_one_of_the_authors_that_files_name(tmp_path) -> None:
    for name, author in (("one", "Bo Fox"), ("two", "Ann Lee")):
        (tmp_path / f"{name}.md").write_text(f"---\nauthors: [{author}]\n---\nBy {author}.")
    (tmp_path / "three.md").write_text("By the owner.")
    with pytest.raises(UserError, match=r"nobody is called 'Zoë' there; found '.*', 'Ann Lee'"):
        collect([tmp_path], ["Zoë"], least_words=1)
    table, _ = collect([tmp_path], ["ann lee"], least_words=1)
    assert sorted(table["text"]) == ["By Ann Lee.", "By the owner."]


def test_a_name_of_two_people_is_asked_for(tmp_path) -> None:
    path, head = tmp_path / "mail.mbox", "From x Tue Nov 29 10:00:00 2022\nFrom: "
    mails = (("Ann", "a@x.org"), ("Ann", "b@x.org"), ("Bob", "c@x.org"))
    path.write_text("".join(f"{head}{name} <{mail}>\n\nText of {mail}\n\n" for name, mail in mails))
    line = said(collect, [path], ["Ann"], least_words=1)
    assert "'Ann' may be several people: 'a@x.org' (1), 'b@x.org' (1); give those" in line
    table, _ = collect([path], ["a@x.org", "b@x.org"], least_words=1)
    assert table["text"].tolist() == ["Text of a@x.org", "Text of b@x.org"]


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("Write to ann.b+c@x-y.org.", "Write to [address]."),
        ("Thanks @ann_b and @bob@x.social!", "Thanks [account] and [account]!"),
        ("Tea @2pm?", None),
        ("Call +49 (170) 123-4567 or 0170/1234567.", "Call [number] or [number]."),
        ("IBAN DE89 3704 0044 0532 0130 00 please", "IBAN [number] please"),
        ("From 1939-1945, on 2004-05-14 10:30, 14.05.2004 and 5/14/2004.", None),  # days and years
        ("It cost 1,250.50 and took 123456 steps.", None),  # six digits
        ("Bob Stone's dog met Stone and Bob.", "[name]'s dog met [name] and [name]."),
        ("I will, Will said. Will Stone will, will he?", "I will, Will said. [name] will, will he?"),  # often a verb
        ("Zoë and Lee left.", None),  # the writer
        ("Bobby is not Bob-like.", None),
    ],
)
def test_what_is_masked(text, masked) -> None:
    found, counts = mask_texts([text], ["Bob Stone", "Will Stone", "Zoë Lee", "ann@x.org"], ["zoë lee"])
    assert found == [masked or text]
    assert counts.total() == (masked or "").count("[")


def test_masked_names_are_those_of_the_exports_address_book() -> None:
    table, lines = collect([MAIL], ["Zoë Lee"], mask=True, least_words=1)
    masked = ["Hi [name],\n\nFrom here the sea is grey.\n\nZoë", "Dear [name],\n\nYes, both.\n\nUntil May."]
    assert table["text"].tolist()[:2] == masked
    assert "masked: name 2" in lines
