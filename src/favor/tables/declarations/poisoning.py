"""What attackers among the clients take from the others, and whether the voice they aim at gets through."""

from favor.paper.names import METHODS, method_name
from favor.tables.specs import POINT, Column, Panel, Row, TableSpec

TABLE = TableSpec(
    label="poisoning",
    title="Attacks on the shared adapter",
    caption="What clients' final models know of unseen texts, in nats per token over the base, while some clients "
    "attack. Authors are honest clients. Lost: their gain in the undisturbed run minus that here. Target: the author "
    "whose voice a hijack aims at. Turned: by how much the attack moved a client's model towards the target's texts "
    "and away from its own author's. Taken: share of authors whose client's model gains more on the target's texts "
    "than on theirs. In brackets 95 % intervals over authors, paired where two runs are compared.",
    stub_headers=("Rule and attackers", "Method"),
    rows=tuple(Row((POINT, method_name(key)), method=key, ranked=False) for key in METHODS),
    panels=(
        Panel(
            (
                Column("Own gain", "poisoning_own_gain", interval=True),
                Column("Lost", "poisoning_lost", interval=True, signed=True),
            ),
            "Voice kept",
        ),
        Panel(
            (
                Column("Target's gain", "poisoning_target_gain"),
                Column("Turned", "poisoning_turned", interval=True, signed=True),
                Column("Taken", "poisoning_taken", decimals=2, interval=True),
            ),
            "Success of a hijack",
        ),
    ),
    sources=("poisoning",),
    section="Privacy",
    open_rows=False,
    with_controls=False,
    over_points=True,
)
