"""Blogs: Medium, WordPress and Substack."""

import shutil
from pathlib import Path

import pytest
from tests.exports.conftest import DATA, read, refusal

from favor.corpora.posts import ReaderSettings, open_reader
from favor.exports.markup import html_text


def cuts(item) -> list[tuple[str, str]]:
    return [(cut.reason, cut.text) for cut in item.cuts]


def archive(folder, path) -> Path:
    return Path(shutil.make_archive(str(path), "zip", folder))


@pytest.mark.parametrize("packed", [False, True])
def test_medium(tmp_path, packed) -> None:
    name, found = read(archive(DATA / "medium", tmp_path / "m") if packed else DATA / "medium")
    assert name == "medium"
    assert [(item.text, item.left_out, str(item.moment)[:10]) for item in found] == [
        ("Boats\n\nI like\nboats & ropes.\n\nThe end.", "", "2019-05-14"),
        ("I agree.", "", "2019-06-01"),
        ("", "unreadable", "2019-07-01"),
        ("Not yet.", "draft", "2019-05-14"),
    ]
    assert cuts(found[0]) == [
        ("caption", "Photo by Bob"),
        ("quoted", "A ship is safe in harbour."),
        ("code", "x = 1"),
        ("quoted", "Her article by Eve"),
    ]
    assert cuts(found[1]) == [("quoted", "His highlight")]
    assert (found[0].author, found[0].names) == ("zoe_l", ("Zoé Lee",))


@pytest.mark.parametrize("inner", ["", "posts"])
def test_medium_posts_alone_are_known(tmp_path, inner) -> None:
    shutil.copytree(DATA / "medium" / "posts", tmp_path / "posts")
    name, found = read(tmp_path / inner)
    assert (name, [item.left_out for item in found]) == ("medium", ["", "", "unreadable", "draft"])


@pytest.mark.parametrize("packed", [False, True])
def test_substack(tmp_path, packed) -> None:
    name, found = read(archive(DATA / "substack", tmp_path / "s") if packed else DATA / "substack")
    assert name == "substack"
    assert [(item.author, item.text, item.left_out, str(item.moment)[:10]) for item in found] == [
        ("", "I like boats.\n\nropes\n\nknots", "", "2021-05-14"),
        ("", "Not yet.", "draft", "None"),
        ("", "", "without a page", "2021-06-01"),
    ]
    assert cuts(found[0]) == [
        ("boilerplate", "Thanks for reading! Subscribe for free."),
        ("quoted", "Words of a tweet"),
        ("caption", "By Bob"),
        ("boilerplate", "Subscribe now"),
    ]


def test_wordpress() -> None:
    name, found = read(DATA / "wordpress.xml")
    assert name == "wordpress"
    assert [(item.author, item.text, item.left_out, str(item.moment)) for item in found] == [
        ("zlee", "First line\nsecond line [sic].\n\nEnd & out.", "", "2013-05-14 10:20:30"),  # lines of the source
        ("zlee", "A block “post”.", "", "2014-05-14 10:20:30"),
        ("zlee", "About me", "page", "2013-01-01 00:00:00"),
        ("zlee", "Not yet", "draft", "None"),
        ("zlee", "picture", "attachment", "2013-01-01 00:00:00"),
        ("bob", "Guest post", "", "2013-01-01 00:00:00"),
    ]
    first = {"caption": "Photo by Bob", "code": "x = 1", "quoted": "Words of Eve", "comment": "Bob says hello"}
    assert cuts(found[0]) == list(first.items())
    assert cuts(found[1]) == [("quoted", "Quoted block\n\nEve")]
    assert found[0].names == ("Zoë Lee", "zoe@example.org")


def test_a_list_of_posts_with_an_open_quote_is_refused(tmp_path) -> None:
    """It would hold the posts after it, and the post before it would count as a draft."""
    shutil.copytree(DATA / "substack", tmp_path / "s")
    listed = tmp_path / "s" / "posts.csv"
    listed.write_text(listed.read_text().replace("boats,", 'boats,"', 1))
    assert "posts.csv: is broken off at line 2 (',' expected after '\"')" in refusal(read, tmp_path / "s")


