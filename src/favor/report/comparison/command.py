"""``favor compare``: two groups' results in one table, and paired where prompts are equal."""

import argparse
import sys
from pathlib import Path

from favor.analysis.schemas import GROUP_DIFFERENCES, GROUP_ROWS
from favor.foundation.errors import UserError
from favor.foundation.files import write_text
from favor.foundation.parquet import write_parquet
from favor.report.comparison.merging import merge
from favor.report.comparison.page import comparison_page, findings
from favor.report.comparison.reading import Group, protocol_digest, read_group, share


def run(arguments: argparse.Namespace) -> None:
    """Compare the two folders that a command line names, or write what one of them brings to a comparison.

    Raises ``UserError``, before anything is written, where they cannot be read or compared.
    """
    if (arguments.second is None) == (arguments.share is None):
        raise UserError("compare: name two folders, or one folder and --share FOLDER")
    target = arguments.share or arguments.output
    if target.exists() and (not target.is_dir() or (target / "settings.json").is_file()):
        raise UserError(f"{target}: is {'a folder of results' if target.is_dir() else 'a file'}; name another folder")
    first = _read(arguments.first, arguments.encoders)
    if arguments.share is not None:
        share(first, target)
        print(f"{target}: numbers and digests of protocol {protocol_digest(first)}, without texts")
        return
    merged = merge(first, _read(arguments.second, arguments.encoders))
    found, shown = findings(merged), comparison_page(merged)
    write_parquet(merged.rows, target / "rows.parquet", GROUP_ROWS)
    write_parquet(merged.differences, target / "differences.parquet", GROUP_DIFFERENCES)
    write_text(shown, target / "comparison.html")
    print("\n".join([*found, f"Page: {target / 'comparison.html'}"]))


def _read(path: Path, encoders: list[str] | None) -> Group:
    print(f"favor: reading {path}", file=sys.stderr, flush=True)
    group = read_group(path)
    return group if encoders is None else group.within(encoders)
