"""The results folder: whose files are whose, who works in it, what killed jobs left, what made the results."""
