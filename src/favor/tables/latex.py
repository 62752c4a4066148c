"""Table cells as booktabs LaTeX.

Needs booktabs, graphicx and amssymb only (Debian: texlive-latex-recommended).
"""

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import replace

import pandas as pd

from favor.paper.names import SEPARATOR
from favor.tables.build import is_control
from favor.tables.cell_table import PrintedCell, rows_of_cells
from favor.tables.escape import latex as escape
from favor.tables.escape import minus
from favor.tables.marks import footnotes, letter, mark_notes, row_notes
from favor.tables.specs import Column, Panel, TableSpec

PACKAGES = ("booktabs", "graphicx", "amssymb", "color")
MARKS = (
    r"\providecommand{\favorbest}[1]{\textbf{#1}}",
    r"\providecommand{\favorsecond}[1]{\underline{#1}}",
    r"\providecommand{\favorbelow}[1]{{\color[gray]{.4}#1}}",
    r"\providecommand{\favornsmark}{\textsuperscript{\tiny n.\,s.}}",
    r"\providecommand{\favorns}[1]{\hphantom{\favornsmark}#1\favornsmark}",  # room on both sides keeps numbers aligned
)
_WRAPS = {
    "best": r"\favorbest{%s}",
    "second": r"\favorsecond{%s}",
    "below": r"\favorbelow{%s}",
    "ns": r"\favorns{%s}",
    "": "%s",
}
SENTENCES = r"p{0.66\textwidth}"  # a column of sentences
NARROW, WIDE = 60, 100  # characters of a line that one column of two, and a page, hold in \footnotesize
# A panel, its cells, the columns of its tabular, its header line and its other lines.
_Panel = tuple[Panel, pd.DataFrame, str, str, Sequence[str]]
PAGE_ROWS = 50  # rows of a page that leaves room for the panels' titles, the notes and the caption


def latex_table(spec: TableSpec, cells: pd.DataFrame) -> str:
    r"""Return a LaTeX ``table`` environment for the ``table_cells`` of ``spec``; ``table*`` where it is wide.

    Panels that together are taller than a page go on in a further environment; the last has the notes and the caption.

    Marked cells are set by ``\favorbest`` and ``\favorsecond``, which a document may define for itself. A dash
    carries a letter whose reason stands below the table.
    """
    if spec.every_metric:  # too long for one page: an environment per panel
        return "\n".join(
            latex_table(
                replace(spec, label=f"{spec.label}-{number}", panels=(panel,), every_metric=False),
                cells[cells["panel"] == panel.title],
            )
            for number, panel in enumerate(spec.panels, start=1)
        )
    shown = cells if spec.controls else cells[~cells["row"].map(is_control).astype(bool)]
    reasons = footnotes(shown)
    notes = [*mark_notes(shown), *row_notes(spec, shown)]
    notes += [f"({letter(number)}): {reason}." for reason, number in reasons.items()]
    numbers = shown[shown["value"].notna()].groupby(["panel", "column"])["text"].agg(list)
    widest = {
        place: (max(map(_digits, texts)), any(map(_negative, texts)))
        for place, texts in numbers.items()
        if all(map(_NUMBER.fullmatch, texts))  # amounts with units are not in line anyway
    }

    def text(cell: PrintedCell, column: Column) -> str:
        own = _cell(cell, spec.column_in(cell["row"], column), reasons)
        place = cell["panel"], cell["column"]
        if place in widest and not math.isnan(cell["value"]):
            own = _lead(cell["text"], *widest[place]) + own
        return own

    panels = [(panel, shown[shown["panel"] == panel.title]) for panel in spec.panels]
    return _environment(spec, [(panel, own, *_lines(spec, panel, own, text)) for panel, own in panels], notes)


def _environment(spec: TableSpec, panels: Sequence[_Panel], notes: Sequence[str]) -> str:
    width = max((_width(spec, panel, cells) for panel, cells, *_ in panels), default=0)
    sentences = any(column.wide for panel in spec.panels for column in panel.columns)
    kind = "table*" if sentences or width > NARROW else "table"
    begin = [
        rf"\begin{{{kind}}}[htbp]",
        r"\centering",
        r"\scriptsize" if sentences or width > WIDE else r"\footnotesize",
        r"\setlength{\tabcolsep}{4pt}",
        r"\renewcommand{\arraystretch}{1.08}",
    ]
    lines = [f"% {spec.label}: needs {', '.join(PACKAGES)}", *MARKS, *begin]
    rows = 0
    for panel, cells, columns, head, body in panels:
        rows += cells["row"].nunique()
        if rows > PAGE_ROWS and panel is not spec.panels[0]:  # what is taller than a page would run off it
            lines += [rf"\end{{{kind}}}", *begin]
            rows = cells["row"].nunique()
        if panel.title:
            lines.append(rf"\par\vspace{{5pt}}\textit{{{escape(panel.title)}}}\par\vspace{{2pt}}")
        lines += [
            # Scaled only when wider than the line: most tables keep their natural size.
            r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%",
            rf"\begin{{tabular}}{{@{{}}{columns}@{{}}}}",
            r"\toprule",
            head,
            r"\midrule",
            *body,
            r"\bottomrule",
            r"\end{tabular}%",
            "}",
        ]
    lines += [rf"\par\vspace{{2pt}}{{\raggedright\scriptsize {escape(text)}\par}}" for text in notes]
    lines += [rf"\caption[{{{escape(spec.title)}}}]{{{escape(spec.caption)}}}", rf"\label{{tab:{spec.label}}}"]
    lines.append(rf"\end{{{kind}}}")
    return "\n".join(lines) + "\n"


