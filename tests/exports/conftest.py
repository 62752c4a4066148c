"""Exports as ``favor voice collect`` reads them, and the one line with which a reading stops."""

from pathlib import Path

import pytest

from favor.corpora.posts import ReaderSettings
from favor.exports.formats import open_export
from favor.exports.items import Item
from favor.foundation.errors import UserError

DATA = Path(__file__).parent / "data"


def read(path, form=None) -> tuple[str, list[Item]]:
    """The format of an export, and all that it holds; ``form``: of its dates."""
    name, export, files = open_export(path)
    return name, list(export.items(files, ReaderSettings(has_keys=False, date_format=form)))


def refusal(reading, *given, **more) -> str:
    """The one line with which ``reading`` stops."""
    with pytest.raises(UserError) as error:
        reading(*given, **more)
    assert "\n" not in str(error.value)
    return str(error.value)
