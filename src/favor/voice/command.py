"""``favor score``: how near texts are to an author, without a run and without a GPU."""

import argparse
import json
import math
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from favor.encoders.base import TextEncoder, load_encoder
from favor.foundation.errors import UserError
from favor.foundation.files import write_text
from favor.running.jobs.environment import quiet_libraries
from favor.voice.contrast import contrast_of
from favor.voice.score import score_voice
from favor.voice.texts import read_author, read_texts
from favor.voice.words import lines, score_page


def check_page(page: Path | None) -> None:
    """Refuse, before the work begins, a page that is a folder."""
    if page is not None and page.is_dir():
        raise UserError(f"--page {page}: is a folder; name a file in it")


def run(arguments: argparse.Namespace) -> None:
    """Score the texts that a command line names: print lines or JSON, and write the page where one is asked for.

    Raises ``UserError``, before anything is written, where something cannot be read or there is too little text.
    """
    quiet_libraries()
    check_page(arguments.page)
    texts: dict[str, str] = {}
    for path in arguments.texts:
        before = "" if len(arguments.texts) == 1 else f"{path}: "
        texts |= {f"{before}{name}": text for name, text in read_texts(path).items()}
    author = read_author(arguments.author)
    contrast = contrast_of(arguments.contrast)
    print(f"favor: reading {len(texts)} texts by {arguments.encoder}, stylometry and grammar", file=sys.stderr)
    score = score_voice(texts, author, contrast.authors, style_encoder(arguments.encoder))
    if contrast.genre:
        score.notes.insert(0, contrast.genre)
    if arguments.page is not None:
        write_text(score_page(score, str(arguments.author), contrast.name, arguments.encoder), arguments.page)
    if arguments.json:
        found = {**asdict(score), "contrast": contrast.name, "encoder": arguments.encoder}
        print(json.dumps(finite(found), indent=1, allow_nan=False))
    else:
        print("\n".join(lines(score, contrast.name)))


def style_encoder(name: str) -> TextEncoder:
    """Load an encoder by its folder, if the workflow trained it, or as sentence-transformers does."""
    if (Path(name) / "encoder.json").is_file():
        return load_encoder({"kind": "asce"}, Path(name))
    return load_encoder({"kind": "sentence", "source": name})


def finite(value: Any) -> Any:
    """Return plain values as JSON takes them: what is not a finite number is None."""
    if isinstance(value, dict):
        return {key: finite(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [finite(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
