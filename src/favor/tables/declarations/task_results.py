"""What models that answer requests keep of the content, and what voice they add."""

from favor.paper.names import METHODS
from favor.tables.specs import Column, Panel, TableSpec, method_rows

TABLE = TableSpec(
    label="task-results",
    title="Voice gained and content kept",
    caption="Answers to drafts or instructions that the untouched base model made of held-out passages. Content kept: "
    "cosine of the semantic encoder between answer and draft; the untouched draft has 1 and gains no voice. By chance: "
    "the same to other authors' drafts. A sentence encoder reads topic: it sees neither a changed number nor a lost "
    "not. Voice gained: margin of the answer (similarity to its author minus the mean similarity to the others) minus "
    "that of the draft. In brackets 95 % intervals over authors, who keep their outputs of all seeds. The authors' own "
    "passages show what the same content reaches in their voice; for instructions content has no ceiling.",
    rows=method_rows(*METHODS),
    panels=(
        Panel(
            (
                Column("Content\nkept", "content_kept", "semantic", interval=True),
                Column("By\nchance", "content_by_chance", "semantic"),
            ),
            "Content",
        ),
        Panel(
            (
                Column("Style\nencoder", "voice_gained", "style", interval=True, signed=True),
                Column("Independent\nencoder", "voice_gained", "independent", interval=True, signed=True),
            ),
            "Voice gained over the draft",
        ),
    ),
    sources=("tasks",),
    section="Voice kept, diversity and copying",
)
