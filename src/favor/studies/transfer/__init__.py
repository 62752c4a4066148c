"""The transfer study: encoders on authors of another corpus."""
