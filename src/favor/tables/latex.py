"""Table cells as booktabs LaTeX.

Needs booktabs, graphicx and amssymb only (Debian: texlive-latex-recommended). What is printed below a table, and how a
mark looks, a document decides.
"""

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import replace

import pandas as pd

from favor.tables.build import is_control, ruled_rows, stub_cells
from favor.tables.cell_table import PrintedCell
from favor.tables.escape import latex as escape
from favor.tables.escape import minus
from favor.tables.marks import dash_reasons, letter, mark_notes, row_notes
from favor.tables.specs import Column, Panel, TableSpec

PACKAGES = ("booktabs", "graphicx", "amssymb")
MARKS = (
    r"\providecommand{\favorbest}[1]{\textbf{#1}}",
    r"\providecommand{\favorsecond}[1]{\underline{#1}}",
    r"\providecommand{\favorbelow}{\textsuperscript{$\ast$}}",
    r"\providecommand{\favorns}{\textsuperscript{n.\,s.}}",
    r"\providecommand{\favornotes}[1]{#1}",  # \newcommand{\favornotes}[1]{} before the table leaves the notes out
)
_WRAPS = {"best": r"\favorbest{%s}", "second": r"\favorsecond{%s}"}
_SIGNS = {"below": r"\favorbelow", "ns": r"\favorns"}  # stand in a column of their own, after the numbers
SENTENCES = r"p{0.66\textwidth}"  # a column of sentences
NARROW, WIDE = 60, 100  # characters of a line that one column of two, and a page, hold in \footnotesize
SMALL, TINY = 10.3, 8.7  # points of a row in \footnotesize and in \scriptsize
PAGE = 520  # points of a page of letter paper in an article, and some to spare
# A panel, the columns of its tabular, its header line, and its other lines with their heights in rows.
_Panel = tuple[Panel, str, str, Sequence[tuple[str, float]]]


def latex_table(spec: TableSpec, cells: pd.DataFrame) -> str:
    r"""Return a LaTeX ``table`` environment for the ``table_cells`` of ``spec``; ``table*`` where it is wide.

    References that have no value in a panel are left out. What is taller than a page goes on in further environments:
    the first has the caption, the last the notes.

    ``\favorbest``, ``\favorsecond``, ``\favorbelow``, ``\favorns`` and ``\favornotes`` are a document's to define. A
    dash carries a letter whose reason stands below the table.
    """
    if spec.every_metric:  # too long for one page: an environment per panel
        return "\n".join(
            latex_table(
                replace(spec, label=f"{spec.label}-{number}", panels=(panel,), every_metric=False),
                cells[cells["panel"] == panel.title],
            )
            for number, panel in enumerate(spec.panels, start=1)
        )
    told = cells["value"].notna() | ~cells["row"].map(is_control).astype(bool)
    cells = cells[told.groupby([cells["panel"], cells["section"], cells["row"]]).transform("any")]
    reasons = dash_reasons(cells)
    notes = [escape(text) for text in [*mark_notes(cells, below="∗"), *row_notes(spec, cells)]]
    notes += [rf"({letter(number)}): {escape(reason)}." for reason, number in reasons.items()]
    numbers = cells[cells["value"].notna()].groupby(["panel", "column"])["text"].agg(list)
    widest = {
        place: (max(map(_digits, texts)), any(text.startswith("-") for text in texts))
        for place, texts in numbers.items()
        if all(map(_NUMBER.fullmatch, texts))  # amounts with units are not in line anyway
    }

    def text(cell: PrintedCell, column: Column, signed: bool) -> str:
        own, sign = _cell(cell, column, reasons)
        place = cell["panel"], cell["column"]
        if place in widest and not math.isnan(cell["value"]):
            own = _lead(cell["text"], *widest[place]) + own
        return f"{own} & {sign}" if signed else own + sign

    shown = [(panel, cells[cells["panel"] == panel.title]) for panel in spec.panels]
    width = max((_width(spec, panel, own) for panel, own in shown), default=0)
    return _environments(spec, [(panel, *_lines(spec, panel, own, text)) for panel, own in shown], notes, width)


