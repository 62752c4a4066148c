"""Figures: one module each, drawn with matplotlib as vector PDF and SVG with the same bytes for the same data."""
