"""One file per kind of encoder, loaded by name; each defines ``load(spec, folder) -> TextEncoder``."""