def _environments(spec: TableSpec, panels: Sequence[_Panel], notes: Sequence[str], width: int) -> str:
    sentences = any(column.wide for panel in spec.panels for column in panel.columns)
    kind = "table*" if sentences or width > NARROW else "table"
    small = sentences or width > WIDE
    begin = [
        rf"\begin{{{kind}}}[htbp]",
        r"\centering",
        r"\scriptsize" if small else r"\footnotesize",
        r"\setlength{\tabcolsep}{4pt}",
        r"\renewcommand{\arraystretch}{1.08}",
    ]
    per_line = 45 if kind == "table" else 95  # characters of the caption; notes are set smaller
    caption = 12 * (2 + len(spec.caption) / per_line)
    below = sum(10 * math.ceil(len(note) / per_line / 1.4) for note in notes)
    pages = _pages(panels, [points / (TINY if small else SMALL) for points in (PAGE - caption, PAGE, below)])
    lines = [f"% {spec.label}: needs {', '.join(PACKAGES)}", *MARKS]
    for number, page in enumerate(pages):
        lines += begin
        if number:
            lines.append(rf"Table~\ref{{tab:{spec.label}}}, continued.\par\vspace{{2pt}}")
        for panel, columns, head, body in page:
            if panel.title:
                lines.append(rf"\par\vspace{{5pt}}\textit{{{escape(panel.title)}}}\par\vspace{{2pt}}")
            lines += [
                # Scaled only when wider than the line: most tables keep their natural size.
                r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%",
                rf"\begin{{tabular}}{{@{{}}{columns}@{{}}}}",
                r"\toprule",
                head,
                r"\midrule",
                *(line for line, _ in body),
                r"\bottomrule",
                r"\end{tabular}%",
                "}",
            ]
        if number == len(pages) - 1:
            notes = [rf"\par\vspace{{2pt}}{{\raggedright\scriptsize {text}\par}}" for text in notes]
            lines += [r"\favornotes{%", *notes, "}"] if notes else []
        if number == 0:
            lines += [rf"\caption[{{{escape(spec.title)}}}]{{{escape(spec.caption)}}}", rf"\label{{tab:{spec.label}}}"]
        lines.append(rf"\end{{{kind}}}")
    return "\n".join(lines) + "\n"


def _pages(panels: Sequence[_Panel], rows: Sequence[float]) -> list[list[_Panel]]:
    """Return the panels of each page; one that is longer than a page goes on under its header.

    ``rows``: of the first page, of any other, and of the notes, which get a page where the last has no room for them.
    """
    left, page, notes = rows
    pages: list[list[_Panel]] = [[]]
    for panel, columns, head, lines in panels:
        over = 2 + head.count(r"\\") + 2 * bool(panel.title)
        if pages[-1] and over + sum(height for _, height in lines) > left:
            pages.append([])
            left = page
        body: list[tuple[str, float]] = []
        left -= over
        for line, height in lines:
            if body and height > left:
                pages[-1].append((panel, columns, head, body))
                pages.append([])
                body, left = [], page - over
            if body or line != r"\midrule":
                body.append((line, height))
            left -= height
        pages[-1].append((panel, columns, head, body))
    return [*pages, []] if notes > left else pages


def _width(spec: TableSpec, panel: Panel, cells: pd.DataFrame) -> int:
    """Return about how many characters the widest line of a panel has."""
    texts = cells.assign(width=cells["text"].str.len()).groupby("column")["width"].max()
    headers = {column.label: max(map(len, column.header.split("\n"))) for column in panel.columns}
    columns = sum(2 + max(headers[name], int(texts.get(name, 0))) for name in headers)
    stubs = max((len(row.removeprefix("Reference: ")) for row in cells["row"].unique()), default=0)
    return columns + 3 * len(_signed(cells)) + stubs + (12 if spec.sectioned else 0)


def _signed(cells: pd.DataFrame) -> set[str]:
    """Return the columns of a panel that have marks of significance, for which they get a column."""
    return set(cells.loc[cells["mark"].isin(list(_SIGNS)), "column"])


