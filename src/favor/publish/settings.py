"""The settings of what is published, and what its jobs read."""

from typing import Any

from pydantic import JsonValue

from favor.foundation.section import Day, Filled, Licence, Number, Section, key
from favor.paper.names import released_methods


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
