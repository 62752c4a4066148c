"""Planted leaks: every way of writing a text or an identifier that the search before a release must see through."""

from __future__ import annotations

import base64
import hashlib
import unicodedata

import pytest

from favor.publish.scan import Private, scan

TEXT = (
    "I had never seen the clock in that hall run right for nine years, and nobody's asked about it since my stiff "
    "uncle left."
)
CHINESE = "我昨天在河边散步的时候看见了一只白色的大鸟它在水里找鱼吃"
JAPANESE = "昨日は川のほとりを散歩していたら大きな白い鳥を見かけました"
THAI = "เมื่อวานนี้ฉันเดินเล่นริมแม่น้ำและเห็นนกสีขาวตัวใหญ่กำลังหาปลากิน"
FRENCH = "déjà l'été s'achevait et la forêt entière était jaunie quand mon père très âgé est arrivé chez nous"
RUSSIAN = "вчера я гулял по берегу реки и увидел большую белую птицу у воды"
PRIVATE = Private(
    ["9000022", "jane_doe", "Ann Lee", "Müller99", "Łukasz7", "名前名前", "🦊🌙🦊🌙"],
    [("client_001", text) for text in (TEXT, CHINESE, JAPANESE, THAI, RUSSIAN, FRENCH)],
)
WORDS = TEXT.split()[3:14]
QUOTE = " ".join(WORDS)

WRITTEN = {
    "plain": QUOTE,
    "capitals": QUOTE.upper(),
    "wrapped": "\n    ".join(WORDS),
    "soft hyphens": " ".join(word[:2] + "\u00ad" + word[2:] for word in WORDS),
    "zero-width spaces": " ".join(word[:2] + "\u200b" + word[2:] for word in WORDS),
    "underscores": "_".join(WORDS),
    "curly apostrophe": "right for nine years, and nobody\u2019s asked about it since",
    "ligature": "nobody's asked about it since my stiff uncle left".replace("ff", "\ufb00"),
    "full width": "".join(chr(ord(each) + 0xFEE0) if "!" <= each <= "~" else each for each in QUOTE),
    "Chinese": CHINESE[3:18],
    "Chinese spaced out": " ".join(CHINESE[3:18]),
    "Chinese in lines": "\n".join(CHINESE[3:18]),
    "Japanese": JAPANESE[2:20],
    "Thai": THAI[5:40],
    "Russian": RUSSIAN[8:],
    "Russian decomposed": unicodedata.normalize("NFD", RUSSIAN[8:]),
    "HTML entities": "".join(f"&#x{ord(each):x};" for each in QUOTE),
    "identifier": "author 9000022",
    "identifier as a float": "9000022.0",
    "identifier within a name": "client_9000022_a",
    "identifier with a zero-width space": "9000\u200b022",
    "identifier in other letters": "by JANE_DOE",
    "identifier in parts": "by Jane Doe",
    "identifier of two words": "thanks, Ann\nLee",
    "identifier, full width": "ｊａｎｅ＿ｄｏｅ",
    "identifier, decomposed": "Mu\u0308ller99",
    "identifier, LaTeX": 'by M\\"uller99',
    "identifier, LaTeX in braces": 'by M{\\"{u}}ller99',
    "identifier, LaTeX letter": "by {\\L}ukasz7",
    "identifier, entity": "by M&#252;ller99",
    "identifier, Chinese": "作者：名前名前。",
    "identifier of emoji": "row 🦊🌙🦊🌙, 0.5",
    "identifier of emoji with marks": "by 🦊\ufe0f🌙\u200d🦊🌙",
    "handle behind a point": "so he said.@john_smith knew",
    "handle of other letters": "by @山田太郎",
    "Reddit user name in capitals": "asked by U/some_user",
    "folder": "log in /srv/projects/favor",
    "folder of another machine": "from host:/export/ann/x",
    "folder of Windows": "see C:/Users/someone",
    "folder of a network": "see \\\\server\\share",
    "home": "under ~/models",
}


@pytest.mark.parametrize("kind", ["txt", "md", "csv", "html", "svg", "tex"])
@pytest.mark.parametrize("case", WRITTEN)
def test_every_way_of_writing_is_seen_through(case, kind) -> None:
    assert scan({f"a.{kind}": WRITTEN[case].encode()}, PRIVATE), case


HARMLESS = {
    "digest": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "paths of the project": "results/demo/seed2026/favor/generations.parquet and src/favor/federation/methods/favor.py",
    "numbers": "0.315 0.360 0.021 0.387 112 113 114 115 116 117 118 119 120 121 122 123 124 125",
    "seven words": "seen the clock in that hall",
    "LaTeX": r"\\ \midrule \multicolumn{3}{l}{\textit{Prototype accuracy}} & 0.315 \\",
    "CSS": ".table-of-contents{grid-template-columns:repeat(auto-fill,minmax(12rem,1fr));--accent-colour:#00796b}",
    "digests in base64": " ".join(
        f"sha256-{base64.b64encode(hashlib.sha256(str(number).encode()).digest()).decode()}" for number in range(300)
    ),
    "addresses": "https://example.org/a/b?c=d/e and http://example.org:8080/export/data",
    "fields of objects": "config.release.title and a.b/c",
    "SVG": "M 12.5 80.25 L 100.125 80.25 C 110 60 140 60 150 80.25 z",
}


@pytest.mark.parametrize("kind", ["txt", "md", "csv", "html", "svg", "tex"])
@pytest.mark.parametrize("case", HARMLESS)
def test_what_is_harmless_passes(case, kind) -> None:
    assert scan({f"a.{kind}": HARMLESS[case].encode()}, PRIVATE) == []
