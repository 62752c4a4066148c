"""The settings of what is published, and what its jobs read."""

from __future__ import annotations

from pydantic import JsonValue

from favor.settings.section import Day, Filled, Licence, Section, key


class Release(Section):
    """The publication bundle (docs/exports.md)."""

    title: Filled = key("Results of FAVoR Workflow", "What the metadata of the bundle calls it.")
    creators: list[Filled] = key([], "People or groups who publish it.")
    licence: Licence = key("MIT", "SPDX identifier of the licence under which you publish it.")
    date: Day | None = key(None, "Day of publication as 'YYYY-MM-DD', in quotes; null is the day of the newest result.")
    exempt: list[str] = key([], "Words of published files that equal an author's identifier by chance, as a count may.")


class Bundle(Section):
    """What the job reads that makes the bundle. ``configuration``: as it is printed; ``results``: the folder."""

    release: Release
    configuration: dict[str, JsonValue]
    results: str


class PanExport(Section):
    """The run that is exported to PAN's evaluator."""

    method: str
    seed: int
