"""The settings of what is published, what its jobs read, and what the layout of the paper's release has a place for."""

from collections.abc import Mapping
from typing import Any

from pydantic import JsonValue

from favor.foundation.errors import UserError
from favor.foundation.section import Day, Filled, Licence, Number, Section, key
from favor.paper.names import released_methods

PREFIX_TOKENS = {"BlogText": 96, "Mythos-Reddit": 192}
MAXIMUM_NEW_TOKENS = 220
MINIMUM_WORDS, MINIMUM_RATIO = 20, 0.15
# families of the scores that the release has columns for
FAMILIES = ("assistant", "geometry", "prototypes", "quality", "utility", "verification")


class Release(Section):
    """The publication bundle (docs/exports.md)."""

    title: Filled = key("Results of FAVoR Workflow", "What the metadata of the bundle calls it.")
    creators: list[Filled] = key([], "People or groups who publish it.")
    licence: Licence = key("MIT", "SPDX identifier of the licence under which you publish it.")
    date: Day | None = key(None, "Day of publication as 'YYYY-MM-DD', in quotes; null is the day of the newest result.")
    exempt: list[str] = key([], "Words of published files that equal an author's identifier by chance, as a count may.")


class Bundle(Section):
    """Settings of the job that makes the bundle. ``configuration``: as it is printed; ``results``: the folder."""

    release: Release
    configuration: dict[str, JsonValue]
    results: str


class PanExport(Section):
    """The run that is exported to PAN's evaluator."""

    method: str
    seed: int


class ReleasedRun(Section):
    """What is exported beside the tables.

    ``dataset``: the release's name of the corpus; ``generated``: whether its authors are made up. ``row``: key of the
    row, by which the tables know the run; ``title``: its printed name; ``method``: its method. ``style_encoder``: key;
    ``style_encoder_title``, ``base_model``: printed names, no paths of this machine. ``settings``: resolved values of
    the experiment. ``measured_with``: the models behind the other metrics. ``components``: what acts in the row
    (proximal term, private residual, alignment, shared stage), and ``method_components`` what acts in the method as its
    file declares it. ``local_epochs_shared``, ``local_epochs_private``: passes over own text, 0 without such a stage.
    ``client_updates``: uploads in all.
    """

    dataset: str
    generated: bool
    row: str
    title: str
    method: str
    seed: int
    style_encoder: str
    style_encoder_title: str
    base_model: str
    quantisation: str
    hyperparameters: dict[str, JsonValue]
    settings: dict[str, Any]
    measured_with: dict[str, str | int | None]
    components: dict[str, bool]
    method_components: dict[str, bool]
    local_epochs_shared: Number
    local_epochs_private: Number | None
    client_updates: int

    @property
    def released(self) -> str:
        """The release's name of the method."""
        return released_methods()[self.method]


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
    limits = {"minimum_words": MINIMUM_WORDS, "minimum_distinct_bigram_ratio": MINIMUM_RATIO}
    for name, fixed in {"max_new_tokens": MAXIMUM_NEW_TOKENS, **limits}.items():
        if generation[name] != fixed:
            wrong.append(f"generation.{name} is {generation[name]}, not {fixed}")
    if wrong:
        raise UserError(f"the released layout cannot hold this run: {'; '.join(wrong)}")


def non_iid_level(allocation: Mapping[str, Any]) -> str:
    """Return how unequal the clients' budgets are, in the release's word where it has one ("medium")."""
    if allocation.get("shots") is not None:
        return "equal number of texts"
    if allocation["shape"] != "long_tail":
        return str(allocation["shape"])
    return "medium" if allocation["alpha"] == 0.7 else f"long_tail {allocation['alpha']:g}"
