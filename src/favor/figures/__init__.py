"""Figures: what they are, what they are drawn from, and how every method looks."""