def _lines(
    spec: TableSpec, panel: Panel, cells: pd.DataFrame, cell_text: Callable[[PrintedCell, Column, bool], str]
) -> tuple[str, str, list[tuple[str, float]]]:
    """Return the columns of a panel's tabular, its header and its other lines with the rows that they take.

    Groups are set apart by a rule.
    """
    signed = _signed(cells)
    stubs = (["Dataset"] if spec.sectioned else []) + list(spec.stub_headers)
    headers = [escape(stub) for stub in stubs] + [_header(column, column.label in signed) for column in panel.columns]
    lines: list[tuple[str, float]] = []
    columns = {column.label: column for column in panel.columns}
    last = None
    for section, row, line, ruled in ruled_rows(spec, cells):
        if ruled:
            lines.append((r"\midrule", 0.5))
        texts = [escape(section) if section != last else ""] if spec.sectioned else []
        last = section
        texts += _stub(row, len(spec.stub_headers))
        texts += [cell_text(cell, columns[cell["column"]], cell["column"] in signed) for cell in line]
        wrapped = max((math.ceil(len(cell["text"]) / 80) for cell in line if columns[cell["column"]].wide), default=1)
        stacked = any(columns[cell["column"]].deviation == "stacked" and " ± " in cell["text"] for cell in line)
        lines.append((tabular_line(texts), max(wrapped, 1 + stacked)))
    narrow = (r"c@{\,}l" if column.label in signed else "c" for column in panel.columns)
    alignment = [SENTENCES if column.wide else own for column, own in zip(panel.columns, narrow, strict=True)]
    return "".join(["l" * len(stubs), *alignment]), tabular_line(headers), lines


def tabular_line(texts: Sequence[str]) -> str:
    """Return one line of a tabular. The end of the line before, or a rule, takes a "[" or "*" as its own argument."""
    start = "{}" if texts[0].startswith(("[", "*")) else ""
    return start + " & ".join(texts) + r" \\"


def _stub(row: str, count: int) -> list[str]:
    parts = stub_cells(row, count)
    if not is_control(row):
        return [escape(part) for part in parts]
    return [rf"\textit{{{escape(part.removeprefix('Reference: '))}}}" if part else "" for part in parts]


def _header(column: Column, signed: bool) -> str:
    arrow = {"up": r" $\uparrow$", "down": r" $\downarrow$", "": ""}[column.direction]
    lines = [escape(line) for line in column.header.split("\n")]
    lines[-1] += arrow
    text = lines[0] if len(lines) == 1 else _stacked(lines, "b")
    return rf"\multicolumn{{2}}{{c}}{{{text}}}" if signed else text


def _stacked(lines: Sequence[str], position: str) -> str:
    return rf"\begin{{tabular}}[{position}]{{@{{}}c@{{}}}}" + r"\\[-1pt]".join(lines) + r"\end{tabular}"


_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?( ± .*)?")


def _digits(text: str) -> int:
    found = re.match(r"[+-]?(\d*)", text)
    return len(found[1]) if found else 0


def _lead(text: str, digits: int, negative: bool) -> str:
    """Return the room of the digits and the sign that a number lacks, so that a centred column aligns at the point."""
    missing = digits - _digits(text)
    sign = r"\phantom{$-$}" if negative and not text.startswith(("-", "+")) else ""
    return sign + (rf"\phantom{{{'0' * missing}}}" if missing else "")


def _cell(cell: PrintedCell, column: Column, reasons: dict[str, int]) -> tuple[str, str]:
    """Return what a cell says, and the sign behind it: its mark of significance and the letter of its reason."""
    sign = rf"\textsuperscript{{{letter(reasons[cell['reason']])}}}" if cell["reason"] else ""
    if math.isnan(cell["value"]):
        # What \arraybackslash does, without the package array: the row's end keeps its meaning in a ragged cell.
        ragged = r"\raggedright\let\\\tabularnewline " if column.wide else ""
        return ragged + escape(cell["text"]), sign
    sign = _SIGNS.get(cell["mark"], "") + (sign and rf"\rlap{{{sign}}}")  # takes no room, so that the column aligns
    mean, _, deviation = minus(cell["text"]).partition(" ± ")
    wrap = _WRAPS.get(cell["mark"], "%s")
    if deviation and column.deviation == "stacked":
        return _stacked([wrap % escape(mean), rf"{{\scriptsize $\pm$ {escape(deviation)}}}"], "c"), sign
    return wrap % escape(" ± ".join(filter(None, (mean, deviation)))), sign
