"""A first configuration for a corpus, from a look at its files: ``favor init``."""
