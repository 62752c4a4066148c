"""Which jobs rerun: fingerprints of every job's code and inputs, and what has changed since a result was made."""
