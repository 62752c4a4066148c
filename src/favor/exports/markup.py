"""Text of HTML: what a person wrote in it, and what the person quotes."""

import re
from html.parser import HTMLParser

from favor.exports.items import Cut, tidy

_VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
_SKIPPED = {"head", "script", "style", "template", "title", "svg", "iframe", "object", "form", "button"}
_BLOCKS = {*("address", "article", "aside", "div", "dl", "figure", "footer", "header", "main", "nav", "ol", "p"), "tr"}
_BLOCKS |= {"pre", "section", "table", "ul", "blockquote", "h1", "h2", "h3", "h4", "h5", "h6", "figcaption", "hr"}
_LINES = {"br", "li", "dd", "dt", "td", "th", "caption", "option", "summary"}
_CUT_TAGS = {"blockquote": "quoted", "figcaption": "caption"}
# Classes that mail programs and services give to what is not the writer's: the first word that begins so decides.
_CUT_CLASSES = {
    **dict.fromkeys(
        ("gmail_quote", "gmail_attr", "yahoo_quoted", "moz-cite-prefix", "moz-forward-container"), "quoted"
    ),
    **dict.fromkeys(("OutlookMessageHeader", "protonmail_quote", "quote-inline", "twitter-tweet"), "quoted"),
    **dict.fromkeys(("tweet", "pullquote", "digest-post-embed", "embedded-post", "graf--mixtapeEmbed"), "quoted"),
    **dict.fromkeys(("gmail_signature", "moz-signature", "moz-txt-sig", "protonmail_signature_block"), "signature"),
    **dict.fromkeys(("subscription-widget", "subscribe-widget", "button-wrapper", "install-substack"), "boilerplate"),
    **dict.fromkeys(("captioned-button", "share-dialog", "post-ufi"), "boilerplate"),
    **dict.fromkeys(("footnote-anchor", "footnote-number"), ""),  # a number, which is no text at all
    **dict.fromkeys(("wp-caption-text", "image-caption"), "caption"),
}
_REST = {"divRplyFwdMsg": "quoted", "appendonsend": "quoted"}  # ids from which on a mail of Outlook is quoted
_DASHES = re.compile(r"\s*-{5,}")


class _Reader(HTMLParser):
    def __init__(self, keep_lines: bool, code: bool) -> None:
        super().__init__(convert_charrefs=True)
        self._keep_lines = keep_lines
        self._cut_tags = _CUT_TAGS | ({"pre": "code"} if code else {})
        self.own: list[str] = []
        self.cuts: list[Cut] = []
        self._open: list[str] = []
        self._inside = 0  # depth of the element that is being cut; -1 if everything that follows is
        self._reason = ""
        self._cut: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._break(tag)
        found = dict(attrs)
        if not self._inside and (found.get("id") or "") in _REST:
            self._inside, self._reason = -1, _REST[found["id"] or ""]
        if tag in _VOID:
            return
        self._open.append(tag)
        if not self._inside:
            reason = self._cut_reason(tag, (found.get("class") or "").split())
            if reason is not None:
                self._inside, self._reason = len(self._open), reason

    def handle_endtag(self, tag: str) -> None:
        if tag in _VOID:
            return
        if tag in self._open:
            while self._open.pop() != tag:
                pass
            if 0 <= len(self._open) < self._inside:
                self.end_cut()
        self._break(tag)

    def handle_data(self, data: str) -> None:
        kept = self._keep_lines or "pre" in self._open
        self._write(data if kept else re.sub(r"\s+", " ", data))

    def parse_marked_section(self, i: int, report: int = 1) -> int:
        """Pass over what begins with <![ as browsers do; the standard library raises where it does not know it."""
        return self.rawdata.find(">", i) + 1 or -1

    def _break(self, tag: str) -> None:
        if tag in _BLOCKS:
            self._write("\n\n")
        elif tag in _LINES:
            self._write("\n")

    def _write(self, text: str) -> None:
        (self._cut if self._inside else self.own).append(text)

    def end_cut(self) -> None:
        """Close what is being cut."""
        text = _lines(self._cut)
        if text and self._reason:
            forwarded = self._reason == "quoted" and _DASHES.match(text)
            self.cuts.append(Cut("forwarded" if forwarded else self._reason, text))
        self._inside, self._cut = 0, []

    def _cut_reason(self, tag: str, classes: list[str]) -> str | None:
        """Return why an element is cut, "" where it is not text at all; None where it is the writer's."""
        if tag in _SKIPPED:
            return ""
        for name in classes:
            for start, reason in _CUT_CLASSES.items():
                if name.startswith(start):
                    return reason
        return self._cut_tags.get(tag)


def _lines(parts: list[str]) -> str:
    return tidy("\n".join(line.strip() for line in re.sub(" {2,}", " ", "".join(parts)).split("\n")))


def html_text(html: str, keep_lines: bool = False, code: bool = True) -> tuple[str, tuple[Cut, ...]]:
    """Return the writer's own text in ``html``, a blank line between paragraphs, and what was cut from it.

    Quotations and captions are cut, and what mail programs and services mark as quoted or as a signature.
    ``keep_lines``: whether line breaks of the source count, as in WordPress. ``code``: whether ``pre`` is code, which
    is cut.
    """
    reader = _Reader(keep_lines, code)
    reader.feed(html)
    reader.close()
    reader.end_cut()
    return _lines(reader.own), tuple(reader.cuts)
