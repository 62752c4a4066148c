"""Text encodings by the names that Python knows them under."""

import codecs


def text_encoding(name: str) -> str | None:
    """Return Python's own name of the text encoding ``name``; None where it knows none (rot13 is not one of text)."""
    try:
        "".encode(name)
    except (LookupError, ValueError):  # ValueError: a NUL in the name, or the codec "undefined"
        return None
    return codecs.lookup(name).name
