"""A folder of one text file per post and author."""

import os
from pathlib import Path

import pytest
from tests.exports.conftest import refusal

from favor.corpora.posts import UNKNOWN_TOPIC, RawPost, ReaderSettings, open_reader
from favor.exports.files import Files
from favor.exports.text_folder import items, text_file
from favor.foundation.errors import UserError


def write(folder, **files) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def read(folder, **settings) -> list[RawPost]:
    return list(open_reader("text_folder").read(folder, ReaderSettings(**settings)))


def test_authors_are_folders_and_dates_come_from_names_or_front_matter(tmp_path) -> None:
    front = "---\r\ntitle: Sea\r\ndate: '14.05.2004'\r\ntags:\r\n - a\r\ntopic: Travel\r\n---\r\nBy the sea.\r\n"
    files = {
        "Zoë/b 2004-05-13 draft.txt": "\ufeffHello.",
        "Zoë/2004/20040512.md": "Deeper.",
        "ann/post.markdown": front,
        "ann/12345678901.txt": "No date: eleven digits.",
        "ann/2004-13-40 2004_05_11.txt": "The second is a day.",
    }
    found = [(post.author, post.date, post.topic, post.text) for post in read(write(tmp_path, **files))]
    assert found == [
        ("Zoë", "2004-05-12", UNKNOWN_TOPIC, "Deeper."),
        ("Zoë", "2004-05-13", UNKNOWN_TOPIC, "Hello."),
        ("ann", "", UNKNOWN_TOPIC, "No date: eleven digits."),
        ("ann", "2004-05-11", UNKNOWN_TOPIC, "The second is a day."),
        ("ann", "14.05.2004", "Travel", "By the sea.\n"),
    ]
    # With a form of dates, names follow it, so that both are read by the one that is set.
    days = [f"{day}.05.2004" if day else "" for day in (12, 13, 0, 11, 14)]
    assert [post.date for post in read(tmp_path, date_format="%d.%m.%Y")] == days


@pytest.mark.parametrize(
    "text",
    [
        "---\nA line of dashes opens my poem.\nIt has no key\n---\nend",  # prose between two rules
        "---\ndate: 2004-05-14\nnever closed",
        "----\ndate: 2004-05-14\n---\nfour dashes",
        "text first\n---\ndate: 2004-05-14\n---\n",
    ],
)
def test_what_is_no_front_matter_stays_in_the_post(tmp_path, text) -> None:
    (post,) = read(write(tmp_path, **{"ann/a.txt": text}))
    assert (post.text, post.date) == (text, "")


def test_keys_of_the_front_matter_are_named(tmp_path) -> None:
    folder = write(tmp_path, **{"ann/a.md": "---\npublished: 2004-05-14\ncategory: Arts\n---\nText."})
    (post,) = read(folder, columns={"date": "published", "topic": "category"})
    assert (post.date, post.topic, post.text) == ("2004-05-14", "Arts", "Text.")
    assert "'author' is not one of date, topic" in refusal(read, folder, columns={"author": "by"})


def test_hidden_files_and_files_of_other_kinds_are_not_read_and_are_said(tmp_path, capsys) -> None:
    files = {"ann/a.txt": "Text.", "ann/.a.txt.swp": "x", "ann/.git/b.txt": "x", "ann/b.docx": "x", "readme.pdf": "x"}
    assert [post.text for post in read(write(tmp_path, **files))] == ["Text."]
    said = "2 files are not read, because their names do not end in .txt, .md, .markdown, .mdx, .html, .htm; the first"
    assert said in capsys.readouterr().err


def test_quotations_and_code_are_cut(tmp_path, capsys) -> None:
    markdown = (
        "+++\ndate = 2004-05-14\n+++\nMine.\n\n> Somebody's,\nwith a lazy line.\n\n"
        "```python\n> x = 1\n\n```\nMine too: a > b.\n~~~\nnever closed\n"
    )
    page = "<html><head><title>No</title></head><body><p>Mine &amp; ours.<p>End.<blockquote>Not.</blockquote></body>"
    folder = write(tmp_path, **{"ann/a.md": markdown, "ann/b.html": page, "ann/c.txt": "> kept in plain text"})
    assert [(post.date, post.text.split()) for post in read(folder)] == [
        ("2004-05-14", ["Mine.", "Mine", "too:", "a", ">", "b."]),
        ("", ["Mine", "&", "ours.", "End."]),
        ("", [">", "kept", "in", "plain", "text"]),
    ]
    assert capsys.readouterr().err == f"{folder}: 3 of 3 make 3 posts; left out: nothing; cut: code 2, quoted 2\n"
    found = list(items(Files(folder), ReaderSettings()))
    assert [[(cut.reason, cut.text.split()[0]) for cut in item.cuts] for item in found] == [
        [("quoted", ">"), ("code", "```python"), ("code", "~~~")],
        [("quoted", "Not.")],
        [],
    ]
    assert found[1].text == "Mine & ours.\n\nEnd."


