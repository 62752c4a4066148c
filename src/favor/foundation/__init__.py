"""Ground floor: errors, names, files, table declarations, random seeds."""
