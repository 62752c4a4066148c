"""Truncated files of an earlier run are found before anything reads half of one."""

import numpy as np
import pandas as pd

from favor.foundation.files import write_parquet, write_safetensors
from favor.foundation.leftovers import is_truncated, set_aside_truncated


def test_whole_files_stay_and_every_shorter_prefix_is_found(tmp_path):
    parquet, tensors = tmp_path / "a.parquet", tmp_path / "sub" / "a.safetensors"
    write_parquet(pd.DataFrame({"reason": ["kept"], "rows": [1]}), parquet, "dropped")
    write_safetensors({"a": np.ones(9, dtype=np.float32)}, tensors, {"kind": "x"})
    assert set_aside_truncated(tmp_path, rename=True) == []
    for path in (parquet, tensors):
        whole = path.read_bytes()
        for size in range(len(whole)):
            path.write_bytes(whole[:size])
            assert is_truncated(path), (path.name, size)
        path.write_bytes(whole)


def test_a_truncated_file_is_renamed_only_by_a_real_run(tmp_path, capsys):
    path = tmp_path / "a.parquet"
    path.write_bytes(b"PAR1")
    assert set_aside_truncated(tmp_path, rename=False) == [path]
    assert path.exists()
    set_aside_truncated(tmp_path, rename=True)
    assert not path.exists()
    assert (tmp_path / "a.parquet.truncated").exists()
    assert "made again" in capsys.readouterr().err
