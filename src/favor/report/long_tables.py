"""Tables of the PDF report: they break between pages where they must, in a font in which their widest line fits."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pandas as pd

from favor.tables.escape import latex as escape
from favor.tables.latex import MARKS, SENTENCES, table_parts, tabular_line
from favor.tables.specs import TableSpec

# \favortable[environment]{columns}{what stands above}{header}{lines}. A line that is too wide is set in a smaller
# font, and with it what its cells set in a size of their own; the second pass takes what rounding left.
# \favorroom begins a page where little is left of one: a heading does not stand alone at its foot. Only a decision
# made before a longtable is safe, for its own output routine closes and opens the table at any break.
PREAMBLE = r"""\AtBeginDocument{\setlength{\LTcapwidth}{\textwidth}}\setlength{\LTpre}{6pt}\setlength{\LTpost}{4pt}
\newsavebox{\favorbox}
\makeatletter
\newcommand{\favorshrink}[2]{\sbox{\favorbox}{\begin{tabular}{@{}#1@{}}#2\end{tabular}}%
  \ifdim\wd\favorbox>\linewidth
    \edef\favorsize{\the\dimexpr\f@size pt*\number\linewidth/\number\wd\favorbox\relax}%
    \edef\favorskip{\the\dimexpr\favorsize*6/5\relax}%
    \setlength{\tabcolsep}{\dimexpr\tabcolsep*\number\linewidth/\number\wd\favorbox\relax}%
    \fontsize{\favorsize}{\favorskip}\selectfont
  \fi}
\newcommand{\favorscale}[2]{\edef\favorsize{\the\dimexpr\f@size pt*#1/#2\relax}%
  \fontsize{\favorsize}{\favorsize}\selectfont}
\makeatother
\newcommand{\favortable}[5][longtable]{\begingroup\footnotesize\setlength{\tabcolsep}{4pt}\renewcommand{\arraystretch}{1.08}%
  \renewcommand{\tiny}{\favorscale{5}{8}}\renewcommand{\scriptsize}{\favorscale{7}{8}}%
  \favorshrink{#2}{#4#5}\favorshrink{#2}{#4#5}%
  \begin{#1}{@{}#2@{}}#3\toprule #4\midrule\endfirsthead\toprule #4\midrule\endhead\bottomrule\endfoot#5%
  \end{#1}\endgroup}
\newcommand{\favornote}[1]{{\raggedright\scriptsize #1\par}}
\newcommand{\favorroom}{\par\penalty-100\begingroup\dimen0=\pagegoal\advance\dimen0-\pagetotal
  \ifdim\dimen0<.25\textheight\ifdim\dimen0>0pt\vfil\fi\break\fi\endgroup}
"""


def report_table(spec: TableSpec, cells: pd.DataFrame, label: str, note: str, paper: bool) -> str:
    """Return a table as the report prints it: every deviation, the references, and the paper's values if ``paper``."""
    parts = table_parts(spec, cells, note, controls=True, deviations=True, paper=paper)
    lines = ["\n".join(MARKS)]
    for number, (panel, _, columns, head, body) in enumerate(parts.panels):
        above = _caption(spec.title, parts.caption, label) if number == 0 else ""
        if panel.title:
            title = rf"\footnotesize\textit{{{escape(panel.title)}}}"
            above += rf"\multicolumn{{{_count(columns)}}}{{@{{}}l}}{{{title}}}\\[2pt]"
        # Columns of sentences share two fifths of a line: a paragraph does not shrink with its font.
        sentences = columns.count(SENTENCES)
        if sentences:
            columns = columns.replace(SENTENCES, rf"p{{{0.4 / sentences:.2f}\textwidth}}")
        lines.append(_table(columns, above, head, body))
    lines += [rf"\favornote{{{escape(text)}}}" for text in parts.notes]
    return "\n".join(lines)


def captioned_table(frame: pd.DataFrame, caption: str) -> str:
    """Return a table of strings with a caption, its first column to the left."""
    columns = "l" + "r" * (len(frame.columns) - 1)
    head, *body = [[str(name) for name in frame.columns], *frame.astype(str).to_numpy().tolist()]
    lines = [tabular_line([escape(value) for value in row]) for row in body]
    above = _caption(caption.partition(". ")[0], f"{caption}.")
    return _table(columns, above, tabular_line([escape(name) for name in head]), lines)


def plain_table(frame: pd.DataFrame, widths: Sequence[str] = (".46", ".48")) -> str:
    """Return a table of strings without a caption, its columns as ``widths``, in parts of a line."""
    columns = "".join(rf">{{\raggedright\arraybackslash}}p{{{width}\linewidth}}" for width in widths)
    lines = [tabular_line([_breakable(str(value)) for value in row]) for row in frame.itertuples(index=False)]
    return _table(columns, "", tabular_line([escape(str(name)) for name in frame.columns]), lines)


def _table(columns: str, above: str, head: str, body: Sequence[str]) -> str:
    kind = "longtable" if r"\caption" in above else "longtable*"
    return "\n".join([rf"\favortable[{kind}]{{{columns}}}{{{above}}}{{{head}}}{{%", *body, "}"])


def _caption(title: str, caption: str, label: str = "") -> str:
    mark = rf"\label{{tab:{label}}}" if label else ""
    return rf"\caption[{{{escape(title)}}}]{{{escape(caption)}}}{mark}\\[3pt]"


def _count(columns: str) -> int:
    """Return how many columns a tabular of letters and p{...} has."""
    return len(re.sub(r"\{[^}]*\}", "", columns))


def _breakable(text: str) -> str:
    # Dotted keys and lists may break after a dot, underscore, slash or comma.
    return re.sub(r"(\.|\\_|/|,)(?=\S)", r"\1\\allowbreak{}", escape(text))
