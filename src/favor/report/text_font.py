"""The figures' font, DejaVu Sans, for the text of the PDF: it comes with matplotlib, so that no TeX package is needed.

pdfTeX embeds TrueType files itself; what it lacks is their metrics (TFM) and the order of their glyphs (Cork encoding).
"""

from __future__ import annotations

import shutil
import struct
from collections.abc import Sequence
from pathlib import Path

import matplotlib
from matplotlib.ft2font import FT2Font, LoadFlags

# File by TeX's name of the font.
FONTS = {
    "favor-regular": "DejaVuSans.ttf",
    "favor-bold": "DejaVuSans-Bold.ttf",
    "favor-oblique": "DejaVuSans-Oblique.ttf",
    "favor-boldoblique": "DejaVuSans-BoldOblique.ttf",
}
ENCODING = "favor-cork.enc"
# The Cork encoding (TeX's T1) by code; a space where DejaVu Sans has no glyph.
_CORK = (
    "`´^~¨˝˚ˇ˘¯˙¸˛‚‹›“”„«»–— ‰ıȷﬀﬁﬂﬃﬄ"
    '␣!"#$%&’()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_‘abcdefghijklmnopqrstuvwxyz{|}~-'
    "ĂĄĆČĎĚĘĞĹĽŁŃŇŊŐŔŘŚŠŞŤŢŰŮŸŹŽŻĲİđ§ăąćčďěęğĺľłńňŋőŕřśšşťţűůÿźžżĳ¡¿£"
    "ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÐÑÒÓÔÕÖŒØÙÚÛÜÝÞẞàáâãäåæçèéêëìíîïðñòóôõöœøùúûüýþß"
)
# Two characters become one: dashes and quotation marks.
_LIGATURES = ((45, 45, 21), (21, 45, 22), (96, 96, 16), (39, 39, 17))
_STOP = 128  # of a ligature program
# DejaVu Sans is large at its size: at 0.84 its x-height equals that of the formulas.
PREAMBLE = (
    r"""\usepackage[T1]{fontenc}
"""
    + "\n".join(rf"\pdfmapline{{={name} <{ENCODING} <{file}}}" for name, file in FONTS.items())
    + r"""
\DeclareFontFamily{T1}{favor}{}
\DeclareFontShape{T1}{favor}{m}{n}{<->s*[.84]favor-regular}{}
\DeclareFontShape{T1}{favor}{bx}{n}{<->s*[.84]favor-bold}{}
\DeclareFontShape{T1}{favor}{b}{n}{<->ssub*favor/bx/n}{}
\DeclareFontShape{T1}{favor}{b}{it}{<->ssub*favor/bx/it}{}
\DeclareFontShape{T1}{favor}{m}{it}{<->s*[.84]favor-oblique}{}
\DeclareFontShape{T1}{favor}{bx}{it}{<->s*[.84]favor-boldoblique}{}
\renewcommand{\sfdefault}{favor}
\renewcommand{\ttdefault}{cmtt}\renewcommand{\texttt}[1]{{\fontencoding{OT1}\ttfamily #1}}
"""
)


def write_text_font(folder: Path) -> None:
    """Write what pdfTeX needs to set text in DejaVu Sans into ``folder``: fonts, their metrics and the encoding."""
    names = [".notdef"] * 256
    for name, file in FONTS.items():
        source = Path(matplotlib.get_data_path()) / "fonts" / "ttf" / file
        shutil.copyfile(source, folder / file)
        font = FT2Font(str(source))
        sizes: list[tuple[float, float, float] | None] = [None] * 256
        for code, character in enumerate(_CORK):
            index = font.get_char_index(ord(character))
            if character == " " or not index:
                continue
            glyph = font.load_glyph(index, flags=LoadFlags.NO_SCALE)
            _, low, _, high = glyph.bbox
            names[code] = font.get_glyph_name(index)
            em = font.units_per_EM
            sizes[code] = glyph.horiAdvance / em, max(high, 0) / em, max(-low, 0) / em
        (folder / f"{name}.tfm").write_bytes(_metrics(sizes, slant=0.2 if "oblique" in name else 0.0))
    listed = "\n".join(f"/{name}" for name in names)
    (folder / ENCODING).write_text(f"/FavorCork [\n{listed}\n] def\n", encoding="ascii")


def _metrics(sizes: Sequence[tuple[float, float, float] | None], slant: float) -> bytes:
    """Return a TFM file (Knuth, TFtoPL, 1981) of (width, height, depth) by code, in parts of the size.

    TFM holds 255 widths, but only 15 heights and depths: these are rounded up.
    """
    known = [size for size in sizes if size is not None]
    widths = sorted({width for width, _, _ in known})
    levels = [_levels([size[place] for size in known]) for place in (1, 2)]
    starts = {first: number for number, (first, _, _) in enumerate(_LIGATURES)}
    characters = b""
    for code, size in enumerate(sizes):
        if size is None:
            characters += bytes(4)
            continue
        high, low = (
            0 if not each else 1 + next(at for at, level in enumerate(found) if level >= each)
            for found, each in zip(levels, size[1:], strict=True)
        )
        tag = (1, starts[code]) if code in starts else (0, 0)
        characters += bytes((1 + widths.index(size[0]), 16 * high + low, *tag))
    program = b"".join(bytes((_STOP, second, 0, made)) for _, second, made in _LIGATURES)
    x_height = sizes[ord("x")]
    assert x_height is not None
    space = 0.318  # of the em, as the font's own
    parameters = (slant, space, space / 2, space / 3, x_height[1], 1.0, space / 3)
    tables = [
        struct.pack(">ii", 0, 10 << 20),  # no checksum, 10 points
        characters,
        *(b"".join(map(_fixed, (0.0, *table))) for table in (widths, *levels)),
        _fixed(0.0),  # italic corrections
        program,
        b"".join(map(_fixed, parameters)),
    ]
    header, _, width, height, depth, italic, ligatures, last = (len(table) // 4 for table in tables)
    words = 6 + sum(len(table) for table in tables) // 4
    counts = (words, header, 0, 255, width, height, depth, italic, ligatures, 0, 0, last)
    return struct.pack(">12H", *counts) + b"".join(tables)


def _levels(values: Sequence[float]) -> list[float]:
    """Return at most 15 levels, the largest among them, so that every value has one not far above it."""
    distinct = sorted({value for value in values if value})
    return distinct[:: -(-len(distinct) // 14)] + distinct[-1:] if len(distinct) > 15 else distinct


def _fixed(value: float) -> bytes:
    return struct.pack(">i", round(value * (1 << 20)))
