"""What reruns: the code and the inputs of every job, as fingerprints, and what has changed since a result was made."""
