"""What every method's outputs share word for word with training texts: the own author's, and other clients'."""

from favor.paper.names import METHODS
from favor.tables.specs import Column, TableSpec, method_rows, one_panel


def _columns(prefix: str, variant: str) -> tuple[Column, ...]:
    return (
        Column(f"{prefix}:\nshare of 5-grams", "copy5_rate", variant=variant, interval=True),
        Column(f"{prefix}:\nlongest span", "longest_copy", variant=variant, decimals=1, interval=True),
    )


TABLE = TableSpec(
    label="copying",
    title="Copying",
    caption="What outputs share word for word with what the author's client trained on (own), and with what all other "
    "clients trained on (others), which reaches an output through the shared adapter alone. Share of 5-grams: those of "
    "others are in no own text. Longest span: mean words of the longest shared sequence of at least 5 words, of "
    "outputs cut to one length. Own continuations show what authors repeat without copying. Other clients "
    "have more text in total: compare methods within a column. Brackets are 95 % intervals over authors.",
    rows=method_rows(*METHODS),
    panels=one_panel(*_columns("Own", ""), *_columns("Others", "others")),
    sources=("copying",),
    section="Voice kept, diversity and copying",
)
