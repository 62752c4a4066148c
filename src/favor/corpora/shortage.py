"""What a corpus has too little of, as an error that names every such number."""

from favor.foundation.errors import UserError

OBSTACLE = "It cannot be run: "  # begins every line of a page of "favor check" that says what is short


class ShortageError(UserError):
    """A corpus has too little of something; ``lines`` name each number that is short, and the keys that help."""

    def __init__(self, *lines: str) -> None:
        super().__init__("; ".join(lines))
        self.lines = lines
