"""Baselines without training: the base is prompted with texts of the author, or with a sheet of the habits."""
