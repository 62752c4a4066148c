"""The Blog Authorship Corpus as first published: a folder or zip of {id}.{gender}.{age}.{topic}.{sign}.xml.

The files are not well-formed XML (stray &, <, control characters, no declaration), their posts are UTF-8, cp1252 or
both at once, some are in East Asian encodings and some hold NULs. So they are scanned for their <date> and <post>
elements by a tolerant expression and never parsed as XML, and every post is decoded by itself.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from favor.corpora.posts import RawPost, ReaderSettings
from favor.corpora.sources import known_encoding
from favor.exports.files import Files
from favor.foundation.errors import UserError
from favor.foundation.names import printable

ENCODING = "cp1252"
COLUMNS: dict[str, str] = {}  # the format has none to name
FILE_NAME = re.compile(r"(?P<author>[^.]+)\.(?P<gender>[^.]*)\.(?P<age>[^.]*)\.(?P<topic>[^.]*)\.(?P<sign>[^.]*)\.xml")
# A post ends at its closing tag; where that is missing, at the next entry's date or the end of the file. Tags may have
# attributes.
ENTRY = re.compile(
    r"<date(?:\s[^<>]*)?>(?P<date>[^<]*)(?:</date\s*>)?"
    r"|<post(?:\s[^<>]*)?>(?P<post>.*?)"
    r"(?:</post\s*>|(?=<date(?:\s[^<>]*)?>[^<]{0,40}</date\s*>\s*<post[\s>])|</Blog>\s*\Z|\Z)",
    re.DOTALL | re.IGNORECASE,
)
NOT_UTF8 = re.compile("[\udc80-\udcff]+")  # bytes that are not UTF-8, as Python's "surrogateescape" keeps them
# East Asian text read as cp1252 is full of runs like "§ÚÌ", and where two of its bytes happen to be UTF-8, of runs that
# mix them with other scripts. No language has them: of the upper half of Latin-1, « and » alone stand beside others.
SIGNS = re.compile("[\xa1-\u07ff]+|\ufffd")
LATIN_SIGNS = frozenset(map(chr, range(0xA1, 0x100))) - set("«»")
MOST_GARBLED, MOST_LATIN_SIGNS = 0.02, 0.4  # of a post's characters other than spaces
FEW_LATIN_SIGNS = 3  # that many say nothing: a post may be "très" alone


def read(path: Path, settings: ReaderSettings) -> Iterator[RawPost]:
    """Yield the posts of every blog file, files in name order, posts in file order.

    A post is UTF-8 where it can be. Else what is not UTF-8 in it is read in ``settings.encoding`` (cp1252 where None);
    where that makes no plausible text either, the post is ``unreadable``. Raises ``UserError`` where nothing is found,
    a name has not the five parts, or a file is empty or holds no blog.
    """
    settings.column_names(COLUMNS)
    encoding = known_encoding(settings.encoding or ENCODING)
    cut: list[str] = []
    loose: list[str] = []
    for name, content in _blogs(path):
        parts = FILE_NAME.fullmatch(PurePosixPath(name).name)
        name = printable(name)
        if parts is None:
            raise UserError(f"{path}: '{name}' is not named id.gender.age.topic.sign.xml; rename or remove it")
        # Bytes that are not UTF-8 are kept, and read when their post is known.
        text = content.decode("utf-8-sig", "surrogateescape").replace("\0", "")
        if not re.search(r"<(?:Blog|post)\b", text, re.IGNORECASE):
            raise UserError(f"{path}: '{name}' holds neither <Blog> nor <post>; fetch it again or remove it")
        if not re.search("</Blog>", text, re.IGNORECASE):
            cut.append(name)
        date, number, end = "", 0, 0
        for entry in ENTRY.finditer(text):
            if _is_loose(text[end : entry.start()]):
                loose.append(f"{name}, behind post {number}")
            end = entry.end()
            if entry["post"] is None:
                date = entry["date"].strip()
            else:
                number += 1
                post = _decoded(entry["post"], encoding)
                label = f"{name}, post {number}"
                yield RawPost(parts["author"], parts["topic"], "", post or "", date, label, post is None)
                date = ""
        if _is_loose(text[end:]):
            loose.append(f"{name}, behind post {number}")
    if loose:
        print(
            f"{path}: text outside of posts at {len(loose):,} places was left out; the first is {loose[0]}: look for "
            "</post> in the middle of a post",
            file=sys.stderr,
        )
    if cut:
        print(
            f"{path}: {len(cut):,} files end before </Blog>, so posts may be missing; the first is '{cut[0]}'; "
            "fetch them again",
            file=sys.stderr,
        )


def _is_loose(between: str) -> bool:
    """Return whether there is text, and not tags alone, between two entries."""
    return bool(re.sub("<[^<>]*>", "", between).strip())


def suspicions(path: Path) -> Iterator[str]:
    """Yield a line on the files that end before ``</Blog>``, if any do."""
    cut = sum(not re.search(b"</Blog>", content.replace(b"\0", b""), re.IGNORECASE) for _, content in _blogs(path))
    if cut:
        yield f"{cut:,} files end before </Blog>, so posts may be missing; the log of build_documents names the first"


def _decoded(post: str, encoding: str) -> str | None:
    """Return a post with its bytes that are not UTF-8 read in ``encoding``; None where that is not plausible text.

    A post in an encoding of one byte a sign may hold UTF-8 too, so only those bytes are read in it; in an encoding of
    several bytes a sign the whole post is.
    """
    if post.isascii() or not NOT_UTF8.search(post):
        return post
    try:
        if len(bytes(range(256)).decode(encoding, "replace")) == 256:
            text = NOT_UTF8.sub(lambda found: _bytes(found[0]).decode(encoding, "replace"), post)
        else:
            text = _bytes(post).decode(encoding)
    except UnicodeError:
        return None
    return text if _plausible(text) else None


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _plausible(text: str) -> bool:
    garbled = signs = 0
    for run in SIGNS.findall(text):
        latin = [character for character in run if character in LATIN_SIGNS]
        signs += len(latin)
        if run == "\ufffd" or (len(run) >= 3 and len(latin) >= 2 and len(set(run)) > 1):
            garbled += len(run)
    characters = len(text) - text.count(" ")
    return garbled <= MOST_GARBLED * characters and signs <= max(FEW_LATIN_SIGNS, MOST_LATIN_SIGNS * characters)


def _blogs(path: Path) -> Iterator[tuple[str, bytes]]:
    files = Files(path)
    if lost := [each for each in sorted(path.rglob("*.xml")) if each.is_symlink() and not each.exists()]:
        raise UserError(f"{printable(str(lost[0]))}: is a link to nothing; fetch the file, or remove it")
    names = files.find(r"(?s:.*/)?[^./][^/]*\.xml")
    if not names:
        raise UserError(f"{path}: holds no .xml file; give the folder or zip of the corpus' blog files")
    for name in names:
        yield name, files.read(name)
