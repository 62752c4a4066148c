"""A blog of WordPress as its WXR file (XML). Authors are its accounts; comments are other people's."""

import re
from collections.abc import Iterator

from lxml import etree

from favor.corpora.posts import ReaderSettings
from favor.exports.files import Files
from favor.exports.items import Cut, Export, Item, moment_of
from favor.exports.markup import html_text
from favor.foundation.names import printable

COLUMNS: dict[str, str] = {}
_NAMESPACE = b"wordpress.org/export/"
_PUBLISHED = ("publish", "private", "inherit")
_CAPTION = re.compile(r"\[caption\b[^\]\n]{0,999}\](?P<text>(?:(?!\[caption\b).)*?)\[/caption\]", re.DOTALL)
_CODE = re.compile(
    r"\[(?P<kind>code|sourcecode)\b[^\]\n]{0,99}\](?P<text>(?:(?!\[(?P=kind)\b).)*?)\[/(?P=kind)\]", re.DOTALL
)
_EMBEDDED = re.compile(
    r"\[embed\b[^\]\n]{0,99}\][^\[]*\[/embed\]|\[/?(?:gallery|audio|video|playlist|youtube|vimeo|contact-form)\b[^\]\n]*\]",
    re.DOTALL,
)


def _blogs(files: Files) -> list[str]:
    return [name for name in files.find(r".*\.xml") if _NAMESPACE in files.head(name).replace(b"\0", b"")]


def items(files: Files, settings: ReaderSettings) -> Iterator[Item]:
    """Yield what a blog holds in file order. Pages, drafts, attachments and the like are left out."""
    for name in _blogs(files):
        parser = etree.XMLParser(resolve_entities=False, remove_comments=True, remove_pis=True)
        try:
            blog = etree.fromstring(files.read(name).lstrip(), parser)
        except (etree.XMLSyntaxError, ValueError, LookupError) as error:
            raise files.broken(name, f"cannot be read as XML ({_reason(error)})") from None
        if blog.getroottree().docinfo.doctype:
            raise files.broken(name, "declares a document type, which WordPress does not and which may hide entities")
        names: dict[str, tuple[str, ...]] = {}
        for person in map(_fields, blog.iter("{*}author")):
            called = (person.get("author_display_name"), person.get("author_email"))
            names[person.get("author_login", "")] = tuple(filter(None, called))
        for record in blog.iter("item"):
            fields = _fields(record)
            comments = [_fields(comment).get("comment_content", "") for comment in record.iter("{*}comment")]
            author = fields.get("creator", "")
            yield _post(fields, comments, author, names.get(author, ()))


def _reason(error: Exception) -> str:
    """Return what is wrong and where, in one line without the text that the parser quotes."""
    message, *more = str(getattr(error, "msg", error)).splitlines()
    return f"{message}, line {more[-1].rpartition(', line ')[2]}" if more else message


def _fields(record: etree._Element) -> dict[str, str]:
    """Return the texts of a record by name; what only an excerpt has is not among them."""
    fields: dict[str, str] = {}
    for child in record:
        name = etree.QName(child)
        if "/excerpt/" not in (name.namespace or ""):
            fields.setdefault(name.localname, child.text or "")
    return fields


def _post(fields: dict[str, str], comments: list[str], author: str, names: tuple[str, ...]) -> Item:
    source = _EMBEDDED.sub("", fields.get("encoded", ""))
    cuts = [Cut("caption", html_text(found["text"])[0]) for found in _CAPTION.finditer(source)]
    cuts += [Cut("code", found["text"].strip()) for found in _CODE.finditer(source)]
    # A line break of the source is one on the page.
    text, marked = html_text(_CODE.sub("", _CAPTION.sub("", source)), keep_lines=True)
    cuts += [*marked, *(Cut("comment", html_text(comment)[0]) for comment in comments)]
    kind = fields.get("post_type", "") or "of unknown type"
    left_out = "" if fields.get("status") in _PUBLISHED else "draft"
    return Item(
        author,
        text,
        moment_of(fields.get("post_date")),
        f"post {fields.get('wp:post_id', '').strip()}",
        names,
        cuts=tuple(cut for cut in cuts if cut.text),
        left_out=left_out if kind == "post" else printable(kind),
    )


EXPORT = Export("a blog of WordPress (WXR, .xml)", _blogs, items)
read = EXPORT.read
