"""The commands of docs/sites.md, run in their order as they stand there, on a smaller demo."""

from __future__ import annotations

from tests.sites.walk import blocks, run_blocks, small_demo

from favor.federation.tables import BOUNDARY
from favor.foundation.parquet import read_parquet


def test_the_commands_of_the_page_work(repository, tmp_path) -> None:
    folder = tmp_path / "project"
    small_demo(repository, folder)
    printed = run_blocks(folder, blocks(repository, "bash")[0])
    for line in (
        "round 0 of 2 is open: send server/rounds/0 to client_001, client_002",
        "not taken out; a favor run of everybody's texts does both",
        "round 1 is closed; favor server export server ends it",
        "no site needs the adapter",
        "floor: addresses of 21 presidents",
    ):
        assert line in printed
    crossed = read_parquet(folder / "server" / "boundary.parquet", BOUNDARY)
    assert crossed.groupby(["round", "direction", "client"]).size().to_dict() == {
        (number, direction, client): 1
        for number in (0, 1)
        for direction in ("client_to_server", "server_to_client")
        for client in ("client_001", "client_002")
    }
    for site in ("anna", "bert"):
        assert (folder / site / "adapter" / "adapter_config.json").is_file()
