"""A model's folder, written whole or not at all."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from safetensors import SafetensorError

from favor.foundation.errors import UserError
from favor.foundation.files import PARTIAL, REMEDY, to_disk


@contextmanager
def written_whole(target: Path) -> Iterator[Path]:
    """Yield a folder beside ``target`` to save a model in, which then takes its place. Raises ``UserError``."""
    partial = target.with_name(f".{target.name}{PARTIAL}")
    shutil.rmtree(partial, ignore_errors=True)
    try:
        partial.mkdir(parents=True)
        yield partial
        for path in partial.iterdir():
            to_disk(path)
        shutil.rmtree(target, ignore_errors=True)
        partial.replace(target)
    except (OSError, SafetensorError) as error:
        raise UserError(f"{target}: the model cannot be saved there ({error}); {REMEDY}") from None
    finally:
        shutil.rmtree(partial, ignore_errors=True)
