"""The human audit: two writers, one passage, which of them wrote it."""
