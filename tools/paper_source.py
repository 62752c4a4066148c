"""Reads the result tables out of the paper's LaTeX source, to make and to check the values shipped in ``favor.paper``.

Only numbers and short labels are taken. ``python -m tools.paper_source favor.tex`` writes the shipped CSV files again.
"""

import csv
import re
import sys
from collections.abc import Iterator, Sequence
from io import StringIO
from pathlib import Path

from favor.foundation.errors import UserError
from favor.foundation.files import write_text
from favor.paper.values import FOLDER, MARKS, PLACE, SECTIONED

# Leading columns that name a row. A table whose first of them is a corpus ("section") is listed in SECTIONED.
STUB_COLUMNS: dict[str, int] = {
    "signature-space-main": 1,
    "signature-space-native": 1,
    "main_federated_results": 2,
    "phase1-main-external-verification": 1,
    "phase1-main-results": 1,
    "phase1-external-evaluator-details": 2,
    "phase1-legacy-comparison": 1,
    "phase1-topic-audit": 1,
    "phase1-external-agreement": 2,
    "phase1-7b-base-sensitivity": 1,
    "asce-leakage-free-gensource": 1,
    "asce-leakage-free-pairwise": 1,
    "asce-b-audit": 1,
    "asce-scale-transfer": 1,
    "mythos-reddit-external-main": 1,
    "mythos-reddit-external-details": 1,
    "phase1-ablation-full-meanstd": 1,
    "phase1-ablation-paired-tests": 2,
    "phase1-ablation-external-paired": 3,
    "phase1-ablation-run-audit": 1,
    "phase1-paired-significance": 2,
    "phase1-external-paired-auc": 3,
    "feddpa-gate-sensitivity": 1,
    "efficiency_communication": 1,
    "k100-scale-stress": 1,
    "text-volume-sweep": 1,
    "imbalance-sweep": 1,
    "cold-start-main": 1,
    "cold-start-full": 2,
    "cold-start-nested-k": 1,
    "prompting_retrieval_baselines": 1,
    "qwen-generic-quality": 1,
    "human_2afc_audit": 1,
}

_SYMBOLS = (
    (r"\yesmark", "✓"),
    (r"\nomark", "✗"),
    (r"\datasetmain", "BlogText"),
    (r"\textsuperscript{\dag}", "†"),
    (r"\dag", "†"),
    (r"\rightarrow", "→"),
    (r"\uparrow", ""),
    (r"\downarrow", ""),
    (r"\kappa", "κ"),
    (r"\omega", "ω"),
    (r"\Delta", "Δ"),
    (r"\alpha", "α"),
    (r"\geq", "≥"),
    (r"\times", "×"),
    (r"\pm", "±"),
    (r"\%", "%"),
    (r"\&", "&"),
    (r"\ ", " "),
    (r"\,", " "),
    ("{,}", ","),
    ("^2", "²"),
    ("^{-4}", "⁻⁴"),
    ("---", "—"),
    ("--", "–"),
    ("~", " "),
)


def read_paper_table(source: Path, label: str) -> list[dict[str, str]]:
    """Return the rows of table ``label`` (without "tab:") in reading order: the cells by column, as they are shipped.

    Raises ``UserError`` where the source has no such table.
    """
    text = source.read_text(encoding="utf-8")
    end = text.find(rf"\label{{tab:{label}}}")
    if end < 0 or label not in STUB_COLUMNS:
        raise UserError(f"{source}: no table labelled 'tab:{label}'; known tables are {', '.join(STUB_COLUMNS)}")
    start = text.rfind(r"\begin{table", 0, end)
    return [row for panel, rows in _panels(text, start, end) for row in _records(label, panel, rows)]


def _panels(text: str, start: int, end: int) -> Iterator[tuple[str, list[list[str]]]]:
    for body in re.finditer(r"\\toprule(.*?)\\bottomrule", text[start:end], flags=re.DOTALL):
        heading = re.findall(r"\\textit\{Panel ([^}]*)\}", text[start : start + body.start()])
        panel = f"Panel {heading[-1]}" if heading else ""
        yield panel, _split_rows(text, start + body.start(1), start + body.end(1))


