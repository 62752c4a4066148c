"""Ground floor: errors, names, files, sections of settings, table declarations, random seeds."""