def test_as_an_export_a_folder_is_of_one_person(tmp_path) -> None:
    fronts = {"b/draft.md": "---\ndraft: true\n---\nUnfinished.", "guest.md": "---\nauthor: 'Bob'\n---\nHis."}
    folder = write(tmp_path, **{"2004-05-14.md": "Mine."}, **fronts)
    found = list(items(Files(folder), ReaderSettings()))
    assert [item.author for item in found] == ["", "", "Bob"]
    assert [(item.text, item.left_out) for item in found] == [("Mine.", ""), ("Unfinished.", "draft"), ("His.", "")]
    assert str(found[0].moment) == "2004-05-14 00:00:00"


@pytest.mark.parametrize(
    ("front", "date", "authors", "left_out"),
    [
        ("---\ntitle: A walk\ncover:\n  image: a.jpg\n  alt: a path\ndate: 2014-07-22\n---\n", "2014-07-22", (), ""),
        ("---\ndescription: We came\n  home late\ndate: 2018-08-15\ndraft: false\n---\n", "2018-08-15", (), ""),
        ("---\n# by hand\n\ntext: |\n  one\n\n  two\ndate: 2019-01-02\n---\n", "2019-01-02", (), ""),
        ('{\n  "date": "2019-01-03",\n  "tags": ["a"]\n}\n\n', "2019-01-03", (), ""),
        ('+++\ndate = 2019-01-03\n[extra]\nauthors = "x"\n+++\n', "2019-01-03", (), ""),
        ("+++\ndraft = true\n+++\n", "", (), "draft"),
        ("---\npublished: false\n---\n", "", (), "draft"),
        ("---\nauthor: Bo Fox\n---\n", "", ("Bo Fox",), ""),
        ("---\nauthor: Bo Fox\n...\n", "", ("Bo Fox",), ""),  # as Pandoc writes it
        ("---\nauthors:\n  - name: Bo Fox\n---\n", "", ("Bo Fox",), ""),
        ("---\nauthors: [Bo Fox, Ann Lee]\n---\n", "", ("Bo Fox", "Ann Lee"), "several authors"),
        ('+++\n[taxonomies]\nauthors = ["Bo Fox"]\n+++\n', "", ("Bo Fox",), ""),  # Zola
        ("---\nparams:\n  author: Bo Fox\n---\n", "", ("Bo Fox",), ""),  # Hugo
        ("Date: 2019-01-03\nAuthor: Bo Fox\nStatus: draft\n\n", "2019-01-03", ("Bo Fox",), "draft"),  # Pelican
        ("---\n---\n", "", (), ""),
        ("---\n# nothing yet\n---\n", "", (), ""),
        ("---\ntitle: one: two\n---\n", "", (), ""),  # cannot be parsed: it is no text all the same
        ("---\na: &a [x]\nb: " + "[" * 5000 + "\n---\n", "", (), ""),
    ],
)
def test_front_matter_of_many_programs(tmp_path, front, date, authors, left_out) -> None:
    file = text_file(write(tmp_path, **{"a.md": f"{front}The rain had stopped.\n"}), Path("a.md"), ReaderSettings())
    assert file.text.strip() == "The rain had stopped."
    assert (file.keys.get("date", ""), file.authors, file.left_out) == (date, authors, left_out)


def test_front_matter_that_cannot_be_parsed_is_counted(tmp_path, capsys) -> None:
    write(tmp_path, **{"ann/a.md": "---\ntitle: one: two\n---\nText.", "ann/_drafts/b.md": "Not yet."})
    assert [post.text for post in read(tmp_path)] == ["Text."]
    assert "1 of 2 make 1 posts; left out: draft 1; cut: front matter that cannot be read 1" in capsys.readouterr().err


