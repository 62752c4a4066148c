"""Studies in which people or judges read what the methods wrote; above scores and statistics, below the report."""
