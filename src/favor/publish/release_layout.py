"""What the layout of the paper's public release has a place for. All of it is known before anything is trained."""

from collections.abc import Mapping
from typing import Any

from favor.foundation.errors import UserError
from favor.paper.names import released_methods
from favor.publish.settings import ReleasedRun

PREFIX_TOKENS = {"BlogText": 96, "Mythos-Reddit": 192}
MAXIMUM_NEW_TOKENS = 220
MINIMUM_WORDS, MINIMUM_RATIO = 20, 0.15
# families of the scores that the release has columns for
FAMILIES = ("assistant", "geometry", "prototypes", "quality", "utility", "verification")


def check(run: ReleasedRun) -> None:
    """Raise ``UserError`` naming everything for which the layout has no place."""
    generation = run.settings["generation"]
    prefix = run.settings["prompts"]["prefix_tokens"]
    wrong = []
    if run.dataset not in PREFIX_TOKENS:
        wrong.append(f"the corpus is none of {', '.join(PREFIX_TOKENS)} (paper_dataset)")
    else:
        if run.generated:
            wrong.append(f"its authors are generated, and those of {run.dataset} are people")
        if prefix != PREFIX_TOKENS[run.dataset]:
            wrong.append(f"prompts.prefix_tokens is {prefix}, not {PREFIX_TOKENS[run.dataset]}")
    if run.method not in released_methods():
        wrong.append(f"it has no place for method '{run.method}'")
    changed = [name for name, acts in run.method_components.items() if run.components[name] != acts]
    if changed:
        switched = ", ".join(f"{name} {'on' if run.components[name] else 'off'}" for name in changed)
        wrong.append(f"row '{run.row}' has {switched}, which makes it another method than '{run.method}'")
    for key, fixed in (
        ("max_new_tokens", MAXIMUM_NEW_TOKENS),
        ("minimum_words", MINIMUM_WORDS),
        ("minimum_distinct_bigram_ratio", MINIMUM_RATIO),
    ):
        if generation[key] != fixed:
            wrong.append(f"generation.{key} is {generation[key]}, not {fixed}")
    if wrong:
        raise UserError(f"the released layout cannot hold this run: {'; '.join(wrong)}")


def non_iid_level(allocation: Mapping[str, Any]) -> str:
    """Return how unequal the clients' budgets are, in the release's word where it has one ("medium")."""
    if allocation.get("shots") is not None:
        return "equal number of texts"
    if allocation["shape"] != "long_tail":
        return str(allocation["shape"])
    return "medium" if allocation["alpha"] == 0.7 else f"long_tail {allocation['alpha']:g}"