def test_mdx_without_its_program(tmp_path) -> None:
    text = 'import A from "a"\nexport const b = {\n  c: 1,\n}\n\n# Hi\n\n<Note kind="x">\nMine.\n</Note>\n'
    file = text_file(write(tmp_path, **{"a.mdx": text}), Path("a.mdx"), ReaderSettings())
    assert (file.text.split(), [cut.reason for cut in file.cuts]) == (["#", "Hi", "Mine."], ["code"] * 3)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("chat.txt", "22:30, 06/08/2018 - Ann: hi\n22:31, 06/08/2018 - Bo: hello\nmore\n", "looks like a chat"),
        ("m.html", '<div class="page_body chat_page"><div class="from_name">Ann</div>hi</div>', "is Telegram's HTML"),
        ("m.txt", "From: Ann <a@x.org>\nTo: Bo\nSubject: hi\n\nText", "looks like a mail; name it .eml"),
        ("data/js/tweets/2012_01.js", "Grailbird.data = []", "is an archive of Twitter from before 2019"),
    ],
)
def test_exports_of_several_people_are_not_texts_of_one(tmp_path, name, text, message) -> None:
    write(tmp_path, **{"ann/a.txt": "Mine.", f"ann/{name}": text})
    for reading in (lambda: read(tmp_path), lambda: list(items(Files(tmp_path), ReaderSettings()))):
        with pytest.raises(UserError, match=message):
            reading()


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"a.txt": "x", "ann/b.txt": "y"}, "a.txt is in no author's folder; move it into one, or remove it"),
        ({"ann/a.pdf": "x"}, "holds no text file (.txt, .md, .markdown, .mdx, .html, .htm)"),
        ({"ann/a.txt": b"caf\xe9"}, "ann/a.txt: line 1: byte 3 is not utf-8; set the corpus key 'encoding' to"),
        ({"ann/a.txt": b"a\0b"}, "ann/a.txt holds a NUL, so it is not one post's text"),
        ({"ann/a.txt": "one two".encode("utf-16-le")}, "ann/a.txt: is utf-16-le, not utf-8; save it as utf-8"),
        ({"ann/a.txt": "a b".encode("utf-16")}, "a.txt: is utf-16, not utf-8; save it as utf-8, or set the corpus key"),
        ({"ann/a.txt": "x" * 101}, "ann/a.txt is longer than 100 characters"),
        ({"ann/a\nb.txt": b"\xff"}, "'ann/a\\nb.txt': line 1: byte 0 is not"),
    ],
)
def test_bad_folders_are_refused_in_one_line(tmp_path, files, message) -> None:
    assert message in refusal(read, write(tmp_path / "posts", **files), maximum_field_characters=100)


def test_what_is_not_a_folder_or_cannot_be_read(tmp_path, capsys) -> None:
    (tmp_path / "posts.txt").write_text("x")
    for path in (tmp_path / "posts.txt", tmp_path / "none"):
        assert "is not a folder; give one that holds a folder of text files per author" in refusal(read, path)
    (post,) = read(write(tmp_path / "latin", **{"ann/a.txt": b"caf\xe9"}), encoding="latin-1")
    assert post.text == "café"
    loop = write(tmp_path / "loop", **{"ann/a.txt": "Text."})
    (loop / "ann" / "again").symlink_to(loop)
    (loop / "ann" / "gone.txt").symlink_to(tmp_path / "nowhere")
    os.mkfifo(loop / "ann" / "pipe.txt")
    capsys.readouterr()
    assert [post.text for post in read(loop)] == ["Text."]
    assert "2 links lead to folders or to nothing and are not read; " in capsys.readouterr().err


@pytest.mark.parametrize(
    "mark", ["*** START OF THE PROJECT GUTENBERG EBOOK A\nBOOK ***", "***START OF THIS PROJECT GUTENBERG EBOOK A***"]
)
def test_the_licence_of_project_gutenberg_is_cut(tmp_path, capsys, mark) -> None:
    end = "End of the Project Gutenberg EBook of A\n\n" + mark.replace("START", "END")
    text = f"Project Gutenberg eBook of A\nTitle: A\n\n{mark}\n\nIt rained.\n\n*** \n\nIt stopped.\n\n{end}\nlicence"
    (post,) = read(write(tmp_path, **{"ann/a.txt": text}))
    assert post.text.split() == ["It", "rained.", "***", "It", "stopped."]
    assert "cut: licence 1" in capsys.readouterr().err
