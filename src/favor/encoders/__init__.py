"""Text encoders: texts -> float32 [n, d]."""
