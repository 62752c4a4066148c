"""The same prompts continued by every author: how alike, and can the author be told."""

from favor.paper.names import METHODS
from favor.tables.specs import Column, Panel, TableSpec, method_rows

TABLE = TableSpec(
    label="common-prompts",
    title="Common prompts",
    caption="Every client continues the same prompts, so only adapters tell authors apart. Cosines of style vectors "
    "and Jaccard similarities of word bigrams are means over pairs of different authors: on one common prompt, "
    "on two (what chance gives) and on the authors' own prompts, for people too. AUC: pairs of one author on two "
    "prompts against pairs of two authors on one prompt, or on two. Shares are variance components of the style "
    "vectors. Brackets are 95 % intervals over authors for these prompts: other prompts would give other values, which "
    "they do not cover. A method with one adapter for all authors is at "
    "chance by construction: all authors have one text, so the accuracy is 1 / authors, the author's share 0, the AUC "
    "0.5 over two prompts and 0 over one.",
    rows=method_rows(*METHODS),
    panels=(
        Panel(
            (
                Column("Same\nprompt", "common_similarity", "style", interval=True),
                Column("Other\nprompts", "common_similarity", "style", variant="other_prompt"),
                Column("Own\nprompts", "own_prompt_similarity", "style"),
                Column("Bigrams,\nsame", "common_overlap"),
                Column("Bigrams,\nother", "common_overlap", variant="other_prompt"),
                Column("Bigrams,\nown", "own_prompt_overlap"),
            ),
            "How alike different authors write",
        ),
        Panel(
            (
                Column("Author\nacc.", "common_accuracy", "style", interval=True),
                Column("AUC,\none prompt", "common_auc", "style", interval=True),
                Column("AUC,\ntwo prompts", "common_auc", "style", variant="other_prompt"),
                Column("Author\nshare", "author_share", "style"),
                Column("Prompt\nshare", "prompt_share", "style"),
                Column("Remainder", "remainder_share", "style"),
            ),
            "Whether the author is recognised",
        ),
    ),
    sources=("common_prompts",),
    section="Voice kept, diversity and copying",
)
