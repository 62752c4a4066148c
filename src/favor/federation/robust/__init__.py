"""Server rules that withstand some uploads that lie: one file each, found by its name."""
