"""What is erased at once where a client withdraws: also what quotes its texts and names nobody."""

from pathlib import Path

import pandas as pd
import pytest

from favor.corpora.schemas import ALLOCATION
from favor.federation.schemas import GENERATIONS, SCHEDULE
from favor.federation.withdrawal import erase
from favor.foundation.parquet import read_parquet, write_parquet
from favor.plan.paths import Paths
from favor.running.folder.output_record import write_record

QUOTING = (
    *("short/gallery.html", "short/sample.json", "report.html", "report.pdf"),
    *("short/studies/human_2afc/annotator_1.html", "short/exports/pan/luar/favor-seed1/pairs.jsonl"),
)
OTHERS = ("other/gallery.html", "numbers.json", "short/tables/main.html", "short/report.html")


@pytest.fixture
def results(tmp_path) -> Path:
    """A finished run of two clients, in a folder whose name holds signs of patterns."""
    folder = tmp_path / "results [1]"
    rows = [(1, "favor", client, "p", 0, "text", 1, 1, 1.0, True) for client in ("client_001", "client_002")]
    write_parquet(
        pd.DataFrame(rows, columns=GENERATIONS.names), folder / "short/seed1/favor/generations.parquet", GENERATIONS
    )
    for name in (*QUOTING, *OTHERS):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("what somebody wrote")
    write_record(folder, [*QUOTING, *OTHERS, "short/seed1/favor/generations.parquet"])
    return folder


def erased(results, *clients, planning=False) -> list[str]:
    return list(erase(results, "short", clients, Paths(str(results)).quoting("short"), planning))


def test_whatever_quotes_a_withdrawn_client_goes_at_once(results) -> None:
    said = erased(results, "client_001", planning=True)
    assert all((results / name).is_file() for name in QUOTING)
    assert {line.split(" to be deleted ")[1] for line in said} == {
        str(results / name) for name in (*QUOTING, "short/seed1/favor/generations.parquet")
    }
    assert len(erased(results, "client_001")) == len(said)
    assert not any((results / name).exists() for name in QUOTING)
    assert all((results / name).is_file() for name in OTHERS)
    assert erased(results, "client_001") == []


def test_what_was_made_without_the_client_stays(results) -> None:
    assert erased(results, "client_003") == erased(results) == []
    assert all((results / name).is_file() for name in QUOTING)


def test_the_clients_rows_leave_tables_that_stay_and_the_schedule_keeps_who_was_drawn(results) -> None:
    short = results / "short"
    allocation, schedule = short / "clients/allocation.parquet", short / "seed1/schedule/uniform.parquet"
    drawn = [(0, 0, "client_001"), (0, 1, "client_002")]
    write_parquet(pd.DataFrame(drawn, columns=SCHEDULE.names), schedule, SCHEDULE)
    words = [("client_001", 9, 9, 9), ("client_002", 8, 8, 8)]
    write_parquet(pd.DataFrame(words, columns=ALLOCATION.names), allocation, ALLOCATION)
    times = allocation.stat().st_mtime_ns
    write_record(results, [str(path.relative_to(results)) for path in (allocation, schedule)])
    (said,) = erased(results, "client_001")
    assert said == f"withdrawn from 'short' (client_001): rows removed from {allocation}"
    assert list(read_parquet(allocation, ALLOCATION)["client"]) == ["client_002"]
    assert allocation.stat().st_mtime_ns == times
    assert list(read_parquet(schedule, SCHEDULE)["client"]) == ["client_001", "client_002"]
