"""A blog of WordPress as its WXR file (XML). Authors are its accounts; comments are other people's."""

import re
from collections.abc import Iterator
from xml.parsers import expat

from favor.corpora.posts import ReaderSettings
from favor.exports.files import Files
from favor.exports.items import Cut, Export, Item, moment_of
from favor.exports.markup import html_text

COLUMNS: dict[str, str] = {}
_NAMESPACE = b"wordpress.org/export/"
_RECORDS = ("item", "wp:author", "wp:comment")
_PUBLISHED = ("publish", "private", "inherit")
_CAPTION = re.compile(r"\[caption\b[^\]\n]{0,999}\](?P<text>(?:(?!\[caption\b).)*?)\[/caption\]", re.DOTALL)
_CODE = re.compile(
    r"\[(?P<kind>code|sourcecode)\b[^\]\n]{0,99}\](?P<text>(?:(?!\[(?P=kind)\b).)*?)\[/(?P=kind)\]", re.DOTALL
)
_EMBEDDED = re.compile(
    r"\[embed\b[^\]\n]{0,99}\][^\[]*\[/embed\]|\[/?(?:gallery|audio|video|playlist|youtube|vimeo|contact-form)\b[^\]\n]*\]",
    re.DOTALL,
)


class _Reader:
    """Gathers the texts of the fields of every record. An entity that a file declares itself is refused."""

    def __init__(self) -> None:
        self.found: list[tuple[str, dict[str, str], list[str]]] = []  # kind, fields, comments
        self._open: list[tuple[str, dict[str, str], list[str]]] = []
        self._text: list[str] = []
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._text.append
        self.parser.StartDoctypeDeclHandler = self._refuse

    def _refuse(self, *_: object) -> None:
        raise ValueError("it declares a document type, which WordPress does not and which may hide entities")

    def _start(self, name: str, _: dict[str, str]) -> None:
        self._text.clear()
        if name in _RECORDS:
            self._open.append((name, {}, []))

    def _end(self, name: str) -> None:
        if name in _RECORDS:
            record = self._open.pop()
            if name == "wp:comment" and self._open:
                self._open[-1][2].append(record[1].get("wp:comment_content", ""))
            else:
                self.found.append(record)
        elif self._open:
            self._open[-1][1].setdefault(name, "".join(self._text))
        self._text.clear()


def matches(files: Files) -> bool:
    """Whether there is a WXR file."""
    return bool(_blogs(files))


def _blogs(files: Files) -> list[str]:
    return [name for name in files.find(r".*\.xml") if _NAMESPACE in files.head(name)]


def items(files: Files, settings: ReaderSettings) -> Iterator[Item]:
    """Yield the posts in file order. Pages and drafts are left out."""
    for name in _blogs(files):
        reader = _Reader()
        try:
            reader.parser.Parse(files.read(name), True)
        except (expat.ExpatError, ValueError, LookupError) as error:
            raise files.broken(name, f"cannot be read as XML ({error})") from None
        names = {
            fields.get("wp:author_login", ""): tuple(
                filter(None, (fields.get("wp:author_display_name"), fields.get("wp:author_email")))
            )
            for kind, fields, _ in reader.found
            if kind == "wp:author"
        }
        for kind, fields, comments in reader.found:
            if kind == "item" and fields.get("wp:post_type") in ("post", "page"):
                author = fields.get("dc:creator", "")
                yield _post(fields, comments, author, names.get(author, ()))


def _post(fields: dict[str, str], comments: list[str], author: str, names: tuple[str, ...]) -> Item:
    source = _EMBEDDED.sub("", fields.get("content:encoded", ""))
    cuts = [Cut("caption", html_text(found["text"])[0]) for found in _CAPTION.finditer(source)]
    cuts += [Cut("code", found["text"].strip()) for found in _CODE.finditer(source)]
    # A line break of the source is one on the page.
    text, marked = html_text(_CODE.sub("", _CAPTION.sub("", source)), keep_lines=True)
    cuts += [*marked, *(Cut("comment", html_text(comment)[0]) for comment in comments)]
    left_out = "" if fields.get("wp:status") in _PUBLISHED else "draft"
    return Item(
        author,
        text,
        moment_of(fields.get("wp:post_date")),
        f"post {fields.get('wp:post_id', '').strip()}",
        names,
        cuts=tuple(cut for cut in cuts if cut.text),
        left_out="page" if fields["wp:post_type"] == "page" else left_out,
    )


EXPORT = Export("a blog of WordPress (WXR, .xml)", matches, items)
read = EXPORT.read
