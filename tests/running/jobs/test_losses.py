"""The losses of a pretraining are kept step by step, over the tokens that were read."""

from favor.foundation.parquet import read_parquet
from favor.running.jobs.losses import LOSSES, write_losses


def test_every_step_is_a_row(tmp_path) -> None:
    write_losses([3.0, 2.5, 2.25], 100, tmp_path / "losses.parquet")
    kept = read_parquet(tmp_path / "losses.parquet", LOSSES)
    assert kept.to_numpy().tolist() == [[100, 3.0], [200, 2.5], [300, 2.25]]