def _split_rows(text: str, start: int, end: int) -> list[list[str]]:
    """Split tabular source into rows of cells at the double backslashes and ampersands outside braces."""
    rows: list[list[str]] = [[]]
    depth, begin, position = 0, start, start
    while position < end:
        two = text[position : position + 2]
        if two == r"\\" and depth == 0:
            rows[-1].append(_cell(text[begin:position]))
            rows.append([])
            begin = position = position + 2
        elif text[position] == "\\":
            position += 2
        elif text[position] == "&" and depth == 0:
            rows[-1].append(_cell(text[begin:position]))
            begin = position = position + 1
        else:
            depth += {"{": 1, "}": -1}.get(text[position], 0)
            position += 1
    return [row for row in rows if row]


def _cell(source: str) -> str:
    return re.sub(r"\\(?:midrule|addlinespace|cmidrule\S*)", "", source).strip()


def _records(label: str, panel: str, rows: Sequence[Sequence[str]]) -> Iterator[dict[str, str]]:
    stubs = STUB_COLUMNS[label]
    headers = [plain(cell) for cell in rows[0]]
    section = ""
    for row in rows[1:]:
        names = [plain(cell) for cell in row[:stubs]]
        if label in SECTIONED:
            section = names[0] or section
            names = names[1:]
        place = dict(zip(PLACE, (panel, section, " · ".join(names)), strict=True))
        pairs = zip(headers[stubs:], row[stubs:], strict=True)
        cells = {column: _printed(cell) for pair in pairs for column, cell in _split_pair(*pair)}
        yield {name: value for name, value in place.items() if value} | cells


def _split_pair(header: str, source: str) -> list[tuple[str, str]]:
    # The ablation table prints "AUC/EER" as one column of "a/b" cells; every other table gives them a column each.
    if "AUC/EER" not in header:
        return [(header, source)]
    means, deviations = _arguments(source, r"\meanstd")
    evaluator = header.replace("AUC/EER", "").replace("/", "").strip()
    pairs = zip(("AUC", "EER"), _slash(means), _slash(deviations), strict=True)
    return [(f"{evaluator} {name}", rf"\meanstd{{{mean}}}{{{deviation}}}") for name, mean, deviation in pairs]


def _slash(text: str) -> list[str]:
    return text.split("/")


def _arguments(source: str, command: str) -> list[str]:
    """Return the brace arguments that follow ``command``, braces balanced."""
    position = source.index(command) + len(command)
    arguments: list[str] = []
    while position < len(source) and source[position] == "{":
        depth, begin = 0, position + 1
        while True:
            depth += {"{": 1, "}": -1}.get(source[position], 0)
            position += 1
            if depth == 0:
                break
        arguments.append(source[begin : position - 1])
    return arguments


def _printed(source: str) -> str:
    """Return one cell as it is shipped: its text between the signs of its mark."""
    sign = MARKS["best" if r"\textbf" in source else "second" if r"\underline" in source else ""]
    return f"{sign}{plain(source)}{sign}"


def plain(source: str) -> str:
    """Return LaTeX cell ``source`` as plain Unicode text: no markup, arrows of direction left out, lines joined."""
    text = re.sub(r"(?<!\\)%.*", "", source)
    if r"\meanstd" in text:
        mean, deviation = _arguments(text, r"\meanstd")
        text = f"{mean} ± {deviation}"
    text = re.sub(r"\\makecell(?:\[\w\])?", "", text)
    text = re.sub(r"-\\\\(?:\[[^\]]*\])?", "-", text)
    text = re.sub(r"\\\\(?:\[[^\]]*\])?", " ", text)
    for symbol, replacement in _SYMBOLS:
        text = text.replace(symbol, replacement)
    text = re.sub(r"\\(?:textbf|underline|textit|texttt|text)\b", "", text)
    text = re.sub(r"[{}$]", "", text)
    text = re.sub(r"/$", "", re.sub(r"\s+", " ", text).strip())
    return text.strip()


def to_csv(rows: Sequence[dict[str, str]]) -> str:
    """Return a table's rows as the CSV text shipped with the project; columns in order of their first cell."""
    text = StringIO()
    writer = csv.DictWriter(text, list(dict.fromkeys(name for row in rows for name in row)), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def main(source: Path, folder: Path) -> None:
    """Write one CSV file per known table of ``source`` into ``folder``."""
    for label in STUB_COLUMNS:
        write_text(to_csv(read_paper_table(source, label)), folder / f"{label}.csv")


if __name__ == "__main__":
    main(Path(sys.argv[1]), FOLDER)
