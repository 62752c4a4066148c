"""An optional encoder that is not on the machine: said before any job, left out of the plan, explained in tables."""

from __future__ import annotations

import pytest

from tests.workflow.conftest import copy_project


@pytest.fixture(scope="module")
def project(repository, tmp_path_factory):
    copied = copy_project(repository, tmp_path_factory.mktemp("absent") / "project")
    copied.edit(
        "config/config.yaml",
        "assistants:\n",
        "  star: { kind: sentence, title: STAR, source: /no/star, optional: true }\n\nassistants:\n",
    )
    copied.edit("config/config.yaml", "encoders: [asce_b,", "encoders: [star, asce_b,")
    return copied


def test_it_is_named_once_and_planned_nowhere(project):
    output = project.snakemake("-n").stdout
    assert output.count("warning: left out: STAR (/no/star) is not on this machine.") == 1
    assert "embeddings/star" not in output
    assert "embeddings/stylometry" in output


def test_the_style_encoder_cannot_be_left_out(project):
    project.edit("config/config.yaml", "style_encoder: asce_a", "style_encoder: star")
    done = project.snakemake("-n", check=False)
    project.edit("config/config.yaml", "style_encoder: star", "style_encoder: asce_a")
    assert done.returncode == 1
    assert "error: experiment 'demo' needs encoder 'star': STAR (/no/star) is not on this machine" in done.stdout
