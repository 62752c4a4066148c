"""The original corpus' files: not well-formed XML, mixed encodings, missing tags."""

import zipfile
from pathlib import Path

import pytest

from favor.corpora.posts import RawPost, ReaderSettings, open_reader
from favor.foundation.errors import UserError

UTF8 = """<Blog>

<date>31,May,2004</date>
<post>

 Tom & Jerry <3 café
</post>
<date>1,June,2004</date>
<post></post>
</Blog>"""
CP1252 = (
    b"<Blog><date>14,May,2004</date><post>it\x92s a na\xefve \x93test\x94\0</post>"
    b"<date>15,May,2004</date><post>two</post></Blog>"
)


BIG5 = "我們今天去了台北，天氣很好".encode("big5")


def read(path, encoding=None) -> list[RawPost]:
    return list(open_reader("blog_xml").read(path, ReaderSettings(encoding=encoding)))


def blog(folder, *posts) -> Path:
    content = b"".join(b"<date>d</date><post>" + post + b"</post>" for post in posts)
    (folder / "5.female.23.Arts.Leo.xml").write_bytes(b"<Blog>" + content + b"</Blog>")
    return folder


@pytest.fixture
def folder(tmp_path) -> Path:
    path = tmp_path / "blogs"
    path.mkdir()
    (path / "5.female.23.Arts.Leo.xml").write_text(UTF8, encoding="utf-8")
    (path / "12.male.17.indUnk.Virgo.xml").write_bytes(CP1252)
    (path / ".DS_Store").write_bytes(b"x")
    return path


def test_a_link_to_nothing_is_no_file_that_is_passed_over(folder) -> None:
    (folder / "5.male.20.x.y.xml").symlink_to("nowhere")
    with pytest.raises(UserError, match=r"5\.male\.20\.x\.y\.xml: is a link to nothing; fetch the file"):
        read(folder)


def test_folder_and_zip_read_alike(tmp_path, folder) -> None:
    posts = read(folder)
    # Names sort as text: "12..." before "5...".
    assert [(post.author, post.topic, post.date) for post in posts] == [
        ("12", "indUnk", "14,May,2004"),
        ("12", "indUnk", "15,May,2004"),
        ("5", "Arts", "31,May,2004"),
        ("5", "Arts", "1,June,2004"),
    ]
    assert posts[0].text == "it’s a naïve “test”"  # cp1252 bytes 92, ef, 93, 94; the NUL is gone
    assert posts[2].text.strip() == "Tom & Jerry <3 café"
    assert posts[3].text == ""
    assert posts[1].row_label == "12.male.17.indUnk.Virgo.xml, post 2"
    archive = tmp_path / "blogs.zip"
    with zipfile.ZipFile(archive, "w") as file:
        for path in folder.iterdir():
            file.write(path, f"blogs/{path.name}")
    assert [post[:5] for post in read(archive)] == [post[:5] for post in posts]


@pytest.mark.parametrize(
    ("content", "texts"),
    [
        ("<Blog><date>d</date><post>a</post><post>b</post></Blog>", ["a", "b"]),
        ("<Blog><date>d</date><post>a<date>e</date>\n<post>b</post></Blog>", ["a", "b"]),  # unclosed post
        ("<Blog><date>d</date><post>a</Blog>\n", ["a"]),
        ('<Blog><date type="x">d</date><post id="1">a</post ><post\nid="2">b</post></Blog>', ["a", "b"]),  # attributes
        ("<Blog><date>d</date><post>cut off", ["cut off"]),
        ("<Blog><date>d<post>a</post></Blog>", ["a"]),  # unclosed date
        ("<BLOG><DATE>d</DATE><POST>1 < 2 && 3 > 2 ]]> <b>x</B></POST></BLOG>", ["1 < 2 && 3 > 2 ]]> <b>x</B>"]),
        (
            "<Blog><date>d</date><post>a literal <date> and <post> stay</post></Blog>",
            ["a literal <date> and <post> stay"],
        ),
        ("<Blog></Blog>", []),
    ],
)
def test_malformed_entries(tmp_path, content, texts) -> None:
    (tmp_path / "5.female.23.Arts.Leo.xml").write_text(content)
    assert [post.text for post in read(tmp_path)] == texts


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        (None, b"", r"holds no \.xml file"),
        ("5.female.23.Arts.Leo.xml", b"\0\0 ", r"5\.female\.23\.Arts\.Leo\.xml' holds neither <Blog> nor <post>"),
        ("5.female.23.Arts.Leo.xml", b"<html>not found</html>", "neither <Blog> nor <post>"),
        ("notes.xml", b"<Blog>", r"'notes\.xml' is not named"),
        ("../none.zip", b"no zip", r"holds no \.xml file"),
        ("../none.zip", None, "not found; check"),
    ],
)
def test_bad_input_names_the_file(tmp_path, name, content, problem) -> None:
    folder = tmp_path / "blogs"
    folder.mkdir()
    path = tmp_path / "none.zip" if name == "../none.zip" else folder
    if name and content is not None:
        (folder / name).write_bytes(content)
    elif name and path == folder:
        (folder / name).mkdir()
    with pytest.raises(UserError, match=problem):
        read(path)


def test_a_stray_byte_garbles_no_other_post_and_nothing_else_in_its_own(tmp_path) -> None:
    posts = read(blog(tmp_path, "naïve “café”".encode(), b"it\x92s", "naïve, ".encode() + b"it\x92s a caf\xe9"))
    assert [post.text for post in posts] == ["naïve “café”", "it’s", "naïve, it’s a café"]
    assert not any(post.unreadable for post in posts)


@pytest.mark.parametrize(
    ("content", "encoding", "text"),
    [
        (BIG5, None, None),
        (BIG5, "utf-8", None),
        (BIG5, "big5", "我們今天去了台北，天氣很好"),
        ("мы были в Москве".encode("cp1251"), None, None),
        ("мы были в Москве".encode("cp1251"), "cp1251", "мы были в Москве"),
        (b"I met " + BIG5, None, None),
        (b"caf\xe9", "utf-8", None),
        (b"caf\xe9", None, "café"),
        (b"tr\xe8s", None, "très"),
        ("Müüüde! Schöne Grüße".encode("cp1252"), None, "Müüüde! Schöne Grüße"),
        ("«Çok güzel», dedi".encode("cp1252"), None, "«Çok güzel», dedi"),
        (b"\x81\x8d\x8f", None, None),  # not in cp1252
    ],
)
def test_a_post_that_is_plausible_in_no_encoding_is_unreadable(tmp_path, content, encoding, text) -> None:
    posts = read(blog(tmp_path, content, b"plain"), encoding)
    assert [(post.text, post.unreadable) for post in posts] == [(text or "", text is None), ("plain", False)]


def test_text_outside_of_posts_is_counted(tmp_path, capsys) -> None:
    read(blog(tmp_path, b"one", b" two "))
    assert not capsys.readouterr().err
    assert [post.text for post in read(blog(tmp_path, b"I wrote </post> by hand <b>and</b> on", b"two</post> end"))]
    said = capsys.readouterr().err
    assert "outside of posts at 2 places was left out; the first is 5.female.23.Arts.Leo.xml, behind post 1:" in said


def test_encodings_that_are_none_and_columns_are_refused(tmp_path) -> None:
    with pytest.raises(UserError, match="encoding 'rot13' is unknown or not one of text"):
        read(blog(tmp_path, b"x"), "rot13")
    with pytest.raises(UserError, match="'text' is not one of"):
        list(open_reader("blog_xml").read(tmp_path, ReaderSettings(columns={"text": "body"})))
