"""Schedule, server, objectives and the local stages of every method."""
