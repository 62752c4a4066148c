"""What a start refuses of Snakemake's own options, once the Snakefile is read."""

from types import SimpleNamespace

import pytest
from snakemake.logging import logger
from snakemake.settings.types import StorageSettings

from favor.foundation.errors import UserError
from favor.running.command_line import check_command_line


@pytest.fixture
def stopped(request) -> list[UserError]:
    """What stops a run with these settings of storage, at the first line that Snakemake logs after the Snakefile."""
    found = []
    workflow = SimpleNamespace(rules=[], dag_settings=SimpleNamespace(targets=[]), storage_settings=request.param)
    check_command_line(workflow, SimpleNamespace(check=lambda *_: None), found.append)
    logger.warning("Building DAG of jobs...")
    return found


@pytest.mark.parametrize("stopped", [None, StorageSettings()], indirect=True)
def test_local_files_are_fine(stopped) -> None:
    assert stopped == []


@pytest.mark.parametrize("stopped", [StorageSettings(default_storage_provider="fs")], indirect=True)
def test_a_storage_provider_is_refused(stopped) -> None:
    (error,) = stopped
    assert "--default-storage-provider fs" in str(error)
    assert "leave the option out" in str(error)
