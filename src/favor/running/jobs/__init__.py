"""How a job starts, what it logs, and the environment it inherits."""