BOMB = '<!DOCTYPE rss [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]>'


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("<rss", f"{BOMB}<rss"), "declares a document type, which WordPress does not and which may hide entities"),
        (("<rss", '<!DOCTYPE rss SYSTEM "file:///etc/passwd"><rss'), "declares a document type"),
        (("About me", "About &me; ]]>&me;"), "cannot be read as XML (Entity 'me' not defined"),
        (("</channel></rss>", ""), "cannot be read as XML (Premature end of data"),
        (("UTF-8", "x-none"), "cannot be read as XML (Unsupported encoding: x-none"),
        (("About me", "About\b me"), "cannot be read as XML (CData section not finished, line "),
        (("Zoë", "Zo\udcff"), "cannot be read as XML (Invalid bytes in character encoding"),
    ],
)
def test_broken_xml_ends_in_one_line(tmp_path, change, message) -> None:
    text = (DATA / "wordpress.xml").read_text(encoding="utf-8").replace(*change, 1)
    (tmp_path / "blog.xml").write_bytes(text.encode("utf-8", "surrogateescape"))
    said = refusal(read, tmp_path / "blog.xml")
    assert message in said
    assert said.isprintable()


@pytest.mark.parametrize(
    ("html", "own"),
    [
        ("a<p>b<p>c</div>d", "a\n\nb\n\ncd"),  # an end that nothing began
        ("<blockquote>x<b>y</blockquote>z", "z"),
        ("<div>a<blockquote>never closed</div>b", "a\n\nb"),
        ("a &lt;b&gt; &#8212; c", "a <b> — c"),
        ("<script>1 < 2</script><style>p</style>a<!-- b -->", "a"),
        ("a<br/>b<br>c", "a\nb\nc"),
        ("a<!--[if mso]><p>x</p><![endif]-->b<![if !supportLists]>c<![endif]>d<![CDAT[e]]>f", "abcdf"),
        ("<table><tr><th>a</th><td>b</td></tr><tr><td>c</td></tr></table>", "a\n\nb\n\nc"),
        ("<html><head><title>t</title></head><body>a</body></html>b<p>c", "ab\n\nc"),  # a list adds its footer
        ("<?xml version='1.0' encoding='latin-1'?>a<meta charset='cp1251'>é\0", "aé\ufffd"),
        ("<!-- nothing -->", ""),
        ("<div>" * 2100 + "a", ""),  # which is counted as a cut
    ],
)
def test_html_that_is_not_well_formed(html, own) -> None:
    assert html_text(html)[0] == own


@pytest.mark.parametrize(("encoding", "before"), [("utf-16", ""), ("utf-8-sig", ""), ("utf-8", "\n\n")])
def test_a_blog_in_another_encoding(tmp_path, encoding, before) -> None:
    text = (DATA / "wordpress.xml").read_text(encoding="utf-8").replace("UTF-8", encoding.removesuffix("-sig"))
    (tmp_path / "a.xml").write_text(before + text, encoding=encoding)
    assert read(tmp_path / "a.xml") == read(DATA / "wordpress.xml")


def test_blogs_are_corpora(tmp_path, capsys) -> None:
    archive(DATA / "substack", tmp_path / "zoe")
    shutil.copytree(DATA / "substack", tmp_path / "eve")
    found = list(open_reader("substack").read(tmp_path, ReaderSettings()))
    assert [post.author for post in found] == ["eve", "zoe"]  # called as the export is
    said = "2 of 6 make 2 posts; left out: draft 2, without a page 2; cut: boilerplate 4, caption 2, quoted 2"
    assert said in capsys.readouterr().err
    found = open_reader("wordpress").read(DATA / "wordpress.xml", ReaderSettings())
    assert {post.author for post in found} == {"zlee", "bob"}
    assert len(list(open_reader("medium").read(DATA / "medium", ReaderSettings()))) == 2
