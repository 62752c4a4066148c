"""The results folder: which files are the user's, which run holds it, what killed jobs left, what made the results."""
