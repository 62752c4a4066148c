"""Every caption of Snakemake's own report belongs to an output, and every output that is shown there has one."""

from __future__ import annotations

import re
from pathlib import Path


def test_captions_are_used(repository: Path) -> None:
    sources = [repository / "Snakefile", *sorted((repository / "workflow" / "rules").glob("*.smk"))]
    text = "\n".join(path.read_text(encoding="utf-8") for path in sources)
    named = set(re.findall(r"report/(\w+)\.rst", text))
    assert 'caption=f"../report/{kind}.rst"' in text
    named |= {"html", "pdf"}  # the kinds of the report
    assert named == {path.stem for path in (repository / "workflow" / "report").glob("*.rst")}
