"""One module per corpus source."""
