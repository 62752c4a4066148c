"""How varied every method's outputs are beside human text, and how far authors drift towards the group's mean."""

from favor.paper.names import METHODS
from favor.tables.specs import Column, Panel, TableSpec, method_rows

TABLE = TableSpec(
    label="diversity",
    title="Diversity and drift",
    caption="How varied a method's outputs are as a set. Every text is cut to the words of the shortest human "
    "continuation. Vendi scores are those of sets of one size, that of the method with the fewest outputs; × "
    "human divides the score of all outputs by that of the human continuations of the same prompts. Growth: "
    "slope of ln Vendi on the logarithm of the number of authors. Drift: the variance between a method's "
    "authors over that of their own texts, of centres in the style space and of readable habits, both without "
    "the noise of few texts, with 95 % intervals over authors. 0 means that all write alike, 1 that they "
    "differ as their own continuations do. Habits kept is the slope on the authors' own habits: 0 is the "
    "group's mean, 1 the author's.",
    rows=method_rows(*METHODS),
    panels=(
        Panel(
            (
                Column("Vendi\n(style)", "style_vendi", "style", variant="equal", decimals=2, deviation="inline"),
                Column("× human", "style_vendi", "style", variant="of_human", decimals=2),
                Column("Vendi\n(n-grams)", "ngram_vendi", variant="equal", decimals=2, deviation="inline"),
                Column("× human\n(n-grams)", "ngram_vendi", variant="of_human", decimals=2),
                Column("Growth with\nauthors", "vendi_growth", "style", decimals=2),
                Column("Compression\nratio", "compression_ratio", decimals=2),
                Column("Self-BLEU", "self_bleu"),
                Column("Self-\nrepetition", "self_repetition", decimals=2),
            ),
            "Diversity",
        ),
        Panel(
            (
                Column("Spread left", "spread_left", "style", decimals=2, interval=True),
                Column("Habit variance\nleft", "habit_variance_left", decimals=2, interval=True),
                Column("Habits kept", "habit_slope", decimals=2, interval=True),
            ),
            "Drift",
        ),
    ),
    sources=("diversity", "drift"),
    section="Voice kept, diversity and copying",
)
