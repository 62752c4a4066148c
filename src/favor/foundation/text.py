"""Text that any file can hold."""


def storable(text: str) -> str:
    """Return ``text`` with a question mark for every lone surrogate (half of an emoji, as JSON may escape it).

    Such a character has no UTF-8 form, so writing it to any file would fail.
    """
    return text.encode("utf-8", "replace").decode("utf-8")
