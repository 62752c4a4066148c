"""One table per file."""
