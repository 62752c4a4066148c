"""Summaries over seeds, bootstrap, paired tests, agreement."""
