"""What is computed from the scores of several runs: paired tests, participation, coordinates, adapter energies."""
