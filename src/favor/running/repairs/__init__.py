"""Repairs of other people's code, applied while it runs."""
