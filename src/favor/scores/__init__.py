"""One file per metric family."""
