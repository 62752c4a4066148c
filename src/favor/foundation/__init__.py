"""Ground floor: errors, files, table schemas, random seeds, configuration, progress."""
