"""What somebody finds who reads every file that crosses between a coordinator and its sites."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from favor.corpora.schemas import CLIENT_TEXTS
from favor.encoders.schemas import SOURCE_EMBEDDINGS
from favor.federation.client_archive import read_packs
from favor.federation.local import style_targets
from favor.foundation.parquet import read_parquet
from favor.foundation.tensors import read_safetensors

WINDOW = 24  # characters: shorter than any sentence, longer than what two texts share by chance


def secrets(site, stage, author) -> Iterator[tuple[str, bytes]]:
    """Everything of a site that must not cross: names and bytes."""
    texts = read_parquet(site / "texts.parquet", CLIENT_TEXTS)
    client = texts["client"].iloc[0]
    yield "author", author.encode()
    yield "key", (site / "key").read_bytes()
    yield "key in hexadecimal", (site / "key").read_bytes().hex().encode()
    for row in texts.itertuples():
        yield f"name of {row.document_id}", row.document_id.encode()
        for start in range(0, max(1, len(row.text) - WINDOW), WINDOW):
            yield f"{row.document_id} from {start}", row.text[start : start + WINDOW].encode()
    if (site / "style.parquet").is_file():
        vectors = read_parquet(site / "style.parquet", SOURCE_EMBEDDINGS)
        yield "target", style_targets(vectors, texts, [client])[client].tobytes()
        yield from (("vector of a text", np.asarray(each).tobytes()) for each in vectors["embedding"])
    public = {value.tobytes() for value in read_safetensors(site / "initial.safetensors")[0].values()}
    states = False
    for path in sorted(site.glob("rounds/*/*.safetensors")):
        for part, state in read_packs([path])[client].items():
            # A_t is what the server sent, and a client's first state is the change that it uploaded.
            first, states = part == "state" and not states, states or part == "state"
            for name, value in {} if part == "companion" or first else state.items():
                content = np.asarray(value).tobytes()
                # Whoever knows A_t and an upload knows what of the endpoint was uploaded.
                known = part == "endpoint" and stage.sends(name)
                if not known and content not in public and len(content) > 16:
                    yield f"{path.name}: {part} {name}", content


def overheard(files, site, stage, author) -> list[str]:
    """What of a site's secrets stands in one of ``files``."""
    contents = {path: path.read_bytes() for path in files}
    found = list(secrets(site, stage, author))
    return [f"{path.name}: {name}" for path, content in contents.items() for name, each in found if each in content]
