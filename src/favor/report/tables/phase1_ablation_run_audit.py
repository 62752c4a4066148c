"""Which components each ablation row uses."""

from favor.report.names import METHODS
from favor.report.specs import Column, Panel, TableSpec, method_rows


def _answers(global_asce: str, favor_without_asce: str, favor: str) -> dict[str, str]:
    return {
        METHODS["global_asce"]: global_asce,
        METHODS["favor_without_asce"]: favor_without_asce,
        METHODS["favor"]: favor,
    }


TABLE = TableSpec(
    label="phase1-ablation-run-audit",
    title="Component-ablation configuration check",
    caption="Component-ablation configuration check.",
    stub_headers=("Variant",),
    rows=method_rows("global_asce", "favor_without_asce", "favor"),
    panels=(
        Panel(
            (
                Column("Private\nresidual", fixed=_answers("✗", "✓", "✓")),
                Column("ASCE\nalign.", fixed=_answers("✓", "✗", "✓")),
                Column("Shared\nprox.", fixed=_answers("✗", "✓", "✓")),
            )
        ),
    ),
    sources=(),
    paper="L1978-1999",
    open_rows=False,
    with_controls=False,
)