def _width(spec: TableSpec, panel: Panel, cells: pd.DataFrame) -> int:
    """Return about how many characters the widest line of a panel has."""
    texts = cells.assign(width=cells["text"].str.len()).groupby("column")["width"].max()
    headers = {column.label: max(map(len, column.header.split("\n"))) for column in panel.columns}
    columns = sum(2 + max(headers[name], int(texts.get(name, 0))) for name in headers)
    stubs = max((len(row) for row in cells["row"].unique()), default=0)
    return columns + stubs + (12 if spec.sectioned else 0)


def _lines(
    spec: TableSpec, panel: Panel, cells: pd.DataFrame, cell_text: Callable[[PrintedCell, Column], str]
) -> tuple[str, str, list[str]]:
    """Return the columns of a panel's tabular, its header and its other lines; groups are set apart by a rule."""
    stubs = (["Dataset"] if spec.sectioned else []) + list(spec.stub_headers)
    headers = [escape(stub) for stub in stubs] + [_header(column) for column in panel.columns]
    lines: list[str] = []
    columns = {column.label: column for column in panel.columns}
    groups = {row.label: row.group for row in spec.rows}
    previous: tuple[str, str, bool] | None = None
    for section, row, line in rows_of_cells(cells):
        current = (section, groups.get(row, ""), is_control(row))
        if previous is not None and current != previous:
            lines.append(r"\midrule")
        first = previous is None or previous[0] != current[0]
        previous = current
        texts = [escape(section) if first else ""] if spec.sectioned else []
        texts += _stub(row, len(spec.stub_headers))
        texts += [cell_text(cell, columns[cell["column"]]) for cell in line]
        lines.append(tabular_line(texts))
    return "l" * len(stubs) + "".join(map(_alignment, panel.columns)), tabular_line(headers), lines


def tabular_line(texts: Sequence[str]) -> str:
    """Return one line of a tabular. The end of the line before, or a rule, takes a "[" or "*" as its own argument."""
    start = "{}" if texts[0].startswith(("[", "*")) else ""
    return start + " & ".join(texts) + r" \\"


def _stub(row: str, count: int) -> list[str]:
    parts = row.split(SEPARATOR, count - 1) if count > 1 else [row]
    padded = parts + [""] * (count - len(parts))
    return [rf"\textit{{{escape(part)}}}" if is_control(row) and part else escape(part) for part in padded[:count]]


def _alignment(column: Column) -> str:
    return SENTENCES if column.wide else "c"


def _header(column: Column) -> str:
    arrow = {"up": r" $\uparrow$", "down": r" $\downarrow$", "": ""}[column.direction]
    lines = [escape(line) for line in column.header.split("\n")]
    lines[-1] += arrow
    return lines[0] if len(lines) == 1 else _stacked(lines, "b")


def _stacked(lines: Sequence[str], position: str) -> str:
    return rf"\begin{{tabular}}[{position}]{{@{{}}c@{{}}}}" + r"\\[-1pt]".join(lines) + r"\end{tabular}"


_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?( ± .*)?")


def _digits(text: str) -> int:
    """Return how many digits a number has before its point."""
    found = re.match(r"[+-]?(\d*)", text)
    return len(found[1]) if found else 0


def _negative(text: str) -> bool:
    return text.startswith("-")


def _lead(text: str, digits: int, negative: bool) -> str:
    """Return the room of the digits and the sign that a number lacks, so that a centred column aligns at the point."""
    missing = digits - _digits(text)
    sign = r"\phantom{$-$}" if negative and not text.startswith(("-", "+")) else ""
    return sign + (rf"\phantom{{{'0' * missing}}}" if missing else "")


def _cell(cell: PrintedCell, column: Column, reasons: dict[str, int]) -> str:
    sign = rf"\textsuperscript{{{letter(reasons[cell['reason']])}}}" if cell["reason"] else ""
    if math.isnan(cell["value"]):
        # What \arraybackslash does, without the package array: the row's end keeps its meaning in a ragged cell.
        ragged = r"\raggedright\let\\\tabularnewline " if column.wide else ""
        return ragged + escape(cell["text"]) + sign
    sign = sign and rf"\rlap{{{sign}}}"  # takes no room, so that the column aligns
    mean, _, deviation = minus(cell["text"]).partition(" ± ")
    wrap = _WRAPS[cell["mark"]]
    if deviation and column.deviation == "stacked":
        return _stacked([wrap % escape(mean) + sign, rf"{{\scriptsize $\pm$ {escape(deviation)}}}"], "c")
    return wrap % escape(" ± ".join(filter(None, (mean, deviation)))) + sign
