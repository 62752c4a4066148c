"""SVG drawings as elements of a page: parsed as XML, of which what the drawings of the workflow hold is written again.

A results folder may come from somebody else. Whatever is not named here, such as scripts, links, frames, events and
addresses outside the file, does not reach the page; texts are only texts.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from xml.parsers import expat

from markupsafe import Markup

from favor.foundation.errors import UserError
from favor.foundation.html import html_text
from favor.report.content import finding_of

_SPACE = "http://www.w3.org/2000/svg"
_LINK = "http://www.w3.org/1999/xlink href"
_ELEMENTS = {"svg", "g", "path", "rect", "text", "tspan", "use", "defs", "clipPath", "image", "style", "title", "desc"}
_WITH_TEXT = {"text", "tspan", "title", "desc"}
_STYLE = "*{stroke-linejoin: round; stroke-linecap: butt}"  # what matplotlib writes, and the only sheet that is kept
_NUMBERS = re.compile(r"[A-Za-z0-9\s.,()+-]*")
_PLAIN = {"d", "height", "transform", "viewBox", "width", "x", "y", "version"}
_NAMES = {"data-encoder", "data-method"}  # any text
_PROPERTIES = re.compile(
    r"fill|fill-(opacity|rule)|stroke|stroke-[a-z]+|opacity|font|font-[a-z]+|text-(anchor|align)|clip-path"
)
_PROPERTY = re.compile(r"[A-Za-z0-9\s.,#%'+-]*")
_ID = re.compile(r"[A-Za-z0-9_.-]+")
_PNG = re.compile(r"data:image/png;base64,[A-Za-z0-9+/=\s]*")


class _Drawing:
    """Writes the allowed part of an SVG; ids begin with ``prefix``."""

    def __init__(self, prefix: str, head: str) -> None:
        self.prefix, self.head = prefix, head
        self.parts: list[str] = []
        self.open: list[str] = []
        self.left_out = 0  # depth within an element that is left out
        self.parser = expat.ParserCreate(namespace_separator=" ")
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._text
        self.parser.EntityDeclHandler = self._entity
        self.parser.buffer_text = True

    def _entity(self, *_: object) -> None:
        raise ValueError("it declares entities")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        space, _, tag = name.rpartition(" ")
        if not self.open and not self.left_out and tag != "svg":
            raise ValueError("it is not an svg")
        if tag.lower() == "script" or any(key.lower().startswith("on") for key in attributes):
            raise ValueError("it holds a script")  # said, and not only left out: somebody put it there
        known = space in ("", _SPACE) and tag in _ELEMENTS and (tag == "svg") == (not self.open)
        if self.left_out or not known:
            self.left_out += 1
            return
        self.open.append(tag)
        written = "".join(f' {key}="{html_text(value)}"' for key, value in self._attributes(tag, attributes))
        self.parts.append(f"<{tag}{written}{self._root(attributes) if tag == 'svg' else ''}>")

    def _root(self, attributes: Mapping[str, str]) -> str:
        # The pixel size would fix the drawing on a phone; the view box keeps its proportions.
        points = re.fullmatch(r"([\d.]+)pt", attributes.get("width", ""))
        widest = f' style="width:{1.5 * float(points[1]):.0f}px"' if points else ""  # 7.5 points of text as 11 pixels
        return f"{widest}{self.head}"

    def _attributes(self, tag: str, attributes: Mapping[str, str]) -> Iterator[tuple[str, str]]:
        for key, value in attributes.items():
            if tag == "svg" and key in ("width", "height", "style"):
                continue
            if (key in _PLAIN and _NUMBERS.fullmatch(value)) or key in _NAMES:
                yield key, value
            elif key == "id" and _ID.fullmatch(value):
                yield key, self.prefix + value
            elif key == "clip-path" and (inside := self._inside(value)):
                yield key, inside
            elif key == "style" and (kept := "; ".join(self._declarations(value))):
                yield key, kept
            elif key in ("href", _LINK):
                if tag == "use" and value.startswith("#") and _ID.fullmatch(value[1:]):
                    yield "href", f"#{self.prefix}{value[1:]}"
                elif tag == "image" and _PNG.fullmatch(value):
                    yield "href", value

    def _inside(self, value: str) -> str:
        """Return a reference into the drawing, with its prefix; "" for anything else."""
        found = re.fullmatch(r"url\(#([A-Za-z0-9_.-]+)\)", value.strip())
        return f"url(#{self.prefix}{found[1]})" if found else ""

    def _declarations(self, style: str) -> Iterator[str]:
        for each in style.split(";"):
            name, _, value = (part.strip() for part in each.partition(":"))
            if not _PROPERTIES.fullmatch(name):
                continue
            if _PROPERTY.fullmatch(value):
                yield f"{name}: {value}"
            elif inside := self._inside(value):
                yield f"{name}: {inside}"

    def _end(self, _name: str) -> None:
        if self.left_out:
            self.left_out -= 1
        else:
            self.parts.append(f"</{self.open.pop()}>")

    def _text(self, text: str) -> None:
        if self.left_out or not self.open:
            return
        if self.open[-1] in _WITH_TEXT:
            self.parts.append(html_text(text))
        elif (self.open[-1] == "style" and text == _STYLE) or not text.strip():
            self.parts.append(text)


def inline_svg(path: Path, identifier: str, title: str, ending: str = "") -> Markup:
    """Return the SVG file as an element to stand inside a page: ids made unique, title and finding readable aloud.

    ``ending``: what is read aloud after the finding.

    Raises ``UserError`` where the file is missing, not SVG, or holds a script.
    """
    try:
        source = Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror}); run the workflow so that it is made") from None
    except ValueError:
        raise UserError(f"{path}: not a plain SVG drawing (not UTF-8); delete it and run again") from None
    spoken = " ".join(filter(None, [title, finding_of(source), ending]))
    prefix = re.sub(r"\W", "-", identifier) + "-"
    drawing = _Drawing(prefix, f' role="img" aria-label="{html_text(spoken)}"')
    try:
        drawing.parser.Parse(source.encode(), True)
    except (expat.ExpatError, ValueError) as error:
        raise UserError(f"{path}: not a plain SVG drawing ({error}); delete it and run again") from None
    return Markup("".join(drawing.parts))
