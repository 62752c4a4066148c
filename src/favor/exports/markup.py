"""Text of HTML: what a person wrote in it, and what the person quotes."""

import re

from lxml import etree

from favor.exports.items import Cut, tidy

# What a browser sets apart; a line break is one alone.
_BLOCKS = {
    *("address", "article", "aside", "blockquote", "caption", "dd", "div", "dl", "dt", "figcaption", "figure"),
    *("footer", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "li", "main", "nav", "ol", "option", "p", "pre"),
    *("section", "summary", "table", "td", "th", "tr", "ul"),
}
_SKIPPED = {"head", "script", "style", "template", "title", "svg", "iframe", "object", "form", "button"}
_CUT_TAGS = {"blockquote": "quoted", "figcaption": "caption"}
# Classes that mail programs and services give to what is not the writer's: the first word that begins so decides.
_CUT_CLASSES = {
    **dict.fromkeys(("gmail_quote", "gmail_attr", "yahoo_quoted", "moz-cite-prefix", "moz-forward-cont"), "quoted"),
    **dict.fromkeys(("OutlookMessageHeader", "protonmail_quote", "quote-inline", "twitter-tweet"), "quoted"),
    **dict.fromkeys(("tweet", "pullquote", "digest-post-embed", "embedded-post", "graf--mixtapeEmbed"), "quoted"),
    **dict.fromkeys(("gmail_signature", "moz-signature", "moz-txt-sig", "protonmail_signature_block"), "signature"),
    **dict.fromkeys(("subscription-widget", "subscribe-widget", "button-wrapper", "install-substack"), "boilerplate"),
    **dict.fromkeys(("captioned-button", "share-dialog", "post-ufi"), "boilerplate"),
    **dict.fromkeys(("footnote-anchor", "footnote-number"), ""),  # a number, which is no text at all
    **dict.fromkeys(("wp-caption-text", "image-caption"), "caption"),
}
_REST = {"divRplyFwdMsg", "appendonsend"}  # ids from which on a mail of Outlook is quoted
_DASHES = re.compile(r"\s*-{5,}")
_ENDS = re.compile(r"</(?:body|html)\s*>", re.IGNORECASE)  # what comes behind them is text too


def parsed(html: str) -> etree._Element | None:
    """Return the root of a page as browsers read it; None where its elements are nested more than 2,000 deep."""
    parser = etree.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True, huge_tree=True)
    root = etree.fromstring(f"<body>{_ENDS.sub('', html)}".encode("utf-8", "replace"), parser)
    return None if len(parser.error_log.filter_from_fatals()) else root


def html_text(html: str | etree._Element, keep_lines: bool = False, code: bool = True) -> tuple[str, tuple[Cut, ...]]:
    """Return the writer's own text in ``html``, a blank line between paragraphs, and what was cut from it.

    Quotations and captions are cut, and what mail programs and services mark as quoted or as a signature.
    ``keep_lines``: whether line breaks of the source count, as in WordPress. ``code``: whether ``pre`` is code, which
    is cut.
    """
    root = parsed(html) if isinstance(html, str) else html
    if root is None:
        return "", (Cut("nested too deeply", html),)
    reader = _Reader(keep_lines, _CUT_TAGS | ({"pre": "code"} if code else {}))
    return reader.text(root), tuple(reader.cuts)


class _Reader:
    def __init__(self, keep_lines: bool, cut_tags: dict[str, str]) -> None:
        self._keep_lines, self._cut_tags = keep_lines, cut_tags
        self.cuts: list[Cut] = []

    def text(self, root: etree._Element, cutting: bool = True) -> str:
        """Return the text of an element; ``cutting``: without what is cut, which ``cuts`` has then."""
        parts: list[str] = []
        own, literal = parts, 0
        walk = etree.iterwalk(root, events=("start", "end"))
        for event, element in walk:
            starts = event == "start"
            if starts and cutting and element.get("id") in _REST:
                parts, cutting = [], False
            reason = self._reason(element, cutting) if starts else None
            if reason is not None:
                walk.skip_subtree()
            if reason:
                self._cut(reason, self.text(element, cutting=False))
            parts.append("\n\n" if element.tag in _BLOCKS else "\n" if element.tag == "br" and starts else "")
            literal += (1 if starts else -1) if element.tag == "pre" else 0
            data = element.text if starts and reason is None else None if starts or element is root else element.tail
            parts.append((data or "") if self._keep_lines or literal else re.sub(r"\s+", " ", data or ""))
        if parts is not own:
            self._cut("quoted", _lines(parts))
        return _lines(own)

    def _cut(self, reason: str, text: str) -> None:
        if text:
            self.cuts.append(Cut("forwarded" if reason == "quoted" and _DASHES.match(text) else reason, text))

    def _reason(self, element: etree._Element, cutting: bool) -> str | None:
        """Return why an element is cut, "" where it is not text at all; None where it is the writer's."""
        if element.tag in _SKIPPED:
            return ""
        if not cutting:
            return None
        names = (element.get("class") or "").split()
        found = (reason for name in names for start, reason in _CUT_CLASSES.items() if name.startswith(start))
        return next(found, self._cut_tags.get(element.tag))


def _lines(parts: list[str]) -> str:
    return tidy("\n".join(line.strip() for line in re.sub(" {2,}", " ", "".join(parts)).split("\n")))
